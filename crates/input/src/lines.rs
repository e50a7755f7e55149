//! Splits a file into lines, in large chunks without copying or allocating any line.

use crate::cursor::PAD;
use crate::file::Input;
use crate::scan::READABLE;
use floatgate_base::{Error, Place, Result};
use memchr::{memchr, memrchr};

/// Decompressed bytes per read: large enough for the hash to run at full speed, small enough for the cache.
pub const CHUNK: usize = 256 << 10;
/// Longest line that is parsed.
pub const LINE_MAX: usize = 64 << 10;
/// Limit on the search for the end of a line that is too long, in bytes: such a file is not text and may be endless.
const DROPPED_MAX: usize = 64 << 20;

/// Returns the whole lines of the first [`CHUNK`] bytes of a file.
pub fn whole_lines(head: &[u8]) -> &[u8] {
    // Fewer bytes than a chunk are the whole file, and its last line is complete.
    let whole = if head.len() < CHUNK { head.len() } else { memrchr(b'\n', head).map_or(0, |n| n + 1) };
    &head[..whole]
}

/// The next item of a file.
pub enum Next {
    /// A line without its line break: `len` bytes of [`Lines::bytes`] from `from`.
    Line {
        /// Position in [`Lines::bytes`].
        from: usize,
        /// Number of bytes.
        len: usize,
    },
    /// A line of more than [`LINE_MAX`] bytes; its content is lost.
    TooLong,
    /// The buffered lines are used up: call [`Lines::refill`].
    Empty,
}

/// Splits a file into lines.
pub struct Lines {
    input: Input,
    buf: Vec<u8>,
    /// Next byte to deliver.
    start: usize,
    /// End of the last whole line.
    whole: usize,
    /// End of the data.
    end: usize,
    /// Number of the line delivered last, from 1.
    number: u64,
    /// Whether all buffered bytes are below 128.
    ascii: bool,
    at_end: bool,
    /// The current line is too long and its end is still to come.
    dropping: bool,
    /// Bytes of it skipped so far.
    dropped: usize,
    /// Whether [`Next::TooLong`] is still due for the next line. It is returned before the search for the end of the
    /// line: a caller that stops there need not read on.
    too_long: bool,
    chunk: usize,
}

impl Lines {
    /// Reads the first chunk.
    pub fn new(input: Input, chunk: usize) -> Result<Self> {
        let mut lines = Self {
            input,
            buf: vec![0; LINE_MAX + 1 + chunk + READABLE],
            start: 0,
            whole: 0,
            end: 0,
            number: 0,
            ascii: true,
            at_end: false,
            dropping: false,
            dropped: 0,
            too_long: false,
            chunk,
        };
        lines.refill()?;
        Ok(lines)
    }

    /// Returns the file.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// Returns the number of the line delivered last, from 1.
    #[inline]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the bytes of the line delivered last where the file ends within it, without a line break. A file of
    /// one line is none that was cut.
    #[cold]
    pub fn cut_len(&self) -> Option<usize> {
        let is_cut = self.at_end && self.start > self.end && self.number > 1;
        is_cut.then(|| self.end - memrchr(b'\n', &self.buf[..self.end]).map_or(0, |n| n + 1))
    }

    /// Returns whether all buffered bytes are below 128.
    #[inline]
    pub fn ascii(&self) -> bool {
        self.ascii
    }

    /// Returns the buffer to which [`Next::Line`] refers.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.buf
    }

    /// Returns the next line in memory.
    #[inline]
    pub fn next_line(&mut self) -> Next {
        if self.too_long {
            self.too_long = false;
            self.number += 1;
            return Next::TooLong;
        }
        if self.start >= self.whole {
            return Next::Empty;
        }
        let from = self.start;
        let mut len = memchr(b'\n', &self.buf[from..self.whole]).unwrap_or(self.whole - from);
        self.start = from + len + 1;
        self.number += 1;
        if len > LINE_MAX {
            return Next::TooLong;
        }
        if len > 0 && self.buf[from + len - 1] == b'\r' {
            len -= 1;
        }
        Next::Line { from, len }
    }

    /// Returns the lines in memory that are still to be delivered and what follows them, and their length; none if some
    /// byte of them is not ASCII or the next line is too long.
    #[inline]
    pub fn pending(&self) -> Option<(&[u8], usize)> {
        let has_lines = self.ascii && !self.too_long && self.start < self.whole;
        has_lines.then(|| (&self.buf[self.start..], self.whole - self.start))
    }

    /// Counts `lines` of `bytes` bytes, with their breaks, as delivered.
    #[inline]
    pub fn delivered(&mut self, lines: u64, bytes: usize) {
        self.number += lines;
        self.start += bytes;
    }

    /// Delivers the current line again, from byte `from` of [`Lines::bytes`].
    pub fn again(&mut self, from: usize) {
        self.start = from;
        self.number -= 1;
    }

    /// Reads the next chunk; returns false at the end of the file.
    pub fn refill(&mut self) -> Result<bool> {
        loop {
            if self.at_end {
                return Ok(false);
            }
            self.start = self.start.min(self.end);
            let carry = self.end - self.start;
            if carry > LINE_MAX {
                (self.dropping, self.dropped, self.too_long) = (true, carry, true);
                (self.start, self.whole) = (self.end, self.end);
                return Ok(true);
            }
            self.buf.copy_within(self.start..self.end, 0);
            let n = self.input.read_full(&mut self.buf[carry..carry + self.chunk])?;
            (self.start, self.end, self.at_end) = (0, carry + n, n < self.chunk);
            // Digits are loaded eight at a time: the last line needs a line break and padding after it.
            self.buf[self.end..self.end + PAD].fill(b'\n');
            if self.dropping {
                self.drop_rest_of_line()?;
            }
            let data = &self.buf[self.start..self.end];
            let whole = if self.at_end { data.len() } else { memrchr(b'\n', data).map_or(0, |n| n + 1) };
            self.whole = self.start + whole;
            self.ascii = data[..whole].is_ascii();
            if self.whole > self.start {
                return Ok(true);
            }
        }
    }

    /// Skips to the end of an overlong line, if it has been read.
    fn drop_rest_of_line(&mut self) -> Result<()> {
        let line_break = memchr(b'\n', &self.buf[..self.end]);
        self.start = line_break.map_or(self.end, |n| n + 1);
        self.dropped += self.start;
        if line_break.is_some() || self.at_end {
            self.dropping = false;
        } else if self.dropped > DROPPED_MAX {
            let place = Place::Line { path: self.input.name().into(), line: self.number, column: None };
            let what = format!("the line has not ended after {} MiB", DROPPED_MAX >> 20);
            return Err(Error::input(place, what, "expected lines of text"));
        }
        Ok(())
    }

    /// Restarts at the first line.
    pub fn rewind(&mut self) -> Result<()> {
        self.input.rewind()?;
        (self.start, self.whole, self.end, self.number) = (0, 0, 0, 0);
        (self.at_end, self.dropping, self.too_long) = (false, false, false);
        self.refill()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::testing::Bound;

    /// Collects the lines; `None` stands for a line that is too long.
    fn cut(content: &[u8], chunk: usize) -> Vec<Option<Vec<u8>>> {
        let input =
            Input::from_stream("t", "file", Box::new(std::io::Cursor::new(content.to_vec()))).unwrap();
        let mut lines = Lines::new(input, chunk).unwrap();
        let mut out = Vec::new();
        let mut bound = Bound::new(100_000_000);
        loop {
            bound.step();
            match lines.next_line() {
                Next::Line { from, len } => out.push(Some(lines.bytes()[from..from + len].to_vec())),
                Next::TooLong => out.push(None),
                Next::Empty => {
                    if !lines.refill().unwrap() {
                        assert_eq!(lines.number(), out.len() as u64);
                        return out;
                    }
                }
            }
        }
    }

    #[test]
    fn any_chunk_gives_the_same_lines() {
        let mut content = b"a\n\nbb\r\n\r\nccc".to_vec();
        for n in [LINE_MAX - 1, LINE_MAX, LINE_MAX + 1, 2 * LINE_MAX, 5 * LINE_MAX + 7] {
            content.extend(std::iter::repeat_n(b'x', n));
            content.extend(b"\ny\n");
        }
        content.extend(b"last");
        let whole = cut(&content, 1 << 20);
        assert_eq!(whole.len(), 15);
        assert_eq!(whole.iter().filter(|l| l.is_none()).count(), 4);
        assert_eq!(whole[14].as_deref(), Some(&b"last"[..]));
        for chunk in [1, 2, 3, 7, 100, 4096, LINE_MAX, LINE_MAX + 1] {
            assert!(cut(&content, chunk) == whole, "chunk {chunk}");
        }
        for tail in [&b"\n"[..], b"\r\n"] {
            content.extend(tail);
            assert!(cut(&content, 5).len() == 15);
            content.truncate(content.len() - tail.len());
        }
        assert!(cut(b"", 4).is_empty());
        content = vec![b'z'; 3 * LINE_MAX];
        assert_eq!(cut(&content, 1000), [None]);
    }

    #[test]
    fn the_last_line_without_a_break_is_cut() {
        let lens = |content: &[u8], chunk| {
            let stream = Box::new(std::io::Cursor::new(content.to_vec()));
            let mut lines = Lines::new(Input::from_stream("t", "file", stream).unwrap(), chunk).unwrap();
            let mut out = Vec::new();
            let mut bound = Bound::new(1000);
            loop {
                bound.step();
                match lines.next_line() {
                    Next::Empty if lines.refill().unwrap() => {}
                    Next::Empty => return out,
                    _ => out.push(lines.cut_len()),
                }
            }
        };
        for chunk in [1, 3, CHUNK] {
            assert_eq!(lens(b"first\nlast", chunk), [None, Some(4)], "{chunk}");
            assert_eq!(lens(b"first\nlast\n", chunk), [None, None], "{chunk}");
            assert_eq!(lens(b"one line", chunk), [None], "{chunk}");
        }
    }

    /// An endless line is read only until it is known to be too long. A caller that skips it gets an error with its
    /// place.
    #[test]
    fn an_endless_line_is_reported_at_once_and_then_refused() {
        let endless = std::io::Read::chain(&b"first\n"[..], std::io::repeat(0));
        let mut lines =
            Lines::new(Input::from_stream("t", "file", Box::new(endless)).unwrap(), CHUNK).unwrap();
        assert!(matches!(lines.next_line(), Next::Line { from: 0, len: 5 }));
        assert!(matches!(lines.next_line(), Next::Empty));
        assert!(lines.refill().unwrap());
        assert!(matches!(lines.next_line(), Next::TooLong));
        assert_eq!(lines.number(), 2);
        assert!(matches!(lines.next_line(), Next::Empty));
        let error = lines.refill().unwrap_err();
        assert_eq!(error.to_string(), "t:2: the line has not ended after 64 MiB; expected lines of text");
    }
}
