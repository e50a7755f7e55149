//! Trace readers and workload generators: everything that yields batches of requests.
//!
//! Must not know: drives, pages of flash, policies, configuration files.

mod cursor;
pub mod formats;
pub mod generate;
mod input;
mod lines;
pub mod open;
pub mod options;
pub mod source;
mod text;

pub use formats::{FORMATS, FormatInfo};
pub use generate::{Generator, GeneratorConfig, Pattern};
pub use input::STDIN;
pub use open::{open, open_stream};
pub use options::{Action, LbaUnit, OnBadLine, OpenOptions, TimeUnit};
pub use source::{Source, Summary};
