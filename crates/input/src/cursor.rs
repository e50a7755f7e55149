//! Parses numbers and words of a line in place, eight digits at a time.

/// Bytes that must be readable after a line, because numbers are loaded eight digits at a time.
pub const PAD: usize = 8;

/// Powers of ten that fit u64.
pub const POW10: [u64; 20] = {
    let mut table = [1u64; 20];
    let mut i = 1;
    while i < 20 {
        table[i] = table[i - 1] * 10;
        i += 1;
    }
    table
};

/// A fault in a line; the message quotes its bytes `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// First byte of the line to quote.
    pub from: usize,
    /// End of the bytes to quote.
    pub to: usize,
    /// The fact that is wrong.
    pub what: &'static str,
    /// The expected value.
    pub expected: &'static str,
}

/// A position in a line.
///
/// `bytes` reaches at least [`PAD`] beyond `end`, and the byte at `end` is not a digit, which ends every number.
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the beginning of a line of `end` bytes.
    #[inline]
    pub fn new(bytes: &'a [u8], end: usize) -> Self {
        debug_assert!(bytes.len() >= end + PAD && !bytes[end].is_ascii_digit());
        Self { bytes, at: 0, end }
    }

    /// Returns the whole line.
    #[inline]
    pub fn line(&self) -> &'a [u8] {
        &self.bytes[..self.end]
    }

    /// Returns the position in the line, in bytes.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns whether the end of the line is reached.
    #[inline]
    pub fn at_end(&self) -> bool {
        self.at >= self.end
    }

    /// Returns the rest of the line.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..self.end]
    }

    /// Returns the bytes from `from` up to the cursor.
    #[inline]
    pub fn since(&self, from: usize) -> &'a [u8] {
        &self.bytes[from..self.at]
    }

    /// Creates a cursor over the bytes `from..to` of the line; the byte at `to` must not be a digit.
    #[inline]
    pub fn part(&self, from: usize, to: usize) -> Self {
        Self::new(&self.bytes[from..], to - from)
    }

    /// Returns the next byte without a step.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        (self.at < self.end).then(|| self.bytes[self.at])
    }

    /// Skips `n` bytes.
    #[inline]
    pub fn skip(&mut self, n: usize) {
        self.at = (self.at + n).min(self.end);
    }

    /// Skips `byte` if it comes next, and returns whether it did.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        // The byte at the end is a line break or padding, which no caller looks for.
        let hit = self.bytes[self.at] == byte && self.at < self.end;
        self.at += usize::from(hit);
        hit
    }

    /// Skips `word`, in upper or lower case, if it comes next, and returns whether it did.
    #[inline]
    pub fn eat_word(&mut self, word: &[u8]) -> bool {
        let rest = self.rest();
        // One comparison settles the usual spelling.
        let hit =
            rest.starts_with(word) || rest.get(..word.len()).is_some_and(|w| w.eq_ignore_ascii_case(word));
        if hit {
            self.at += word.len();
        }
        hit
    }

    /// Skips blanks and tabs, and returns whether there were any.
    #[inline]
    pub fn blanks(&mut self) -> bool {
        let from = self.at;
        while self.at < self.end && matches!(self.bytes[self.at], b' ' | b'\t') {
            self.at += 1;
        }
        self.at > from
    }

    /// Skips to `stop` or the end of the line, and returns the bytes before it.
    #[inline]
    pub fn until(&mut self, stop: u8) -> &'a [u8] {
        let from = self.at;
        while self.at < self.end && self.bytes[self.at] != stop {
            self.at += 1;
        }
        &self.bytes[from..self.at]
    }

    /// Skips a word, up to the next blank or tab, and returns it.
    #[inline]
    pub fn word(&mut self) -> &'a [u8] {
        let from = self.at;
        while self.at < self.end && !matches!(self.bytes[self.at], b' ' | b'\t') {
            self.at += 1;
        }
        &self.bytes[from..self.at]
    }

    /// Parses a whole number without sign; without a number of at most 64 bits the cursor stays in place.
    #[inline]
    pub fn uint(&mut self) -> Option<u64> {
        let (value, digits) = self.digits_at(self.at);
        if digits == 0 {
            return None;
        }
        let value = if digits < POW10.len() { value } else { self.long_uint(digits)? };
        self.at += digits;
        Some(value)
    }

    /// Parses a hexadecimal number that begins with `0x`.
    pub fn hex(&mut self) -> Option<u64> {
        let digits = self.rest().strip_prefix(b"0x")?;
        let n = digits.iter().take_while(|b| b.is_ascii_hexdigit()).count();
        if n == 0 || n > 16 {
            return None;
        }
        let digit = |b: u8| u64::from(char::from(b).to_digit(16).unwrap_or(0));
        let value = digits[..n].iter().fold(0u64, |v, &b| v << 4 | digit(b));
        self.at += 2 + n;
        Some(value)
    }

    /// Parses a time stamp in units of 10^`power` ns and returns nanoseconds, rounded to the nearest. Fraction, sign
    /// and exponent are optional.
    #[inline(always)]
    pub fn stamp(&mut self, power: u32) -> Option<i128> {
        let from = self.at;
        if let Some(whole) = self.uint() {
            let ns = i128::from(whole) * i128::from(POW10[power as usize]);
            return match self.bytes[self.at] {
                b'.' | b'e' | b'E' if self.at < self.end => self.fraction(from, ns, power),
                _ => Some(ns),
            };
        }
        self.negative(power)
    }

    /// Parses a stamp that begins with a sign.
    #[cold]
    fn negative(&mut self, power: u32) -> Option<i128> {
        let from = self.at;
        if self.eat(b'-') && self.bytes[self.at].is_ascii_digit() {
            let ns = self.stamp(power);
            if ns.is_some() {
                return ns.map(|ns| -ns);
            }
        }
        self.at = from;
        None
    }

    /// Parses the rest of a stamp with a fraction or an exponent, which began at `from`.
    fn fraction(&mut self, from: usize, whole_ns: i128, power: u32) -> Option<i128> {
        let mut ns = whole_ns;
        if self.eat(b'.') {
            let (value, digits) = self.digits_at(self.at);
            let kept = digits.min(18);
            let value = if digits > kept { self.first_digits(kept) } else { value };
            self.at += digits;
            let power = power as usize;
            ns += i128::from(if kept <= power {
                value * POW10[power - kept]
            } else {
                let unit = POW10[kept - power];
                (value + unit / 2) / unit
            });
        }
        if self.at < self.end && matches!(self.bytes[self.at], b'e' | b'E') {
            return self.exponent(from, power);
        }
        Some(ns)
    }

    /// Parses the next `n` digits.
    #[cold]
    fn first_digits(&self, n: usize) -> u64 {
        self.bytes[self.at..self.at + n].iter().fold(0, |value, b| value * 10 + u64::from(b - b'0'))
    }

    /// Parses a stamp in exponent notation, as C++ and Python print large and small floats.
    fn exponent(&mut self, from: usize, power: u32) -> Option<i128> {
        self.at += 1;
        if self.at < self.end && matches!(self.bytes[self.at], b'+' | b'-') {
            self.at += 1;
        }
        let (_, digits) = self.digits_at(self.at);
        self.at += digits;
        let text = std::str::from_utf8(self.since(from)).ok();
        let value = text.and_then(|t| t.parse::<f64>().ok()).map(|v| v * POW10[power as usize] as f64);
        match value {
            Some(v) if digits > 0 && v.abs() < 1e30 => Some(v.round() as i128),
            _ => {
                self.at = from;
                None
            }
        }
    }

    /// Parses the digits at `at`; returns value and count. The value is meaningless beyond 19 digits.
    #[inline]
    fn digits_at(&self, at: usize) -> (u64, usize) {
        let (mut value, mut total) = (0u64, 0);
        loop {
            // A number stops at `end` at the latest, and PAD bytes follow.
            let mut word = [0; 8];
            word.copy_from_slice(&self.bytes[at + total..at + total + 8]);
            let (part, n) = eight_digits(u64::from_le_bytes(word));
            value = value.wrapping_mul(POW10[n]).wrapping_add(part);
            total += n;
            if n < 8 {
                return (value, total);
            }
        }
    }

    /// Parses more digits than always fit: the number may have leading zeros, or 20 digits that fit.
    #[cold]
    fn long_uint(&self, digits: usize) -> Option<u64> {
        self.bytes[self.at..self.at + digits]
            .iter()
            .try_fold(0u64, |v, b| v.checked_mul(10)?.checked_add(u64::from(b - b'0')))
    }

    /// Returns the fault of the field at the cursor; commas and blanks delimit fields.
    #[cold]
    pub fn fault(&self, what: &'static str, expected: &'static str) -> Fault {
        self.fault_between(b',', what, expected)
    }

    /// Returns the fault of the field at the cursor; `separator`s and blanks delimit fields.
    #[cold]
    pub fn fault_between(&self, separator: u8, what: &'static str, expected: &'static str) -> Fault {
        let apart = |b: &u8| *b == separator || matches!(b, b' ' | b'\t');
        let (from, to) = match self.at_end() {
            true => (self.end, self.end),
            false => (
                self.bytes[..self.at].iter().rposition(apart).map_or(0, |n| n + 1),
                self.rest().iter().position(apart).map_or(self.end, |n| self.at + n),
            ),
        };
        Fault { from, to, what, expected }
    }

    /// Returns the fault of the field from `from` to the next comma or blank.
    #[cold]
    pub fn fault_from(&self, from: usize, what: &'static str, expected: &'static str) -> Fault {
        let apart = |b: &u8| matches!(b, b',' | b' ' | b'\t');
        let rest = &self.bytes[from.max(self.at)..self.end];
        let to = rest.iter().position(apart).map_or(self.end, |n| from.max(self.at) + n);
        Fault { from, to, what, expected }
    }
}

/// Position of a fault that concerns the whole line.
const WHOLE_LINE: usize = usize::MAX;

impl Fault {
    /// Returns a fault of a whole line.
    #[cold]
    pub fn line(what: &'static str, expected: &'static str) -> Self {
        Self { from: WHOLE_LINE, to: WHOLE_LINE, what, expected }
    }

    /// Returns whether the fault concerns the whole line.
    pub fn is_line(&self) -> bool {
        self.from == WHOLE_LINE
    }
}

/// Converts an address in units of `unit` bytes to bytes.
#[inline]
pub fn scaled(value: u64, unit: u64) -> Result<u64, Fault> {
    value
        .checked_mul(unit)
        .ok_or_else(|| Fault::line("an address or size beyond 2^64 bytes", "expected one below"))
}

/// Parses the decimal digits at the beginning of eight bytes (the first in the lowest byte); returns value and count.
#[inline]
fn eight_digits(word: u64) -> (u64, usize) {
    let digits = word ^ 0x3030_3030_3030_3030;
    // A byte above 9 gets its high bit set; a carry can only corrupt bytes after the first such byte.
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    let n = others.trailing_zeros() as usize / 8;
    if n == 0 {
        return (0, 0);
    }
    // Shifting up drops the non-digits and fills in leading zeros.
    (value_of(digits << (64 - 8 * n)), n)
}

/// Computes the number of eight decimal digits, one per byte, the first in the lowest byte.
#[inline(always)]
pub(crate) fn value_of(digits: u64) -> u64 {
    const PAIRS: u64 = 0x0000_00ff_0000_00ff;
    const HIGH: u64 = 0x000f_4240_0000_0064;
    const LOW: u64 = 0x0000_2710_0000_0001;
    let w = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    (w & PAIRS).wrapping_mul(HIGH).wrapping_add((w >> 16 & PAIRS).wrapping_mul(LOW)) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn padded(text: &str) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(b'\n');
        bytes.resize(text.len() + PAD, b'7');
        bytes
    }

    fn stamp(text: &str, power: u32) -> Option<i128> {
        let bytes = padded(text);
        let mut c = Cursor::new(&bytes, text.len());
        c.stamp(power).filter(|_| c.at_end())
    }

    #[test]
    fn whole_numbers_up_to_64_bits() {
        for text in ["0", "7", "12345678", "123456789", "18446744073709551615", "000000000000000000000042"] {
            let bytes = padded(text);
            let mut c = Cursor::new(&bytes, text.len());
            assert_eq!(c.uint(), text.parse().ok(), "{text}");
            assert!(c.at_end());
        }
        for text in ["", "x", "-1", "18446744073709551616", "99999999999999999999999"] {
            let bytes = padded(text);
            let mut c = Cursor::new(&bytes, text.len());
            assert_eq!((c.uint(), c.at()), (None, 0), "{text}");
        }
    }

    #[test]
    fn stamps_keep_every_nanosecond() {
        assert_eq!(stamp("128166391024154329", 2), Some(12_816_639_102_415_432_900));
        assert_eq!(stamp("7961.833", 6), Some(7_961_833_000));
        assert_eq!(stamp("0.551706", 9), Some(551_706_000));
        assert_eq!(stamp("1266874889.708668759", 9), Some(1_266_874_889_708_668_759));
        assert_eq!(stamp("0.0000000005", 9), Some(1));
        assert_eq!(stamp("0.00000000049999999999999999", 9), Some(0));
        assert_eq!(stamp("5.", 3), Some(5000));
        assert_eq!(stamp("-2.5", 3), Some(-2500));
        assert_eq!(stamp("7.3902e-05", 9), Some(73_902));
        assert_eq!(stamp("1e+06", 6), Some(1_000_000_000_000));
        for text in ["", "-", "--1", "1e", "nan", "inf", ".", "1e999", "1e30"] {
            assert_eq!(stamp(text, 9), None, "{text}");
        }
    }

    #[test]
    fn hexadecimal_needs_its_prefix() {
        for (text, value) in
            [("0x0", Some(0)), ("0xffffffffffffffff", Some(u64::MAX)), ("0x", None), ("12", None)]
        {
            let bytes = padded(text);
            assert_eq!(Cursor::new(&bytes, text.len()).hex(), value, "{text}");
        }
    }

    proptest! {
        #[test]
        fn eight_digits_equal_the_plain_way(bytes in any::<[u8; 8]>(), digits in 0usize..9, v in any::<u64>()) {
            let mut bytes = bytes;
            for (i, b) in bytes.iter_mut().take(digits).enumerate() {
                *b = b'0' + ((v >> (4 * i)) % 10) as u8;
            }
            let n = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
            let plain = bytes[..n].iter().fold(0u64, |v, b| v * 10 + u64::from(b - b'0'));
            prop_assert_eq!(eight_digits(u64::from_le_bytes(bytes)), (plain, n));
        }
    }
}
