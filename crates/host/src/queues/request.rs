//! A request as it arrived.

use floatgate_base::Op;
use serde::{Deserialize, Serialize};

/// A request as it arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Number from 1, in order of arrival.
    pub number: u64,
    /// Index from 0, in its pass over the source.
    pub index: u64,
    /// Its time stamp in the source.
    pub stamp_ns: i64,
    /// Time of arrival.
    pub arrival_ns: u64,
    /// Time at which it passed the throttle; equals the arrival without a throttle.
    pub entry_ns: u64,
    /// Its operation.
    pub op: Op,
    /// Its flags ([`floatgate_base::batch::flags`]).
    pub flags: u8,
    /// Its device.
    pub device: u16,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
    /// The queue that it joined.
    pub queue: u16,
}
