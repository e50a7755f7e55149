//! The tables `[lifetime]`: throttling, and how years are forecast.

use super::slot::{self, refuse};
use crate::layers::{Layers, Section};
use crate::tables::choice;
use crate::{settings, slot_types};
use floatgate_base::Result;
use floatgate_base::policy::Facts;
use floatgate_lifetime::life::{Forecast, METHODS, Method};
use floatgate_lifetime::reduce::{self, Reducer};
use floatgate_lifetime::throttle::{Budget, Params, Throttle};
use floatgate_nand::{Endurance, endurance::mean_idle_s};
use floatgate_sim::plan::{ReduceSettings, ThrottleSettings};

/// The tables of lifetime management, resolved.
pub(crate) struct Lifetime {
    pub throttle: ThrottleSettings,
    pub reduce: ReduceSettings,
    pub forecast: Forecast,
    pub raw: settings::Lifetime,
    pub raw_forecast: settings::Forecast,
}

pub(crate) fn resolve(layers: &Layers, table: settings::Lifetime, endurance: Endurance) -> Result<Lifetime> {
    let facts = Facts { pe_cycles: endurance.pe_cycles(), ..Facts::default() };
    let (chosen, throttle) = slot::resolve(layers, table.throttle, &facts)?;
    let policy = Throttle::of(&chosen);
    let params = Params::of(&chosen).map_err(|misfit| refuse::<slot_types::Throttle>(layers, misfit))?;
    let (reducer, raw_reduce) = slot::resolve(layers, table.reduce, &facts)?;
    let reduce = ReduceSettings { policy: Reducer::of(&reducer), params: reduce::Params::of(&reducer) };
    let throttles = policy.parts().is_some() || reduce.params.integrated.is_some();
    let of = (endurance, policy, throttles);
    let (forecast, raw_forecast) = forecast(layers, table.forecast.unwrap_or_default(), of)?;
    Ok(Lifetime {
        throttle: ThrottleSettings { policy, params, target_years: chosen.real("target_years") },
        forecast,
        reduce,
        raw: settings::Lifetime { throttle: Some(throttle), reduce: Some(raw_reduce), forecast: None },
        raw_forecast,
    })
}

fn forecast(
    layers: &Layers,
    table: settings::Forecast,
    (endurance, policy, throttles): (Endurance, Throttle, bool),
) -> Result<(Forecast, settings::Forecast)> {
    let section = layers.section("lifetime.forecast");
    let name = table.method();
    let row = choice(layers, "lifetime.forecast.method", "method", &name, METHODS)?;
    let method = [Method::Auto, Method::Full, Method::Windows, Method::Requests][row];
    let measures = measures(&section, &table)? && method != Method::Full;
    let (window_s, laps_max, waf_error_max) = (table.window_s(), table.laps_max(), table.waf_error_max());
    let lap_programs_min = table.lap_programs_min();
    let close_up_requests = table.close_up_requests();
    let (cycles_used, age_years) = (table.cycles_used(), table.age_years());
    check_age(layers, endurance, policy, (cycles_used, age_years))?;
    let growth_per_year = table.growth_per_year();
    if growth_per_year != 0.0 && throttles {
        let what = format!("growth_per_year is {growth_per_year}, and the life is throttled");
        let expected = "expected lifetime.throttle.policy = \"none\" and another reducer than \"integrated\", or no growth";
        return Err(section.error("growth_per_year", &what, expected));
    }
    let raw = settings::Forecast {
        method: Some(name),
        window_s: matches!(method, Method::Auto | Method::Windows).then_some(window_s),
        waf: table.waf,
        waf_of_bytes: table.waf_of_bytes,
        laps_max: measures.then_some(laps_max),
        lap_programs_min: table.lap_programs_min,
        waf_error_max: measures.then_some(waf_error_max),
        close_up_requests: table.waf.or(table.waf_of_bytes).is_none().then_some(close_up_requests),
        cycles_used: Some(cycles_used),
        demand: table.demand,
        growth_per_year: table.growth_per_year,
        age_years: Some(age_years),
        cycles_spread: table.cycles_spread,
    };
    let window_ns = (window_s * 1e9).round() as u64;
    Ok((
        Forecast {
            method,
            window_ns,
            waf: table.waf,
            waf_of_bytes: table.waf_of_bytes,
            laps_max,
            lap_programs_min,
            waf_error_max,
            close_up_requests,
            cycles_used,
            demand: table.demand(),
            growth_per_year,
            age_years,
            cycles_spread: table.cycles_spread,
        },
        raw,
    ))
}

/// Checks whether write amplification is measured. If the user sets it, the keys about measuring are refused.
fn measures(section: &Section<'_>, table: &settings::Forecast) -> Result<bool> {
    if table.waf.is_some() && table.waf_of_bytes.is_some() {
        let what = "waf and waf_of_bytes are both set";
        return Err(section.error("waf_of_bytes", what, "expected one of them"));
    }
    let is_given = table.waf.is_some() || table.waf_of_bytes.is_some();
    let keys = [
        ("laps_max", table.laps_max.is_some()),
        ("lap_programs_min", table.lap_programs_min.is_some()),
        ("waf_error_max", table.waf_error_max.is_some()),
        ("close_up_requests", table.close_up_requests.is_some()),
    ];
    match keys.iter().find(|(_, set)| is_given && *set) {
        Some((key, _)) => {
            let what = format!("{key} has no effect with a given waf");
            Err(section.error(key, what, "expected no such key, or no waf and no waf_of_bytes"))
        }
        None => Ok(!is_given),
    }
}

/// Refuses a drive whose life is used up.
fn check_age(
    layers: &Layers,
    endurance: Endurance,
    policy: Throttle,
    (cycles_used, age_years): (f64, f64),
) -> Result<()> {
    let rest = mean_idle_s(age_years * floatgate_lifetime::SECONDS_PER_YEAR, cycles_used);
    let nominal = policy.parts().is_some_and(|parts| parts.budget == Budget::Nominal);
    let stands = if nominal { endurance.rated_erases() } else { endurance.cycles(rest) };
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
