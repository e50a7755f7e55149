//! The strongest sets of a trace.

use serde::Serialize;

/// Start of a request: device and byte.
pub(super) type Key = (u16, u64);

/// Number of sets reported.
const SETS: usize = 10;
/// Most addresses reported per set.
const NAMED: usize = 64;

/// Sets by support times size in one window, the strongest first; among equal ones the earlier. Each set once.
#[derive(Debug, Default)]
pub(super) struct Strongest {
    sets: Vec<Set>,
}

#[derive(Debug)]
struct Set {
    keys: Vec<Key>,
    support: u32,
    window: u64,
}

impl Set {
    fn strength(&self) -> u64 {
        u64::from(self.support) * self.keys.len() as u64
    }
}

impl Strongest {
    /// Offers a set of a window.
    pub fn add(&mut self, window: u64, support: u32, keys: impl ExactSizeIterator<Item = Key>) {
        let strength = u64::from(support) * keys.len() as u64;
        let full = self.sets.len() == SETS;
        if full && self.sets.last().is_some_and(|last| last.strength() >= strength) {
            return;
        }
        let set = Set { keys: keys.collect(), support, window };
        if let Some(place) = self.sets.iter().position(|other| other.keys == set.keys) {
            if self.sets[place].strength() >= strength {
                return;
            }
            self.sets.remove(place);
        }
        self.sets.push(set);
        self.sets.sort_by_key(|set| std::cmp::Reverse(set.strength()));
        self.sets.truncate(SETS);
    }

    pub fn describe(&self, devices: &[String]) -> Vec<Strong> {
        let start = |&(device, offset): &Key| Start { device: devices[device as usize].clone(), offset };
        let report = |set: &Set| Strong {
            window: set.window,
            support: set.support,
            size: set.keys.len() as u64,
            addresses: set.keys.iter().take(NAMED).map(start).collect(),
        };
        self.sets.iter().map(report).collect()
    }
}

/// A set of great strength.
#[derive(Clone, Debug, Serialize)]
pub struct Strong {
    /// The window in which it was strongest, from 0.
    pub window: u64,
    /// Transactions of that window that contain it.
    pub support: u32,
    /// Number of addresses of the set.
    pub size: u64,
    /// The addresses, or the first of many.
    pub addresses: Vec<Start>,
}

/// Start of requests.
#[derive(Clone, Debug, Serialize)]
pub struct Start {
    /// The device.
    pub device: String,
    /// First byte.
    pub offset: u64,
}
