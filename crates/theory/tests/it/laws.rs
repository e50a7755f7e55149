//! The laws of block validity: they sum to 1, have the right mean and imply the amplification.

use floatgate_theory::{
    FifoLog, Policy, ValidityLaw, alpha_of_spare, random_turnover, wa, wa_fifo, wa_greedy,
};

const SPARES: [f64; 9] = [0.001, 0.01, 0.07, 0.15, 0.28, 0.5, 0.7, 0.9, 0.95];
const PAGES: [u32; 11] = [1, 2, 3, 4, 8, 32, 64, 256, 1024, 2048, 4096];
const POLICIES: [Policy; 7] = [
    Policy::Fifo,
    Policy::Random,
    Policy::Greedy,
    Policy::DChoices(1),
    Policy::DChoices(4),
    Policy::DChoices(30),
    Policy::DChoices(1024),
];

/// Every policy at every point of the grid: its law, with the spare factor and the pages of a block.
fn each(mut check: impl FnMut(Policy, f64, u32, &ValidityLaw)) {
    for policy in POLICIES {
        for spare in SPARES {
            for b in PAGES {
                let law = ValidityLaw::new(policy, alpha_of_spare(spare).unwrap(), b).unwrap();
                check(policy, spare, b, &law);
            }
        }
    }
}

#[test]
fn sum_and_mean() {
    each(|policy, spare, b, law| {
        let shares = law.probabilities();
        assert_eq!(shares.len(), b as usize + 1);
        assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{policy} {spare} {b}: {shares:?}");
        let sum: f64 = shares.iter().sum();
        assert!((sum - 1.0).abs() < 1e-13, "{policy} {spare} {b}: sum {sum}");
        let expected = f64::from(b) * (1.0 - spare);
        assert!((law.mean() / expected - 1.0).abs() < 1e-10, "{policy} {spare} {b}: mean {}", law.mean());
    });
}

/// Returns the valid pages of a victim, as each policy would pick it from its law, and programs per host write from
/// that.
fn implied(policy: Policy, spare: f64, b: u32, law: &ValidityLaw) -> f64 {
    let pages = f64::from(b);
    let shares = law.probabilities();
    let victim = match policy {
        Policy::Random => law.mean(),
        Policy::Fifo => pages * FifoLog::new(alpha_of_spare(spare).unwrap()).unwrap().live_share(1.0),
        Policy::DChoices(d) => {
            let mut tail: f64 = 0.0;
            shares[1..].iter().rev().fold(0.0, |sum, share| {
                tail += share;
                sum + libm::pow(tail, f64::from(d))
            })
        }
        // Blocks close full: those at b leave it by a page's death, at the rate of victims.
        Policy::Greedy => {
            let flow = pages * shares[b as usize];
            pages - pages * (1.0 - spare) / flow
        }
    };
    pages / (pages - victim)
}

#[test]
fn laws_imply_the_amplification() {
    each(|policy, spare, b, law| {
        let expected = wa(policy, spare, b).unwrap();
        let got = implied(policy, spare, b, law);
        // At 0.001 the mean of many choices is known to 1e-16 of b, a victim's dead pages to 1e-13 of them.
        assert!((got / expected - 1.0).abs() < 1e-9, "{policy} {spare} {b}: {got} {expected}");
    });
    let law = ValidityLaw::new(Policy::Greedy, alpha_of_spare(0.15).unwrap(), 64).unwrap();
    let lowest = law.probabilities().iter().position(|&share| share > 0.0).unwrap();
    let greedy = wa_greedy(0.15, 64).unwrap();
    // k - q = b - b / WA, rounded up.
    assert_eq!(lowest as f64, (64.0 - 64.0 / greedy).ceil());
}

/// Simpson's rule with `2 n` steps.
fn integral(from: f64, to: f64, n: u32, f: impl Fn(f64) -> f64) -> f64 {
    let step = (to - from) / f64::from(2 * n);
    (0..=2 * n)
        .map(|i| {
            let weight = if i == 0 || i == 2 * n { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
            weight * f(from + step * f64::from(i))
        })
        .sum::<f64>()
        * step
        / 3.0
}

fn binomial(n: u32, j: u32, live: f64) -> f64 {
    let log = libm::lgamma(f64::from(n) + 1.0)
        - libm::lgamma(f64::from(j) + 1.0)
        - libm::lgamma(f64::from(n - j) + 1.0);
    libm::exp(log) * libm::pow(live, f64::from(j)) * libm::pow(1.0 - live, f64::from(n - j))
}

#[test]
fn mixtures_meet_their_integrals() {
    for spare in [0.07, 0.28, 0.6] {
        let alpha = alpha_of_spare(spare).unwrap();
        let b = 32;
        let log = FifoLog::new(alpha).unwrap();
        let fifo = ValidityLaw::new(Policy::Fifo, alpha, b).unwrap();
        let rate = random_turnover(alpha).unwrap();
        let random = ValidityLaw::new(Policy::Random, alpha, b).unwrap();
        for j in 0..=b {
            let expected = integral(0.0, 1.0, 4000, |x| binomial(b, j, log.live_share(x)));
            let got = fifo.probabilities()[j as usize];
            assert!((got - expected).abs() < 1e-10, "fifo {spare} {j}: {got} {expected}");
            let expected = integral(0.0, 40.0 / rate.min(1.0), 100_000, |age| {
                rate * libm::exp(-rate * age) * binomial(b, j, libm::exp(-age))
            });
            let got = random.probabilities()[j as usize];
            assert!((got - expected).abs() < 1e-10, "random {spare} {j}: {got} {expected}");
        }
    }
}

#[test]
fn one_choice_is_random() {
    for spare in SPARES {
        let alpha = alpha_of_spare(spare).unwrap();
        let one = ValidityLaw::new(Policy::DChoices(1), alpha, 64).unwrap();
        let random = ValidityLaw::new(Policy::Random, alpha, 64).unwrap();
        for (one, random) in one.probabilities().iter().zip(random.probabilities()) {
            assert!((one - random).abs() < 1e-12, "{spare}: {one} {random}");
        }
    }
}

#[test]
fn the_log_decays_to_its_mean() {
    for spare in SPARES {
        let alpha = alpha_of_spare(spare).unwrap();
        let log = FifoLog::new(alpha).unwrap();
        assert_eq!(log.live_share(0.0), 1.0);
        let mean = -libm::expm1(-log.decay()) / log.decay();
        assert!((mean * alpha - 1.0).abs() < 1e-14, "{spare}");
        let by_victim = 1.0 / -libm::expm1(-log.decay());
        assert!((by_victim / wa_fifo(spare).unwrap() - 1.0).abs() < 1e-12, "{spare}");
    }
}

#[test]
fn quantiles_give_the_law_back() {
    each(|policy, spare, b, law| {
        let blocks = 5000;
        let mut drawn = vec![0_u32; b as usize + 1];
        let mut before = 0;
        for n in 0..blocks {
            let valid = law.quantile((f64::from(n) + 0.5) / f64::from(blocks));
            assert!(valid >= before);
            before = valid;
            drawn[valid as usize] += 1;
        }
        for (drawn, share) in drawn.iter().zip(law.probabilities()) {
            let off = f64::from(*drawn) - share * f64::from(blocks);
            assert!(off.abs() <= 1.0, "{policy} {spare} {b}: off by {off}");
        }
        assert!(law.probabilities()[law.quantile(0.0) as usize] > 0.0);
        assert!(law.probabilities()[law.quantile(1.0) as usize] > 0.0);
    });
}

#[test]
fn extremes_stay_laws() {
    for policy in POLICIES {
        for alpha in [1.0 + 2e-12, 1.0 + 1e-6, 1e3, 1e9, 1e12] {
            for b in [1, 7, 4096] {
                let law = ValidityLaw::new(policy, alpha, b).unwrap();
                let sum: f64 = law.probabilities().iter().sum();
                assert!((sum - 1.0).abs() < 1e-12, "{policy} {alpha} {b}: {sum}");
                assert!(law.probabilities().iter().all(|share| (0.0..=1.0).contains(share)));
            }
        }
        for alpha in [1.0, 0.5, -2.0, f64::NAN, f64::INFINITY] {
            assert!(ValidityLaw::new(policy, alpha, 8).is_err(), "{policy} {alpha}");
        }
        assert!(ValidityLaw::new(policy, 1.1, 0).is_err());
    }
    assert!(ValidityLaw::new(Policy::DChoices(0), 1.1, 8).is_err());
}
