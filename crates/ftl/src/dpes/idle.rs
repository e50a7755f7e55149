//! Idle: blocks are erased less deeply while the drive has idle time, and at full depth in bursts.
//!
//! Source: the FTL of DPES (Jeong et al., FAST 2014) chooses modes of writes by the fill level of its write buffer, and
//! modes of erases by the writes that it expects. This policy is floatgate's form of it, for drives without a buffer:
//! - **Erase.** Over each window it adds up the nominal time of all operations. The mode of erases is the shallowest
//!   one in which the dies would still have been idle for `idle_share` of that window, had all programs and erases been
//!   in that mode. A drive that was busier erases at full depth.
//! - **Burst.** While `burst_pages` host programs or more wait per die, the mode is 0.
//! - **Open.** A block takes host pages in the mode of its erase. If that is shallower than the mode of the moment, the
//!   block is first erased once more, to the depth of the moment, if its programs save more time than this erase takes.
//!   Both erases wear it as the deeper one alone (assumed).
//!
//! Cost: some additions per erase and per block opened. Memory: 5 bytes per block.

use super::scaler::{Done, Moment, Scaler, Work};
use floatgate_base::policy::Range;
use floatgate_base::{ChosenPolicy, ParamInfo, PolicyInfo};
use floatgate_nand::EraseModes;
use floatgate_nand::erase_modes::MODES;
use serde::{Deserialize, Serialize};

/// Its row.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "idle",
    summary: "blocks are erased as shallowly as the idle time of the drive allows, and at full depth in bursts",
    source: "after Jeong et al., Dynamic Program and Erase Scaling (FAST 2014)",
    params: &[
        MODES,
        ParamInfo::within(
            "idle_share",
            "share of the time that dies must keep idle in the mode of erases",
            0.5,
            Range::SHARE,
        ),
        ParamInfo::whole(
            "burst_pages",
            "host programs that wait, per die, from which on blocks are erased at full depth",
            4,
            (1, 1_000_000),
        ),
        ParamInfo::real(
            "window_us",
            "time over which idle time is measured, microseconds",
            100_000.0,
            (1.0, 1e9),
        ),
    ],
    cost: "some additions per erase and per block opened",
    memory: "5 bytes per block",
};

/// Parameters of the policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    idle_share: f64,
    burst_pages: u64,
    window_ns: u64,
}

impl Params {
    pub(super) fn of(settings: &ChosenPolicy) -> Self {
        Self {
            idle_share: settings.real("idle_share"),
            burst_pages: u64::from(settings.whole("burst_pages")),
            window_ns: (settings.real("window_us") * 1e3).round() as u64,
        }
    }
}

/// Beginning of the window, and the mode of the one before.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    params: Params,
    from_ns: u64,
    from: Done,
    mode: u8,
}

impl State {
    pub(super) fn new(params: Params) -> Self {
        Self { params, from_ns: 0, from: Done::default(), mode: 0 }
    }

    pub(super) fn take_params(&mut self, from: &Self) {
        self.params = from.params;
    }

    /// Begins the window anew; operations and time count from 0.
    pub(super) fn restart(&mut self) {
        (self.from_ns, self.from) = (0, Done::default());
    }

    /// Returns the mode of the moment.
    fn mode(&mut self, moment: &Moment) -> u8 {
        let span_ns = moment.now_ns.saturating_sub(self.from_ns);
        if span_ns >= self.params.window_ns {
            let done = Done {
                reads: moment.done.reads - self.from.reads,
                programs: moment.done.programs - self.from.programs,
                erases: moment.done.erases - self.from.erases,
            };
            self.mode = shallowest(&moment.modes, &moment.work, done, span_ns, self.params.idle_share);
            (self.from_ns, self.from) = (moment.now_ns, moment.done);
        }
        let bursts = moment.waiting >= self.params.burst_pages * u64::from(moment.work.dies);
        if bursts { 0 } else { self.mode }
    }
}

/// Returns the share of a span that the dies would have been idle, had all programs and erases been in this mode.
fn idle_share(modes: &EraseModes, work: &Work, done: Done, span_ns: u64, mode: u8) -> f64 {
    let mode = usize::from(mode);
    let program_ns = work.program_ns * modes.program_factors[mode] + work.send_ns;
    let busy_ns = done.reads as f64 * work.read_ns
        + done.programs as f64 * program_ns
        + done.erases as f64 * work.erase_ns * modes.erase_factors[mode];
    1.0 - busy_ns / (span_ns as f64 * f64::from(work.dies))
}

/// Returns the shallowest mode that keeps this share of a span idle; 0 if none does.
fn shallowest(modes: &EraseModes, work: &Work, done: Done, span_ns: u64, least: f64) -> u8 {
    let keeps = |&mode: &u8| idle_share(modes, work, done, span_ns, mode) >= least;
    (0..modes.count).rev().find(keeps).unwrap_or(0)
}

/// Returns whether the programs of a block save more time in a deeper mode than the erase to that mode takes.
fn pays(modes: &EraseModes, work: &Work, from: u8, to: u8) -> bool {
    let [from, to] = [from, to].map(usize::from);
    let saved = modes.program_factors[from] - modes.program_factors[to];
    saved * work.program_ns * f64::from(work.pages_per_block) > work.erase_ns * modes.erase_factors[to]
}

impl Scaler for State {
    fn erase_mode(&mut self, moment: &Moment) -> u8 {
        self.mode(moment)
    }

    fn open_mode(&mut self, moment: &Moment, mode: u8) -> u8 {
        let now = self.mode(moment);
        if now < mode && pays(&moment.modes, &moment.work, mode, now) { now } else { mode }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dpes::{Dpes, SLOT};

    /// Two dies; a read takes 60 us, a program 500 and 40 for its transfer, an erase 4000. Blocks of 64 pages.
    const WORK: Work =
        Work { read_ns: 60e3, program_ns: 500e3, send_ns: 40e3, erase_ns: 4e6, dies: 2, pages_per_block: 64 };

    fn modes() -> EraseModes {
        Dpes::of(&SLOT.with("idle", &[]), 3000, WORK).unwrap().unwrap().modes
    }

    fn state(idle_share: f64) -> State {
        State::new(Params { idle_share, burst_pages: 4, window_ns: 100_000_000 })
    }

    fn moment(now_ms: u64, waiting: u64, (reads, programs, erases): (u64, u64, u64)) -> Moment {
        let done = Done { reads, programs, erases };
        Moment { now_ns: now_ms * 1_000_000, waiting, done, modes: modes(), work: WORK }
    }

    /// 100 reads, 160 programs and 2 erases in 200 ms of two dies.
    #[test]
    fn idle_time_is_that_by_hand() {
        let (modes, done) = (modes(), Done { reads: 100, programs: 160, erases: 2 });
        // 6 + 86.4 + 8 ms of 400; with 1.74 and 2 times as long ones 6 + 145.6 + 16.
        let share = |mode| idle_share(&modes, &WORK, done, 200_000_000, mode);
        assert!((share(0) - (1.0 - 100.4 / 400.0)).abs() < 1e-12);
        assert!((share(4) - (1.0 - 167.6 / 400.0)).abs() < 1e-12);
        // Mode 3: 6 + 120 + 14.
        assert!((share(3) - (1.0 - 140.0 / 400.0)).abs() < 1e-12);
        let shallowest = |least| shallowest(&modes, &WORK, done, 200_000_000, least);
        assert_eq!([0.58, 0.6, 0.65, 0.74, 0.75].map(shallowest), [4, 3, 3, 0, 0]);
        assert_eq!(shallowest(0.9), 0, "no mode keeps so much");
    }

    #[test]
    fn a_window_decides_until_the_next_one_and_a_burst_at_once() {
        let mut state = state(0.5);
        // Nothing is known in the first window.
        assert_eq!(state.erase_mode(&moment(99, 0, (0, 10, 0))), 0);
        assert_eq!(state.erase_mode(&moment(100, 0, (0, 10, 0))), 4);
        // 40 programs in 10 ms keep two dies busy, but the window is not over.
        assert_eq!(state.erase_mode(&moment(110, 7, (0, 50, 0))), 4);
        assert_eq!(state.erase_mode(&moment(110, 8, (0, 50, 0))), 0, "four pages wait per die");
        assert_eq!(state.erase_mode(&moment(120, 0, (0, 90, 0))), 4);
        // 200 programs in the window: 108 ms of 200 in mode 0.
        assert_eq!(state.erase_mode(&moment(200, 0, (0, 210, 0))), 0);
        assert_eq!(state.erase_mode(&moment(300, 0, (0, 220, 0))), 4);
        state.restart();
        assert_eq!(state.erase_mode(&moment(1, 0, (0, 5, 0))), 4, "the mode stays until a window is over");
    }

    #[test]
    fn a_block_is_erased_again_where_that_saves_time() {
        let mut state = state(0.5);
        assert_eq!(state.open_mode(&moment(100, 0, (0, 10, 0)), 4), 4);
        assert_eq!(state.open_mode(&moment(110, 0, (0, 10, 0)), 2), 2, "a deeper block stays");
        // 0.74 * 0.5 * 64 = 23.7 ms saved for an erase of 4 ms.
        assert_eq!(state.open_mode(&moment(110, 8, (0, 10, 0)), 4), 0);
        // Of 10 pages 3.7 ms.
        let small = Work { pages_per_block: 10, ..WORK };
        assert_eq!(state.open_mode(&Moment { work: small, ..moment(110, 8, (0, 10, 0)) }, 4), 4);
        assert!(pays(&modes(), &Work { pages_per_block: 11, ..WORK }, 4, 0));
    }
}
