//! Tests of captures, linked as one program; common code is compiled once.
#![allow(missing_docs)]

mod captures;
mod common;
mod exports;
mod sessions;
mod situations;
