//! Read balance: static wear-leveling that spreads frequently read data over the chips of a channel.
//!
//! Source: the paper on pattern-based write scheduling with read-balance-oriented wear-leveling, Algorithm 1. Static
//! wear-leveling decides what is emptied when (`swl.rs`, with one flag per block). A page read table (PRT) has a bit
//! per page, set when the host reads the page and cleared when its block is erased. The share of its valid pages that
//! were read makes a block *less read* (type 0), *frequently read* (type 1) or neither (type 2). A block of type 2 is
//! emptied within its plane. The valid pages of the others are split over a *block set*: two blocks on different chips
//! of the channel, the most worn free ones. If a set waits that took in a block of the opposite type, its blocks take
//! these pages, half each, and the set leaves the list. Otherwise a new set waits. Each destination thus ends half
//! frequently and half less read.
//!
//! All moved pages go into blocks of their own. If they shared open blocks with host writes, cold and hot data would
//! mix, and collection would move the cold ones again and again. Blocks are closed when they are full.
//!
//! Where the paper is silent:
//! - The paper omits the shares that divide the types; they are parameters. Shares are of the valid pages; a block
//!   without any is of type 2.
//! - The listing checks no channel; the text moves data within the channel only. There is one list per channel, and
//!   sets join it at the head.
//! - A set that is not full after two blocks waits on, for a block of the type opposite to that of the last. If sets
//!   were closed after two blocks, blocks that have lost pages would fill them less from round to round.
//! - Frequently read pages move first, alternating between both destinations, then the others, continuing the
//!   alternation. The second block begins with the other destination to give both the same number.
//! - Destinations are the planes of two chips whose free blocks are the most worn (`chips = "most-worn"`). The text
//!   moves data to the chips of a channel "by following a round-robin fashion". Under `"round-robin"` a pair lies on
//!   the next two chips of its channel, in each on the plane with the most worn free block. If no two chips have a free
//!   block, the block is emptied as one of type 2.
//! - Nothing in the listing returns pages to a plane that gave some away, and cold ones never return by themselves.
//!   Planes would drift apart until one has no spare space left. A plane therefore takes in pages only up to one block
//!   more than the average of its channel (`plane_balance.rs`). If no two chips have such a plane, the block moves as
//!   one of type 2.
//! - The listing lets any number of sets wait. Each holds two half-empty blocks; at most `sets_max` wait in a channel.
//!   Beyond that the oldest takes in the next block, though both are of one type. This is the rule if most cold data
//!   are hardly read. Closing the set half empty instead would take a second block per cold one, and a drive has no
//!   such room. If the planes of all waiting sets have enough pages, the block is split over the open type 2 blocks of
//!   two other planes.
//! - The oldest set is given up when collection in one of its planes can gain nothing else. The remaining pages of its
//!   blocks are lost until they are erased.
//! - If jobs wait for idle time, a set waits from the end of its first job on.
//!
//! Parameters: `threshold`, `less_read_share`, `frequent_read_share`, `sets_max`, `chips`. Cost: O(1) per read, O(pages per
//! block / 64) per erase, O(pages per block + planes) per block emptied, and 16 units counted per erase. Memory: 1 bit
//! per page and 2 bits per block (flags set and flags requested); the paper counts 1 bit per page and 1 per block
//! ([`table_bytes`]).

use super::block_erasing_table::{BlockErasingTable, Due};
use super::plane_balance::{PlaneBalance, Split};
use super::swl::THRESHOLD;
use super::{Books, Leveler};
use crate::jobs::request::DriveView;
use crate::jobs::{Order, Planned, Request, Target, Urgency};
use crate::pool::Want;
use floatgate_base::policy::Range;
use floatgate_base::{ChosenPolicy, DomainId, IdSlice, ParamInfo, PolicyInfo, Ppn, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Row of the leveler in the policy table.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "read-balance",
    summary: "as swl; frequently and rarely read blocks share destinations on two chips",
    source: "pattern-based write scheduling, Algorithm 1",
    params: &[
        THRESHOLD,
        ParamInfo::within(
            "less_read_share",
            "share of a block's valid pages read, up to which it is less read",
            0.25,
            Range::SHARE,
        ),
        ParamInfo::within(
            "frequent_read_share",
            "share of a block's valid pages read, from which it is frequently read",
            0.75,
            Range::SHARE,
        ),
        ParamInfo::whole("sets_max", "pairs of destinations that may wait per channel", 4, (1, 1000)),
        ParamInfo::name("chips", "the two chips of a channel on which the destinations of a pair lie", CHIPS),
    ],
    cost: "O(1) per read, O(pages per block) per block emptied",
    memory: "1 bit per page and 2 bits per block",
};

const CHIPS: &[(&str, &str)] =
    &[("most-worn", "those with the most worn free blocks"), ("round-robin", "the next two, in turn")];

/// Parameters of read balance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Erases per set flag.
    pub threshold: f64,
    /// Share of valid pages read, up to which a block is of type 0.
    pub less_read_share: f64,
    /// Share of valid pages read, from which a block is of type 1.
    pub frequent_read_share: f64,
    /// Sets that may wait in a channel.
    pub sets_max: u32,
    /// Whether pairs take the chips of their channel in turn, in place of those with the most worn free blocks.
    pub round_robin: bool,
}

/// Returns the bytes of the page read table and of the block erasing table as the paper counts them (its Table V).
#[must_use]
pub fn table_bytes(pages: u64, blocks: u64) -> (u64, u64) {
    (pages.div_ceil(8), BlockErasingTable::memory_bytes(blocks))
}

/// The paper's types of blocks by their reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum ReadType {
    LessRead,
    FrequentlyRead,
}

/// A pair of destinations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct BlockSet {
    id: u32,
    channel: u32,
    /// Type of the block whose pages it took in last.
    kind: ReadType,
    domains: [DomainId; 2],
}

impl BlockSet {
    fn targets(&self) -> [Target; 2] {
        [0, 1].map(|side| Target::Set {
            id: self.id,
            side,
            domain: self.domains[side as usize],
            want: Want::MostWorn,
        })
    }
}

/// A block that is being split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UnderWay {
    unit: UnitId,
    split: Split,
    /// The set that takes it in, if any.
    set: Option<BlockSet>,
    /// The type of the block.
    kind: ReadType,
}

/// Destination of a split block.
enum Destination {
    /// A new set that is opened for it.
    New(BlockSet),
    /// A waiting set.
    Waiting(BlockSet),
    /// The open blocks of two domains for data that is not split.
    Apart([DomainId; 2]),
}

impl super::Params for Params {
    type State = State;

    fn of(settings: &ChosenPolicy) -> Self {
        Self {
            threshold: settings.real("threshold"),
            less_read_share: settings.real("less_read_share"),
            frequent_read_share: settings.real("frequent_read_share"),
            sets_max: settings.whole("sets_max"),
            round_robin: settings.text("chips") == CHIPS[1].0,
        }
    }

    fn state(&self, layout: &Layout) -> State {
        State {
            params: *self,
            table: BlockErasingTable::new(layout, 1),
            read: vec![0; layout.pages().div_ceil(64) as usize],
            pages_per_unit: layout.pages_per_unit(),
            waiting: Vec::new(),
            under_way: Vec::new(),
            next_id: 0,
            next_chip: vec![0; layout.geometry().channels as usize],
            balance: PlaneBalance::new(layout),
        }
    }
}

/// State of read balance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
    table: BlockErasingTable,
    /// The page read table.
    read: Vec<u64>,
    pages_per_unit: u32,
    /// The lists of all channels; the head of each comes first.
    waiting: Vec<BlockSet>,
    under_way: Vec<UnderWay>,
    next_id: u32,
    /// By channel: the chip at which the search for the next pair begins, if chips take turns.
    next_chip: Vec<u32>,
    balance: PlaneBalance,
}

/// A block that will be emptied.
#[derive(Clone, Copy)]
struct Leaving {
    domain: DomainId,
    channel: u32,
    kind: ReadType,
    pages: u32,
}

impl State {
    fn is_read(&self, page: Ppn) -> bool {
        self.read[(page.0 / 64) as usize] & 1 << (page.0 % 64) != 0
    }

    /// Clears the read bits of an erased unit.
    fn forget_reads(&mut self, unit: UnitId) {
        let (mut page, end) = (unit.0 * self.pages_per_unit, (unit.0 + 1) * self.pages_per_unit);
        while page < end {
            let (word, low) = (page / 64, page % 64);
            let pages = (64 - low).min(end - page);
            self.read[word as usize] &= !(u64::MAX >> (64 - pages) << low);
            page += pages;
        }
    }

    /// Returns the type of a block with `valid` valid pages of which `read` were read; none for type 2.
    fn kind(&self, read: usize, valid: usize) -> Option<ReadType> {
        let share = read as f64 / valid as f64;
        match () {
            () if valid == 0 => None,
            () if share <= self.params.less_read_share => Some(ReadType::LessRead),
            () if share >= self.params.frequent_read_share => Some(ReadType::FrequentlyRead),
            () => None,
        }
    }

    /// Returns the live pages of a unit that were read, and the others, ascending.
    fn pages_by_reads(&self, drive: &DriveView<'_>, unit: UnitId) -> (Vec<Ppn>, Vec<Ppn>) {
        let mut pages = Vec::with_capacity(self.pages_per_unit as usize);
        drive.each_live_page(unit, |page| pages.push(page));
        pages.into_iter().partition(|&page| self.is_read(page))
    }

    /// Selects where a block is split to. A set that waits for its type leaves the list; otherwise a new one is opened
    /// if the channel has room. None if no two chips may take pages in.
    fn destination(
        &mut self,
        drive: &DriveView<'_>,
        books: &mut Books<'_>,
        leaving: Leaving,
    ) -> Option<Destination> {
        let Leaving { domain, channel, kind, pages } = leaving;
        // Full sets are closed, and the mechanism may have given up others.
        self.waiting.retain(|set| books.sets.holds(set.id));
        let mean = self.balance.mean(of_channel(drive.layout, channel));
        let may_take = |to: DomainId| self.balance.may_take(to, domain, pages, mean);
        let in_reach = |set: &BlockSet| set.channel == channel && set.domains.into_iter().all(may_take);
        let matches = |set: &BlockSet| set.kind != kind && in_reach(set);
        if let Some(at) = self.waiting.iter().position(matches) {
            books.counters.pairs += 1;
            return Some(Destination::Waiting(self.waiting.remove(at)));
        }
        let in_channel = |set: &&BlockSet| set.channel == channel;
        if self.waiting.iter().filter(in_channel).count() < self.params.sets_max as usize {
            let domains = self.destinations(drive, channel, may_take)?;
            self.pass_turn(drive.layout, channel, domains);
            let id = self.next_id;
            self.next_id = self.next_id.wrapping_add(1);
            return Some(Destination::New(BlockSet { id, channel, kind, domains }));
        }
        let into = match self.waiting.iter().rposition(in_reach) {
            Some(oldest) => Destination::Waiting(self.waiting.remove(oldest)),
            None => {
                let domains = self.destinations(drive, channel, may_take)?;
                self.pass_turn(drive.layout, channel, domains);
                Destination::Apart(domains)
            }
        };
        books.counters.alike += 1;
        Some(into)
    }

    /// Selects domains on two chips of a channel that may take pages in; none if no two chips have a free unit.
    fn destinations(
        &self,
        drive: &DriveView<'_>,
        channel: u32,
        may_take: impl Fn(DomainId) -> bool,
    ) -> Option<[DomainId; 2]> {
        let chips = drive.layout.geometry().chips_per_channel;
        let next = self.next_chip[channel as usize];
        let chip = |domain: DomainId| drive.layout.place_of_plane(domain.0).1;
        // Chips in turn: 0 for the next one. Otherwise all are alike.
        let turns = |domain| if self.params.round_robin { (chip(domain) + chips - next) % chips } else { 0 };
        let best = |other_than: Option<u32>| {
            of_channel(drive.layout, channel)
                .filter(|&domain| Some(chip(domain)) != other_than && may_take(domain))
                .filter_map(|domain| {
                    let wear = drive.most_worn_free(domain)?;
                    Some((Reverse(turns(domain)), wear, Reverse(domain)))
                })
                .max()
                .map(|(.., domain)| domain.0)
        };
        let first = best(None)?;
        Some([first, best(Some(chip(first)))?])
    }

    /// Begins the next search for a pair behind the chip of the second destination.
    fn pass_turn(&mut self, layout: &Layout, channel: u32, [_, second]: [DomainId; 2]) {
        let (_, chip, ..) = layout.place_of_plane(second.0);
        self.next_chip[channel as usize] = (chip + 1) % layout.geometry().chips_per_channel;
    }

    /// Returns the job that empties a unit.
    fn request(
        &mut self,
        drive: &DriveView<'_>,
        books: &mut Books<'_>,
        domain: DomainId,
        unit: UnitId,
    ) -> Request {
        let plain = Request::emptying(unit, domain, Cause::Level, Urgency::Leveling).into(apart(domain));
        let (read, other) = self.pages_by_reads(drive, unit);
        let Some(kind) = self.kind(read.len(), read.len() + other.len()) else { return plain };
        let (channel, ..) = drive.layout.place_of_plane(domain.0);
        let splits = self.under_way.iter_mut().map(|under_way| (under_way.unit, &mut under_way.split));
        self.balance.count(drive.layout, drive.units, books.sets, splits);
        let pages = (read.len() + other.len()) as u32;
        let Some(into) = self.destination(drive, books, Leaving { domain, channel, kind, pages }) else {
            return plain;
        };
        let (set, domains, targets, first) = match into {
            Destination::New(set) => (Some(set), set.domains, set.targets(), 0),
            // The second block begins with the other destination.
            Destination::Waiting(set) => (Some(set), set.domains, set.targets(), 1),
            Destination::Apart(domains) => (None, domains, domains.map(apart), 0),
        };
        let split = Split { from: domain, into: domains, pages };
        self.balance.split(split);
        self.under_way.push(UnderWay { unit, split, set, kind });
        let sides = [0, 1].into_iter().cycle().skip(first);
        let planned = read.into_iter().chain(other).zip(sides);
        Request {
            order: Order::Listed(planned.map(|(page, target)| Planned { page, target }).collect()),
            targets,
            ..plain
        }
    }
}

/// Returns the open unit of a domain for blocks that are not split.
fn apart(domain: DomainId) -> Target {
    Target::Set { id: u32::MAX - domain.0, side: 0, domain, want: Want::MostWorn }
}

/// Yields the domains of a channel.
fn of_channel(layout: &Layout, channel: u32) -> impl Iterator<Item = DomainId> + '_ {
    DomainId::all(layout.domains()).filter(move |&domain| layout.place_of_plane(domain.0).0 == channel)
}

impl Leveler for State {
    fn erased(&mut self, domain: DomainId, unit: UnitId, _: u32) -> bool {
        self.forget_reads(unit);
        self.balance.erased();
        self.table.erased(domain, unit, self.params.threshold)
    }

    fn needs_reads(&self) -> bool {
        true
    }

    #[inline(always)]
    fn read(&mut self, _: DomainId, _: UnitId, page: Ppn) -> bool {
        self.read[(page.0 / 64) as usize] |= 1 << (page.0 % 64);
        false
    }

    fn next_request(
        &mut self,
        drive: &mut DriveView<'_>,
        _: DomainId,
        books: &mut Books<'_>,
    ) -> Option<Request> {
        match self.table.next(self.params.threshold, |unit| drive.is_closed(unit)) {
            Due::Nothing => None,
            Due::Round => {
                books.counters.rounds += 1;
                None
            }
            Due::Flag(flag) => {
                let (domain, mut units) = self.table.units_of(flag);
                let unit = units.next()?;
                Some(self.request(drive, books, domain, unit))
            }
        }
    }

    fn job_ended(&mut self, domain: DomainId, unit: UnitId, done: bool) {
        if let Some(at) = self.under_way.iter().position(|move_| move_.unit == unit) {
            let UnderWay { split, set, kind, .. } = self.under_way.remove(at);
            if !done {
                self.balance.undo(split);
            }
            // The set waits on while it has room; a new one whose block was lost holds nothing.
            if let Some(set) = set {
                self.waiting.insert(0, BlockSet { kind: if done { kind } else { set.kind }, ..set });
            }
        }
        if !done {
            self.table.dropped(domain, unit);
        }
    }

    fn restart(&mut self) {
        self.table.restart();
    }

    fn fits(&self, layout: &Layout) -> bool {
        let is_one = |domain: &DomainId| domain.0 < layout.domains();
        let sets =
            self.waiting.iter().chain(self.under_way.iter().filter_map(|under_way| under_way.set.as_ref()));
        self.table.fits(layout)
            && self.read.len() == layout.pages().div_ceil(64) as usize
            && self.pages_per_unit == layout.pages_per_unit()
            && self.balance.fits(layout)
            && self.next_chip.len() == layout.geometry().channels as usize
            && self.next_chip.iter().all(|&chip| chip < layout.geometry().chips_per_channel)
            && sets.flat_map(|set| &set.domains).all(is_one)
            && self.under_way.iter().all(|UnderWay { unit, split, .. }| {
                unit.0 < layout.units() && is_one(&split.from) && split.into.iter().all(is_one)
            })
    }

    fn audit(&self, _: &Layout, _: &IdSlice<UnitId, bool>) -> Result<(), String> {
        self.table.audit()
    }
}
