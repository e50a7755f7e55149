//! Tests of captures: one program, with the common code compiled once.
#![allow(missing_docs)]

mod captures;
mod common;
mod sessions;
