//! By frequency: writes to frequently written addresses share a label.
//!
//! Source: Guo et al., PGIS (a parallelism and garbage-collection aware I/O scheduler). It is reference [12] of the
//! paper on patterns, which compares itself with it; the original text is not at hand. This implementation follows that
//! comparison ("dispatching hot write data into the same physical block", "considers the frequency", "does not take the
//! correlation factor into account"). It differs from `patterns` in one respect: it considers how often an address is
//! written, not together with which others. An address is hot if at least `support` of the writes at the beginning of
//! the window start there. Hot writes join open blocks of their own, which rotate over the planes: parallelism is in
//! the name. `ftl.free_block` selects these free blocks.
//!
//! Parameters: `window`, `mined`, `support`, `look`. Cost: O(log mined) per write. Memory: 16 bytes per request of a
//! window.

use super::window::{self, Labels, Learned, Start, Windows};
use floatgate_base::policy::ChosenPolicy;
use floatgate_base::{Label, Misfit, ParamInfo, PolicyInfo};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "pgis",
    summary: "writes to frequently written addresses join blocks of their own",
    source: "Guo et al., PGIS, as the paper on patterns describes it",
    params: &[
        window::WINDOW,
        window::MINED,
        ParamInfo::whole(
            "support",
            "writes of a window that must start at an address for it to be hot; no more than the window",
            4,
            (1, window::WINDOW_MAX),
        ),
        window::LOOK,
    ],
    cost: "O(log mined) per write",
    memory: "16 bytes per request of a window",
};

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    pub(super) windows: Windows,
    support: u32,
}

impl Params {
    /// Reads the parameters.
    ///
    /// # Errors
    /// Values that exclude each other.
    pub(super) fn of(settings: &ChosenPolicy) -> Result<Self, Misfit> {
        Ok(Self { windows: Windows::of(settings)?, support: settings.whole("support") })
    }

    pub(super) fn state(&self) -> State {
        State { support: self.support as usize, sorted: Vec::new(), hot: Vec::new() }
    }
}

/// Its state.
#[derive(Clone, Debug)]
pub struct State {
    support: usize,
    sorted: Vec<Start>,
    /// Frequently written addresses, ascending.
    hot: Vec<Start>,
}

impl Labels for State {
    fn learn(&mut self, mined: &[Start]) -> Learned {
        self.sorted.clear();
        self.sorted.extend_from_slice(mined);
        self.sorted.sort_unstable();
        self.hot.clear();
        let often = self.sorted.chunk_by(|a, b| a == b).filter(|same| same.len() >= self.support);
        self.hot.extend(often.map(|same| same[0]));
        Learned::default()
    }

    fn label(&mut self, writes: &[Start], mut labels: impl FnMut(Label)) {
        for start in writes {
            let is_hot = self.hot.binary_search(start).is_ok();
            labels(if is_hot { Label::OFTEN } else { Label::REST });
        }
    }

    fn restart(&mut self) {
        self.hot.clear();
    }
}
