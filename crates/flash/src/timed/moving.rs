//! Pages that jobs move, with their sources, while the programs of their new copies are under way.

use super::queue::Far;
use crate::Class;
use floatgate_base::{IdVec, Ppn, UnitId};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A page under way to another place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Copied {
    /// Its new place, and the old one.
    pub page: Ppn,
    pub source: Ppn,
    /// The operation that reads the old copy: a read, or the move itself.
    pub read: Far,
}

/// Pages that programs with consecutive tickets move to consecutive places.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// Ticket of the program of the first page.
    ticket: u64,
    /// Number of the first page's source, of all sources so far.
    first_source: u64,
    /// The operation that reads the first page's old copy; those of the others follow it.
    read: Far,
    /// New place of the first page.
    page: Ppn,
    pages: u32,
}

/// The pages that programs of one class at one die move.
#[derive(Clone, Debug, Default)]
struct Issued {
    /// By ticket and new place, ascending.
    rows: VecDeque<Row>,
    /// The sources of the rows, in their order.
    sources: VecDeque<Ppn>,
    /// Sources removed so far.
    removed: u64,
}

impl Issued {
    /// Removes the rows whose programs are done up to the ticket `done`.
    #[inline(always)]
    fn remove_done(&mut self, done: u64) {
        while let Some(row) = self.rows.front()
            && row.ticket.saturating_add(u64::from(row.pages)) <= done + 1
        {
            self.sources.drain(..row.pages as usize);
            self.removed += u64::from(row.pages);
            self.rows.pop_front();
        }
    }

    /// Returns the `n`th page of a row.
    fn copied(&self, row: &Row, n: u64) -> Copied {
        let source = self.sources[(row.first_source - self.removed + n) as usize];
        let read = Far { ticket: row.read.ticket + n, ..row.read };
        Copied { page: row.page + n as u32, source, read }
    }

    /// Lists the pages whose programs are not done, with the tickets of these.
    fn pending(&self, done: u64) -> Vec<(u64, Copied)> {
        let pages = |row: &Row| 0..u64::from(row.pages);
        let all = self.rows.iter().flat_map(|row| pages(row).map(|n| (row.ticket + n, self.copied(row, n))));
        all.filter(|&(ticket, _)| ticket > done).collect()
    }
}

/// The pages under way to another place, in a snapshot.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedMoving {
    /// By die and class of the program: pages with the tickets of their programs, ascending.
    issued: Vec<[Vec<(u64, Copied)>; 2]>,
    gathered: IdVec<UnitId, Vec<Copied>>,
}

/// The pages under way to another place.
#[derive(Clone, Debug)]
pub(super) struct Moving {
    /// By die and class of the program.
    issued: Vec<[Issued; 2]>,
    /// By unit: pages of its incomplete flash page.
    gathered: IdVec<UnitId, Vec<Copied>>,
    /// Flash pages to read for the current read, and the pages that it takes from each. Empty between reads.
    pub wanted: Vec<(Ppn, u8)>,
}

impl Moving {
    pub fn new(units: u32, dies: usize) -> Self {
        let issued = (0..dies).map(|_| Default::default()).collect();
        Self { issued, gathered: IdVec::filled(Vec::new(), units), wanted: Vec::new() }
    }

    /// Returns the content for a snapshot. `done` returns the last ticket done of the queue of a die and class.
    pub fn saved(&self, done: impl Fn(usize, Class) -> u64) -> SavedMoving {
        let [a, b] = Class::Read.others();
        let of_die = |(die, [of_a, of_b]): (usize, &[Issued; 2])| {
            [of_a.pending(done(die, a)), of_b.pending(done(die, b))]
        };
        SavedMoving {
            issued: self.issued.iter().enumerate().map(of_die).collect(),
            gathered: self.gathered.clone(),
        }
    }

    /// Restores the content from a snapshot of an array with as many units and dies.
    pub fn of(saved: &SavedMoving) -> Self {
        let mut moving = Self::new(0, saved.issued.len());
        for (die, of_die) in saved.issued.iter().enumerate() {
            for (class, pages) in (1..).zip(of_die) {
                let add = |&(ticket, copied)| moving.add(copied, Far { die: die as u32, class, ticket }, 0);
                pages.iter().for_each(add);
            }
        }
        moving.gathered.clone_from(&saved.gathered);
        moving
    }

    /// Returns whether a snapshot belongs to an array with as many units and dies.
    pub fn is_like(&self, saved: &SavedMoving) -> bool {
        (self.issued.len(), self.gathered.len()) == (saved.issued.len(), saved.gathered.len())
    }

    /// Adds a page whose program has been issued; `done` is the last ticket done of the program's queue.
    pub fn add(&mut self, copied: Copied, program: Far, done: u64) {
        self.add_row(std::iter::once(copied.source), copied, program, done);
    }

    /// Adds a row of moves whose programs have been issued, the first as `program` for the page `first`. `sources` lists
    /// the old places of all its pages; the operation that reads one has the ticket after that of the one before.
    #[inline(always)]
    pub fn add_row(
        &mut self,
        sources: impl ExactSizeIterator<Item = Ppn>,
        first: Copied,
        program: Far,
        done: u64,
    ) {
        let issued = &mut self.issued[program.die as usize][usize::from(program.class) - 1];
        issued.remove_done(done);
        issued.rows.push_back(Row {
            ticket: program.ticket,
            first_source: issued.removed + issued.sources.len() as u64,
            read: first.read,
            page: first.page,
            pages: sources.len() as u32,
        });
        issued.sources.extend(sources);
    }

    /// Adds a page to the incomplete flash page of a unit.
    pub fn gather(&mut self, unit: UnitId, page: Copied) {
        self.gathered[unit].push(page);
    }

    /// Adds the pages gathered in a unit, whose program has been issued, as [`Self::add`] does.
    pub fn add_gathered(&mut self, unit: UnitId, program: Far, done: u64) {
        let mut gathered = std::mem::take(&mut self.gathered[unit]);
        gathered.drain(..).for_each(|page| self.add(page, program, done));
        // Its memory is reused for the next page.
        self.gathered[unit] = gathered;
    }

    /// Returns how a page came into the flash page of a pending program, if a job moved it.
    pub fn find(&self, program: Far, page: Ppn) -> Option<Copied> {
        let issued = &self.issued[program.die as usize][usize::from(program.class) - 1];
        let behind = issued.rows.partition_point(|row| (row.ticket, row.page) <= (program.ticket, page));
        let row = issued.rows.get(behind.checked_sub(1)?)?;
        let n = program.ticket.checked_sub(row.ticket)?;
        if n >= u64::from(row.pages) || page != row.page + n as u32 {
            return None;
        }
        Some(issued.copied(row, n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

    /// Tickets of a damaged snapshot may have any value and order.
    #[test]
    fn pages_with_unusual_tickets_are_not_found() {
        let of = |page: u32| Copied { page: Ppn(page), source: Ppn(0), read: Far::default() };
        let tickets = [u64::MAX, 3, u64::MAX - 1, 0];
        let pages = tickets.into_iter().zip((0..).map(of)).collect();
        let gathered = IdVec::filled(Vec::new(), 1);
        let mut moving = Moving::of(&SavedMoving { issued: vec![[pages, Vec::new()]], gathered });
        let program = Far { die: 0, class: 1, ticket: 2 };
        assert_eq!(moving.find(program, Ppn(9)), None);
        moving.add(of(9), program, 1);
        assert_eq!(moving.issued[0][0].rows.len(), 5);
    }

    /// Random rows and single pages, with several pages of one program among them, beside a plain list.
    #[test]
    fn pages_are_found_until_their_programs_are_done() {
        let mut rng = Rng::new(3, "moving");
        let mut moving = Moving::new(1, 1);
        let mut list: Vec<(u64, Copied)> = Vec::new();
        let (mut ticket, mut done, mut looked_up) = (1, 0, 0);
        for _ in 0..3000 {
            let place = Ppn(rng.below(1 << 20) as u32);
            let program = Far { die: 0, class: 1, ticket };
            let read = Far { die: 0, class: 2, ticket: rng.below(1000) };
            if rng.below(2) == 0 {
                let sources: Vec<Ppn> =
                    (0..1 + rng.below(9)).map(|_| Ppn(rng.below(1 << 20) as u32)).collect();
                let copied = |n: u32| Copied {
                    page: place + n,
                    source: sources[n as usize],
                    read: Far { ticket: read.ticket + u64::from(n), ..read },
                };
                moving.add_row(sources.iter().copied(), copied(0), program, done);
                list.extend((0..sources.len() as u32).map(|n| (ticket + u64::from(n), copied(n))));
                ticket += sources.len() as u64;
            } else {
                for n in 0..1 + rng.below(4) as u32 {
                    let copied = Copied { page: place + n, source: Ppn(rng.below(1 << 20) as u32), read };
                    moving.add(copied, program, done);
                    list.push((ticket, copied));
                }
                ticket += 1;
            }
            done = (ticket - 1).min(done + rng.below(7));
            list.retain(|&(of, _)| of > done);
            for &(of, copied) in &list {
                let program = Far { ticket: of, ..program };
                assert_eq!(moving.find(program, copied.page), Some(copied), "ticket {of}");
                let other = Ppn(copied.page.0 ^ 1 << 21);
                assert_eq!(moving.find(program, other), None, "ticket {of}");
                looked_up += 1;
            }
        }
        assert!(looked_up > 3000 && !list.is_empty());
        // Rows that are done leave with the next one.
        assert!(moving.issued[0][0].sources.len() < list.len() + 32);
    }
}
