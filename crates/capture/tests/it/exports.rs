//! Captures as tools export them: signals that are no levels, released pins, gaps, dates, and the binary files of Logic 2.

use crate::common::{fuzz_seeds, measurement};
use floatgate_base::{Result, Rng};
use floatgate_capture::{Measured, Measurement};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const US: u64 = 1_000_000;

fn measure(paths: &[&Path], signals: &[&str]) -> Result<Measured> {
    let plan = Measurement {
        signals: signals.iter().map(|&name| name.to_owned()).collect(),
        program_ps: Some((150 * US, 2000 * US)),
        ..measurement(paths)
    };
    floatgate_capture::measure(&plan, &mut |_, _| Ok(()))
}

fn file(folder: &Path, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).unwrap();
    path
}

/// Measures one file, of which all low phases must last 500 us.
fn of_500_us(content: impl AsRef<[u8]>, signals: &[&str]) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    let measured = measure(&[&file(folder.path(), "capture.bin", content)], signals).unwrap();
    for &(from_us, to_us, _) in &measured.histogram_us {
        assert!(from_us <= 500.0 && 500.0 < to_us, "{:?}", measured.histogram_us);
    }
    measured
}

fn refusal(name: &str, content: impl AsRef<[u8]>, signals: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), name, content);
    let error = measure(&[&path], signals).expect_err(name).to_string();
    error.replace(path.to_str().unwrap(), name)
}

fn says(measured: &Measured, text: &str) -> bool {
    measured.warnings.iter().any(|warning| warning.contains(text))
}

const HEAD: &str = "$timescale 1 us $end\n$var wire 1 ! rb $end\n$enddefinitions $end\n";

#[test]
fn a_released_pin_is_ready() {
    let mut text = HEAD.to_owned() + "#0\nz!\n";
    for number in 0..50 {
        write!(text, "#{}\n0!\n#{}\nz!\n", 300 + 800 * number, 800 + 800 * number).unwrap();
    }
    let measured = of_500_us(text + "#41000\n", &[]);
    assert_eq!((measured.programs, measured.unclassified), (50, 0));
    assert!(says(&measured, "the level is z 51 times"));
    let rows = of_500_us("Time [s],rb\n0,z\n0.0003,0\n0.0008,Z\n0.0018,1\n", &[]);
    assert_eq!((rows.programs, rows.unclassified), (1, 0));
}

#[test]
fn the_time_of_dumpoff_is_a_gap() {
    let on = "#0\n1!\n#300\n0!\n#800\n1!\n";
    for (off, cut) in [
        ("#900\n$dumpoff\nx!\n$end\n#1600\n$dumpon\n1!\n$end\n", 0),
        // Without values, with values that are not the pin's, and within a low phase.
        ("#900\n$dumpoff\n$end\n#1600\n$dumpon\n1!\n$end\n", 0),
        ("#900\n$dumpoff\n0!\n$end\n#1600\n$dumpon\n1!\n$end\n", 0),
        ("#900\n0!\n#1000 $dumpoff x! $end\n#1600\n$dumpon 0! $end\n#1700 1!\n", 2),
    ] {
        let measured = of_500_us(format!("{HEAD}{on}{off}#2000\n0!\n#2500\n1!\n#3000\n"), &[]);
        assert_eq!((measured.programs, measured.unclassified), (2, cut), "{off}");
        assert!(says(&measured, "the dump is off 1 times ($dumpoff), 0.000"), "{:?}", measured.warnings);
        assert!(says(&measured, "the level is unknown, in all 0.001 s"), "{:?}", measured.warnings);
    }
}

#[test]
fn real_numbers_and_strings_are_no_pins() {
    let head =
        "$timescale 1 us $end $var real 64 % volts $end $var string 8 & state $end $var wire 1 ! rb $end";
    let text =
        format!("{head} $enddefinitions $end #0 r3.3 % sready & 1! #300 0! r0.1 % #800 1! sbusy & #1800");
    assert_eq!(of_500_us(text, &[]).programs, 1);
}

/// Blanks that tools leave out in `$var`.
#[test]
fn declarations_without_blanks_are_read() {
    for (variable, id, name) in [
        ("$var wire 1 !rb $end", "!", "rb"),
        ("$var wire 1! rb $end", "!", "rb"),
        ("$var wire 1 ! rb$end", "!", "rb"),
        ("$var wire 1 ! rb[3] $end", "!", "rb[3]"),
        ("$var wire 1 !rb [3] $end", "!", "rb[3]"),
        ("$var wire 1 ab $end", "ab", "ab"),
        ("$var wire x % odd $end $var wire 1 ! rb $end", "!", "rb"),
        ("$var wire -1 % odd $end $var wire 1 ! rb $end", "!", "rb"),
    ] {
        let text = format!(
            "$timescale 1us $end {variable} $enddefinitions $end #0 1{id} #300 0{id} #800 1{id} #1800"
        );
        let measured = of_500_us(text, &[]);
        assert_eq!((measured.programs, measured.signals[0].name.as_str()), (1, name), "{variable}");
    }
    let incomplete = refusal("c", "$timescale 1us $end\n$var wire $end\n", &[]);
    assert_eq!(incomplete, "c:2: an incomplete $var; expected $var TYPE WIDTH ID NAME $end");
}

/// More signals than there may be pins: those that are named count, or those named like Ready/Busy pins.
#[test]
fn a_good_signal_among_too_many_is_chosen() {
    let dump = |good: &str| {
        let mut text = "$timescale 1 us $end\n".to_owned();
        (0..65_537).for_each(|number| writeln!(text, "$var wire 1 n{number} net{number} $end").unwrap());
        write!(text, "$var wire 1 ! {good} $end\n$enddefinitions $end\n#0\n1!\n1n7\n").unwrap();
        text + "#300\n0!\n0n7\n#800\n1!\n1n7\n#1800\n"
    };
    let by_name = of_500_us(dump("ready"), &["net7"]);
    assert_eq!((by_name.programs, by_name.signals[0].name.as_str()), (1, "net7"));
    let by_likeness = of_500_us(dump("ready"), &[]);
    assert_eq!((by_likeness.programs, by_likeness.signals[0].name.as_str()), (1, "ready"));
    assert!(says(&by_likeness, "65537 signals are left out by their names"));
    assert_eq!(
        refusal("c", dump("net"), &[]),
        "c:65540: more than 65536 signals, none named like a Ready/Busy pin; name the Ready/Busy signals with --signal"
    );
    let unknown = refusal("c", dump("net"), &["net-7"]);
    assert!(unknown.starts_with("c: no signal 'net-7'"), "{unknown}");
}

#[test]
fn columns_that_are_no_levels_are_left_out() {
    let rows = "Time [s],RB,Vcc\n0,1,3.3\n0.0003,0,3.29\n0.0008,1,3.31\n0.0018,1,3.3\n";
    for signals in [&[][..], &["RB"]] {
        let measured = of_500_us(rows, signals);
        assert_eq!((measured.programs, measured.signals.len()), (1, 1));
        assert!(says(&measured, "columns that are no levels are left out: Vcc"));
    }
    // A channel of any name is guessed; an analog one that looks like levels at first is not.
    let rows = "Time [s],a,b\n0,1,1\n0.0003,0,0\n0.0008,1,0.7\n0.0018,1,1\n";
    assert_eq!(of_500_us(rows, &[]).signals.len(), 1);
    let level = "is not a level; expected 0 or 1 (export digital channels only)";
    assert_eq!(refusal("c", rows, &["b"]), format!("c:4: '0.7' {level}"));
    assert_eq!(refusal("c", "Time [s],a,b\n0,1.5,x5\n1,2,1\n", &[]), format!("c:2: '1.5' {level}"));
    assert_eq!(refusal("c", "Time [s],RB,b\n0,1,1\n1,0.2,0\n", &[]), format!("c:3: '0.2' {level}"));
    // As many columns as there are, one of which is chosen.
    let names: String = (0..5000).map(|number| format!(",c{number}")).collect();
    let row = |time: &str, level: char| format!("{time}{}\n", format!(",{level}").repeat(5000));
    let wide = format!(
        "Time [s]{names}\n{}{}{}{}",
        row("0", '1'),
        row("0.0003", '0'),
        row("0.0008", '1'),
        row("1", '1')
    );
    assert_eq!(of_500_us(&wide, &["c77"]).programs, 1);
    assert_eq!(
        refusal("c", &wide, &[]),
        "c:1: 5000 columns of levels; expected from 1 to 4096, or names of as many with --signal"
    );
}

#[test]
fn dates_are_times() {
    let row = |us: u64, level: u8| format!("2026-01-02T23:59:59.{:06}000+00:00,{level}\n", 997_400 + us);
    let rows: String = [(0, 1), (300, 0), (800, 1), (1100, 0), (1600, 1), (2599, 1)]
        .map(|(us, level)| row(us, level))
        .concat();
    for head in ["Time [s],RB\n", ""] {
        let measured = of_500_us(format!("{head}{rows}2026-01-03T01:00:00.000000000+01:00,1\n"), &[]);
        assert_eq!((measured.programs, measured.duration_s), (2, Some(0.0026)), "{head}");
    }
    let back = "Time [s],RB\n2026-01-02T00:00:01Z,1\n2026-01-02T00:00:00Z,0\n";
    assert!(refusal("c", back, &[]).starts_with("c:3: time goes back to '2026-01-02T00:00:00Z,0'; expected"));
}

/// A run of samples: first level, begin, end and transitions, in seconds.
type Run = (u32, f64, f64, Vec<f64>);

fn saleae(version: u32, kind: u32, runs: &[Run]) -> Vec<u8> {
    let mut out = b"<SALEAE>".to_vec();
    out.extend(version.to_le_bytes());
    out.extend(kind.to_le_bytes());
    if version == 1 {
        out.extend((runs.len() as u64).to_le_bytes());
    }
    for (state, begin, end, times) in runs {
        out.extend(state.to_le_bytes());
        if version == 1 {
            out.extend(10e6f64.to_le_bytes());
        }
        out.extend(begin.to_le_bytes());
        out.extend(end.to_le_bytes());
        out.extend((times.len() as u64).to_le_bytes());
        times.iter().for_each(|time| out.extend(time.to_le_bytes()));
    }
    out
}

fn two_lows() -> Run {
    (1, -0.0005, 0.0026, vec![0.0003, 0.0008, 0.0011, 0.0016])
}

#[test]
fn binary_exports_of_logic_2_are_read() {
    let first = of_500_us(saleae(0, 0, &[two_lows()]), &[]);
    assert_eq!((first.programs, first.duration_s), (2, Some(0.0031)));
    assert_eq!(first.signals[0].name, "capture");
    // A capture that begins low.
    let low = of_500_us(saleae(0, 0, &[(0, 0.0, 1.0, vec![0.1, 0.2, 0.2005])]), &[]);
    assert_eq!((low.programs, low.unclassified), (1, 1));
    // Two runs with a gap between them, the first of which ends low, and two without.
    let gap = [two_lows(), (1, 0.5, 0.6, vec![0.5003, 0.5008, 0.590_000_1])];
    let measured = of_500_us(saleae(1, 0, &gap), &[]);
    assert_eq!((measured.programs, measured.unclassified, measured.step_us), (3, 1, Some(0.1)));
    assert!(says(&measured, "lacks samples 1 times, 0.497400 s in all"), "{:?}", measured.warnings);
    let joined = [(1, 0.0, 0.0005, vec![0.0003]), (0, 0.0005, 0.001, vec![0.0008])];
    let measured = of_500_us(saleae(1, 0, &joined), &[]);
    assert_eq!((measured.programs, measured.unclassified, says(&measured, "lacks samples")), (1, 0, false));
}

#[test]
fn binary_exports_of_several_channels_are_dies() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [
        file(folder.path(), "digital_0.bin", saleae(0, 0, &[two_lows()])),
        file(folder.path(), "digital_1.bin", saleae(1, 0, &[two_lows()])),
        file(folder.path(), "analog_0.bin", saleae(0, 1, &[two_lows()])),
    ];
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    let measured = measure(&paths, &[]).unwrap();
    let programs: Vec<(&str, u64)> = measured.signals.iter().map(|s| (s.name.as_str(), s.programs)).collect();
    assert_eq!(programs, [("digital_0", 2), ("digital_1", 2)]);
    assert!(says(&measured, "analog_0.bin has analog samples and is not read"));
    assert_eq!(measure(&paths, &["digital_1"]).unwrap().programs, 2);
}

#[test]
fn bad_binary_exports_are_refused_with_place_and_remedy() {
    let good = saleae(0, 0, &[two_lows()]);
    for (content, expected) in [
        (
            good[..70].to_vec(),
            "ends at byte 70, within its transitions (3 of 4); expected a complete export; export it again",
        ),
        (
            good[..30].to_vec(),
            "ends at byte 30, within the header of its samples; expected a complete export; export it again",
        ),
        (
            b"<SALEAE>\0\0".to_vec(),
            "ends at byte 10, within its header; expected a complete export; export it again",
        ),
        (saleae(2, 0, &[]), "has version 2 of the binary format; expected version 0 or 1; export CSV"),
        (saleae(0, 7, &[]), "has data of type 7; expected 0: a digital channel"),
        (saleae(1, 0, &[]), "has no samples; expected a capture"),
        (saleae(0, 1, &[]), "has analog samples only; expected digital channels"),
        (
            saleae(0, 0, &[(1, 0.0, 1.0, vec![0.5, 0.25])]),
            "time goes back before byte 60, to 0.25 s; expected times in ascending order",
        ),
        (
            saleae(0, 0, &[(1, 0.0, 1.0, vec![f64::NAN])]),
            "the time before byte 52 is NaN s; expected times within 100 days",
        ),
        (saleae(0, 0, &[(2, 0.0, 1.0, vec![])]), "the first level before byte 20 is 2; expected 0 or 1"),
    ] {
        let refused = refusal("c", content, &[]);
        assert_eq!(refused.trim_start_matches("c: "), expected);
    }
}

/// Random damage is read or refused with a message.
#[test]
fn damaged_exports_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    for seed in fuzz_seeds(3000) {
        let mut rng = Rng::new(seed, "damaged exports");
        let mut bytes = match rng.below(4) {
            0 => saleae(0, 0, &[two_lows()]),
            1 => saleae(1, 0, &[two_lows(), (1, 0.5, 0.6, vec![0.5003, 0.5008])]),
            2 => format!("{HEAD}#0 z! #300 0! #800 z! #900 $dumpoff x! $end #990 $dumpon 1! $end #1000")
                .into_bytes(),
            _ => b"Time [s],RB,v\n2026-01-02T03:04:05.0003+00:00,1,1.5\n2026-01-02T03:04:05.001Z,0,1\n"
                .to_vec(),
        };
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(bytes.len() as u64) as usize;
            match rng.below(4) {
                0 => bytes[at] = rng.below(256) as u8,
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, b"\n ,#$01xzTZ:+\xc3"[rng.below(14) as usize]),
                _ => drop(bytes.drain(at..(at + 1 + rng.below(20) as usize).min(bytes.len()))),
            }
            if bytes.is_empty() {
                bytes.push(b'#');
            }
        }
        let path = file(folder.path(), "c", &bytes);
        let message =
            measure(&[&path], &[]).map_or_else(|e| e.to_string(), |measured| measured.programs.to_string());
        assert!(!message.is_empty() && message.len() < 4000, "seed {seed}: {message}");
    }
}
