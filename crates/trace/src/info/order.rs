//! The order of the last accesses to pages, and the number of pages above one of them: LRU stack distances.
//!
//! Each access takes the next place on a line, and the page leaves its previous one. The pages accessed since are the
//! occupied places after the previous one. A bitmap under sums with 16 children each counts them: a tree of Mattson et
//! al., "Evaluation techniques for storage hierarchies" (1970), as in Bennett and Kruskal, "LRU stack processing"
//! (1975). When the line is full the places are renumbered.
//!
//! Cost: about `log16` of the places, in additions of 16 neighbours. Memory: 2 bits per place.

/// Places per word of the bitmap, and children per sum, as powers of two.
const WORD_BITS: u32 = 6;
const FAN_BITS: u32 = 4;
const FAN: usize = 1 << FAN_BITS;
/// Initial number of places.
const PLACES: usize = 1 << 14;

/// Pages in the order of their last access.
pub(crate) struct Order {
    bits: Vec<u64>,
    /// Occupied places of each word, then sums of 16 of the level below; the last level has at most 16.
    sums: Vec<Vec<u32>>,
    /// The next place; 0 stands for none.
    head: u32,
    live: u32,
}

impl Default for Order {
    fn default() -> Self {
        Self::with_places(PLACES)
    }
}

impl Order {
    fn with_places(places: usize) -> Self {
        let mut n = (places >> WORD_BITS).max(FAN);
        let bits = vec![0; n];
        let mut sums = vec![vec![0; n]];
        while n > FAN {
            n = n.div_ceil(FAN);
            sums.push(vec![0; n.next_multiple_of(FAN)]);
        }
        Self { bits, sums, head: 1, live: 0 }
    }

    /// Returns the number of places.
    fn places(&self) -> usize {
        self.bits.len() << WORD_BITS
    }

    /// Returns whether there is room for `n` more accesses.
    #[inline]
    pub fn has_room(&self, n: u32) -> bool {
        (self.head + n) as usize <= self.places()
    }

    /// Takes the next `n` places.
    #[inline]
    pub fn take(&mut self, n: u32) -> u32 {
        let first = self.head;
        self.head += n;
        first
    }

    /// Fills taken places.
    #[inline]
    pub fn fill(&mut self, first: u32, n: u32) {
        self.live += n;
        self.change::<true>(first, n);
    }

    /// Empties filled places.
    #[inline]
    pub fn clear(&mut self, first: u32, n: u32) {
        self.live -= n;
        self.change::<false>(first, n);
    }

    #[inline]
    fn change<const FILL: bool>(&mut self, first: u32, n: u32) {
        let (mut at, end) = (first, first + n);
        while at < end {
            let word = (at >> WORD_BITS) as usize;
            let stop = end.min(((at >> WORD_BITS) + 1) << WORD_BITS);
            let count = stop - at;
            let mask = u64::MAX >> (64 - count) << (at & 63);
            if FILL {
                self.bits[word] |= mask;
            } else {
                self.bits[word] &= !mask;
            }
            let mut i = word;
            for level in &mut self.sums {
                level[i] = if FILL { level[i] + count } else { level[i] - count };
                i >>= FAN_BITS;
            }
            at = stop;
        }
    }

    /// Counts the filled places after `place`.
    #[inline]
    pub fn behind(&self, place: u32) -> u32 {
        let word = (place >> WORD_BITS) as usize;
        // Shifted twice: the last place of a word has no place after it in the word.
        let mut count = (self.bits[word] >> (place & 63) >> 1).count_ones();
        let (mut i, mut last) = (word, ((self.head - 1) >> WORD_BITS) as usize);
        for level in &self.sums {
            if i >= last {
                break;
            }
            let group: &[u32; FAN] = level[i & !(FAN - 1)..][..FAN].try_into().expect("whole groups");
            let from = i & (FAN - 1);
            // All 16 without a branch: the compiler adds several at a time.
            count += (0..FAN).map(|k| if k > from { group[k] } else { 0 }).sum::<u32>();
            i >>= FAN_BITS;
            last >>= FAN_BITS;
        }
        count
    }

    /// Numbers the filled places again from 1, and doubles the number of places if they fill half; `places` lists those of
    /// all pages (0 for none).
    pub fn renumber<'a>(&mut self, places: impl Iterator<Item = &'a mut u32>) {
        let mut ranks = Vec::with_capacity(self.bits.len());
        let mut before = 0;
        for word in &self.bits {
            ranks.push(before);
            before += word.count_ones();
        }
        for place in places.filter(|place| **place != 0) {
            let word = (*place >> WORD_BITS) as usize;
            let below = self.bits[word] & ((1 << (*place & 63)) - 1);
            *place = ranks[word] + below.count_ones() + 1;
        }
        let live = self.live;
        let places = if live as usize * 2 > self.places() { self.places() * 2 } else { self.places() };
        *self = Self::with_places(places);
        let first = self.take(live);
        self.fill(first, live);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_what_lies_behind() {
        let mut order = Order::default();
        let first = order.take(5000);
        assert_eq!(first, 1);
        order.fill(1, 5000);
        order.clear(100, 65);
        order.clear(4096, 1);
        assert_eq!(order.behind(5000), 0);
        assert_eq!(order.behind(4096), 904);
        assert_eq!(order.behind(99), 5000 - 99 - 66);
        assert_eq!(order.behind(127), 5000 - 127 - 38);
    }

    #[test]
    fn renumbering_keeps_the_order_and_makes_room() {
        let mut order = Order::with_places(1024);
        order.take(1023);
        order.fill(1, 1023);
        assert!(!order.has_room(1024));
        order.clear(1, 300);
        let mut places: Vec<u32> = (301..1024).rev().chain([0]).collect();
        order.renumber(places.iter_mut());
        assert_eq!(places[..2], [723, 722]);
        assert_eq!(places[722..], [1, 0]);
        assert!(order.has_room(1024), "more than half was filled: there are twice as many places");
        assert_eq!(order.behind(1), 722);
    }

    proptest! {
        #[test]
        fn equals_a_list(accesses in prop::collection::vec(0usize..300, 1..4000)) {
            let mut order = Order::with_places(1024);
            let mut places = vec![0u32; 300];
            let mut list: Vec<usize> = Vec::new();
            for page in accesses {
                if !order.has_room(1) {
                    order.renumber(places.iter_mut());
                }
                if let Some(at) = list.iter().position(|&p| p == page) {
                    prop_assert_eq!(order.behind(places[page]) as usize, list.len() - 1 - at);
                    list.remove(at);
                    order.clear(places[page], 1);
                }
                places[page] = order.take(1);
                order.fill(places[page], 1);
                list.push(page);
            }
        }
    }
}
