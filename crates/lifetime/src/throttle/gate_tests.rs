//! The gate compared with worked examples and with a model that steps through every page and every period, and its
//! guarantee.

use super::*;
use crate::SECOND_NS;
use floatgate_base::policy::{Facts, Fallback, ParamKind};
use floatgate_base::testing::Bound;
use floatgate_base::{Rng, Setting};
use floatgate_nand::Endurance;
use floatgate_nand::endurance::READY_TABLE2;

const PAGE: u32 = 4096;
const YEAR_NS: u64 = 8760 * 3600 * SECOND_NS;

fn setup(policy: Throttle) -> Setup {
    Setup {
        policy,
        target_ns: 5 * YEAR_NS,
        physical_bytes: 128 << 30,
        page_bytes: PAGE,
        endurance: Endurance::Fixed { pe_cycles: 3000 },
        cycles_used: 0.0,
        age_s: 0.0,
        arrivals_follow: true,
        params: Params::default(),
        manager: None,
    }
}

/// Admissions one by one: time, and time held back.
#[derive(Default)]
struct Log {
    admitted: Vec<(u64, u64)>,
    epochs: Vec<Epoch>,
}

impl Record for Log {
    fn passed(&mut self, first_ns: u64, last_ns: u64, count: u64, delay_ns: u64) {
        for i in 0..count {
            let at = first_ns + (last_ns - first_ns) / (count - 1).max(1) * i;
            self.admitted.push((at, delay_ns));
        }
    }
    fn waited(&mut self, time_ns: u64, delay_ns: u64, wait_ns: u64) {
        self.admitted.push((time_ns, delay_ns + wait_ns));
    }
    fn waited_alike(&mut self, first_ns: u64, last_ns: u64, count: u64, held_ns: (u64, u64)) {
        self.passed(first_ns, last_ns, count, held_ns.0 + held_ns.1);
    }
    fn is_close(&self, _: u64, _: u64) -> bool {
        true
    }
    fn epoch(&mut self, epoch: &Epoch) {
        self.epochs.push(*epoch);
    }
}

/// A life that is one epoch of four periods of a second, with 4000 pages of capacity ("MB" of the figures are 1000
/// pages).
fn four_periods(policy: Throttle) -> Setup {
    let params = Params { unit_window_ns: 4 * SECOND_NS, ..Params::default() };
    Setup { target_ns: 4 * SECOND_NS, physical_bytes: 4000 * u64::from(PAGE), ..setup(policy) }
        .with(Endurance::Fixed { pe_cycles: 1 }, params)
}

impl Setup {
    fn with(self, endurance: Endurance, params: Params) -> Self {
        Self { endurance, params, ..self }
    }
}

/// Counts pages by the period (second) of their admission.
fn by_second(log: &Log) -> Vec<usize> {
    let mut seconds = vec![];
    for (at, _) in &log.admitted {
        let second = (at / SECOND_NS) as usize;
        seconds.resize(seconds.len().max(second + 1), 0);
        seconds[second] += 1;
    }
    seconds
}

/// Fig. 6: demands of 0.8, 1.2, 1.4 and 0.8 MB. The rest of the first period goes to the second. What does not fit into
/// the third goes to the fourth, and 0.2 MB of that to the next epoch: 4.0 of 4.2 MB are written.
#[test]
fn figure_6() {
    let mut gate = Gate::new(four_periods(Throttle::ReadyPessimistic), 1.0);
    let mut log = Log::default();
    for (second, pages) in [(0, 800), (1, 1200), (2, 1400), (3, 800)] {
        gate.admit(second * SECOND_NS, 0, pages, &mut log);
    }
    assert_eq!(by_second(&log), [800, 1200, 1000, 1000, 200]);
}

/// Fig. 7a: 4 MB requested in the first period are written at 1 MB per period, and the first three periods throttle.
/// Fig. 7b: with a spare of 4 MB they are written at once.
#[test]
fn figure_7() {
    let mut log = Log::default();
    Gate::new(four_periods(Throttle::ReadyPessimistic), 1.0).admit(0, 0, 4000, &mut log);
    assert_eq!(by_second(&log), [1000, 1000, 1000, 1000]);
    assert_eq!(log.admitted.iter().filter(|(_, held)| *held > 0).count(), 3);
    // The same epoch as the first of eleven: the others have 40 MB, of which a tenth is spare.
    let all =
        Setup { target_ns: 44 * SECOND_NS, physical_bytes: 44_000 * 4096, ..four_periods(Throttle::Dynamic) };
    let mut log = Log::default();
    let mut gate = Gate::new(all, 1.0);
    gate.admit(0, 0, 4000, &mut log);
    assert_eq!((gate.epoch().capacity_bytes / 4096.0, gate.epoch().spare_bytes / 4096.0), (4000.0, 4000.0));
    assert_eq!(by_second(&log), [4000]);
    // Paid back by the other periods: the next epoch starts with the whole spare.
    gate.admit(4 * SECOND_NS, 0, 1, &mut log);
    assert_eq!((gate.epoch().capacity_bytes / 4096.0, gate.epoch().spare_bytes / 4096.0), (4000.0, 3600.0));
}

/// 375 TB over five years are 2.49 MB/s (binary units), regardless of the past.
#[test]
fn the_static_cap_of_128_gb() {
    let mut gate = Gate::new(setup(Throttle::Static), 1.68);
    let mut log = Log::default();
    let mb = 1024.0 * 1024.0;
    let pages = (2.49 * mb * 1000.0 / (4096.0 * 1.68)) as u64;
    // A second without writes leaves nothing to later ones.
    gate.admit(10 * SECOND_NS, 0, pages, &mut log);
    let seconds = gate.admitted_ns() / SECOND_NS - 10;
    assert!((998..=1001).contains(&seconds), "{seconds}");
    let most = *by_second(&log).iter().max().unwrap();
    // While a page waits, the rest of its period is not lost: an extra page now and then.
    assert!(((most - 1) as f64 * 4096.0 * 1.68 / mb) <= 2.4938);
    assert!(((most + 1) as f64 * 4096.0 * 1.68 / mb) > 2.4935);
}

/// A page larger than a period's share waits until enough periods have paid for it.
#[test]
fn small_shares_add_up_while_a_write_waits() {
    for policy in [Throttle::Static, Throttle::ReadyPessimistic] {
        // 100 pages for 400 seconds: a page every four seconds.
        let small = Setup { target_ns: 400 * SECOND_NS, physical_bytes: 100 * 4096, ..four_periods(policy) };
        let small = small.with(
            small.endurance,
            Params {
                unit_window_ns: 40 * SECOND_NS,
                fixed_epoch_ns: Some(40 * SECOND_NS),
                // Waits only: estimates by demand would add delays.
                regains: false,
                ..small.params
            },
        );
        let mut log = Log::default();
        Gate::new(small, 1.0).admit(0, 0, 5, &mut log);
        let at: Vec<u64> = log.admitted.iter().map(|(at, _)| at / SECOND_NS).collect();
        assert_eq!(at, [3, 7, 11, 15, 19], "{policy:?}");
        // Each epoch of two seconds has half a page: the rest is kept for the waiting page.
        let short =
            small.with(small.endurance, Params { fixed_epoch_ns: Some(2 * SECOND_NS), ..small.params });
        let mut log = Log::default();
        Gate::new(short, 1.0).admit(0, 0, 5, &mut log);
        let last = log.admitted[4].0 / SECOND_NS;
        assert!((18..=20).contains(&last), "{policy:?}: {last}");
    }
}

#[test]
fn nothing_is_held_back_after_the_target_or_without_a_throttle() {
    for &policy in &Throttle::ALL[1..] {
        let mut log = Log::default();
        let mut gate = Gate::new(four_periods(policy), 1.0);
        gate.admit(0, 0, 100_000, &mut log);
        assert_eq!(log.admitted.len(), 100_000);
        assert_eq!(gate.admitted_ns(), 4 * SECOND_NS, "{policy:?}");
        gate.admit(5 * SECOND_NS, 7, 1000, &mut log);
        assert_eq!(gate.admitted_ns(), 5 * SECOND_NS + 999 * 7);
    }
    let mut gate = Gate::new(four_periods(Throttle::None), 1.0);
    assert_eq!(gate.admit(0, 3, 100_000, &mut ()), 3 * 99_999);
    assert_eq!(gate.held_back_ns(), 0);
}

/// The second epoch's delay by hand: 10 minutes, twice the capacity written in the first.
#[test]
fn the_first_delay_follows_equation_4() {
    let plan = Setup {
        target_ns: 100 * 600 * SECOND_NS,
        physical_bytes: 100_000 * 4096,
        ..setup(Throttle::Dynamic)
    };
    let plan = plan.with(Endurance::Fixed { pe_cycles: 1 }, Params::default());
    let mut log = Log::default();
    let mut gate = Gate::new(plan, 1.0);
    gate.admit(0, 0, 2000, &mut log);
    gate.admit(600 * SECOND_NS, 0, 1, &mut log);
    let [first, second] = log.epochs[..] else { panic!("{} epochs", log.epochs.len()) };
    assert_eq!((first.capacity_bytes, first.delay_s), (1000.0 * 4096.0, 0.0));
    // The spare was touched: 0.9 of the capacity, w / c = 2 / 0.9, n = 900.
    assert!((second.capacity_bytes - 900.0 * 4096.0).abs() < 1e-6);
    assert!((second.delay_s - 600.0 * (2.0 / 0.9 - 1.0) / 900.0).abs() < 1e-12);
    assert_eq!(log.admitted[2000].1, (second.delay_s * 1e9).round() as u64);
}

/// Generates a random workload: time stamps with the number of pages each.
fn workload(rng: &mut Rng, span_ns: u64, pages: u64) -> Vec<(u64, u64)> {
    let n = 1 + rng.below(400);
    let mean = (pages / n).max(1);
    let kind = rng.below(6);
    let mut stamps: Vec<(u64, u64)> = (0..n)
        .map(|i| {
            let u = rng.unit();
            let at = match kind {
                0 => u,
                // Growing, bursty, all within a few percent, all at the ends of epochs, a long idle time first.
                1 => u.sqrt(),
                2 => (i % 5) as f64 / 5.0 + u * 1e-4,
                3 => 0.5 + u * 0.02,
                4 => ((i % 50 + 1) as f64 * 600.0 - u) * 1e9 / span_ns as f64,
                _ => 0.7 + 0.3 * u,
            };
            ((at.clamp(0.0, 1.0) * span_ns as f64) as u64, 1 + rng.below(2 * mean))
        })
        .collect();
    stamps.sort_unstable();
    stamps
}

/// Draws the parameters of a throttle's row: small whole numbers, and numbers from a quarter to four times the default,
/// but no time longer than a twentieth of the life. Values that contradict each other are drawn again.
fn random_params(rng: &mut Rng, policy: Throttle, target_ns: u64) -> Params {
    let facts = Facts::default();
    let mut bound = Bound::new(100_000_000);
    loop {
        bound.step();
        let mut values =
            vec![("target_years", Setting::Number(target_ns as f64 / 1e9 / crate::SECONDS_PER_YEAR))];
        for param in policy.info().params {
            let value = match (param.kind, param.fallback(&facts)) {
                (ParamKind::Whole { least, .. }, _) => (least + rng.below(8)) as f64,
                (ParamKind::Name(names), _) => rng.below(names.len() as u64) as f64,
                (_, Some(Setting::Number(default))) if default <= 1.0 && param.name.ends_with("share") => {
                    0.05 + 0.9 * rng.unit()
                }
                (_, Some(Setting::Number(default))) => {
                    (default * (0.25 + 3.75 * rng.unit())).min(target_ns as f64 / 20e9)
                }
                _ => (1 + rng.below(20)) as f64 * 300.0,
            };
            // A parameter without a default is usually left to the throttle.
            let left = matches!(param.default, Fallback::Absent(_)) && rng.below(3) > 0;
            if !left && param.takes(&param.setting(value)) {
                values.push((param.name, param.setting(value)));
            }
        }
        let settings = SLOT.fill(policy.info(), &values, &facts).unwrap();
        if let Ok(params) = Params::of(&settings) {
            return params;
        }
    }
}

fn random_setup(rng: &mut Rng) -> Setup {
    let policy = Throttle::ALL[1 + rng.below(Throttle::ALL.len() as u64 - 1) as usize];
    let target_ns = (86_400 + rng.below(10 * 86_400)) * SECOND_NS + rng.below(2) * 123_456_789;
    let params = random_params(rng, policy, target_ns);
    let endurance = match rng.below(2) {
        0 => Endurance::Fixed { pe_cycles: 1 + rng.below(50) as u32 },
        _ => Endurance::Recovery { pe_cycles: 1 + rng.below(50) as u32, law: READY_TABLE2 },
    };
    Setup {
        target_ns,
        physical_bytes: (1 + rng.below(4000)) * 4096,
        arrivals_follow: rng.below(2) == 0,
        ..setup(policy)
    }
    .with(endurance, params)
}

/// By the end of the target time no throttle has written more than the blocks endure, under any workload. Every page is
/// admitted once, in order, and not before it arrived.
#[test]
fn no_throttle_wears_a_drive_out_before_its_target() {
    for seed in 0..600 {
        let mut rng = Rng::new(seed, "guarantee");
        let setup = random_setup(&mut rng);
        let waf = 1.0 + 3.0 * rng.unit();
        let budget_pages = setup.physical_bytes / 4096 * u64::from(setup.endurance.pe_cycles());
        let demand = (budget_pages as f64 * 5.0 * rng.unit()) as u64 + 1;
        let stamps = workload(&mut rng, setup.target_ns, demand);
        let mut gate = Gate::new(setup, waf);
        let mut log = Log::default();
        let mut pages = 0;
        for (i, &(stamp, count)) in stamps.iter().enumerate() {
            let arrival = if setup.arrivals_follow { stamp + gate.held_back_ns() } else { stamp };
            let from = log.admitted.len();
            gate.admit(arrival, 0, count, &mut log);
            pages += count as usize;
            assert_eq!(log.admitted.len(), pages, "seed {seed}: pages are lost at request {i}");
            assert!(log.admitted[from].0 >= arrival, "seed {seed}");
        }
        assert!(log.admitted.windows(2).all(|w| w[0].0 <= w[1].0), "seed {seed}: out of order");
        let physical = setup.physical_bytes as f64;
        let is_bucket = setup.policy == Throttle::Qos;
        if is_bucket && setup.params.max_delay_ns.is_some() {
            continue;
        }
        // A token bucket is at most a hundred page writes in debt when the life ends. It was also in debt an epoch
        // before, and the last epoch had too little capacity to make up for it.
        let slack = if is_bucket { 200.0 * 4096.0 * waf / physical } else { 0.0 };
        let mut cycles = 0.0;
        for &(at, _) in log.admitted.iter().filter(|(at, _)| *at < setup.target_ns) {
            cycles += 4096.0 * waf / physical;
            let rest = floatgate_nand::endurance::mean_idle_s(at as f64 / 1e9, cycles);
            let stands = setup.endurance.cycles(rest);
            assert!(
                cycles <= stands * 1.001 + slack,
                "seed {seed}: {cycles} of {stands} cycles at {at}, {setup:?}"
            );
        }
    }
}

/// Under any demand, 99 of 100 page writes are held back no longer than the target at any moment, and none longer than
/// the bound.
#[test]
fn a_token_bucket_keeps_its_percentile() {
    let mut slow_ones = 0;
    for seed in 0..300 {
        let mut rng = Rng::new(seed, "percentile");
        let mut setup = Setup { policy: Throttle::Qos, ..random_setup(&mut rng) };
        setup.params = random_params(&mut rng, Throttle::Qos, setup.target_ns);
        let budget_pages = setup.physical_bytes / 4096 * u64::from(setup.endurance.pe_cycles());
        let demand = budget_pages * (1 + rng.below(4));
        let stamps = workload(&mut rng, setup.target_ns, demand);
        let mut gate = Gate::new(setup, 1.0);
        let mut log = Log::default();
        for &(stamp, count) in &stamps {
            let arrival = if setup.arrivals_follow { stamp + gate.held_back_ns() } else { stamp };
            gate.admit(arrival, 0, count, &mut log);
        }
        let Params { p99_ns, max_delay_ns, .. } = setup.params;
        let mut slow = 0;
        for (i, &(_, held_ns)) in log.admitted.iter().enumerate() {
            slow += usize::from(held_ns > p99_ns);
            assert!(slow * 100 <= i + 1, "seed {seed}: {slow} of {} slow, {setup:?}", i + 1);
            assert!(held_ns <= max_delay_ns.unwrap_or(u64::MAX).max(p99_ns), "seed {seed}: {held_ns}");
        }
        slow_ones += slow;
    }
    assert!(slow_ones > 1000, "{slow_ones} slow page writes are few");
}

/// A host that evenly writes twice the capacity of an epoch. Under a strict cap every epoch writes just its capacity,
/// and prediction from "written" never delays anything. By demand, delays replace waits from the second epoch on.
#[test]
fn a_strict_cap_delays_by_demand() {
    let run = |regains: bool, max_delay_ns: Option<u64>| {
        let params = Params {
            unit_window_ns: 100 * SECOND_NS,
            fixed_epoch_ns: Some(100 * SECOND_NS),
            regains,
            max_delay_ns,
            ..Params::default()
        };
        let setup = Setup {
            target_ns: 10_000 * SECOND_NS,
            physical_bytes: 100_000 * 4096,
            ..setup(Throttle::ReadyPessimistic)
        };
        let mut gate = Gate::new(setup.with(Endurance::Fixed { pe_cycles: 1 }, params), 1.0);
        let (mut log, mut waits) = (Log::default(), Passed::new(setup.target_ns));
        for page in 0..100_000 {
            let mut arrival_ns = page * 50_000_000 + gate.held_back_ns();
            if log.admitted.len() < 50_000 {
                gate.admit(arrival_ns, 0, 1, &mut log);
            } else {
                arrival_ns = arrival_ns.max(gate.admitted_ns());
                gate.admit(arrival_ns, 0, 1, &mut waits);
            }
        }
        let delays: Vec<f64> = log.epochs.iter().map(|epoch| epoch.delay_s).collect();
        (delays, waits.wait_ns as f64 / waits.page_writes as f64 / 1e9, gate.bounded_epochs())
    };
    let (delays, wait_s, _) = run(false, None);
    assert!(delays.iter().all(|&delay_s| delay_s < 1e-9), "{delays:?}");
    assert!((wait_s - 0.05).abs() < 0.002, "{wait_s}");
    let (delays, wait_s, bounded) = run(true, None);
    // By hand: the writer wants 2000 pages per epoch of 1000; each is due 100 s * (2 - 1) / 1000 later.
    assert!(delays[3..].iter().all(|&delay_s| (delay_s - 0.05).abs() < 0.002), "{delays:?}");
    assert!(wait_s < 0.005, "{wait_s}");
    assert_eq!(bounded, 0);
    let (delays, wait_s, bounded) = run(true, Some(20_000_000));
    assert!(delays.iter().all(|&delay_s| delay_s <= 0.02), "{delays:?}");
    assert!((wait_s - 0.03).abs() < 0.002 && bounded > 90, "{wait_s}, {bounded}");
}

/// A burst at the beginning of each epoch that waits for the rest of it. The share of the time without a waiting writer
/// is almost 0, and the demand is no more than the arrivals.
#[test]
fn a_burst_that_waits_does_not_make_the_delay_run_away() {
    let params = Params {
        unit_window_ns: 100 * SECOND_NS,
        fixed_epoch_ns: Some(100 * SECOND_NS),
        ..Params::default()
    };
    let setup = Setup {
        target_ns: 10_000 * SECOND_NS,
        physical_bytes: 100_000 * 4096,
        ..setup(Throttle::ReadyPessimistic)
    };
    let mut gate = Gate::new(setup.with(Endurance::Fixed { pe_cycles: 1 }, params), 1.0);
    let mut log = Log::default();
    for burst in 0..60 {
        gate.admit(burst * 100 * SECOND_NS + gate.held_back_ns(), 0, 3000, &mut log);
    }
    // 3000 pages where 1000 are allowed: 100 s * (3 - 1) / 1000 at a time, so no delay is longer than a few of these.
    let most = log.epochs.iter().map(|epoch| epoch.delay_s).fold(0.0, f64::max);
    assert!(most > 0.0 && most < 1.0, "{most}");
}

/// A host that writes three times as much as its life allows: the steps settle around the delay that reduces it to the
/// budget, and the years are kept.
#[test]
fn steps_find_the_delay() {
    let params =
        Params { unit_window_ns: 10 * SECOND_NS, fixed_epoch_ns: Some(10 * SECOND_NS), ..Params::default() };
    let setup =
        Setup { target_ns: 5000 * SECOND_NS, physical_bytes: 50_000 * 4096, ..setup(Throttle::Incremental) };
    let mut gate = Gate::new(setup.with(Endurance::Fixed { pe_cycles: 1 }, params), 1.0);
    let mut log = Log::default();
    let mut page = 0;
    let mut bound = Bound::new(100_000_000);
    while gate.admitted_ns() < setup.target_ns {
        bound.step();
        gate.admit(page * 33_333_333 + gate.held_back_ns(), 0, 1, &mut log);
        page += 1;
    }
    let written = log.admitted.iter().filter(|(at, _)| *at < setup.target_ns).count();
    assert!((49_000..=50_000).contains(&written), "{written}");
    // A page per share of the epoch's capacity, of which the host itself takes a thirtieth of a second.
    let late = &log.epochs[250..450];
    let mean = |of: &dyn Fn(&Epoch) -> f64| late.iter().map(of).sum::<f64>() / late.len() as f64;
    let due_s = mean(&|epoch| 10.0 / (epoch.capacity_bytes / 4096.0) - 1.0 / 30.0);
    let delay_s = mean(&|epoch| epoch.delay_s);
    assert!((delay_s / due_s - 1.0).abs() < 0.1, "{delay_s} where {due_s} is due");
}

/// Steps through pages and periods one by one, without closed forms: the reference for runs of pages with gaps.
#[test]
fn runs_of_pages_pass_as_single_pages_do() {
    for seed in 0..400 {
        let mut rng = Rng::new(seed, "runs");
        let setup = Setup { arrivals_follow: true, ..random_setup(&mut rng) };
        let budget_pages = setup.physical_bytes / 4096 * u64::from(setup.endurance.pe_cycles());
        let stamps = workload(&mut rng, setup.target_ns, budget_pages * 2);
        let (mut runs, mut single) = (Gate::new(setup, 1.5), Gate::new(setup, 1.5));
        let (mut a, mut b) = (Log::default(), Log::default());
        for &(stamp, count) in &stamps {
            let count = count.min(300);
            let gap = rng.below(3) * rng.below(1_000_000_000);
            // Not before the end of the previous run, or the next page would arrive later than its stamp.
            runs.admit((stamp + runs.held_back_ns()).max(runs.admitted_ns()), gap, count, &mut a);
            let mut at = (stamp + single.held_back_ns()).max(single.admitted_ns());
            for _ in 0..count {
                at = single.admit(at, 0, 1, &mut b) + gap;
            }
        }
        assert_eq!(runs.held_back_ns(), single.held_back_ns(), "seed {seed}");
        assert_eq!(runs.epochs(), single.epochs(), "seed {seed}");
        let held = |log: &Log| log.admitted.iter().map(|(_, held)| *held).collect::<Vec<_>>();
        assert_eq!(held(&a), held(&b), "seed {seed}");
    }
}

/// Number of page writes by time held back, in any order.
#[derive(Default)]
struct Tally {
    held: std::collections::BTreeMap<u64, u64>,
    /// Records of more than one waiting page write.
    backlogs: u64,
    /// Whether each page write takes a step of its own.
    close: bool,
}

impl Record for Tally {
    fn passed(&mut self, _: u64, _: u64, count: u64, delay_ns: u64) {
        *self.held.entry(delay_ns).or_default() += count;
    }
    fn waited(&mut self, time_ns: u64, delay_ns: u64, wait_ns: u64) {
        self.waited_alike(time_ns, time_ns, 1, (delay_ns, wait_ns));
    }
    fn waited_alike(&mut self, first_ns: u64, last_ns: u64, count: u64, held_ns: (u64, u64)) {
        self.backlogs += u64::from(count > 1);
        self.passed(first_ns, last_ns, count, held_ns.0 + held_ns.1);
    }
    fn is_close(&self, _: u64, _: u64) -> bool {
        self.close
    }
    fn epoch(&mut self, _: &Epoch) {}
}

/// Page writes that queue for many periods: recorded together, as many are held back as long as one by one.
#[test]
fn a_backlog_passes_as_single_pages_do() {
    let policies = [Throttle::Static, Throttle::Dynamic, Throttle::ReadyPessimistic, Throttle::Incremental];
    // Also where the share of a period pays for less than a page.
    let mut backlogs = [[0; 4]; 2];
    for seed in 0..200 {
        let mut rng = Rng::new(seed, "backlog");
        let which = rng.below(4) as usize;
        let target_ns = (1800 + rng.below(3600)) * SECOND_NS + rng.below(2) * 123_456_789;
        let params = Params {
            unit_window_ns: 300 * SECOND_NS,
            fixed_epoch_ns: (rng.below(2) == 0).then_some(300 * SECOND_NS),
            ..Params::default()
        };
        let setup = Setup { target_ns, physical_bytes: (1 + rng.below(200)) << 20, ..setup(policies[which]) };
        let setup = setup.with(Endurance::Fixed { pe_cycles: 1 + rng.below(3) as u32 }, params);
        let waf = 1.0 + 3.0 * rng.unit();
        let budget_pages = setup.physical_bytes / 4096 * u64::from(setup.endurance.pe_cycles());
        let gap = rng.below(3) * rng.below(10_000_000);
        let (mut runs, mut single) = (Gate::new(setup, waf), Gate::new(setup, waf));
        let (mut a, mut b) = (Tally::default(), Tally { close: true, ..Tally::default() });
        for (stamp, count) in workload(&mut rng, target_ns, budget_pages * 2).into_iter().step_by(9) {
            let count = 4 * count;
            runs.admit((stamp + runs.held_back_ns()).max(runs.admitted_ns()), gap, count, &mut a);
            let mut at = (stamp + single.held_back_ns()).max(single.admitted_ns());
            for _ in 0..count {
                at = single.admit(at, 0, 1, &mut b) + gap;
            }
        }
        assert_eq!(runs.admitted_ns(), single.admitted_ns(), "seed {seed}");
        assert_eq!(runs.held_back_ns(), single.held_back_ns(), "seed {seed}");
        assert_eq!(runs.epochs(), single.epochs(), "seed {seed}");
        assert_eq!(a.held, b.held, "seed {seed}, {setup:?}");
        let pages_per_period = budget_pages as f64 / waf / (target_ns / SECOND_NS) as f64;
        backlogs[usize::from(pages_per_period < 1.0)][which] += a.backlogs;
    }
    for (counts, least) in backlogs.iter().zip([100, 20]) {
        assert!(counts.iter().all(|&count| count > least), "{backlogs:?}");
    }
}

/// Where many pages pass at once, none would have been held back otherwise.
#[test]
fn what_passes_at_once_is_held_back_alike() {
    let mut passed = 0;
    for seed in 0..200 {
        let mut rng = Rng::new(seed, "at once");
        let setup = Setup { arrivals_follow: true, ..random_setup(&mut rng) };
        let budget_pages = setup.physical_bytes / 4096 * u64::from(setup.endurance.pe_cycles());
        let stamps = workload(&mut rng, setup.target_ns, budget_pages);
        let (mut whole, mut single) = (Gate::new(setup, 1.0), Gate::new(setup, 1.0));
        for (i, &(stamp, count)) in stamps.iter().enumerate() {
            let next = stamps.get(i + 1).map_or(u64::MAX, |next| next.0);
            let span = rng.below(60 * SECOND_NS).min(next - stamp);
            let count = count.min(200);
            let at = stamp + whole.held_back_ns();
            if whole.admit_all(at, span, count, &mut ()).is_some() {
                passed += 1;
            } else {
                whole.admit(at, span / count, count, &mut ());
            }
            single.admit(stamp + single.held_back_ns(), span / count, count, &mut ());
            assert_eq!(whole.held_back_ns(), single.held_back_ns(), "seed {seed}");
            assert!(
                (whole.used_bytes() - single.used_bytes()).abs() <= 1e-9 * single.used_bytes(),
                "seed {seed}"
            );
        }
    }
    assert!(passed > 1000, "{passed} of the stretches passed at once");
}

/// A saved and restored gate continues as the original would.
#[test]
fn a_gate_resumes() {
    let mut rng = Rng::new(3, "resume");
    let setup = Setup { arrivals_follow: true, ..random_setup(&mut rng) };
    let stamps = workload(&mut rng, setup.target_ns, 100_000);
    let mut whole = Gate::new(setup, 1.2);
    let mut parts = Gate::new(setup, 1.2);
    for &(stamp, count) in &stamps {
        whole.admit(stamp + whole.held_back_ns(), 0, count, &mut ());
        parts = Gate::resume(setup, parts.state().clone());
        parts.admit(stamp + parts.held_back_ns(), 0, count, &mut ());
    }
    assert_eq!(whole.admitted_ns(), parts.admitted_ns());
}
