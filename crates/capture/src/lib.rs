//! Captures of Ready/Busy pins: how long a pin was low, and what the chip did meanwhile.
//!
//! Readers (`vcd`, `csv`, `sigrok`, `intervals`; [`read`] finds out which) tell [`Lows`] of changes in order of time. It keeps a
//! histogram of the lengths of low phases for each pin ([`Lengths`]), so that memory does not grow with the capture.
//! [`separate`] finds out which lengths are reads, programs and erases; [`Recorder`] lets changes pass as a recorder that polls
//! would have seen them; [`Volume`] turns counts of one or several pins into write amplification with its error.
//!
//! Source: the paper on RB-Explorer, sections 3 and 4. Must not know: drives, policies, traces of requests.

mod csv;
mod humps;
mod intervals;
mod lengths;
mod level;
mod lows;
mod measure;
mod options;
mod phases;
mod read;
mod recorder;
mod sigrok;
mod units;
mod vcd;
mod volume;
mod wave;
mod words;

pub use humps::{Hump, Separation, separate};
pub use lengths::Lengths;
pub use level::Level;
pub use lows::{Lows, Pin};
pub use measure::{Measured, Measurement, Recorded, Signal, measure};
pub use options::{Format, ReadOptions, Watch};
pub use read::{Reading, read};
pub use recorder::{Recorder, Theory};
pub use units::{parse_duration_ps, parse_time_unit_ps};
pub use volume::{Geometry, HostBytes, Terms, Volume};
pub use wave::WaveWriter;
