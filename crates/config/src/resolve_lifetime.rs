//! The tables `[lifetime]`: throttling, and how years are forecast.

use crate::layers::{Layers, Section};
use crate::resolve_slot::{self, refuse};
use crate::tables::choice;
use crate::{raw, slot_types};
use floatgate_base::Result;
use floatgate_base::policy::Facts;
use floatgate_lifetime::life::{Forecast, METHODS, Method};
use floatgate_lifetime::reduce::{self, Reducer};
use floatgate_lifetime::throttle::{Budget, Params, Throttle};
use floatgate_nand::{Endurance, endurance::mean_idle_s};
use floatgate_sim::plan::{ReduceSettings, ThrottleSettings};

/// Lifetime management as resolved.
pub(crate) struct Lifetime {
    pub throttle: ThrottleSettings,
    pub reduce: ReduceSettings,
    pub forecast: Forecast,
    pub raw: raw::Lifetime,
    pub raw_forecast: raw::Forecast,
}

pub(crate) fn resolve(layers: &Layers, given: raw::Lifetime, endurance: Endurance) -> Result<Lifetime> {
    let facts = Facts { pe_cycles: endurance.pe_cycles(), ..Facts::default() };
    let (chosen, throttle) = resolve_slot::resolve(layers, given.throttle, &facts)?;
    let policy = Throttle::of(&chosen);
    let params = Params::of(&chosen).map_err(|misfit| refuse::<slot_types::Throttle>(layers, misfit))?;
    let (reducer, raw_reduce) = resolve_slot::resolve(layers, given.reduce, &facts)?;
    let reduce = ReduceSettings { policy: Reducer::of(&reducer), params: reduce::Params::of(&reducer) };
    let (forecast, raw_forecast) = forecast(layers, given.forecast.unwrap_or_default(), (endurance, policy))?;
    Ok(Lifetime {
        throttle: ThrottleSettings { policy, params, target_years: chosen.real("target_years") },
        forecast,
        reduce,
        raw: raw::Lifetime { throttle: Some(throttle), reduce: Some(raw_reduce), forecast: None },
        raw_forecast,
    })
}

fn forecast(
    layers: &Layers,
    given: raw::Forecast,
    (endurance, policy): (Endurance, Throttle),
) -> Result<(Forecast, raw::Forecast)> {
    let section = layers.section("lifetime.forecast");
    let fail = |key: &str, what: String, expected: &str| Err(section.error(key, what, expected));
    let name = given.method.as_deref().unwrap_or(METHODS[0].0);
    let row = choice(layers, "lifetime.forecast.method", "method", name, METHODS)?;
    let method = [Method::Auto, Method::Full, Method::Windows, Method::Requests][row];
    let uses = Uses::of(method, &given);
    uses.check(&section, &given, name)?;
    let window_s = given.window_s.unwrap_or(1.0);
    if !(window_s.is_finite() && (1e-6..=86_400.0).contains(&window_s)) {
        return fail("window_s", format!("window_s is {window_s}"), "expected seconds from 10^-6 to 86400");
    }
    check_waf(&section, &given)?;
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
    if let Some(spread) = given.cycles_spread.filter(|spread| !(0.0..0.5).contains(spread)) {
        return fail(
            "cycles_spread",
            format!("cycles_spread is {spread}"),
            "expected a share from 0 to below 0.5",
        );
    }
    check_age(layers, endurance, policy, (cycles_used, age_years))?;
    let raw = raw::Forecast {
        method: Some(name.into()),
        window_s: uses.windows.then_some(window_s),
        waf: given.waf,
        waf_of_bytes: given.waf_of_bytes,
        laps_max: uses.measures.then_some(laps_max),
        waf_error_max: uses.measures.then_some(waf_error_max),
        cycles_used: Some(cycles_used),
        age_years: Some(age_years),
        cycles_spread: given.cycles_spread,
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
            cycles_spread: given.cycles_spread,
        },
        raw,
    ))
}

/// Which keys a method of forecasting makes use of.
struct Uses {
    windows: bool,
    /// Write amplification that is given in place of being measured.
    waf: bool,
    waf_is_given: bool,
    /// Whether write amplification is measured.
    measures: bool,
}

impl Uses {
    fn of(method: Method, given: &raw::Forecast) -> Self {
        let waf_is_given = given.waf.is_some() || given.waf_of_bytes.is_some();
        let waf = method != Method::Full;
        Self {
            windows: matches!(method, Method::Auto | Method::Windows),
            waf,
            waf_is_given,
            measures: waf && !waf_is_given,
        }
    }

    /// Refuses keys that have no effect.
    fn check(&self, section: &Section<'_>, given: &raw::Forecast, method: &str) -> Result<()> {
        let keys = [
            ("window_s", given.window_s.is_some(), self.windows),
            ("waf", given.waf.is_some(), self.waf),
            ("waf_of_bytes", given.waf_of_bytes.is_some(), self.waf),
            ("laps_max", given.laps_max.is_some(), self.measures),
            ("waf_error_max", given.waf_error_max.is_some(), self.measures),
        ];
        let Some((key, ..)) = keys.iter().find(|(_, set, used)| *set && !used) else { return Ok(()) };
        let because =
            if self.waf && self.waf_is_given { "a given waf".into() } else { format!("method \"{method}\"") };
        let what = format!("{key} has no effect with {because}");
        let expected = "expected no such key, or method = \"windows\" without a given waf";
        Err(section.error(key, what, expected))
    }
}

/// A write amplification that is given must be possible, and one.
fn check_waf(section: &Section<'_>, given: &raw::Forecast) -> Result<()> {
    for (key, value) in [("waf", given.waf), ("waf_of_bytes", given.waf_of_bytes)] {
        if let Some(waf) = value.filter(|waf| !(waf.is_finite() && (1e-3..=1e6).contains(waf))) {
            let what = format!("{key} is {waf}");
            return Err(section.error(key, what, "expected a write amplification from 0.001 to 10^6"));
        }
    }
    if given.waf.is_some() && given.waf_of_bytes.is_some() {
        let what = "waf and waf_of_bytes are both set";
        return Err(section.error("waf_of_bytes", what, "expected one of them"));
    }
    Ok(())
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
