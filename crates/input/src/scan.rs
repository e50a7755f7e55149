//! Parses lines in their usual form, eight bytes at a time and without a search for their end beforehand.
//!
//! Every method returns `None` where a line has another form: its caller then parses the line anew with a
//! [`Cursor`](crate::Cursor), which knows all forms and describes faults.

use crate::cursor::{POW10, value_of};

/// The high bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;
/// Most digits of a number that always fits.
const DIGITS_MAX: usize = POW10.len() - 1;

/// A byte in all places of a word.
const fn all(byte: u8) -> u64 {
    byte as u64 * 0x0101_0101_0101_0101
}

/// Returns a mark on the first byte that equals `byte`, and possibly on later ones.
#[inline(always)]
fn marks(word: u64, byte: u8) -> u64 {
    let others = word ^ all(byte);
    others.wrapping_sub(all(1)) & !others & HIGH
}

/// Returns how many bytes lie before the first mark.
#[inline(always)]
fn first(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// Bytes from its beginning in which a line of the usual form lies.
const WINDOW: usize = 256;
/// Bytes that must be readable from the beginning of a line: the window, and a word from its last byte.
pub(crate) const READABLE: usize = WINDOW + 7;

/// A word of one to eight bytes, without a line break, or none.
#[derive(Clone, Copy)]
pub struct Known {
    word: u64,
    mask: u64,
    len: usize,
}

impl Known {
    /// No word.
    pub const NONE: Self = Self { word: 1, mask: 0, len: 0 };

    /// Takes a word, if it is short enough.
    #[must_use]
    pub fn of(text: &[u8]) -> Self {
        let len = text.len();
        if !(1..=8).contains(&len) {
            return Self::NONE;
        }
        let mut bytes = [0; 8];
        bytes[..len].copy_from_slice(text);
        Self { word: u64::from_le_bytes(bytes), mask: u64::MAX >> (64 - 8 * len), len }
    }
}

/// A position in a line of ASCII text that ends with a line break.
///
/// No method passes the line break, except [`Scan::line_end`] and [`Scan::end`]. Positions are reduced to the window
/// without a check. One beyond it reads other bytes of the window; the methods that return the end of a line then
/// return none.
#[derive(Clone, Copy)]
pub struct Scan<'a> {
    bytes: &'a [u8; READABLE],
    at: usize,
}

impl<'a> Scan<'a> {
    /// Creates a position at the beginning of `bytes`, a line and what follows it; none if there are too few bytes.
    #[inline(always)]
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        bytes.first_chunk().map(|bytes| Self { bytes, at: 0 })
    }

    /// Returns the position in the line, in bytes.
    #[inline(always)]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the bytes from `from` up to the position.
    #[inline(always)]
    pub fn since(&self, from: usize) -> Option<&'a [u8]> {
        self.bytes.get(from..self.at)
    }

    /// Returns the next byte.
    #[inline(always)]
    pub fn next(&self) -> u8 {
        self.bytes[self.at % WINDOW]
    }

    /// Returns the next eight bytes, the first in the lowest place.
    #[inline(always)]
    pub fn word(&self) -> u64 {
        let at = self.at % WINDOW;
        let mut word = [0; 8];
        word.copy_from_slice(&self.bytes[at..at + 8]);
        u64::from_le_bytes(word)
    }

    /// Returns the eight bytes that lie `n` bytes ahead.
    #[inline(always)]
    fn bytes_after(self, n: usize) -> u64 {
        Self { at: self.at + n, ..self }.word()
    }

    /// Skips `byte`, which is not a line break.
    #[inline(always)]
    pub fn eat(&mut self, byte: u8) -> Option<()> {
        let hit = self.next() == byte;
        self.at += 1;
        hit.then_some(())
    }

    /// Returns whether `text` of one to eight bytes, without a line break, comes next.
    #[inline(always)]
    pub fn is_text(&self, text: &[u8]) -> bool {
        let mut bytes = [0; 8];
        bytes[..text.len()].copy_from_slice(text);
        (self.word() ^ u64::from_le_bytes(bytes)) << (64 - 8 * text.len()) == 0
    }

    /// Skips `n` bytes, none of which is a line break.
    #[inline(always)]
    pub fn skip(&mut self, n: usize) {
        self.at += n;
    }

    /// Skips a known word before `stop`, if it comes next, and returns whether it did.
    #[inline(always)]
    pub fn has_known(&mut self, known: Known, stop: u8) -> bool {
        let hit =
            self.word() & known.mask == known.word && self.bytes[(self.at + known.len) % WINDOW] == stop;
        if hit {
            self.at += known.len;
        }
        hit
    }

    /// Skips `text`, as [`Scan::is_text`] allows it, if it comes next, and returns whether it did.
    #[inline(always)]
    pub fn has(&mut self, text: &[u8]) -> bool {
        let hit = self.is_text(text);
        if hit {
            self.at += text.len();
        }
        hit
    }

    /// Skips `text` of one to eight bytes, without a line break.
    #[inline(always)]
    pub fn eat_text(&mut self, text: &[u8]) -> Option<()> {
        self.has(text).then_some(())
    }

    /// Skips blanks, at least one and at most 16.
    #[inline(always)]
    pub fn blanks(&mut self) -> Option<()> {
        let from = self.at;
        self.more_blanks()?;
        (self.at > from).then_some(())
    }

    /// Skips blanks, if there are any, at most 16.
    #[inline(always)]
    pub fn more_blanks(&mut self) -> Option<()> {
        let others = self.word() ^ all(b' ');
        if others != 0 {
            self.at += first(others);
            return Some(());
        }
        self.at += 8;
        let others = self.word() ^ all(b' ');
        self.at += if others == 0 { 8 } else { first(others) };
        (self.next() != b' ').then_some(())
    }

    /// Skips a text of 1 to 63 bytes before `stop`.
    #[inline(always)]
    pub fn until(&mut self, stop: u8) -> Option<()> {
        let from = self.at;
        for _ in 0..8 {
            let word = self.word();
            let ends = marks(word, stop) | marks(word, b'\n');
            if ends != 0 {
                self.at += first(ends);
                return (self.at > from && self.next() == stop).then_some(());
            }
            self.at += 8;
        }
        None
    }

    /// Parses a whole number of at most 19 digits.
    #[inline(always)]
    pub fn uint(&mut self) -> Option<u64> {
        self.digits().map(|(value, _)| value)
    }

    /// Parses at least one digit and at most 19; returns value and count.
    #[inline(always)]
    fn digits(&mut self) -> Option<(u64, usize)> {
        let (digits, others) = digits_and_others(self.word());
        if others == 0 {
            self.at += 8;
            return self.more_digits(value_of(digits));
        }
        let n = first(others);
        if n == 0 {
            return None;
        }
        self.at += n;
        Some((value_of(digits << (64 - 8 * n)), n))
    }

    /// Parses what follows eight digits.
    #[inline(always)]
    fn more_digits(&mut self, mut value: u64) -> Option<(u64, usize)> {
        let mut total = 8;
        let (mut digits, mut others) = digits_and_others(self.word());
        if others == 0 {
            (value, total) = (value * POW10[8] + value_of(digits), 16);
            self.at += 8;
            (digits, others) = digits_and_others(self.word());
        }
        // Eight more digits are too many.
        let n = first(others) & 7;
        self.at += n;
        // In two steps, for 0 digits.
        let value = value.wrapping_mul(POW10[n]).wrapping_add(value_of(digits << 8 << (56 - 8 * n)));
        (total + n <= DIGITS_MAX && others != 0).then_some((value, total + n))
    }

    /// Skips a whole number of at most 19 digits and returns their count.
    #[inline(always)]
    pub fn skip_digits(&mut self) -> Option<usize> {
        let others = digits_and_others(self.word()).1;
        if others != 0 {
            let n = first(others);
            self.at += n;
            return (n > 0).then_some(n);
        }
        self.at += 8;
        self.skip_more_digits()
    }

    /// Skips what follows eight digits.
    #[inline(always)]
    fn skip_more_digits(&mut self) -> Option<usize> {
        let others = digits_and_others(self.word()).1;
        if others != 0 {
            let n = first(others);
            self.at += n;
            return Some(8 + n);
        }
        let others = digits_and_others(self.bytes_after(8)).1;
        let total = 16 + first(others);
        self.at += total - 8;
        (total <= DIGITS_MAX).then_some(total)
    }

    /// Skips what [`Scan::stamp`] parses.
    #[inline(always)]
    pub fn skip_stamp(&mut self, power: u32) -> Option<()> {
        self.skip_digits()?;
        if self.next() == b'.' {
            self.at += 1;
            (self.skip_digits()? <= power as usize).then_some(())?;
        }
        Some(())
    }

    /// Parses a time stamp without a sign in units of 10^`power` ns, with or without a fraction of whole nanoseconds,
    /// and returns nanoseconds. An exponent may follow: the caller checks what does.
    #[inline(always)]
    pub fn stamp(&mut self, power: u32) -> Option<i128> {
        let power = power as usize;
        let whole = self.uint()?;
        let mut ns = u128::from(whole) * u128::from(*POW10.get(power)?);
        if self.next() == b'.' {
            self.at += 1;
            let (fraction, digits) = self.digits()?;
            // Below 10^power.
            ns += u128::from(fraction * POW10.get(power.checked_sub(digits)?)?);
        }
        Some(ns as i128)
    }

    /// Parses a hexadecimal number of at most 16 digits; its prefix has been passed.
    #[inline(always)]
    pub fn hex(&mut self) -> Option<u64> {
        let (value, n) = hex_digits(self.word());
        if n == 0 {
            return None;
        }
        self.at += n;
        if n < 8 {
            return Some(value);
        }
        let (more, n) = hex_digits(self.word());
        self.at += n;
        let is_longer = n == 8 && hex_digits(self.word()).1 > 0;
        (!is_longer).then_some(value << (4 * n) | more)
    }

    /// Passes what is left of a line and its break; returns the bytes of the line with its break.
    #[inline(always)]
    pub fn line_end(mut self) -> Option<usize> {
        while self.at < WINDOW {
            let ends = marks(self.word(), b'\n');
            self.at += 8;
            let more = marks(self.word(), b'\n');
            self.at += 8;
            if ends | more != 0 {
                let at = if ends != 0 { self.at - 16 + first(ends) } else { self.at - 8 + first(more) };
                return (at < WINDOW).then_some(at + 1);
            }
        }
        None
    }

    /// Passes the line break that comes next; returns the bytes of the line with its break.
    #[inline(always)]
    pub fn end(mut self) -> Option<usize> {
        self.at += usize::from(self.next() == b'\r');
        (self.next() == b'\n' && self.at < WINDOW).then_some(self.at + 1)
    }
}

/// Returns the values of eight digits, and marks on the bytes that are no digits: exact up to the first of them.
#[inline(always)]
fn digits_and_others(word: u64) -> (u64, u64) {
    let digits = word ^ all(b'0');
    (digits, (digits.wrapping_add(all(0x76)) | digits) & HIGH)
}

/// Parses the hexadecimal digits at the beginning of eight bytes; returns value and count.
#[inline(always)]
fn hex_digits(word: u64) -> (u64, usize) {
    // Letters in lower case; a carry or a high bit can only corrupt bytes after the first that is no digit.
    let lower = word | all(0x20);
    let is_decimal = word.wrapping_add(all(0x80 - b'0')) & !word.wrapping_add(all(0x80 - b':'));
    let is_letter = lower.wrapping_add(all(0x80 - b'a')) & !lower.wrapping_add(all(0x80 - b'g'));
    let others = (is_decimal & !word | is_letter & !word) & HIGH ^ HIGH;
    let n = first(others);
    if n == 0 {
        return (0, 0);
    }
    let nibbles = (word & all(0xf)) + (word >> 6 & all(1)) * 9;
    let w = nibbles << (64 - 8 * n);
    let w = (w << 4 | w >> 8) & 0x00ff_00ff_00ff_00ff;
    let w = (w << 8 | w >> 16) & 0x0000_ffff_0000_ffff;
    ((w << 16 | w >> 32) & 0xffff_ffff, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::Cursor;
    use proptest::prelude::*;

    /// A text, the break of its line, and arbitrary bytes after it.
    fn line(text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(b'\n');
        bytes.resize(bytes.len() + READABLE, 0xe7);
        bytes
    }

    #[test]
    fn numbers_of_all_lengths() {
        for n in 1..=21 {
            let text = &"9876543210987654321098"[..n];
            let bytes = line(&format!("{text},1"));
            let mut scan = Scan::new(&bytes).unwrap();
            let value = scan.uint();
            assert_eq!(value, text.parse().ok().filter(|_| n <= DIGITS_MAX), "{text}");
            assert!(value.is_none() || scan.at() == n);
            assert_eq!(Scan::new(&bytes).unwrap().skip_digits(), value.map(|_| n));
            let bytes = line(&format!("{text} "));
            let mut scan = Scan::new(&bytes).unwrap();
            assert_eq!(scan.hex(), u64::from_str_radix(text, 16).ok(), "{text}");
        }
        for (text, value) in [("0", Some(0)), ("aF0", Some(0xaf0)), ("g", None), ("", None), ("1g", Some(1))]
        {
            assert_eq!(Scan::new(&line(text)).unwrap().hex(), value, "{text}");
        }
    }

    #[test]
    fn lines_end_within_the_window() {
        for n in [0, 1, 7, 8, 15, 16, 17, 100, WINDOW - 1] {
            let bytes = line(&"x".repeat(n));
            assert_eq!(Scan::new(&bytes).unwrap().line_end(), Some(n + 1), "{n}");
        }
        for n in [WINDOW, WINDOW + 1, WINDOW + 100] {
            assert_eq!(Scan::new(&line(&"x".repeat(n))).unwrap().line_end(), None, "{n}");
        }
        assert_eq!(Scan::new(&line("\r")).unwrap().end(), Some(2));
        assert_eq!(Scan::new(&line("\rx")).unwrap().end(), None);
        assert!(Scan::new(&[b'\n'; READABLE - 1]).is_none());
        // A position beyond the window reads from its beginning, and no line ends there.
        let bytes = line("1");
        let mut scan = Scan::new(&bytes).unwrap();
        scan.skip(WINDOW);
        assert_eq!((scan.uint(), scan.end(), scan.line_end()), (Some(1), None, None));
    }

    #[test]
    fn known_words_end_before_a_stop() {
        let known = Known::of(b"8,16");
        for (text, expected) in [("8,16 2", true), ("8,160 2", false), ("8,1 2", false), ("", false)] {
            let bytes = line(text);
            assert_eq!(Scan::new(&bytes).unwrap().has_known(known, b' '), expected, "{text}");
            assert!(!Scan::new(&bytes).unwrap().has_known(Known::NONE, b' '), "{text}");
        }
        let bytes = line("eight888,");
        assert!(Scan::new(&bytes).unwrap().has_known(Known::of(b"eight888"), b','));
        assert_eq!(Known::of(b"more than eight").len, 0);
    }

    proptest! {
        /// Where a part has the usual form, it is the one that all forms are parsed to.
        #[test]
        fn parts_are_those_of_a_cursor(text in "[0-9]{0,21}[.,e x]{0,2}[0-9a-fA-F]{0,18}[ ]{0,18}[a-g]?") {
            let bytes = line(&text);
            let cursor = || Cursor::new(&bytes, text.len());
            let scan = || Scan::new(&bytes).unwrap();
            let (mut c, mut s) = (cursor(), scan());
            let value = s.uint();
            prop_assert!(value.is_none() || value == c.uint() && s.at() == c.at());
            for power in [0, 2, 3, 6, 9] {
                let (mut c, mut s) = (cursor(), scan());
                if let Some(stamp) = s.stamp(power).filter(|_| !matches!(s.next(), b'e' | b'E')) {
                    prop_assert_eq!((Some(stamp), s.at()), (c.stamp(power), c.at()));
                    let mut s = scan();
                    prop_assert!(s.skip_stamp(power).is_some() && s.at() == c.at());
                }
            }
            let from = text.find(' ').unwrap_or(0);
            let (mut c, mut s) = (cursor(), scan());
            c.skip(from);
            s.skip(from);
            let any = s.blanks();
            prop_assert!(any.is_none() || c.blanks() && s.at() == c.at());
            let hex = format!("0x{text}");
            let bytes = line(&hex);
            let (mut c, mut s) = (Cursor::new(&bytes, hex.len()), Scan::new(&bytes).unwrap());
            s.skip(2);
            let value = s.hex();
            prop_assert_eq!(value, c.hex());
            prop_assert!(value.is_none() || s.at() == c.at());
        }
    }
}
