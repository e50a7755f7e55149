//! Compares the figures with a naive model: lists of pages, compared byte by byte.

use floatgate_base::Rng;
use floatgate_content::{CODECS, Codecs, Figures, Measured, PAGE_BYTES, Settings, fingerprint, measure};
use std::path::PathBuf;

type Page = Vec<u8>;

/// Draws files of few distinct pages: zeros, text, noise, and ends that need padding.
fn draw(rng: &mut Rng) -> Vec<Vec<u8>> {
    let distinct = 1 + rng.below(40);
    let pool: Vec<Page> = (0..distinct)
        .map(|n| {
            let compressible = rng.below(PAGE_BYTES as u64 + 1) as usize;
            let mut page: Page = (0..PAGE_BYTES).map(|_| rng.next_u64() as u8).collect();
            page[..compressible].fill(n as u8);
            page
        })
        .collect();
    let file = |rng: &mut Rng| {
        let pages = rng.below(150) as usize;
        let mut data: Vec<u8> = (0..pages)
            .flat_map(|_| {
                let drawn = rng.below(2 + pool.len() as u64) as usize;
                pool.get(drawn).cloned().unwrap_or_else(|| vec![0; PAGE_BYTES])
            })
            .collect();
        data.truncate(data.len().saturating_sub(rng.below(PAGE_BYTES as u64) as usize));
        data
    };
    (0..1 + rng.below(6)).map(|_| file(rng)).collect()
}

fn pages_of(files: &[Vec<u8>]) -> Vec<Page> {
    let padded = |page: &[u8]| {
        let mut page = page.to_vec();
        page.resize(PAGE_BYTES, 0);
        page
    };
    files.iter().flat_map(|file| file.chunks(PAGE_BYTES).map(padded)).collect()
}

fn measured(files: &[Vec<u8>], settings: &Settings) -> Measured {
    let folder = tempfile::tempdir().unwrap();
    for (number, data) in files.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number:03}")), data).unwrap();
    }
    let paths: [PathBuf; 1] = [folder.path().into()];
    measure(&paths, settings, &mut |_, _, _| Ok(())).unwrap()
}

fn flash_pages(sizes: &[u64], chunk: usize) -> u64 {
    let of = |chunk: &[u64]| (chunk.iter().sum::<u64>().div_ceil(PAGE_BYTES as u64)).min(chunk.len() as u64);
    sizes.chunks(chunk).map(of).sum()
}

/// Returns the smallest value that a share of the sorted values does not exceed.
fn quantile(sorted: &[u64], percent: usize) -> u64 {
    sorted[(sorted.len() * percent).div_ceil(100).max(1) - 1]
}

/// Returns the latest equal page before each page.
fn earlier(pages: &[Page]) -> Vec<Option<usize>> {
    (0..pages.len()).map(|n| (0..n).rev().find(|m| pages[*m] == pages[n])).collect()
}

fn check_counts(pages: &[Page], figures: &Figures) {
    let copies = earlier(pages);
    let duplicates = copies.iter().flatten().count() as u64;
    assert_eq!(figures.pages, pages.len() as u64);
    assert_eq!(figures.duplicate_pages, duplicates);
    assert_eq!(figures.unique_pages, pages.len() as u64 - duplicates);
    let zeros = pages.iter().filter(|page| page.iter().all(|byte| *byte == 0)).count();
    assert_eq!(figures.zero_pages, zeros as u64);
}

fn check_codecs(pages: &[Page], figures: &Figures, settings: &Settings) {
    let copies = earlier(pages);
    let mut codecs = Codecs::new(settings.zstd_level);
    let sizes: Vec<_> = pages.iter().map(|page| codecs.sizes(page)).collect();
    for (codec, of) in figures.codecs.iter().enumerate() {
        assert_eq!(of.codec, CODECS[codec]);
        let all: Vec<u64> = sizes.iter().map(|sizes| u64::from(sizes[codec])).collect();
        let first = all.iter().zip(&copies).filter(|(_, copy)| copy.is_none());
        let distinct: Vec<u64> = first.map(|(size, _)| *size).collect();
        assert_eq!(of.chunks.iter().map(|row| row.chunk_pages).collect::<Vec<_>>(), settings.chunks);
        for row in &of.chunks {
            let chunk = row.chunk_pages as usize;
            assert_eq!(row.compression.flash_pages, flash_pages(&all, chunk));
            assert_eq!(row.dedup_compression.flash_pages, flash_pages(&distinct, chunk));
            let ratio = row.dedup_compression.flash_pages as f64 / pages.len() as f64;
            assert_eq!(row.dedup_compression.written_ratio, ratio);
            // With a sample of all chunks, each one is compressed as one piece.
            if chunk > 1 {
                let joint: u64 =
                    pages.chunks(chunk).map(|chunk| joint_pages(chunk, &mut codecs, codec)).sum();
                let joint_figures = row.compression.joint.as_ref().unwrap();
                assert_eq!(joint_figures.sampled_pages, pages.len() as u64);
                assert_eq!(joint_figures.chunk_ratio, joint as f64 / pages.len() as f64);
            }
        }
    }
}

fn joint_pages(chunk: &[Page], codecs: &mut Codecs, codec: usize) -> u64 {
    let bytes = u64::from(codecs.sizes(&chunk.concat())[codec]);
    bytes.div_ceil(PAGE_BYTES as u64).min(chunk.len() as u64)
}

fn check_distances(pages: &[Page], figures: &Figures) {
    let copies = earlier(pages);
    let mut between = vec![];
    let mut others = vec![];
    for (page, copy) in copies.iter().enumerate() {
        let Some(copy) = copy else { continue };
        between.push((page - copy - 1) as u64);
        let mut since: Vec<&Page> = pages[copy + 1..page].iter().collect();
        since.sort();
        since.dedup();
        others.push(since.len() as u64);
    }
    let Some(distances) = &figures.duplicate_distance else {
        assert!(between.is_empty());
        return;
    };
    between.sort_unstable();
    others.sort_unstable();
    let of = &distances.page_writes;
    let expected = [10, 50, 90, 99, 100].map(|percent| quantile(&between, percent));
    assert_eq!([of.p10, of.p50, of.p90, of.p99, of.max], expected);
    for (bucket, from) in of.from.iter().enumerate() {
        let to = of.from.get(bucket + 1).copied().unwrap_or(2 * from.max(&1));
        let inside = between.iter().filter(|d| (*from..to).contains(d)).count() as u64;
        assert_eq!(of.count[bucket], inside);
    }
    for (entries, detected) in distances.index.entries.iter().zip(&distances.index.detected) {
        assert_eq!(*detected, lru_finds(pages, *entries as usize));
    }
    assert_eq!(distances.index.entries_for_90_percent, quantile(&others, 90) + 1);
    assert_eq!(distances.index.entries_for_99_percent, quantile(&others, 99) + 1);
    assert_eq!(lru_finds(pages, distances.index.entries_for_all as usize), others.len() as u64);
    assert!(lru_finds(pages, distances.index.entries_for_all as usize - 1) < others.len() as u64);
}

/// Counts the duplicates that an LRU list of `entries` contents detects.
fn lru_finds(pages: &[Page], entries: usize) -> u64 {
    let mut list: Vec<&Page> = vec![];
    let mut detected = 0;
    for page in pages {
        match list.iter().position(|held| *held == page) {
            Some(at) => {
                list.remove(at);
                detected += 1;
            }
            None => list.truncate(entries.saturating_sub(1)),
        }
        list.insert(0, page);
        list.truncate(entries);
    }
    detected
}

#[test]
fn figures_are_those_of_a_naive_model() {
    for seed in 0..40 {
        let mut rng = Rng::new(seed, "reference");
        let files = draw(&mut rng);
        let pages = pages_of(&files);
        if pages.is_empty() {
            continue;
        }
        let settings =
            Settings { chunks: vec![1, 2, 3, 4, 8, 64], sample_share: 1.0, seed, ..Settings::default() };
        let figures = measured(&files, &settings).figures;
        println!("seed {seed}: {} pages", pages.len());
        assert_eq!(figures.bytes, files.iter().map(|file| file.len() as u64).sum::<u64>());
        assert_eq!(figures.fingerprints.collisions, 0);
        check_counts(&pages, &figures);
        check_codecs(&pages, &figures, &settings);
        check_distances(&pages, &figures);
    }
}

#[test]
fn collisions_are_no_duplicates() {
    for (seed, bits) in (0..20).flat_map(|seed| [(seed, 1), (seed, 3), (seed, 5)]) {
        let mut rng = Rng::new(seed, "collisions");
        let files = draw(&mut rng);
        let pages = pages_of(&files);
        if pages.is_empty() {
            continue;
        }
        println!("seed {seed}, {bits} bits: {} pages", pages.len());
        let exact = Settings { keep_pages: true, ..Settings::default() };
        let cut = Settings { fingerprint_bits: bits, ..exact.clone() };
        let (exact, cut) = (measured(&files, &exact), measured(&files, &cut));
        // Each content but the first of its fingerprint is one collision.
        let mut prints: Vec<u64> = pages.iter().map(|page| fingerprint(page) & ((1 << bits) - 1)).collect();
        prints.sort_unstable();
        prints.dedup();
        let collisions = cut.figures.unique_pages - prints.len() as u64;
        assert_eq!(cut.figures.fingerprints.collisions, collisions);
        assert_eq!(cut.figures.fingerprints.not_compared, 0);
        let without_collisions = Figures { fingerprints: exact.figures.fingerprints, ..cut.figures };
        assert_eq!(without_collisions, exact.figures);
        // The kept pages distinguish contents, too.
        let (exact, cut) = (exact.pages.unwrap(), cut.pages.unwrap());
        assert_eq!(exact.fingerprints, pages.iter().map(|page| fingerprint(page)).collect::<Vec<_>>());
        assert_eq!((&cut.lz4_bytes, &cut.file_pages), (&exact.lz4_bytes, &exact.file_pages));
        for (n, m) in (0..pages.len()).flat_map(|n| (0..n).map(move |m| (n, m))) {
            assert_eq!(cut.fingerprints[n] == cut.fingerprints[m], pages[n] == pages[m], "pages {m} and {n}");
        }
    }
}
