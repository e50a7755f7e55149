//! LRU stack distances over distinct contents: the number of other contents since the last occurrence of a content.
//!
//! Each occurrence takes the next place on a line and releases the content's previous one. A Fenwick tree counts the
//! occupied places after the previous one, which are the other contents since (Fenwick, "A new data structure for
//! cumulative frequency tables", 1994). When the line is full the places are renumbered.
//!
//! Cost: logarithmic in the number of places. Memory: 8 bytes per place, with up to two places per content, and 4 per
//! content.

const NONE: u32 = u32::MAX;
/// Initial number of places.
const PLACES: usize = 1 << 10;

/// Contents in the order of their latest occurrence.
pub struct LruStack {
    /// Sums of occupied places; the entry of place `n` is `n + 1`.
    tree: Vec<u32>,
    /// The content at each place.
    owner: Vec<u32>,
    /// The place of each content.
    place: Vec<u32>,
    head: usize,
}

impl Default for LruStack {
    fn default() -> Self {
        Self { tree: vec![0; PLACES + 1], owner: vec![NONE; PLACES], place: Vec::new(), head: 0 }
    }
}

impl LruStack {
    /// Adds a new content; contents are numbered in the order of these calls.
    pub fn add(&mut self) {
        let content = self.place.len() as u32;
        self.place.push(NONE);
        self.put_on_top(content);
    }

    /// Records another occurrence of a content, and returns the number of other contents since the previous one.
    pub fn again(&mut self, content: u32) -> u64 {
        let place = self.place[content as usize] as usize;
        let others = self.place.len() as u64 - u64::from(self.up_to(place));
        self.change(place, -1);
        self.owner[place] = NONE;
        self.put_on_top(content);
        others
    }

    fn put_on_top(&mut self, content: u32) {
        if self.head == self.owner.len() {
            self.renumber(content);
        }
        self.place[content as usize] = self.head as u32;
        self.owner[self.head] = content;
        self.change(self.head, 1);
        self.head += 1;
    }

    /// Counts the occupied places up to this one.
    fn up_to(&self, place: usize) -> u32 {
        let (mut at, mut sum) = (place + 1, 0);
        while at > 0 {
            sum += self.tree[at];
            at &= at - 1;
        }
        sum
    }

    fn change(&mut self, place: usize, by: i32) {
        let mut at = place + 1;
        while at < self.tree.len() {
            self.tree[at] = self.tree[at].wrapping_add_signed(by);
            at += at & at.wrapping_neg();
        }
    }

    /// Moves the occupied places together, which frees half of the line. `moving` has no place at present.
    fn renumber(&mut self, moving: u32) {
        let taken: Vec<u32> = self.owner.iter().copied().filter(|owner| *owner != NONE).collect();
        debug_assert!(!taken.contains(&moving));
        let places = (2 * self.place.len()).max(PLACES);
        self.head = taken.len();
        for (place, content) in taken.iter().enumerate() {
            self.place[*content as usize] = place as u32;
        }
        self.owner = taken;
        self.owner.resize(places, NONE);
        self.tree = vec![0; places + 1];
        for at in 1..=places {
            self.tree[at] += u32::from(at <= self.head);
            let above = at + (at & at.wrapping_neg());
            if above <= places {
                self.tree[above] += self.tree[at];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

    #[test]
    fn counts_as_a_list_does() {
        let mut rng = Rng::new(3, "stack");
        let mut stack = LruStack::default();
        let mut list: Vec<u32> = Vec::new();
        for _ in 0..20_000 {
            let drawn = rng.below(2000) as usize;
            if drawn >= list.len() && list.len() < 1500 {
                list.push(list.len() as u32);
                stack.add();
                continue;
            }
            let depth = drawn % list.len();
            let content = list.remove(list.len() - 1 - depth);
            list.push(content);
            assert_eq!(stack.again(content), depth as u64);
        }
    }
}
