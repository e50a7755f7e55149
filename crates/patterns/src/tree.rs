//! FP-trees in flat arrays: a stack with the base tree at the bottom and one conditional tree per step above it.

/// No node, no slot.
pub const NONE: u32 = u32::MAX;

/// A prefix that `count` transactions share.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// Index of its item in the tree's header.
    slot: u32,
    count: u32,
    parent: u32,
    /// First child, next child of the same parent, next node of the same item.
    child: u32,
    sibling: u32,
    alike: u32,
}

/// An item of a tree.
#[derive(Clone, Copy, Debug)]
pub struct Header {
    /// Its rank.
    pub rank: u32,
    /// Transactions of the tree that contain it.
    pub count: u32,
    first: u32,
}

/// Where a tree begins.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    root: usize,
    headers: usize,
}

/// A stack of trees; the top one ends first.
#[derive(Debug, Default)]
pub struct Trees {
    nodes: Vec<Node>,
    headers: Vec<Header>,
    path: Vec<u32>,
}

impl Trees {
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.headers.clear();
    }

    /// Begins a tree of these items (rank and support), the most frequent first.
    pub fn begin(&mut self, items: impl Iterator<Item = (u32, u32)>) -> Begin {
        let begin = Begin { root: self.nodes.len(), headers: self.headers.len() };
        self.nodes.push(Node { slot: NONE, count: 0, parent: NONE, child: NONE, sibling: NONE, alike: NONE });
        self.headers.extend(items.map(|(rank, count)| Header { rank, count, first: NONE }));
        begin
    }

    /// Removes the topmost tree.
    pub fn end(&mut self, tree: Begin) {
        self.nodes.truncate(tree.root);
        self.headers.truncate(tree.headers);
    }

    pub fn header(&self, tree: Begin, slot: usize) -> Header {
        self.headers[tree.headers + slot]
    }

    /// Adds `count` transactions of these slots, ascending, to the topmost tree.
    pub fn insert(&mut self, tree: Begin, slots: impl Iterator<Item = u32>, count: u32) {
        let mut at = tree.root;
        for slot in slots {
            let mut child = self.nodes[at].child;
            while child != NONE && self.nodes[child as usize].slot != slot {
                child = self.nodes[child as usize].sibling;
            }
            if child == NONE {
                child = self.nodes.len() as u32;
                let header = &mut self.headers[tree.headers + slot as usize];
                let sibling = std::mem::replace(&mut self.nodes[at].child, child);
                let alike = std::mem::replace(&mut header.first, child);
                self.nodes.push(Node { slot, count: 0, parent: at as u32, child: NONE, sibling, alike });
            }
            at = child as usize;
            self.nodes[at].count += count;
        }
    }

    /// Fills `counts` by slot with the transactions that contain an item and each of the items before it.
    pub fn count_before(&self, header: Header, slot: usize, counts: &mut Vec<u32>) {
        counts.clear();
        counts.resize(slot, 0);
        let mut alike = header.first;
        while alike != NONE {
            let node = self.nodes[alike as usize];
            let mut above = self.nodes[node.parent as usize];
            while above.slot != NONE {
                counts[above.slot as usize] += node.count;
                above = self.nodes[above.parent as usize];
            }
            alike = node.alike;
        }
    }

    /// Fills the topmost tree with the prefixes of the transactions that contain an item of a lower tree: each
    /// transaction up to that item. `new_slot` maps a slot there to its slot here, if any.
    pub fn insert_prefixes(&mut self, tree: Begin, header: Header, new_slot: &[u32]) {
        let mut path = std::mem::take(&mut self.path);
        let mut alike = header.first;
        while alike != NONE {
            let node = self.nodes[alike as usize];
            path.clear();
            let mut above = self.nodes[node.parent as usize];
            while above.slot != NONE {
                let slot = new_slot[above.slot as usize];
                if slot != NONE {
                    path.push(slot);
                }
                above = self.nodes[above.parent as usize];
            }
            self.insert(tree, path.iter().rev().copied(), node.count);
            alike = node.alike;
        }
        self.path = path;
    }
}
