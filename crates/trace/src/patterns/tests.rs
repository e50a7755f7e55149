//! Compares windows and shares with brute force; the miner has its own tests.

use super::addresses::Addresses;
use super::*;
use crate::source::Summary;
use floatgate_base::{Op, Rng};
use floatgate_patterns::mine;
use std::collections::{BTreeMap, BTreeSet};

type Row = (u16, Op, u64);

struct Rows {
    rows: Vec<Row>,
    at: usize,
    devices: Vec<String>,
}

impl Source for Rows {
    fn fill(&mut self, batch: &mut RequestBatch, max: usize) -> Result<()> {
        for &(device, op, offset) in self.rows.iter().skip(self.at).take(max) {
            batch.push(0, device, op, offset, 512);
            self.at += 1;
        }
        Ok(())
    }

    fn rewind(&mut self) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn format(&self) -> &'static str {
        "rows"
    }

    fn devices(&self) -> &[String] {
        &self.devices
    }

    fn summary(&self) -> Summary {
        Summary::default()
    }

    fn place_of(&self, index: u64) -> String {
        index.to_string()
    }
}

fn mined(rows: &[Row], settings: &PatternSettings) -> Result<PatternsInfo> {
    let devices = vec!["a".into(), "b".into()];
    patterns(&mut Rows { rows: rows.to_vec(), at: 0, devices }, settings)
}

/// Draws groups of addresses that are written together now and then, single writes, reads, and a few TRIMs.
fn draw(rng: &mut Rng) -> Vec<Row> {
    let groups: Vec<Vec<u64>> =
        (0..1 + rng.below(6)).map(|_| (0..2 + rng.below(5)).map(|_| rng.below(40)).collect()).collect();
    let mut rows = Vec::new();
    for _ in 0..rng.below(120) {
        let device = rng.below(2) as u16;
        match rng.below(4) {
            0 => rows.push((device, Op::Read, rng.below(40))),
            1 => rows.push((device, [Op::Write, Op::Trim][rng.below(2) as usize], rng.below(40))),
            _ => {
                let group = &groups[rng.below(groups.len() as u64) as usize];
                rows.extend(group.iter().map(|&offset| (0, Op::Write, offset)));
            }
        }
    }
    rows
}

fn draw_settings(rng: &mut Rng) -> PatternSettings {
    let window = 1 + rng.below(100) as u32;
    PatternSettings {
        window,
        mined: 1 + rng.below(u64::from(window)) as u32,
        transaction: 1 + rng.below(8) as u32,
        support: 1 + rng.below(u64::from(window.min(4))) as u32,
        items_min: 1 + rng.below(4) as u32,
        closed: rng.below(2) == 0,
    }
}

fn check(rows: &[Row], settings: &PatternSettings, seed: u64) {
    let info = mined(rows, settings).unwrap();
    let (mut sizes, mut inside, mut busy) = (BTreeMap::new(), 0, 0);
    let mut together = BTreeSet::new();
    let (mut course, mut strongest) = (Vec::new(), Vec::new());
    for window in rows.chunks(settings.window as usize) {
        let writes = |rows: &[Row]| -> Vec<(u16, u64)> {
            rows.iter().filter(|row| row.1 == Op::Write).map(|row| (row.0, row.2)).collect()
        };
        let mined = writes(&window[..window.len().min(settings.mined as usize)]);
        let runs: Vec<_> = mined.chunks(settings.transaction as usize).map(<[_]>::to_vec).collect();
        let patterns = mine(&runs, &settings.of_miner()).unwrap();
        let here: BTreeSet<_> = patterns.iter().flat_map(|pattern| pattern.items.clone()).collect();
        inside += writes(window).iter().filter(|key| here.contains(key)).count();
        patterns.iter().for_each(|pattern| *sizes.entry(pattern.items.len() as u64).or_insert(0) += 1);
        busy += u64::from(!patterns.is_empty());
        course.push(patterns.len() as u64);
        strongest
            .extend(patterns.iter().map(|pattern| u64::from(pattern.support) * pattern.items.len() as u64));
        together.extend(here);
    }
    let count: u64 = sizes.values().sum();
    let items: u64 = sizes.iter().map(|(size, n)| size * n).sum();
    let mut times: BTreeMap<(u16, u64), [u64; 2]> = BTreeMap::new();
    for &(device, op, offset) in rows.iter().filter(|row| row.1 != Op::Trim) {
        times.entry((device, offset)).or_default()[op as usize] += 1;
    }
    let over = times.values().filter(|[reads, writes]| reads + writes > 4).count();
    let often: Vec<_> = times.iter().filter(|(_, [_, writes])| *writes >= 4).map(|(key, _)| key).collect();
    let often_together = often.iter().filter(|key| together.contains(key)).count();
    let (once, read) = (
        times.values().filter(|[reads, _]| *reads == 1).count(),
        times.values().filter(|[reads, _]| *reads > 0).count(),
    );
    let ratio = |part: usize, whole: usize| (whole > 0).then(|| part as f64 / whole as f64);
    let written = times.values().filter(|[_, writes]| *writes > 0).count();
    let writes = rows.iter().filter(|row| row.1 == Op::Write).count();
    assert_eq!(
        (info.windows, info.patterns, info.windows_with_patterns),
        (course.len() as u64, count, busy),
        "{seed}"
    );
    assert_eq!(info.patterns_per_window, ratio(count as usize, course.len()), "{seed}");
    assert_eq!(info.pattern_size_mean, ratio(items as usize, count as usize), "{seed}");
    assert_eq!(info.write_share, ratio(inside, writes), "{seed}");
    assert_eq!(info.address_share, ratio(together.len(), written), "{seed}");
    assert_eq!((info.sizes.size, info.sizes.patterns), sizes.into_iter().unzip(), "{seed}");
    assert_eq!(info.course.patterns, course, "{seed}");
    assert_eq!(info.addresses.accessed_over_4_share, ratio(over, times.len()), "{seed}");
    assert_eq!(info.addresses.read_once_share, ratio(once, read), "{seed}");
    assert_eq!(info.addresses.frequent.share, ratio(often_together, often.len()), "{seed}");
    strongest.sort_by_key(|&strength| std::cmp::Reverse(strength));
    let first = info.strongest.first().map(|strong| u64::from(strong.support) * strong.size);
    assert_eq!(first, strongest.first().copied(), "{seed}");
    assert!(info.strongest.iter().all(|strong| strong.size >= u64::from(settings.items_min)), "{seed}");
}

#[test]
fn figures_equal_brute_force() {
    for seed in 0..2000 {
        let mut rng = Rng::new(seed, "patterns");
        let (rows, settings) = (draw(&mut rng), draw_settings(&mut rng));
        check(&rows, &settings, seed);
    }
}

/// The paper's window: 4 runs of 12 writes contain the same 5 addresses, the other seven of each run are new.
#[test]
fn a_window_of_which_all_is_known() {
    let mut rows: Vec<Row> = (0..4u64)
        .flat_map(|run| (0..5).chain(100 + 7 * run..107 + 7 * run))
        .map(|address| (0, Op::Write, 4096 * address))
        .collect();
    rows.extend((0..480).map(|i| (0, Op::Read, 4096 * i)));
    rows.extend((0..8).map(|i| (0, Op::Write, 4096 * i)));
    rows.resize(1024 + 10, (1, Op::Read, 0));
    let info = mined(&rows, &PatternSettings::default()).unwrap();
    assert_eq!((info.windows, info.patterns, info.pattern_size_mean), (2, 1, Some(5.0)));
    assert_eq!((info.patterns_per_window, info.support_mean), (Some(0.5), Some(4.0)));
    // 4 * 5 writes in the mined part and 5 after it, of 56; 5 addresses of 5 + 28 + 3.
    assert_eq!((info.write_share, info.address_share), (Some(25.0 / 56.0), Some(5.0 / 36.0)));
    assert_eq!((info.addresses.frequent.addresses, info.addresses.frequent.share), (5, Some(1.0)));
    let strong = &info.strongest[0];
    assert_eq!((info.strongest.len(), strong.window, strong.support, strong.size), (1, 0, 4, 5));
    assert_eq!((&strong.addresses[4].device[..], strong.addresses[4].offset), ("a", 4 * 4096));
    let all = PatternSettings { mined: 1024, items_min: 6, ..PatternSettings::default() };
    assert_eq!(mined(&rows, &all).unwrap().patterns, 0);
}

#[test]
fn a_set_is_listed_once_where_it_was_strongest() {
    let run = |copies: usize| [(0, Op::Write, 0), (0, Op::Write, 8), (0, Op::Write, 16)].repeat(copies);
    let window = |copies: usize| {
        let mut rows = run(copies);
        rows.resize(100, (0, Op::Read, 0));
        rows
    };
    let rows = [window(4), window(6), window(6), window(5)].concat();
    let settings = PatternSettings { window: 100, mined: 100, transaction: 3, ..PatternSettings::default() };
    let info = mined(&rows, &settings).unwrap();
    assert_eq!((info.patterns, info.strongest.len()), (4, 1));
    assert_eq!((info.strongest[0].window, info.strongest[0].support), (1, 6));
}

/// Runs of 40 of 41 addresses, with a huge number of closed sets.
#[test]
fn a_window_with_too_many_sets_fails_with_its_number() {
    let rows: Vec<Row> = (0..41u64)
        .flat_map(|own| (0..41).filter(move |&address| address != own))
        .map(|address| (0, Op::Write, address))
        .collect();
    let settings = PatternSettings {
        window: 2048,
        mined: 2048,
        transaction: 40,
        closed: true,
        ..PatternSettings::default()
    };
    let error = mined(&rows, &settings).unwrap_err();
    assert_eq!(error.status(), 1);
    assert!(
        error
            .to_string()
            .contains("window 0 of the trace has too many patterns; expected a larger --support")
    );
}

#[test]
fn settings_that_cannot_be_are_refused() {
    let default = PatternSettings::default;
    for (settings, message) in [
        (PatternSettings { support: 0, ..default() }, "--support: 0 is out of range; expected 1 to 1024"),
        (PatternSettings { support: 1025, ..default() }, "--support: 1025 is out of range"),
        (PatternSettings { items_min: 0, ..default() }, "--items-min: 0 is out of range"),
        (PatternSettings { window: 0, ..default() }, "--window: 0 is out of range"),
        (PatternSettings { window: WINDOW_MAX + 1, ..default() }, "expected 1 to 1048576"),
        (PatternSettings { mined: 1025, ..default() }, "--mined: 1025 is out of range; expected 1 to 1024"),
        (PatternSettings { window: WINDOW_MAX, mined: MINED_MAX + 1, ..default() }, "expected 1 to 16384"),
        (PatternSettings { transaction: 0, ..default() }, "--transaction: 0 is out of range"),
    ] {
        let error = settings.validate().unwrap_err();
        assert_eq!(error.status(), 2);
        assert!(error.to_string().contains(message), "{error}");
    }
    assert!(default().validate().is_ok());
}

/// Beyond the limit of addresses, shares of a sample approximate those of all.
#[test]
fn addresses_beyond_the_bound_are_sampled() {
    let (mut all, mut some) = (Addresses::default(), Addresses::with_most(5000));
    let mut rng = Rng::new(1, "sample");
    for _ in 0..200_000 {
        let address = rng.below(200) * rng.below(200);
        let key = (rng.below(2) as u16, 4096 * address);
        for addresses in [&mut all, &mut some] {
            addresses.access(key, Op::Write);
            if address.is_multiple_of(3) {
                addresses.in_pattern(key);
            }
        }
    }
    let (all, some) = (all.describe(), some.describe());
    assert_eq!(all.sampled_share, 1.0);
    assert!(some.sampled_share < 1.0 && some.written <= 5000);
    // Binomial: the sample has more than 2500 addresses; five standard deviations of a share are below 0.05.
    assert!((some.written as f64 / some.sampled_share / all.written as f64 - 1.0).abs() < 0.1);
    let (of_all, of_some) = (all.frequent.share.unwrap(), some.frequent.share.unwrap());
    assert!((of_all - of_some).abs() < 0.05, "{of_all} {of_some}");
    assert!((all.accessed_over_4_share.unwrap() - some.accessed_over_4_share.unwrap()).abs() < 0.05);
}
