//! The parameters that the rows of throttles name. Several throttles share most of them, so they stand here, and each
//! row names its own.

use floatgate_base::ParamInfo;
use floatgate_base::policy::Range;

/// The longest target: beyond, nanoseconds leave 64 bits.
const TARGET_YEARS_MAX: f64 = 100.0;
/// Times in seconds.
const SECONDS: Range = Range::closed(1e-3, 1e9);

/// Also without a throttle: results say how many drive writes per day the target stands.
pub(super) const TARGET: ParamInfo = ParamInfo::within(
    "target_years",
    "years that the drive should last",
    5.0,
    Range { above_least: true, ..Range::closed(0.0, TARGET_YEARS_MAX) },
);
/// Of every throttle.
pub(super) const PERIOD: ParamInfo = ParamInfo::within(
    "period_s",
    "time in which a regulator gives out one share of the capacity, seconds",
    1.0,
    SECONDS,
)
.shared();
pub(super) const UNIT_WINDOW: ParamInfo = ParamInfo::within(
    "unit_window_s",
    "windows by which demand is remembered, and the first epoch, seconds",
    600.0,
    SECONDS,
)
.shared();
pub(super) const HISTORY: ParamInfo =
    ParamInfo::within("history_s", "how much demand is remembered, seconds", 14.0 * 86_400.0, SECONDS)
        .shared();
pub(super) const EPOCH: ParamInfo =
    ParamInfo::within("epoch_s", "epochs of just this length, seconds", 600.0, SECONDS)
        .or("chosen by demand")
        .shared();
pub(super) const ERROR_MAX: ParamInfo =
    ParamInfo::within("error_max", "a prediction that is off by no less is wrong", 0.25, Range::ABOVE_0)
        .shared();
pub(super) const ERRORS_IN_A_ROW: ParamInfo = ParamInfo::whole(
    "errors_in_a_row",
    "wrong predictions before the length of epochs is chosen anew",
    3,
    (1, u32::MAX),
)
.shared();
pub(super) const PAIRS_MIN: ParamInfo =
    ParamInfo::whole("pairs_min", "pairs of epochs that a candidate length must have", 1, (1, u32::MAX))
        .shared();
pub(super) const SPARE_SHARE: ParamInfo = ParamInfo::within(
    "spare_share",
    "share of the later epochs' capacity that one may borrow",
    0.1,
    Range::SHARE_BELOW_1,
)
.shared();

pub(super) const WRONG_SHARE: ParamInfo = ParamInfo::within(
    "wrong_share",
    "share of the last 16 predictions that is wrong before the length is chosen anew; 1: only errors_in_a_row counts",
    0.25,
    Range { above_least: true, ..Range::SHARE },
)
.shared();
/// What [`super::Params::regains`] says.
pub(super) const PREDICT: ParamInfo = ParamInfo::name(
    "predict",
    "what an epoch is predicted from",
    &[
        ("demand", "what was written, over the share of the time in which no writer waited for capacity"),
        (
            "written",
            "what was written, as the paper has it: an epoch that the regulator cut short looks satisfied",
        ),
    ],
)
.shared();
pub(super) const MAX_DELAY: ParamInfo =
    ParamInfo::within("max_delay_s", "the longest delay of one page write, seconds", 10.0, SECONDS)
        .or("none")
        .shared();
pub(super) const STEP: ParamInfo = ParamInfo::within(
    "step",
    "share by which the delay changes from one epoch to the next",
    0.25,
    Range::ABOVE_0,
);
pub(super) const FIRST_STEP: ParamInfo = ParamInfo::within(
    "first_step_us",
    "the delay that the first step makes, microseconds",
    100.0,
    Range::closed(1e-3, 1e9),
);
pub(super) const P99: ParamInfo = ParamInfo::within(
    "p99_us",
    "99 of a hundred page writes are held back no longer, microseconds",
    10_000.0,
    Range::closed(0.0, 1e12),
);
pub(super) const BURST: ParamInfo = ParamInfo::within(
    "burst_s",
    "what may be written at once, as the seconds in which the rate brings as much",
    60.0,
    Range::closed(0.0, 1e9),
);

/// Of throttles that plan in epochs.
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
/// Of those whose epochs may borrow from later ones.
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
