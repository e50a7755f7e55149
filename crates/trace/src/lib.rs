//! Trace readers and workload generators: everything that yields batches of requests.
//!
//! Must not depend on drives, pages of flash, policies or configuration files.

pub mod amplify;
mod at_rate;
mod binary;
pub mod content;
pub mod external;
pub mod formats;
pub mod generate;
pub mod info;
mod intake;
pub mod kept;
pub mod open;
pub mod options;
mod page_slots;
mod pages;
pub mod patterns;
pub mod period;
mod setup;
pub mod shuffle;
pub mod slice;
pub mod source;
mod tar;
mod text;
mod time_unit;
pub mod until;
pub mod without_reads;
pub mod write;

pub use amplify::{Amplification, Amplified};
pub use at_rate::AtRate;
pub use content::{ContentModel, WithContent};
pub use floatgate_input::STDIN;
pub use formats::user_columns::UserColumns;
pub use formats::{FORMATS, FormatInfo};
pub use generate::{Generator, GeneratorConfig, Pattern};
pub use info::{DeviceInfo, Info, InfoOptions, info, info_with};
pub use kept::Keep;
pub use open::{open, open_stream};
pub use options::{Action, LbaUnit, OnBadLine, OpenOptions, TimeUnit};
pub use patterns::{PatternSettings, PatternsInfo, patterns};
pub use shuffle::{Shuffle, Shuffled, shuffled};
pub use slice::{Slice, SliceReport, Sliced};
pub use source::{Context, Source, Summary, Writer};
pub use until::{Until, UntilWritten};
pub use without_reads::WithoutReads;
pub use write::{WriteFormat, WriteReport};
