//! `[workload]`: how requests arrive.

use crate::layers::Layers;
use crate::raw;
use crate::tables::choice;
use floatgate_base::Result;
use floatgate_sim::Arrival;

/// Requests under way at once in closed loop.
const QUEUE_DEPTH: u32 = 32;

/// Ways of arriving with what they are.
const ARRIVALS: &[(&str, &str)] = &[
    ("open", "at the stamps"),
    ("shifted", "at the stamps, moved by all throttling delays so far"),
    ("closed", "as soon as fewer than queue_depth requests are under way"),
    ("think", "after the request before is done and the gap between both stamps has passed"),
];
const OPEN: usize = 0;
const SHIFTED: usize = 1;
const CLOSED: usize = 2;

/// How requests arrive, and what the resolved experiment says of it: in functional mode something under a throttle only.
#[derive(Default)]
pub(crate) struct Arrives {
    pub arrival: Option<Arrival>,
    /// Functional mode, under a throttle.
    pub shifted: bool,
    pub name: Option<String>,
    pub queue_depth: Option<u32>,
}

/// `synthetic` workloads arrive in closed loop by default, others at their stamps.
pub(crate) fn resolve(
    layers: &Layers,
    given: &raw::Workload,
    timed: bool,
    synthetic: bool,
    throttled: bool,
) -> Result<Arrives> {
    let default = if synthetic { "closed" } else { "open" };
    if !timed && throttled {
        return by_device_time(layers, given, synthetic);
    }
    if !timed {
        return functional_only(layers, given, default).map(|()| Arrives::default());
    }
    let name = given.arrival.clone().unwrap_or_else(|| default.into());
    let way = choice(layers, "workload.arrival", "way of arriving", &name, ARRIVALS)?;
    if way == CLOSED {
        let queue_depth = given.queue_depth.unwrap_or(QUEUE_DEPTH);
        if queue_depth == 0 {
            let expected = "expected a whole number from 1";
            return Err(layers.error("workload.queue_depth", "a queue depth of 0 serves nothing", expected));
        }
        let arrival = Some(Arrival::Closed { queue_depth });
        return Ok(Arrives { arrival, name: Some(name), queue_depth: Some(queue_depth), shifted: false });
    }
    if given.queue_depth.is_some() {
        let what = format!("queue_depth is no key of arrival \"{name}\"");
        return Err(layers.error("workload.queue_depth", what, "expected it with arrival = \"closed\" only"));
    }
    if synthetic && given.rate_per_s.is_none() {
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

/// Functional mode under a throttle: nothing takes time but what the throttle holds back, so there are stamps only.
fn by_device_time(layers: &Layers, given: &raw::Workload, synthetic: bool) -> Result<Arrives> {
    if let Some(other) = given.queue_depth.filter(|&d| d != QUEUE_DEPTH) {
        let what = format!("queue_depth {other} has no effect in functional mode");
        let expected = format!("expected {QUEUE_DEPTH} or no such key, or mode = \"timed\"");
        return Err(layers.error("workload.queue_depth", what, expected));
    }
    if synthetic && given.rate_per_s.is_none() {
        let what = "a throttle goes by the time at which requests arrive, and this workload has none";
        let expected = "give workload.rate_per_s, or mode = \"timed\"";
        let managed = layers.text("lifetime.reduce.policy") == Some("integrated");
        let key = if managed { "lifetime.reduce.policy" } else { "lifetime.throttle.policy" };
        return Err(layers.error(key, what, expected));
    }
    let name = given.arrival.clone().unwrap_or_else(|| "open".into());
    let way = choice(layers, "workload.arrival", "way of arriving", &name, ARRIVALS)?;
    if way != OPEN && way != SHIFTED {
        let what = format!("arrival \"{name}\" goes by completions, which functional mode does not know");
        let expected = "expected \"open\" or \"shifted\", or mode = \"timed\"";
        return Err(layers.error("workload.arrival", what, expected));
    }
    Ok(Arrives { arrival: None, name: Some(name), queue_depth: None, shifted: way == SHIFTED })
}

/// Knobs of time must not be silently dead: only their defaults are taken while there is no time.
fn functional_only(layers: &Layers, given: &raw::Workload, arrival: &str) -> Result<()> {
    let expected = format!("expected \"{arrival}\" or no such key, or mode = \"timed\"");
    if let Some(other) = given.arrival.as_deref().filter(|&a| a != arrival) {
        let what = format!("arrival '{other}' has no effect in functional mode");
        return Err(layers.error("workload.arrival", what, expected));
    }
    if let Some(other) = given.queue_depth.filter(|&d| d != QUEUE_DEPTH) {
        let what = format!("queue_depth {other} has no effect in functional mode");
        let expected = format!("expected {QUEUE_DEPTH} or no such key, or mode = \"timed\"");
        return Err(layers.error("workload.queue_depth", what, expected));
    }
    Ok(())
}
