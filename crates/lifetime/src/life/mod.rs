//! A whole life from one pass of a workload: the pass repeats until the target, with write amplification known and the
//! throttle and the recovery model in the loop (READY, section 4.2).
//!
//! [`Demand`] is the pass, condensed; [`Life`] lets it pass a [`crate::throttle::Gate`] again and again; [`Outcome`]
//! says what came of it.

mod book;
mod demand;
mod lumps;
mod reduction;
#[cfg(test)]
mod tests;

pub use book::{Book, Detail, Outcome, Row};
pub use demand::{Demand, DemandBuilder};
pub use lumps::{Amplification, Lumps, OBSERVE_NS};
pub use reduction::{Managed, Reduction};

use crate::reduce::{ByChoice, Foreseen};
use crate::throttle::{Gate, Setup};
use lumps::Observer;

/// How a life is gone through (`lifetime.forecast.method`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Full where that is cheap, else by windows.
    Auto,
    /// Every request through the FTL.
    Full,
    /// By runs of page writes within windows of the workload.
    Windows,
    /// By its requests.
    Requests,
}

/// Names of the methods with what they do.
pub const METHODS: &[(&str, &str)] = &[
    ("auto", "full where that is cheap, else windows"),
    ("full", "every request of the life through the FTL"),
    ("windows", "write amplification from the FTL, then the life by windows of the workload"),
    ("requests", "write amplification from the FTL, then the life request by request"),
];

/// How to get from a workload to years (`[lifetime.forecast]`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    /// The method.
    pub method: Method,
    /// Width of the windows.
    pub window_ns: u64,
    /// Write amplification, where it is given.
    pub waf: Option<f64>,
    /// The same, where it is given as flash bytes for each byte of the host's requests.
    pub waf_of_bytes: Option<f64>,
    /// Laps over the workload after which write amplification counts as it is.
    pub laps_max: u32,
    /// Page programs of a lap at least.
    pub lap_programs_min: u32,
    /// Difference from lap to lap, relative, at which it counts as stationary.
    pub waf_error_max: f64,
    /// Requests of each part of the workload that is looked at in time; 0 for none.
    pub close_up_requests: u32,
    /// Cycles that the blocks have behind them at the beginning.
    pub cycles_used: f64,
    /// Share by which demand grows each year.
    pub growth_per_year: f64,
    /// How old the drive is then, years: cycles and age tell how long its blocks have rested so far.
    pub age_years: f64,
    /// Standard deviation of the cycles that blocks stand, as a share of their mean; none where it is not known.
    pub cycles_spread: Option<f64>,
}

/// A life to go through.
#[derive(Clone, Debug)]
pub struct Life<'a> {
    /// Throttle and drive. Arrivals follow the delays, whatever it says.
    pub setup: Setup,
    /// One pass of the workload.
    pub demand: &'a Demand,
    /// Flash bytes programmed for each byte of a host page write.
    pub waf: f64,
    /// Part of the life to be looked at closely: from when to when, nanoseconds.
    pub detail_ns: Option<(u64, u64)>,
    /// How programs come, beside their mean; none where that is not known.
    pub lumps: Option<&'a Lumps>,
    /// What deduplication and compression do, where there is either.
    pub reduction: Option<Reduction>,
}

impl Life<'_> {
    /// The same life where the host writes `factor` times as much at every moment, or the drive programs so much more for it:
    /// wear does not tell one from the other.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let reduction = self.reduction.as_ref().map(|reduction| reduction.scaled(factor));
        // Lumps correct the gate by what a drive programmed under the load as it is.
        Self { waf: self.waf * factor, detail_ns: None, lumps: None, reduction, ..*self }
    }

    /// Goes through it. `tick` is told now and then how much of it is over, and may break off.
    ///
    /// # Errors
    /// What `tick` returns.
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
        let throttles = setup.policy.parts().is_some() && self.reduction.is_none();
        let lumps = self.lumps.filter(|_| throttles);
        let mut pass = Pass {
            observer: lumps.map(|lumps| Observer::new(lumps, &setup, self.waf)),
            demand: self.demand,
            base_ns: 0,
            target_ns: setup.target_ns,
            detail_ns: self.detail_ns,
            managed: managed.map(|(_, managed)| managed),
        };
        let (mut passes, mut told) = (0, 0.0);
        while pass.base_ns.saturating_add(gate.held_back_ns()) < setup.target_ns {
            pass.top_down(&mut gate, &mut book);
            pass.base_ns = pass.base_ns.saturating_add(period_ns);
            passes += 1;
            if passes == 1 {
                book.first_pass = gate.predictions();
            }
            let done = gate.admitted_ns() as f64 / setup.target_ns as f64;
            // Short passes are many.
            if done >= told + 0.002 || passes % 4096 == 0 {
                tick(done)?;
                told = done;
            }
        }
        if let Some(observer) = &mut pass.observer {
            observer.observe(&mut gate, page_writes(&book));
        }
        let demand_bytes = self.demand.pages() as f64 * f64::from(setup.page_bytes) * self.waf;
        Ok(book.outcome(&gate, passes, demand_bytes / period_ns as f64))
    }
}

/// Page writes that have passed.
fn page_writes(book: &Book) -> u64 {
    book.passed().page_writes
}

/// One pass over the demand.
struct Pass<'a> {
    demand: &'a Demand,
    /// Tells the gate of lumps, where they are known.
    observer: Option<Observer<'a>>,
    /// When it would begin without any delay.
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

    /// Lets a block pass at once if nothing can hold its pages back, else its parts.
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

    /// Tells the gate what the page writes leave that come next.
    #[inline]
    fn expect(&self, gate: &mut Gate, left: impl Fn(&Managed) -> ByChoice) {
        if let Some(managed) = self.managed {
            gate.expect(left(managed));
        }
    }
}
