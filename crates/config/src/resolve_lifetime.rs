//! The tables `[lifetime]`: throttling, and how years are forecast.

use crate::layers::{Layers, Section};
use crate::raw;
use crate::tables::{choice, known, only};
use floatgate_base::Result;
use floatgate_lifetime::life::{Forecast, METHODS, Method};
use floatgate_lifetime::throttle::{Budget, POLICIES, Params, Regulator, Throttle};
use floatgate_nand::{Endurance, endurance::mean_idle_s};

/// Lifetime management as resolved.
pub(crate) struct Lifetime {
    pub throttle: Throttle,
    pub params: Params,
    pub target_years: f64,
    pub forecast: Forecast,
    pub raw: raw::Lifetime,
    pub raw_forecast: raw::Forecast,
}

/// The longest target: beyond, nanoseconds leave 64 bits.
const TARGET_YEARS_MAX: f64 = 100.0;

pub(crate) fn resolve(layers: &Layers, given: raw::Lifetime, endurance: Endurance) -> Result<Lifetime> {
    let throttle = given.throttle.unwrap_or_default();
    let section = layers.section("lifetime.throttle");
    let name = throttle.policy.clone().unwrap_or_else(|| "none".into());
    known(layers, "lifetime.throttle.policy", "throttle", &name, POLICIES)?;
    let policy = Throttle::of_name(&name).unwrap_or(Throttle::None);
    let target_years = throttle.target_years.unwrap_or(5.0);
    if !(target_years.is_finite() && target_years > 0.0 && target_years <= TARGET_YEARS_MAX) {
        let what = format!("{target_years} is no life time");
        let expected = format!("expected a number of years greater than 0, up to {TARGET_YEARS_MAX}");
        return Err(section.error("target_years", what, expected));
    }
    refuse_useless(section, &throttle, policy)?;
    let (params, raw_params) = params(section, &throttle, policy, target_years)?;
    let reduce = only(layers, "lifetime.reduce.policy", "reducer", given.reduce, "none")?;
    let (forecast, raw_forecast) = forecast(layers, given.forecast.unwrap_or_default(), (endurance, policy))?;
    let throttle = raw::Throttle { policy: Some(name), target_years: Some(target_years), ..raw_params };
    Ok(Lifetime {
        throttle: policy,
        params,
        target_years,
        forecast,
        raw: raw::Lifetime { throttle: Some(throttle), reduce: Some(reduce), forecast: None },
        raw_forecast,
    })
}

/// Parameters change nothing under a throttle that does not have them.
fn refuse_useless(section: Section<'_>, given: &raw::Throttle, policy: Throttle) -> Result<()> {
    let parts = policy.parts();
    let plans = parts.is_some_and(|parts| parts.plans);
    let borrows = parts.is_some_and(|parts| parts.regulator == Regulator::Optimistic);
    let keys = [
        ("period_s", given.period_s.is_some(), parts.is_some()),
        ("unit_window_s", given.unit_window_s.is_some(), plans),
        ("history_s", given.history_s.is_some(), plans),
        ("epoch_s", given.epoch_s.is_some(), plans),
        ("error_max", given.error_max.is_some(), plans),
        ("errors_in_a_row", given.errors_in_a_row.is_some(), plans),
        ("pairs_min", given.pairs_min.is_some(), plans),
        ("spare_share", given.spare_share.is_some(), borrows),
    ];
    match keys.iter().find(|(_, set, used)| *set && !used) {
        None => Ok(()),
        Some((key, ..)) => {
            let what = format!("{key} has no effect under the throttle \"{}\"", policy.info().name);
            Err(section.error(
                key,
                what,
                "expected no such key, or a throttle that has it (floatgate policies)",
            ))
        }
    }
}

fn params(
    section: Section<'_>,
    given: &raw::Throttle,
    policy: Throttle,
    target_years: f64,
) -> Result<(Params, raw::Throttle)> {
    let default = Params::default();
    let seconds = |ns: u64| ns as f64 / 1e9;
    let nanoseconds = |key: &str, s: f64| {
        if s.is_finite() && (1e-3..=1e9).contains(&s) {
            return Ok((s * 1e9).round() as u64);
        }
        let what = format!("{key} is {s}");
        Err(section.error(key, what, "expected a number of seconds from 0.001 to 10^9"))
    };
    let period_s = given.period_s.unwrap_or(seconds(default.period_ns));
    let window_s = given.unit_window_s.unwrap_or(seconds(default.unit_window_ns));
    let history_s =
        given.history_s.unwrap_or(seconds(default.unit_window_ns) * f64::from(default.history_windows));
    let mut params = Params {
        period_ns: nanoseconds("period_s", period_s)?,
        unit_window_ns: nanoseconds("unit_window_s", window_s)?,
        fixed_epoch_ns: given.epoch_s.map(|s| nanoseconds("epoch_s", s)).transpose()?,
        error_max: given.error_max.unwrap_or(default.error_max),
        errors_in_a_row: given.errors_in_a_row.unwrap_or(default.errors_in_a_row),
        pairs_min: given.pairs_min.unwrap_or(default.pairs_min),
        spare_share: given.spare_share.unwrap_or(default.spare_share),
        ..default
    };
    let windows = nanoseconds("history_s", history_s)? / params.unit_window_ns;
    if !(2..=1 << 20).contains(&windows) {
        let what = format!("history_s {history_s} is {windows} unit windows of {window_s} s");
        return Err(section.error("history_s", what, "expected from 2 to 1048576 of them"));
    }
    params.history_windows = windows as u32;
    check(section, &params, policy, target_years)?;
    let parts = policy.parts();
    let plans = parts.is_some_and(|parts| parts.plans);
    let borrows = parts.is_some_and(|parts| parts.regulator == Regulator::Optimistic);
    let raw = raw::Throttle {
        period_s: parts.map(|_| period_s),
        unit_window_s: plans.then_some(window_s),
        history_s: plans.then_some(history_s),
        epoch_s: given.epoch_s,
        error_max: plans.then_some(params.error_max),
        errors_in_a_row: plans.then_some(params.errors_in_a_row),
        pairs_min: plans.then_some(params.pairs_min),
        spare_share: borrows.then_some(params.spare_share),
        ..raw::Throttle::default()
    };
    Ok((params, raw))
}

fn check(section: Section<'_>, params: &Params, policy: Throttle, target_years: f64) -> Result<()> {
    let target_ns = target_years * floatgate_lifetime::SECONDS_PER_YEAR * 1e9;
    let plans = policy.parts().is_some_and(|parts| parts.plans);
    let epoch_ns = params.fixed_epoch_ns.unwrap_or(params.unit_window_ns);
    if plans && epoch_ns as f64 > target_ns {
        let key = if params.fixed_epoch_ns.is_some() { "epoch_s" } else { "unit_window_s" };
        let what = format!(
            "an epoch of {} s is longer than the life of {target_years} years",
            epoch_ns as f64 / 1e9
        );
        return Err(section.error(key, what, "expected a shorter epoch, or a longer target_years"));
    }
    if policy.parts().is_some() && params.period_ns as f64 > if plans { epoch_ns as f64 } else { target_ns } {
        let what = format!("period_s {} is longer than what it is a part of", params.period_ns as f64 / 1e9);
        return Err(section.error(
            "period_s",
            what,
            "expected no more than an epoch (unit_window_s, epoch_s)",
        ));
    }
    if !(params.error_max.is_finite() && params.error_max > 0.0) {
        let what = format!("error_max is {}", params.error_max);
        return Err(section.error("error_max", what, "expected a number greater than 0"));
    }
    for (key, value) in [("errors_in_a_row", params.errors_in_a_row), ("pairs_min", params.pairs_min)] {
        if value == 0 {
            return Err(section.error(key, format!("{key} is 0"), "expected a whole number from 1"));
        }
    }
    if !(0.0..1.0).contains(&params.spare_share) {
        let what = format!("spare_share is {}", params.spare_share);
        return Err(section.error("spare_share", what, "expected a share from 0 up to but not 1"));
    }
    Ok(())
}

fn forecast(
    layers: &Layers,
    given: raw::Forecast,
    (endurance, policy): (Endurance, Throttle),
) -> Result<(Forecast, raw::Forecast)> {
    let section = layers.section("lifetime.forecast");
    let fail = |key: &str, what: String, expected: &str| Err(section.error(key, what, expected));
    let name = given.method.unwrap_or_else(|| METHODS[0].0.into());
    let row = choice(layers, "lifetime.forecast.method", "method", &name, METHODS)?;
    let method = [Method::Auto, Method::Full, Method::Windows, Method::Requests][row];
    let waf_is_given = given.waf.is_some() || given.waf_of_bytes.is_some();
    let measures = method != Method::Full && !waf_is_given;
    let windows = matches!(method, Method::Auto | Method::Windows);
    let because = if method != Method::Full && waf_is_given {
        "a given waf".into()
    } else {
        format!("method \"{name}\"")
    };
    let keys = [
        ("window_s", given.window_s.is_some(), windows),
        ("waf", given.waf.is_some(), method != Method::Full),
        ("waf_of_bytes", given.waf_of_bytes.is_some(), method != Method::Full),
        ("laps_max", given.laps_max.is_some(), measures),
        ("waf_error_max", given.waf_error_max.is_some(), measures),
    ];
    if let Some((key, ..)) = keys.iter().find(|(_, set, used)| *set && !used) {
        let what = format!("{key} has no effect with {because}");
        return fail(key, what, "expected no such key, or method = \"windows\" without a given waf");
    }
    let window_s = given.window_s.unwrap_or(1.0);
    if !(window_s.is_finite() && (1e-6..=86_400.0).contains(&window_s)) {
        return fail("window_s", format!("window_s is {window_s}"), "expected seconds from 10^-6 to 86400");
    }
    for (key, value) in [("waf", given.waf), ("waf_of_bytes", given.waf_of_bytes)] {
        if let Some(waf) = value.filter(|waf| !(waf.is_finite() && (1e-3..=1e6).contains(waf))) {
            return fail(key, format!("{key} is {waf}"), "expected a write amplification from 0.001 to 10^6");
        }
    }
    if given.waf.is_some() && given.waf_of_bytes.is_some() {
        return fail("waf_of_bytes", "waf and waf_of_bytes are both set".into(), "expected one of them");
    }
    let laps_max = given.laps_max.unwrap_or(12);
    if laps_max < 3 {
        return fail("laps_max", format!("laps_max is {laps_max}"), "expected a whole number from 3");
    }
    let waf_error_max = given.waf_error_max.unwrap_or(0.005);
    if !(waf_error_max.is_finite() && waf_error_max > 0.0) {
        return fail(
            "waf_error_max",
            format!("waf_error_max is {waf_error_max}"),
            "expected a number above 0",
        );
    }
    let from_0 = |key: &str, value: Option<f64>| match value.unwrap_or(0.0) {
        value if value.is_finite() && value >= 0.0 => Ok(value),
        value => Err(section.error(key, format!("{key} is {value}"), "expected a number from 0")),
    };
    let cycles_used = from_0("cycles_used", given.cycles_used)?;
    let age_years = from_0("age_years", given.age_years)?;
    check_age(layers, endurance, policy, (cycles_used, age_years))?;
    let raw = raw::Forecast {
        method: Some(name),
        window_s: windows.then_some(window_s),
        waf: given.waf,
        waf_of_bytes: given.waf_of_bytes,
        laps_max: measures.then_some(laps_max),
        waf_error_max: measures.then_some(waf_error_max),
        cycles_used: Some(cycles_used),
        age_years: Some(age_years),
    };
    let window_ns = (window_s * 1e9).round() as u64;
    Ok((
        Forecast {
            method,
            window_ns,
            waf: given.waf,
            waf_of_bytes: given.waf_of_bytes,
            laps_max,
            waf_error_max,
            cycles_used,
            age_years,
        },
        raw,
    ))
}

/// A drive must have some of its life before it.
fn check_age(
    layers: &Layers,
    endurance: Endurance,
    policy: Throttle,
    (cycles_used, age_years): (f64, f64),
) -> Result<()> {
    let rest = mean_idle_s(age_years * floatgate_lifetime::SECONDS_PER_YEAR, cycles_used);
    let nominal = policy.parts().is_some_and(|parts| parts.budget == Budget::Nominal);
    let stands = if nominal { f64::from(endurance.pe_cycles()) } else { endurance.cycles(rest) };
    if cycles_used < stands {
        return Ok(());
    }
    let whose = if nominal {
        format!(" that the throttle \"{}\" counts on", policy.info().name)
    } else {
        String::new()
    };
    let what = format!("the drive is worn out already: {cycles_used} cycles of {stands:.0}{whose} are used");
    let expected = format!("expected fewer than {stands:.0}, or more of lifetime.forecast.age_years");
    Err(layers.error("lifetime.forecast.cycles_used", what, expected))
}
