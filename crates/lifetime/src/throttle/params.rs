//! The configured parameters of a throttle, checked against one another.

use super::Throttle;
use super::rows::{
    BURST, EPOCH, ERROR_MAX, ERRORS_IN_A_ROW, FIRST_STEP, HISTORY, MAX_DELAY, P99, PAIRS_MIN, PERIOD,
    PREDICT, SPARE_SHARE, STEP, TARGET, UNIT_WINDOW, WRONG_SHARE,
};
use crate::SECONDS_PER_YEAR;
use floatgate_base::{ChosenPolicy, Misfit, ParamInfo};

/// Maximum of unit windows in memory.
const WINDOWS_MAX: u64 = 1 << 20;

/// Parameters of the throttles (`[lifetime.throttle]`). Times in nanoseconds; the defaults are READY's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    /// Period in which a regulator admits one share of an epoch's capacity (section 3.4: one second).
    pub period_ns: u64,
    /// Width of the windows of demand, and length of the first epoch (section 3.5: 10 minutes).
    pub unit_window_ns: u64,
    /// Windows in memory: two weeks of them.
    pub history_windows: u32,
    /// Fixed length of epochs, without selection.
    pub fixed_epoch_ns: Option<u64>,
    /// Error from which on a prediction counts as wrong (0.25).
    pub error_max: f64,
    /// Consecutive wrong predictions before the epoch length is chosen again (3).
    pub errors_in_a_row: u32,
    /// Share of wrong predictions among the last 16 at which the length is chosen again; at 1 only the rule above
    /// counts, as in the paper.
    pub wrong_share: f64,
    /// Minimum of pairs of consecutive epochs for a candidate length (1).
    pub pairs_min: u32,
    /// Whether demand is the bytes written over the share of the epoch without a waiting writer, instead of the bytes
    /// written. Under a strict cap the latter never exceed the capacity, and Eq. 4 would never delay anything.
    pub regains: bool,
    /// Longest delay of a page write. Under a token bucket: longest wait.
    pub max_delay_ns: Option<u64>,
    /// Share of the coming epochs' capacity that the optimistic regulator may borrow (0.1).
    pub spare_share: f64,
    /// Relative step of a delay, where it changes in steps.
    pub step: f64,
    /// Delay of the first step.
    pub first_step_ns: u64,
    /// Longest wait for a token of 99 of a hundred page writes.
    pub p99_ns: u64,
    /// Time in which the rate fills a token bucket.
    pub burst_ns: u64,
}

/// The parameters of a policy; the defaults where it does not have them.
struct Values<'a>(Option<&'a ChosenPolicy>);

impl Values<'_> {
    fn real(&self, param: &ParamInfo) -> f64 {
        self.find(param).unwrap_or_else(|| param.default_number())
    }

    fn find(&self, param: &ParamInfo) -> Option<f64> {
        self.0?.find_real(param.name)
    }

    fn whole(&self, param: &ParamInfo) -> u32 {
        self.real(param) as u32
    }

    fn find_ns(&self, param: &ParamInfo) -> Option<u64> {
        self.find(param).map(ns)
    }
}

fn ns(s: f64) -> u64 {
    (s * 1e9).round() as u64
}

fn ns_of_us(us: f64) -> u64 {
    (us * 1e3).round() as u64
}

impl Default for Params {
    fn default() -> Self {
        Self::from(&Values(None))
    }
}

impl Params {
    fn from(values: &Values<'_>) -> Self {
        let unit_window_ns = ns(values.real(&UNIT_WINDOW));
        Self {
            period_ns: ns(values.real(&PERIOD)),
            unit_window_ns,
            history_windows: (ns(HISTORY.default_number()) / unit_window_ns.max(1)) as u32,
            fixed_epoch_ns: values.find_ns(&EPOCH),
            error_max: values.real(&ERROR_MAX),
            errors_in_a_row: values.whole(&ERRORS_IN_A_ROW),
            wrong_share: values.real(&WRONG_SHARE),
            pairs_min: values.whole(&PAIRS_MIN),
            regains: values
                .0
                .and_then(|settings| settings.find_name(PREDICT.name))
                .is_none_or(|name| name == "demand"),
            max_delay_ns: values.find_ns(&MAX_DELAY),
            spare_share: values.real(&SPARE_SHARE),
            step: values.real(&STEP),
            first_step_ns: ns_of_us(values.real(&FIRST_STEP)),
            p99_ns: ns_of_us(values.real(&P99)),
            burst_ns: ns(values.real(&BURST)),
        }
    }

    /// Returns the configured parameters, with the defaults of the rows for those that the throttle does not have.
    ///
    /// # Errors
    /// Values that contradict each other.
    pub fn of(settings: &ChosenPolicy) -> Result<Self, Misfit> {
        let values = Values(Some(settings));
        let mut params = Self::from(&values);
        // A throttle without a choice of lengths has epochs of a unit window.
        if params.fixed_epoch_ns.is_none() && values.find(&ERROR_MAX).is_none() {
            params.fixed_epoch_ns = values.find_ns(&UNIT_WINDOW);
        }
        if let Some(history_ns) = values.find_ns(&HISTORY) {
            params.history_windows = windows(history_ns, params.unit_window_ns)?;
        }
        params.fit(settings)?;
        Ok(params)
    }

    /// Checks that periods are shorter than epochs, and epochs than the life.
    fn fit(&self, settings: &ChosenPolicy) -> Result<(), Misfit> {
        let Some(parts) = Throttle::of(settings).parts() else { return Ok(()) };
        let target_years = settings.real(TARGET.name);
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
        let has_periods = settings.find_real(PERIOD.name).is_some();
        if has_periods && self.period_ns as f64 > if parts.plans { epoch_ns as f64 } else { target_ns } {
            let what = format!("period_s {} is longer than its epoch", self.period_ns as f64 / 1e9);
            let expected = "expected at most an epoch (unit_window_s, epoch_s)";
            return Err(Misfit::new(PERIOD.name, what, expected));
        }
        Ok(())
    }
}

/// Returns the number of unit windows in memory.
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
