//! `[lifetime]`: what makes a drive last longer, and how its life is forecast.

use super::table::table;
use super::{Reduce, Throttle};
use floatgate_base::policy::Range;
use floatgate_lifetime::life::METHODS;

const METHOD: &str = "lifetime.forecast.method";
/// The methods that measure write amplification before the life, or take it from the user.
const BY_WAF: &[&str] = &["auto", "windows", "requests"];

table! {
    Lifetime = "lifetime", "Lifetime management."
    rows {}
    tables {
        throttle: Throttle,
        forecast: Forecast,
        reduce: Reduce,
    }
}

table! {
    Forecast = "lifetime.forecast", "How `floatgate lifetime` gets from a trace to years; `floatgate run` passes over it."
    rows {
        method: String = name("how the life is forecast", METHODS);
        window_s: f64 = real("width of the windows of the trace", 1.0, (1e-6, 86_400.0)).with(METHOD, &["auto", "windows"]);
        waf: f64 = real("write amplification, instead of measuring it", 1.0, WAF).or("measured").with(METHOD, BY_WAF);
        waf_of_bytes: f64 = real(
            "the same where it is known as flash bytes for each byte that the host wrote, as counters of drives tell it; by \
             page writes it is less, as far as requests touch pages in part",
            1.0,
            WAF,
        )
        .or("measured")
        .with(METHOD, BY_WAF);
        laps_max: u32 = whole("laps over the trace after which write amplification counts as it is", 12, (3, u32::MAX))
            .with(METHOD, BY_WAF);
        lap_programs_min: u32 = whole(
            "pages that a lap programs at least; laps are longer where the workload's data move among more pages",
            1 << 21,
            (1, u32::MAX),
        )
        .with(METHOD, BY_WAF);
        waf_error_max: f64 = within(
            "difference from lap to lap, relative, at which write amplification counts as stationary",
            0.005,
            Range::ABOVE_0,
        )
        .with(METHOD, BY_WAF);
        close_up_requests: u32 = whole(
            "requests of each part of the trace that the worn-in drive serves in timed mode, for latencies; 0 for none",
            131_072,
            (0, u32::MAX),
        );
        cycles_used: f64 = within("cycles that the blocks have behind them at the beginning", 0.0, Range::FROM_0);
        demand: f64 = within(
            "factor on the rate of the workload from the beginning: 2 for twice as many requests per day; growth comes on top",
            1.0,
            Range::closed(1e-9, 1e9),
        );
        growth_per_year: f64 = within(
            "share by which what the host writes grows each year; without a throttle",
            0.0,
            Range::closed(-0.9, 100.0),
        );
        age_years: f64 = within("how old the drive is then", 0.0, Range::FROM_0);
        cycles_spread: f64 = within(
            "standard deviation of the cycles that blocks stand, as a share of their mean, for the lower end of the life",
            0.0,
            Range { below_most: true, ..Range::closed(0.0, 0.5) },
        )
        .or("not known");
    }
}

/// The range of a write amplification.
const WAF: (f64, f64) = (1e-3, 1e6);
