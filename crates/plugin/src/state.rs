//! The state of a policy from outside on one drive: bytes that the engine keeps, clones and saves for it.

use crate::contract::{FAILED, Shape};
use crate::{Chosen, Plugin, SlotKind};
use serde::{Deserialize, Serialize};
use std::ffi::c_void;

/// Words of state in one piece: a cache line, to which the state is aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(C, align(64))]
pub struct Line([u64; 8]);

/// A policy with its parameters and its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Kept {
    /// The policy.
    pub plugin: &'static Plugin,
    /// The values of its parameters.
    pub values: &'static [f64],
    lines: Vec<Line>,
}

/// What a snapshot stores: the state, and by which code it may be continued.
#[derive(Serialize, Deserialize)]
struct Saved {
    slot: String,
    name: String,
    sha256: String,
    values: Vec<f64>,
    lines: Vec<Line>,
}

impl From<Kept> for Saved {
    fn from(Kept { plugin, values, lines }: Kept) -> Self {
        Self {
            slot: plugin.kind.slot().into(),
            name: plugin.info.name.into(),
            sha256: plugin.sha256.clone(),
            values: values.to_vec(),
            lines,
        }
    }
}

impl TryFrom<Saved> for Kept {
    type Error = String;

    fn try_from(Saved { slot, name, sha256, values, lines }: Saved) -> Result<Self, String> {
        let kind = SlotKind::of(&slot).ok_or_else(|| format!("a policy of {slot} has no state"))?;
        let plugin = Plugin::find(kind, &name, &sha256)
            .ok_or_else(|| format!("its {} '{name}' is not loaded, or has changed since", kind.what()))?;
        if values.len() != plugin.own_params().len() {
            return Err(format!("{} '{name}' takes other parameters", kind.what()));
        }
        Ok(Self { plugin, values: plugin.kept(values), lines })
    }
}

impl Kept {
    /// Begins on a drive; returns the fault beside the state, if the policy made one.
    #[must_use]
    pub fn begin(Chosen { plugin, values }: Chosen, shape: &Shape) -> (Self, Option<String>) {
        let bytes = bytes(plugin, values, shape);
        let lines = bytes.div_ceil(size_of::<Line>() as u64);
        let mut state = Self { plugin, values, lines: vec![] };
        let reserved = usize::try_from(lines).ok().and_then(|n| state.lines.try_reserve_exact(n).ok());
        if reserved.is_none() {
            let fault = format!("policy '{}': no memory for {bytes} bytes of state", plugin.info.name);
            return (state, Some(fault));
        }
        state.lines.resize(lines as usize, Line::default());
        let at = state.at();
        // SAFETY: shape and values live through the call; the state has the bytes that the policy wants.
        let begun =
            plugin.policy.begin.map_or(0, |begin| unsafe { begin(&raw const *shape, values.as_ptr(), at) });
        let fault = (begun == FAILED).then(|| plugin.failed("begin", "before the run"));
        (state, fault)
    }

    /// Checks whether this is a state of a drive of this shape: the policy goes by the sizes that it stated, and with
    /// another state it could read or write any memory.
    #[must_use]
    pub fn fits(&self, shape: &Shape) -> bool {
        let Self { plugin, values, lines } = self;
        bytes(plugin, values, shape).div_ceil(size_of::<Line>() as u64) == lines.len() as u64
            // SAFETY: shape and values live through the call; the state has the bytes that the policy wants.
            && plugin.policy.check.is_none_or(|check| unsafe {
                check(&raw const *shape, values.as_ptr(), lines.as_ptr().cast()) == 0
            })
    }

    /// Returns the address of the state.
    #[inline(always)]
    #[must_use]
    pub fn at(&mut self) -> *mut c_void {
        self.lines.as_mut_ptr().cast()
    }

    /// Returns the address of the state, for functions that only read it.
    #[inline(always)]
    #[must_use]
    pub fn read_at(&self) -> *const c_void {
        self.lines.as_ptr().cast()
    }

    /// Returns the state as lines.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the address of the values of the parameters.
    #[inline(always)]
    #[must_use]
    pub fn values_at(&self) -> *const f64 {
        self.values.as_ptr()
    }

    /// Returns the bytes of the state.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        (self.lines.len() * size_of::<Line>()) as u64
    }

    /// Checks whether a call of `each` with a copy of the state, as it was in `before`, gives the same answer and state.
    pub fn repeats(&self, before: &Self, answer: u32, each: impl FnOnce(&mut Self) -> u32) -> bool {
        let mut again = before.clone();
        each(&mut again) == answer && again.lines == self.lines
    }
}

/// Returns the bytes of state that a policy wants on a drive.
fn bytes(plugin: &Plugin, values: &[f64], shape: &Shape) -> u64 {
    // SAFETY: shape and values live through the call.
    plugin.policy.state_bytes.map_or(0, |bytes| unsafe { bytes(&raw const *shape, values.as_ptr()) })
}
