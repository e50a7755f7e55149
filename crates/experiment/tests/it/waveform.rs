//! Waveforms of timed runs: the pins show the operations requested by the FTL, counted by two independent paths.

use crate::common::cases::draw;
use crate::common::{Folder, number, seeds, without_run};
use floatgate_base::Rng;
use floatgate_capture::{Format, Geometry, Measured, Measurement, ReadOptions, measure};
use floatgate_experiment::{Options, Output, Waveform, load, run_with};
use floatgate_sim::PinWindow;
use serde_json::Value;
use std::path::{Path, PathBuf};

const WHOLE: PinWindow = PinWindow { die: None, from_ns: 0, until_ns: u64::MAX };
const TIMES: [(&str, &str); 4] = [
    ("mode", "timed"),
    ("drive.timing.read_us", "50"),
    ("drive.timing.program_us", "600"),
    ("drive.timing.erase_us", "3000"),
];

fn try_run(toml: &str, more: &[(&str, &str)], path: &Path, window: PinWindow) -> Result<Output, String> {
    let settings = TIMES.iter().chain(more).map(|(key, value)| (key.to_string(), value.to_string()));
    let resolved = load(Some(toml), "test.toml", &settings.collect::<Vec<_>>()).map_err(|e| e.to_string())?;
    let format = if path.extension().is_some_and(|e| e == "csv") { Format::Csv } else { Format::Vcd };
    let waveform = Some(Waveform { path: path.to_owned(), format, window });
    let options = Options { waveform, ..Options::default() };
    run_with(resolved, &options, &mut |_| Ok(())).map_err(|e| e.to_string())
}

fn run(toml: &str, more: &[(&str, &str)], path: &Path, window: PinWindow) -> Output {
    try_run(toml, more, path, window).unwrap_or_else(|e| panic!("{e}\n{toml}{more:?}"))
}

fn measured(path: &Path, shape: &Value) -> Measured {
    let of = |key: &str| shape[key].as_u64().unwrap() as u32;
    let measurement = Measurement {
        paths: vec![path.to_str().unwrap().to_owned()],
        read: ReadOptions::default(),
        signals: Vec::new(),
        program_ps: Some((150_000_000, 1_800_000_000)),
        recorder: None,
        min_high_ps: None,
        dies_per_signal: None,
        geometry: Geometry {
            channels: of("channels"),
            chips: of("chips"),
            dies: of("dies"),
            planes: of("planes"),
            page_bytes: shape["page_bytes"].as_u64().unwrap(),
            pages_per_block: Some(of("pages_per_block")),
            blocks_per_plane: None,
        },
        multi_page: Some(1.0),
        host: None,
    };
    measure(&measurement, &mut |_, _| Ok(())).unwrap()
}

fn count(result: &Value, pointer: &str) -> u64 {
    result.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no count at {pointer}"))
}

/// Returns the operations that the FTL requested in the counted phase, by the result.
fn requested(result: &Value) -> [u64; 3] {
    let total = |kind: &str| {
        let causes = result["flash"][kind].as_object().unwrap();
        causes.iter().filter(|(name, _)| *name != "total").filter_map(|(_, n)| n.as_u64()).sum()
    };
    ["programs", "reads", "erases"].map(total)
}

const PLAIN: &str = "[drive.geometry]\nchannels = 2\nchips_per_channel = 1\ndies_per_chip = 2\nplanes_per_die = 2\n\
                     blocks_per_plane = 32\npages_per_block = 32\n[ftl]\nspare_factor = 0.2\n\
                     precondition = \"random\"\n[workload]\nrequests = 4000\nread_share = 0.3\nqueue_depth = 8\n";

/// Any drive with plain commands: each operation is one low phase, a move two; nothing is lost, nothing made up.
#[test]
fn pins_show_what_the_ftl_asked_for() {
    let folder = Folder::new("waveform");
    let (mut ran, mut measured_runs) = (0, 0);
    for seed in seeds(40) {
        let mut rng = Rng::new(seed, "waveform");
        let mut case = draw(&mut rng, seed % 2 == 1);
        if let Some((text, extension)) = &case.trace {
            let path = folder.file(&format!("{seed}.{extension}"), text);
            case.toml += &format!("file = \"{path}\"\n");
        }
        let path = PathBuf::from(folder.file(&format!("{seed}.vcd"), ""));
        // Every read is one of the flash: the controller serves none of a page that moves.
        let settings = [("drive.timing.program_spread", "0.25"), ("drive.scheduling.moved_reads", "new")];
        let output = match try_run(&case.toml, &settings, &path, WHOLE) {
            Ok(output) => output,
            Err(e) if e.contains("has no times") || e.contains("needs times") => continue,
            Err(e) => panic!("seed {seed}: {e}\n{}", case.toml),
        };
        let table = &output.result["waveform"];
        let works = ["programs", "reads", "erases"].map(|key| count(table, &format!("/{key}")));
        let flash = ["programs", "reads", "erases"].map(|key| count(table, &format!("/flash/{key}")));
        assert_eq!((works, flash), (requested(&output.result), works), "seed {seed}\n{}", case.toml);
        assert_eq!(count(table, "/hidden"), 0, "seed {seed}");
        ran += 1;
        // Programs of blocks that are erased less deeply take as long as erases: no interval tells them apart.
        if works[0] > 0 && !case.toml.contains("[ftl.dpes]") {
            let measurement = measured(&path, &table["shape"]);
            assert_eq!([measurement.programs, measurement.reads, measurement.erases], works, "seed {seed}");
            assert_eq!(measurement.unclassified, 0, "seed {seed}");
            measured_runs += 1;
        }
    }
    assert!(ran > 20 && measured_runs > 10, "{ran}, {measured_runs} of them measured");
}

#[test]
fn a_waveform_changes_nothing_and_formats_say_the_same() {
    let folder = Folder::new("waveform-formats");
    let file = |name: &str| PathBuf::from(folder.file(name, ""));
    let [vcd, csv] = ["a.vcd", "a.csv"].map(file);
    let (first, second) = (run(PLAIN, &[], &vcd, WHOLE), run(PLAIN, &[], &csv, WHOLE));
    let shape = &first.result["waveform"]["shape"];
    let (a, b) = (measured(&vcd, shape), measured(&csv, shape));
    assert_eq!((a.programs, a.reads, a.erases, a.duration_s), (b.programs, b.reads, b.erases, b.duration_s));
    let settings: Vec<_> = TIMES.iter().map(|(key, value)| (*key, value.to_string())).collect();
    let plain = crate::common::run_ok(PLAIN, &settings);
    let without = |mut output: Output| {
        output.result.as_object_mut().unwrap().shift_remove("waveform");
        without_run(output.result)
    };
    let plain = without(plain);
    assert_eq!((without(first), without(second)), (plain.clone(), plain));
}

/// One die of several, and a part of the time: the sum over the parts is the whole.
#[test]
fn dies_and_windows_add_up() {
    let folder = Folder::new("waveform-parts");
    let file = |name: &str| PathBuf::from(folder.file(name, ""));
    let all = run(PLAIN, &[], &file("all.vcd"), WHOLE).result["waveform"].clone();
    let mut sum = [0; 3];
    for die in 0..4 {
        let path = file(&format!("{die}.vcd"));
        let one = run(PLAIN, &[], &path, PinWindow { die: Some(die), ..WHOLE }).result["waveform"].clone();
        let measurement = measured(&path, &one["shape"]);
        assert_eq!(
            measurement.signals.iter().map(|s| s.name.clone()).collect::<Vec<_>>(),
            [format!("drive.rb{die}")]
        );
        assert_eq!(
            [measurement.programs, measurement.reads, measurement.erases],
            ["programs", "reads", "erases"].map(|key| count(&one, &format!("/{key}")))
        );
        sum.iter_mut()
            .zip([measurement.programs, measurement.reads, measurement.erases])
            .for_each(|(sum, n)| *sum += n);
        assert_eq!(one["flash"], all["flash"]);
    }
    assert_eq!(sum, ["programs", "reads", "erases"].map(|key| count(&all, &format!("/{key}"))));
    let until_s = number(&all, "/until_s");
    let middle_ns = (until_s * 0.4e9) as u64;
    let mut parts = [0; 3];
    let mut cut = 0;
    for (from_ns, until_ns) in [(0, middle_ns), (middle_ns, u64::MAX)] {
        let path = file("part.vcd");
        let part =
            run(PLAIN, &[], &path, PinWindow { die: None, from_ns, until_ns }).result["waveform"].clone();
        let measurement = measured(&path, &part["shape"]);
        let counts = ["programs", "reads", "erases"].map(|key| count(&part, &format!("/{key}")));
        assert_eq!([measurement.programs, measurement.reads, measurement.erases], counts);
        parts.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
        cut += measurement.unclassified;
        let host = part["host_bytes"].as_u64().unwrap();
        assert!(host > 0 && host < count(&all, "/host_bytes"));
    }
    // What is low in the middle is cut in both parts.
    assert!(cut > 0 && cut % 2 == 0);
    assert_eq!(parts.iter().sum::<u64>() + cut / 2, sum.iter().sum::<u64>());
}

/// With programs of several planes the pins show one low phase for each command.
#[test]
fn multi_plane_programs_are_one_low_phase() {
    let folder = Folder::new("waveform-planes");
    let path = PathBuf::from(folder.file("a.vcd", ""));
    let more = [
        ("drive.commands.multi_plane", "\"any\""),
        ("ftl.allocation.order", "[\"plane\", \"channel\", \"chip\", \"die\"]"),
        ("ftl.precondition", "\"none\""),
        ("workload.pattern", "\"sequential\""),
        ("workload.read_share", "0.0"),
        ("workload.request_bytes", "32768"),
    ];
    let output = run(PLAIN, &more, &path, WHOLE);
    let table = &output.result["waveform"];
    let pages = count(table, "/flash/programs");
    let programs = count(table, "/programs");
    let measurement = measured(&path, &table["shape"]);
    assert_eq!(measurement.programs, programs);
    assert!(programs < pages * 6 / 10, "{programs} for {pages}");
}

#[test]
fn what_cannot_be_is_refused_and_leaves_nothing() {
    let folder = Folder::new("waveform-refused");
    let path = PathBuf::from(folder.file("gone", "")).with_file_name("a.vcd");
    let refused = |toml: &str, more: &[(&str, &str)], window| try_run(toml, more, &path, window).unwrap_err();
    let functional = refused(PLAIN, &[("mode", "\"functional\"")], WHOLE);
    assert_eq!(
        functional,
        "--waveform: functional mode models no time; there is no pin waveform to record; expected mode = \"timed\""
    );
    let die = refused(PLAIN, &[], PinWindow { die: Some(4), ..WHOLE });
    assert_eq!(die, "--die: no die 4; expected one from 0 to 3, or all");
    let late = refused(PLAIN, &[], PinWindow { from_ns: 1 << 60, ..WHOLE });
    assert!(
        late.starts_with("--from: the run ends ") && late.ends_with("expected an earlier beginning"),
        "{late}"
    );
    assert!(!path.exists() && !path.with_file_name("a.vcd.part").exists());
}
