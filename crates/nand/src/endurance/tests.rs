//! Every worked number of READY's endurance model, and the laws that hold for any constants.

use super::*;
use floatgate_base::Rng;
use floatgate_base::testing::Bound;

const HOUR_S: f64 = 3600.0;
const YEARS_5_S: f64 = 5.0 * 8760.0 * HOUR_S;
const PRINTED: Endurance = Endurance::Recovery { pe_cycles: 3000, law: READY_PRINTED };
const TABLE2: Endurance = Endurance::Recovery { pe_cycles: 3000, law: READY_TABLE2 };

fn close(computed: f64, expected: f64, tolerance: f64) {
    let error = (computed / expected - 1.0).abs();
    assert!(error <= tolerance, "{computed} is not {expected} ({error:e})");
}

#[test]
fn trapped_charge_is_that_of_the_paper() {
    // 2.97e-3 * 3000^0.62 + 2e-2 * 3000^0.3 = 0.4252 + 0.2209.
    assert!((READY_PRINTED.trap_v(3000.0) - 0.6461).abs() < 5e-5);
    assert!((READY_TABLE2.trap_v(3000.0) - 0.6461).abs() < 5e-5);
    assert!((READY_PRINTED.trap_v(1.0) - 2.297e-2).abs() < 1e-15);
    assert_eq!(READY_PRINTED.trap_v(0.0), 0.0);
}

#[test]
fn without_rest_the_limit_is_met_at_3036_cycles() {
    for model in [PRINTED, TABLE2] {
        assert_eq!(model.cycles(None).round(), 3036.0);
        assert_eq!(model.cycles(Some(0.0)), model.cycles(None));
    }
    // Nothing heals up to the onset, and nothing jumps there.
    assert_eq!(PRINTED.cycles(Some(HOUR_S)), PRINTED.cycles(None));
    assert_eq!(TABLE2.cycles(Some(46.1)), TABLE2.cycles(None));
    close(TABLE2.cycles(Some(46.2)), TABLE2.cycles(None), 1e-3);
}

#[test]
fn cycles_by_idle_time_are_those_of_the_table() {
    let hours = [1.0, 2.0, 5.0, 10.0, 20.0, 40.0];
    let printed = [3036.0, 3281.0, 3653.0, 3978.0, 4346.0, 4767.0];
    let table2 = [6138.0, 7044.0, 8582.0, 10106.0, 12075.0, 14684.0];
    for (i, hours) in hours.into_iter().enumerate() {
        assert_eq!(PRINTED.cycles(Some(hours * HOUR_S)).round(), printed[i], "{hours} h, printed");
        assert_eq!(TABLE2.cycles(Some(hours * HOUR_S)).round(), table2[i], "{hours} h, table2");
    }
}

/// READY's Table 2: capacity in GB, C'_ssd and W_work in TB (binary units), 5 years; NT, ST, DT, READY of proj (both
/// regulators alike), then NT, ST, DT, READY pessimistic and optimistic of exchange.
const TABLE_2: [(f64, f64, f64); 9] = [
    (32.0, 312.6, 144.4),
    (32.0, 403.4, 54.2),
    (32.0, 346.9, 93.7),
    (32.0, 312.8, 141.0),
    (128.0, 949.3, 1918.8),
    (128.0, 1415.3, 348.2),
    (128.0, 1387.3, 374.4),
    (128.0, 1077.8, 1077.2),
    (128.0, 1077.8, 1065.6),
];

#[test]
fn table_2_follows_from_its_constants_and_not_from_those_printed() {
    let of = |model: Endurance, (capacity, recovered, work): (f64, f64, f64)| {
        let idle_s = YEARS_5_S / (work * 1024.0 / capacity);
        model.cycles(Some(idle_s)) / (recovered * 1024.0 / capacity)
    };
    for row in TABLE_2 {
        close(of(TABLE2, row), 1.0, 5e-3);
        assert!(of(PRINTED, row) < 0.6, "{row:?}: {}", of(PRINTED, row));
    }
}

#[test]
fn the_steady_point_solves_both_equations() {
    let (cycles, idle_s) = TABLE2.steady(YEARS_5_S);
    assert_eq!(cycles.round(), 8615.0);
    assert!((idle_s / HOUR_S - 5.08).abs() < 5e-3);
    let (cycles, idle_s) = PRINTED.steady(YEARS_5_S);
    assert_eq!(cycles.round(), 4020.0);
    assert!((idle_s / HOUR_S - 10.9).abs() < 5e-2);
    for years in [1e-6, 0.01, 1.0, 5.0, 100.0, 1e6] {
        let life_s = years * 8760.0 * HOUR_S;
        for model in [PRINTED, TABLE2, Endurance::Fixed { pe_cycles: 3000 }] {
            let (cycles, idle_s) = model.steady(life_s);
            close(cycles * idle_s, life_s, 1e-12);
            assert_eq!(model.cycles(Some(idle_s)), cycles);
        }
    }
}

#[test]
fn the_healed_share_is_capped() {
    // The law alone would heal everything after 46.1 s * e^(1 / 0.0702) = 2.25 years.
    let whole_s = 46.1 * libm::exp(1.0 / 0.0702);
    assert!((whole_s / (8760.0 * HOUR_S) - 2.25).abs() < 5e-3);
    assert_eq!(READY_TABLE2.healed_share(whole_s), 0.6);
    assert_eq!(READY_TABLE2.healed_share(f64::INFINITY), 0.6);
    assert_eq!(TABLE2.cycles(Some(whole_s)), TABLE2.cycles(Some(f64::INFINITY)));
    // The largest of Table 2 is 0.533 (proj under ST), below the cap.
    let idle_s = YEARS_5_S / (54.2 * 32.0);
    assert!((READY_TABLE2.healed_share(idle_s) - 0.533).abs() < 1e-3);
    assert_eq!(Recovery { recovery_efficiency: 0.0, ..READY_TABLE2 }.healed_share(f64::INFINITY), 0.0);
}

#[test]
fn nominal_cycles_scale_the_axis() {
    for pe_cycles in [1, 100, 3000, 100_000] {
        let model = Endurance::Recovery { pe_cycles, law: READY_TABLE2 };
        assert_eq!(model.pe_cycles(), pe_cycles);
        for idle_s in [None, Some(60.0), Some(1e5)] {
            close(model.cycles(idle_s), TABLE2.cycles(idle_s) * f64::from(pe_cycles) / 3000.0, 1e-14);
        }
    }
    let fixed = Endurance::Fixed { pe_cycles: 700 };
    assert_eq!((fixed.cycles(None), fixed.cycles(Some(1e9))), (700.0, 700.0));
    assert!(!fixed.recovers() && TABLE2.recovers());
}

#[test]
fn a_young_drive_has_not_rested() {
    assert_eq!(mean_idle_s(1e6, 0.0), None);
    assert_eq!(mean_idle_s(1e6, 0.999), None);
    assert_eq!(mean_idle_s(0.0, 2.0), None);
    assert_eq!(mean_idle_s(1e6, 1.0), Some(1e6));
    assert_eq!(mean_idle_s(1e6, 4.0), Some(2.5e5));
}

/// Finds the root by bisection of the remaining charge, without logarithms of sums or slopes.
fn cycles_by_bisection(law: Recovery, idle_s: f64) -> f64 {
    let left_v = |cycles: f64| law.trap_v(cycles) * (1.0 - law.healed_share(idle_s));
    let (mut low, mut high) = (0.0, 1.0);
    let mut bound = Bound::new(100_000_000);
    while left_v(high) < law.limit_v {
        bound.step();
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if left_v(middle) < law.limit_v {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[test]
fn the_root_is_that_of_bisection_for_any_constants() {
    for seed in 0..2000 {
        let mut rng = Rng::new(seed, "recovery");
        let mut between = |low: f64, high: f64| low + (high - low) * rng.unit();
        let mut law = Recovery {
            interface_trap_v: libm::exp(between(-9.0, -2.0)),
            interface_exponent: between(0.2, 1.5),
            oxide_trap_v: libm::exp(between(-9.0, -2.0)),
            oxide_exponent: between(0.2, 1.5),
            limit_v: between(0.3, 3.0),
            recovery_efficiency: between(0.0, 0.2),
            recovery_onset_s: libm::exp(between(-2.0, 9.0)),
            healed_share_max: between(0.0, 0.95),
        };
        match seed % 5 {
            0 => law.interface_trap_v = 0.0,
            1 => law.oxide_trap_v = 0.0,
            _ => {}
        }
        let mut before = 0.0;
        for idle_s in [0.0, 1.0, 100.0, 1e4, 1e6, 1e9] {
            let computed = law.cycles(idle_s);
            let error = (computed / cycles_by_bisection(law, idle_s) - 1.0).abs();
            assert!(error < 1e-9, "seed {seed}, {law:?}, {idle_s} s: off by {error:e}");
            assert!(computed >= before * (1.0 - 1e-12), "seed {seed}: rest costs cycles");
            before = computed;
        }
    }
}

/// Erases that wear a block by a share w of a cycle: without recovery it endures 1 / w times as many. With recovery the
/// rest between two erases counts as it is, and N(t) effective cycles allow N(t) / w erases.
#[test]
fn effective_wear_multiplies_the_erases() {
    let fixed = Endurance::Fixed { pe_cycles: 3000 };
    for wear in [0.4, 0.55, 0.71, 0.86] {
        assert_eq!(fixed.wearing(wear).cycles(None), 3000.0 / wear);
        assert_eq!(fixed.wearing(wear).rated_erases(), 3000.0 / wear);
        for model in [PRINTED, TABLE2] {
            let scaled = model.wearing(wear);
            assert!(scaled.recovers() && scaled.pe_cycles() == 3000);
            for hours in [0.0, 1.0, 5.0, 40.0] {
                let rest = Some(hours * HOUR_S);
                assert_eq!(scaled.cycles(rest), model.cycles(rest) / wear);
            }
            // At the steady point of a life, t erases per block N(t) / w, so t * N(t) = w * life.
            let (erases, idle_s) = scaled.steady(YEARS_5_S);
            close(idle_s * erases, YEARS_5_S, 1e-12);
            close(idle_s * model.cycles(Some(idle_s)), wear * YEARS_5_S, 1e-9);
            assert_eq!(scaled.wearing(1.0), model);
        }
    }
    assert_eq!(fixed.wearing(1.0), fixed);
    assert_eq!(fixed.wearing(0.5).wearing(0.25).wear(), 0.25, "it is set, not multiplied");
}
