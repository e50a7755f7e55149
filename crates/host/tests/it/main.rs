//! Tests of the host interface, linked as one program; common code is compiled once.
#![allow(missing_docs)]

mod optional_columns;
