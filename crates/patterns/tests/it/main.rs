//! Tests of frequent item sets: one program, with the common code compiled once.
#![allow(missing_docs)]

mod exact;
