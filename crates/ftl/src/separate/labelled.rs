//! By label: writes that a dispatcher (`ftl.dispatch`) says belong to others have open blocks of their own.
//!
//! Source: the paper on pattern-based write scheduling, section III-B and Figure 3. Pages that move have survived a
//! block: they are rarely updated, as those are that belong to no other, and join these; under `host-gc` they have open
//! blocks of their own. Where the dispatcher makes groups, they go to the free block with fewest erases and all else to
//! that with most. Each group stays in one plane, the one that its number names, so that groups go to the planes in turn:
//! a round-robin allocation of pages would spread each of them over all planes.
//!
//! Chosen by `ftl.dispatch`, not by `ftl.separate`. Cost: none. Memory: none.

use super::{Moved, Separator, Shape, StreamId, Written};
use crate::pool::Want;
use floatgate_base::{DomainId, Label, PolicyInfo};
use serde::{Deserialize, Serialize};

pub const INFO: PolicyInfo = PolicyInfo::plain("labelled", "what the dispatcher says of each write");

/// What belongs to no other.
const REST: StreamId = StreamId(0);
/// What a dispatcher has labelled.
const APART: StreamId = StreamId(1);
/// What collection moves, where it does not join the rest.
const MOVED: StreamId = StreamId(2);

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// Whether labels name groups, and the wear of free blocks decides which of them are opened.
    pub groups: bool,
    /// Whether moved pages have open blocks of their own.
    pub moved_apart: bool,
}

impl Params {
    /// The stream of what a dispatcher has labelled.
    pub const APART: StreamId = APART;

    /// Streams that it uses.
    #[must_use]
    pub fn streams(self) -> u32 {
        if self.moved_apart { 3 } else { 2 }
    }

    /// Whether the host's pages of a stream stay in the domain that their label names.
    pub(super) fn keeps_in_domain(self, stream: StreamId) -> bool {
        self.groups && stream == APART
    }

    /// Which free unit a stream opens.
    pub(super) fn want(self, stream: StreamId) -> Want {
        match stream {
            _ if !self.groups => Want::Next,
            APART => Want::LeastWorn,
            _ => Want::MostWorn,
        }
    }
}

/// The domain in which the pages of a label stay, of so many; none where they may go anywhere.
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
