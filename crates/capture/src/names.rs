//! Recognises pins by their names.

/// Returns whether a name is typical of Ready/Busy pins: RB, R/B#, RY/BY, ready_n, busy.
pub(crate) fn is_ready_busy(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
    let letters: String = last.chars().filter(char::is_ascii_alphabetic).collect();
    ["rb", "rbn", "rbb", "ryby", "rnb"].contains(&letters.as_str())
        || ["ready", "busy", "r/b", "ry/by"].iter().any(|part| last.contains(part))
}

/// Returns whether a signal has this name, either complete or after the last dot.
pub(crate) fn has_name(name: &str, wanted: &str) -> bool {
    name == wanted || name.rsplit('.').next() == Some(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ready_busy_pins_are_known() {
        for name in ["RB", "R/B#", "top.chip0.rb_n", "RB0", "RY/BY", "nand_busy", "Ready"] {
            assert!(is_ready_busy(name), "{name}");
        }
        for name in ["D0", "CLE", "verb", "0", "Channel 3", "RE#"] {
            assert!(!is_ready_busy(name), "{name}");
        }
    }
}
