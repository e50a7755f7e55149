//! Lazy wear-leveling: a worn block that is about to be erased takes in data of a block with little wear.
//!
//! Source: Chang, Chou and Huang, A Low-Cost Wear-Leveling Algorithm for Block-Mapping Solid-State Disks, LCTES 2011
//! (at length in ACM TECS 13(3), 2013), after Chang and Du, TODAES 2009. Blocks that were erased more than `threshold`
//! times beyond the average are *senior*, those below the average *junior*. A senior block that is about to be erased
//! takes in the data of a junior one, which a cyclic pointer selects; no other state is needed. The threshold D tunes
//! itself. Leveling costs a share f(D) = K / (2D + K) of the erases, and K follows from the observed share. D is where
//! the curve has the slope df/dD = -`slope`, which is D = (sqrt(2K / `slope`) - K) / 2.
//!
//! Readings for a page-mapped drive:
//! - Averages, pointer and blocks are those of a domain; the drive has one threshold and one K.
//! - The pointer visits closed blocks, not logical ones. At most eight blocks are checked per victim; the next search
//!   continues there. A block with fewer valid pages than the average one of a full drive is skipped: data that die
//!   there are not cold.
//! - K is observed over windows of as many erases as the drive has blocks: K = 2 D f / (1 - f), where f is the share of
//!   erases caused by leveling. A window with no or only such erases leaves D as it is. D is at least one erase, and at
//!   most 2^20. It restarts when counting does.
//! - The papers' values of the slope depend on their units; the default gives thresholds of some ten erases.
//!
//! Parameters: `threshold`, `slope`. Cost: O(1) per victim (up to eight blocks are checked). Memory: 4 bytes per plane.

use super::{CHECKS_MAX, Leveler, Verdict, VictimView};
use crate::units::NOT_INDEXED;
use floatgate_base::policy::Range;
use floatgate_base::{ChosenPolicy, DomainId, IdVec, ParamInfo, PolicyInfo, Rng, UnitId};
use floatgate_flash::Layout;
use floatgate_nand::LeadLimit;
use serde::{Deserialize, Serialize};

/// Row of the leveler in the policy table.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "lazy",
    summary: "blocks worn beyond a threshold that tunes itself take in cold data as they are erased",
    source: "Chang, Chou and Huang, LCTES 2011",
    params: &[
        ParamInfo::within(
            "threshold",
            "erases beyond the average from which a block takes in cold data; the initial value if slope tunes it",
            16.0,
            Range::closed(1.0, D_MAX),
        ),
        ParamInfo::within(
            "slope",
            "share of erases per erase of the threshold at which a smaller threshold costs too much; 0 keeps the \
             threshold as it is",
            0.001,
            Range::SHARE,
        ),
    ],
    cost: "O(1)",
    memory: "4 bytes per plane",
};

/// The largest threshold.
const D_MAX: f64 = 1_048_576.0;

/// Parameters of lazy wear-leveling.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Initial threshold, in erases beyond the average.
    pub threshold: f64,
    /// Slope of the overhead curve; 0 for a constant threshold.
    pub slope: f64,
}

impl super::Params for Params {
    type State = State;

    fn of(settings: &ChosenPolicy) -> Self {
        Self { threshold: settings.real("threshold"), slope: settings.real("slope") }
    }

    fn state(&self, layout: &Layout) -> State {
        State {
            params: *self,
            threshold: self.threshold,
            window: layout.units(),
            erases: 0,
            swaps: 0,
            next: IdVec::filled(0, layout.domains()),
        }
    }

    /// Returns the limit of the initial threshold, which tunes itself later.
    fn lead_limit(&self) -> Option<LeadLimit> {
        Some(LeadLimit::constant(self.threshold))
    }
}

/// State of lazy wear-leveling.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
    threshold: f64,
    /// Erases per window.
    window: u32,
    /// Erases of this window, and those of them that leveling caused.
    erases: u32,
    swaps: u32,
    /// The next unit to check by domain, counted within the domain.
    next: IdVec<DomainId, u32>,
}

/// Returns the threshold that follows from the share of erases that leveling caused under the last one. None if the
/// share tells nothing.
fn tuned(threshold: f64, share: f64, slope: f64) -> Option<f64> {
    let says_something = share > 0.0 && share < 1.0 && slope > 0.0;
    says_something.then(|| {
        let k = 2.0 * threshold * share / (1.0 - share);
        (((2.0 * k / slope).sqrt() - k) / 2.0).clamp(1.0, D_MAX)
    })
}

impl State {
    /// Returns a junior block with cold data, searching from the pointer on.
    fn junior(&mut self, drive: VictimView<'_>, victim: UnitId, mean_erases: f64) -> Option<UnitId> {
        let units = drive.layout.units_per_domain();
        let (logical, pages) = (u64::from(drive.logical_pages), u64::from(drive.layout.pages()));
        let valid_min = (logical * u64::from(drive.layout.pages_per_unit())).div_ceil(pages) as u32;
        for _ in 0..CHECKS_MAX {
            let next = &mut self.next[drive.domain];
            let unit = UnitId(drive.domain.0 * units + *next);
            *next = (*next + 1) % units;
            let meta = drive.units.meta[unit];
            let junior = f64::from(drive.erases[unit]) < mean_erases;
            if junior && unit != victim && meta.pos != NOT_INDEXED && meta.valid >= valid_min {
                return Some(unit);
            }
        }
        None
    }
}

impl Leveler for State {
    fn erased(&mut self, _: DomainId, _: UnitId, _: u32) -> bool {
        self.erases += 1;
        if self.erases >= self.window {
            let share = f64::from(self.swaps) / f64::from(self.erases);
            self.threshold = tuned(self.threshold, share, self.params.slope).unwrap_or(self.threshold);
            (self.erases, self.swaps) = (0, 0);
        }
        false
    }

    fn review(
        &mut self,
        drive: VictimView<'_>,
        victim: UnitId,
        mean_erases: f64,
        _: bool,
        _: &mut Rng,
    ) -> Verdict {
        if f64::from(drive.erases[victim]) <= mean_erases + self.threshold {
            return Verdict::Collect;
        }
        let Some(cold) = self.junior(drive, victim, mean_erases) else { return Verdict::Collect };
        self.swaps += 1;
        Verdict::Swap(cold)
    }

    fn leapt(&mut self, erases: u64) {
        self.erases = self.erases.saturating_add(u32::try_from(erases).unwrap_or(u32::MAX));
    }

    fn restart(&mut self) {
        (self.threshold, self.erases, self.swaps) = (self.params.threshold, 0, 0);
    }

    fn fits(&self, layout: &Layout) -> bool {
        let units = layout.units_per_domain();
        self.window == layout.units()
            && self.next.len() == layout.domains() as usize
            && self.next.iter().all(|&next| next < units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::Params as _;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    #[test]
    fn the_threshold_is_where_the_curve_has_the_slope() {
        let overhead = |d: f64, k: f64| k / (2.0 * d + k);
        for k in [0.01, 0.3, 2.0, 30.0] {
            for slope in [0.0001, 0.001, 0.01] {
                // The result must not depend on the threshold under which K was observed.
                for observed in [1.0, 16.0, 100.0] {
                    let d = tuned(observed, overhead(observed, k), slope).unwrap();
                    if d > 1.0 {
                        let step = 1e-4 * d;
                        let measured = (overhead(d - step, k) - overhead(d + step, k)) / (2.0 * step);
                        assert!(
                            (measured / slope - 1.0).abs() < 1e-3,
                            "{k} {slope} {observed}: {d} {measured}"
                        );
                    }
                }
            }
        }
        // By hand: K = 2 * 16 * 0.2 / 0.8 = 8, sqrt(16 / 0.001) = 126.49, (126.49 - 8) / 2 = 59.25.
        assert!((tuned(16.0, 0.2, 0.001).unwrap() - 59.2456).abs() < 1e-3);
        assert_eq!(
            (tuned(16.0, 0.0, 0.001), tuned(16.0, 1.0, 0.001), tuned(16.0, 0.2, 0.0)),
            (None, None, None)
        );
    }

    #[test]
    fn the_threshold_is_tuned_at_the_end_of_each_window() {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 1,
            blocks_per_plane: 10,
            pages_per_block: 4,
            page_bytes: 4096,
        };
        let mut state = Params { threshold: 16.0, slope: 0.001 }.state(&Layout::new(geometry, Scope::Plane));
        let window = |state: &mut State| {
            for i in 0..10 {
                assert_eq!(state.erases, i);
                state.erased(DomainId(0), UnitId(i), 1);
            }
        };
        state.swaps = 2;
        window(&mut state);
        let threshold = tuned(16.0, 0.2, 0.001).unwrap();
        assert_eq!((state.threshold, state.erases, state.swaps), (threshold, 0, 0));
        // A window without swaps tells nothing.
        window(&mut state);
        assert_eq!((state.threshold, state.erases), (threshold, 0));
        state.restart();
        assert_eq!(state.threshold, 16.0);
    }
}
