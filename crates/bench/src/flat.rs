//! The yardstick: the same FTL (page map, greedy, one plane, one open block) in flat code for a single purpose.
//!
//! No policies, no counters by cause, no configuration: a careful programmer would write this by hand for this one
//! case, with prefetching. The engine is measured against it in the same process.

use floatgate_base::{Rng, memory::table, prefetch::prefetch};

const AHEAD: usize = 16;

/// A drive for uniform random writes.
pub struct Flat {
    pages_per_block: u32,
    shift: u32,
    map: Vec<u32>,
    reverse: Vec<u32>,
    live: Vec<u64>,
    /// Valid pages and index in `order`, or `u32::MAX` while open.
    blocks: Vec<(u32, u32)>,
    order: Vec<u32>,
    mask: u64,
    front: u64,
    end: u64,
    start: Vec<u64>,
    free: Vec<u32>,
    next: u32,
    stop: u32,
    /// Pages programmed.
    pub programs: u64,
}

impl Flat {
    /// Fills a drive in random order; each page is live once.
    pub fn new(blocks: u32, pages_per_block: u32, logical: u32, rng: &mut Rng) -> Self {
        assert!(pages_per_block.is_power_of_two() && pages_per_block >= 64);
        let pages = blocks as usize * pages_per_block as usize;
        let capacity = u64::from(blocks.next_power_of_two());
        let mut flat = Self {
            pages_per_block,
            shift: pages_per_block.trailing_zeros(),
            map: table(logical as usize, u32::MAX),
            reverse: table(pages, 0),
            live: table(pages / 64, 0),
            blocks: vec![(0, u32::MAX); blocks as usize],
            order: vec![0; capacity as usize],
            mask: capacity - 1,
            front: 0,
            end: 0,
            start: vec![0; pages_per_block as usize + 1],
            free: (0..blocks).rev().collect(),
            next: 0,
            stop: 0,
            programs: 0,
        };
        let order = floatgate_base::permute::Permutation::new(u64::from(logical), rng);
        let lpns: Vec<u32> = (0..u64::from(logical)).map(|i| order.apply(i) as u32).collect();
        flat.write(&lpns);
        flat
    }

    /// Writes pages in order.
    pub fn write(&mut self, lpns: &[u32]) {
        for i in 0..lpns.len() {
            if let Some(&lpn) = lpns.get(i + AHEAD) {
                prefetch(&self.map, lpn as usize);
            }
            if let Some(&lpn) = lpns.get(i + AHEAD / 2) {
                let old = self.map[lpn as usize];
                if old != u32::MAX {
                    prefetch(&self.live, (old >> 6) as usize);
                    prefetch(&self.blocks, (old >> self.shift) as usize);
                }
            }
            while self.next == self.stop {
                self.open();
                if self.free.is_empty() {
                    self.collect();
                }
            }
            let lpn = lpns[i];
            let ppn = self.append(lpn);
            let old = std::mem::replace(&mut self.map[lpn as usize], ppn);
            if old != u32::MAX {
                self.invalidate(old);
            }
        }
    }

    #[inline(always)]
    fn append(&mut self, lpn: u32) -> u32 {
        let ppn = self.next;
        self.next += 1;
        self.reverse[ppn as usize] = lpn;
        self.live[(ppn >> 6) as usize] |= 1 << (ppn & 63);
        self.programs += 1;
        ppn
    }

    #[inline(always)]
    fn invalidate(&mut self, old: u32) {
        self.live[(old >> 6) as usize] &= !(1 << (old & 63));
        let block = (old >> self.shift) as usize;
        let (valid, at) = self.blocks[block];
        self.blocks[block].0 = valid - 1;
        if at != u32::MAX {
            self.demote(block as u32, valid, at);
        }
    }

    #[inline(always)]
    fn demote(&mut self, block: u32, from: u32, at: u32) {
        let first = self.start[from as usize].max(self.front);
        self.start[from as usize] = first + 1;
        let to = (first & self.mask) as u32;
        let other = self.order[to as usize];
        self.order[at as usize] = other;
        self.blocks[other as usize].1 = at;
        self.order[to as usize] = block;
        self.blocks[block as usize].1 = to;
    }

    fn open(&mut self) {
        if self.stop != 0 {
            let block = (self.stop - 1) >> self.shift;
            let at = (self.end & self.mask) as u32;
            self.end += 1;
            self.order[at as usize] = block;
            self.blocks[block as usize].1 = at;
            for from in (self.blocks[block as usize].0 + 1..=self.pages_per_block).rev() {
                self.demote(block, from, self.blocks[block as usize].1);
            }
        }
        let block = self.free.pop().expect("a free block");
        self.blocks[block as usize] = (self.pages_per_block, u32::MAX);
        self.next = block << self.shift;
        self.stop = self.next + self.pages_per_block;
    }

    fn collect(&mut self) {
        let victim = self.order[(self.front & self.mask) as usize];
        self.front += 1;
        let first = victim << self.shift;
        let mut moving = [0u32; 4096];
        let mut n = 0;
        for word_at in first >> 6..(first + self.pages_per_block) >> 6 {
            let mut word = std::mem::take(&mut self.live[word_at as usize]);
            while word != 0 {
                moving[n] = self.reverse[((word_at << 6) + word.trailing_zeros()) as usize];
                n += 1;
                word &= word - 1;
            }
        }
        for i in 0..n {
            if i + AHEAD < n {
                prefetch(&self.map, moving[i + AHEAD] as usize);
            }
            let ppn = self.append(moving[i]);
            self.map[moving[i] as usize] = ppn;
        }
        self.free.push(victim);
    }
}
