//! The counts of `../shared/traces/INDEX.md`, taken with an independent parser. The samples are not part of the
//! project: where they are absent the tests say so and pass.

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

/// Options as the command line gives them: `--time-unit`, `--lba-unit`, `--action`.
fn read(path: &str, time: Option<&str>, lba: Option<&str>, action: Option<&str>) -> Option<Info> {
    let path = sample(path)?;
    let options = OpenOptions::parse(None, time, lba, action, None).unwrap();
    let mut source = open(&path, &options).unwrap_or_else(|e| panic!("{e}"));
    let found = info(&mut *source).unwrap_or_else(|e| panic!("{e}"));
    // A second pass gives the same.
    source.rewind().unwrap();
    let again = info(&mut *source).unwrap();
    assert_eq!(format!("{found:?}"), format!("{again:?}"));
    assert_eq!(found.content_hash.as_ref().map(String::len), Some(64));
    Some(found)
}

type Expected = (&'static str, u64, u64, u64, &'static str, u64);

/// Compares with a line of the index: format, requests, reads, writes, GB written, distinct 4 KiB pages written.
fn check(found: &Info, (format, requests, reads, writes, gb, pages): Expected) {
    let all = (found.requests, found.reads, found.writes, found.pages_written_distinct);
    assert_eq!((found.format.as_str(), all), (format, (requests, reads, writes, pages)));
    assert_eq!(format!("{:.4}", found.write_bytes as f64 / 1e9), gb);
}

#[test]
fn msr() {
    let Some(found) = read("msr/prxy_0.first20k.csv.zst", None, None, None) else { return };
    check(&found, ("msr", 20_000, 336, 19_664, "0.0465", 1615));
    assert_eq!(found.duration_s.unwrap() as u64, 938);
    assert_eq!(found.devices[0].name, "prxy_0");
    assert!((0.14..0.16).contains(&found.aligned_share), "{}", found.aligned_share);
    assert!(found.assumed.is_empty());
}

#[test]
fn mqsim() {
    if let Some(found) = read("msr/hm_0.write-only33k.mqsim.zst", None, Some("byte"), None) {
        check(&found, ("mqsim", 33_304, 0, 33_304, "0.7811", 51_903));
        assert!(found.assumed.contains(&"address unit overridden: byte".to_owned()));
    }
    if let Some(found) = read("msprod/tpcc-small.mqsim.zst", None, None, None) {
        check(&found, ("mqsim", 6999, 4381, 2618, "0.0234", 7879));
        assert_eq!(found.devices.len(), 16);
        assert!(found.assumed[0].starts_with("assumed: time in ns"));
    }
    if let Some(found) = read("spc/WebSearch1.first60s.mqsim.zst", None, None, None) {
        check(&found, ("mqsim", 24_783, 24_779, 4, "0.0000", 4));
        assert_eq!(found.duration_s.unwrap().round(), 60.0);
    }
    if let Some(found) = read("systor17/2016021612-LUN3.mqsim.zst", None, None, None) {
        check(&found, ("mqsim", 202_725, 193_557, 9168, "0.4401", 81_920));
    }
}

#[test]
fn ssdsim() {
    let expected = ("ssdsim", 127_043, 113_123, 13_920, "0.7608", 184_051);
    if let Some(found) = read("msprod/DTRS1K.ssdsim.zst", Some("us"), None, None) {
        check(&found, expected);
        assert_eq!(found.duration_s.unwrap().round(), 300.0);
    }
    if let Some(found) = read("msprod/DTRS1K.ssdsim.zst", None, None, None) {
        check(&found, expected);
        assert_eq!(found.duration_s.unwrap().round(), 300.0);
        let said = "time unit taken: us, for in ns the trace would begin with 18 GB a second";
        assert!(found.assumed[1].starts_with(said), "{:?}", found.assumed);
        assert!(found.suspicions.is_empty());
    }
    if let Some(found) = read("msprod/DTRS100M.ssdsim.zst", None, None, None) {
        check(&found, expected);
    }
}

#[test]
fn flashsim() {
    if let Some(found) = read("spc/WebSearch1.50k.flashsim.zst", None, None, None) {
        check(&found, ("flashsim", 50_000, 49_990, 10, "0.0001", 4));
        assert_eq!(found.duration_s.unwrap().round(), 129.0);
    }
    if let Some(found) = read("desktop/desktop.flashsim.zst", None, None, None) {
        check(&found, ("flashsim", 32_527, 12_467, 20_060, "0.7859", 143_898));
        assert_eq!((found.duration_s.unwrap() / 360.0).round(), 25.0);
    }
    if let Some(found) = read("desktop/jpeg_copy.flashsim.zst", None, None, None) {
        check(&found, ("flashsim", 47_120, 35_344, 11_776, "2.3222", 567_706));
    }
}

#[test]
fn disksim() {
    if let Some(found) = read("disksim/postmark.disksim.zst", None, None, None) {
        check(&found, ("disksim", 62_257, 51_780, 10_477, "8.9369", 1_532_457));
    }
    if let Some(found) = read("disksim/iozone-100k.disksim.zst", None, None, None) {
        check(&found, ("disksim", 100_000, 0, 100_000, "36.8557", 271_320));
        assert_eq!((found.rewrite_share.unwrap() * 100.0).round(), 97.0);
    }
    if let Some(found) = read("disksim/disksim-valid-ascii.disksim.zst", None, None, None) {
        check(&found, ("disksim", 100_000, 79_634, 20_366, "0.1077", 38_533));
        assert_eq!(found.devices.len(), 14);
    }
}

#[test]
fn blkparse() {
    if let Some(found) = read("ycsb/ssdtrace-sample.blkparse.zst", None, None, Some("D")) {
        check(&found, ("blkparse", 1694, 1694, 0, "0.0000", 0));
    }
    if let Some(found) = read("blktrace/java-ext4.blkparse.zst", None, None, None) {
        check(&found, ("blkparse", 9887, 9039, 848, "0.2519", 61_395));
        assert_eq!((found.stamps_backwards, found.stamp_jumps), (824, 1));
        assert_eq!(
            found.suspicions,
            ["1 time stamp lies more than 30 years from the one before: span and rate mean little"]
        );
        assert_eq!(found.assumed, ["requests are the events D (default for this trace)"]);
    }
    if let Some(found) = read("blktrace/java-f2fs.blkparse.zst", None, None, None) {
        check(&found, ("blkparse", 5727, 4722, 1005, "0.4398", 101_756));
    }
    if let Some(found) = read("blktrace/java-btrfs.blkparse.zst", None, None, None) {
        check(&found, ("blkparse", 1824, 1301, 523, "0.2564", 56_753));
    }
    if let Some(found) = read("blktrace/hadoop-like-50k.blkparse.zst", None, None, None) {
        check(&found, ("blkparse", 15_524, 80, 15_444, "0.0633", 15_461));
        assert_eq!(found.assumed, ["requests are the events Q (default for this trace)"]);
    }
    if let Some(found) = read("blktrace/wiscsee-mkfs-fio.blkparse", None, None, None) {
        check(&found, ("blkparse", 673, 161, 512, "0.1342", 32_768));
    }
    // Not in the index: a trace that has completions only.
    if let Some(found) = read("blktrace/leveldb-ramdisk.blkparse", None, None, None) {
        assert_eq!((found.requests, found.writes), (840, 840));
        assert_eq!(found.assumed, ["requests are the events C (default for this trace)"]);
    }
}

#[test]
fn fio_iolog() {
    let Some(found) = read("iolog/t0038.iolog", None, None, None) else { return };
    check(&found, ("fio-iolog", 20, 0, 10, "0.0000", 10));
    assert_eq!((found.trims, found.trim_bytes, found.write_bytes), (10, 10 << 31, 40_960));
    assert_eq!((found.other_records, found.devices[0].name.as_str()), (4, "/dev/null"));
    assert_eq!(found.duration_s, Some(73e-6));
}

#[test]
fn fiu() {
    const CLEAN: &str = "fiu/cheetah-110108-113008.2.first9998.blkparse.zst";
    let Some(found) = read(CLEAN, None, None, None) else { return };
    check(&found, ("fiu", 9998, 8896, 1102, "0.0045", 894));
    assert_eq!((found.other_records, found.tar_lines, found.devices[0].name.as_str()), (0, 0, "6,0"));
    // The same out of a tar archive of which only the compression was undone.
    let Some(raw) = read("fiu/cheetah.sample10000.raw.zst", None, None, None) else { return };
    check(&raw, ("fiu", 9998, 8896, 1102, "0.0045", 894));
    assert_eq!((raw.tar_lines, raw.bad_lines_skipped, raw.duration_s), (4, 0, found.duration_s));
    assert_eq!(raw.assumed, ["4 lines of tar headers and padding were passed over"]);
}

#[test]
fn ssdtrace() {
    // By its extension it is blkparse, whose default is the first event, Q.
    let Some(path) = sample("ycsb/ssdtrace-sample.blkparse.zst") else { return };
    let options = OpenOptions::parse(Some("ssdtrace"), None, None, None, None).unwrap();
    let found = info(&mut *open(&path, &options).unwrap()).unwrap();
    check(&found, ("ssdtrace", 1694, 1694, 0, "0.0000", 0));
    assert_eq!(found.assumed, ["requests are the events D (default for this trace)"]);
}

#[test]
fn srt() {
    let Some(found) = read("disksim/ajw.1week.srt.zst", None, None, None) else { return };
    check(&found, ("srt", 44_519, 13_040, 31_479, "0.2018", 3856));
    // A week, and two disks of which one holds only the swap space.
    assert_eq!(found.duration_s.map(|s| (s / 3600.0).round()), Some(168.0));
    let disks: Vec<_> = found.devices.iter().map(|d| (d.name.as_str(), d.requests)).collect();
    assert_eq!(disks, [("disk1", 2267), ("disk0", 42_252)]);
    assert_eq!((found.other_records, found.suspicions.len()), (0, 0));
}

#[test]
fn disksim_valid() {
    // Not in the index; counted with awk: 5115 R, 4884 W of 41473536 bytes, 15298.2 us of service and 14192.3 of gap.
    let Some(found) = read("disksim/hp_c2247a.disksim-hpl.zst", None, None, None) else { return };
    assert_eq!((found.requests, found.reads, found.writes), (9999, 5115, 4884));
    assert_eq!((found.write_bytes, found.other_records), (41_473_536, 0));
    assert_eq!(found.duration_s.map(|s| (s / 9998.0 * 1e4).round()), Some(295.0));
}

#[test]
fn wiscsee() {
    if let Some(found) = read("blktrace/sqlitewal-ext4.wiscsee.zst", None, None, None) {
        check(&found, ("wiscsee", 5008, 4, 5003, "0.0691", 2170));
        assert_eq!((found.trims, found.trim_bytes), (1, 4096));
        assert_eq!(found.other_records, 4992);
    }
    // Not in the index: a trace of issues only, one of them before the beginning of the device.
    let Some(path) = sample("blktrace/sqlitewal-ext4-mkfs.wiscsee") else { return };
    let mut source = open(&path, &OpenOptions::default()).unwrap();
    let refusal = info(&mut *source).unwrap_err().to_string();
    assert_eq!(refusal, format!("{path}:113:13: '-8388608' is not an offset; expected a whole number"));
    let options = OpenOptions::parse(None, None, None, None, Some("skip")).unwrap();
    let found = info(&mut *open(&path, &options).unwrap()).unwrap();
    assert_eq!((found.reads, found.writes, found.bad_lines_skipped, found.other_records), (44, 106, 1, 0));
}

#[test]
fn made_up_stamps_are_pointed_out_and_real_ones_are_not() {
    if let Some(found) = read("systor17/2016021612-LUN3.mqsim.zst", None, None, None) {
        assert_eq!(
            found.suspicions,
            [
                "100 million requests per second if the time stamps are in ns; if they are not, give --time-unit"
            ]
        );
    }
    for path in ["msr/prxy_0.first20k.csv.zst", "spc/WebSearch1.first60s.mqsim.zst"] {
        let Some(found) = read(path, None, None, None) else { return };
        assert_eq!(found.suspicions, [""; 0], "{path}");
        assert_eq!((found.bad_lines_skipped, found.stamp_jumps, found.tar_lines), (0, 0, 0), "{path}");
    }
}
