//! The strongest sets of a trace.

use serde::Serialize;

/// Where a request begins: device and byte.
pub(super) type Key = (u16, u64);

/// Sets that are told.
const SETS: usize = 10;
/// Addresses of a set that are told.
const NAMED: usize = 64;

/// Sets by support times size in one window, the strongest first; of equal ones the earlier. Each set once.
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
    /// Looks at a set of a window.
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
        let told = |set: &Set| Strong {
            window: set.window,
            support: set.support,
            size: set.keys.len() as u64,
            addresses: set.keys.iter().take(NAMED).map(start).collect(),
        };
        self.sets.iter().map(told).collect()
    }
}

/// A set that stands out.
#[derive(Clone, Debug, Serialize)]
pub struct Strong {
    /// The window in which it was strongest, from 0.
    pub window: u64,
    /// Transactions of that window of which it is part.
    pub support: u32,
    /// Addresses of the set.
    pub size: u64,
    /// The addresses, or the first of many.
    pub addresses: Vec<Start>,
}

/// Where requests begin.
#[derive(Clone, Debug, Serialize)]
pub struct Start {
    /// The device.
    pub device: String,
    /// First byte.
    pub offset: u64,
}
