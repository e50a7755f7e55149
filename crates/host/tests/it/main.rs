//! Tests of the host interface: one program, with the common code compiled once.
#![allow(missing_docs)]

mod optional_columns;
