//! Captures of Ready/Busy pins: the lengths of low phases, and the operations of the chip during them.
//!
//! The readers are `vcd`, `csv`, `sigrok`, `saleae` and `intervals`; [`read`] detects the format. They report changes in order of
//! time to [`Lows`], which keeps a histogram of low phases for each pin ([`Lengths`]). Memory does not grow with the
//! capture. [`separate`] decides which lengths are reads, programs and erases. [`Recorder`] filters changes as a
//! polling recorder would see them. [`Volume`] turns counts of one or several pins into write amplification with its
//! error.
//!
//! Source: the paper on RB-Explorer, sections 3 and 4. Must not depend on drives, policies, or traces of requests.

mod choice;
mod csv;
mod doubts;
mod humps;
mod intervals;
mod known;
mod lengths;
mod level;
mod lows;
mod measure;
mod names;
mod options;
mod phases;
mod pieces;
mod read;
mod recorder;
mod saleae;
mod sigrok;
mod succession;
mod units;
mod vcd;
mod volume;
mod wave;
mod words;

pub use humps::{Hump, Separation, separate};
pub use known::Doubt;
pub use lengths::Lengths;
pub use level::Level;
pub use lows::{Lows, Pin};
pub use measure::{Measured, Measurement, Signal, measure};
pub use options::{Format, ReadOptions, Watch};
pub use read::{Reading, read};
pub use recorder::{Recorded, Recorder, Theory};
pub use units::{parse_duration_ps, parse_time_unit_ps};
pub use volume::{Geometry, HostBytes, Terms, Volume};
pub use wave::WaveWriter;
