//! The map on flash (`ftl.metadata`): closed forms of its programs, and what FLUSH costs.

use crate::common::{number, run_ok, try_run};

/// 16,384 logical pages, 16 pages of the map, and a journal of 4 pages.
const DRIVE: &str = "[drive.geometry]\nchannels = 1\nchips_per_channel = 1\ndies_per_chip = 1\nplanes_per_die = 1\n\
                     blocks_per_plane = 512\npages_per_block = 64\npage_bytes = 4096\n[ftl]\nspare_factor = 0.5\n\
                     [ftl.metadata]\npolicy = \"journal\"\nupdates_per_page = 64\njournal_pages = 4\n";

/// Half of the flash is spare and the trigger low: nothing is collected before it has been written once.
fn run(workload: &str) -> serde_json::Value {
    run_ok(&format!("{DRIVE}[workload]\n{workload}"), &[]).result
}

/// Each page of the map takes 1,024 changes in 16 pages of the journal, and is written 64 pages after the first of them.
/// When page 255 is written, those with a first change up to page 191 are done.
#[test]
fn sequential_writes_write_each_page_of_the_map_once() {
    let toml = format!("{DRIVE}[workload]\npattern = \"sequential\"\nrequests = 16384\n");
    let result = run_ok(&toml, &[("ftl.metadata.journal_pages", "64".into())]).result;
    assert_eq!(number(&result, "/metadata/updates"), 16_384.0);
    assert_eq!(number(&result, "/metadata/journal_pages"), 256.0);
    assert_eq!(number(&result, "/metadata/map_pages"), 12.0);
    assert_eq!(number(&result, "/flash/programs/metadata"), 268.0);
    assert_eq!(number(&result, "/waf"), 1.0 + 268.0 / 16_384.0);
}

/// A page of the map that is written changes again after M changes on average, M being the number of pages. It is
/// written when the journal has turned over, P / 2 + J P changes later. Per change these are M / (M + J P + P / 2) pages,
/// beside 1 / P of the journal.
#[test]
fn random_writes_follow_the_closed_form() {
    for (journal, updates) in [(4.0, 64.0), (1.0, 16.0), (16.0, 8.0)] {
        let settings = [
            ("ftl.metadata.map_entry_bytes", "64".to_string()),
            ("ftl.metadata.journal_pages", format!("{journal}")),
            ("ftl.metadata.updates_per_page", format!("{updates}")),
        ];
        let result = run_ok(&format!("{DRIVE}[workload]\nrequests = 200000\n"), &settings).result;
        let [by_host, moves] = ["/metadata/updates", "/metadata/moves"].map(|key| number(&result, key));
        assert_eq!(by_host, 200_000.0);
        // Metadata move, too, without a change.
        assert!(moves > 0.0 && moves <= number(&result, "/gc/copied_pages"));
        // 64 entries a page.
        let map = 16_384.0 / 64.0;
        let expected = map / (map / (1.0 + moves / by_host) + journal * updates + updates / 2.0);
        let measured = number(&result, "/metadata/map_pages") / by_host;
        // The pages of a block move at once: their changes meet more often than single ones.
        assert!(
            (measured / expected - 1.0).abs() < 0.05,
            "J {journal}, P {updates}: {measured} of {expected}"
        );
        let full = number(&result, "/metadata/journal_pages") * updates;
        assert!((by_host - full).abs() <= updates, "{full} of {by_host}");
    }
}

/// A drive that loses its DRAM in a power cut writes the journal before it completes a FLUSH.
#[test]
fn a_flush_writes_the_journal() {
    let workload = "requests = 1000\nfua_share = 0.25\n";
    let forced = run_ok(&format!("[drive]\nplp = false\n{DRIVE}[workload]\n{workload}"), &[]).result;
    let counts = ["/metadata/flushed_pages", "/metadata/journal_pages"].map(|place| number(&forced, place));
    assert!(counts[0] > 200.0 && counts[1] >= counts[0], "{counts:?}");
    let protected = run(&workload.replace("fua_share = 0.25\n", ""));
    assert_eq!(number(&protected, "/metadata/flushed_pages"), 0.0);
    assert_eq!(number(&protected, "/metadata/journal_pages"), 15.0);
}

#[test]
fn metadata_without_room_are_refused() {
    let toml = format!("{DRIVE}[workload]\nrequests = 10\n");
    let error = try_run(&toml, &[("ftl.metadata.journal_pages", "20000".into())]).err().unwrap();
    assert!(error.contains("map and journal take 20016 pages, and 1"), "{error}");
    let error = try_run(&toml, &[("ftl.separate.policy", "fk".into())]).err().unwrap();
    assert!(error.contains("an oracle separator cannot foresee writes of metadata"), "{error}");
}
