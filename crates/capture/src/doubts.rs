//! Finds what makes a count of programs doubtful: low phases that merge, dies that share a pin, programs as short as
//! reads or as long as erases, lost blocks of a capture. `pieces.rs` has suspended programs and cache programs.
//!
//! Each doubt bounds how many programs there may be less or more. The bounds are added to the interval of write
//! amplification. Where they are wide, or where the cause leaves a factor open, the estimate is withheld.

use crate::humps::{Hump, READ_MAX_PS};
use crate::known::{Core, Doubt, Known, LEAST_SHARE, WITHHELD_SHARE};
use crate::lengths::Lengths;
use crate::pieces::{cached, suspended};
use crate::succession::{BUSY_MAX_PS, MERGING_STEP_PS};
use crate::volume::Terms;

/// Shortest programs in SLC mode that reads do not hide.
pub(crate) const SLC_MIN_PS: u64 = 80_000_000;
/// No operation takes longer.
const OPERATION_MAX_PS: u64 = 25_000_000_000;
/// Erases are at least this long where longer low phases count as lost blocks.
const LOST_MIN_PS: u64 = 5_000_000_000;
/// Programs that take longer than this, and ten times as long as others, are low phases that overlap.
const PROGRAM_LONG_PS: u64 = 5_000_000_000;
/// Least share of low phases beyond the programs that shows dies sharing a pin.
const BETWEEN_SHARE: f64 = 0.005;

/// Returns the doubts about a count, and the codes of those that leave no estimate.
pub(crate) fn doubts(known: &Known) -> (Vec<Doubt>, Vec<&'static str>) {
    let core = known.core(10);
    let mut list: Vec<Doubt> = Vec::new();
    if let Some(core) = core {
        let merges = merges(known, core);
        let cached = cached(known, core);
        let suspended = suspended(known, core, cached.is_some());
        let by_samples = merges.map_or(0, |merges| merges.all.min(fitting_more(known, core)) as u64);
        list.extend(shared_pin(known, core, (by_samples, suspended.is_some())));
        list.extend(merges.map(|merges| merged(known, core, merges)));
        list.extend(suspended);
        list.extend(cached);
        list.extend(long_programs(known, core));
    }
    if !known.is_set {
        list.extend(short_programs(known));
    }
    list.extend(lost(known));
    let programs = known.programs.max(1) as f64;
    list.retain(|doubt| doubt.is_open || doubt.less + doubt.more >= LEAST_SHARE * programs);
    let sum: f64 = list.iter().map(|doubt| doubt.less + doubt.more).sum();
    let is_wide = |doubt: &&Doubt| {
        doubt.is_open || (sum > WITHHELD_SHARE * programs && doubt.less + doubt.more > 0.1 * sum)
    };
    let withheld = list.iter().filter(is_wide).map(|doubt| doubt.code).collect();
    (list, withheld)
}

fn us(ps: u64) -> f64 {
    (ps as f64 / 1e5).round() / 10.0
}

/// Dies that share a pin: their overlapping low phases are one. Said by the user, or shown by lengths that fill the
/// range between a program and two, more often than by `merged` samples.
fn shared_pin(known: &Known, core: Core, (merged, is_suspended): (u64, bool)) -> Option<Doubt> {
    let programs = known.programs as f64;
    let dies = match known.dies_per_signal {
        Some(dies) if dies > 1 => u64::from(dies),
        Some(_) => return None,
        None if beyond_programs(known, core, is_suspended) > merged => 2,
        None => return None,
    };
    let more = (known.fitting(core, known.program_ps.0 + 1, dies) - programs).max(0.0);
    let short = known.low.between(known.program_ps.0 + 1, core.from_ps) as f64;
    let per_pin = known.geometry.all_dies() as f64 / known.signals.max(1) as f64;
    let (less, text) = match known.dies_per_signal {
        Some(dies) => (
            short,
            format!(
                "{dies} dies share each pin (--dies-per-signal): low phases that overlap count as one, so there may \
                 be up to {more:.0} programs more; probe pins of one die, or use a workload that keeps one die busy"
            ),
        ),
        None => (
            // If all dies are on the measured pins, nothing is left to scale up to.
            (programs * (1.0 - 1.0 / per_pin.max(1.0))).max(short),
            format!(
                "low phases of all lengths from {:.0} to {:.0} us follow the programs: several dies may share a pin \
                 and overlap; say how many with --dies-per-signal (1: they do not), or probe pins of one die",
                us(core.to_ps),
                us(2 * core.to_ps)
            ),
        ),
    };
    Some(Doubt { code: "shared_pin", less, more, is_open: true, text })
}

/// Counts low phases that fill the range from one program to almost two in each eighth, or that last much longer: an
/// operation has a narrower range of lengths.
fn beyond_programs(known: &Known, core: Core, is_suspended: bool) -> u64 {
    let counts = |core: Core| {
        let edge = |part: u64| core.to_ps + core.to_ps * (part + 1) / 8;
        (0..5).map(|part| known.low.between(edge(part), edge(part + 1))).collect::<Vec<u64>>()
    };
    let filled = |core: Core, least: f64| {
        let counts = counts(core);
        let sum: u64 = counts.iter().sum();
        let is_filled = counts.iter().all(|&count| count >= 2);
        if is_filled && sum >= 20 && sum as f64 >= least { sum } else { 0 }
    };
    let programs = known.programs as f64;
    // Many overlaps are themselves a tenth of the highest density. The shares exceed those of a log-normal spread of 0.3.
    let steps = [(7, 3.0), (5, 4.0), (4, 6.0)];
    let by_step = |(parts, times): (u64, f64)| {
        known.core(parts).map_or(0, |dense| filled(dense, times * BETWEEN_SHARE * programs))
    };
    let dense = steps.into_iter().map(by_step).max().unwrap_or(0);
    // Those of reads show, too, unless what follows the reads are pieces of programs.
    let reads = known.low.between(0, known.program_ps.0 + 1) as f64;
    let read_core =
        known.core_within(10, (0, known.program_ps.0)).filter(|read| 2 * read.to_ps < core.from_ps);
    let sum: u64 = counts(core).iter().sum();
    let by_reads = read_core.map_or(0, |read| filled(read, 2.0 * BETWEEN_SHARE * reads)) > 0
        && sum as f64 >= 2.0 * BETWEEN_SHARE * programs
        && !is_suspended;
    let dense = if by_reads { dense.max(sum) } else { dense };
    let long_ps = PROGRAM_LONG_PS.max(10 * core.from_ps);
    let long = known.low.between(long_ps, known.program_ps.1.max(long_ps));
    let is_long = long >= 5 && long as f64 >= BETWEEN_SHARE * programs;
    dense.max(filled(core, BETWEEN_SHARE * programs)).max(if is_long { long } else { 0 })
}

/// How many low phases may have merged because the high phase between them is shorter than a sample.
#[derive(Clone, Copy)]
struct Merges {
    /// All.
    all: f64,
    /// Programs and erases with each other. Merged with a read, a program stays one.
    programs: f64,
}

/// Bounds how many high phases are shorter than a sample. Those of one sample show how many there are with none; those
/// of two samples, whether they get more frequent towards zero.
fn unseen(high: &Lengths, step_ps: u64) -> f64 {
    let within = |from: u64, to: u64| high.between(step_ps * from / 4, step_ps * to / 4) as f64;
    let (one, two) = (within(3, 6), within(6, 10));
    if one < 5.0 || one < 0.002 * high.count() as f64 {
        return 0.0;
    }
    // Evenly spread, half as many as those of one sample are missed; twice that is the bound.
    one * (one / two.max(1.0)).max(1.0)
}

/// Bounds the low phases that merged; none where nothing shows that any did.
fn merges(known: &Known, core: Core) -> Option<Merges> {
    let step_ps = known.step_ps;
    // Lengths that are multiples of a part of a program may be no samples.
    if step_ps < MERGING_STEP_PS || (!known.is_sampled && 4 * step_ps > core.from_ps) {
        return None;
    }
    let (all, between) = (unseen(known.high, step_ps), unseen(known.high_between_programs, step_ps));
    // A sample longer than a read hides reads with the short high phases beside them.
    let shortest = known.high.between(0, step_ps * 6 / 4);
    if shortest == 0 && step_ps <= BUSY_MAX_PS {
        return None;
    }
    // Commands without data, such as erases, may follow a program at once. They are few: no high phase need show them.
    let erases = Terms::hidden_erases((known.programs, known.signals as usize), 0, known.geometry);
    Some(Merges { all, programs: between + erases })
}

/// Bounds how many more programs fit in the low phases than these are.
fn fitting_more(known: &Known, core: Core) -> f64 {
    (known.fitting(core, known.program_ps.0 + 1, 1) - known.programs as f64).max(0.0)
}

/// Programs that merge with each other or with an erase, and reads that merge to the length of a program.
fn merged(known: &Known, core: Core, merges: Merges) -> Doubt {
    let more = merges.programs.min(fitting_more(known, core));
    // Coarse samples leave no gap between the lengths of reads and of programs.
    let read_max_ps = if known.is_set { 0 } else { READ_MAX_PS + known.step_ps };
    let short = known.low.between(known.program_ps.0 + 1, core.from_ps.max(read_max_ps)) as f64;
    let less = if known.step_ps > BUSY_MAX_PS { short } else { merges.all.min(short) };
    let text = format!(
        "samples of {} us miss shorter high phases, and low phases around them merge: up to {more:.0} programs more; \
         sample at least ten times as often",
        us(known.step_ps)
    );
    Doubt { code: "merged_lows", less, more, is_open: false, text }
}

/// Programs among what counts as erases: a hump below the longest one, or one with more members than blocks are
/// programmed.
fn long_programs(known: &Known, core: Core) -> Option<Doubt> {
    let longer = known.longer_humps();
    let pages = f64::from(known.geometry.pages_per_block.unwrap_or(64));
    let blocks = known.programs as f64 / pages * f64::from(known.geometry.planes);
    let most = 1.5 * blocks + 3.0 * libm::sqrt(blocks) + 3.0;
    let doubtful = longer.iter().enumerate().filter(|&(number, hump)| {
        (number + 1 < longer.len() && hump.count as f64 > blocks / 50.0) || hump.count as f64 > most
    });
    let doubtful: Vec<&Hump> = doubtful.map(|(_, hump)| hump).collect();
    if known.is_set || doubtful.is_empty() {
        return None;
    }
    let programs_in = |hump: &&Hump| {
        // A narrow hump is one kind of operation; a wide one may be low phases that merge.
        let is_narrow = 2 * hump.to_ps <= 3 * hump.from_ps;
        let fitting = |from_ps| known.fitting(core, from_ps, 1);
        if is_narrow { hump.count as f64 } else { fitting(hump.from_ps) - fitting(hump.to_ps) }
    };
    let more: f64 = doubtful.iter().map(programs_in).sum();
    let peaks: Vec<String> =
        doubtful.iter().map(|hump| format!("{} of {:.0} us", hump.count, us(hump.median_ps))).collect();
    let text = format!(
        "low phases that count as erases may be slow or merged programs ({}): up to {more:.0} programs more; with \
         --program-us A..B they count as such",
        peaks.join(", ")
    );
    Some(Doubt { code: "slow_programs", less: 0.0, more, is_open: false, text })
}

/// Programs as short as reads: a hump between the reads and the programs, or programs that are as rare as erases.
fn short_programs(known: &Known) -> Option<Doubt> {
    let shorter = known.shorter_humps();
    let are_rare = known.are_programs_rare();
    let slow = |hump: &&Hump| hump.median_ps >= SLC_MIN_PS && 100 * hump.count >= known.programs;
    let doubtful: Vec<&Hump> = match shorter {
        [_, rest @ ..] if rest.iter().any(|hump| slow(&hump)) => rest.iter().filter(slow).collect(),
        [only] if are_rare && slow(&only) => vec![only],
        _ => return None,
    };
    let more: f64 = doubtful.iter().map(|hump| hump.count as f64).sum();
    let less = if are_rare { known.programs as f64 } else { 0.0 };
    let (from_ps, to_ps) = (doubtful[0].from_ps, doubtful[doubtful.len() - 1].to_ps);
    let text = format!(
        "low phases of {:.0} us may be reads or programs in SLC mode ({more:.0}); if programs, say --program-us \
         {:.0}..{:.0}, if reads, --program-us {:.0}..{:.0}",
        us(doubtful[0].median_ps),
        us(from_ps) * 0.9,
        us(if are_rare { to_ps } else { known.program_ps.1 }) * if are_rare { 1.1 } else { 1.0 },
        us(known.program_ps.0),
        us(known.program_ps.1)
    );
    Some(Doubt { code: "slc_programs", less, more, is_open: false, text })
}

/// Time without samples: an unknown level, low phases longer than any operation, or phases of one length that the
/// other phases of the capture do not come near.
fn lost(known: &Known) -> Option<Doubt> {
    let (phases, mut lost_ps) = lost_blocks(known);
    lost_ps += known.lost_ps as f64;
    let more = lost_ps / known.mean_ps();
    if lost_ps <= 0.0 || !more.is_finite() {
        return None;
    }
    let what = match phases {
        0 => "the level is unknown".to_owned(),
        _ => {
            format!("{phases} phases last longer than the drive's own, as if blocks of the capture were lost")
        }
    };
    let text = format!("{what}, in all {:.3} s: up to {more:.0} programs more", lost_ps / 1e12);
    Some(Doubt { code: "lost_time", less: 0.0, more, is_open: false, text })
}

/// Counts phases that no operation explains, and adds up their time.
fn lost_blocks(known: &Known) -> (u64, f64) {
    let sum = |lengths: &Lengths, from_ps: u64, to_ps: u64| {
        let within = lengths.bins().filter(|&(begin_ps, ..)| begin_ps >= from_ps && begin_ps < to_ps);
        within.fold((0, 0.0), |(phases, sum), (begin_ps, end_ps, count)| {
            (phases + count, sum + begin_ps.midpoint(end_ps) as f64 * count as f64)
        })
    };
    let longer = known.longer_humps();
    let from_ps = match longer {
        [only] if only.median_ps >= LOST_MIN_PS && pauses(known, only.from_ps).0 > 0 => only.from_ps,
        _ => longer
            .windows(2)
            .find(|two| two[1].from_ps >= LOST_MIN_PS && 2 * two[1].from_ps >= 3 * two[0].to_ps)
            .map_or(OPERATION_MAX_PS, |two| two[1].from_ps),
    };
    let low = sum(known.low, from_ps.min(OPERATION_MAX_PS), u64::MAX);
    let high = pauses(known, LOST_MIN_PS);
    (low.0 + high.0, low.1 + high.1)
}

/// Finds rare long high phases of one length: at least three within a sixteenth, with none from a quarter of it, for
/// at most a fifth of the capture.
fn pauses(known: &Known, from_ps: u64) -> (u64, f64) {
    let mut long = known.high.bins().filter(|&(begin_ps, ..)| begin_ps >= from_ps / 4);
    let Some((first_ps, ..)) = long.next().filter(|&(begin_ps, ..)| begin_ps >= from_ps - from_ps / 32)
    else {
        return (0, 0.0);
    };
    let to_ps = first_ps + first_ps / 16;
    let phases = known.high.between(first_ps, to_ps);
    let all = known.high.between(first_ps, u64::MAX);
    let sum = phases as f64 * first_ps as f64;
    let is_rare = sum <= 0.2 * known.duration_ps as f64 * known.signals as f64;
    // The idle time at the ends of a capture is not of that length.
    if phases >= 3 && all <= phases + 2 * known.signals && is_rare { (phases, sum) } else { (0, 0.0) }
}
