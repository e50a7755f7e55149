//! Experiments in which a key matters, for `knobs.rs`.

use super::{Folder, hinted};
use floatgate_experiment::{Options, load, run_with};

pub const DRIVE: &str = "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n";
pub const FTL: &str = "[ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n";
pub const UNIFORM: &str = "[workload]\nrequests = 4000\n";

pub fn base() -> String {
    format!("{DRIVE}{FTL}{UNIFORM}")
}

pub fn with(ftl: &str, workload: &str) -> String {
    format!("{DRIVE}{FTL}{ftl}{UNIFORM}{workload}")
}

pub fn geometry(more: &str) -> String {
    format!("{DRIVE}{more}{FTL}{UNIFORM}")
}

pub fn trace(folder: &Folder, name: &str, more: &str) -> String {
    format!("{DRIVE}{FTL}[workload]\nfile = \"{}/{name}\"\n{more}", folder.path())
}

pub fn timed(workload: &str) -> String {
    format!("mode = \"timed\"\n{DRIVE}{FTL}{UNIFORM}{workload}")
}

pub fn planes(shape: &str, workload: &str) -> String {
    format!("mode = \"timed\"\n{DRIVE}planes_per_die = 2\n{shape}{FTL}{UNIFORM}{workload}")
}

pub fn suspending() -> String {
    format!(
        "mode = \"timed\"\n{DRIVE}[drive.commands]\nprogram_suspend = true\n{FTL}{UNIFORM}read_share = 0.6\n"
    )
}

pub fn buffered(buffer: &str, workload: &str) -> String {
    geometry(&format!("[drive.buffer]\ncapacity = \"200 KiB\"\n{buffer}")) + workload
}

/// Reads of a drive whose blocks endure few of them.
pub fn aware(buffer: &str) -> String {
    let disturb = "[drive.disturb]\nmodel = \"uniform\"\nmax_reads = 300\n[drive.buffer]\n";
    let policy = format!("capacity = \"200 KiB\"\npolicy = \"disturb-aware\"\n{buffer}");
    geometry(&format!("{disturb}{policy}")) + "read_share = 0.9\n"
}

/// A life of eighteen days, of which the drive endures a fraction, with bursts; keys of the tables come last.
pub fn life(policy: &str, more: &str) -> String {
    let workload = "[workload]\nrequests = 40000\nrate_per_s = 5\npattern = \"jobs\"\nburst_on_s = 100\n\
                        burst_off_s = 500\n";
    let throttle = format!("[lifetime.throttle]\ntarget_years = 0.05\npolicy = \"{policy}\"\n");
    geometry("[drive.endurance]\nmodel = \"ready-table2\"\n").replace(UNIFORM, workload) + &throttle + more
}

/// The same on a drive that deduplicates and compresses.
pub fn reduced(toml: &str) -> String {
    format!("{toml}[lifetime.reduce]\npolicy = \"both\"\nindex_share = 2\n")
}

/// Traces of which each makes some key matter.
pub fn traces() -> Folder {
    let folder = Folder::new("knobs");
    let line = |i: u64, device: u64, offset: u64| {
        format!("{},host,{device},Write,{offset},4096,0\n", 1_000_000 + i * 1000)
    };
    let scattered = |i: u64, pages: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % pages * 4096;
    folder.file("a.csv", (0..1500).map(|i| line(i, 0, scattered(i, 400))).collect::<String>());
    folder.file("b.csv", (0..1500).map(|i| line(i, 0, scattered(i, 300))).collect::<String>());
    folder.file("short.csv", (0..200).map(|i| line(i, 0, scattered(i, 400))).collect::<String>());
    folder.file("two-devices.csv", (0..3000).map(|i| line(i, i % 2, scattered(i, 200))).collect::<String>());
    let turns = (0..3000).map(|i| line(i, i / 8 % 2, scattered(i, 200)));
    folder.file("devices-in-turns.csv", turns.collect::<String>());
    folder.file("large.csv", (0..3000).map(|i| line(i, 0, scattered(i, 700))).collect::<String>());
    folder.file("bad.csv", format!("{}1001000,host,0,Write,x,4096,0\n", line(0, 0, 0)));
    let five: String = (0..100).map(|i| format!("{} 0 {} 8 0\n", i * 1000, i * 8)).collect();
    folder.file("five.ssdsim", &five);
    folder.file("five-columns", &five);
    let twin = |again: f64| {
        format!(
            "duration_s = 60\nrequests = 2000\nread_share = 0.2\nfootprint_bytes = 1900000\n\
             [writes]\nagain_share = {again}\n[reads]\nwritten_share = 1.0\nagain_share_of_written = 0.9\n"
        )
    };
    folder.file("a.toml", twin(0.9));
    folder.file("b.toml", twin(0.95));
    let event = |action: &str, i: u64| format!("8,0 1 {i} 0.{i:09} 99 {action} W {} + 8 [fsync]\n", i * 8);
    let events = (0..50).map(|i| event("Q", i)).chain((0..20).map(|i| event("D", i)));
    for (name, requests) in [("a.drive", 4000), ("b.drive", 5000)] {
        let options =
            Options { save_drive: Some(format!("{}/{name}", folder.path()).into()), ..Options::default() };
        let resolved =
            load(Some(&format!("{DRIVE}{FTL}[workload]\nrequests = {requests}\n")), "t", &[]).unwrap();
        run_with(resolved, &options, &mut |_| Ok(())).unwrap();
    }
    hinted::file(&folder, "hinted.parquet", &hinted::programs(1, 3, 480, 6000));
    hinted::file_at(&folder, "bursts.parquet", &hinted::bursts_in_turn(1, 480, 40));
    folder.file("q-and-d.blkparse", events.collect::<String>());
    folder
}

/// Programs whose data others' collection may wait for; idle time prepares for their bursts if it is `timed`.
pub fn by_context(folder: &Folder, timed: bool) -> String {
    let collect = "[ftl.collect]\nstop_free_blocks = 5\ntiming = \"by-context\"\nconfident_from = 2\n";
    let toml = |name: &str| trace(folder, name, "").replace("[workload]", &format!("{collect}[workload]"));
    if timed {
        let idle = "[ftl.background]\npolicy = \"idle\"\n[workload]\narrival = \"open\"";
        format!("mode = \"timed\"\n{}", toml("bursts.parquet").replace("[workload]", idle))
    } else {
        toml("hinted.parquet")
    }
}
