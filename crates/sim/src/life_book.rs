//! Records of a whole life.

use floatgate_lifetime::life::{self, Book};
use floatgate_lifetime::throttle::{Gate, Predictions, Setup};

/// Settings of a life besides the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifeOptions {
    /// Start and end of the part of the life to record in detail, nanoseconds.
    pub detail_ns: Option<(u64, u64)>,
    /// Passes over the workload after which the life ends even before its target.
    pub passes_max: u64,
    /// Cycles of the blocks at the beginning.
    pub cycles_used: f64,
    /// Age of the drive at the beginning, seconds.
    pub age_s: f64,
}

/// The first pass of a life, after its end.
#[derive(Clone, Copy, Debug)]
struct FirstPass {
    page_writes: u64,
    /// Time from its beginning to that of the next one without throttling, nanoseconds.
    period_ns: u64,
}

/// The book of a life.
#[derive(Clone, Debug)]
pub(crate) struct LifeBook {
    pub book: Book,
    setup: Setup,
    options: LifeOptions,
    /// Passes begun.
    passes: u64,
    first_pass: Option<FirstPass>,
}

impl LifeBook {
    /// Creates the book before the first request.
    pub fn new(setup: Setup, options: LifeOptions) -> Self {
        let book = Book::new(&setup, options.detail_ns);
        Self { book, setup, options, passes: 1, first_pass: None }
    }

    /// Returns an empty book of the same life.
    pub fn anew(&self) -> Self {
        Self::new(self.setup, self.options)
    }

    /// Returns the maximum of passes.
    pub fn passes_max(&self) -> u64 {
        self.options.passes_max
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Returns whether a pass is over and the average block worn out, if no throttle acts on the rest of the life.
    pub fn is_over(&self) -> bool {
        let throttles = self.setup.policy.parts().is_some() || self.setup.manager.is_some();
        !throttles && self.first_pass.is_some() && self.book.is_worn_out()
    }

    /// Returns whether the life ends before a request arrives.
    pub fn ends(&self, arrival_ns: u64) -> bool {
        arrival_ns >= self.setup.target_ns
    }

    /// Ends a pass after so many page writes since counting began; the next one begins `period_ns` after that without
    /// throttling.
    pub fn end_pass(&mut self, page_writes: u64, period_ns: u64, predictions: Predictions) {
        self.passes += 1;
        if self.first_pass.is_none() {
            self.first_pass = Some(FirstPass { page_writes, period_ns });
            self.book.first_pass = predictions;
        }
    }

    /// Computes the outcome of the life, after a gate that let `page_writes` pass until `now_ns`.
    pub fn outcome(self, gate: &Gate, page_writes: u64, now_ns: u64) -> life::Outcome {
        let undelayed_ns = now_ns.saturating_sub(gate.held_back_ns()).max(1);
        let pass = self.first_pass.unwrap_or(FirstPass { page_writes, period_ns: undelayed_ns });
        let bytes_per_page = gate.used_bytes() / page_writes.max(1) as f64;
        let rate = bytes_per_page * pass.page_writes as f64 / pass.period_ns as f64;
        self.book.outcome(gate, self.passes.min(self.options.passes_max), rate)
    }
}
