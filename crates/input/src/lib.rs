//! Files that are read once, from front to back. [`Input`] opens and decompresses them, [`Lines`] splits them into lines
//! without copying, [`Cursor`] parses words and numbers of a line, [`Scan`] those of a line in its usual form.
//!
//! Memory does not grow with the file.
//!
//! Must not depend on the content of the files.

mod ahead;
mod cursor;
mod cut;
pub mod date;
mod file;
mod lines;
mod scan;

pub use cursor::{Cursor, Fault, PAD, POW10, scaled};
pub use cut::cut;
pub use file::{Input, STDIN};
pub use lines::{CHUNK, LINE_MAX, Lines, Next, whole_lines};
pub use scan::{Known, Scan};
