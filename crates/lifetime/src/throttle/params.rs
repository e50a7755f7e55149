//! The parameters of throttles. Several throttles share most of them, so they stand here, and each row names its own.

use super::{Throttle, setup::SECOND_NS};
use crate::SECONDS_PER_YEAR;
use floatgate_base::policy::Range;
use floatgate_base::{Given, Misfit, ParamInfo};

/// The longest target: beyond, nanoseconds leave 64 bits.
const TARGET_YEARS_MAX: f64 = 100.0;
/// Times in seconds.
const SECONDS: Range = Range::closed(1e-3, 1e9);
/// Most unit windows that are remembered.
const WINDOWS_MAX: u64 = 1 << 20;

/// Also without a throttle: results say how many drive writes a day the target stands.
pub const TARGET: ParamInfo = ParamInfo::within(
    "target_years",
    "years that the drive should last",
    5.0,
    Range { above_least: true, ..Range::closed(0.0, TARGET_YEARS_MAX) },
);
/// Of every throttle.
pub const PERIOD: ParamInfo = ParamInfo::within(
    "period_s",
    "time in which a regulator gives out one share of the capacity, seconds",
    1.0,
    SECONDS,
)
.shared();
const UNIT_WINDOW: ParamInfo = ParamInfo::within(
    "unit_window_s",
    "windows by which demand is remembered, and the first epoch, seconds",
    600.0,
    SECONDS,
)
.shared();
const HISTORY: ParamInfo =
    ParamInfo::within("history_s", "how much demand is remembered, seconds", 14.0 * 86_400.0, SECONDS)
        .shared();
const EPOCH: ParamInfo = ParamInfo::within("epoch_s", "epochs of just this length, seconds", 600.0, SECONDS)
    .or("chosen by demand")
    .shared();
const ERROR_MAX: ParamInfo =
    ParamInfo::within("error_max", "a prediction that is off by no less is wrong", 0.25, Range::ABOVE_0)
        .shared();
const ERRORS_IN_A_ROW: ParamInfo = ParamInfo::whole(
    "errors_in_a_row",
    "wrong predictions before the length of epochs is chosen anew",
    3,
    (1, u32::MAX),
)
.shared();
const PAIRS_MIN: ParamInfo =
    ParamInfo::whole("pairs_min", "pairs of epochs that a candidate length must have", 1, (1, u32::MAX))
        .shared();
const SPARE_SHARE: ParamInfo = ParamInfo::within(
    "spare_share",
    "share of the later epochs' capacity that one may borrow",
    0.1,
    Range::SHARE_BELOW_1,
)
.shared();

/// Of throttles that plan in epochs.
pub const PLANNING: &[ParamInfo] =
    &[PERIOD, UNIT_WINDOW, HISTORY, EPOCH, ERROR_MAX, ERRORS_IN_A_ROW, PAIRS_MIN];
/// Of those whose epochs may borrow from later ones.
pub const BORROWING: &[ParamInfo] =
    &[PERIOD, UNIT_WINDOW, HISTORY, EPOCH, ERROR_MAX, ERRORS_IN_A_ROW, PAIRS_MIN, SPARE_SHARE];

/// Parameters of the throttles (`[lifetime.throttle]`). Times in nanoseconds; the defaults are READY's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Time in which a regulator admits one share of an epoch's capacity (section 3.4: one second).
    pub period_ns: u64,
    /// Width of the windows by which demand is remembered, and length of the first epoch (section 3.5: 10 minutes).
    pub unit_window_ns: u64,
    /// Windows that are remembered: two weeks of them.
    pub history_windows: u32,
    /// Epochs of just this length, without selection.
    pub fixed_epoch_ns: Option<u64>,
    /// A prediction that is off by no less is wrong (0.25).
    pub error_max: f64,
    /// Wrong predictions one after the other before the length of epochs is chosen anew (3).
    pub errors_in_a_row: u32,
    /// Pairs of consecutive epochs that a candidate length must have (1).
    pub pairs_min: u32,
    /// Share of the capacity of the epochs to come that the optimistic regulator may borrow (0.1).
    pub spare_share: f64,
}

impl Default for Params {
    fn default() -> Self {
        let unit_window_ns = 600 * SECOND_NS;
        Self {
            period_ns: SECOND_NS,
            unit_window_ns,
            history_windows: (14 * 86_400 * SECOND_NS / unit_window_ns) as u32,
            fixed_epoch_ns: None,
            error_max: 0.25,
            errors_in_a_row: 3,
            pairs_min: 1,
            spare_share: 0.1,
        }
    }
}

impl Params {
    /// Those that are given; READY's for parameters that the throttle does not have.
    ///
    /// # Errors
    /// Values that do not fit one another.
    pub fn of(given: &Given) -> Result<Self, Misfit> {
        let default = Self::default();
        let real = |param: &ParamInfo| given.find_real(param.name);
        let ns = |param: &ParamInfo| real(param).map(|s| (s * 1e9).round() as u64);
        let whole = |param: &ParamInfo| given.find_whole(param.name).map(|n| n as u32);
        let mut params = Self {
            period_ns: ns(&PERIOD).unwrap_or(default.period_ns),
            unit_window_ns: ns(&UNIT_WINDOW).unwrap_or(default.unit_window_ns),
            fixed_epoch_ns: ns(&EPOCH),
            error_max: real(&ERROR_MAX).unwrap_or(default.error_max),
            errors_in_a_row: whole(&ERRORS_IN_A_ROW).unwrap_or(default.errors_in_a_row),
            pairs_min: whole(&PAIRS_MIN).unwrap_or(default.pairs_min),
            spare_share: real(&SPARE_SHARE).unwrap_or(default.spare_share),
            ..default
        };
        if let Some(history_ns) = ns(&HISTORY) {
            params.history_windows = windows(history_ns, params.unit_window_ns)?;
        }
        params.fit(given)?;
        Ok(params)
    }

    /// Periods must be shorter than epochs, and epochs than the life.
    fn fit(&self, given: &Given) -> Result<(), Misfit> {
        let Some(parts) = Throttle::of(given).parts() else { return Ok(()) };
        let target_years = given.real(TARGET.name);
        let target_ns = target_years * SECONDS_PER_YEAR * 1e9;
        let epoch_ns = self.fixed_epoch_ns.unwrap_or(self.unit_window_ns);
        if parts.plans && epoch_ns as f64 > target_ns {
            let param = if self.fixed_epoch_ns.is_some() { EPOCH } else { UNIT_WINDOW };
            let what = format!(
                "an epoch of {} s is longer than the life of {target_years} years",
                epoch_ns as f64 / 1e9
            );
            return Err(Misfit::new(param.name, what, "expected a shorter epoch, or a longer target_years"));
        }
        if self.period_ns as f64 > if parts.plans { epoch_ns as f64 } else { target_ns } {
            let what =
                format!("period_s {} is longer than what it is a part of", self.period_ns as f64 / 1e9);
            let expected = "expected no more than an epoch (unit_window_s, epoch_s)";
            return Err(Misfit::new(PERIOD.name, what, expected));
        }
        Ok(())
    }
}

/// How many unit windows are remembered.
fn windows(history_ns: u64, unit_window_ns: u64) -> Result<u32, Misfit> {
    let windows = history_ns / unit_window_ns;
    if (2..=WINDOWS_MAX).contains(&windows) {
        return Ok(windows as u32);
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    let what = format!(
        "history_s {} is {windows} unit windows of {} s",
        seconds(history_ns),
        seconds(unit_window_ns)
    );
    Err(Misfit::new(HISTORY.name, what, format!("expected from 2 to {WINDOWS_MAX} of them")))
}
