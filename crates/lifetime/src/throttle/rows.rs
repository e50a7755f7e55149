//! The parameters in the rows of throttles, most of them shared by several throttles; each row names its own.

use floatgate_base::ParamInfo;
use floatgate_base::policy::Range;

/// Longest target; longer ones would overflow 64 bits of nanoseconds.
const TARGET_YEARS_MAX: f64 = 100.0;
/// Times in seconds.
const SECONDS: Range = Range::closed(1e-3, 1e9);

/// Used without a throttle, too: results state the drive writes per day for the target.
pub(super) const TARGET: ParamInfo = ParamInfo::within(
    "target_years",
    "target life of the drive, years",
    5.0,
    Range { above_least: true, ..Range::closed(0.0, TARGET_YEARS_MAX) },
);
/// Shared by all throttles.
pub(super) const PERIOD: ParamInfo = ParamInfo::within(
    "period_s",
    "period in which a regulator allots one share of the capacity, seconds",
    1.0,
    SECONDS,
)
.shared();
pub(super) const UNIT_WINDOW: ParamInfo = ParamInfo::within(
    "unit_window_s",
    "width of the windows of demand, and length of the first epoch, seconds",
    600.0,
    SECONDS,
)
.shared();
pub(super) const HISTORY: ParamInfo =
    ParamInfo::within("history_s", "length of the demand history, seconds", 14.0 * 86_400.0, SECONDS)
        .shared();
pub(super) const EPOCH: ParamInfo =
    ParamInfo::within("epoch_s", "fixed length of epochs, seconds", 600.0, SECONDS)
        .or("chosen by demand")
        .shared();
pub(super) const ERROR_MAX: ParamInfo = ParamInfo::within(
    "error_max",
    "relative error from which on a prediction is wrong",
    0.25,
    Range::ABOVE_0,
)
.shared();
pub(super) const ERRORS_IN_A_ROW: ParamInfo = ParamInfo::whole(
    "errors_in_a_row",
    "consecutive wrong predictions before the epoch length is chosen again",
    3,
    (1, u32::MAX),
)
.shared();
pub(super) const PAIRS_MIN: ParamInfo =
    ParamInfo::whole("pairs_min", "minimum of pairs of epochs for a candidate length", 1, (1, u32::MAX))
        .shared();
pub(super) const SPARE_SHARE: ParamInfo = ParamInfo::within(
    "spare_share",
    "share of the later epochs' capacity that an epoch may borrow",
    0.1,
    Range::SHARE_BELOW_1,
)
.shared();

pub(super) const WRONG_SHARE: ParamInfo = ParamInfo::within(
    "wrong_share",
    "share of wrong predictions among the last 16 at which the length is chosen again; 1: only errors_in_a_row counts",
    0.25,
    Range { above_least: true, ..Range::SHARE },
)
.shared();
/// See [`super::Params::regains`].
pub(super) const PREDICT: ParamInfo = ParamInfo::name(
    "predict",
    "basis of the prediction of an epoch",
    &[
        ("demand", "bytes written, over the share of the time without a writer waiting for capacity"),
        ("written", "bytes written, as in the paper: an epoch cut short by the regulator looks satisfied"),
    ],
)
.shared();
pub(super) const MAX_DELAY: ParamInfo =
    ParamInfo::within("max_delay_s", "the longest delay of one page write, seconds", 10.0, SECONDS)
        .or("none")
        .shared();
pub(super) const STEP: ParamInfo = ParamInfo::within(
    "step",
    "relative change of the delay from one epoch to the next",
    0.25,
    Range::ABOVE_0,
);
pub(super) const FIRST_STEP: ParamInfo = ParamInfo::within(
    "first_step_us",
    "delay of the first step, microseconds",
    100.0,
    Range::closed(1e-3, 1e9),
);
pub(super) const P99: ParamInfo = ParamInfo::within(
    "p99_us",
    "longest time for which 99 of 100 page writes are held back, microseconds",
    10_000.0,
    Range::closed(0.0, 1e12),
);
pub(super) const BURST: ParamInfo =
    ParamInfo::within("burst_s", "size of a burst, in seconds of the rate", 60.0, Range::closed(0.0, 1e9));

/// Parameters of throttles that plan in epochs.
pub(super) const PLANNING: &[ParamInfo] = &[
    PERIOD,
    UNIT_WINDOW,
    HISTORY,
    EPOCH,
    ERROR_MAX,
    ERRORS_IN_A_ROW,
    WRONG_SHARE,
    PAIRS_MIN,
    PREDICT,
    MAX_DELAY,
];
/// Parameters of throttles whose epochs may borrow from later ones.
pub(super) const BORROWING: &[ParamInfo] = &[
    PERIOD,
    UNIT_WINDOW,
    HISTORY,
    EPOCH,
    ERROR_MAX,
    ERRORS_IN_A_ROW,
    WRONG_SHARE,
    PAIRS_MIN,
    PREDICT,
    MAX_DELAY,
    SPARE_SHARE,
];
