//! The page writes of a life that pass the gate without a wait, whatever their lumps will show it on the way.
//!
//! Between two lumps the programs grow by one page per page write. The limit of a gate that adds up its periods grows
//! at a steady rate, apart from the steps between periods. It is therefore enough to compare both at the ends of each
//! stretch between two lumps, and one correction behind these page writes replaces one per request.

use super::lumps::{Amplification, Lumps, Near};
use crate::throttle::{Gate, Way};

/// Bytes, and share of all bytes, by which rounding may be off.
const ROUNDING: (f64, f64) = (1.0, 1e-14);

/// What is known of the programs of a life.
#[derive(Clone, Debug)]
pub(super) struct Programs<'a> {
    pub lumps: &'a Lumps,
    /// Factor that scales the lumps' programs to the life's write amplification.
    pub scale: f64,
    pub page_bytes: f64,
    pub late: Amplification,
    /// Position of the latest lumps.
    pub near: Near,
}

impl Programs<'_> {
    /// Counts the pages, in whole requests, that pass several periods without a wait under any corrections on the way.
    /// One correction after them is then enough. At least one request of the last period is left: it is the next one
    /// for which a drive would correct its gate.
    pub(super) fn ahead(
        &self,
        gate: &Gate,
        arrives: (u64, u64),
        (before, pages, request): (u64, u64, u64),
    ) -> u64 {
        let Some(way) = gate.way(arrives, pages).filter(|_| pages > request) else { return 0 };
        let until = self.late.until().min(before + pages.min(way.pages));
        let near = self.lumps.near(before, self.near);
        // After the correction that ends a stretch the gate's cost may exceed all that the new stretch leads to.
        let cost_bytes = gate.page_flash_bytes();
        let mut walk =
            Walk { known: self, way, at: before, begun: before, near, peak: 0.0, request, cost_bytes };
        while walk.at < until {
            let alike = walk.left_in_stretch().min(until - walk.at);
            let passing = walk.passing(alike);
            walk.at += passing;
            if passing < alike {
                break;
            }
            walk.near = self.lumps.near(walk.at, walk.near);
        }
        gate.within_epoch(arrives, walk.at - before) / request * request
    }
}

/// Page writes on their way through the gate.
struct Walk<'a> {
    known: &'a Programs<'a>,
    way: Way,
    /// Page writes of the life by now, and at the beginning of the way.
    at: u64,
    begun: u64,
    near: Near,
    /// The most programs so far; a mark may lie below those extrapolated before it.
    peak: f64,
    request: u64,
    /// Flash bytes per page write at the beginning.
    cost_bytes: f64,
}

impl Walk<'_> {
    /// Counts the next page writes without a lump among them.
    fn left_in_stretch(&self) -> u64 {
        self.known.lumps.next_mark(&self.near) - self.at
    }

    /// Counts those of the next `alike` page writes, without a lump among them, that need not wait.
    fn passing(&mut self, alike: u64) -> u64 {
        let Programs { lumps, scale, page_bytes, late, .. } = self.known;
        let programs = (lumps.programs_near(self.at, &self.near) * scale).max(self.peak);
        let page = scale * page_bytes;
        self.peak = programs + (alike - 1) as f64 * scale;
        // The gate may have been corrected one request earlier.
        let since = self.at.saturating_sub(self.request).max(self.begun);
        let Some(waf) = late.at_most(since, programs + alike as f64 * scale) else { return 0 };
        let cost = (waf * page_bytes).max(self.cost_bytes);
        // A request of several pages is charged at the mean cost before its own lumps are known.
        let charged = cost + (self.request - 1) as f64 * (cost - page).max(0.0);
        let limit = self.way.limit_bytes + (self.at - self.begun) as f64 * self.way.page_bytes;
        let (bytes, share) = ROUNDING;
        let slack = limit - (programs * page_bytes + charged + bytes + share * limit);
        let shrinks = page - self.way.page_bytes;
        if slack < 0.0 {
            0
        } else if shrinks * (alike - 1) as f64 <= slack {
            alike
        } else {
            ((slack / shrinks) as u64).min(alike - 1) + 1
        }
    }
}
