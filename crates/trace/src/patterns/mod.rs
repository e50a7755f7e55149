//! Addresses that are written together: frequent patterns of the write requests of each window, as mined by a scheduler
//! that groups such writes (the paper's Table III and Figure 2, `docs/patterns.md`).

mod addresses;
mod course;
mod figures;
mod settings;
mod strongest;
mod windows;

use crate::source::Source;
pub use addresses::{AddressFigures, FrequentFigures, Times};
pub use course::Course;
pub use figures::{PatternsInfo, SizeCounts};
use floatgate_base::{RequestBatch, Result};
pub use settings::{MINED_MAX, PatternSettings, WINDOW_MAX};
pub use strongest::{Start, Strong};
use windows::Windows;

/// Reads a source from its current position to its end, and mines its windows.
///
/// # Errors
/// Those of the source, invalid settings, and a window with more sets than the miner can list.
pub fn patterns(source: &mut dyn Source, settings: &PatternSettings) -> Result<PatternsInfo> {
    settings.validate()?;
    let mut windows = Windows::new(*settings);
    let mut batch = RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN);
    loop {
        batch.clear();
        source.fill(&mut batch, RequestBatch::DEFAULT_LEN)?;
        if batch.is_empty() {
            break;
        }
        windows.add(&batch)?;
    }
    windows.end()?;
    Ok(windows.describe(source))
}

#[cfg(test)]
mod tests;
