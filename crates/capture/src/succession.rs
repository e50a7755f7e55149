//! What the order of phases on a pin shows beyond their lengths: short high phases, programs split in two, lost time.

use crate::humps::READ_MAX_PS;
use crate::lengths::Lengths;
use crate::phases::{Counts, Phase};
use crate::units::gcd;

/// High phases shorter than this are glitches if they form a hump of their own. A command is several bus cycles, and the
/// pin falls up to 100 ns after the last of them (tWB of ONFI).
pub(crate) const GLITCH_MAX_PS: u64 = 100_000;

/// No array reads as fast: shorter low phases are those of a register (tCBSY, tRCBSY and tDBSY of data sheets).
pub(crate) const BUSY_MAX_PS: u64 = 10_000_000;

/// Sampling faster than this separates any two commands: seven bus cycles and the time until the pin falls.
pub(crate) const MERGING_STEP_PS: u64 = 500_000;

/// The succession of phases on a pin.
#[derive(Clone, Debug)]
pub(crate) struct Succession {
    /// High phases with both edges.
    pub high: Lengths,
    /// Pieces of low phases around short high phases, and the low phases without these high phases.
    pub pieces: Counts,
    pub joined: Counts,
    /// Lengths of two successive low phases longer than a read, added up: with reads between them, and without.
    pub sums_around_reads: Lengths,
    pub sums_adjacent: Lengths,
    /// Low phases with a read before or after them, and those with a read before them.
    pub beside_reads: Lengths,
    pub after_reads: Lengths,
    /// High phases between a low phase of a register and a read.
    pub high_after_busy: Lengths,
    /// High phases between two low phases longer than a read.
    pub high_between_programs: Lengths,
    /// Time without a known level between two known ones.
    pub lost_ps: u64,
    /// Common divisor of all phases, a multiple of the sampling period; not exact below [`MERGING_STEP_PS`].
    pub step_ps: u64,
    short_ps: u64,
    /// The latest low phase, with the pieces before it; 0 if it has ended.
    low_ps: u64,
    joined_pieces: u32,
    /// The latest high phase, if it is a short one.
    bridge_ps: Option<u64>,
    /// The latest low phase longer than a read, and whether a read followed it.
    before_ps: Option<u64>,
    is_read_between: bool,
    /// The latest low phase, and whether it is counted as beside a read.
    last_ps: Option<u64>,
    is_beside: bool,
    /// The high phase before the latest low phase.
    high_ps: u64,
    unknown_since_ps: Option<i64>,
}

impl Succession {
    /// Creates the state before any phase. High phases below `min_high_ps` are short ones; by default those that leave
    /// no time for a command.
    pub fn new(min_high_ps: Option<u64>) -> Self {
        Self {
            high: Lengths::default(),
            pieces: Counts::default(),
            joined: Counts::default(),
            sums_around_reads: Lengths::default(),
            sums_adjacent: Lengths::default(),
            beside_reads: Lengths::default(),
            after_reads: Lengths::default(),
            high_after_busy: Lengths::default(),
            high_between_programs: Lengths::default(),
            lost_ps: 0,
            step_ps: 0,
            short_ps: min_high_ps.unwrap_or(GLITCH_MAX_PS),
            low_ps: 0,
            joined_pieces: 1,
            bridge_ps: None,
            before_ps: None,
            is_read_between: false,
            last_ps: None,
            is_beside: false,
            high_ps: 0,
            unknown_since_ps: None,
        }
    }

    /// Counts a phase that ends.
    #[inline]
    pub fn add(&mut self, phase: Phase, interval_ps: (u64, u64)) {
        // Below the shortest step that matters, the exact one does not.
        if let Phase::Low(length_ps) | Phase::High(length_ps) = phase
            && (self.step_ps == 0
                || (self.step_ps >= MERGING_STEP_PS && !length_ps.is_multiple_of(self.step_ps)))
        {
            self.step_ps = gcd(self.step_ps, length_ps);
        }
        match phase {
            Phase::Low(length_ps) => match self.bridge_ps {
                Some(bridge_ps) => self.join(bridge_ps, length_ps, interval_ps),
                None => {
                    self.flush(interval_ps);
                    self.low_ps = length_ps;
                }
            },
            Phase::High(length_ps) => {
                self.high.add(length_ps);
                if length_ps < self.short_ps && self.low_ps > 0 {
                    self.bridge_ps = Some(length_ps);
                } else {
                    self.flush(interval_ps);
                    self.high_ps = length_ps;
                }
            }
            Phase::Cut => {
                self.flush(interval_ps);
                (self.before_ps, self.last_ps) = (None, None);
            }
        }
    }

    /// Joins a low phase with the one before a short high phase.
    #[cold]
    fn join(&mut self, bridge_ps: u64, length_ps: u64, interval_ps: (u64, u64)) {
        if self.joined_pieces == 1 {
            self.pieces.add(self.low_ps, interval_ps);
        }
        self.pieces.add(length_ps, interval_ps);
        self.joined_pieces += 1;
        self.low_ps = self.low_ps.saturating_add(bridge_ps).saturating_add(length_ps);
        self.bridge_ps = None;
    }

    /// Ends a low phase that no further piece can follow.
    #[inline]
    pub fn flush(&mut self, interval_ps: (u64, u64)) {
        self.bridge_ps = None;
        let whole_ps = std::mem::take(&mut self.low_ps);
        if whole_ps == 0 {
            return;
        }
        if self.joined_pieces > 1 {
            self.joined.add(whole_ps, interval_ps);
            self.joined_pieces = 1;
        }
        let read_max_ps = if interval_ps.0 > 0 { interval_ps.0 } else { READ_MAX_PS };
        self.note_neighbours(whole_ps, read_max_ps);
        if whole_ps <= read_max_ps {
            self.is_read_between = true;
            return;
        }
        if let Some(before_ps) = self.before_ps.replace(whole_ps) {
            let sums =
                if self.is_read_between { &mut self.sums_around_reads } else { &mut self.sums_adjacent };
            sums.add(before_ps.saturating_add(whole_ps));
        }
        self.is_read_between = false;
    }

    /// Notes which low phases stand before and after a read.
    #[inline]
    fn note_neighbours(&mut self, whole_ps: u64, read_max_ps: u64) {
        let is_read = |length_ps: u64| length_ps > BUSY_MAX_PS && length_ps <= read_max_ps;
        let before_ps = self.last_ps.replace(whole_ps);
        if let Some(before_ps) = before_ps.filter(|_| is_read(whole_ps) && !self.is_beside) {
            self.beside_reads.add(before_ps);
        }
        if before_ps.is_some_and(|before_ps| before_ps <= BUSY_MAX_PS) && is_read(whole_ps) {
            self.high_after_busy.add(self.high_ps);
        }
        if before_ps.is_some_and(|before_ps| before_ps > read_max_ps) && whole_ps > read_max_ps {
            self.high_between_programs.add(self.high_ps);
        }
        self.is_beside = before_ps.is_some_and(is_read);
        if self.is_beside {
            self.beside_reads.add(whole_ps);
            self.after_reads.add(whole_ps);
        }
    }

    /// Notes an unknown level from `time_ps`.
    #[cold]
    pub fn unknown_from(&mut self, time_ps: i64) {
        self.unknown_since_ps = Some(time_ps);
    }

    /// Notes a known level from `time_ps`.
    #[inline]
    pub fn known_from(&mut self, time_ps: i64) {
        if let Some(since_ps) = self.unknown_since_ps.take() {
            self.lost_ps = self.lost_ps.saturating_add(time_ps.abs_diff(since_ps));
        }
    }

    /// Returns whether the short high phases are a hump of their own: at least one of 200, and ten times as many as
    /// in the two doublings above.
    pub fn has_glitches(&self) -> bool {
        let short = self.high.between(0, GLITCH_MAX_PS);
        let above = self.high.between(GLITCH_MAX_PS, 4 * GLITCH_MAX_PS);
        short >= 5 && 200 * short >= self.high.count() && short >= 10 * above
    }
}
