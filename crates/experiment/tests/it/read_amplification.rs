//! A workload that many cursors issue: what is counted, and that a run of it can be interrupted.

use crate::common::interrupted::goes_on;
use crate::common::{Folder, number, run_ok, try_run};

const DRIVE: &str = "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n\
                     [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n[workload]\n";

fn cursors(n: u64) -> [(&'static str, String); 1] {
    [("workload.read_amplification", n.to_string())]
}

#[test]
fn every_cursor_issues_all_requests_and_the_span_stays() {
    let folder = Folder::new("amplified");
    // As MSR Cambridge has it: 100 ns, so 300 requests in 0.3 s.
    let line = |i: u64| format!("{},host,0,Read,{},4096,0\n", 1_000_000 + i * 10_000, i % 50 * 4096);
    let file = folder.file("t.csv", (0..300).map(line).collect::<String>());
    for workload in [
        "requests = 2000\nrate_per_s = 1000\nread_share = 0.9\n".to_owned(),
        "twin = \"tatp\"\nbeyond = \"scale\"\nrequests = 2000\n".to_owned(),
        format!("file = \"{file}\"\n"),
    ] {
        let toml = format!("{DRIVE}{workload}");
        let one = run_ok(&toml, &cursors(1)).result;
        let five = run_ok(&toml, &cursors(5)).result;
        for counted in ["/host/read_requests", "/host/write_requests", "/host/page_reads"] {
            assert_eq!(number(&five, counted), 5.0 * number(&one, counted), "{workload} {counted}");
        }
        // Gaps are as long on average: of 300 gaps, each up to twice as long, the latest of five is within a fifth.
        let (span, as_long) = (number(&one, "/span_s"), number(&five, "/span_s"));
        assert!(as_long > 0.9 * span && as_long < 1.25 * span, "{workload}: {as_long} s, not {span} s");
        assert_eq!(run_ok(&toml, &cursors(5)).result["host"], five["host"]);
    }
}

#[test]
fn warm_up_is_shared_by_the_cursors() {
    let toml = format!("{DRIVE}requests = 1000\nwarmup_requests = 600\n");
    let result = run_ok(&toml, &cursors(3)).result;
    assert_eq!(number(&result, "/host/write_requests"), 3000.0);
    let refused = |key, value: &str| {
        try_run(&toml, &[("workload.read_amplification", "7".into()), (key, value.into())]).unwrap_err()
    };
    assert_eq!(
        refused("seed", "2"),
        "test.toml:9:1: 600 requests cannot be shared evenly by 7 cursors; \
         expected a multiple of workload.read_amplification"
    );
    assert_eq!(
        refused("workload.gap_spread", "2.0"),
        "workload.gap_spread: gap_spread is 2; expected a number from 0 to 1"
    );
    assert_eq!(
        try_run(&toml, &[("workload.gap_spread", "0.5".into())]).unwrap_err(),
        "workload.gap_spread: gap_spread has no effect on a single cursor; \
         expected it with workload.read_amplification above 1"
    );
}

#[test]
fn an_interrupted_run_goes_on_with_all_cursors() {
    let toml =
        format!("{DRIVE}requests = 4000\nrate_per_s = 1000\nread_share = 0.5\nread_amplification = 4\n");
    goes_on(&toml, 1000, 4);
}
