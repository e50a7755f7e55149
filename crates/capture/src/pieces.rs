//! Programs whose low phase is a part of them: those that reads suspend, and those of cache commands.
//!
//! Both leave low phases of all lengths between a read and a program, where a plain drive has none. Pieces of suspended
//! programs stand beside the reads that suspend them. A cache program is low until the array takes its data: for the
//! rest of the program before it, or for a few microseconds.

use crate::humps::READ_MAX_PS;
use crate::known::{Core, Doubt, Known, LEAST_SHARE, WITHHELD_SHARE};
use crate::lengths::Lengths;
use crate::succession::BUSY_MAX_PS;

/// Least number of low phases between reads and programs that shows parts of programs.
const PARTS_MIN: u64 = 20;
/// Least number of reads that wait for cache programs; at least one of a hundred low phases of a register.
const WAITS_MIN: u64 = 10;

/// Low phases between the reads and the programs of a capture.
#[derive(Clone, Copy, Debug)]
struct Valley {
    from_ps: u64,
    until_ps: u64,
    lows: u64,
    /// Those beside a read, and those right after one.
    beside: u64,
    after: u64,
}

impl Valley {
    /// Returns the valley below `until_ps`; none if it is as narrow as bins, or has few low phases.
    fn below(known: &Known, until_ps: u64) -> Option<Self> {
        let reads = reads(known).filter(|reads| !reads.is_wide());
        let from_ps = reads.map_or(READ_MAX_PS, |reads| reads.to_ps + reads.to_ps / 8 + 2 * known.step_ps);
        if until_ps < from_ps + from_ps / 8 {
            return None;
        }
        let within = |lengths: &Lengths| lengths.between(from_ps, until_ps);
        let (lows, beside, after) =
            (within(known.low), within(known.beside_reads), within(known.after_reads));
        (lows >= PARTS_MIN).then_some(Self { from_ps, until_ps, lows, beside, after })
    }

    /// Returns the valley if low phases are spread evenly in it. Many pieces are themselves a tenth of the highest
    /// density of programs, or a fifth; but nothing programs as fast as the slowest read.
    fn filled(known: &Known) -> Option<Self> {
        // The lower end of programs is not quite dense.
        let below_programs = |parts| known.core(parts).map_or(0, |core| core.from_ps - core.from_ps / 8);
        let tops_ps = [below_programs(10), below_programs(5), READ_MAX_PS];
        tops_ps
            .into_iter()
            .filter_map(|top_ps| Self::below(known, top_ps))
            .find(|valley| valley.is_even(known))
    }

    /// Returns the low phases of each quarter.
    fn quarters(self, known: &Known) -> [u64; 4] {
        let edge = |quarter: u64| self.from_ps + (self.until_ps - self.from_ps) * quarter / 4;
        [0, 1, 2, 3].map(|quarter| known.low.between(edge(quarter), edge(quarter + 1)))
    }

    /// Returns whether each quarter has at least a third of its share.
    fn is_even(self, known: &Known) -> bool {
        self.quarters(known).into_iter().all(|lows| 12 * lows >= self.lows)
    }

    /// Counts those that are pieces of suspended programs. The last piece of a program follows a read.
    fn pieces(self, is_cached: bool) -> f64 {
        match (is_cached, 10 * self.beside >= 9 * self.lows, 8 * self.after >= self.lows) {
            (false, true, _) => self.lows as f64,
            (true, _, true) => (2 * self.after).min(self.lows) as f64,
            _ => 0.0,
        }
    }

    /// Returns the low phases per unit of length, with four standard deviations.
    fn density(self, lows: f64) -> f64 {
        (lows + 4.0 * libm::sqrt(lows)) / (self.until_ps - self.from_ps) as f64
    }
}

/// Returns the dense lengths of reads.
fn reads(known: &Known) -> Option<Core> {
    known.core_within(10, (BUSY_MAX_PS, READ_MAX_PS))
}

/// Returns whether reads wait after low phases of a register, nearly all of them at least as long as the shortest
/// program. After cached reads data leave the chip, and no read of an array follows soon.
fn do_reads_wait(known: &Known, core: Core) -> bool {
    let long = known.high_after_busy.between(core.from_ps - core.from_ps / 8, u64::MAX);
    let all = known.high_after_busy.count();
    let short = known.low.between(0, BUSY_MAX_PS);
    all >= WAITS_MIN.max(short / 100) && 10 * long >= 9 * all
}

/// Bounds the cache programs that count as reads. Some low phases are as short as a register's. Others have all lengths up
/// to a program and do not stand beside reads, or reads wait for the array after the short ones.
///
/// Where the longest programs are shorter than erases, the erases may be all that counts as programs.
pub(crate) fn cached(known: &Known, core: Core) -> Option<Doubt> {
    let are_rare = known.are_programs_rare();
    let valley = if are_rare { Valley::below(known, core.from_ps) } else { Valley::filled(known) };
    let short = known.low.between(0, BUSY_MAX_PS);
    let are_apart = |valley: Valley| {
        let apart = valley.lows - valley.beside;
        4 * short >= valley.lows && apart >= 3 && 50 * apart >= valley.lows
    };
    if !valley.is_some_and(are_apart) && !do_reads_wait(known, core) {
        return None;
    }
    let (reads_from, reads_to) = reads(known).map_or((0, 0), |reads| (reads.from_ps, reads.to_ps));
    let outside = known.low.between(0, reads_from) + known.low.between(reads_to, known.program_ps.0 + 1);
    // Those as long as reads are as dense as in the densest quarter.
    let hidden = valley.map_or(0.0, |valley| {
        let densest = valley.quarters(known).into_iter().max().unwrap_or(0);
        valley.density(4.0 * densest as f64) * (reads_to - reads_from) as f64
    });
    // The last program of a row is low for the rest of the one before it, too, and may be as long as an erase.
    let doubled = known.low.between(known.program_ps.1, (2 * core.to_ps).max(known.program_ps.1));
    let more = (outside + doubled) as f64 + hidden;
    let text = format!(
        "{short} low phases are shorter than 10 us, as those of cache programs: a pin does not show how long these take, \
         and what is as short as a read counts as one; up to {more:.0} programs more"
    );
    let less = if are_rare { known.programs as f64 } else { 0.0 };
    Some(Doubt { code: "cache_programs", less, more, is_open: are_rare, text })
}

/// Bounds the programs and erases that reads suspend. Two low phases around a read add up to one program, more often than two that
/// follow each other; or low phases shorter than a program are beside reads. Where there are cache programs, the sums say
/// nothing.
pub(crate) fn suspended(known: &Known, core: Core, is_cached: bool) -> Option<Doubt> {
    if is_cached && known.are_programs_rare() {
        return None;
    }
    let (pairs, all_pairs) = if is_cached { (0.0, 0.0) } else { pieces_by_sums(known, core) };
    let (by_lengths, more) = pieces_by_lengths(known, core, is_cached);
    // In which order programs of different lengths come may depend on reads.
    let are_certain = !core.is_wide() || (by_lengths == 0.0 && fills_gap(known));
    let mut by_sums = if are_certain { pairs } else { 0.0 };
    let programs = known.programs as f64;
    if by_sums.max(by_lengths) < 2.0 * LEAST_SHARE * programs {
        return None;
    }
    if are_certain && by_sums.max(by_lengths) > 0.5 * WITHHELD_SHARE * programs {
        // So many pieces blur what lengths programs have.
        by_sums = by_sums.max(all_pairs);
    }
    let pieces = known.low.between(known.program_ps.0 + 1, READ_MAX_PS.max(known.program_ps.0 + 1)) as f64;
    // Pieces take no less time than their programs, each of which takes no more than the longest.
    let wholes = programs * (known.mean_ps() / (core.to_ps + core.to_ps / 8) as f64).min(1.0);
    let less = (by_sums + pieces).max(by_lengths).min(programs - wholes);
    let text = format!(
        "reads seem to suspend programs or erases: low phases shorter than a program stand before and after reads, and \
         a program in two pieces counts twice; up to {less:.0} programs less"
    );
    Some(Doubt { code: "suspended_programs", less, more, is_open: false, text })
}

/// Returns whether low phases of all lengths lie between reads and programs, in quarters from half of the longest read.
fn fills_gap(known: &Known) -> bool {
    let edge = |quarter: u64| READ_MAX_PS / 2 + READ_MAX_PS / 8 * quarter;
    let counts: Vec<u64> =
        (0..4).map(|quarter| known.low.between(edge(quarter), edge(quarter + 1))).collect();
    // The longest reads may reach into the first quarter.
    counts[1..].iter().all(|&count| 250 * count >= known.programs)
}

/// Bounds the suspended programs by the lengths of two low phases around a read; 0 if they are as by chance. Returns the
/// number of all such pairs, too.
fn pieces_by_sums(known: &Known, core: Core) -> (f64, f64) {
    let top_ps = core.to_ps + core.to_ps / 8 + 2 * known.step_ps;
    let around = known.sums_around_reads.count() as f64;
    let short = known.sums_around_reads.between(0, top_ps) as f64;
    let adjacent = known.sums_adjacent.count() as f64;
    if adjacent < 30.0 && core.is_wide() {
        // Two programs may be as short as the longest one, and in which order they come is unknown.
        return (0.0, short);
    }
    let (share, noise) = if adjacent >= 30.0 {
        (known.sums_adjacent.between(0, top_ps) as f64 / adjacent, around / adjacent)
    } else {
        (by_chance(known, top_ps), 0.0)
    };
    let expected = share * around;
    let deviation = libm::sqrt(short + expected * noise + 1.0);
    let excess = short - expected;
    (if excess < 4.0 * deviation { 0.0 } else { short.min(excess + 4.0 * deviation) }, short)
}

/// Bounds the suspended programs by the low phases between reads and programs: how many less there are, and how many more
/// where all pieces of a program are as short as reads. A program is interrupted at any time, so pieces are spread
/// evenly up to the longest program, and two are one program.
fn pieces_by_lengths(known: &Known, core: Core, is_cached: bool) -> (f64, f64) {
    Valley::filled(known).map_or((0.0, 0.0), |valley| {
        let pairs_per_ps = valley.density(valley.pieces(is_cached)) / 2.0;
        let hidden_ps = (2 * known.program_ps.0).saturating_sub(core.from_ps);
        (pairs_per_ps * core.to_ps as f64, pairs_per_ps * hidden_ps as f64)
    })
}

/// Returns the share of pairs of low phases longer than reads that add up to less than `top_ps`, if they are
/// independent.
fn by_chance(known: &Known, top_ps: u64) -> f64 {
    let bins: Vec<(u64, f64)> = known
        .low
        .bins()
        .filter(|&(begin_ps, ..)| begin_ps > READ_MAX_PS.min(known.program_ps.0))
        .map(|(begin_ps, end_ps, count)| (begin_ps.midpoint(end_ps), count as f64))
        .collect();
    let all: f64 = bins.iter().map(|bin| bin.1).sum();
    let below =
        |first: u64| bins.iter().filter(move |bin| bin.0 + first < top_ps).map(|bin| bin.1).sum::<f64>();
    bins.iter().map(|&(first, count)| count * below(first)).sum::<f64>() / (all * all).max(1.0)
}
