//! How columns are filled, and that no carrier loses values.

use super::*;
use crate::{ExtentKind as Kind, Extents, Rng};

/// Makes a write of `bytes` whose 4096-byte pieces have these fingerprints and sizes.
fn write(bytes: u64, content: &[(u64, u16)]) -> RequestBatch {
    let mut batch = RequestBatch::default();
    batch.push(0, 0, Op::Write, 0, bytes);
    content.iter().for_each(|&(fingerprint, size)| batch.content.push(fingerprint, size));
    batch.content.close();
    batch
}

/// Derives the content of the pages of a request that becomes one extent without gaps.
fn content(batch: &RequestBatch, start: u64, page_shift: u32) -> Vec<Content> {
    let bytes = batch.bytes[0];
    let (first, end) = (start >> page_shift, (start + bytes).div_ceil(1 << page_shift));
    let mut extents = Extents::default();
    extents.push(Lpn(first as u32), (end - first) as u32, Kind::Write);
    let part = Part { batch, request: 0, extent: 0, start, bytes, before: 0, page_shift };
    extents.make_columns(Wanted { content: true, ..Wanted::default() }, &part);
    extents.columns.content.of(0).to_vec()
}

fn known(fingerprint: u64, compressed_bytes: u32) -> Content {
    Content { fingerprint, compressed_bytes }
}

#[test]
fn a_page_that_is_one_piece_has_its_content() {
    let batch = write(3 * 4096, &[(5, 100), (0, 0), (7, 0)]);
    assert_eq!(content(&batch, 8192, 12), [known(5, 100), Content::default(), known(7, 0)]);
}

#[test]
fn a_larger_page_has_the_content_of_its_pieces_together() {
    let of = |pieces: &[(u64, u16)]| content(&write(4096 * pieces.len() as u64, pieces), 0, 13);
    let pages = of(&[(5, 100), (6, 4096), (5, 100), (6, 4096), (6, 4096), (5, 100), (5, 100), (0, 100)]);
    assert_eq!(pages[0].compressed_bytes, 4196);
    assert_eq!(pages[0], pages[1]);
    assert_ne!(pages[0].fingerprint, pages[2].fingerprint, "the same pieces, the other way round");
    assert_eq!(pages[3], Content::default(), "half of it is not known");
    // An unknown size makes only the size of the page unknown.
    assert_eq!(of(&[(5, 100), (6, 0)])[0], known(pages[0].fingerprint, 0));
    assert_eq!(of(&[(5, 0), (6, 100)])[0], known(pages[0].fingerprint, 0));
}

#[test]
fn a_smaller_page_has_the_content_of_its_part() {
    let pages = content(&write(3 * 4096, &[(5, 100), (5, 100), (6, 100)]), 0, 11);
    assert_eq!(pages[0].compressed_bytes, 50);
    assert_eq!(pages[..2], pages[2..4]);
    assert_ne!(pages[0].fingerprint, pages[1].fingerprint, "other bytes");
    assert_ne!(pages[0].fingerprint, pages[4].fingerprint, "of another piece");
    // A request no longer than a page has one piece, which is as long as the request.
    assert_eq!(content(&write(512, &[(5, 100)]), 512, 9), [known(5, 100)]);
}

#[test]
fn a_page_cut_across_pieces_has_parts_of_both_and_a_page_written_in_part_is_not_known() {
    let batch = write(3 * 4096, &[(5, 1000), (6, 3000), (5, 1000)]);
    let pages = content(&batch, 1024, 12);
    assert_eq!((pages[0], pages[3]), (Content::default(), Content::default()));
    assert_eq!(pages[1].compressed_bytes, 250 + 2250);
    assert_eq!(pages[2].compressed_bytes, 750 + 750);
    assert_ne!(pages[1].fingerprint, pages[2].fingerprint);
    assert_eq!(pages, content(&batch, 4096 + 1024, 12), "cut in the same way");
}

#[test]
fn a_wrapped_request_goes_on_in_its_pieces() {
    let mut batch = write(3 * 4096, &[(5, 1), (6, 2), (7, 3)]);
    let parts = |batch: &RequestBatch| {
        let (mut extents, wanted) = (Extents::default(), Wanted::from_bits(u32::MAX));
        let part = Part { batch, request: 0, extent: 0, start: 0, bytes: 0, before: 0, page_shift: 12 };
        extents.push(Lpn(9), 1, Kind::Write);
        extents.make_columns(wanted, &Part { start: 9 * 4096, bytes: 4096, ..part });
        extents.push(Lpn(0), 2, Kind::Write);
        extents.make_columns(wanted, &Part { bytes: 2 * 4096, before: 4096, ..part });
        extents
    };
    let extents = parts(&batch);
    assert_eq!(extents.columns.content.of(0), [known(5, 1)]);
    assert_eq!(extents.columns.content.of(1), [known(6, 2), known(7, 3)]);
    assert_eq!([0, 1].map(|i| extents.hints_of(i).request_pages), [3, 3]);
    assert_eq!(extents.columns.edges, [(0, 4096), (0, 4096)]);
    // Only writes have content, and only if the trace records some.
    batch.op[0] = Op::Read;
    assert_eq!(parts(&batch).columns.content.of(1), []);
    (batch.op[0], batch.content.end[0]) = (Op::Write, 0);
    assert_eq!(parts(&batch).columns.content.of(1), []);
    batch.content.end.clear();
    assert_eq!(parts(&batch).columns.content.of(1), []);
}

/// The values of all columns by page and extent.
type Values = Vec<Vec<((u32, u32), Hints, Content)>>;

fn values(columns: &ExtentColumns, pages: &[u32]) -> Values {
    let of_page = |i: usize, k: u32| {
        let content = columns.content.of(i).get(k as usize).copied().unwrap_or_default();
        let edges = columns.edges.get(i).copied().unwrap_or_default();
        (edges, columns.hints.get(i).copied().unwrap_or_default(), content)
    };
    pages.iter().enumerate().map(|(i, &n)| (0..n).map(|k| of_page(i, k)).collect()).collect()
}

/// Draws extents with random columns, each of which may be absent or end early.
fn draw(rng: &mut Rng) -> (ExtentColumns, Vec<u32>) {
    let pages: Vec<u32> = (0..rng.below(6)).map(|_| 1 + rng.below(4) as u32).collect();
    let mut columns = ExtentColumns::default();
    let mut some = || if rng.below(3) == 0 { 0 } else { rng.below(pages.len() as u64 + 1) as usize };
    let (edges, hints, content) = (some(), some(), some());
    let mut value = || 1 + rng.below(1000) as u32;
    (0..edges).for_each(|_| columns.edges.push((value(), value())));
    (0..hints).for_each(|_| {
        columns.hints.push(Hints { context: value(), handle: value(), request_pages: 1, ..Hints::default() })
    });
    for &n in &pages[..content] {
        let n = if value() % 3 == 0 { 0 } else { n };
        columns.content.push((0..n).map(|_| known(value().into(), value())));
    }
    (columns, pages)
}

#[test]
fn appending_loses_and_shifts_nothing() {
    for seed in 0..2000 {
        let mut rng = Rng::new(seed, "columns");
        let (mut to, mut pages) = draw(&mut rng);
        let mut expected = values(&to, &pages);
        for _ in 0..4 {
            let (mut from, more) = draw(&mut rng);
            let there = values(&from, &more);
            let range = if rng.below(2) == 0 {
                to.append_all(pages.len(), &mut from);
                assert!(from.is_empty(), "seed {seed}");
                0..more.len()
            } else {
                let begin = rng.below(more.len() as u64 + 1) as usize;
                let end = begin + rng.below((more.len() - begin) as u64 + 1) as usize;
                to.append_range(pages.len(), &from, begin..end);
                begin..end
            };
            pages.extend_from_slice(&more[range.clone()]);
            expected.extend_from_slice(&there[range]);
            assert_eq!(values(&to, &pages), expected, "seed {seed}");
        }
        to.clear();
        assert!(to.is_empty());
    }
}

#[test]
fn pages_keep_what_was_put_last() {
    for bits in 0..1 << Wanted::COLUMNS {
        let wanted = Wanted::from_bits(bits);
        let mut rng = Rng::new(bits.into(), "pages");
        let mut kept = PageColumns::new(wanted, 10);
        let mut expected = vec![(Hints::default(), Content::default()); 10];
        for _ in 0..200 {
            let (columns, pages) = draw(&mut rng);
            for (i, of_extent) in values(&columns, &pages).into_iter().enumerate() {
                let first = Lpn(rng.below(10 - u64::from(pages[i]) + 1) as u32);
                kept.put(first..first + of_extent.len() as u32, &columns, i);
                for (page, (_, hints, content)) in (first.index()..).zip(of_extent) {
                    expected[page].0 = if wanted.hints { hints } else { Hints::default() };
                    expected[page].1 = if wanted.content { content } else { Content::default() };
                }
            }
            let (page, extents) = (rng.below(10) as usize, rng.below(3) as usize);
            let mut columns = ExtentColumns::default();
            kept.get(Lpn(page as u32), &mut columns, extents);
            let of_page = values(&columns, &vec![1; extents + 1])[extents][0];
            assert_eq!(of_page, ((0, 0), expected[page].0, expected[page].1));
            assert_eq!(columns.is_empty(), !wanted.any_of_pages());
        }
        assert!(kept.is_like(&PageColumns::new(wanted, 10)));
        assert_eq!(kept.is_like(&PageColumns::new(wanted, 9)), !wanted.any_of_pages());
    }
}
