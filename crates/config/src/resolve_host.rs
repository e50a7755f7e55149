//! `[host]`: the queues in which requests wait for the drive.

use crate::layers::Layers;
use crate::raw;
use crate::tables::choice;
use floatgate_base::{Error, Result};
use floatgate_host::queues::{QUEUE_OF, QUEUES_MAX};
use floatgate_host::{QueueOf, QueueSetup};
use floatgate_sim::Arrival;

pub(crate) struct Host {
    pub setup: QueueSetup,
    /// Absent in functional mode.
    pub raw: Option<raw::Host>,
}

/// `arrival` is there in timed mode; `workload` is resolved.
pub(crate) fn resolve(
    layers: &Layers,
    given: raw::Host,
    arrival: Option<Arrival>,
    workload: &raw::Workload,
) -> Result<Host> {
    let Some(arrival) = arrival else {
        return functional_only(layers, &given).map(|()| Host { setup: QueueSetup::default(), raw: None });
    };
    let error = |key: &str, what: String, expected: &str| Err(layers.error(key, what, expected));
    let queues = given.queues.unwrap_or(1);
    if !(1..=QUEUES_MAX).contains(&queues) {
        let expected = format!("expected a whole number from 1 to {QUEUES_MAX}");
        return error("host.queues", format!("a host with {queues} queues"), &expected);
    }
    if given.outstanding_max == Some(0) {
        let what = "a drive that works on 0 requests at once serves nothing".into();
        return error("host.outstanding_max", what, "expected a whole number from 1, or no such key");
    }
    let limited = given.outstanding_max.is_some();
    if arrival == Arrival::Think && (queues > 1 || limited) {
        let key = if queues > 1 { "host.queues" } else { "host.outstanding_max" };
        let what =
            "with arrival \"think\" there is one request at a time, which never waits in a queue".into();
        return error(key, what, "expected no such key, or workload.arrival = \"open\" or \"closed\"");
    }
    if queues > 1 && !limited && !matches!(arrival, Arrival::Closed { .. }) {
        let what = format!("{queues} queues have no effect while the drive fetches every request at once");
        return error(
            "host.queues",
            what,
            "expected 1, or host.outstanding_max, or workload.arrival = \"closed\"",
        );
    }
    let (queue_of, name) = queue_of(layers, &given, queues, workload)?;
    let priorities = priorities(layers, &given, queues, limited)?;
    let raw = raw::Host {
        queues: Some(queues),
        queue_of: name,
        priorities: (queues > 1).then(|| priorities.clone()),
        outstanding_max: given.outstanding_max,
    };
    Ok(Host {
        setup: QueueSetup { priorities, queue_of, outstanding_max: given.outstanding_max },
        raw: Some(raw),
    })
}

fn queue_of(
    layers: &Layers,
    given: &raw::Host,
    queues: u32,
    workload: &raw::Workload,
) -> Result<(QueueOf, Option<String>)> {
    let key = "host.queue_of";
    let name = given.queue_of.as_deref().unwrap_or(QUEUE_OF[0].0);
    let way = choice(layers, key, "way to a queue", name, QUEUE_OF)?;
    if way > 0 && queues == 1 {
        let what = format!("with one queue, queue_of \"{name}\" has no effect");
        return Err(layers.error(key, what, "expected no such key, or host.queues of 2 or more"));
    }
    let kind = workload.kind.as_deref().unwrap_or_default();
    if way > 0 && kind != "trace" {
        let what = format!("a {kind} workload has one device and no streams");
        return Err(layers.error(key, what, "expected \"round-robin\", or a trace"));
    }
    let way = [QueueOf::RoundRobin, QueueOf::Device, QueueOf::Stream][way];
    Ok((way, (queues > 1).then(|| name.to_string())))
}

fn priorities(layers: &Layers, given: &raw::Host, queues: u32, limited: bool) -> Result<Vec<u32>> {
    let key = "host.priorities";
    let Some(priorities) = given.priorities.clone() else { return Ok(vec![0; queues as usize]) };
    if priorities.len() != queues as usize {
        let what = format!(
            "{} for {}",
            counted(priorities.len(), "priority", "priorities"),
            counted(queues as usize, "queue", "queues")
        );
        let zeros = if queues == 1 {
            "no such key, or host.queues of 2 or more".into()
        } else {
            format!("{queues} whole numbers, one a queue")
        };
        return Err(layers.error(key, what, format!("expected {zeros}")));
    }
    if priorities.iter().any(|&p| p != priorities[0]) && !limited {
        let what = "priorities have no effect while the drive fetches every request at once";
        return Err(layers.error(key, what, "expected host.outstanding_max with it, or equal priorities"));
    }
    Ok(priorities)
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Queues are a matter of time.
fn functional_only(layers: &Layers, given: &raw::Host) -> Result<()> {
    let refuse = |key: &str, value: String, default: &str| -> Box<Error> {
        let what = format!("{key} {value} has no effect in functional mode");
        let expected = format!("expected {default}no such key, or mode = \"timed\"");
        layers.error(&format!("host.{key}"), what, expected)
    };
    if let Some(queues) = given.queues.filter(|&q| q != 1) {
        return Err(refuse("queues", queues.to_string(), "1 or "));
    }
    if let Some(name) = given.queue_of.as_deref().filter(|&name| name != QUEUE_OF[0].0) {
        return Err(refuse("queue_of", format!("'{name}'"), "\"round-robin\" or "));
    }
    if let Some(priorities) = &given.priorities {
        return Err(refuse("priorities", format!("{priorities:?}"), ""));
    }
    if let Some(most) = given.outstanding_max {
        return Err(refuse("outstanding_max", most.to_string(), ""));
    }
    Ok(())
}
