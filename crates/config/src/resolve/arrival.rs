//! `[workload]`: how requests arrive.

use crate::layers::Layers;
use crate::settings::{self, ARRIVALS};
use crate::tables::choice;
use floatgate_base::Result;
use floatgate_sim::Arrival;

// In the order of [`ARRIVALS`].
const OPEN: usize = 0;
const SHIFTED: usize = 1;
const CLOSED: usize = 2;

/// How requests arrive, and the key of the resolved experiment; in functional mode only under a throttle.
#[derive(Default)]
pub(crate) struct Arrives {
    pub arrival: Option<Arrival>,
    /// Functional mode, under a throttle.
    pub shifted: bool,
    pub name: Option<String>,
    pub queue_depth: Option<u32>,
}

/// Resolves the arrival. `synthetic` workloads without a rate default to a closed loop, others to their time
/// stamps.
pub(crate) fn resolve(
    layers: &Layers,
    table: &settings::Workload,
    timed: bool,
    synthetic: bool,
    throttled: bool,
) -> Result<Arrives> {
    let default = if synthetic && table.rate_per_s.is_none() { "closed" } else { "open" };
    if !timed && throttled {
        return by_device_time(layers, table, synthetic);
    }
    if !timed {
        return functional_only(layers, table, default, synthetic).map(|()| Arrives::default());
    }
    let name = table.arrival.clone().unwrap_or_else(|| default.into());
    let way = choice(layers, "workload.arrival", "arrival", &name, ARRIVALS)?;
    if way == CLOSED {
        let queue_depth = table.queue_depth();
        let arrival = Some(Arrival::Closed { queue_depth });
        return Ok(Arrives { arrival, name: Some(name), queue_depth: Some(queue_depth), shifted: false });
    }
    if synthetic && table.rate_per_s.is_none() {
        let what = format!("arrival \"{name}\" needs times, and this workload has no rate_per_s");
        return Err(layers.error(
            "workload.arrival",
            what,
            "give workload.rate_per_s, or arrival = \"closed\"",
        ));
    }
    if way == SHIFTED && !throttled {
        let what = "arrival \"shifted\" moves the stamps by what a throttle delays, and lifetime.throttle.policy is \"none\"";
        return Err(layers.error(
            "workload.arrival",
            what,
            "expected \"open\", which is the same without a throttle",
        ));
    }
    let arrival = Some([Arrival::Open, Arrival::Shifted, Arrival::Open, Arrival::Think][way]);
    Ok(Arrives { arrival, name: Some(name), queue_depth: None, shifted: false })
}

/// Resolves the arrival of functional mode under a throttle. Only throttling takes time, so time stamps are
/// required.
fn by_device_time(layers: &Layers, table: &settings::Workload, synthetic: bool) -> Result<Arrives> {
    if synthetic && table.rate_per_s.is_none() {
        let what = "a throttle goes by the time at which requests arrive, and this workload has none";
        let expected = "give workload.rate_per_s, or mode = \"timed\"";
        let managed = layers.text("lifetime.reduce.policy") == Some("integrated");
        let key = if managed { "lifetime.reduce.policy" } else { "lifetime.throttle.policy" };
        return Err(layers.error(key, what, expected));
    }
    let name = table.arrival.clone().unwrap_or_else(|| "open".into());
    let way = choice(layers, "workload.arrival", "arrival", &name, ARRIVALS)?;
    if way != OPEN && way != SHIFTED {
        let what = format!("arrival \"{name}\" goes by completions, which functional mode does not know");
        let expected = "expected \"open\" or \"shifted\", or mode = \"timed\"";
        return Err(layers.error("workload.arrival", what, expected));
    }
    Ok(Arrives { arrival: None, name: Some(name), queue_depth: None, shifted: way == SHIFTED })
}

/// Refuses keys of time in functional mode, except for their defaults.
fn functional_only(
    layers: &Layers,
    table: &settings::Workload,
    arrival: &str,
    synthetic: bool,
) -> Result<()> {
    let expected = "expected mode = \"timed\", or no arrival";
    // The default of a generator, which needs no times.
    let closed = |name: &str| synthetic && name == ARRIVALS[CLOSED].0;
    if let Some(other) = table.arrival.as_deref().filter(|&name| name != arrival && !closed(name)) {
        let what = format!("arrival = \"{other}\" has no effect in functional mode");
        return Err(layers.error("workload.arrival", what, expected));
    }
    Ok(())
}
