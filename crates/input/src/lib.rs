//! Files that are read once, from front to back: [`Input`] opens and unpacks them, [`Lines`] cuts them into lines without
//! copying, [`Cursor`] reads words and numbers out of a line. Memory does not grow with the file.
//!
//! Must not know: what the files hold.

mod cursor;
mod file;
mod lines;

pub use cursor::{Cursor, Fault, PAD, POW10, scaled};
pub use file::{Input, STDIN};
pub use lines::{CHUNK, LINE_MAX, Lines, Next, whole_lines};
