//! Detects remains of a tar archive in a text that was extracted carelessly: headers and padding.
//!
//! Traces are often distributed as `.tar.gz`. Unpacking only the gzip leaves 512-byte headers of NUL-padded fields
//! before each member, sometimes extended headers of lines `LENGTH key=value`, and NULs up to a multiple of 512 after
//! it. None of these is a record of any format. The first record of a member shares the line with its header.

/// Distinguishes lines of an archive from bad lines.
#[derive(Default)]
pub(crate) struct Tar {
    /// Whether a header has been seen; extended headers may follow it.
    inside: bool,
    /// Lines with remains of an archive.
    pub lines: u64,
    /// The line last skipped in part, and how many bytes of it.
    part: (u64, usize),
}

impl Tar {
    /// Returns the number of bytes of line `number`, which is not a record, that belong to an archive; none if no bytes
    /// do.
    pub fn passed_over(&mut self, line: &[u8], number: u64) -> Option<usize> {
        let first = self.part.0 != number;
        let Some(last) = line.iter().rposition(|&b| b == 0) else {
            let extended = self.inside && is_extended(line);
            self.lines += u64::from(extended && first);
            return extended.then_some(line.len());
        };
        let padding = line.iter().all(|&b| b == 0);
        if !padding && !line.windows(5).any(|w| w == b"ustar") {
            return None;
        }
        self.inside |= !padding;
        self.lines += 1;
        self.part = (number, last + 1);
        Some(last + 1)
    }

    /// Returns the number of bytes of line `number` that were skipped.
    pub fn passed_on(&self, number: u64) -> usize {
        if self.part.0 == number { self.part.1 } else { 0 }
    }
}

/// Returns whether a file begins with the header of an archive, which a binary trace cannot skip.
pub(crate) fn is_archive(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// Returns whether a line reads `LENGTH key=value` and the length is that of the line and its break.
fn is_extended(line: &[u8]) -> bool {
    let digits = line.iter().take_while(|b| b.is_ascii_digit()).count();
    let length =
        line[..digits].iter().fold(0usize, |n, b| n.saturating_mul(10).saturating_add(usize::from(b - b'0')));
    digits > 0 && line.get(digits) == Some(&b' ') && line.contains(&b'=') && length == line.len() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_padding_and_records_behind_them() {
        let mut tar = Tar::default();
        assert_eq!(tar.passed_over(b"28 ctime=1410563671.7201132", 1), None);
        let header = b"name\0\0\0mode 644\0ustar\0\0\0";
        let line = [&header[..], b"30 atime=1410563628.272753818"].concat();
        assert_eq!(tar.passed_over(&line, 2), Some(header.len()));
        assert_eq!((tar.passed_on(2), tar.passed_on(3)), (header.len(), 0));
        assert_eq!(tar.passed_over(&line[header.len()..], 2), Some(29));
        assert_eq!(tar.passed_over(b"28 ctime=1410563671.7201132", 3), Some(27));
        assert_eq!(tar.passed_over(b"29 ctime=1410563671.7201132", 4), None);
        assert_eq!(tar.passed_over(&[&header[..], b"1 2 3"].concat(), 5), Some(header.len()));
        assert_eq!(tar.passed_over(b"\0\0\0", 6), Some(3));
        assert_eq!(tar.passed_over(b"1,2\0,3", 7), None);
        assert_eq!(tar.lines, 4);
    }
}
