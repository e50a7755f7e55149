//! The closed forms compared with the published table, each other, their limits and high-precision values.

use floatgate_theory::{
    Error, FifoLog, Policy, alpha_of_spare, alpha_with_trim, lambert_w0, spare_of_alpha, wa, wa_d_choices,
    wa_fifo, wa_fifo_separated, wa_fifo_skewed, wa_greedy, wa_random,
};

const SPARES: [f64; 14] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.07, 0.1, 0.15, 0.28, 0.4, 0.6, 0.8, 0.95];
const PAGES: [u32; 13] = [1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 1024, 2048, 4096];

fn near(got: f64, expected: f64, tolerance: f64) -> bool {
    (got / expected - 1.0).abs() <= tolerance
}

/// The table of the design document. Two of its cells differ from the solved equations by one unit in the
/// last place, as a rounding of rounded figures would (6.61549 printed as 6.616, 1.94248 as 1.943).
#[test]
fn the_table() {
    let rows = [
        (0.07, ["7.318", "6.615", "7.124", "7.718"], [7.318, 6.616, 7.124, 7.718]),
        (0.15, ["3.519", "3.354", "3.476", "3.816"], [3.519, 3.354, 3.476, 3.816]),
        (0.28, ["1.992", "1.942", "1.979", "2.164"], [1.992, 1.943, 1.979, 2.164]),
    ];
    for (spare, solved, printed) in rows {
        let got = [
            wa(Policy::Fifo, spare, 64),
            wa(Policy::Greedy, spare, 64),
            wa(Policy::Greedy, spare, 256),
            wa(Policy::DChoices(4), spare, 64),
        ]
        .map(Result::unwrap);
        assert_eq!(got.map(|value| format!("{value:.3}")), solved, "spare factor {spare}");
        for (got, printed) in got.into_iter().zip(printed) {
            assert!((got - printed).abs() < 0.000_53, "spare factor {spare}: {got} {printed}");
        }
    }
}

#[test]
fn greedy_meets_high_precision() {
    for (spare, b, expected) in [
        (0.07, 64, 6.615_490_137_82),
        (0.07, 256, 7.123_954_578_15),
        (0.15, 64, 3.353_623_524_98),
        (0.15, 256, 3.475_912_128_76),
        (0.28, 64, 1.942_475_443_51),
        (0.28, 256, 1.979_111_483_29),
    ] {
        assert!(near(wa_greedy(spare, b).unwrap(), expected, 1e-11), "{spare} {b}");
    }
}

#[test]
fn skew_in_one_log() {
    let hot = |pages: f64, writes: f64| {
        wa_fifo_skewed(&[(pages, writes), (1.0 - pages, 1.0 - writes)], 0.15).unwrap()
    };
    assert!(near(hot(0.2, 0.8), 3.869_426_427_057_537_8, 1e-14));
    assert!(near(hot(0.1, 0.9), 4.429_829_781_214_549, 1e-14));
    // No skew, split in whatever way, is the uniform form.
    for spare in SPARES {
        let split = wa_fifo_skewed(&[(0.25, 0.25), (0.5, 0.5), (0.25, 0.25)], spare).unwrap();
        assert!(near(split, wa_fifo(spare).unwrap(), 1e-14), "{spare}");
    }
    // Cold pages lie in the log but are never written: a drive of the rest, and its copies on top.
    let cold = wa_fifo_skewed(&[(0.5, 1.0), (0.5, 0.0)], 0.5).unwrap();
    // 0.5 x / (1 - e^-x) + 0.5 = 2 with x = 2 h, so x / (1 - e^-x) = 3 and WA = 2 / h = 4 / x.
    let x = 3.0 + lambert_w0(-3.0 * libm::exp(-3.0)).unwrap();
    assert!(near(cold, 4.0 / x, 1e-14));
    // An empty group without writes changes nothing.
    let uniform = wa_fifo_skewed(&[(1.0, 1.0), (0.0, 0.0)], 0.15).unwrap();
    assert!(near(uniform, wa_fifo(0.15).unwrap(), 1e-15));
}

/// Logs of their own: the figures of the design, and no other split is better.
#[test]
fn separation_with_the_best_split() {
    let hot = |pages: f64, writes: f64| [(pages, writes), (1.0 - pages, 1.0 - writes)];
    let (b, c) = (hot(0.2, 0.8), hot(0.1, 0.9));
    let of = |groups: &[(f64, f64)], spare| wa_fifo_separated(groups, spare).unwrap();
    assert_eq!(format!("{:.3} {:.3}", of(&b, 0.15).wa, of(&c, 0.15).wa), "2.517 1.759");
    for spare in SPARES {
        let alpha = alpha_of_spare(spare).unwrap();
        // Without heat there is nothing to gain.
        let even = of(&[(0.25, 0.25), (0.75, 0.75)], spare);
        assert!(near(even.wa, wa_fifo(spare).unwrap(), 1e-12), "{spare}");
        even.spare_factors.iter().for_each(|&share| assert!(near(share, spare, 1e-11), "{spare} {share}"));
        for groups in [b, c, hot(0.5, 0.99), hot(0.001, 0.5)] {
            let best = of(&groups, spare);
            assert!(best.wa <= wa_fifo_skewed(&groups, spare).unwrap() * (1.0 + 1e-12), "{spare}");
            let alphas: Vec<f64> = best.spare_factors.iter().map(|s| 1.0 / (1.0 - s)).collect();
            let used: f64 = groups.iter().zip(&alphas).map(|(group, alpha)| group.0 * alpha).sum();
            assert!(near(used, alpha, 1e-12), "{spare}: {used} {alpha}");
            // A little more here is a little less there.
            for more in [-0.01, 0.01] {
                let hot = 1.0 + (alphas[0] - 1.0) * (1.0 + more);
                let cold = (alpha - groups[0].0 * hot) / groups[1].0;
                let (Ok(hot), Ok(cold)) = (spare_of_alpha(hot), spare_of_alpha(cold)) else { continue };
                let wa = groups[0].1 * wa_fifo(hot).unwrap() + groups[1].1 * wa_fifo(cold).unwrap();
                assert!(wa >= best.wa * (1.0 - 1e-12), "{spare} {groups:?}: {wa}, {}", best.wa);
            }
        }
    }
    // Data that nobody writes get no spare space.
    let cold = of(&[(0.5, 1.0), (0.5, 0.0)], 0.5);
    assert!(near(cold.wa, wa_fifo(2.0 / 3.0).unwrap(), 1e-13) && cold.spare_factors[1] == 0.0);
    assert_eq!(wa_fifo_separated(&[], 0.1), Err(Error::NoGroups));
}

#[test]
fn fifo_is_exact_for_any_spare() {
    // Sixty digits of mpmath, truncated.
    for (spare, expected) in [
        (1e-12, 500_000_000_000.166_7),
        (1e-9, 500_000_000.166_666_6),
        (1e-6, 500_000.166_666_777_8),
        (0.001, 500.166_777_859_321_02),
        (0.07, 7.317_723_214_846_812),
        (0.5, 1.255_000_974_915_975_3),
        (0.95, 1.000_000_002_061_153_8),
        (0.999, 1.0),
    ] {
        assert!(near(wa_fifo(spare).unwrap(), expected, 1e-14), "{spare}");
    }
    // As printed, by Lambert's function, where that is well conditioned.
    for spare in SPARES.into_iter().filter(|&spare| spare >= 0.05) {
        let alpha = alpha_of_spare(spare).unwrap();
        let printed = alpha / (alpha + lambert_w0(-alpha * libm::exp(-alpha)).unwrap());
        assert!(near(printed, wa_fifo(spare).unwrap(), 2e-13), "{spare}");
    }
}

#[test]
fn d_choices_meet_high_precision() {
    for (spare, b, d, expected) in [
        (0.07, 64, 4, 7.718_249_610_173_711),
        (0.001, 16, 4, 255.904_303_782_387_48),
        (0.15, 32, 30, 3.237_655_731_871_368_7),
        (0.9, 8, 1000, 1.0),
    ] {
        assert!(near(wa_d_choices(spare, b, d).unwrap(), expected, 1e-13), "{spare} {b} {d}");
    }
}

#[test]
fn limits() {
    for spare in SPARES {
        let random = wa_random(spare).unwrap();
        for b in PAGES {
            // One choice is random collection.
            assert!(near(wa_d_choices(spare, b, 1).unwrap(), random, 1e-11), "{spare} {b}");
            // Many choices are greedy, from above.
            let greedy = wa_greedy(spare, b).unwrap();
            let many = wa_d_choices(spare, b, 1 << 30).unwrap();
            assert!(
                near(many, greedy, 1e-5) && many >= greedy * (1.0 - 1e-12),
                "{spare} {b}: {many} {greedy}"
            );
        }
        // Greedy with large blocks is FIFO, from below.
        let fifo = wa_fifo(spare).unwrap();
        let greedy = wa_greedy(spare, 1 << 20).unwrap();
        assert!(near(greedy, fifo, 1e-3) && greedy <= fifo * (1.0 + 1e-12), "{spare}: {greedy} {fifo}");
    }
    // Blocks of one page are dead or alive; greedy finds the dead.
    assert_eq!(wa_greedy(0.01, 1).unwrap(), 1.0);
    // Two pages: alpha = H_2 = 1.5 at a third, more is dead blocks only.
    assert_eq!(wa_greedy(0.34, 2).unwrap(), 1.0);
    assert!(wa_greedy(0.33, 2).unwrap() > 1.0);
    // With hardly any spare a victim has just one dead page.
    assert!(near(wa_greedy(1e-9, 64).unwrap(), 64.0, 1e-6));
}

#[test]
fn order_and_monotony() {
    for b in PAGES {
        let mut before = [f64::INFINITY; 6];
        for spare in SPARES {
            let all = [
                Policy::Greedy,
                Policy::DChoices(1024),
                Policy::DChoices(30),
                Policy::DChoices(2),
                Policy::Random,
                Policy::Fifo,
            ]
            .map(|policy| wa(policy, spare, b).unwrap());
            for (now, before) in all.iter().zip(before) {
                assert!(now.is_finite() && *now >= 1.0, "{spare} {b}: {all:?}");
                assert!(*now <= before, "{spare} {b}: {all:?} {before}");
            }
            // More choices are better; nothing beats greedy; FIFO beats random.
            assert!(
                all[..5].windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-11)),
                "{spare} {b}: {all:?}"
            );
            assert!(all[0] <= all[5] * (1.0 + 1e-12) && all[5] <= all[4], "{spare} {b}: {all:?}");
            before = all;
        }
    }
}

#[test]
fn trimming() {
    assert_eq!(alpha_with_trim(1.25, 0.0).unwrap(), 1.25);
    // A quarter trims: two thirds of the logical pages are in use.
    assert!(near(alpha_with_trim(1.2, 0.25).unwrap(), 1.8, 1e-15));
    assert!(alpha_with_trim(1.2, 0.5).is_err());
    assert!(alpha_with_trim(1.2, -0.1).is_err());
    assert!(alpha_with_trim(1.2, f64::NAN).is_err());
    assert!(alpha_with_trim(1.0, 0.1).is_err());
    for spare in SPARES {
        assert!(near(spare_of_alpha(alpha_of_spare(spare).unwrap()).unwrap(), spare, 1e-12));
    }
}

#[test]
fn what_is_refused() {
    let all = [Policy::Fifo, Policy::Random, Policy::Greedy, Policy::DChoices(2)];
    for policy in all {
        for spare in [0.0, 1.0, -0.1, 1.5, 1e-13] {
            assert!(matches!(wa(policy, spare, 64), Err(Error::OutOfRange { .. })), "{policy} {spare}");
        }
        for spare in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(wa(policy, spare, 64), Err(Error::NotFinite { .. })), "{policy} {spare}");
        }
        for b in [0, (1 << 20) + 1, u32::MAX] {
            assert!(wa(policy, 0.1, b).is_err(), "{policy} {b}");
        }
    }
    let error = wa(Policy::DChoices(0), 0.1, 64).unwrap_err();
    assert_eq!(error.to_string(), "choices is 0, out of range; expected at least 1");
    assert!(FifoLog::new(f64::NAN).is_err());
    assert_eq!(wa_fifo_skewed(&[], 0.1), Err(Error::NoGroups));
    assert_eq!(wa_fifo_skewed(&[(1.0, 0.5), (0.0, 0.5)], 0.1), Err(Error::WritesWithoutPages { group: 1 }));
    for groups in [
        [(0.5, 0.5), (0.4, 0.5)],
        [(0.5, 0.5), (0.5, 0.6)],
        [(-0.5, 0.5), (1.5, 0.5)],
        [(f64::NAN, 0.5), (0.5, 0.5)],
        [(0.5, f64::INFINITY), (0.5, 0.5)],
    ] {
        assert!(wa_fifo_skewed(&groups, 0.1).is_err(), "{groups:?}");
    }
}

#[test]
fn extremes_return() {
    for spare in [1e-12, 1e-9, 1e-6, 0.999, 1.0 - 1e-9, 1.0 - 1e-12] {
        for b in [1, 2, 64, 1 << 12] {
            for policy in [
                Policy::Fifo,
                Policy::Random,
                Policy::Greedy,
                Policy::DChoices(1),
                Policy::DChoices(4),
                Policy::DChoices(u32::MAX),
            ] {
                let got = wa(policy, spare, b).unwrap();
                assert!(got.is_finite() && got >= 1.0, "{policy} {spare} {b}: {got}");
            }
        }
    }
}
