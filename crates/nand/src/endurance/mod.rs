//! Endurance: program/erase cycles per block.
//!
//! `fixed` is a number. Under the recovery models (READY, section 2) blocks endure more cycles the longer they rest
//! between two erases. [`Recovery`] is the physics, [`Endurance`] the model that a drive uses.

mod model;
mod recovery;
#[cfg(test)]
mod tests;

pub use model::SLOT;
pub use recovery::{NOMINAL_CYCLES, READY_PRINTED, READY_TABLE2, Recovery};

/// The endurance model of a drive (`drive.endurance`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Endurance {
    /// Every block endures the same nominal number of cycles, however long it rests between them.
    Fixed {
        /// Nominal program/erase cycles.
        pe_cycles: u32,
    },
    /// Charge that cycles trap in the oxide leaves it while the block rests.
    Recovery {
        /// Nominal program/erase cycles, to which the cycle axis of `law` is scaled.
        pe_cycles: u32,
        /// The law and its constants.
        law: Recovery,
    },
    /// Either of these, where an erase wears a block by less than a cycle ([`crate::erase_modes`]).
    Scaled {
        /// Nominal program/erase cycles.
        pe_cycles: u32,
        /// The law, if blocks recover.
        law: Option<Recovery>,
        /// Mean wear of an erase, as a share of a cycle; above 0.
        wear: f64,
    },
}

impl Endurance {
    /// Returns the nominal cycles of a block.
    #[must_use]
    pub fn pe_cycles(self) -> u32 {
        match self {
            Self::Fixed { pe_cycles } | Self::Recovery { pe_cycles, .. } | Self::Scaled { pe_cycles, .. } => {
                pe_cycles
            }
        }
    }

    /// Returns the mean wear of an erase, as a share of a cycle.
    #[must_use]
    pub fn wear(self) -> f64 {
        match self {
            Self::Fixed { .. } | Self::Recovery { .. } => 1.0,
            Self::Scaled { wear, .. } => wear,
        }
    }

    /// Returns the same model with another mean wear of an erase, as a share of a cycle above 0.
    #[must_use]
    pub fn wearing(self, wear: f64) -> Self {
        let (pe_cycles, law) = (self.pe_cycles(), self.law());
        match law {
            _ if wear != 1.0 => Self::Scaled { pe_cycles, law, wear },
            Some(law) => Self::Recovery { pe_cycles, law },
            None => Self::Fixed { pe_cycles },
        }
    }

    /// Returns the erases of a block until its nominal cycles are used up.
    #[must_use]
    pub fn rated_erases(self) -> f64 {
        f64::from(self.pe_cycles()) / self.wear()
    }

    fn law(self) -> Option<Recovery> {
        match self {
            Self::Fixed { .. } => None,
            Self::Recovery { law, .. } => Some(law),
            Self::Scaled { law, .. } => law,
        }
    }

    /// Returns whether blocks recover while they rest.
    #[must_use]
    pub fn recovers(self) -> bool {
        self.law().is_some()
    }

    /// Returns the cycles that a block endures when it rests `idle_s` seconds between two erases; None if it has not
    /// rested yet (see [`mean_idle_s`]). `fixed` gives the nominal cycles for any rest.
    ///
    /// Without recovery the laws of READY reach the limit at 3036 cycles for a nominal 3000. A cycle is an erase,
    /// whatever its wear: where erases wear a block by a share of a cycle, it endures more of them.
    #[must_use]
    pub fn cycles(self, idle_s: Option<f64>) -> f64 {
        let pe_cycles = f64::from(self.pe_cycles());
        let whole = match self.law() {
            None => pe_cycles,
            Some(law) => law.cycles(idle_s.unwrap_or(0.0)) * (pe_cycles / NOMINAL_CYCLES),
        };
        if let Self::Scaled { wear, .. } = self { whole / wear } else { whole }
    }

    /// Solves for the steady point of a life of `life_s` seconds in which all cycles are used evenly: cycles N and idle
    /// time t = life / N in seconds. Each follows from the other. The point is unique because t * N(t) grows with t.
    #[must_use]
    pub fn steady(self, life_s: f64) -> (f64, f64) {
        let (mut low, mut high) = (life_s / self.cycles(Some(f64::INFINITY)), life_s / self.cycles(None));
        // 64 halvings exhaust the bracket, whose ends differ by a factor of at most a few thousand.
        for _ in 0..64 {
            let middle = 0.5 * (low + high);
            if middle * self.cycles(Some(middle)) < life_s {
                low = middle;
            } else {
                high = middle;
            }
        }
        let idle_s = 0.5 * (low + high);
        (self.cycles(Some(idle_s)), idle_s)
    }
}

/// Returns the mean idle time between two erases of a block, in seconds, after `mean_cycles` cycles in `elapsed_s`
/// seconds. None before the first cycle is complete: until then no block has rested between two erases.
#[must_use]
pub fn mean_idle_s(elapsed_s: f64, mean_cycles: f64) -> Option<f64> {
    (mean_cycles >= 1.0 && elapsed_s > 0.0).then(|| elapsed_s / mean_cycles)
}
