//! By label: writes that a dispatcher (`ftl.dispatch`) assigns to groups have open blocks of their own.
//!
//! Source: the paper on pattern-based write scheduling, section III-B and Figure 3. Moved pages have survived a block:
//! they are rarely updated, like ungrouped pages, and join these; under `host-gc` they have open blocks of their own.
//! If the dispatcher makes groups, they go to the free block with fewest erases. All other data go to one with a
//! "relatively heavy" count: to that with most, or to one of the more worn half of the free blocks.
//! Each group stays in one plane, selected by its number; successive groups thus go to the planes in turn. A
//! round-robin allocation of pages would spread each of them over all planes.
//!
//! Selected by `ftl.dispatch`, not by `ftl.separate`. Cost: none. Memory: none.

use super::{Moved, Separator, Shape, StreamId, Written};
use crate::pool::Want;
use floatgate_base::{DomainId, Label, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo::plain("labelled", "by the dispatcher's label of each write");

/// Pages without a group.
const REST: StreamId = StreamId(0);
/// Pages with a dispatcher's label.
const APART: StreamId = StreamId(1);
/// Pages that collection moves, unless they join the rest.
const MOVED: StreamId = StreamId(2);

/// Parameters of separation by label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Whether labels name groups, which open free blocks by wear.
    pub groups: bool,
    /// Whether all other data open free blocks of the more worn half, in place of the most worn one.
    pub rest_in_upper_half: bool,
    /// Whether moved pages have open blocks of their own.
    pub moved_apart: bool,
}

impl Params {
    /// The stream of pages with a dispatcher's label.
    pub const APART: StreamId = APART;

    /// Returns the number of streams.
    #[must_use]
    pub fn streams(self) -> u32 {
        if self.moved_apart { 3 } else { 2 }
    }

    /// Checks whether host pages of a stream stay in the domain that their label names.
    pub(super) fn keeps_in_domain(self, stream: StreamId) -> bool {
        self.groups && stream == APART
    }

    /// Selects the free unit that a stream opens.
    pub(super) fn want(self, stream: StreamId) -> Want {
        match stream {
            _ if !self.groups => Want::Next,
            APART => Want::LeastWorn,
            _ if self.rest_in_upper_half => Want::UpperHalf,
            _ => Want::MostWorn,
        }
    }
}

/// Returns the domain, of `domains`, in which the pages of a label stay; none if they may go anywhere.
pub(crate) fn domain_of(label: Label, domains: u32) -> Option<DomainId> {
    label.group().map(|group| DomainId(group % domains))
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    moved: StreamId,
}

impl State {
    pub fn new(params: &Params, _: &Shape) -> Self {
        Self { moved: if params.moved_apart { MOVED } else { REST } }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        if page.hints.label.is_apart() { APART } else { REST }
    }

    #[inline(always)]
    fn move_stream(&self, _: &Moved) -> StreamId {
        self.moved
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}
