//! Classifies low phases as reads, programs and erases by their lengths alone.
//!
//! Lengths are binned on a logarithmic scale. A hump ends at a gap of at least an eighth in length. Between gaps the
//! scale is examined in slots of an eighth of a doubling: two humps are separated where a slot is clearly lower than
//! both. The properties of chips then identify the humps. Reads are the shortest: no array reads for as long as
//! [`READ_MAX_PS`], and none programs as fast. Erases are the longest, at least [`ERASE_MIN_PS`], and rare, because a
//! block has many pages. The humps between are programs; they form two humps if lower and upper pages take different
//! times.

use crate::lengths::{Lengths, edge_of};
use serde::Serialize;

/// Upper limit of reads and lower limit of programs: reads take 25 to 140 us, programs 200 us to some milliseconds on
/// chips from SLC to QLC.
pub const READ_MAX_PS: u64 = 150_000_000;
/// Lower limit of erases.
pub const ERASE_MIN_PS: u64 = 1_000_000_000;
/// Upper limit of anything that keeps the pin low, except suspended erases.
const PROGRAM_MAX_PS: u64 = 20_000_000_000;
/// Least number of programs per erase: blocks have at least 32 pages, and usually at most two are programmed at once.
const PROGRAMS_PER_ERASE: u64 = 16;
/// Largest valley between two humps, as a share of the lower one.
const VALLEY_SHARE: f64 = 0.25;

/// Least number of empty bins in a gap between two humps; a doubling has 32 bins.
const GAP_BINS: usize = 5;

/// Low phases of about the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Hump {
    /// The shortest length.
    pub from_ps: u64,
    /// The upper limit, exclusive.
    pub to_ps: u64,
    /// The most frequent length: the middle of the bin with the most low phases per width.
    pub peak_ps: u64,
    /// The length that half of the low phases do not exceed, to the width of a bin.
    pub median_ps: u64,
    /// Number of low phases.
    pub count: u64,
}

/// The lengths that are programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Separation {
    /// Programs are longer than the first length and shorter than the second.
    pub program_ps: (u64, u64),
    /// All humps, ascending.
    pub humps: Vec<Hump>,
    /// Number of humps that are reads.
    pub reads: usize,
    /// Number of humps that are programs; the remaining ones are erases.
    pub programs: usize,
}

impl Hump {
    /// Returns whether a length lies within the hump, with low phases on both sides.
    pub(crate) fn is_cut_by(&self, length_ps: u64) -> bool {
        self.from_ps < length_ps && length_ps < self.to_ps
    }
}

impl Separation {
    /// Returns whether an upper limit of programs cuts a hump that may hold erases.
    ///
    /// Most of the `longer` low phases beyond the limit then belong to that hump, and more than outliers of it are
    /// shorter.
    pub(crate) fn is_cut_by(&self, limit_ps: u64, lengths: &Lengths, longer: u64) -> bool {
        let cut = self.humps.iter().find(|hump| hump.is_cut_by(limit_ps) && hump.to_ps > ERASE_MIN_PS);
        cut.is_some_and(|hump| {
            let below = lengths.between(hump.from_ps, limit_ps);
            let above = lengths.between(limit_ps, hump.to_ps);
            2 * above >= longer && 100 * below >= above
        })
    }
}

/// A part of the logarithmic scale.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    from_ps: u64,
    to_ps: u64,
    count: u64,
    /// Low phases per picosecond where they are densest, and the length there.
    peak: (f64, u64),
}

/// Bin, its ends and its count.
type Bin = (usize, u64, u64, u64);

/// Splits the scale at gaps. Lengths are multiples of `step_ps`; a gap is wider than the distance of two multiples.
fn parts(bins: &[Bin], step_ps: u64) -> impl Iterator<Item = &[Bin]> {
    bins.chunk_by(move |below, above| {
        above.0 - below.0 <= GAP_BINS || above.1.saturating_sub(below.2) <= step_ps.saturating_mul(2)
    })
}

/// Divides a part of the scale into slots of an eighth of a doubling, from the shortest length to the longest. Slots
/// that contain no multiple of `step_ps` are left out.
fn slots(bins: &[Bin], step_ps: u64) -> Vec<Slot> {
    let can_hold = |eighth: usize| {
        let below = |bin: usize| edge_of(bin).saturating_sub(1) / step_ps.max(1);
        below(4 * (eighth + 1)) > below(4 * eighth)
    };
    let mut slots: Vec<Slot> = Vec::new();
    let mut last = None;
    for &(bin, from_ps, to_ps, count) in bins {
        let eighth = bin / 4;
        let after = *last.get_or_insert(eighth);
        slots.extend((after + 1..eighth).filter(|&between| can_hold(between)).map(|_| Slot::default()));
        if slots.is_empty() || eighth > after {
            slots.push(Slot { from_ps, ..Slot::default() });
        }
        last = Some(eighth);
        let Some(slot) = slots.last_mut() else { continue };
        (slot.to_ps, slot.count) = (to_ps, slot.count + count);
        let density = count as f64 / (to_ps - from_ps).max(step_ps) as f64;
        if density > slot.peak.0 {
            slot.peak = (density, from_ps.midpoint(to_ps));
        }
    }
    slots
}

/// Returns the length that half of the low phases of `bins` within a hump do not exceed.
fn median_ps(bins: &[Bin], (from_ps, to_ps): (u64, u64), count: u64) -> u64 {
    let mut before = 0;
    for &(_, begin_ps, end_ps, held) in bins.iter().filter(|bin| bin.1 >= from_ps && bin.1 < to_ps) {
        if 2 * (before + held) >= count {
            let share = (count as f64 / 2.0 - before as f64) / held as f64;
            return begin_ps + (share * (end_ps - begin_ps) as f64) as u64;
        }
        before += held;
    }
    to_ps
}

/// Finds the humps in a part of the scale, ascending. Lengths are multiples of `step_ps`.
fn humps(bins: &[Bin], step_ps: u64) -> Vec<Hump> {
    let slots = &slots(bins, step_ps);
    let at = |i: usize| slots.get(i).map_or(0.0, |slot| slot.count as f64);
    let smooth: Vec<f64> = (0..slots.len())
        .map(|i| (if i > 0 { at(i - 1) } else { 0.0 } + 2.0 * at(i) + at(i + 1)) / 4.0)
        .collect();
    // Cut at the lowest place between two maxima if it is clearly lower than both.
    let (mut cuts, mut top, mut low) = (Vec::new(), 0, 0);
    for i in 1..smooth.len() {
        if smooth[i] < smooth[low] {
            low = i;
        }
        let is_lower = |peak: f64| {
            let valley = smooth[low];
            valley <= VALLEY_SHARE * peak && peak - valley > 3.0 * peak.max(1.0).sqrt().min(peak / 4.0)
        };
        if smooth[i] > smooth[top] && !is_lower(smooth[top]) {
            (top, low) = (i, i);
        } else if low > top && is_lower(smooth[top]) && is_lower(smooth[i]) {
            cuts.push(low);
            (top, low) = (i, i);
        }
    }
    cuts.push(slots.len());
    let mut from = 0;
    let mut humps = Vec::new();
    for cut in cuts {
        let part = slots[from..cut].iter().filter(|slot| slot.count > 0);
        let hump = part.clone().next().map(|first| {
            let to_ps = part.clone().map(|slot| slot.to_ps).max().unwrap_or(0);
            let count = part.clone().map(|slot| slot.count).sum();
            let densest = part.clone().map(|slot| slot.peak).reduce(|a, b| if b.0 > a.0 { b } else { a });
            Hump {
                from_ps: first.from_ps,
                to_ps,
                peak_ps: densest.map_or(0, |(_, ps)| ps),
                median_ps: median_ps(bins, (first.from_ps, to_ps), count),
                count,
            }
        });
        humps.extend(hump);
        from = cut;
    }
    humps
}

/// Separates programs from reads and erases; returns none if no low phase is as long as a program. Lengths are
/// multiples of `step_ps`.
#[must_use]
pub fn separate(lengths: &Lengths, step_ps: u64) -> Option<Separation> {
    let bins: Vec<Bin> = lengths.numbered().collect();
    let all: Vec<Hump> = parts(&bins, step_ps).flat_map(|part| humps(part, step_ps)).collect();
    let reads = all.iter().take_while(|hump| hump.median_ps < READ_MAX_PS).count();
    let longer = &all[reads..];
    let mut programs = longer.len();
    while programs > 1 {
        let (last, before) = (longer[programs - 1], &longer[..programs - 1]);
        let sum: u64 = before.iter().map(|hump| hump.count).sum();
        let too_long = last.median_ps > PROGRAM_MAX_PS;
        if !too_long && (last.median_ps < ERASE_MIN_PS || last.count * PROGRAMS_PER_ERASE > sum) {
            break;
        }
        programs -= 1;
    }
    if programs == 0 || longer[0].median_ps > PROGRAM_MAX_PS {
        return None;
    }
    // The limits lie in the middle of the gap between two humps, on the logarithmic scale.
    let between = |below: Hump, above: Hump| {
        let middle = libm::sqrt(below.to_ps as f64 * above.from_ps as f64) as u64;
        middle.clamp(below.to_ps.min(above.from_ps), above.from_ps)
    };
    let (first, last) = (longer[0], longer[programs - 1]);
    let from_ps = if reads > 0 { between(all[reads - 1], first) } else { first.from_ps / 2 };
    let to_ps = match longer.get(programs) {
        Some(&above) => between(last, above),
        None => last.to_ps.saturating_mul(2),
    };
    // A length equal to the lower limit is a read.
    let program_ps = (from_ps.saturating_sub(1), to_ps);
    Some(Separation { program_ps, humps: all, reads, programs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

    const US: u64 = 1_000_000;

    fn mixed(parts: &[(u64, u64, u64)]) -> Lengths {
        let mut rng = Rng::new(3, "humps test");
        let mut lengths = Lengths::default();
        for &(from_us, to_us, count) in parts {
            (0..count).for_each(|_| lengths.add(from_us * US + rng.below((to_us - from_us) * US)));
        }
        lengths
    }

    fn counts(lengths: &Lengths) -> [u64; 3] {
        let (from, to) = separate(lengths, 1).unwrap().program_ps;
        [lengths.between(0, from + 1), lengths.between(from + 1, to), lengths.between(to, u64::MAX)]
    }

    #[test]
    fn reads_programs_and_erases_are_separated() {
        // SLC: one hump of programs. MLC: two. Without reads, without erases, and without both.
        for (parts, expected) in [
            (&[(20, 30, 5000), (200, 500, 3000), (1900, 2100, 40)][..], [5000, 3000, 40]),
            (&[(45, 55, 900), (300, 500, 5000), (900, 1500, 5000), (3500, 4000, 70)], [900, 10_000, 70]),
            (&[(300, 500, 5000), (900, 1500, 5000), (3500, 4000, 70)], [0, 10_000, 70]),
            (&[(60, 80, 50), (550, 650, 40)], [50, 40, 0]),
            (&[(220, 260, 10)], [0, 10, 0]),
            (&[(80, 110, 100_000), (600, 2500, 700), (8000, 12_000, 3)], [100_000, 700, 3]),
            // Few erases near many programs.
            (&[(45, 60, 5000), (300, 500, 7500), (900, 1500, 7500), (1800, 2300, 117)], [5000, 15_000, 117]),
        ] {
            assert_eq!(counts(&mixed(parts)), expected, "{parts:?}");
        }
    }

    /// Flat humps have no peak at the end of their widest bin, and medians in their middle.
    #[test]
    fn medians_of_flat_humps_are_in_their_middle() {
        let lengths = mixed(&[(200, 600, 50_000), (733, 2200, 50_000)]);
        let humps = separate(&lengths, 1).unwrap().humps;
        let medians: Vec<f64> = humps.iter().map(|hump| hump.median_ps as f64 / US as f64).collect();
        assert!(
            (medians[0] / 400.0 - 1.0).abs() < 0.01 && (medians[1] / 1466.5 - 1.0).abs() < 0.01,
            "{medians:?}"
        );
        // Low phases crowd around 400 us, in a narrower bin than those of 600 us.
        let crowded = mixed(&[(200, 600, 20_000), (395, 405, 2_000)]);
        let peak_us = separate(&crowded, 1).unwrap().humps[0].peak_ps / US;
        assert!((385..=415).contains(&peak_us), "{peak_us}");
    }

    /// Lengths that are multiples of a coarse step leave empty bins that are not gaps.
    #[test]
    fn coarse_steps_leave_no_gaps() {
        let mut lengths = Lengths::default();
        (1..60).for_each(|steps| (0..50).for_each(|_| lengths.add(steps * 20 * US)));
        assert_eq!(separate(&lengths, 20 * US).unwrap().humps.len(), 1);
        assert!(separate(&lengths, 1).unwrap().humps.len() > 4);
    }

    #[test]
    fn without_programs_there_is_no_interval() {
        assert_eq!(separate(&mixed(&[(20, 30, 5000)]), 1), None);
        assert_eq!(separate(&Lengths::default(), 1), None);
    }

    /// Suspended programs and slow reads put a few lengths into every slot between two humps, which still count as two.
    #[test]
    fn a_thin_valley_separates_two_humps() {
        let mut lengths = mixed(&[(300, 900, 20_000), (3000, 3500, 400)]);
        let thin: Vec<u64> =
            (0..100).map(|i| (900.0 * libm::pow(3000.0 / 900.0, f64::from(i) / 100.0)) as u64).collect();
        thin.iter().for_each(|us| lengths.add(us * US));
        let separation = separate(&lengths, 1).unwrap();
        assert_eq!(
            (separation.humps.len(), separation.reads, separation.programs),
            (2, 0, 1),
            "{separation:?}"
        );
        let [_, programs, erases] = counts(&lengths);
        assert!((400..=500).contains(&erases) && programs + erases == 20_500, "{programs} {erases}");
    }

    /// Programs of 200 to 2200 us, spread evenly, hide erases of 2 ms: no gap separates them.
    #[test]
    fn erases_among_programs_are_not_seen() {
        let lengths = mixed(&[(40, 60, 1000), (200, 2200, 10_000), (1900, 2100, 80)]);
        assert_eq!(counts(&lengths), [1000, 10_080, 0]);
    }
}
