//! Tests of files in pages, linked as one program; common code is compiled once.
#![allow(missing_docs)]

mod files;
mod reference;
