//! Patterns over the trace, in bounded memory.

use serde::Serialize;

/// Most points; beyond, neighbours are combined.
const POINTS_MAX: usize = 1024;

/// Patterns by groups of the same number of windows.
#[derive(Clone, Debug, Serialize)]
pub struct Course {
    /// Windows per group; the last group may have fewer.
    pub windows: u64,
    /// Patterns of each group.
    pub patterns: Vec<u64>,
    #[serde(skip)]
    open: u64,
}

impl Default for Course {
    fn default() -> Self {
        Self { windows: 1, patterns: Vec::new(), open: 0 }
    }
}

impl Course {
    /// Adds a window.
    pub(super) fn add(&mut self, patterns: u64) {
        if self.open == 0 {
            if self.patterns.len() == POINTS_MAX {
                self.patterns = self.patterns.chunks(2).map(|two| two.iter().sum()).collect();
                self.windows *= 2;
            }
            self.patterns.push(0);
            self.open = self.windows;
        }
        *self.patterns.last_mut().expect("a group") += patterns;
        self.open -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_as_many_windows_each() {
        for windows in [0, 1, 1023, 1024, 1025, 2048, 2049, 10_000u64] {
            let mut course = Course::default();
            (0..windows).for_each(|window| course.add(window));
            let (n, total) = (course.windows, course.patterns.iter().sum::<u64>());
            assert_eq!(
                (total, course.patterns.len() as u64),
                (windows * windows.saturating_sub(1) / 2, windows.div_ceil(n))
            );
            assert!(course.patterns.len() <= POINTS_MAX);
            let whole = course.patterns.iter().take((windows / n) as usize);
            for (group, &sum) in (0u64..).zip(whole) {
                assert_eq!(sum, (group * n..(group + 1) * n).sum::<u64>(), "{windows} {group}");
            }
        }
    }
}
