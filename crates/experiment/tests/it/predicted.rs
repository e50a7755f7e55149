//! Predicted lives: exact ones work like separators that know the future, missing ones like no separator, and a column
//! of the trace according to its values.

use crate::common::{Folder, hinted, number, run_ok, try_run};
use floatgate_base::{Op, Rng};
use serde_json::Value;
use std::collections::BTreeMap;

const DRIVE: &str = "[drive.geometry]\nchannels = 1\nblocks_per_plane = 140\npages_per_block = 16\n\
                     [ftl.collect]\ntrigger_free_blocks = 9\nstop_free_blocks = 9\n";

/// Pages drawn by Zipf's law, from a drive in its steady state: data from before the workload count, too.
fn zipf(separate: &str) -> Value {
    let toml = format!(
        "{DRIVE}[ftl]\nspare_factor = 0.2\nprecondition = \"random\"\n[ftl.separate]\n{separate}\n[workload]\n\
         requests = 40000\npattern = \"zipf\"\ntrim_share = 0.02\n"
    );
    run_ok(&toml, &[]).result
}

/// A trace on a new drive.
fn traced(trace: &str, separate: &str) -> Result<Value, String> {
    let toml = format!(
        "{DRIVE}[ftl]\nspare_factor = 0.2\nprecondition = \"none\"\n[ftl.separate]\n{separate}\n[workload]\nfile = \"{trace}\"\n"
    );
    try_run(&toml, &[]).map(|output| output.result)
}

/// What the drive did: programs, victims by valid pages, pages of each stream.
fn done(result: &Value) -> [&Value; 3] {
    ["/flash/programs", "/gc/victims_by_valid", "/separate/streams"].map(|at| result.pointer(at).unwrap())
}

#[test]
fn exact_predictions_are_those_of_who_knows_the_future() {
    for (other, classes_by) in [("ora\"\nstreams = 5", "ora"), ("fk\"\nclasses = 5", "fk")] {
        let known = zipf(&format!("policy = \"{other}"));
        let more = ["soon", "as-long-again"];
        for overdue in more {
            let predicted = format!("policy = \"predicted\"\nstreams = 5\nclasses_by = \"{classes_by}\"\n");
            let exact = zipf(&format!("{predicted}overdue = \"{overdue}\""));
            assert_eq!(done(&exact), done(&known), "{classes_by}, {overdue}");
            assert_eq!(number(&exact, "/separate/found/overdue_moved_pages"), 0.0);
        }
    }
}

/// Without predictions the drive does what it does without a separator, and the more they are wrong the less they save.
#[test]
fn errors_lead_from_knowledge_to_none() {
    let waf = |more: &str| number(&zipf(&format!("policy = \"predicted\"\n{more}")), "/waf");
    let none = number(&zipf("policy = \"none\""), "/waf");
    let alike = zipf("policy = \"predicted\"\nstreams = 1\nlives = \"none\"");
    assert_eq!(number(&alike, "/waf"), none);
    for overdue in ["soon", "as-long-again"] {
        let of = |sigma: f64| waf(&format!("error_sigma = {sigma:?}\noverdue = \"{overdue}\""));
        let wafs = [0.0, 0.5, 1.0, 2.0, 4.0].map(of);
        println!("{overdue}: {wafs:?}, none {none}");
        assert!(wafs.is_sorted(), "{overdue}: {wafs:?}");
        assert!(wafs[0] < 0.5 * none && wafs[4] > 0.9 * none && wafs[4] < none, "{wafs:?}, none {none}");
    }
}

/// One seed draws the same errors, another one others. The workload is the same under every seed.
#[test]
fn errors_follow_the_seed() {
    let folder = Folder::new("predicted-seeds");
    let trace = hinted::file(&folder, "a.parquet", &with_lives(&rows(1)));
    let drawn = |seed: u64, sigma: f64| {
        let toml = format!(
            "seed = {seed}\n{DRIVE}[ftl]\nspare_factor = 0.2\nprecondition = \"none\"\n[ftl.separate]\npolicy = \
             \"predicted\"\nerror_sigma = {sigma:?}\n[workload]\nfile = \"{trace}\"\n"
        );
        run_ok(&toml, &[]).result
    };
    assert_eq!(done(&drawn(1, 1.0)), done(&drawn(1, 1.0)));
    assert_ne!(done(&drawn(1, 1.0)), done(&drawn(2, 1.0)));
    assert_eq!(done(&drawn(1, 0.0)), done(&drawn(2, 0.0)));
}

/// Pages that are written again and again, some more often; requests of some pages, and trims.
fn rows(seed: u64) -> Vec<hinted::Row> {
    let mut rng = Rng::new(seed, "predicted rows");
    let mut rows = Vec::new();
    for i in 0..30_000 {
        let page = rng.below(1700).min(rng.below(1700)).min(rng.below(1700));
        let op = if rng.below(60) == 0 { Op::Trim } else { Op::Write };
        let pages = if i % 7 == 0 { 1 + rng.below(4) } else { 1 };
        rows.push(hinted::Row { op, pages, ..hinted::write(page, 1) });
    }
    rows
}

/// Rows of one page each, with the life of each write: host page writes until the next write or trim of its page.
fn with_lives(rows: &[hinted::Row]) -> Vec<hinted::Row> {
    let each = |row: &hinted::Row| {
        let row = *row;
        (0..row.pages).map(move |i| hinted::Row { page: row.page + i, pages: 1, ..row })
    };
    let mut rows: Vec<hinted::Row> = rows.iter().flat_map(each).collect();
    let (mut number, mut last) = (0u32, BTreeMap::new());
    let mut lives = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Some((before, born)) = last.remove(&row.page) {
            lives.insert(before, number - born);
        }
        if row.op == Op::Write {
            last.insert(row.page, (at, number));
            number += 1;
        }
    }
    lives.into_iter().for_each(|(at, life): (usize, u32)| rows[at].life = life);
    rows
}

/// A column with the true lives is as good as reading ahead; one without information is as good as no separator.
#[test]
fn a_column_is_worth_what_it_says() {
    let folder = Folder::new("predicted-column");
    for seed in crate::common::seeds(3) {
        let exact = with_lives(&rows(seed));
        let trace = hinted::file(&folder, &format!("{seed}.parquet"), &exact);
        for classes_by in ["ora", "fk"] {
            let policy = |lives: &str| {
                format!("policy = \"predicted\"\nclasses_by = \"{classes_by}\"\nlives = \"{lives}\"\n")
            };
            let known = traced(&trace, &policy("exact")).unwrap();
            let column = traced(&trace, &policy("column")).unwrap();
            assert_eq!(done(&column), done(&known), "seed {seed}, {classes_by}");
            // Errors are drawn alike.
            let blurred = |lives| traced(&trace, &(policy(lives) + "error_sigma = 0.7\n")).unwrap();
            assert_eq!(done(&blurred("column")), done(&blurred("exact")), "seed {seed}, {classes_by}");
            let silent: Vec<hinted::Row> = exact.iter().map(|row| hinted::Row { life: 0, ..*row }).collect();
            let silent = hinted::file(&folder, &format!("{seed}-silent.parquet"), &silent);
            let nothing = traced(&silent, &policy("column")).unwrap();
            let none = traced(&silent, "policy = \"none\"").unwrap();
            assert_eq!(done(&nothing)[..2], done(&none)[..2], "seed {seed}: all live on, in one stream");
            let (known, nothing) = (number(&known, "/waf"), number(&nothing, "/waf"));
            // FK's few classes of so short lives leave most pages in the last.
            let part = if classes_by == "ora" { 0.7 } else { 1.0 };
            assert!(known < part * nothing, "seed {seed}, {classes_by}: {known}, {nothing}");
        }
    }
}

/// All pages of a request have its prediction.
#[test]
fn a_request_foretells_for_all_its_pages() {
    let folder = Folder::new("predicted-requests");
    let row = |page, pages, life| hinted::Row { pages, life, ..hinted::write(page, 0) };
    let mut all = vec![row(0, 16, 10), row(16, 16, 40), row(32, 16, 0)];
    all.extend((0..3).map(|i| row(100 + i, 1, 10)));
    let trace = hinted::file(&folder, "a.parquet", &all);
    let policy = "policy = \"predicted\"\nlives = \"column\"\nclasses_by = \"fk\"\nstreams = 4\n";
    let result = traced(&trace, policy).unwrap();
    let streams = result["separate"]["streams"].as_array().unwrap();
    let pages: Vec<u64> = streams.iter().map(|stream| stream["host_pages"].as_u64().unwrap()).collect();
    // Blocks of 16 pages: lives of 10, 40 (the third class), for ever.
    assert_eq!(pages, [19, 16, 16]);
}

#[test]
fn a_trace_without_the_column_is_refused() {
    let toml = "[ftl.separate]\npolicy = \"predicted\"\nlives = \"column\"\n[workload]\nrequests = 10\n";
    let error = try_run(toml, &[]).expect_err("it must be refused");
    assert_eq!(
        error,
        "ftl.separate.lives: predicted needs a column of predicted lives, and this workload has none; expected a \
         Parquet trace with a column predicted_life (docs/separation.md), or lives = \"exact\""
    );
}
