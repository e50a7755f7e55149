//! The miner compared with two independent references: all subsets of small universes, and all intersections of few
//! transactions. `FLOATGATE_TIMES=n` has n times as many cases; a failing case prints its seed.

use floatgate_base::Rng;
use floatgate_patterns::{
    ITEMS_MAX, Kind, Miner, Pattern, SETS_MAX, STEPS_MAX, Settings, TooMany, Transactions, mine,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

type Item = u16;
type Sets = BTreeMap<BTreeSet<Item>, u32>;

fn seeds(cases: u64) -> std::ops::Range<u64> {
    let times = std::env::var("FLOATGATE_TIMES").map_or(1, |text| text.parse().expect("a whole number"));
    0..cases * times
}

/// Support of every frequent set, from all subsets of the universe.
fn by_subsets(transactions: &[Vec<Item>], support: u32) -> Sets {
    let universe: Vec<Item> =
        transactions.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let masks: Vec<u32> = transactions
        .iter()
        .map(|t| (0..universe.len()).filter(|&i| t.contains(&universe[i])).fold(0, |mask, i| mask | 1 << i))
        .collect();
    let mut patterns = Sets::new();
    for set in 1u32..1 << universe.len() {
        let count = masks.iter().filter(|&mask| mask & set == set).count() as u32;
        if count >= support {
            patterns.insert(
                (0..universe.len()).filter(|i| set >> i & 1 == 1).map(|i| universe[i]).collect(),
                count,
            );
        }
    }
    patterns
}

/// Support of every closed frequent set, from the intersections of all choices of transactions.
fn by_intersections(transactions: &[Vec<Item>], support: u32) -> Sets {
    let sets: Vec<BTreeSet<Item>> = transactions.iter().map(|t| t.iter().copied().collect()).collect();
    let mut met = BTreeSet::new();
    for one in &sets {
        let more: Vec<BTreeSet<Item>> = met.iter().map(|other| one & other).collect();
        met.extend(more);
        met.insert(one.clone());
    }
    let count = |set: &BTreeSet<Item>| sets.iter().filter(|one| set.is_subset(one)).count() as u32;
    let counted = met.into_iter().filter(|set| !set.is_empty()).map(|set| (count(&set), set));
    counted.filter(|&(count, _)| count >= support).map(|(count, set)| (set, count)).collect()
}

/// Selects from sets (all frequent ones, or all closed ones) those that the miner reports, in their order.
fn expected_patterns(sets: &Sets, settings: &Settings) -> Vec<Pattern<Item>> {
    let stands = |set: &BTreeSet<Item>, support: u32| {
        !sets.iter().any(|(other, &of_other)| {
            let above = other.len() > set.len() && set.is_subset(other);
            above && (settings.kind == Kind::Maximal || of_other == support)
        })
    };
    let large = sets.iter().filter(|(set, _)| set.len() >= settings.items_min as usize);
    let mut patterns: Vec<Pattern<Item>> = large
        .filter(|&(set, &support)| stands(set, support))
        .map(|(set, &support)| Pattern { items: set.iter().copied().collect(), support })
        .collect();
    patterns.sort_by_key(|pattern| (Reverse(pattern.items.len()), pattern.items.clone()));
    patterns
}

/// Transactions over so many items: of equal chances or skewed, with copies, empty ones and items named twice.
fn draw(rng: &mut Rng, count: u64, items: u64) -> Vec<Vec<Item>> {
    let (density, skewed, copies) = (rng.unit(), rng.below(2) == 0, rng.below(3) == 0);
    let mut made: Vec<Vec<Item>> = Vec::new();
    for _ in 0..count {
        if copies && !made.is_empty() && rng.below(2) == 0 {
            made.push(made[rng.below(made.len() as u64) as usize].clone());
            continue;
        }
        let chance = |item| if skewed { density.sqrt() / (1.0 + 0.3 * item as f64) } else { density };
        let mut one: Vec<Item> =
            (0..items).filter(|&item| rng.unit() < chance(item)).map(|item| 37 * item as Item).collect();
        if one.len() > 1 && rng.below(4) == 0 {
            one.push(one[0]);
            one.reverse();
        }
        made.push(one);
    }
    made
}

fn draw_settings(rng: &mut Rng, count: u64) -> Settings {
    let kind = if rng.below(2) == 0 { Kind::Closed } else { Kind::Maximal };
    Settings { support: 1 + rng.below(count.clamp(1, 6)) as u32, items_min: 1 + rng.below(4) as u32, kind }
}

#[test]
fn sets_equal_those_of_all_subsets() {
    let mut some = 0;
    for seed in seeds(6000) {
        let mut rng = Rng::new(seed, "subsets");
        let (count, items) = (rng.below(25), 1 + rng.below(9));
        let transactions = draw(&mut rng, count, items);
        let settings = draw_settings(&mut rng, count);
        let wanted = expected_patterns(&by_subsets(&transactions, settings.support), &settings);
        some += usize::from(!wanted.is_empty());
        assert_eq!(
            mine(&transactions, &settings).unwrap(),
            wanted,
            "seed {seed}: {settings:?} {transactions:?}"
        );
    }
    assert!(some > 2000, "only {some} cases have any set");
}

#[test]
fn sets_equal_those_of_all_intersections() {
    for seed in seeds(1500) {
        let mut rng = Rng::new(seed, "intersections");
        let (count, items) = (1 + rng.below(9), 10 + rng.below(60));
        let transactions = draw(&mut rng, count, items);
        let settings = draw_settings(&mut rng, count);
        let wanted = expected_patterns(&by_intersections(&transactions, settings.support), &settings);
        assert_eq!(
            mine(&transactions, &settings).unwrap(),
            wanted,
            "seed {seed}: {settings:?} {transactions:?}"
        );
    }
}

/// More transactions than a word has bits.
#[test]
fn many_transactions_equal_all_subsets() {
    for seed in seeds(300) {
        let mut rng = Rng::new(seed, "many");
        let (count, items) = (60 + rng.below(150), 1 + rng.below(7));
        let transactions = draw(&mut rng, count, items);
        let settings =
            Settings { support: 1 + rng.below(count / 2) as u32, ..draw_settings(&mut rng, count) };
        let wanted = expected_patterns(&by_subsets(&transactions, settings.support), &settings);
        assert_eq!(
            mine(&transactions, &settings).unwrap(),
            wanted,
            "seed {seed}: {settings:?} {transactions:?}"
        );
    }
}

/// A used miner reports the same as a new one, and the order of transactions and of items within them has no effect.
#[test]
fn results_do_not_depend_on_what_came_before_or_in_which_order() {
    let mut used = Miner::new();
    let sets = |miner: &Miner| miner.patterns().iter().map(|(set, n)| (set.to_vec(), n)).collect::<Vec<_>>();
    let flat = |transactions: &[Vec<Item>]| {
        let mut made = Transactions::default();
        transactions.iter().for_each(|one| made.push(one.iter().map(|&item| item.into())));
        made
    };
    for seed in seeds(1000) {
        let mut rng = Rng::new(seed, "again");
        let (count, items) = (rng.below(100), 1 + rng.below(20));
        let mut transactions = draw(&mut rng, count, items);
        let settings = Settings { support: 2 + (count / 5) as u32, ..draw_settings(&mut rng, count) };
        let (mut new, mut shuffled) = (Miner::new(), Miner::new());
        used.mine(&flat(&transactions), &settings).unwrap();
        new.mine(&flat(&transactions), &settings).unwrap();
        transactions.reverse();
        transactions.iter_mut().for_each(|one| one.reverse());
        shuffled.mine(&flat(&transactions), &settings).unwrap();
        assert_eq!(sets(&used), sets(&new), "seed {seed}");
        assert_eq!(sets(&shuffled), sets(&new), "seed {seed}");
    }
}

const BOTH: [Kind; 2] = [Kind::Closed, Kind::Maximal];

#[test]
fn equal_transactions_of_any_length_are_one_set() {
    for (copies, length) in [(8, 32), (4, 64), (2, 128), (1, 256), (16, 1 << 16)] {
        for kind in BOTH {
            let transactions = vec![(0..length).collect::<Vec<u32>>(); copies];
            let patterns =
                mine(&transactions, &Settings { support: copies as u32, items_min: 3, kind }).unwrap();
            assert_eq!(patterns, [Pattern { items: transactions[0].clone(), support: copies as u32 }]);
        }
    }
}

/// A chain of runs, each of which shares all but one item with the next; and nested runs, a single path of the tree.
#[test]
fn chains_and_single_paths_do_not_blow_up() {
    let chain: Vec<Vec<u32>> = (0..200).map(|i| (i..i + 50).collect()).collect();
    // What `support` neighbours share, 51 - support items, is closed; there are 201 - support such neighbourhoods.
    let patterns = mine(&chain, &Settings { support: 4, items_min: 3, kind: Kind::Maximal }).unwrap();
    assert_eq!((patterns.len(), patterns.iter().all(|p| (p.items.len(), p.support) == (47, 4))), (197, true));
    let patterns = mine(&chain, &Settings { support: 4, items_min: 3, kind: Kind::Closed }).unwrap();
    assert_eq!(patterns.len(), (4..=48).map(|support| 201 - support).sum());
    let nested: Vec<Vec<u32>> = (0..300).map(|i| (0..=i).collect()).collect();
    let patterns = mine(&nested, &Settings { support: 4, items_min: 3, kind: Kind::Closed }).unwrap();
    assert_eq!((patterns.len(), patterns[0].items.len(), patterns[0].support), (295, 297, 4));
    let patterns = mine(&nested, &Settings { support: 4, items_min: 3, kind: Kind::Maximal }).unwrap();
    assert_eq!((patterns.len(), patterns[0].items.len()), (1, 297));
}

/// `n` transactions, each with all items but its own: every set of at most `n - support` items is closed.
fn all_but_one(n: u32) -> Vec<Vec<u32>> {
    (0..n).map(|own| (0..n).filter(|&item| item != own).collect()).collect()
}

/// Of 256 requests the most closed sets that are possible, or nearly.
#[test]
fn the_worst_of_256_requests_stays_in_bounds() {
    let binomial = |n: u64, k: u64| (0..k).fold(1, |made, i| made * (n - i) / (i + 1));
    let patterns =
        mine(&all_but_one(16), &Settings { support: 4, items_min: 3, kind: Kind::Maximal }).unwrap();
    assert_eq!((patterns.len() as u64, patterns[0].items.len()), (binomial(16, 12), 12));
    let patterns =
        mine(&all_but_one(16), &Settings { support: 1, items_min: 1, kind: Kind::Closed }).unwrap();
    assert_eq!(patterns.len(), (1 << 16) - 2);
    for n in 1u32..=256 {
        let runs = 256u32.div_ceil(n);
        let most = (f64::from(runs) * f64::from(n).exp2()).min(f64::from(runs).exp2());
        assert!(most < SETS_MAX as f64, "runs of {n}");
        assert!(most * 64.0 < STEPS_MAX as f64, "runs of {n}");
    }
}

#[test]
fn too_many_sets_are_refused_in_bounded_time() {
    for kind in BOTH {
        assert_eq!(mine(&all_but_one(40), &Settings { support: 12, items_min: 3, kind }), Err(TooMany));
    }
    // 2^18 closed sets of many items: some 30 million items in the report.
    let mut rng = Rng::new(1, "wide");
    let wide: Vec<Vec<u32>> = (0..18).map(|_| (0..800).filter(|_| rng.below(2) == 0).collect()).collect();
    let patterns = mine(&wide, &Settings { support: 1, items_min: 1, kind: Kind::Closed });
    assert!(patterns.is_ok_and(|sets| sets.iter().map(|set| set.items.len()).sum::<usize>() <= ITEMS_MAX));
}

#[test]
fn small_cases() {
    let settings = Settings { support: 2, items_min: 1, kind: Kind::Closed };
    assert_eq!(mine::<u8>(&[], &settings), Ok(vec![]));
    assert_eq!(mine::<u8>(&[vec![], vec![]], &settings), Ok(vec![]));
    assert_eq!(mine(&[vec![7, 7], vec![8]], &settings), Ok(vec![]), "a set does not count an item twice");
    let every = Settings { support: 0, ..settings };
    assert_eq!(mine(&[vec![7]], &every), Ok(vec![Pattern { items: vec![7], support: 1 }]));
}
