//! Splits a text file into words, separated by white space, in large chunks without copying.

use crate::options::Watch;
use floatgate_base::{Error, Place, Result, error::quote};
use floatgate_input::{CHUNK, Input, cut};
use memchr::{memchr_iter, memrchr};
use std::ops::Range;

/// Longest word that is accepted.
const WORD_MAX: usize = 64 << 10;

/// Splits a file into words.
pub(crate) struct Words<'a> {
    input: Input,
    watch: &'a mut Watch<'a>,
    buf: Vec<u8>,
    /// Next byte to examine, and the end of the data.
    start: usize,
    end: usize,
    at_end: bool,
    /// Line breaks that have left the buffer.
    lines_before: u64,
    /// Bytes of the first line in the buffer that have left it.
    line_bytes_before: usize,
    /// Start of the word returned last.
    word: usize,
}

impl<'a> Words<'a> {
    pub fn new(input: Input, watch: &'a mut Watch<'a>) -> Self {
        Self {
            input,
            watch,
            buf: vec![0; WORD_MAX + CHUNK],
            start: 0,
            end: 0,
            at_end: false,
            lines_before: 0,
            line_bytes_before: 0,
            word: 0,
        }
    }

    /// Returns the bytes of a word.
    #[inline]
    pub fn bytes(&self, word: Range<usize>) -> &[u8] {
        &self.buf[word]
    }

    /// Returns the next word; none at the end. The word stays in place until the next call.
    #[inline]
    pub fn next_word(&mut self) -> Result<Option<Range<usize>>> {
        loop {
            let data = &self.buf[..self.end];
            let mut from = self.start;
            while from < data.len() && data[from] <= b' ' {
                from += 1;
            }
            let mut to = from;
            while to < data.len() && data[to] > b' ' {
                to += 1;
            }
            if to < data.len() || (self.at_end && to > from) {
                (self.start, self.word) = (to, from);
                return Ok(Some(from..to));
            }
            self.start = from;
            if self.at_end {
                self.word = from;
                return Ok(None);
            }
            self.refill()?;
        }
    }

    /// Reads the next chunk, after the incomplete word.
    #[cold]
    fn refill(&mut self) -> Result<()> {
        let held = self.end - self.start;
        if held > WORD_MAX {
            self.word = self.start;
            let what = format!("a word of more than {WORD_MAX} bytes");
            return Err(self.fault(what, "expected text in words"));
        }
        self.lines_before += memchr_iter(b'\n', &self.buf[..self.start]).count() as u64;
        self.line_bytes_before = match memrchr(b'\n', &self.buf[..self.start]) {
            Some(n) => self.start - n - 1,
            None => self.line_bytes_before + self.start,
        };
        self.buf.copy_within(self.start..self.end, 0);
        let read = self.input.read_full(&mut self.buf[held..held + CHUNK])?;
        (self.start, self.end, self.at_end) = (0, held + read, read < CHUNK);
        (self.watch)(self.input.taken())
    }

    /// Returns an error at the word returned last.
    #[cold]
    pub fn fault(&self, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
        let breaks = memchr_iter(b'\n', &self.buf[..self.word]).count() as u64;
        let line = 1 + self.lines_before + breaks;
        let cut_len = self.cut_len().filter(|_| line > 1);
        let (what, expected) = cut(what.into(), expected.into(), cut_len);
        Error::input(Place::Line { path: self.input.name().into(), line, column: None }, what, expected)
    }

    /// Returns the bytes of the last line where the file ends within it and all its words were returned.
    fn cut_len(&self) -> Option<usize> {
        let data = &self.buf[..self.end];
        let is_cut = self.at_end && self.start == self.end && data.last().is_some_and(|&last| last != b'\n');
        is_cut.then(|| memrchr(b'\n', data).map_or(self.line_bytes_before + self.end, |n| self.end - n - 1))
    }

    /// Returns the word returned last.
    #[inline]
    pub fn last(&self) -> &[u8] {
        &self.buf[self.word..self.start.max(self.word)]
    }

    /// Quotes the word returned last for a message.
    #[cold]
    pub fn quoted(&self) -> String {
        quote(self.last())
    }
}
