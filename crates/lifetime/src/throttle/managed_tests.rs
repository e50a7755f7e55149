//! The gate under the integrated manager: its guarantee under any workload, and with wrong predictions.

use super::*;
use crate::SECOND_NS;
use crate::reduce::{Foreseen, ManagerSetup};
use floatgate_base::Rng;
use floatgate_base::testing::Bound;
use floatgate_nand::Endurance;

const PAGE: u32 = 4096;
const EPOCH_NS: u64 = 300 * SECOND_NS;
const EPOCHS: u64 = 576;

fn manager(sample_share: f64) -> ManagerSetup {
    ManagerSetup {
        epoch_ns: EPOCH_NS,
        epochs: 10,
        sample_share,
        hash_cost: 0.4214 / 29.1,
        compress_cost: 3.84 / 29.1,
        page_bytes: PAGE,
    }
}

/// Two days of a drive that endures one cycle, with so many pages per epoch.
fn setup(pages_per_epoch: u64, follow: bool) -> Setup {
    Setup {
        policy: Throttle::None,
        target_ns: EPOCHS * EPOCH_NS,
        physical_bytes: EPOCHS * pages_per_epoch * u64::from(PAGE),
        page_bytes: PAGE,
        endurance: Endurance::Fixed { pe_cycles: 1 },
        cycles_used: 0.0,
        age_s: 0.0,
        arrivals_follow: follow,
        params: Params { fixed_epoch_ns: Some(EPOCH_NS), ..Params::default() },
        manager: Some(manager(0.05)),
    }
}

/// Epochs, recorded as they begin.
#[derive(Default)]
struct Log(Vec<Epoch>);

impl Record for Log {
    fn passed(&mut self, _: u64, _: u64, _: u64, _: u64) {}
    fn waited_alike(&mut self, _: u64, _: u64, _: u64, _: (u64, u64)) {}
    fn is_close(&self, _: u64, _: u64) -> bool {
        true
    }
    fn waited(&mut self, _: u64, _: u64, _: u64) {}
    fn epoch(&mut self, epoch: &Epoch) {
        self.0.push(*epoch);
    }
}

/// Draws the shares left of page writes by choice of schemes: both schemes leave no more than either.
fn left(rng: &mut Rng) -> [f64; 4] {
    let (dedup, compress) = (1.0 - 0.9 * rng.unit(), 1.0 - 0.9 * rng.unit());
    [1.0, dedup, compress, dedup * compress]
}

/// Simulates a life with bursts, quiet hours and changing content; returns the gate and its epochs.
fn life(setup: &Setup, rng: &mut Rng, mean_pages: u64) -> (Gate, Vec<Epoch>) {
    let mut gate = Gate::new(*setup, 1.0);
    gate.foresee(Foreseen::new(setup.manager.unwrap(), 1.0, [1.5, 1.3, 1.2, 1.1]));
    let mut log = Log::default();
    let (mut at_ns, mut ratios) = (0, left(rng));
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        if rng.below(200) == 0 {
            ratios = left(rng);
        }
        // Occasionally a burst of many epochs' worth.
        let pages = if rng.below(100) == 0 { mean_pages * 20 } else { 1 + rng.below(mean_pages) };
        at_ns += rng.below(EPOCH_NS) * if rng.below(50) == 0 { 40 } else { 1 };
        let arrival_ns = at_ns + if setup.arrivals_follow { gate.held_back_ns() } else { 0 };
        if arrival_ns >= setup.target_ns {
            return (gate, log.0);
        }
        gate.expect(ratios);
        gate.admit(arrival_ns, rng.below(2_000_000), pages, &mut log);
    }
}

/// No throttled epoch writes more than its capacity, and no life more than the drive endures, for hosts that write a
/// tenth to ten times the capacity of the epochs.
#[test]
fn throttled_epochs_keep_their_capacity_and_lives_their_budget() {
    let (mut throttled, mut free) = (0, 0);
    for seed in 0..40 {
        let mut rng = Rng::new(seed, "managed lives");
        let capacity = 200 + rng.below(2000);
        let setup = setup(capacity, seed % 2 == 0);
        let mean_pages = (capacity / 5 * 3u64.pow(rng.below(4) as u32)).max(2) / 3;
        let (gate, epochs) = life(&setup, &mut rng, mean_pages.max(2));
        let page = 1.5 * f64::from(PAGE);
        for pair in epochs.windows(2).filter(|pair| pair[0].start_ns < setup.target_ns) {
            let (epoch, used) = (&pair[0], pair[1].used_bytes - pair[0].used_bytes);
            if epoch.delay_s > 0.0 {
                throttled += 1;
                let room = epoch.capacity_bytes + epoch.carried_bytes + page;
                assert!(
                    used <= room,
                    "seed {seed}: {used} of {room} bytes in the epoch at {}",
                    epoch.start_ns
                );
            } else {
                free += 1;
            }
        }
        let end = epochs.iter().find(|epoch| epoch.start_ns >= setup.target_ns);
        let used = end.map_or(gate.used_bytes(), |epoch| epoch.used_bytes);
        assert!(
            used <= setup.physical_bytes as f64 + page,
            "seed {seed}: {used} of {} bytes",
            setup.physical_bytes
        );
    }
    assert!(throttled > 1000 && free > 1000, "{throttled} epochs throttled and {free} not");
}

/// A host that steadily requests more than the capacity of its epochs: W is its demand without throttling, and the
/// capacity is used up evenly.
#[test]
fn demand_is_that_of_a_host_that_is_not_held_back() {
    for (follow, pressure) in [(true, 1.5), (false, 1.5), (true, 4.0), (true, 15.0)] {
        let setup = setup(3000, follow);
        let mut gate = Gate::new(setup, 1.0);
        let mut log = Log::default();
        gate.foresee(Foreseen::new(setup.manager.unwrap(), 1.0, [1.0; 4]));
        let gap_ns = (EPOCH_NS as f64 / (3000.0 * pressure)) as u64;
        let mut at_ns = 0;
        let mut bound = Bound::new(100_000_000);
        while gate.admitted_ns() + gap_ns < setup.target_ns {
            bound.step();
            let arrival_ns = at_ns + if follow { gate.held_back_ns() } else { 0 };
            gate.expect([1.0; 4]);
            gate.admit(arrival_ns, 0, 1, &mut log);
            at_ns += gap_ns;
        }
        // As much in the first half of the life as in the second.
        let half = log.0.iter().find(|epoch| epoch.start_ns >= setup.target_ns / 2).unwrap();
        let early = half.used_bytes / setup.physical_bytes as f64;
        assert!((0.47..=0.52).contains(&early), "{pressure}, arrivals follow: {follow}: {early} used early");
        let used = gate.used_bytes() / setup.physical_bytes as f64;
        assert!((0.97..=1.0 + 1e-5).contains(&used), "arrivals follow: {follow}: {used} used");
        let record = gate.manager().unwrap().record();
        let late = &record.rows[record.rows.len() / 2];
        let demand = late.demand_bytes / late.epochs as f64 / f64::from(PAGE);
        assert!(
            (demand / (3000.0 * pressure) - 1.0).abs() < 0.1,
            "arrivals follow: {follow}: demand of {demand} pages"
        );
    }
}

/// A host that hardly wrote anything suddenly requests three times what the drive endures. No prediction covers that,
/// and still no more is written until the target.
#[test]
fn a_surprise_wears_no_drive_out() {
    for follow in [true, false] {
        let setup = setup(1000, follow);
        let mut gate = Gate::new(setup, 1.0);
        gate.foresee(Foreseen::new(setup.manager.unwrap(), 1.0, [1.0; 4]));
        let mut log = Log::default();
        for epoch in 0..EPOCHS / 2 {
            gate.expect([1.0; 4]);
            gate.admit(epoch * EPOCH_NS + SECOND_NS, 0, 10, &mut log);
        }
        assert!(!gate.manager().unwrap().decision().throttle);
        gate.admit(EPOCHS / 2 * EPOCH_NS + SECOND_NS, 0, 3 * EPOCHS * 1000, &mut log);
        let end = log.0.iter().find(|epoch| epoch.start_ns >= setup.target_ns).unwrap();
        let used = end.used_bytes / setup.physical_bytes as f64;
        assert!((0.99..=1.0 + 1e-5).contains(&used), "arrivals follow: {follow}: {used} used");
    }
}
