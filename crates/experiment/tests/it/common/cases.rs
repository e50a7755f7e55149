//! Random experiments: any drive, any policies, any workload that the configuration admits.

use crate::common::host_model::Rules;
use crate::common::policies;
use floatgate_base::testing::Bound;
use floatgate_base::{ChosenPolicy, Rng, Slot};
use floatgate_ftl::index::IndexKind;
use floatgate_ftl::{Separate, Victim, collect, level, reclaim, separate, single_policy_slots};
use floatgate_host::{Dispatch, dispatch};
use floatgate_nand::endurance;
use std::fmt::Write as _;

/// A random experiment.
pub struct Case {
    /// Its TOML; a trace workload still lacks its file.
    pub toml: String,
    /// The trace, and the end of its name.
    pub trace: Option<(String, &'static str)>,
    pub rules: Rules,
    /// Whether the drive starts full.
    pub full: bool,
    pub planes: u64,
    pub superblock: bool,
    /// Pages of the map in a page of the flash.
    pub subpages: u64,
    /// Whether collection is incremental, which may leave jobs in progress at both ends of the run.
    pub incremental: bool,
    /// Whether a power cut loses data that gathers in the controller.
    pub loses_power: bool,
    /// Whether reads disturb, and blocks are reclaimed.
    pub disturbs: bool,
    /// How often data must be on flash then: share of FUA, requests per FLUSH.
    pub asks: (f64, u64),
    pub streams: u64,
    pub warmup_requests: u64,
    pub warmup_passes: u64,
    pub repeat: u64,
}

const PAGES_PER_BLOCK: [u64; 11] = [1, 2, 3, 7, 8, 16, 24, 31, 64, 96, 192];
/// Limits of the drive's pages and of a run's programs: they keep a case below some milliseconds.
const PAGES_MAX: u64 = 30_000;
/// Largest spare factor.
const SPARE_MAX: f64 = 0.75;
const PROGRAMS_MAX: f64 = 250_000.0;
/// Most streams of a separator.
const STREAMS_MAX: u32 = 8;

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

/// One in `n`.
fn once_in(rng: &mut Rng, n: u64) -> bool {
    rng.below(n) == 0
}

struct Drive {
    counts: [u64; 4],
    blocks: u64,
    /// Pages of the map.
    pages_per_block: u64,
    page_bytes: u64,
    /// How many of them a page of the flash holds.
    subpages: u64,
}

impl Drive {
    fn draw(rng: &mut Rng) -> Self {
        let mut bound = Bound::new(100_000_000);
        loop {
            bound.step();
            let subpages = if once_in(rng, 3) { 2 << rng.below(3) } else { 1 };
            let drive = Self {
                counts: std::array::from_fn(|_| 1 + rng.below(3)),
                blocks: 8 + rng.below(57),
                pages_per_block: subpages * pick(rng, &PAGES_PER_BLOCK),
                page_bytes: 512 << rng.below(8 - u64::from(subpages.ilog2())),
                subpages,
            };
            if drive.planes() * drive.blocks * drive.pages_per_block <= PAGES_MAX {
                return drive;
            }
        }
    }

    fn planes(&self) -> u64 {
        self.counts.iter().product()
    }

    /// The table `[drive.geometry]`.
    fn toml(&self) -> String {
        let mut toml = String::from("[drive.geometry]\n");
        let names = ["channels", "chips_per_channel", "dies_per_chip", "planes_per_die"];
        names.iter().zip(self.counts).for_each(|(name, n)| writeln!(toml, "{name} = {n}").unwrap());
        let flash_pages = self.pages_per_block / self.subpages;
        writeln!(toml, "blocks_per_plane = {}\npages_per_block = {flash_pages}", self.blocks).unwrap();
        writeln!(toml, "page_bytes = {}", self.page_bytes * self.subpages).unwrap();
        toml
    }
}

/// Draws an experiment whose separator inspects no pages; the same generator state gives the same experiment.
pub fn draw(rng: &mut Rng, trace: bool) -> Case {
    let name = if once_in(rng, 2) { "none" } else { "host-gc" };
    draw_with(rng, trace, &separate::SLOT.with(name, &[]))
}

/// Draws an experiment with any separator that works with any workload; those that know the future are refused if a
/// buffer or queues change the order of writes.
pub fn draw_any(rng: &mut Rng, trace: bool) -> Case {
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        let separator = policy(rng, &separate::SLOT);
        let separate = Separate::of(&separator);
        if separate.needs().is_empty() && separate.streams() <= STREAMS_MAX {
            return draw_with(rng, trace, &separator);
        }
    }
}

/// The separator, and any policy of the slots that every drive has.
fn other_slots(rng: &mut Rng, separator: &ChosenPolicy, two_chips: bool) -> String {
    let mut toml = policies::toml(&separate::SLOT, separator);
    for slot in [&level::SLOT, &single_policy_slots::MAP] {
        let mut bound = Bound::new(100_000_000);
        let settings = loop {
            bound.step();
            let settings = policy(rng, slot);
            // Some are refused where blocks of a channel are not on two chips, or types of blocks overlap.
            let types = ["less_read_share", "frequent_read_share"].map(|key| settings.find_real(key));
            if types[0].is_none() || two_chips && types[0] < types[1] {
                break settings;
            }
        };
        toml += &policies::toml(slot, &settings);
    }
    toml
}

/// Draws a dispatcher of a drive with additional open blocks, beside a separator that inspects no pages. Windows are
/// short and therefore numerous, and patterns are rare enough for random addresses. Uses a separate generator to leave
/// all other draws unchanged.
fn dispatch(drive: &Drive, separate: Separate) -> (Dispatch, String) {
    let fcfs = (Dispatch::Fcfs, String::new());
    if separate.inspects_pages() {
        return fcfs;
    }
    let mut rng = Rng::new(drive.blocks ^ drive.pages_per_block << 16 ^ drive.planes() << 48, "dispatch");
    let info = policies::row(&mut rng, &dispatch::SLOT);
    if info.params.is_empty() {
        return fcfs;
    }
    let window = 1 + rng.below(60);
    let mined = 1 + rng.below(window);
    let mut values = vec![
        ("window", window as f64),
        ("mined", mined as f64),
        ("support", 1.0 + rng.below(window.min(3)) as f64),
        ("look", rng.below(2) as f64),
    ];
    if info.name == "patterns" {
        values.push(("items_min", 1.0 + rng.below(3) as f64));
        values.push(("transaction", 1.0 + rng.below(8) as f64));
    }
    let settings = dispatch::SLOT.with(info.name, &values);
    (Dispatch::of(&settings).unwrap(), policies::toml(&dispatch::SLOT, &settings))
}

/// Draws whether collection is incremental, with a separate generator to leave all other draws unchanged; writes the scope,
/// too.
fn incremental(drive: &Drive, superblock: bool, collect: &mut String) -> bool {
    if superblock {
        *collect += "scope = \"superblock\"\n";
    }
    let steps = once_in(&mut Rng::new(drive.blocks ^ drive.pages_per_block << 20, "mode"), 3);
    writeln!(collect, "mode = \"{}\"", collect::MODES[usize::from(steps)].0).unwrap();
    steps
}

/// Draws read disturb and its manager. Returns whether blocks are reclaimed, and the spare pages of a domain for
/// reclaim, which leaves pages unwritten in open blocks and in those that it fills. Uses a separate generator to leave
/// all other draws unchanged.
fn disturb(drive: &Drive, superblock: bool, pages_per_unit: u64) -> Option<(String, bool, u64)> {
    let shape = drive.blocks ^ drive.pages_per_block << 16 ^ drive.page_bytes << 32;
    let mut rng = Rng::new(shape ^ drive.planes() << 48, "read disturb");
    if once_in(&mut rng, 6) || pages_per_unit < 7 * drive.subpages {
        return None;
    }
    let model = pick(&mut rng, &["uniform", "mlc", "tlc-base", "tlc-opt"]);
    let flash_pages = drive.pages_per_block / drive.subpages;
    let more = pick(&mut rng, &[8, flash_pages, 3 * flash_pages + 20]);
    let reads = flash_pages + rng.below(more);
    let mut toml = format!("[drive.disturb]\nmodel = \"{model}\"\nmax_reads = {reads}\n");
    if once_in(&mut rng, 3) {
        let reads = 1.0 + 9.0 * rng.unit();
        writeln!(toml, "modes = [{{reads = 1, program = 1}}, {{reads = {reads}, program = 1.5}}]").unwrap();
    }
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        // Few drives have pages for replicas.
        let replicating = reclaim::POLICIES.iter().find(|info| info.name == "redftl" && once_in(&mut rng, 3));
        let info = replicating.unwrap_or_else(|| policies::row(&mut rng, &reclaim::SLOT));
        let settings = policies::drawn(&mut rng, &reclaim::SLOT, info);
        let replicas = settings.find_whole("replica_pages");
        let fits = replicas.is_none_or(|pages| {
            !superblock
                && drive.subpages == 1
                && pages <= drive.pages_per_block / 2
                && settings.real("create_at") <= settings.real("migrate_at")
        });
        let sorts = settings.find_name("order") == Some("by-type") && model == "uniform";
        if fits && !sorts {
            toml += &policies::toml(&reclaim::SLOT, &settings);
            return Some((toml, settings.name() != "none", 6 * pages_per_unit));
        }
    }
}

/// Draws modes of erases for half of the drives, one of which all blocks have: random drives of functional mode know no
/// time. Uses a separate generator to leave all other draws unchanged.
fn dpes(seed: u64) -> String {
    let mut rng = Rng::new(seed, "modes of erases");
    if once_in(&mut rng, 2) {
        return String::new();
    }
    let modes = match rng.below(3) {
        0 => "",
        1 => {
            "modes = [{wear = 1, erase = 1, program = 1, margin = 1}, {wear = 0.3, erase = 4, program = 2, margin = 1}]\n"
        }
        // Margins that end within a run of 100 million rated cycles after a few erases.
        _ => {
            "modes = [{wear = 1, erase = 1, program = 1, margin = 1}, {wear = 0.5, erase = 2, program = 1.5, margin = 2e-8}, \
             {wear = 0.25, erase = 2, program = 2, margin = 5e-9}]\n"
        }
    };
    format!("[ftl.dpes]\npolicy = \"fixed\"\n{modes}")
}

/// Streams, each with an open unit, and units that collection keeps for them. The pages labelled by a dispatcher are
/// one more.
fn streams_of(separate: Separate, dispatch: Dispatch) -> (u64, u64) {
    let more = u32::from(dispatch.labels());
    (u64::from(separate.streams() + more), u64::from(separate.reserve().max(2 * more)))
}

fn draw_with(rng: &mut Rng, trace: bool, separator: &ChosenPolicy) -> Case {
    let mut drive = Drive::draw(rng);
    let planes = drive.planes();
    let victim = policy(rng, &collect::SLOT);
    let separate = Separate::of(separator);
    let superblock = once_in(rng, 2);
    let (dispatch, dispatch_toml) = dispatch(&drive, separate);
    let (streams, reserve) = streams_of(separate, dispatch);
    drive.blocks += streams;
    let (domains, pages_per_unit) =
        if superblock { (1, drive.pages_per_block * planes) } else { (planes, drive.pages_per_block) };
    let mut collect = policies::toml(&collect::SLOT, &victim);
    let victim = Victim::of(&victim);
    let incremental = incremental(&drive, superblock, &mut collect);
    let stop = levels(rng, &mut collect, (streams, reserve), drive.blocks);
    // The space beside the free and open units, and the host's share of it.
    let room = (drive.blocks - stop - streams) * pages_per_unit * domains;
    let total = drive.blocks * drive.pages_per_block * planes;
    let most = (room - domains).max(1);
    let (loses_power, asks, most) = power_cuts(&drive, pages_per_unit, streams, most);
    let (reclaim, disturbs, apart) = disturb(&drive, superblock, pages_per_unit).unwrap_or_default();
    let (most, least) =
        (most.saturating_sub(apart * domains).max(1), (total as f64 * (1.0 - SPARE_MAX)) as u64 + 1);
    if most < least {
        return draw_with(rng, trace, separator);
    }
    let (metadata, logical) = metadata(rng, &drive, separate, (least, most));
    let spare = 1.0 - (logical as f64 + 0.5) / total as f64;
    let steady = victim.law().map_or("random", |_| "steady");
    let precondition = pick(rng, &["none", "sequential", "random", steady, "auto"]);
    let seed = rng.next_u64() >> 1;
    let mut toml = format!("seed = {seed}\n[drive]\nplp = {}\n{}", !loses_power, drive.toml());
    let model = policies::row(rng, &endurance::SLOT).name;
    writeln!(toml, "[drive.endurance]\nmodel = \"{model}\"\npe_cycles = 100000000").unwrap();
    writeln!(toml, "[ftl]\nspare_factor = {spare}\nprecondition = \"{precondition}\"").unwrap();
    toml += &laps(rng, precondition == "auto" && trace);
    writeln!(toml, "mapping_bytes = {}", drive.page_bytes).unwrap();
    let programs_unwritten = programs_unwritten(&mut toml, separate, seed);
    let free_block =
        pick(rng, if dispatch.makes_groups() { &["least-erased"; 2] } else { &["least-erased", "fifo"] });
    let slots = other_slots(rng, separator, drive.counts[1] > 1 && !superblock) + &dpes(seed) + &metadata;
    writeln!(toml, "free_block = \"{free_block}\"\n{collect}{dispatch_toml}{slots}{reclaim}").unwrap();
    let writes = writes_max(victim, pages_per_unit, room, logical);
    let mut case = Case {
        toml,
        trace: None,
        rules: Rules::plain(drive.page_bytes, logical, programs_unwritten),
        full: precondition != "none",
        planes,
        superblock,
        subpages: drive.subpages,
        incremental,
        loses_power,
        disturbs,
        asks,
        streams,
        warmup_requests: 0,
        warmup_passes: 0,
        repeat: 1,
    };
    if trace {
        add_trace(rng, &mut case, writes)
    } else {
        add_generator(rng, &mut case, writes)
    }
    case
}

/// Draws whether the map is kept on flash, and the logical pages beside it. Uses a separate generator for the former to
/// leave all other draws unchanged.
fn metadata(rng: &mut Rng, drive: &Drive, separate: Separate, (least, most): (u64, u64)) -> (String, u64) {
    let shape = drive.blocks ^ drive.pages_per_block << 16 ^ drive.page_bytes << 32;
    let mut own = Rng::new(shape, "metadata");
    let (entry_bytes, journal) = (pick(&mut own, &[4, 8, 64]), 1 + own.below(4));
    let pages = most.div_ceil((drive.page_bytes / entry_bytes).max(1)) + journal;
    if separate.foresees() || !once_in(&mut own, 3) || most < least + pages {
        return (String::new(), logical(rng, least, most));
    }
    let updates = 1 + own.below(60);
    let toml = format!(
        "[ftl.metadata]\npolicy = \"journal\"\nmap_entry_bytes = {entry_bytes}\nupdates_per_page = {updates}\n\
         journal_pages = {journal}\n"
    );
    (toml, logical(rng, least, most - pages))
}

/// Draws whether reads of unwritten pages program them, with a separate generator to leave all other draws unchanged.
fn programs_unwritten(toml: &mut String, separate: Separate, seed: u64) -> bool {
    let programs = !separate.foresees() && once_in(&mut Rng::new(seed, "unwritten reads"), 8);
    if programs {
        *toml += "unwritten_reads = \"program\"\n";
    }
    programs
}

/// Laps are designed for larger drives: many would take long, and most cases have none.
fn laps(rng: &mut Rng, there_are: bool) -> String {
    let max = there_are.then(|| if once_in(rng, 3) { rng.unit() } else { 0.1 * rng.unit() });
    max.map(|max| format!("wear_in_max = {max}\n")).unwrap_or_default()
}

/// Logical pages of a drive that has room for `most`.
fn logical(rng: &mut Rng, least: u64, most: u64) -> u64 {
    let drawn = match rng.below(8) {
        0 => most,
        1 => 1 + rng.below(most),
        _ => (most as f64 * (0.5 + 0.48 * rng.unit())) as u64,
    };
    drawn.clamp(least, most)
}

/// Draws whether power cuts lose gathering data, how often the host requires it on flash, and the maximum of logical
/// pages. Padding takes the space that a victim frees if units are small; such drives have more spare space. Uses a
/// separate generator to leave all other draws unchanged.
fn power_cuts(drive: &Drive, pages_per_unit: u64, streams: u64, most: u64) -> (bool, (f64, u64), u64) {
    let padded = 2 * drive.subpages * streams;
    let shape = drive.blocks ^ drive.pages_per_block << 16 ^ drive.page_bytes << 32;
    let mut rng = Rng::new(shape, "power cuts");
    let loses = drive.subpages > 1 && pages_per_unit >= 2 * padded && once_in(&mut rng, 2);
    let most = if loses { (most * (pages_per_unit - padded) / pages_per_unit).max(1) } else { most };
    (loses, (pick(&mut rng, &[0.0, 0.1, 0.5]), pick(&mut rng, &[0, 1, 4, 50])), most)
}

/// Pages that the host may write: each costs about 1 / (spare share of the closed units) programs, at most the
/// drive (or a unit, where the policy looks for the emptiest one).
fn writes_max(victim: Victim, pages_per_unit: u64, room: u64, logical: u64) -> u64 {
    let spare_share = (room - logical) as f64 / room as f64;
    let emptiest = matches!(
        victim.index_kind(),
        IndexKind::ByValid | IndexKind::OldestByValid | IndexKind::IdlestByValid
    );
    let worst = if emptiest { pages_per_unit } else { room };
    let amplification = (1.0 / spare_share).min(worst as f64);
    ((PROGRAMS_MAX / amplification) as u64).clamp(20, 4 * logical + 200)
}

/// Draws a policy of a slot with its parameters.
fn policy(rng: &mut Rng, slot: &Slot) -> ChosenPolicy {
    let info = policies::row(rng, slot);
    policies::drawn(rng, slot, info)
}

/// Trigger and stop level, by default, by number or by share.
fn levels(rng: &mut Rng, collect: &mut String, (streams, least): (u64, u64), blocks: u64) -> u64 {
    // At least one unit must be left to be collected.
    let most = (blocks - streams - 1).min(6);
    match rng.below(3) {
        0 => least.max((blocks / 100).min(8)),
        1 => {
            let trigger = least + rng.below(most - least);
            let stop = trigger + rng.below(most - trigger);
            writeln!(collect, "trigger_free_blocks = {trigger}\nstop_free_blocks = {stop}").unwrap();
            stop
        }
        _ => {
            let (low, more) = (0.01 + 0.1 * rng.unit(), 0.1 * rng.unit());
            writeln!(collect, "trigger_free_share = {low}\nstop_free_share = {}", low + more).unwrap();
            (((low + more) * blocks as f64).ceil() as u64).max(least)
        }
    }
}

fn add_generator(rng: &mut Rng, case: &mut Case, writes: u64) {
    let page = case.rules.page_bytes;
    let logical_bytes = case.rules.logical_pages * page;
    let bytes = match rng.below(7) {
        0 => page / 2,
        1 => 1 + rng.below(page),
        2 => page * (1 + rng.below(8)),
        3 => 1 + rng.below(5 * page),
        _ => page,
    }
    .clamp(1, logical_bytes);
    let requests = (writes * page / bytes.max(page)).max(1);
    let read = pick(rng, &[0.0, 0.0, 0.3, 0.9]);
    let trim = pick(rng, &[0.0, 0.0, 0.1, 0.5]) * (1.0 - read);
    case.warmup_requests = pick(rng, &[0, 0, requests / 3 + 1]);
    let toml = &mut case.toml;
    write!(toml, "[workload]\nrequests = {requests}\nrequest_bytes = {bytes}\nread_share = {read}\n")
        .unwrap();
    writeln!(toml, "trim_share = {trim}\nwarmup_requests = {}", case.warmup_requests).unwrap();
    if case.loses_power {
        let (fua, every) = case.asks;
        writeln!(toml, "fua_share = {fua}\nflush_every = {every}").unwrap();
    }
    if once_in(rng, 3) {
        writeln!(toml, "rate_per_s = {}", 1.0 + 9999.0 * rng.unit()).unwrap();
    }
    let pattern = pick(rng, &["sequential", "uniform", "zipf", "hot-cold"]);
    writeln!(toml, "pattern = \"{pattern}\"").unwrap();
    match pattern {
        "zipf" => writeln!(toml, "zipf_theta = {}", 2.5 * rng.unit()).unwrap(),
        "hot-cold" => {
            let shares = [0.0, 0.05, 0.2, 0.5, 1.0];
            let (pages, share) = (pick(rng, &shares), pick(rng, &shares));
            writeln!(toml, "hot_share_of_pages = {pages}\nhot_share_of_writes = {share}").unwrap();
        }
        _ => {}
    }
}

/// A trace of up to three devices: aligned or not, whole pages or parts, in MSR's format or (with TRIM) fio's.
fn add_trace(rng: &mut Rng, case: &mut Case, writes: u64) {
    let page = case.rules.page_bytes;
    let fio = once_in(rng, 2);
    let devices = 1 + rng.below(3.min(case.rules.logical_pages));
    case.rules.fold = once_in(rng, 3);
    case.rules.beyond = rng.below(3) as u8;
    (case.repeat, case.warmup_passes) = (1 + rng.below(3), rng.below(3));
    // Bytes that each device may use: its part of the drive, or three times the drive where that is not refused.
    let pages = match (case.rules.beyond, case.rules.fold) {
        (0, false) => case.rules.logical_pages / devices,
        (0, true) => case.rules.logical_pages,
        _ => 3 * case.rules.logical_pages,
    };
    let area = pages * page;
    let requests = (writes / (case.repeat + case.warmup_passes) / 2).clamp(1, 3000);
    let aligned = once_in(rng, 2);
    let read_share = pick(rng, &[0.0, 0.2, 0.8]);
    let mut text = String::from(if fio { "fio version 2 iolog\n/dev/0 add\n/dev/0 open\n" } else { "" });
    let mut stamp = 128_166_372_003_061_629u64;
    for _ in 0..requests {
        let device = rng.below(devices);
        let mut bytes = (1 + rng.below(4 * page)).min(area);
        let mut offset = rng.below(area - bytes + 1);
        if aligned {
            (offset, bytes) = (offset / page * page, bytes.div_ceil(page) * page);
        }
        let read = rng.unit() < read_share;
        if fio {
            let op = if read { "read" } else { pick(rng, &["write", "write", "write", "trim"]) };
            writeln!(text, "/dev/{device} {op} {offset} {bytes}").unwrap();
        } else {
            stamp += rng.below(100_000);
            let op = if read { "Read" } else { "Write" };
            writeln!(text, "{stamp},host,{device},{op},{offset},{bytes},0").unwrap();
        }
    }
    let toml = &mut case.toml;
    let beyond = ["refuse", "wrap", "scale"][usize::from(case.rules.beyond)];
    let devices = if case.rules.fold { "fold" } else { "apart" };
    write!(toml, "[workload]\nbeyond = \"{beyond}\"\ndevices = \"{devices}\"\n").unwrap();
    writeln!(toml, "repeat = {}\nwarmup_passes = {}", case.repeat, case.warmup_passes).unwrap();
    case.trace = Some((text, if fio { "iolog" } else { "csv" }));
}
