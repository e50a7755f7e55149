//! Patterns: the cost of mining each window of a trace, and of everything that `floatgate trace patterns` reports.

use crate::measure::rounds;
use crate::report::{Metric, Report};
use floatgate_base::{Op, RequestBatch, Result};
use floatgate_config::twins;
use floatgate_experiment::meter::thread_cpu_s;
use floatgate_patterns::{Kind, Settings, Window};
use floatgate_trace::{Generator, GeneratorConfig, Pattern, PatternSettings, Source, Summary, patterns};
use std::sync::Arc;

/// Requests per measurement.
const REQUESTS: u64 = 1 << 20;
/// Microseconds of CPU time per request that mining may take.
const REQUIRED_US: f64 = 0.5;

/// Requests in memory, generated beforehand to cost nothing while measuring.
struct Made {
    rows: RequestBatch,
    at: usize,
}

impl Source for Made {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        let to = self.rows.len().min(self.at.saturating_add(max));
        (self.at..to).for_each(|i| batch.push_of(&self.rows, i, self.rows.time_ns[i]));
        self.at = to;
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn format(&self) -> &'static str {
        "memory"
    }

    fn devices(&self) -> &[String] {
        static NAMES: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
        NAMES.get_or_init(|| vec!["memory".to_owned()])
    }

    fn summary(&self) -> Summary {
        Summary::default()
    }

    fn place_of(&self, index: u64) -> String {
        format!("request {index}")
    }
}

fn made(twin: &str) -> Made {
    let (twin, _) = twins::find(twin, None).expect("a twin of the catalogue");
    let config = GeneratorConfig {
        pattern: Pattern::Twin,
        logical_bytes: twin.footprint_bytes,
        requests: REQUESTS,
        twin: Some(Arc::new(twin)),
        ..GeneratorConfig::default()
    };
    let mut rows = RequestBatch::with_capacity(REQUESTS as usize);
    let mut source = Generator::new(config).expect("a twin of the catalogue can be made");
    source.fill(&mut rows, REQUESTS as usize).expect("a generator does not fail");
    Made { rows, at: 0 }
}

/// Measures microseconds per request.
fn us(work: impl FnOnce()) -> f64 {
    let start = thread_cpu_s();
    work();
    (thread_cpu_s() - start) * 1e6 / REQUESTS as f64
}

/// Mines the writes among the first 256 requests of each 1,024, and nothing else.
fn mine(rows: &RequestBatch, settings: &PatternSettings) {
    let of_miner = Settings { support: settings.support, items_min: settings.items_min, kind: Kind::Maximal };
    let (mut window, mut writes) = (Window::default(), Vec::new());
    for from in (0..rows.len()).step_by(settings.window as usize) {
        let first = from..(from + settings.mined as usize).min(rows.len());
        writes.clear();
        writes.extend(first.filter(|&i| rows.op[i] == Op::Write).map(|i| rows.offset[i]));
        window.mine(&writes, settings.transaction as usize, &of_miner).expect("not too many sets");
    }
}

/// Measures mining per request for two twins.
pub fn all(report: &mut Report) {
    let settings = PatternSettings::default();
    report.group(
        "mining",
        format!("Patterns of {REQUESTS} requests: windows of 1,024, the writes among the first 256 mined"),
    );
    for twin in ["proj_0", "pc-server-1"] {
        let mut source = made(twin);
        let mining = rounds(|| us(|| mine(&source.rows, &settings)));
        let all = rounds(|| {
            source.rewind().expect("memory");
            us(|| drop(patterns(&mut source, &settings).expect("not too many sets")))
        });
        let mining =
            Metric::cost(format!("{twin}/mining"), "us per request", &mining).at_most(REQUIRED_US).digits(3);
        report.print(&format!("{twin}, mining, us/request"), &mining);
        let all = Metric::cost(format!("{twin}/trace-patterns"), "us per request", &all).digits(3);
        report.print(&format!("{twin}, trace patterns, us/request"), &all);
    }
}
