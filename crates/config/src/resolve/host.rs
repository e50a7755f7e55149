//! `[host]`: the queues in which requests wait for the drive.

use crate::layers::Layers;
use crate::settings;
use crate::tables::choice;
use floatgate_base::Result;
use floatgate_host::queues::QUEUE_OF;
use floatgate_host::{QueueOf, QueueSetup};
use floatgate_sim::Arrival;

pub(crate) struct Host {
    pub setup: QueueSetup,
    /// Absent in functional mode.
    pub raw: Option<settings::Host>,
}

/// Resolves the queues. `arrival` is set in timed mode; `workload` is resolved.
pub(crate) fn resolve(
    layers: &Layers,
    table: settings::Host,
    arrival: Option<Arrival>,
    workload: &settings::Workload,
) -> Result<Host> {
    let Some(arrival) = arrival else { return Ok(Host { setup: QueueSetup::default(), raw: None }) };
    let error = |key: &str, what: String, expected: &str| Err(layers.error(key, what, expected));
    let queues = table.queues();
    let limited = table.outstanding_max.is_some();
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
    let (queue_of, name) = queue_of(layers, &table, queues, workload)?;
    let priorities = priorities(layers, &table, queues, limited)?;
    let raw = settings::Host {
        queues: Some(queues),
        queue_of: name,
        priorities: (queues > 1).then(|| priorities.clone()),
        outstanding_max: table.outstanding_max,
    };
    Ok(Host {
        setup: QueueSetup { priorities, queue_of, outstanding_max: table.outstanding_max },
        raw: Some(raw),
    })
}

fn queue_of(
    layers: &Layers,
    table: &settings::Host,
    queues: u32,
    workload: &settings::Workload,
) -> Result<(QueueOf, Option<String>)> {
    let key = "host.queue_of";
    let name = table.queue_of();
    let way = choice(layers, key, "queue_of", &name, QUEUE_OF)?;
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
    Ok((way, (queues > 1).then_some(name)))
}

fn priorities(layers: &Layers, table: &settings::Host, queues: u32, limited: bool) -> Result<Vec<u32>> {
    let key = "host.priorities";
    let Some(priorities) = table.priorities.clone() else { return Ok(vec![0; queues as usize]) };
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
