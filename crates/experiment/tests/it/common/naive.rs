//! A page-mapped drive of one plane, written as plainly as the rules read, without a line shared with the engine:
//! lists of pages, scans over all blocks, no index, no bit map, no reverse map.
//!
//! The rules. Host pages go to the open block of stream 0, moved pages to that of the last stream. When the block of a
//! host page is full, it is closed and a free one is opened. If fewer than `trigger` are free then, blocks are
//! collected until `stop` are free: a victim's live pages move in ascending order, then it is erased. If nothing was
//! gained and fewer than one block per stream is free, the opened block is returned. Age counts host pages.
//!
//! If the host names streams ([`NamedStreams`]), its pages go to the open block of their stream. Moved pages go to the
//! stream of the block that they leave, to one more stream per stream for moved pages, or to one for all, as [`Moved`]
//! determines. With no block free they go to the first open block with room. Blocks of streams that are last are chosen
//! only when no other closed block has a dead page. Unless they wait even so, they come before all others once they
//! hold no live page.
//!
//! At a pace ([`Naive::pace`]) one more block is collected after every so many host pages, if one per stream, but at
//! most two, are free. By garbage ([`Naive::garbage_share`]) one more block is collected, if as many are free, after a
//! host page whenever the dead pages of closed blocks exceed this share of all written pages.
//!
//! With hot-cold swap ([`Swaps`]), a queue holds the closed blocks, the one closed first in front. A victim retires if
//! its remaining life is below this part of the average. At most 8 blocks in front are checked for one that is
//! worn no more than the average and holds enough live pages; the blocks before it go to the back. The victim is
//! emptied and erased, takes in the live pages of that block and is closed as a block of their stream. The other block
//! is erased and free.
//!
//! The victims that a policy may choose are a set: if the policy leaves a tie open, the engine's choice is used if it
//! is in the set. For FIFO and cost-benefit (ties: fewest valid pages, then oldest, then lowest number) the set has one
//! member; these follow the engine without help.

use floatgate_base::testing::Bound;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    Greedy,
    Fifo,
    Any,
    Window(usize),
    CostBenefit,
    CostBenefitSqrt,
    /// Cost-benefit with age since the last page was lost.
    CostBenefitChanged,
    /// Cost-age-time; the engine may miss the best score by the ratio of extreme erase counts.
    CostAgeTime,
}

/// Target of pages that leave a block of a stream named by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// Among the host's of their stream.
    Home,
    /// To a stream of moved pages for each of the host's.
    Apart,
    /// To one stream of moved pages for all.
    Together,
}

/// The host names streams.
#[derive(Clone, Debug)]
pub struct NamedStreams {
    /// How many it names.
    pub streams: usize,
    /// Target of their pages when they move.
    pub moved: Moved,
    /// The first stream whose blocks are last.
    pub last_from: usize,
    /// Whether they are even when they hold no live page.
    pub even_dead: bool,
}

impl NamedStreams {
    /// The stream of pages that leave a block of this one.
    fn target(&self, stream: usize) -> usize {
        match self.moved {
            Moved::Home => stream,
            Moved::Apart if stream < self.streams => self.streams + stream,
            Moved::Apart => stream,
            Moved::Together => self.streams,
        }
    }

    /// Whether blocks of a stream are last: those of the host's, and those of pages moved from them alone.
    fn is_last(&self, stream: usize) -> bool {
        match self.moved {
            Moved::Apart if stream >= self.streams => stream - self.streams >= self.last_from,
            Moved::Together if stream == self.streams => false,
            _ => stream >= self.last_from,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Block {
    /// For which it was opened last.
    stream: usize,
    /// Logical page of each programmed page; none once it is dead.
    pages: Vec<Option<u32>>,
    /// When it was closed: (order of closing, host pages written so far).
    closed: Option<(u64, u64)>,
    /// Host pages written when it was closed or, where the rule says so, when it last lost a page since.
    aged_from: u64,
    free: bool,
    /// When it became free.
    freed: u64,
    erases: u32,
}

impl Block {
    fn valid(&self) -> usize {
        self.pages.iter().flatten().count()
    }
}

/// Hot-cold swap.
#[derive(Clone, Debug, Default)]
pub struct Swaps {
    /// Erases in a block's life.
    pub life: u64,
    /// The part of the average remaining life, as a fraction.
    pub retirement: (u64, u64),
    /// Live pages that a block must hold to give them.
    pub valid_min: usize,
    /// Swapped blocks and their moved pages.
    pub count: (u64, u64),
    /// Closed blocks.
    pub queue: VecDeque<usize>,
}

pub struct Naive {
    pub swaps: Option<Swaps>,
    pub streams_named: Option<NamedStreams>,
    /// Host pages before the next block at a pace, and between two.
    pub pace: Option<(u64, u64)>,
    /// Share of dead pages in closed blocks beyond which a block is collected.
    pub garbage_share: Option<f64>,
    rule: Rule,
    pages_per_block: usize,
    trigger: usize,
    stop: usize,
    oldest_free_first: bool,
    blocks: Vec<Block>,
    /// Block that takes each stream's pages.
    open: Vec<Option<usize>>,
    /// The engine's victims to come.
    pub victims: VecDeque<u32>,
    now: u64,
    closings: u64,
    freeings: u64,
    pub host_programs: u64,
    pub copies: u64,
    pub collected: u64,
    pub dead: u64,
}

impl Naive {
    pub fn new(
        rule: Rule,
        blocks: usize,
        pages_per_block: usize,
        streams: usize,
        levels: (u32, u32),
        oldest_free_first: bool,
    ) -> Self {
        let block = |i| Block { free: true, freed: i as u64, ..Block::default() };
        Self {
            swaps: None,
            streams_named: None,
            pace: None,
            garbage_share: None,
            rule,
            pages_per_block,
            trigger: levels.0 as usize,
            stop: levels.1 as usize,
            oldest_free_first,
            blocks: (0..blocks).map(block).collect(),
            open: vec![None; streams],
            victims: VecDeque::new(),
            now: 0,
            closings: 0,
            freeings: blocks as u64,
            host_programs: 0,
            copies: 0,
            collected: 0,
            dead: 0,
        }
    }

    pub fn erases(&self) -> Vec<u32> {
        self.blocks.iter().map(|b| b.erases).collect()
    }

    pub fn free_blocks(&self) -> usize {
        self.blocks.iter().filter(|b| b.free).count()
    }

    /// Physical page of a logical one.
    pub fn find(&self, lpn: u32) -> Option<u32> {
        self.blocks.iter().enumerate().find_map(|(b, block)| {
            let page = block.pages.iter().position(|&p| p == Some(lpn))?;
            Some((b * self.pages_per_block + page) as u32)
        })
    }

    pub fn trim(&mut self, lpn: u32) {
        for block in &mut self.blocks {
            for page in block.pages.iter_mut().filter(|page| **page == Some(lpn)) {
                *page = None;
                if self.rule == Rule::CostBenefitChanged {
                    block.aged_from = self.now;
                }
            }
        }
    }

    pub fn write(&mut self, lpn: u32, stream: usize) -> Result<(), String> {
        let mut bound = Bound::new(100_000_000);
        while self.full(stream) {
            bound.step();
            self.open_block(stream)?;
            if self.free_blocks() < self.trigger {
                self.collect()?;
            }
            let opened = self.open[stream].unwrap();
            if self.blocks[opened].pages.is_empty() && self.free_blocks() < self.open.len().min(2) {
                return Err("nothing to gain".into());
            }
        }
        // A block that loses a page to this write has changed with it.
        self.now += 1;
        self.trim(lpn);
        self.append(stream, lpn);
        self.host_programs += 1;
        if let Some((next, every)) = self.pace
            && self.now >= next
        {
            self.pace = Some((next + every, every));
            if self.free_blocks() >= self.open.len().min(2) {
                self.collect_one()?;
            }
        }
        if self.garbage_share.is_some_and(|share| self.garbage() > share)
            && self.free_blocks() >= self.open.len().min(2)
        {
            self.collect_one()?;
        }
        Ok(())
    }

    /// Dead pages of closed blocks as a share of all written pages.
    fn garbage(&self) -> f64 {
        let closed = |i: &usize| !self.blocks[*i].free && !self.open.contains(&Some(*i));
        let closed: Vec<usize> = (0..self.blocks.len()).filter(closed).collect();
        // Pages that were left out when a block was closed are as good as dead.
        let live = |i: &usize| self.blocks[*i].pages.iter().flatten().count();
        let dead = |i: &usize| self.pages_per_block - live(i);
        let open: usize = self.open.iter().flatten().map(|&i| self.blocks[i].pages.len()).sum();
        let pages = closed.len() * self.pages_per_block + open;
        if pages == 0 { 0.0 } else { closed.iter().map(dead).sum::<usize>() as f64 / pages as f64 }
    }

    fn full(&self, stream: usize) -> bool {
        self.open[stream].is_none_or(|b| self.blocks[b].pages.len() == self.pages_per_block)
    }

    fn append(&mut self, stream: usize, lpn: u32) {
        self.blocks[self.open[stream].unwrap()].pages.push(Some(lpn));
    }

    fn open_block(&mut self, stream: usize) -> Result<(), String> {
        self.shut(stream);
        let key = |i: usize| {
            if self.oldest_free_first { self.blocks[i].freed } else { u64::from(self.blocks[i].erases) }
        };
        let next = (0..self.blocks.len()).filter(|&i| self.blocks[i].free).min_by_key(|&i| (key(i), i));
        let next = next.ok_or("no free block")?;
        self.blocks[next].free = false;
        self.blocks[next].stream = stream;
        self.open[stream] = Some(next);
        Ok(())
    }

    /// Closes the full block of a stream, if it has one.
    fn shut(&mut self, stream: usize) {
        if let Some(full) = self.open[stream].take() {
            self.close(full);
        }
    }

    fn close(&mut self, block: usize) {
        self.blocks[block].closed = Some((self.closings, self.now));
        self.blocks[block].aged_from = self.now;
        self.closings += 1;
        if let Some(swaps) = &mut self.swaps {
            swaps.queue.push_back(block);
        }
    }

    fn erase(&mut self, block: usize) {
        self.blocks[block].pages.clear();
        self.blocks[block].erases += 1;
    }

    fn set_free(&mut self, block: usize) {
        self.blocks[block].free = true;
        self.blocks[block].freed = self.freeings;
        self.freeings += 1;
    }

    /// The block whose pages go into a victim.
    fn partner(&mut self, victim: usize) -> Option<usize> {
        let n = self.blocks.len() as u64;
        let worn: u64 = self.blocks.iter().map(|b| u64::from(b.erases)).sum();
        let swaps = self.swaps.as_mut()?;
        // n x (life - own) / (n x life - worn) < part
        let own = u64::from(self.blocks[victim].erases);
        let (part, whole) = swaps.retirement;
        let left = n * swaps.life.saturating_sub(own);
        if own * n <= worn || worn >= n * swaps.life || left * whole >= part * (n * swaps.life - worn) {
            return None;
        }
        for _ in 0..8 {
            let &block = swaps.queue.front()?;
            let b = &self.blocks[block];
            if block != victim && u64::from(b.erases) * n <= worn && b.valid() >= swaps.valid_min {
                return Some(block);
            }
            swaps.queue.rotate_left(1);
        }
        None
    }

    /// Takes blocks out of the candidates.
    fn forget(&mut self, block: usize) {
        self.blocks[block].closed = None;
        if let Some(swaps) = &mut self.swaps {
            swaps.queue.retain(|&b| b != block);
        }
    }

    fn move_in(&mut self, victim: usize, partner: usize) -> Result<(), String> {
        let erased = self.victims.pop_front().ok_or("the engine did not swap")? as usize;
        if erased != partner {
            return Err(format!("the engine erased block {erased}, {partner} was to be swapped"));
        }
        let moving: Vec<Option<u32>> =
            self.blocks[partner].pages.iter().copied().filter(Option::is_some).collect();
        let swaps = self.swaps.as_mut().ok_or("no swaps")?;
        swaps.count = (swaps.count.0 + 1, swaps.count.1 + moving.len() as u64);
        self.blocks[victim].pages = moving;
        self.blocks[victim].stream = self.blocks[partner].stream;
        self.close(victim);
        self.erase(partner);
        self.set_free(partner);
        Ok(())
    }

    fn collect(&mut self) -> Result<(), String> {
        let mut bound = Bound::new(100_000_000);
        while self.free_blocks() < self.stop && self.collect_one()? {
            bound.step();
        }
        Ok(())
    }

    /// False if nothing is to be gained.
    fn collect_one(&mut self) -> Result<bool, String> {
        let allowed = self.allowed();
        if allowed.is_empty() {
            return Ok(false);
        }
        let victim = self.victims.pop_front().ok_or("the engine collected no further block")? as usize;
        if !allowed.contains(&victim) {
            return Err(format!("the engine collected block {victim}, allowed are {allowed:?}"));
        }
        let to = match &self.streams_named {
            Some(streams_named) => streams_named.target(self.blocks[victim].stream),
            None => self.open.len() - 1,
        };
        let moving: Vec<u32> = self.blocks[victim].pages.iter().copied().flatten().collect();
        self.collected += 1;
        self.dead += u64::from(moving.is_empty());
        let partner = self.partner(victim);
        // The victim is no candidate any more, and its pages are dead once their copies exist.
        self.forget(victim);
        if let Some(partner) = partner {
            self.forget(partner);
        }
        for lpn in moving {
            let mut stream = to;
            if self.full(to) && self.streams_named.is_some() && self.free_blocks() == 0 {
                self.shut(to);
                let room = (0..self.open.len()).find(|&other| !self.full(other));
                stream = room.ok_or("no block has room")?;
            } else if self.full(to) {
                self.open_block(to)?;
            }
            self.trim(lpn);
            self.append(stream, lpn);
            self.copies += 1;
        }
        self.erase(victim);
        match partner {
            Some(partner) => self.move_in(victim, partner)?,
            None => self.set_free(victim),
        }
        Ok(true)
    }

    /// Blocks that the policy may choose now; none if every closed block is full of live pages.
    fn allowed(&self) -> Vec<usize> {
        let mut closed: Vec<usize> =
            (0..self.blocks.len()).filter(|&i| self.blocks[i].closed.is_some()).collect();
        closed.sort_by_key(|&i| self.blocks[i].closed);
        let Some(streams_named) = &self.streams_named else { return self.by_rule(closed) };
        let (last, others): (Vec<usize>, Vec<usize>) =
            closed.into_iter().partition(|&i| streams_named.is_last(self.blocks[i].stream));
        let (dead, last): (Vec<usize>, Vec<usize>) =
            last.into_iter().partition(|&i| !streams_named.even_dead && self.blocks[i].valid() == 0);
        if !dead.is_empty() {
            return dead;
        }
        let others = self.by_rule(others);
        if others.is_empty() { self.by_rule(last) } else { others }
    }

    /// Those of some closed blocks, the one closed first in front.
    fn by_rule(&self, closed: Vec<usize>) -> Vec<usize> {
        let valid = |i: usize| self.blocks[i].valid();
        if closed.iter().all(|&i| valid(i) == self.pages_per_block) {
            return Vec::new();
        }
        let fewest = |of: &[usize]| {
            let least = of.iter().map(|&i| valid(i)).min();
            of.iter().copied().filter(|&i| Some(valid(i)) == least).collect()
        };
        match self.rule {
            Rule::Any => closed,
            Rule::Greedy => fewest(&closed),
            Rule::Fifo => vec![closed[0]],
            Rule::Window(n) => fewest(&closed[..n.min(closed.len())]),
            Rule::CostBenefit | Rule::CostBenefitChanged => self.most_beneficial(&closed),
            Rule::CostBenefitSqrt => self.most_beneficial_by_root(&closed),
            Rule::CostAgeTime => self.nearly_most_beneficial(&closed),
        }
    }

    /// (dead pages x age, valid pages): the score is their ratio, up to a constant.
    fn benefit(&self, i: usize) -> (u64, u64) {
        let age = self.now - self.blocks[i].aged_from + 1;
        let valid = self.blocks[i].valid();
        ((self.pages_per_block - valid) as u64 * age, valid as u64)
    }

    /// The one block with the greatest ratio, by exact comparison of fractions.
    fn most_beneficial(&self, closed: &[usize]) -> Vec<usize> {
        let tie = |i: usize| (self.blocks[i].valid(), self.blocks[i].aged_from, i);
        let mut best = closed[0];
        for &i in &closed[1..] {
            let ((gain, cost), (top_gain, top_cost)) = (self.benefit(i), self.benefit(best));
            let better = match (cost, top_cost) {
                (0, 0) => false,
                (0, _) => true,
                (_, 0) => false,
                _ => gain * top_cost > top_gain * cost,
            };
            let equal = match (cost, top_cost) {
                (0, 0) => true,
                (0, _) | (_, 0) => false,
                _ => gain * top_cost == top_gain * cost,
            };
            if better || equal && tie(i) < tie(best) {
                best = i;
            }
        }
        vec![best]
    }

    /// Blocks with the greatest dead / valid x sqrt(age), compared by its square, in whole numbers.
    fn most_beneficial_by_root(&self, closed: &[usize]) -> Vec<usize> {
        let square = |i: usize| {
            let age = u128::from(self.now - self.blocks[i].aged_from + 1);
            let valid = self.blocks[i].valid() as u128;
            let dead = self.pages_per_block as u128 - valid;
            (dead * dead * age, valid * valid)
        };
        let dead: Vec<usize> = closed.iter().copied().filter(|&i| self.blocks[i].valid() == 0).collect();
        if !dead.is_empty() {
            let aged_from = |i: &usize| self.blocks[*i].aged_from;
            let oldest = dead.iter().map(aged_from).min();
            return dead.iter().copied().filter(|i| Some(aged_from(i)) == oldest).collect();
        }
        let beaten = |i: usize| {
            let (gain, cost) = square(i);
            closed.iter().any(|&j| square(j).0 * cost > gain * square(j).1)
        };
        closed.iter().copied().filter(|&i| !beaten(i)).collect()
    }

    fn nearly_most_beneficial(&self, closed: &[usize]) -> Vec<usize> {
        let score = |i: usize| {
            let (gain, cost) = self.benefit(i);
            gain as f64 / cost as f64 / (1.0 + f64::from(self.blocks[i].erases))
        };
        let erases = || closed.iter().map(|&i| 1.0 + f64::from(self.blocks[i].erases));
        let slack = erases().fold(0.0, f64::max) / erases().fold(f64::INFINITY, f64::min) * (1.0 + 1e-9);
        let best = closed.iter().map(|&i| score(i)).fold(0.0, f64::max);
        closed.iter().copied().filter(|&i| score(i) * slack >= best).collect()
    }
}
