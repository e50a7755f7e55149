//! IDS beside a model that keeps whole histories and logs and searches them: sets per context, all distances, all pairs.

use super::super::Hints;
use super::*;
use floatgate_base::Rng;
use std::collections::BTreeMap;

const PAGES: u32 = 40;

/// The rules of chapter 6, without a thought of cost.
struct Model {
    params: Params,
    /// Contexts of all updates so far, oldest first.
    log: Vec<u32>,
    /// The last writer of each written page.
    writers: BTreeMap<u32, u32>,
    /// By update context: the pages of its history with the number of the update that entered them.
    histories: BTreeMap<u32, BTreeMap<u32, usize>>,
    /// Group of each registered context, 0 for none.
    groups: BTreeMap<u32, u32>,
    updating: Vec<u32>,
    /// Writers of the data that were updated last, newest last, since the last unknown one.
    row: Vec<u32>,
    /// Time of the last write into each group's blocks.
    written: BTreeMap<u32, u64>,
}

impl Model {
    fn new(params: Params) -> Self {
        Self {
            params,
            log: Vec::new(),
            writers: BTreeMap::new(),
            histories: BTreeMap::new(),
            groups: BTreeMap::new(),
            updating: Vec::new(),
            row: Vec::new(),
            written: BTreeMap::new(),
        }
    }

    /// Returns the stream of a page written now.
    fn write(&mut self, lpn: u32, context: u32, now: u64) -> u32 {
        let replaced = self.writers.insert(lpn, context);
        if let Some(writer) = replaced {
            self.update(writer);
        }
        let stream = self.stream(lpn);
        if let Some(writer) = replaced.filter(|writer| self.updating.contains(writer)) {
            // A page is in one history at most.
            self.histories.values_mut().for_each(|history| _ = history.remove(&lpn));
            self.histories.entry(writer).or_default().insert(lpn, self.log.len());
        }
        if stream <= self.params.groups {
            self.written.insert(stream, now);
        }
        stream
    }

    /// Returns where the data of a page belong.
    fn stream(&self, lpn: u32) -> u32 {
        let writer = self.writers[&lpn];
        if !self.updating.contains(&writer) {
            return 0;
        }
        let group = self.groups.get(&writer).copied().unwrap_or(0);
        let entered = self.histories.get(&writer).and_then(|history| history.get(&lpn));
        let expiry = self.params.history_updates as usize;
        match entered {
            Some(entered) if expiry == 0 || self.log.len() - entered <= expiry => {
                self.params.groups + 1 + if self.params.archive_per_group { group } else { 0 }
            }
            _ => group,
        }
    }

    fn update(&mut self, writer: u32) {
        self.row.push(writer);
        let alike = self.row.iter().rev().take_while(|&&other| other == writer).count();
        if alike - 1 > self.params.consecutive_over as usize && !self.updating.contains(&writer) {
            self.updating.push(writer);
        }
        self.log.push(writer);
        if (self.log.len() as u32).is_multiple_of(self.params.period) {
            self.regroup();
        }
    }

    /// Algorithm 2 over the contexts of the window.
    fn regroup(&mut self) {
        let from = self.log.len().saturating_sub(self.params.window as usize);
        let window = &self.log[from..];
        let mut contexts: Vec<u32> = Vec::new();
        for &context in window.iter().rev() {
            if !contexts.contains(&context) {
                contexts.push(context);
            }
        }
        let created = clusters(window, &contexts);
        if created.is_empty() {
            return;
        }
        // Each context's original and root cluster: the first with it, and the first within that one.
        let first_with = |context| created.iter().position(|cluster| cluster.contains(context)).unwrap();
        let root_of =
            |of: usize| created[..=of].iter().position(|c| c.iter().all(|m| created[of].contains(m)));
        let mut named: Vec<(usize, usize, u32)> = contexts
            .iter()
            .map(|context| (first_with(context), root_of(first_with(context)).unwrap(), *context))
            .collect();
        named.sort_by_key(|&(original, ..)| original);
        let (mut of_root, mut taken) = (BTreeMap::new(), Vec::new());
        for (original, root, context) in named {
            let Some(own) = self.groups.get(&context).copied() else {
                self.groups.insert(context, 0);
                continue;
            };
            if original == root {
                let number = *of_root.entry(root).or_insert_with(|| self.number(own, &mut taken));
                self.groups.insert(context, number);
            } else if let Some(&number) = of_root.get(&root)
                && original - root <= self.params.level_difference as usize
            {
                self.groups.insert(context, number);
            }
        }
    }

    /// Returns the number of a new group whose first member was in group `own`.
    fn number(&self, own: u32, taken: &mut Vec<u32>) -> u32 {
        let all = 1..=self.params.groups;
        let mut free = all.clone().filter(|number| !taken.contains(number));
        if let Some(lowest) = free.next() {
            let number = if own != 0 && !taken.contains(&own) { own } else { lowest };
            taken.push(number);
            return number;
        }
        all.min_by_key(|number| (self.written.get(number).copied().unwrap_or(0), *number)).unwrap()
    }
}

/// Returns all clusters of single linkage in the order of creation, by the distances of equations 6.1 to 6.3.
fn clusters(window: &[u32], contexts: &[u32]) -> Vec<Vec<u32>> {
    let places = |of: u32| (0..window.len()).filter(move |&i| window[i] == of);
    // Fractions are compared by their cross products.
    let distance = |one: u32, other: u32| {
        let of = |a, b| places(a).map(|i| places(b).map(|j| i.abs_diff(j)).min().unwrap()).sum::<usize>();
        (of(one, other) + of(other, one), places(one).count() + places(other).count())
    };
    let mut pairs: Vec<_> = (0..contexts.len())
        .flat_map(|p| (p + 1..contexts.len()).map(move |q| (p, q)))
        .map(|(p, q)| (distance(contexts[p], contexts[q]), contexts[p], contexts[q]))
        .collect();
    pairs.sort_by(|((sum, n), ..), ((other, m), ..)| (sum * m).cmp(&(other * n)));
    let mut created: Vec<Vec<u32>> = Vec::new();
    for (_, one, other) in pairs {
        let newest = |of: u32| created.iter().rev().find(|cluster| cluster.contains(&of)).cloned();
        let (a, b) = (newest(one).unwrap_or(vec![one]), newest(other).unwrap_or(vec![other]));
        if a != b {
            created.push([a, b].concat());
        }
    }
    created
}

/// Random loads of contexts that write in runs, each to pages of its own or to all.
#[test]
fn streams_are_those_of_the_model() {
    let (mut hot, mut forgotten, mut archives) = (0, 0, vec![0; 20]);
    for seed in 0..60 {
        let mut rng = Rng::new(seed, "ids model");
        let params = Params {
            consecutive_over: rng.below(3) as u32,
            window: 4 + rng.below(60) as u32,
            period: 1 + rng.below(40) as u32,
            level_difference: rng.below(4) as u32,
            groups: 1 + rng.below(6) as u32,
            contexts: 100,
            archive_per_group: rng.below(2) == 1,
            history_updates: if rng.below(2) == 1 { 1 + rng.below(60) as u32 } else { 0 },
            update_blocks: UpdateBlocks::AsAny,
        };
        let shape =
            Shape { logical_pages: PAGES, pages_per_unit: 4, units: 8, domains: 1, page_bytes: 4096, seed };
        let (mut state, mut model) = (State::new(&params, &shape), Model::new(params));
        let (contexts, own_pages) = (1 + rng.below(12), rng.below(4) > 0);
        let mut context = 1;
        for now in 0..600 {
            if rng.below(3) == 0 {
                context = 1 + rng.below(contexts) as u32;
            }
            let drawn = rng.below(u64::from(PAGES)).min(rng.below(u64::from(PAGES))) as u32;
            let lpn = if own_pages { (context * 3 + drawn % 5) % PAGES } else { drawn };
            let hints = Hints { context, ..Hints::default() };
            let update = model.writers.contains_key(&lpn);
            let stream = state.write(&Written { lpn: Lpn(lpn), update, hints, now });
            assert_eq!(stream.0, model.write(lpn, context, now), "seed {seed}, write {now}, {params:?}");
            assert!(stream.0 < params.streams(), "seed {seed}");
            for &lpn in model.writers.keys() {
                let moved = state.move_stream(&Moved { lpn: Lpn(lpn), from: StreamId(0), now });
                assert_eq!(moved.0, model.stream(lpn), "seed {seed}, page {lpn} at {now}, {params:?}");
                let writer = model.writers[&lpn];
                let entered = model.histories.get(&writer).is_some_and(|history| history.contains_key(&lpn));
                forgotten += u64::from(entered && moved.0 <= params.groups);
            }
            if stream.0 > params.groups {
                hot += 1;
                archives[(stream.0 - params.groups - 1) as usize] += 1;
            }
        }
    }
    // The loads reach what they are to show: archives of several groups, and pages that left their history.
    assert!(hot > 5000 && forgotten > 5000, "{hot} hot, {forgotten} forgotten");
    assert!(archives[..4].iter().all(|&writes| writes > 100), "{archives:?}");
}
