//! Experiments in which a key matters, for `knobs.rs`.

use super::Folder;

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
