//! What is noted of a whole life.

use crate::array::BackEnd;
use crate::drive::Drive;
use floatgate_lifetime::life::{self, Book};
use floatgate_lifetime::throttle::{Gate, Predictions, Setup};

/// What a life needs beside the plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifeOptions {
    /// Time of a page write without throttling, nanoseconds.
    pub service_ns: u64,
    /// By how much hashing and compressing a page delay its write, nanoseconds.
    pub engine_ns: [u64; 2],
    /// Part of the life to be looked at closely: from when to when, nanoseconds.
    pub detail_ns: Option<(u64, u64)>,
    /// Passes over the workload after which the life ends even before its target.
    pub passes_max: u64,
    /// Cycles that the blocks have behind them at the beginning.
    pub cycles_used: f64,
    /// How old the drive is then, seconds.
    pub age_s: f64,
}

/// The first pass of a life, once it is over.
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
    /// Page writes, pages programmed for them, and pages hashed and compressed when reduction was noted last.
    reduction: [u64; 4],
}

impl LifeBook {
    /// Before the first request.
    pub fn new(setup: Setup, options: LifeOptions) -> Self {
        let book = Book::new(&setup, options.service_ns, options.detail_ns);
        Self { book, setup, options, passes: 1, first_pass: None, reduction: [0; 4] }
    }

    /// The same life from its beginning.
    pub fn anew(&self) -> Self {
        Self::new(self.setup, self.options)
    }

    /// Passes that it may take.
    pub fn passes_max(&self) -> u64 {
        self.options.passes_max
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Whether the life is over before a request arrives.
    pub fn ends(&self, arrival_ns: u64) -> bool {
        arrival_ns >= self.setup.target_ns
    }

    /// What the drive left of the page writes since the last time is expected of those to come.
    pub fn note_reduction<F: BackEnd>(&mut self, page_writes: u64, drive: &Drive<F>) {
        let [hashed, compressed, _] = drive.ftl.engine_pages();
        let now = [page_writes, drive.counters().programs_for_host(), hashed, compressed];
        let pages = now[0] - self.reduction[0];
        if pages > 0 {
            let of = |i: usize| (now[i] - self.reduction[i]) as f64 / pages as f64;
            let [hash_ns, compress_ns] = self.options.engine_ns.map(|ns| ns as f64);
            self.book.leaves(of(1), (of(2) * hash_ns + of(3) * compress_ns).round() as u64);
            self.reduction = now;
        }
    }

    /// A pass is over, after so many page writes since counting began; the next one begins `period_ns` after that without
    /// throttling.
    pub fn end_pass(&mut self, page_writes: u64, period_ns: u64, predictions: Predictions) {
        self.passes += 1;
        if self.first_pass.is_none() {
            self.first_pass = Some(FirstPass { page_writes, period_ns });
            self.book.first_pass = predictions;
        }
    }

    /// What the life came to, behind a gate that let `page_writes` pass until `now_ns`.
    pub fn outcome(self, gate: &Gate, page_writes: u64, now_ns: u64) -> life::Outcome {
        let undelayed_ns = now_ns.saturating_sub(gate.held_back_ns()).max(1);
        let pass = self.first_pass.unwrap_or(FirstPass { page_writes, period_ns: undelayed_ns });
        let bytes_per_page = gate.used_bytes() / page_writes.max(1) as f64;
        let rate = bytes_per_page * pass.page_writes as f64 / pass.period_ns as f64;
        self.book.outcome(gate, self.passes.min(self.options.passes_max), rate)
    }
}
