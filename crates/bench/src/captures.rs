//! Captures of Ready/Busy pins: the speed of reading them, and the cost of recording one in a timed run.

use crate::measure::{PAGES_PER_BLOCK, ROUNDS, SPARE, rate, rounds};
use crate::readers::File;
use crate::report::{Metric, Report, Yardstick};
use floatgate_base::Rng;
use floatgate_capture::{Format, Geometry, Measurement, ReadOptions, WaveWriter, measure};
use floatgate_experiment::{Options, PinWindow, Waveform, load, run_with};
use std::path::Path;

const PINS: usize = 4;
/// Low phases of the benchmark's captures.
const LOWS: u64 = 3_000_000;

/// Writes reads, programs and erases of a few dies in turn.
fn write(out: &mut dyn std::io::Write, format: Format) {
    let mut writer = WaveWriter::new(out, format, (0..PINS).map(|pin| format!("rb{pin}")).collect());
    let mut rng = Rng::new(1, "captures bench");
    let done = "the temporary folder has room";
    writer.begin(0, &[false; PINS]).expect(done);
    let mut now_ns = 0;
    for n in 0..LOWS {
        let pin = rng.below(PINS as u64) as usize;
        now_ns += 20_000 + rng.below(80_000);
        writer.change(now_ns, pin, true).expect(done);
        now_ns += match n % 300 {
            0 => 3_000_000,
            n if n % 3 == 0 => 50_000,
            _ => 300_000 + rng.below(900_000),
        };
        writer.change(now_ns, pin, false).expect(done);
    }
    writer.end(now_ns).expect(done);
}

fn read(path: &Path) {
    let measurement = Measurement {
        paths: vec![path.to_string_lossy().into_owned()],
        read: ReadOptions::default(),
        signals: Vec::new(),
        program_ps: None,
        recorder: None,
        min_high_ps: None,
        dies_per_signal: None,
        geometry: Geometry {
            channels: PINS as u32,
            chips: 1,
            dies: 1,
            planes: 1,
            page_bytes: 4096,
            pages_per_block: None,
            blocks_per_plane: None,
        },
        multi_page: None,
        host: None,
    };
    let result = measure(&measurement, &mut |_, _| Ok(())).expect("the bench's capture is valid");
    assert_eq!(result.programs + result.reads + result.erases, LOWS);
}

/// Measures programs per CPU second in the counted phase of a timed run, with a waveform of one die, of all, or of
/// none.
fn run(waveform: Option<(&Path, Option<u32>)>) -> f64 {
    let toml = format!(
        "mode = \"timed\"\n[drive.geometry]\nchannels = 8\nblocks_per_plane = 128\npages_per_block = {PAGES_PER_BLOCK}\n\
         [ftl]\nspare_factor = {SPARE}\nprecondition = \"random\"\n[workload]\nrequests = 1000000\nqueue_depth = 32\n"
    );
    let resolved = load(Some(&toml), "bench.toml", &[]).expect("the bench's experiment is valid");
    let waveform = waveform.map(|(path, die)| Waveform {
        path: path.to_owned(),
        format: Format::Vcd,
        window: PinWindow { die, from_ns: 0, until_ns: u64::MAX },
    });
    let options = Options { waveform, ..Options::default() };
    let output = run_with(resolved, &options, &mut |_| Ok(())).expect("the bench's experiment runs");
    output
        .result
        .pointer("/run/programs_per_cpu_s")
        .and_then(serde_json::Value::as_f64)
        .expect("a run has its times")
}

/// Measures reading captures, then recording them.
pub fn all(report: &mut Report) {
    report.group(
        "captures",
        "Captures of Ready/Busy pins: reading from warm files, MB per CPU second; then what writing one costs a timed run",
    );
    for (name, extension, format, required) in
        [("VCD, MB/s", "vcd", Format::Vcd, 150.0), ("CSV, MB/s", "csv", Format::Csv, 100.0)]
    {
        let file = File::new(extension, |out| write(out, format));
        let bytes = std::fs::metadata(&file.0).expect("the file is written").len();
        read(&file.0);
        let rates = rounds(|| rate(bytes, || read(&file.0)));
        report.print(name, &Metric::rate(format!("{extension}/read"), "MB/s", &rates).at_least(required));
    }
    let file = File::new("vcd", |_| ());
    let (mut plain, mut one, mut all) = (vec![], vec![], vec![]);
    for _ in 0..ROUNDS {
        plain.push(run(None));
        one.push(run(Some((&file.0, Some(0)))));
        all.push(run(Some((&file.0, None))));
    }
    let without = Yardstick { name: "timed run without", unit: "programs/s", rounds: &plain };
    let ratio = Metric::ratio("timed/one-die-ratio", &one, &without).at_least(0.5);
    report.print("timed run with the pin of one die, / without", &ratio);
    report.print(
        "with those of all eight dies, / without",
        &Metric::ratio("timed/all-dies-ratio", &all, &without),
    );
}
