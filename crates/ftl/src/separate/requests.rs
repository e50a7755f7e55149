//! The beginnings of requests, for separators that count requests and not pages. Pages arrive one by one, in order,
//! each with the length of its request.

use super::Written;
use floatgate_base::Lpn;
use serde::{Deserialize, Serialize};

/// Position of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestPosition {
    /// It is the first of its request.
    pub begins: bool,
    /// It follows the page before, of the same request or of the one before.
    pub follows: bool,
}

/// The present request.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Requests {
    /// Page after the last one written, and pages left in its request.
    next: Lpn,
    left: u32,
}

impl Requests {
    pub fn new() -> Self {
        Self { next: Lpn::MAX, left: 0 }
    }

    /// Notes a page write and returns its position.
    #[inline(always)]
    pub fn write(&mut self, page: &Written) -> RequestPosition {
        let follows = page.lpn == self.next;
        let begins = self.left == 0 || !follows;
        if begins {
            self.left = page.hints.request_pages;
        }
        self.next = page.lpn + 1;
        self.left = self.left.saturating_sub(1);
        RequestPosition { begins, follows }
    }
}
