//! Deduplication and compression where they make no sense: refused, with the key and the remedy.

use crate::common::{Folder, try_run};

const DRIVE: &str =
    "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n[ftl]\nspare_factor = 0.25\n";
/// What begins the table of a workload that has content.
const CONTENT: &str = "[workload]\nrequests = 500\nduplicate_share = 0.3\ncompressed_share = 0.5\n";

/// The message for a drive with a reducer and further settings; none if it runs.
fn refusal(reducer: &str, overrides: &[(&str, &str)]) -> Option<String> {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
    let toml = format!("{DRIVE}{CONTENT}[lifetime.reduce]\npolicy = \"{reducer}\"\n");
    try_run(&toml, &overrides).err()
}

/// Each of these reducers is refused beside the settings, with a message that has all the parts.
fn refused(reducers: &[&str], overrides: &[(&str, &str)], parts: &[&str]) {
    for reducer in reducers {
        let Some(error) = refusal(reducer, overrides) else { panic!("{reducer} {overrides:?} ran") };
        println!("{error}");
        for part in parts {
            assert!(error.contains(part), "{reducer} {overrides:?}: {error}\nlacks: {part}");
        }
    }
}

const ALL: [&str; 3] = ["dedup", "compress", "both"];

#[test]
fn epochs_as_long_as_the_life_are_refused() {
    let settings = [
        ("workload.rate_per_s", "100"),
        ("lifetime.reduce.epoch_s", "1e7"),
        ("lifetime.throttle.target_years", "0.1"),
    ];
    refused(
        &["integrated"],
        &settings,
        &["lifetime.reduce.epoch_s: ", "epochs of 10000000 s", "expected at most 315360 s, a tenth of"],
    );
}

#[test]
fn parameters_outside_their_ranges_are_refused() {
    for value in ["0", "65"] {
        let whole =
            ["lifetime.reduce.chunk_pages: ", "chunk_pages is ", "expected a whole number from 1 to 64"];
        refused(&["compress", "both"], &[("lifetime.reduce.chunk_pages", value)], &whole);
    }
    for pages in ["1", "64"] {
        assert_eq!(refusal("both", &[("lifetime.reduce.chunk_pages", pages)]), None);
    }
    for value in ["0", "-0.5", "4.5", "nan"] {
        refused(
            &["dedup", "both"],
            &[("lifetime.reduce.index_share", value)],
            &["index_share is ", "expected"],
        );
    }
    for (key, value) in [("chunk_timeout_ms", "0"), ("compress_us", "-1"), ("decompress_uj", "inf")] {
        let key = format!("lifetime.reduce.{key}");
        refused(&["compress", "both"], &[(&key, value)], &[&key, "expected a number"]);
    }
    // A setting of another reducer is refused with the name of its owner.
    let foreign = [
        "lifetime.reduce.chunk_pages: ",
        "chunk_pages = 4 has no effect with policy = \"dedup\"",
        "expected policy = \"compress\", \"both\" or \"integrated\", or no chunk_pages",
    ];
    refused(&["dedup"], &[("lifetime.reduce.chunk_pages", "4")], &foreign);
    refused(
        &["compress"],
        &[("lifetime.reduce.index_share", "1")],
        &[
            "index_share = 1 has no effect with policy = \"compress\"",
            "expected policy = \"dedup\", \"both\" or \"integrated\", or no index_share",
        ],
    );
    refused(&["gzip"], &[], &["unknown reducer 'gzip'", "'none', 'dedup', 'compress', 'both'"]);
}

/// 480 logical pages: an index of 15 entries is less than a block of 16 pages, one of 16 is enough.
#[test]
fn an_index_below_one_block_is_refused() {
    let parts = [
        "lifetime.reduce.index_share: an index of 15 entries is smaller than a block of 16 pages",
        "expected at least 0.034 of the 480 logical pages",
    ];
    refused(&["dedup", "both"], &[("lifetime.reduce.index_share", "0.0332")], &parts);
    assert_eq!(refusal("dedup", &[("lifetime.reduce.index_share", "0.0334")]), None);
}

#[test]
fn what_cannot_be_beside_a_reducer_is_refused() {
    for (separator, streams) in [("ora", "ftl.separate.streams"), ("fk", "ftl.separate.classes")] {
        let separator = [("ftl.separate.policy", separator), (streams, "2")];
        let parts = ["knows when pages die by the order of all", "expected another separator, or \"none\""];
        refused(&ALL, &separator, &parts);
    }
    let replicas = [
        ("drive.disturb.max_reads", "100000"),
        ("drive.disturb.model", "tlc-base"),
        ("ftl.reclaim.policy", "redftl"),
        ("ftl.reclaim.replica_pages", "2"),
    ];
    let parts = ["share a physical one", "expected a manager without replicas"];
    refused(&ALL, &replicas, &parts);
    let parts = ["would lose them in a power cut", "expected drive.plp = true, or \"dedup\""];
    refused(&["compress", "both"], &[("drive.plp", "false")], &parts);
    assert_eq!(refusal("dedup", &[("drive.plp", "false")]), None);
}

/// A block must endure a read of each of its 16 pages, and of the pages of a chunk.
#[test]
fn a_chunk_that_a_block_cannot_stand_is_refused() {
    let reads =
        |reads: &'static str| [("drive.disturb.model", "uniform"), ("drive.disturb.max_reads", reads)];
    let parts = [
        "drive.disturb.max_reads: a block endures 19 reads, and a chunk is read as a whole",
        "expected at least 20",
    ];
    refused(&["compress", "both"], &reads("19"), &parts);
    assert_eq!(refusal("compress", &reads("20")), None);
    assert_eq!(refusal("dedup", &reads("19")), None);
}

#[test]
fn content_that_cannot_be_is_refused() {
    let shares = [
        ("duplicate_share", "1", "duplicate_share is 1; expected a number from 0 up to but not 1"),
        ("duplicate_share", "-0.1", "expected a number from 0 up to but not 1"),
        ("duplicate_share", "nan", "expected a number from 0 up to but not 1"),
        ("compressed_share", "0", "expected a number greater than 0, up to 1"),
        ("compressed_share", "1.5", "expected a number greater than 0, up to 1"),
        ("incompressible_share", "1", "expected a number from 0 up to but not 1"),
        ("incompressible_share", "0.5", "0.5 is out of range; expected less than compressed_share = 0.5"),
    ];
    for (key, value, expected) in shares {
        let key = format!("workload.{key}");
        refused(&ALL, &[(&key, value)], &[&format!("{key}: "), expected]);
    }
    let toml = format!("{DRIVE}[workload]\ncontent_seed = 5\n");
    let error = try_run(&toml, &[]).unwrap_err();
    assert!(
        error.contains(
            "a seed without synthetic content has no effect; expected workload.duplicate_share or workload.compressed_share"
        ),
        "{error}"
    );
}

/// Three ways to content: recorded, from files, made up.
#[test]
fn a_workload_without_content_is_refused() {
    let folder = Folder::new("contentless");
    let path = folder.file("t.csv", "128166372003061629,h,0,Write,0,4096,0\n");
    let ways = [
        "floatgate trace record --content",
        "floatgate content DIR --trace FILE",
        "workload.duplicate_share",
    ];
    for reducer in ALL {
        for source in [format!("file = \"{path}\"\n"), "requests = 5\n".to_string()] {
            let toml = format!("{DRIVE}[workload]\n{source}[lifetime.reduce]\npolicy = \"{reducer}\"\n");
            let error = try_run(&toml, &[]).unwrap_err();
            assert!(error.starts_with("lifetime.reduce.policy: "), "{error}");
            ways.iter().for_each(|way| assert!(error.contains(way), "{error}\nlacks: {way}"));
        }
    }
}
