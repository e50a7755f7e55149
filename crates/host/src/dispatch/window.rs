//! What dispatchers that look at a window of requests have in common.

use floatgate_base::policy::Given;
use floatgate_base::{Label, Misfit, Op, ParamInfo, RequestBatch};
use std::ops::Range;

/// Most requests of a window.
pub const WINDOW_MAX: u32 = 1 << 16;
/// Most requests of a window of which a dispatcher learns.
pub const MINED_MAX: u32 = 1 << 14;

/// Requests of a window.
pub(super) const WINDOW: ParamInfo =
    ParamInfo::whole("window", "requests of a window, reads included", 1024, (1, WINDOW_MAX)).shared();
/// Of which it learns.
pub(super) const MINED: ParamInfo = ParamInfo::whole(
    "mined",
    "requests at the beginning of a window whose writes are looked at; no more than the window",
    256,
    (1, MINED_MAX),
)
.shared();
/// To which requests it is applied.
pub(super) const LOOK: ParamInfo =
    ParamInfo::name("look", "to which requests that is applied which a window shows", LOOKS).shared();

/// Names of [`Look`], with what they do.
const LOOKS: &[(&str, &str)] = &[
    ("window", "to all requests of the same window, as if the queue held it whole"),
    ("causal", "to the requests of the next window: nothing is known ahead of time"),
];

/// To which requests a dispatcher applies what a window shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// To those of the window itself.
    Window,
    /// To those of the next one.
    Causal,
}

/// How windows are cut and used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Windows {
    /// Requests of a window.
    pub window: u32,
    /// Requests at its beginning whose writes are looked at.
    pub mined: u32,
    pub look: Look,
}

impl Windows {
    /// As given.
    ///
    /// # Errors
    /// More is to be mined, or must occur, than a window has.
    pub fn of(given: &Given) -> Result<Self, Misfit> {
        let (window, mined, support) = (given.whole("window"), given.whole("mined"), given.whole("support"));
        for (key, value) in [("mined", mined), ("support", support)] {
            if value > window {
                let what = format!("{key} is {value}, and a window has {window} requests");
                return Err(Misfit::new(key, what, "expected no more than ftl.dispatch.window"));
            }
        }
        let look = if given.text("look") == LOOKS[1].0 { Look::Causal } else { Look::Window };
        Ok(Self { window, mined, look })
    }
}

/// By what a write is known: device and first byte.
pub(super) type Start = (u16, u64);

/// The writes of a window.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    pub starts: Vec<Start>,
    /// How many of them are looked at.
    pub mined: usize,
}

impl Writes {
    /// Those of the requests in `range` of a batch, of the first `mined` of which is learned.
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

/// What was learned from a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Learned {
    /// Patterns.
    pub patterns: u64,
    /// Addresses of all of them.
    pub items: u64,
    /// Whether there were too many to be told, so that none is.
    pub too_many: bool,
}

/// What a dispatcher that looks at windows does.
pub(super) trait Labels {
    /// Learns from the writes that come first in a window, and forgets what it had learned.
    fn learn(&mut self, mined: &[Start]) -> Learned;

    /// Labels all writes of a window, in order, by what was learned last.
    fn label(&mut self, writes: &[Start], labels: impl FnMut(Label));

    /// Forgets everything.
    fn restart(&mut self);
}
