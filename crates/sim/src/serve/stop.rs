//! Reasons for the end of serving.

use crate::reading::RequestAt;
use floatgate_base::Error;
use floatgate_ftl::Failure;

/// The reason why serving stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The drive cannot continue with a request.
    Drive(RequestAt, Failure),
    /// The drive cannot take the content of the buffer at the end of warm-up or run.
    Flush(Failure),
    /// Anything else.
    Error(Box<Error>),
}

impl From<Box<Error>> for Stop {
    fn from(error: Box<Error>) -> Self {
        Self::Error(error)
    }
}

/// Returns the error for requests that the run lost.
pub(super) fn lost(requests: usize) -> Box<Error> {
    Error::run(
        format!("{requests} requests never completed"),
        "this is an error in floatgate; please report it",
    )
}
