//! By patterns: writes to addresses that are repeatedly written together share a label.
//!
//! Source: the paper on pattern-based write scheduling, section III-B (`docs/reproduce.md`). The writes among the first
//! `mined` requests of a window are mined for sets of start addresses that occur together ([`floatgate_patterns`]).
//! Every write of the window whose address is in a set joins the group of that set. Groups go to blocks with few
//! erases, all other writes to blocks with many. The order of writes is unchanged.
//!
//! Choices that the paper leaves open:
//! - The matrix of section III-B.2 has a row per request and a column per pattern, and holds how often an address was
//!   accessed. A write whose address is in several sets joins the one whose column has the largest sum, of which the
//!   window writes most. Ties go to the larger set, then to the one with the lower addresses.
//! - A set is a maximal one (`docs/patterns.md`); a transaction is a run of `transaction` writes.
//! - A window with more sets than the miner can list is left unlabelled, and counted.
//! - A block with "a relatively heavy erasure count" is the most worn free one (`rest_blocks = "most-worn"`), or the
//!   least worn one of the more worn half of the free blocks of a plane (`"upper-half"`).
//!
//! Parameters: `window`, `mined`, `support`, `items_min`, `transaction`, `look`, `rest_blocks`. Cost: mining, and
//! O(log mined) per write. Memory: 24 bytes per request of a window, and the miner's tables.

use super::window::{self, Labels, Learned, Start, Windows};
use floatgate_base::policy::ChosenPolicy;
use floatgate_base::{Label, Misfit, ParamInfo, PolicyInfo};
use floatgate_patterns::{Kind, Settings, Window};

pub const INFO: PolicyInfo = PolicyInfo {
    name: "patterns",
    summary: "writes to addresses that are written together join blocks of their own, with few erases",
    source: "the paper on pattern-based write scheduling",
    params: &[
        window::WINDOW,
        window::MINED,
        ParamInfo::whole(
            "support",
            "transactions of a window that a set of addresses must be part of; no more than the window",
            4,
            (1, window::WINDOW_MAX),
        ),
        ParamInfo::whole("items_min", "addresses that a set must have", 3, (1, window::WINDOW_MAX)),
        ParamInfo::whole(
            "transaction",
            "successive writes of a transaction; the last one of a window may have fewer",
            floatgate_patterns::TRANSACTION,
            (1, window::WINDOW_MAX),
        ),
        window::LOOK,
        ParamInfo::name(
            "rest_blocks",
            "the free block that writes in no set, and moved pages, open",
            REST_BLOCKS,
        ),
    ],
    cost: "mining, about 0.03 us per request, and O(log mined) per write",
    memory: "24 bytes per request of a window",
};

const REST_BLOCKS: &[(&str, &str)] = &[
    ("most-worn", "the one with most erases"),
    ("upper-half", "the one with fewest erases among the more worn half"),
];

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    pub(super) windows: Windows,
    transaction: u32,
    support: u32,
    items_min: u32,
    pub(super) rest_in_upper_half: bool,
}

impl Params {
    /// Reads the parameters.
    ///
    /// # Errors
    /// Values that exclude each other.
    pub(super) fn of(settings: &ChosenPolicy) -> Result<Self, Misfit> {
        Ok(Self {
            windows: Windows::of(settings)?,
            transaction: settings.whole("transaction"),
            support: settings.whole("support"),
            items_min: settings.whole("items_min"),
            rest_in_upper_half: settings.text("rest_blocks") == REST_BLOCKS[1].0,
        })
    }

    pub(super) fn state(&self) -> State {
        State {
            settings: Settings { support: self.support, items_min: self.items_min, kind: Kind::Maximal },
            transaction: self.transaction as usize,
            window: Window::default(),
            is_known: false,
            next_group: 0,
            items: Vec::new(),
            accesses: Vec::new(),
            pattern_of: Vec::new(),
        }
    }
}

/// Its state.
#[derive(Debug)]
pub struct State {
    settings: Settings,
    transaction: usize,
    /// The sets of the last mining, if `is_known`.
    window: Window<Start>,
    is_known: bool,
    /// Number of groups of the previous windows of this pass.
    next_group: u32,
    /// The item of each write of the window, or [`NONE`].
    items: Vec<u32>,
    /// Writes of the window by item.
    accesses: Vec<u32>,
    /// The set that each item's writes join, or [`NONE`].
    pattern_of: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl State {
    /// Selects the set for the writes of each address: sums up the columns of the matrix.
    fn match_patterns(&mut self, writes: &[Start]) {
        let Self { window, items, accesses, pattern_of, .. } = self;
        items.clear();
        items.extend(writes.iter().map(|start| window.item_of(start).unwrap_or(NONE)));
        accesses.clear();
        accesses.resize(window.items(), 0);
        items.iter().filter(|&&item| item != NONE).for_each(|&item| accesses[item as usize] += 1);
        pattern_of.clear();
        pattern_of.resize(window.items(), NONE);
        let sum = |set: &[u32]| set.iter().map(|&item| u64::from(accesses[item as usize])).sum::<u64>();
        let sums: Vec<u64> = window.patterns().iter().map(|(set, _)| sum(set)).collect();
        for (pattern, (set, _)) in (0u32..).zip(window.patterns().iter()) {
            for &item in set {
                let best = &mut pattern_of[item as usize];
                if *best == NONE || sums[pattern as usize] > sums[*best as usize] {
                    *best = pattern;
                }
            }
        }
    }
}

impl Labels for State {
    fn learn(&mut self, mined: &[Start]) -> Learned {
        let patterns = self.window.mine(mined, self.transaction, &self.settings);
        self.is_known = patterns.is_ok();
        match patterns {
            Ok(patterns) => Learned {
                patterns: patterns.len() as u64,
                items: patterns.total_items() as u64,
                too_many: false,
            },
            Err(_) => Learned { too_many: true, ..Learned::default() },
        }
    }

    fn label(&mut self, writes: &[Start], mut labels: impl FnMut(Label)) {
        if !self.is_known || self.window.patterns().is_empty() {
            writes.iter().for_each(|_| labels(Label::REST));
            return;
        }
        self.match_patterns(writes);
        for &item in &self.items {
            let pattern = if item == NONE { NONE } else { self.pattern_of[item as usize] };
            labels(match pattern {
                NONE => Label::REST,
                pattern => Label::of_group(self.next_group.wrapping_add(pattern)),
            });
        }
        // Labels of later windows are new groups.
        self.next_group = self.next_group.wrapping_add(self.window.patterns().len() as u32);
    }

    fn restart(&mut self) {
        self.is_known = false;
        self.next_group = 0;
    }
}
