//! Tests of readers, writers and generators of traces, linked as one program; common code is compiled once.
#![allow(missing_docs)]

mod amplify;
mod bad_input;
mod binary_formats;
mod blktrace;
mod common;
mod compression;
mod content_model;
mod formats;
mod fuzz;
mod generators;
mod generators_jobs;
mod index;
mod optional_columns;
mod printed;
mod round_trip;
mod shuffle;
mod slice;
mod text_formats;
mod twin_loops;
mod twin_sets;
mod twins;
mod until;
mod without_reads;
