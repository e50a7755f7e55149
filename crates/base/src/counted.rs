//! Counts of things in messages.

/// Names a count and its thing, whose plural ends in s: `1 line`, `3 lines`.
#[must_use]
pub fn counted(n: u64, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// States how many records were skipped, and what was wrong with the first: ` (1 bad line skipped: ...)`.
#[must_use]
pub fn skipped(n: u64, thing: &str, first: &str) -> String {
    let of_several = if n == 1 { "" } else { ", the first" };
    format!(" ({} skipped{of_several}: {first})", counted(n, &format!("bad {thing}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular() {
        assert_eq!((counted(1, "line"), counted(0, "row")), ("1 line".to_string(), "0 rows".to_string()));
        assert_eq!(skipped(1, "line", "x"), " (1 bad line skipped: x)");
        assert_eq!(skipped(2, "line", "x"), " (2 bad lines skipped, the first: x)");
    }
}
