//! An independent simulation: a flat drive of 2000 blocks of 32 pages, written here and nowhere else.

use floatgate_base::testing::Bound;
use floatgate_theory::{Policy, ValidityLaw, spare_of_alpha, wa, wa_fifo_skewed};

const BLOCKS: usize = 2000;
const PAGES: usize = 32;
const NONE: u32 = u32::MAX;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * bound as u128) >> 64) as usize
    }
}

/// One open block for host and copies, one free block; the rest is closed once the drive has been filled.
struct Drive {
    policy: Policy,
    random: Random,
    place: Vec<u32>,
    owner: Vec<u32>,
    valid: Vec<u32>,
    /// Closed blocks by age, oldest first, from `head` on.
    closed: std::collections::VecDeque<u32>,
    free: Vec<u32>,
    open: u32,
    fill: usize,
    programs: u64,
}

impl Drive {
    fn new(policy: Policy, logical: usize) -> Self {
        Self {
            policy,
            random: Random(42),
            place: vec![NONE; logical],
            owner: vec![NONE; BLOCKS * PAGES],
            valid: vec![0; BLOCKS],
            closed: std::collections::VecDeque::new(),
            free: (1..BLOCKS as u32).collect(),
            open: 0,
            fill: 0,
            programs: 0,
        }
    }

    fn program(&mut self, page: usize) {
        let at = self.place[page];
        if at != NONE {
            self.valid[at as usize / PAGES] -= 1;
            self.owner[at as usize] = NONE;
        }
        let at = self.open as usize * PAGES + self.fill;
        self.place[page] = at as u32;
        self.owner[at] = page as u32;
        self.valid[self.open as usize] += 1;
        self.fill += 1;
        self.programs += 1;
    }

    fn write(&mut self, page: usize) {
        let mut bound = Bound::new(100_000_000);
        while self.fill == PAGES {
            bound.step();
            self.closed.push_back(self.open);
            self.open = self.free.pop().unwrap();
            self.fill = 0;
            if self.free.is_empty() {
                self.collect();
            }
        }
        self.program(page);
    }

    /// Copies a victim's live pages to the open block, which is empty, and erases the victim.
    fn collect(&mut self) {
        let count = self.closed.len();
        let index = match self.policy {
            Policy::Fifo => 0,
            Policy::Random => self.random.below(count),
            Policy::Greedy => (0..count).min_by_key(|&i| self.valid[self.closed[i] as usize]).unwrap(),
            Policy::DChoices(d) => {
                let drawn: Vec<_> = (0..d).map(|_| self.random.below(count)).collect();
                drawn.into_iter().min_by_key(|&i| self.valid[self.closed[i] as usize]).unwrap()
            }
        };
        let victim = match self.policy {
            Policy::Fifo | Policy::Greedy => self.closed.remove(index),
            _ => self.closed.swap_remove_back(index),
        }
        .unwrap();
        for at in victim as usize * PAGES..(victim as usize + 1) * PAGES {
            if self.owner[at] != NONE {
                self.program(self.owner[at] as usize);
            }
        }
        self.free.push(victim);
    }

    /// Closed pages per live page in them.
    fn alpha(&self) -> f64 {
        let live: u32 = self.closed.iter().map(|&block| self.valid[block as usize]).sum();
        (self.closed.len() * PAGES) as f64 / f64::from(live)
    }
}

/// Outcome of a run: amplification, mean of alpha, mean shares of blocks by valid pages.
fn run(
    policy: Policy,
    spare: f64,
    mut draw: impl FnMut(&mut Random, usize) -> usize,
) -> (f64, f64, Vec<f64>) {
    let logical = ((BLOCKS * PAGES) as f64 * (1.0 - spare)) as usize;
    let mut drive = Drive::new(policy, logical);
    (0..logical).for_each(|page| drive.write(page));
    let mut overwrite = |drive: &mut Drive, writes: usize| {
        for _ in 0..writes {
            let page = draw(&mut drive.random, logical);
            drive.write(page);
        }
    };
    overwrite(&mut drive, 15 * logical);
    let (mut alpha, mut shares, mut rounds) = (0.0, vec![0.0; PAGES + 1], 0.0);
    let (programs, writes) = (drive.programs, logical / 20);
    for _ in 0..600 {
        overwrite(&mut drive, writes);
        alpha += drive.alpha();
        rounds += 1.0;
        for &block in &drive.closed {
            shares[drive.valid[block as usize] as usize] += 1.0 / drive.closed.len() as f64;
        }
    }
    let amplification = (drive.programs - programs) as f64 / (rounds * writes as f64);
    shares.iter_mut().for_each(|share| *share /= rounds);
    (amplification, alpha / rounds, shares)
}

#[test]
fn uniform_writes_meet_the_forms_and_laws() {
    for policy in [Policy::Fifo, Policy::Random, Policy::Greedy, Policy::DChoices(2), Policy::DChoices(10)] {
        for spare in [0.1, 0.28] {
            let (got, alpha, shares) = run(policy, spare, |random, logical| random.below(logical));
            let expected = wa(policy, spare_of_alpha(alpha).unwrap(), PAGES as u32).unwrap();
            println!(
                "{policy:?} {spare}: simulated {got:.4}, theory {expected:.4}, {:+.3} %",
                (got / expected - 1.0) * 100.0
            );
            assert!((got / expected - 1.0).abs() < 0.01, "{policy:?} {spare}: {got} {expected}");
            let law = ValidityLaw::new(policy, alpha, PAGES as u32).unwrap();
            // Total variation distance of the two laws.
            let apart = shares.iter().zip(law.probabilities()).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0;
            println!("  laws {apart:.4} apart");
            assert!(apart < 0.01, "{policy:?} {spare}: {apart}");
        }
    }
}

#[test]
fn skewed_writes_meet_the_log() {
    let (got, alpha, _) = run(Policy::Fifo, 0.15, |random, logical| {
        let hot = logical / 5;
        if random.below(10) < 8 { random.below(hot) } else { hot + random.below(logical - hot) }
    });
    let expected = wa_fifo_skewed(&[(0.2, 0.8), (0.8, 0.2)], spare_of_alpha(alpha).unwrap()).unwrap();
    println!("80/20: simulated {got:.4}, theory {expected:.4}");
    assert!((got / expected - 1.0).abs() < 0.01, "{got} {expected}");
}
