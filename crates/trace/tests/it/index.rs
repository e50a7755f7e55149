//! The counts of `../shared/traces/INDEX.md`, taken with an independent parser. The samples are not part of the
//! project: without them the tests print a note and pass.

use floatgate_trace::{Info, OpenOptions, info, open};
use std::path::PathBuf;

fn sample(path: &str) -> Option<String> {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces").join(path);
    if file.exists() {
        return Some(file.to_string_lossy().into_owned());
    }
    eprintln!("skipped: ../shared/traces/{path} is absent");
    None
}

/// Reads with command-line options: `--time-unit`, `--lba-unit`, `--action`.
fn read(path: &str, time: Option<&str>, lba: Option<&str>, action: Option<&str>) -> Option<Info> {
    let path = sample(path)?;
    let options = OpenOptions::parse(None, time, lba, action, None).unwrap();
    let mut source = open(&path, &options).unwrap_or_else(|e| panic!("{e}"));
    let figures = info(&mut *source).unwrap_or_else(|e| panic!("{e}"));
    // A second pass gives the same.
    source.rewind().unwrap();
    let again = info(&mut *source).unwrap();
    assert_eq!(format!("{figures:?}"), format!("{again:?}"));
    assert_eq!(figures.content_hash.as_ref().map(String::len), Some(64));
    Some(figures)
}

type Expected = (&'static str, u64, u64, u64, &'static str, u64);

/// Compares with a line of the index: format, requests, reads, writes, GB written, distinct 4 KiB pages written.
fn check(figures: &Info, (format, requests, reads, writes, gb, pages): Expected) {
    let all = (figures.requests, figures.reads, figures.writes, figures.pages_written_distinct);
    assert_eq!((figures.format.as_str(), all), (format, (requests, reads, writes, pages)));
    assert_eq!(format!("{:.4}", figures.write_bytes as f64 / 1e9), gb);
}

#[test]
fn msr() {
    let Some(figures) = read("msr/prxy_0.first20k.csv.zst", None, None, None) else { return };
    check(&figures, ("msr", 20_000, 336, 19_664, "0.0465", 1615));
    assert_eq!(figures.duration_s.unwrap() as u64, 938);
    assert_eq!(figures.devices[0].name, "prxy_0");
    assert!((0.14..0.16).contains(&figures.aligned_share), "{}", figures.aligned_share);
    assert!(figures.assumed.is_empty());
}

#[test]
fn mqsim() {
    if let Some(figures) = read("msr/hm_0.write-only33k.mqsim.zst", None, Some("byte"), None) {
        check(&figures, ("mqsim", 33_304, 0, 33_304, "0.7811", 51_903));
        assert!(figures.assumed.contains(&"address in bytes (--lba-unit)".to_owned()));
    }
    if let Some(figures) = read("msprod/tpcc-small.mqsim.zst", None, None, None) {
        check(&figures, ("mqsim", 6999, 4381, 2618, "0.0234", 7879));
        assert_eq!(figures.devices.len(), 16);
        assert!(figures.assumed[0].starts_with("assumed: time in ns"));
    }
    if let Some(figures) = read("spc/WebSearch1.first60s.mqsim.zst", None, None, None) {
        check(&figures, ("mqsim", 24_783, 24_779, 4, "0.0000", 4));
        assert_eq!(figures.duration_s.unwrap().round(), 60.0);
    }
    if let Some(figures) = read("systor17/2016021612-LUN3.mqsim.zst", None, None, None) {
        check(&figures, ("mqsim", 202_725, 193_557, 9168, "0.4401", 81_920));
    }
}

#[test]
fn ssdsim() {
    let expected = ("ssdsim", 127_043, 113_123, 13_920, "0.7608", 184_051);
    if let Some(figures) = read("msprod/DTRS1K.ssdsim.zst", Some("us"), None, None) {
        check(&figures, expected);
        assert_eq!(figures.duration_s.unwrap().round(), 300.0);
    }
    if let Some(figures) = read("msprod/DTRS1K.ssdsim.zst", None, None, None) {
        check(&figures, expected);
        assert_eq!(figures.duration_s.unwrap().round(), 300.0);
        let note = "time in us: in ns the trace would begin with 18 GB per second";
        assert!(figures.assumed[0].starts_with(note), "{:?}", figures.assumed);
        assert!(figures.suspicions.is_empty());
    }
    if let Some(figures) = read("msprod/DTRS100M.ssdsim.zst", None, None, None) {
        check(&figures, expected);
    }
}

#[test]
fn flashsim() {
    if let Some(figures) = read("spc/WebSearch1.50k.flashsim.zst", None, None, None) {
        check(&figures, ("flashsim", 50_000, 49_990, 10, "0.0001", 4));
        assert_eq!(figures.duration_s.unwrap().round(), 129.0);
    }
    if let Some(figures) = read("desktop/desktop.flashsim.zst", None, None, None) {
        check(&figures, ("flashsim", 32_527, 12_467, 20_060, "0.7859", 143_898));
        assert_eq!((figures.duration_s.unwrap() / 360.0).round(), 25.0);
    }
    if let Some(figures) = read("desktop/jpeg_copy.flashsim.zst", None, None, None) {
        check(&figures, ("flashsim", 47_120, 35_344, 11_776, "2.3222", 567_706));
    }
}

#[test]
fn disksim() {
    if let Some(figures) = read("disksim/postmark.disksim.zst", None, None, None) {
        check(&figures, ("disksim", 62_257, 51_780, 10_477, "8.9369", 1_532_457));
    }
    if let Some(figures) = read("disksim/iozone-100k.disksim.zst", None, None, None) {
        check(&figures, ("disksim", 100_000, 0, 100_000, "36.8557", 271_320));
        assert_eq!((figures.rewrite_share.unwrap() * 100.0).round(), 97.0);
    }
    if let Some(figures) = read("disksim/disksim-valid-ascii.disksim.zst", None, None, None) {
        check(&figures, ("disksim", 100_000, 79_634, 20_366, "0.1077", 38_533));
        assert_eq!(figures.devices.len(), 14);
    }
}

#[test]
fn blkparse() {
    if let Some(figures) = read("ycsb/ssdtrace-sample.blkparse.zst", None, None, Some("D")) {
        check(&figures, ("blkparse", 1694, 1694, 0, "0.0000", 0));
    }
    if let Some(figures) = read("blktrace/java-ext4.blkparse.zst", None, None, None) {
        check(&figures, ("blkparse", 9887, 9039, 848, "0.2519", 61_395));
        assert_eq!((figures.stamps_backwards, figures.stamp_jumps), (824, 1));
        assert_eq!(
            figures.suspicions,
            ["1 time stamp lies more than 30 years from the previous one: span and rate mean little"]
        );
        assert_eq!(figures.assumed, ["requests are the events D (default for this trace)"]);
    }
    if let Some(figures) = read("blktrace/java-f2fs.blkparse.zst", None, None, None) {
        check(&figures, ("blkparse", 5727, 4722, 1005, "0.4398", 101_756));
    }
    if let Some(figures) = read("blktrace/java-btrfs.blkparse.zst", None, None, None) {
        check(&figures, ("blkparse", 1824, 1301, 523, "0.2564", 56_753));
    }
    if let Some(figures) = read("blktrace/hadoop-like-50k.blkparse.zst", None, None, None) {
        check(&figures, ("blkparse", 15_524, 80, 15_444, "0.0633", 15_461));
        assert_eq!(figures.assumed, ["requests are the events Q (default for this trace)"]);
    }
    if let Some(figures) = read("blktrace/wiscsee-mkfs-fio.blkparse", None, None, None) {
        check(&figures, ("blkparse", 673, 161, 512, "0.1342", 32_768));
    }
    // Not in the index: a trace with completions only.
    if let Some(figures) = read("blktrace/leveldb-ramdisk.blkparse", None, None, None) {
        assert_eq!((figures.requests, figures.writes), (840, 840));
        assert_eq!(figures.assumed, ["requests are the events C (default for this trace)"]);
    }
}

#[test]
fn fio_iolog() {
    let Some(figures) = read("iolog/t0038.iolog", None, None, None) else { return };
    check(&figures, ("fio-iolog", 20, 0, 10, "0.0000", 10));
    assert_eq!((figures.trims, figures.trim_bytes, figures.write_bytes), (10, 10 << 31, 40_960));
    assert_eq!((figures.other_records, figures.devices[0].name.as_str()), (4, "/dev/null"));
    assert_eq!(figures.duration_s, Some(73e-6));
}

#[test]
fn fiu() {
    const CLEAN: &str = "fiu/cheetah-110108-113008.2.first9998.blkparse.zst";
    let Some(figures) = read(CLEAN, None, None, None) else { return };
    check(&figures, ("fiu", 9998, 8896, 1102, "0.0045", 894));
    assert_eq!((figures.other_records, figures.tar_lines, figures.devices[0].name.as_str()), (0, 0, "6,0"));
    // The same in a tar archive of which only the compression was undone.
    let Some(raw) = read("fiu/cheetah.sample10000.raw.zst", None, None, None) else { return };
    check(&raw, ("fiu", 9998, 8896, 1102, "0.0045", 894));
    assert_eq!((raw.tar_lines, raw.bad_lines_skipped, raw.duration_s), (4, 0, figures.duration_s));
    assert_eq!(raw.assumed, ["4 lines of tar headers and padding were skipped"]);
}

#[test]
fn ssdtrace() {
    // The extension selects blkparse, whose default is the first event, Q.
    let Some(path) = sample("ycsb/ssdtrace-sample.blkparse.zst") else { return };
    let options = OpenOptions::parse(Some("ssdtrace"), None, None, None, None).unwrap();
    let figures = info(&mut *open(&path, &options).unwrap()).unwrap();
    check(&figures, ("ssdtrace", 1694, 1694, 0, "0.0000", 0));
    assert_eq!(figures.assumed, ["requests are the events D (default for this trace)"]);
}

#[test]
fn srt() {
    let Some(figures) = read("disksim/ajw.1week.srt.zst", None, None, None) else { return };
    check(&figures, ("srt", 44_519, 13_040, 31_479, "0.2018", 3856));
    // A week, and two disks of which one holds only the swap space.
    assert_eq!(figures.duration_s.map(|s| (s / 3600.0).round()), Some(168.0));
    let disks: Vec<_> = figures.devices.iter().map(|d| (d.name.as_str(), d.requests)).collect();
    assert_eq!(disks, [("disk1", 2267), ("disk0", 42_252)]);
    assert_eq!((figures.other_records, figures.suspicions.len()), (0, 0));
}

#[test]
fn disksim_valid() {
    // Not in the index; counted with awk: 5115 R, 4884 W of 41473536 bytes, 15298.2 us of service and 14192.3 of gap.
    let Some(figures) = read("disksim/hp_c2247a.disksim-hpl.zst", None, None, None) else { return };
    assert_eq!((figures.requests, figures.reads, figures.writes), (9999, 5115, 4884));
    assert_eq!((figures.write_bytes, figures.other_records), (41_473_536, 0));
    assert_eq!(figures.duration_s.map(|s| (s / 9998.0 * 1e4).round()), Some(295.0));
}

#[test]
fn wiscsee() {
    if let Some(figures) = read("blktrace/sqlitewal-ext4.wiscsee.zst", None, None, None) {
        check(&figures, ("wiscsee", 5008, 4, 5003, "0.0691", 2170));
        assert_eq!((figures.trims, figures.trim_bytes), (1, 4096));
        assert_eq!(figures.other_records, 4992);
    }
    // Not in the index: a trace of issues only, one of them before the beginning of the device.
    let Some(path) = sample("blktrace/sqlitewal-ext4-mkfs.wiscsee") else { return };
    let mut source = open(&path, &OpenOptions::default()).unwrap();
    let refusal = info(&mut *source).unwrap_err().to_string();
    assert_eq!(refusal, format!("{path}:113:13: '-8388608' is not an offset; expected a whole number"));
    let options = OpenOptions::parse(None, None, None, None, Some("skip")).unwrap();
    let figures = info(&mut *open(&path, &options).unwrap()).unwrap();
    assert_eq!(
        (figures.reads, figures.writes, figures.bad_lines_skipped, figures.other_records),
        (44, 106, 1, 0)
    );
}

#[test]
fn made_up_stamps_are_pointed_out_and_real_ones_are_not() {
    if let Some(figures) = read("systor17/2016021612-LUN3.mqsim.zst", None, None, None) {
        assert_eq!(
            figures.suspicions,
            [
                "evenly spaced time stamps: probably a counter, not a clock; bytes per day and years mean nothing until \
                 you set the rate (--demand, or floatgate trace convert --time-scale)"
            ]
        );
    }
    for path in ["msr/prxy_0.first20k.csv.zst", "spc/WebSearch1.first60s.mqsim.zst"] {
        let Some(figures) = read(path, None, None, None) else { return };
        assert_eq!(figures.suspicions, [""; 0], "{path}");
        assert_eq!((figures.bad_lines_skipped, figures.stamp_jumps, figures.tar_lines), (0, 0, 0), "{path}");
    }
}
