//! A whole life from one pass of a workload: the pass repeats until the target, with known write amplification and with
//! the throttle and the recovery model in the loop (READY, section 4.2).
//!
//! [`Demand`] is the condensed pass; [`Life`] sends it through a [`crate::throttle::Gate`] again and again; [`Outcome`]
//! is the result.

mod ahead;
mod book;
mod demand;
mod lumps;
mod observer;
mod reduction;
#[cfg(test)]
mod tests;

pub use book::{Book, Detail, Outcome, Row};
pub use demand::{Demand, DemandBuilder};
pub use lumps::{Amplification, Lumps};
pub use observer::OBSERVE_NS;
pub use reduction::{Managed, Reduction};

use crate::reduce::{ByChoice, Foreseen};
use crate::throttle::{Gate, Setup};
use observer::Observer;

/// Method of simulating a life (`lifetime.forecast.method`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `Full` where that is fast, else `Windows`.
    Auto,
    /// Every request passes the FTL.
    Full,
    /// Runs of page writes within windows of the workload.
    Windows,
    /// Every request, without the FTL.
    Requests,
}

/// Names of the methods with their descriptions.
pub const METHODS: &[(&str, &str)] = &[
    ("auto", "full where that is fast, else windows"),
    ("full", "every request of the life through the FTL"),
    ("windows", "write amplification from the FTL, then the life by windows of the workload"),
    ("requests", "write amplification from the FTL, then the life request by request"),
];

/// Settings of a forecast (`[lifetime.forecast]`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The method.
    pub method: Method,
    /// Width of the windows.
    pub window_ns: u64,
    /// Configured write amplification, if any.
    pub waf: Option<f64>,
    /// Configured write amplification in flash bytes per byte of the host's requests, if any.
    pub waf_of_bytes: Option<f64>,
    /// Maximum of laps over the workload; write amplification is taken as measured after them.
    pub laps_max: u32,
    /// Minimum of page programs per lap.
    pub lap_programs_min: u32,
    /// Relative difference from lap to lap below which write amplification counts as stationary.
    pub waf_error_max: f64,
    /// Requests of each part of the close-up; 0 for none.
    pub close_up_requests: u32,
    /// Cycles of the blocks at the beginning.
    pub cycles_used: f64,
    /// Factor on the rate of the workload.
    pub demand: f64,
    /// Share by which demand grows each year.
    pub growth_per_year: f64,
    /// Age of the drive at the beginning, years; with the cycles it gives the rest of the blocks so far.
    pub age_years: f64,
    /// Standard deviation of the cycles that blocks endure, as a share of their mean; None if unknown.
    pub cycles_spread: Option<f64>,
}

/// A life to simulate.
#[derive(Clone, Debug)]
pub struct Life<'a> {
    /// Throttle and drive. Arrivals follow the delays; `arrivals_follow` is ignored.
    pub setup: Setup,
    /// One pass of the workload.
    pub demand: &'a Demand,
    /// Flash bytes programmed per byte of a host page write.
    pub waf: f64,
    /// Start and end of the part to record in detail, nanoseconds.
    pub detail_ns: Option<(u64, u64)>,
    /// Distribution of the programs, besides their mean; None if unknown.
    pub lumps: Option<&'a Lumps>,
    /// Effect of deduplication and compression, if any.
    pub reduction: Option<Reduction>,
}

impl Life<'_> {
    /// Returns the same life where the host writes `factor` times as much at every moment, or the drive programs
    /// `factor` times as much for it; both cause the same wear.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let reduction = self.reduction.as_ref().map(|reduction| reduction.scaled(factor));
        // Lumps correct the gate by the programs of a drive under the original load.
        Self { waf: self.waf * factor, detail_ns: None, lumps: None, reduction, ..*self }
    }

    /// Checks whether lumps correct what the throttle admits; [`Life::scaled`] leaves them out.
    #[must_use]
    pub fn corrects_gate(&self) -> bool {
        self.setup.policy.parts().is_some() && self.reduction.is_none() && self.lumps.is_some()
    }

    /// Simulates the life. `tick` receives the finished share of it from time to time, and may stop the simulation.
    ///
    /// # Errors
    /// The errors of `tick`.
    pub fn run<E>(&self, tick: &mut dyn FnMut(f64) -> Result<(), E>) -> Result<Outcome, E> {
        let setup = Setup { arrivals_follow: true, ..self.setup };
        let mut gate = Gate::new(setup, self.waf);
        let mut book = Book::new(&setup, self.detail_ns);
        let managed = match &self.reduction {
            Some(Reduction::Managed(managed)) => setup.manager.map(|manager| (manager, &**managed)),
            Some(Reduction::Always) | None => None,
        };
        if let Some((manager, managed)) = managed {
            gate.foresee(Foreseen::new(manager, managed.through, managed.amplification));
        }
        let period_ns = self.demand.period_ns().max(1);
        let lumps = self.lumps.filter(|_| self.corrects_gate());
        let mut pass = Pass {
            observer: lumps.map(|lumps| Observer::new(lumps, &setup, self.waf)),
            demand: self.demand,
            base_ns: 0,
            target_ns: setup.target_ns,
            detail_ns: self.detail_ns,
            managed: managed.map(|(_, managed)| managed),
        };
        let (mut passes, mut reported) = (0, 0.0);
        while pass.base_ns.saturating_add(gate.held_back_ns()) < setup.target_ns
            && gate.policy_fault().is_none()
        {
            pass.top_down(&mut gate, &mut book);
            pass.base_ns = pass.base_ns.saturating_add(period_ns);
            passes += 1;
            if passes == 1 {
                book.first_pass = gate.predictions();
            }
            let done = gate.admitted_ns() as f64 / setup.target_ns as f64;
            // Short passes are numerous.
            if done >= reported + 0.002 || passes % 4096 == 0 {
                tick(done)?;
                reported = done;
            }
        }
        if let Some(observer) = &mut pass.observer {
            observer.observe(&mut gate, page_writes(&book));
        }
        let demand_bytes = self.demand.pages() as f64 * f64::from(setup.page_bytes) * self.waf;
        Ok(book.outcome(&gate, passes, demand_bytes / period_ns as f64))
    }
}

/// Returns the page writes that have passed.
fn page_writes(book: &Book) -> u64 {
    book.passed().page_writes
}

/// One pass over the demand.
struct Pass<'a> {
    demand: &'a Demand,
    /// Reports lumps to the gate, where they are known.
    observer: Option<Observer<'a>>,
    /// Start of the pass without any delay.
    base_ns: u64,
    target_ns: u64,
    detail_ns: Option<(u64, u64)>,
    managed: Option<&'a Managed>,
}

impl Pass<'_> {
    fn top_down(&mut self, gate: &mut Gate, book: &mut Book) {
        for block in 0..self.demand.blocks(self.demand.top()) {
            self.block(self.demand.top(), block, gate, book);
        }
    }

    /// Lets a block pass at once if nothing can hold its pages back, else its parts one by one.
    fn block(&mut self, level: usize, block: usize, gate: &mut Gate, book: &mut Book) {
        let (at_ns, span_ns, pages) = self.demand.block(level, block);
        let arrival_ns = self.base_ns.saturating_add(at_ns).saturating_add(gate.held_back_ns());
        if arrival_ns >= self.target_ns {
            return;
        }
        let close = self.detail_ns.is_some_and(|(from, to)| {
            arrival_ns < to
                && arrival_ns.saturating_add(span_ns).saturating_add(gate.delay_ns() * pages) >= from
        });
        self.expect(gate, |managed| managed.left_of(level, block));
        if !close && self.admit_all((arrival_ns, span_ns), pages, gate, book).is_some() {
            book.look(gate);
        } else if level == 0 {
            self.runs(block, gate, book);
        } else {
            let demand = self.demand;
            for part in demand.parts(level, block) {
                self.block(level - 1, part, gate, book);
            }
        }
    }

    fn runs(&mut self, block: usize, gate: &mut Gate, book: &mut Book) {
        let demand = self.demand;
        for run in demand.runs(block) {
            let arrival_ns = self.base_ns.saturating_add(run.at_ns).saturating_add(gate.held_back_ns());
            if arrival_ns >= self.target_ns {
                return;
            }
            let pages = u64::from(run.pages);
            self.expect(gate, |managed| managed.left_at(run.at_ns));
            book.demanded(arrival_ns, pages);
            let arrives = (arrival_ns, u64::from(run.gap_ns));
            match &mut self.observer {
                None => _ = gate.admit(arrives.0, arrives.1, pages, book),
                Some(observer) => {
                    observer.admit(gate, arrives, (pages, demand.request_pages()), (book, page_writes))
                }
            }
            book.look(gate);
        }
    }

    fn admit_all(
        &mut self,
        (arrival_ns, span_ns): (u64, u64),
        pages: u64,
        gate: &mut Gate,
        book: &mut Book,
    ) -> Option<u64> {
        match &mut self.observer {
            None => gate.admit_all(arrival_ns, span_ns, pages, book),
            Some(observer) => observer.admit_all(gate, (arrival_ns, span_ns), pages, (book, page_writes)),
        }
    }

    /// Passes the gate the shares that reduction leaves of the next page writes.
    #[inline]
    fn expect(&self, gate: &mut Gate, left: impl Fn(&Managed) -> ByChoice) {
        if let Some(managed) = self.managed {
            gate.expect(left(managed));
        }
    }
}
