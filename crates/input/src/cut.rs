//! The words for a file that ends within a line, as one does that was cut when it was copied.

/// Adds to a fault of the last line that the file ends within it, and what to do.
///
/// `len` has the bytes of that line ([`crate::Lines::cut_len`]); none leaves the words as they are.
#[must_use]
pub fn cut(what: String, expected: String, len: Option<usize>) -> (String, String) {
    let Some(len) = len else { return (what, expected) };
    let bytes = if len == 1 { "byte" } else { "bytes" };
    let what = format!(
        "{what}, and the file ends within this line, after {len} {bytes}: it was probably cut when it was copied"
    );
    (what, "expected the whole file: copy it again, or remove this line".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_line_that_the_file_ends_within_is_called_cut() {
        let words = |len| cut("'#3' is late".into(), "expected another".into(), len);
        assert_eq!(words(None), ("'#3' is late".into(), "expected another".into()));
        let (what, expected) = words(Some(2));
        assert!(
            what.starts_with("'#3' is late, and the file ends within this line, after 2 bytes: "),
            "{what}"
        );
        assert_eq!(expected, "expected the whole file: copy it again, or remove this line");
    }
}
