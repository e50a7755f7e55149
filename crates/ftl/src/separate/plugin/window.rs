//! The first calls of a separator from outside, recorded to be made twice: results repeat only if the same calls from
//! the same beginning give the same answers and the same state.

use floatgate_plugin::contract::{FAILED, Move, Reclaimed, Write};
use floatgate_plugin::{Kept, Plugin};
use std::ffi::c_void;

/// Numbers of calls after which all calls so far are repeated; recording ends with the last. The first one is for runs
/// that are short.
const CHECKS: [usize; 2] = [256, 8192];

/// A call with its arguments.
#[derive(Clone, Copy, Debug)]
pub enum Call {
    Write(Write),
    MoveStream(Move),
    Moved(Move, u32),
    Trimmed(u32, u64),
    Reclaimed(Reclaimed),
}

impl Call {
    /// Makes the call.
    ///
    /// # Safety
    /// `state` is the state of a drive on which the policy has begun with `values`.
    pub unsafe fn make(&self, plugin: &Plugin, values: &[f64], state: *mut c_void) -> u32 {
        let (policy, values) = (&plugin.policy, values.as_ptr());
        // SAFETY: as the caller promises; the arguments live through the call.
        unsafe {
            match self {
                Self::Write(page) => policy.write.map_or(FAILED, |call| call(page, values, state)),
                Self::MoveStream(page) => policy.move_stream.map_or(FAILED, |call| call(page, values, state)),
                Self::Moved(page, stream) => {
                    policy.moved.map_or(0, |call| call(page, *stream, values, state))
                }
                Self::Trimmed(page, now) => policy.trimmed.map_or(0, |call| call(*page, *now, values, state)),
                Self::Reclaimed(block) => policy.reclaimed.map_or(0, |call| call(block, values, state)),
            }
        }
    }

    /// Returns the name of the function, for messages.
    pub fn function(&self) -> &'static str {
        match self {
            Self::Write(_) => "write",
            Self::MoveStream(_) => "move",
            Self::Moved(..) => "moved",
            Self::Trimmed(..) => "trimmed",
            Self::Reclaimed(_) => "reclaimed",
        }
    }
}

/// The calls so far, with the state in which the policy began.
#[derive(Clone, Debug)]
pub struct Window {
    began: Kept,
    calls: Vec<(Call, u32)>,
}

impl Window {
    /// Begins to record, from a state.
    pub fn new(began: &Kept) -> Self {
        Self { began: began.clone(), calls: Vec::new() }
    }

    /// Records a call; returns whether it is time to repeat them.
    pub fn record(&mut self, call: Call, answer: u32) -> bool {
        self.calls.push((call, answer));
        CHECKS.contains(&self.calls.len())
    }

    /// Checks whether recording is over.
    pub fn is_full(&self) -> bool {
        self.calls.len() >= CHECKS[CHECKS.len() - 1]
    }

    /// Makes all calls once more and compares answers and state; describes the first difference.
    pub fn repeat(&self, now: &Kept) -> Option<String> {
        let mut state = self.began.clone();
        let at = state.at();
        for (number, (call, answer)) in (1..).zip(&self.calls) {
            // SAFETY: the policy began with this state and these values.
            let again = unsafe { call.make(now.plugin, now.values, at) };
            if again != *answer {
                let function = call.function();
                return Some(format!(
                    "its call {number}, of {function}, gave {answer} at first and {again} again"
                ));
            }
        }
        let differs = state.lines() != now.lines();
        differs.then(|| format!("its state differs after the same {} calls", self.calls.len()))
    }
}
