//! Tests of closed forms: one program, with the common code compiled once.
#![allow(missing_docs)]

mod forms;
mod laws;
mod simulation;
