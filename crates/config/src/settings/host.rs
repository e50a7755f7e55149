//! `[host]`: the host interface, in timed mode.

use super::table::table;
use floatgate_host::queues::{QUEUE_OF, QUEUES_MAX};

table! {
    Host = "host", "The host interface."
    rows {
        queues: u32 = whole("queues in which requests wait for the drive", 1, (1, QUEUES_MAX)).timed();
        queue_of: String = name("several queues: which one a request joins", QUEUE_OF).timed();
        priorities: Vec<u32> = other(
            "several queues: one number for each, the lowest is served first",
            "a list of whole numbers, one for each queue",
        )
        .or("all equal")
        .timed();
        outstanding_max: u32 = whole("requests that the drive works on at once", 1, (1, u32::MAX)).or("no limit").timed();
    }
}
