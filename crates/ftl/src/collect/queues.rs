//! Queues: units of streams that are collected in the order of closing, for separators that have such streams (MiDAS's
//! groups). All other units are in the index of the victim policy.
//!
//! The separator selects the stream of the next victim. Every choice and every change costs O(1), however many units
//! the streams hold. Memory: 10 bytes per unit, 16 per stream and domain.

use crate::index::Lists;
use crate::units::{NOT_INDEXED, Units};
use floatgate_base::{DomainId, IdSlice, IdVec, StreamId, UnitId};
use floatgate_flash::Layout;
use serde::{Deserialize, Serialize};

/// Position of a queued unit, for [`crate::units::UnitMeta`].
const QUEUED: u32 = 0;
/// Stream of a unit that is in no queue.
const NONE: u16 = u16::MAX;

/// The closed units of all queued streams.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Queues {
    streams: u32,
    /// One list per domain and stream, indexed as if by domain.
    lists: Lists,
    /// Length of each list.
    lengths: Vec<u32>,
    /// Of these, units with a dead page.
    worthwhile: Vec<u32>,
    /// The stream in whose queue a unit is.
    stream_of: IdVec<UnitId, u16>,
}

impl Queues {
    /// Creates the queues of an empty drive.
    pub fn new(streams: u32, layout: &Layout) -> Self {
        let lists = layout.domains() * streams;
        Self {
            streams,
            lists: Lists::new(lists, layout.units()),
            lengths: vec![0; lists as usize],
            worthwhile: vec![0; lists as usize],
            stream_of: IdVec::filled(NONE, layout.units()),
        }
    }

    /// Checks whether the state fits a drive with this layout and number of streams.
    pub fn fits(&self, other: &Self) -> bool {
        self.streams == other.streams
            && self.lists.room() == other.lists.room()
            && self.lengths.len() == other.lengths.len()
            && self.worthwhile.len() == other.worthwhile.len()
            && self.stream_of.len() == other.stream_of.len()
    }

    fn list(&self, domain: DomainId, stream: StreamId) -> DomainId {
        DomainId(domain.0 * self.streams + stream.0)
    }

    fn of_domain(&self, domain: DomainId) -> std::ops::Range<usize> {
        let first = domain.index() * self.streams as usize;
        first..first + self.streams as usize
    }

    /// Checks whether a closed unit is in a queue.
    #[inline(always)]
    pub fn holds(&self, unit: UnitId) -> bool {
        self.stream_of[unit] != NONE
    }

    /// Returns the stream in whose queue a closed unit is.
    pub fn stream_of(&self, unit: UnitId) -> Option<StreamId> {
        let stream = self.stream_of[unit];
        (stream != NONE).then(|| StreamId(stream.into()))
    }

    /// Returns the number of units in each stream's queue of a domain.
    pub fn lengths(&self, domain: DomainId) -> &[u32] {
        &self.lengths[self.of_domain(domain)]
    }

    /// Returns the unit of a queue that was closed first.
    pub fn oldest(&self, domain: DomainId, stream: StreamId) -> Option<UnitId> {
        self.lists.first(self.list(domain, stream))
    }

    /// Yields the units of a queue from old to young.
    pub fn iter(&self, domain: DomainId, stream: StreamId) -> impl Iterator<Item = UnitId> + '_ {
        self.lists.iter(self.list(domain, stream))
    }

    /// Returns the first stream whose queue holds a unit with a dead page.
    pub fn first_worthwhile(&self, domain: DomainId) -> Option<StreamId> {
        let first = self.worthwhile[self.of_domain(domain)].iter().position(|&units| units > 0)?;
        Some(StreamId(first as u32))
    }

    /// Appends a unit of a stream that was just closed.
    pub fn insert(&mut self, domain: DomainId, unit: UnitId, stream: StreamId, units: &mut Units, full: u32) {
        let list = self.list(domain, stream);
        self.lists.push_back(list, unit);
        self.lengths[list.index()] += 1;
        self.worthwhile[list.index()] += u32::from(units.meta[unit].valid < full);
        self.stream_of[unit] = stream.0 as u16;
        units.meta[unit].pos = QUEUED;
    }

    /// Removes a unit that will be emptied.
    pub fn leave(&mut self, domain: DomainId, unit: UnitId, units: &mut Units, full: u32) {
        let list = self.list(domain, StreamId(self.stream_of[unit].into()));
        self.lists.remove(list, unit);
        self.lengths[list.index()] -= 1;
        self.worthwhile[list.index()] -= u32::from(units.meta[unit].valid < full);
        self.stream_of[unit] = NONE;
        units.meta[unit].pos = NOT_INDEXED;
    }

    /// Notes the first dead page of a unit.
    pub fn lost_first_page(&mut self, domain: DomainId, unit: UnitId) {
        let list = self.list(domain, StreamId(self.stream_of[unit].into()));
        self.worthwhile[list.index()] += 1;
    }

    /// Excludes the oldest unit of a queue from the choice until it is put back.
    pub fn set_aside(&mut self, domain: DomainId, stream: StreamId, unit: UnitId) {
        let list = self.list(domain, stream);
        self.lists.remove(list, unit);
    }

    /// Undoes [`Queues::set_aside`].
    pub fn put_back(&mut self, domain: DomainId, stream: StreamId, unit: UnitId) {
        let list = self.list(domain, stream);
        self.lists.push_front(list, unit);
    }

    /// Verifies that each queue holds exactly its units, from old to young, with correct counts.
    ///
    /// # Errors
    /// Describes the discrepancy.
    pub fn audit(
        &self,
        layout: &Layout,
        units: &Units,
        held: &mut IdSlice<UnitId, bool>,
    ) -> Result<(), String> {
        let mut listed = 0;
        for domain in DomainId::all(layout.domains()) {
            for stream in StreamId::all(self.streams) {
                let list = self.list(domain, stream);
                let (mut length, mut worthwhile, mut before) = (0, 0, 0);
                for unit in self.lists.iter(list) {
                    let meta = units.meta[unit];
                    let is_here = layout.domain_of(unit) == domain
                        && u32::from(self.stream_of[unit]) == stream.0
                        && meta.pos == QUEUED
                        && units.closed_at[unit] >= before;
                    if !is_here || std::mem::replace(&mut held[unit], true) {
                        return Err(format!("unit {unit} is out of place in the queue of stream {stream}"));
                    }
                    before = units.closed_at[unit];
                    length += 1;
                    worthwhile += u32::from(meta.valid < layout.pages_per_unit());
                }
                let counted = (self.lengths[list.index()], self.worthwhile[list.index()]);
                if counted != (length, worthwhile) {
                    return Err(format!(
                        "the queue of stream {stream} in domain {domain} has {length} units, {worthwhile} of them \
                         with dead pages; counted {counted:?}"
                    ));
                }
                listed += length as usize;
            }
        }
        let marked = self.stream_of.iter().filter(|&&stream| stream != NONE).count();
        if marked != listed {
            return Err(format!("{listed} units are in queues, {marked} are marked as queued"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_flash::Scope;
    use floatgate_nand::Geometry;

    const FULL: u32 = 4;
    const STREAMS: u32 = 2;

    /// Builds two domains of four units. Of domain 0, units 0 and 1 are in the queue of stream 0, unit 2 in that of
    /// stream 1. Of domain 1, unit 4 is in that of stream 1. Units 1 and 4 have a dead page.
    fn drive() -> (Queues, Layout, Units) {
        let geometry = Geometry {
            channels: 1,
            chips_per_channel: 1,
            dies_per_chip: 1,
            planes_per_die: 2,
            blocks_per_plane: 4,
            pages_per_block: FULL,
            page_bytes: 4096,
        };
        let layout = Layout::new(geometry, Scope::Plane);
        let (mut queues, mut units) = (Queues::new(STREAMS, &layout), Units::new(&layout));
        for (i, (unit, stream, valid)) in [(0, 0, 4), (1, 0, 3), (2, 1, 4), (4, 1, 2)].into_iter().enumerate()
        {
            let unit = UnitId(unit);
            units.meta[unit].valid = valid;
            units.closed_at[unit] = 10 * i as u64;
            queues.insert(layout.domain_of(unit), unit, StreamId(stream), &mut units, FULL);
        }
        (queues, layout, units)
    }

    fn audit(queues: &Queues, layout: &Layout, units: &Units) -> Result<Vec<u32>, String> {
        let mut held = IdVec::filled(false, layout.units());
        queues.audit(layout, units, &mut held)?;
        Ok(UnitId::all(layout.units()).filter(|&unit| held[unit]).map(|unit| unit.0).collect())
    }

    #[test]
    fn an_audit_accounts_for_all_units_in_queues() {
        let (mut queues, layout, mut units) = drive();
        assert_eq!(audit(&queues, &layout, &units), Ok(vec![0, 1, 2, 4]));
        queues.leave(DomainId(0), UnitId(1), &mut units, FULL);
        units.meta[UnitId(0)].valid -= 1;
        queues.lost_first_page(DomainId(0), UnitId(0));
        assert_eq!(audit(&queues, &layout, &units), Ok(vec![0, 2, 4]));
    }

    #[test]
    fn an_audit_names_what_is_out_of_place() {
        type Damage = fn(&mut Queues, &mut Units);
        let out_of_place: [Damage; 4] = [
            |_, units| units.closed_at[UnitId(0)] = 11,
            |_, units| units.meta[UnitId(1)].pos = NOT_INDEXED,
            |queues, _| queues.stream_of[UnitId(1)] = 1,
            |queues, _| {
                queues.lists.remove(DomainId(3), UnitId(4));
                queues.lists.push_back(DomainId(1), UnitId(4));
            },
        ];
        let counted_wrong: [Damage; 4] = [
            |queues, _| queues.lengths[0] = 3,
            |queues, _| queues.worthwhile[3] = 0,
            |_, units| units.meta[UnitId(2)].valid = 3,
            |queues, _| queues.set_aside(DomainId(0), StreamId(1), UnitId(2)),
        ];
        let wrong_stream: [Damage; 1] = [|queues, _| queues.stream_of[UnitId(3)] = 0];
        let of = |damage: &Damage| {
            let (mut queues, layout, mut units) = drive();
            damage(&mut queues, &mut units);
            audit(&queues, &layout, &units).unwrap_err()
        };
        assert!(out_of_place.iter().all(|damage| of(damage).contains("out of place")));
        assert!(counted_wrong.iter().all(|damage| of(damage).contains("counted")));
        assert!(
            wrong_stream.iter().all(|damage| of(damage) == "4 units are in queues, 5 are marked as queued")
        );
    }

    #[test]
    fn an_audit_finds_units_that_stand_elsewhere_too() {
        let (queues, layout, units) = drive();
        let mut held = IdVec::filled(false, layout.units());
        held[UnitId(2)] = true;
        assert!(queues.audit(&layout, &units, &mut held).unwrap_err().starts_with("unit 2 is out of place"));
    }
}
