//! Tests of what users may write: one program, with the common code compiled once.
#![allow(missing_docs)]

mod pattern_twins;
mod read_twins;
