//! A workload at another rate: every time stamp is divided by a factor.

use crate::source::Source;
use floatgate_base::{RequestBatch, Result};

/// A source whose requests arrive `factor` times as fast.
pub struct AtRate {
    inner: Box<dyn Source>,
    factor: f64,
}

impl AtRate {
    /// Divides the stamps of a source, which count from its first request, by `factor`, which is above 0.
    #[must_use]
    pub fn new(inner: Box<dyn Source>, factor: f64) -> Self {
        Self { inner, factor }
    }
}

impl Source for AtRate {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        let before = batch.len();
        self.inner.fill(batch, max)?;
        for time_ns in &mut batch.time_ns[before..] {
            *time_ns = (*time_ns as f64 / self.factor).round() as i64;
        }
        Ok(())
    }

    crate::forward_to_inner!(
        rewind,
        format,
        devices,
        summary,
        place_of,
        assumed,
        has_times,
        columns,
        contexts,
        writers,
        writer_fields,
        slice_report
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Generator, GeneratorConfig};

    #[test]
    fn stamps_are_divided_in_every_batch() {
        let config = GeneratorConfig { requests: 10, rate_per_s: Some(1000.0), ..GeneratorConfig::default() };
        let mut source = AtRate::new(Box::new(Generator::new(config).unwrap()), 2.0);
        for _ in 0..2 {
            let mut batch = RequestBatch::default();
            (0..5).for_each(|_| source.fill(&mut batch, 2).unwrap());
            assert_eq!(batch.time_ns, (0..10).map(|i| i * 500_000).collect::<Vec<i64>>());
            source.rewind().unwrap();
        }
    }
}
