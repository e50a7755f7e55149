//! Tests of files in pages: one program, with the common code compiled once.
#![allow(missing_docs)]

mod files;
mod reference;
