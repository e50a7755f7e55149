//! The latest low phases of the Ready/Busy pins, for an onlooker: a die's pin as a moving waveform.

use floatgate_base::Result;
use floatgate_flash::timed::ArrayPhase;
use floatgate_sim::{PinCounts, PinSink};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Low phases that are kept, of all dies together.
const PHASES_MAX: usize = 1 << 20;

/// The latest low phases of every die.
#[derive(Clone)]
pub struct Pins {
    dies: Arc<Mutex<Vec<VecDeque<ArrayPhase>>>>,
    per_die: usize,
}

impl Pins {
    /// Creates the pins of so many dies.
    #[must_use]
    pub fn new(dies: u32) -> Self {
        let dies = dies as usize;
        Self {
            dies: Arc::new(Mutex::new(vec![VecDeque::new(); dies])),
            per_die: (PHASES_MAX / dies.max(1)).max(1),
        }
    }

    /// Returns the low phases of a die that end after `from_ns`, in order of time, and whether all of these are kept.
    #[must_use]
    pub fn phases(&self, die: u32, from_ns: u64) -> (Vec<ArrayPhase>, bool) {
        let dies = self.locked();
        let Some(kept) = dies.get(die as usize) else { return (Vec::new(), true) };
        let first = kept.partition_point(|phase| phase.to_ns <= from_ns);
        let is_whole = first > 0 || kept.len() < self.per_die;
        (kept.range(first..).copied().collect(), is_whole)
    }

    fn locked(&self) -> MutexGuard<'_, Vec<VecDeque<ArrayPhase>>> {
        self.dies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PinSink for Pins {
    fn take(&mut self, phases: &[ArrayPhase], _known_ns: u64) -> Result<()> {
        let mut dies = self.locked();
        for phase in phases {
            let kept = &mut dies[phase.die as usize];
            if kept.len() == self.per_die {
                kept.pop_front();
            }
            kept.push_back(*phase);
        }
        Ok(())
    }

    fn end(&mut self, _end_ns: u64, _counted: &PinCounts) -> Result<()> {
        Ok(())
    }

    fn restart(&mut self) -> Result<()> {
        self.locked().iter_mut().for_each(VecDeque::clear);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_flash::timed::Work;

    #[test]
    fn the_latest_phases_are_kept() {
        let mut pins = Pins::new(2);
        pins.per_die = 3;
        let phase = |at: u64| ArrayPhase { die: 1, work: Work::Program, from_ns: at, to_ns: at + 5 };
        pins.take(&[phase(10), phase(20), phase(30), phase(40)], 45).unwrap();
        assert_eq!(pins.phases(1, 0), (vec![phase(20), phase(30), phase(40)], false));
        assert_eq!(pins.phases(1, 27), (vec![phase(30), phase(40)], true));
        assert_eq!(pins.phases(0, 0), (vec![], true));
        assert_eq!(pins.phases(7, 0), (vec![], true));
    }
}
