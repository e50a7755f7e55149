//! Suggestions for a misspelt name: which valid names are close to it.

use crate::error::quote;

/// Most names that a message suggests.
pub const SUGGESTIONS_MAX: usize = 5;
/// A name that contains fewer characters of another one says nothing about it.
const PART_MIN: usize = 3;
/// Names beyond this length are not compared: no valid name has so many characters.
const LENGTH_MAX: usize = 80;

/// Returns the valid names that are close to `name`, the closest first, at most [`SUGGESTIONS_MAX`].
#[must_use]
pub fn close<'a>(name: &str, valid: &[&'a str]) -> Vec<&'a str> {
    let mut scored: Vec<(usize, &str)> =
        valid.iter().filter_map(|other| Some((distance(name, other)?, *other))).collect();
    // Names at the same distance keep the order of their table.
    scored.sort_by_key(|(distance, _)| *distance);
    scored.truncate(SUGGESTIONS_MAX);
    scored.into_iter().map(|(_, name)| name).collect()
}

/// States what to write in place of an unknown name.
///
/// These are the close names, or else the valid ones, never more than [`SUGGESTIONS_MAX`]. `listing` is the command that
/// lists them all; empty for none.
#[must_use]
pub fn remedy(name: &str, valid: &[&str], listing: &str) -> String {
    let quoted = |names: &[&str]| names.iter().map(|name| quote(name.as_bytes())).collect::<Vec<_>>();
    let near = close(name, valid);
    if !near.is_empty() {
        return suggestion(&near, listing, valid.len());
    }
    if let [only] = valid {
        return format!("expected {}", quote(only.as_bytes()));
    }
    if valid.len() <= SUGGESTIONS_MAX {
        return format!("expected one of {}", quoted(valid).join(", "));
    }
    let others = valid.len() - SUGGESTIONS_MAX;
    let first = quoted(&valid[..SUGGESTIONS_MAX]).join(", ");
    let others = if others == 1 { "1 other".into() } else { format!("{others} others") };
    format!("expected one of {first} or {others}{}", lists_all(listing, valid.len()))
}

/// Suggests close names. `count` is the number of valid ones, of which `listing` lists all.
#[must_use]
pub fn suggestion<S: AsRef<str>>(near: &[S], listing: &str, count: usize) -> String {
    let near: Vec<_> = near.iter().map(|name| quote(name.as_ref().as_bytes())).collect();
    format!("did you mean {}?{}", any_of(&near), lists_all(listing, count))
}

/// Names the command that lists all names, where a message shows only some.
fn lists_all(listing: &str, count: usize) -> String {
    if listing.is_empty() || count <= SUGGESTIONS_MAX {
        String::new()
    } else {
        format!(" ('{listing}' lists all)")
    }
}

/// Joins names as "a", "a or b", "a, b or c".
#[must_use]
pub fn any_of<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match &names[..] {
        [] => String::new(),
        [one] => (*one).into(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Scores how close two names are, the less the closer; none where they are not close.
///
/// Case and separators do not count. A name that begins the other one, or a word of it, is close, too.
fn distance(name: &str, other: &str) -> Option<usize> {
    if name.len() > LENGTH_MAX || other.len() > LENGTH_MAX {
        return None;
    }
    let (a, b) = (Letters::of(name), Letters::of(other));
    let edits = edits(&a.letters, &b.letters);
    let close = (edits <= (a.letters.len().min(b.letters.len()) + 1) / 3).then_some(2 * edits);
    // The user left the end of a name out, or its first words; or wrote more than the name.
    let part = match (b.place_of(&a), a.place_of(&b)) {
        (Some(0), _) => Some(1),
        (Some(_), _) => Some(3),
        (None, Some(_)) => Some(5),
        (None, None) => None,
    };
    close.into_iter().chain(part).min()
}

/// A name without case and separators.
struct Letters {
    letters: Vec<char>,
    /// Where its words begin.
    words: Vec<usize>,
}

impl Letters {
    fn of(text: &str) -> Self {
        let (mut letters, mut words) = (Vec::new(), vec![0]);
        for c in text.chars() {
            if matches!(c, '-' | '_' | '.' | ' ') {
                words.push(letters.len());
            } else {
                letters.extend(c.to_lowercase());
            }
        }
        Self { letters, words }
    }

    /// Finds the word with which `part` begins.
    fn place_of(&self, part: &Self) -> Option<usize> {
        let begins = |word: &&usize| self.letters[**word..].starts_with(&part.letters);
        (part.letters.len() >= PART_MIN).then(|| self.words.iter().find(begins).copied())?
    }
}

/// Counts insertions, deletions, replacements and swaps of neighbours that turn one text into another.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let mut least =
                (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICIES: [&str; 8] = [
        "greedy",
        "fifo",
        "random",
        "d-choices",
        "windowed-greedy",
        "cost-benefit",
        "cost-benefit-sqrt",
        "cost-age-time",
    ];

    #[test]
    fn close_names_come_first() {
        assert_eq!(close("gredy", &POLICIES), ["greedy"]);
        assert_eq!(close("costbenefit", &POLICIES), ["cost-benefit", "cost-benefit-sqrt"]);
        assert_eq!(close("rnadom", &POLICIES), ["random"]);
        assert_eq!(close("Greedy", &POLICIES), ["greedy", "windowed-greedy"]);
        assert_eq!(close("choices", &POLICIES), ["d-choices"]);
        assert!(close("zzzz", &POLICIES).is_empty() && close("", &POLICIES).is_empty());
        assert!(close(&"greedy".repeat(1000), &POLICIES).is_empty());
    }

    #[test]
    fn short_names_are_close_only_to_themselves() {
        assert!(close("Z", &["Q", "D"]).is_empty());
        assert_eq!(close("q", &["Q", "D"]), ["Q"]);
    }

    #[test]
    fn no_more_than_five_are_suggested() {
        let drives = ["tlc-1", "tlc-2", "tlc-3", "tlc-4", "tlc-5", "tlc-6", "tlc-7"];
        assert_eq!(close("tlc-0", &drives).len(), SUGGESTIONS_MAX);
        assert_eq!(remedy("tlc-0", &drives, "").matches('\'').count(), 2 * SUGGESTIONS_MAX);
        assert_eq!(remedy("zzzz", &drives, "").matches('\'').count(), 2 * SUGGESTIONS_MAX);
    }

    #[test]
    fn a_remedy_names_what_to_write() {
        assert_eq!(
            remedy("gredy", &POLICIES, "floatgate policies"),
            "did you mean 'greedy'? ('floatgate policies' lists all)"
        );
        assert_eq!(
            remedy("zzzz", &POLICIES, "floatgate policies"),
            "expected one of 'greedy', 'fifo', 'random', 'd-choices', 'windowed-greedy' or 3 others \
             ('floatgate policies' lists all)"
        );
        assert_eq!(remedy("zzzz", &POLICIES[..2], "floatgate policies"), "expected one of 'greedy', 'fifo'");
        assert_eq!(remedy("fif", &POLICIES[..2], "floatgate policies"), "did you mean 'fifo'?");
        assert_eq!(
            remedy("cost", &POLICIES, ""),
            "did you mean 'cost-benefit', 'cost-benefit-sqrt' or 'cost-age-time'?"
        );
    }

    #[test]
    fn edits_count_swaps_of_neighbours_once() {
        let count = |a: &str, b: &str| edits(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!((count("ftl", "flt"), count("", "abc"), count("abc", "abc")), (1, 3, 0));
        assert_eq!((count("kitten", "sitting"), count("open", "opne")), (3, 1));
    }
}
