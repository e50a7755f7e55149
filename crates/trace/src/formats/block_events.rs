//! What blktrace's binary events and blkparse's text have in common: the event that counts as the request, and the
//! numbers of processes.
//!
//! A request appears once per event of its life, but only one kind of event (action) counts as the request. The user
//! may select it. By default it is the first of Q (queued: the host's intention), D (issued to the device), C
//! (completed), I, G, ... that occurs in the head of the trace. Processes are numbered from 0 in the order of their
//! appearance, which allows a drive to separate by process (Jung et al., IPSJ 2007; dissertation on PDS and IDS,
//! section 2.4.2).

use crate::options::Action;
use rustc_hash::FxHashMap;

/// The action that counts as the request.
pub(super) struct Events {
    pub action: u8,
    chosen_by_user: bool,
    /// Requests with other actions, for a message about the alternatives.
    others: [bool; 128],
}

impl Events {
    /// Selects the user's action, or the default among those `seen` in the head of the trace, which prefers `first`.
    pub fn new(chosen: Option<Action>, seen: impl Iterator<Item = u8>, first: Option<u8>) -> Self {
        Self {
            action: chosen.map_or_else(|| default_action(seen, first), |action| action.0),
            chosen_by_user: chosen.is_some(),
            others: [false; 128],
        }
    }

    /// Registers an event with another action.
    #[inline]
    pub fn note_other(&mut self, action: u8) {
        if let Some(seen) = self.others.get_mut(usize::from(action)) {
            *seen = true;
        }
    }

    /// Appends which events are requests.
    pub fn assumed(&self, out: &mut Vec<String>) {
        let why = if self.chosen_by_user { "chosen" } else { "default for this trace" };
        out.push(format!("requests are the events {} ({why})", char::from(self.action)));
    }

    /// States what a trace without requests lacks.
    pub fn hint_if_empty(&self) -> String {
        let others: Vec<&str> =
            Action::NAMES.iter().copied().filter(|n| self.others[usize::from(n.as_bytes()[0])]).collect();
        let action = char::from(self.action);
        match others.len() {
            0 => format!("expected events {action} with a sector and a length"),
            _ => format!("expected events {action}; the trace has {}", others.join(", ")),
        }
    }
}

/// Returns the action that counts by default.
fn default_action(actions: impl Iterator<Item = u8>, first: Option<u8>) -> u8 {
    let mut seen = [false; 256];
    for action in actions {
        seen[usize::from(action)] = true;
    }
    let order = first.into_iter().chain(Action::NAMES.iter().map(|n| n.as_bytes()[0]));
    order.into_iter().find(|a| seen[usize::from(*a)]).unwrap_or(first.unwrap_or(b'Q'))
}

/// Numbers of processes, in the order of their first request.
#[derive(Default)]
pub(super) struct Processes {
    numbers: FxHashMap<u64, u32>,
    /// The process of the last request, and its number: the process rarely changes.
    last: Option<(u64, u32)>,
}

impl Processes {
    /// Registers the process of a request.
    #[inline]
    pub fn see(&mut self, process: u64) {
        if self.last.is_none_or(|(last, _)| last != process) {
            let next = self.numbers.len() as u32;
            self.last = Some((process, *self.numbers.entry(process).or_insert(next)));
        }
    }

    /// Returns the processes by their numbers.
    pub fn all(&self) -> Vec<u64> {
        let mut all = vec![0; self.numbers.len()];
        // Every number is below the length, so the order of the map does not matter.
        self.numbers.iter().for_each(|(process, number)| all[*number as usize] = *process);
        all
    }

    /// Returns the number of the process of the last request.
    #[inline]
    pub fn last(&self) -> u32 {
        self.last.map_or(0, |(_, number)| number)
    }
}
