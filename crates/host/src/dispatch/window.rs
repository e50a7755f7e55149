//! Windows of requests, shared by the dispatchers that learn from them.

use floatgate_base::policy::ChosenPolicy;
use floatgate_base::{Label, Misfit, Op, ParamInfo, RequestBatch};
use std::ops::Range;

/// Most requests per window.
pub const WINDOW_MAX: u32 = 1 << 16;
/// Most requests of a window for learning.
pub const MINED_MAX: u32 = 1 << 14;

/// Requests per window.
pub(super) const WINDOW: ParamInfo =
    ParamInfo::whole("window", "requests per window, reads included", 1024, (1, WINDOW_MAX)).shared();
/// Requests to learn from.
pub(super) const MINED: ParamInfo = ParamInfo::whole(
    "mined",
    "requests at the beginning of a window from whose writes it learns; no more than the window",
    256,
    (1, MINED_MAX),
)
.shared();
/// Requests to which the labels apply.
pub(super) const LOOK: ParamInfo =
    ParamInfo::name("look", "to which requests the patterns of a window apply", LOOKS).shared();

/// Names of [`Look`] with their meaning.
const LOOKS: &[(&str, &str)] = &[
    ("window", "all requests of the same window, as if the queue held all of it"),
    ("causal", "the requests of the next window: no knowledge of the future"),
];

/// The requests to which a dispatcher applies what it learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The same window.
    Window,
    /// The next window.
    Causal,
}

/// How windows are cut and used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Windows {
    /// Requests per window.
    pub window: u32,
    /// Requests at the beginning to learn from.
    pub mined: u32,
    pub look: Look,
}

impl Windows {
    /// Reads the parameters.
    ///
    /// # Errors
    /// More requests to learn from, or a higher support, than a window has.
    pub fn of(settings: &ChosenPolicy) -> Result<Self, Misfit> {
        let (window, mined, support) =
            (settings.whole("window"), settings.whole("mined"), settings.whole("support"));
        for (key, value) in [("mined", mined), ("support", support)] {
            if value > window {
                let what = format!("{key} is {value}, but a window has {window} requests");
                return Err(Misfit::new(key, what, "expected no more than ftl.dispatch.window"));
            }
        }
        let look = if settings.text("look") == LOOKS[1].0 { Look::Causal } else { Look::Window };
        Ok(Self { window, mined, look })
    }
}

/// Identity of a write: device and first byte.
pub(super) type Start = (u16, u64);

/// The writes of a window.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    pub starts: Vec<Start>,
    /// Number of writes to learn from.
    pub mined: usize,
}

impl Writes {
    /// Collects the writes among the requests in `range` of a batch; those of the first `mined` requests are for
    /// learning.
    pub fn read(&mut self, batch: &RequestBatch, range: Range<usize>, mined: usize) {
        self.starts.clear();
        self.mined = 0;
        for i in range.clone() {
            if batch.op[i] == Op::Write {
                self.starts.push((batch.device[i], batch.offset[i]));
                if i - range.start < mined {
                    self.mined = self.starts.len();
                }
            }
        }
    }
}

/// Result of learning from a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Learned {
    /// Number of patterns.
    pub patterns: u64,
    /// Addresses of all patterns.
    pub items: u64,
    /// Whether there were too many patterns to list, in which case none is listed.
    pub too_many: bool,
}

/// The interface of a dispatcher that works on windows.
pub(super) trait Labels {
    /// Learns from the first writes of a window, and discards earlier results.
    fn learn(&mut self, mined: &[Start]) -> Learned;

    /// Labels all writes of a window, in order, by the latest results.
    fn label(&mut self, writes: &[Start], labels: impl FnMut(Label));

    /// Discards all state.
    fn restart(&mut self);
}
