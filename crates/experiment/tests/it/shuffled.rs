//! A workload whose writes are shuffled, and a twin with sets of places: what is counted, and that a run of it can be
//! interrupted.

use crate::common::interrupted::goes_on;
use crate::common::{number, run_ok, try_run};

const DRIVE: &str = "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n\
                     [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n[workload]\n";

#[test]
fn shuffled_writes_are_the_same_requests() {
    let toml = format!("{DRIVE}pattern = \"zipf\"\nread_share = 0.3\nrequests = 4000\n");
    let shuffled = |window: &str| run_ok(&toml, &[("workload.shuffle_window", window.into())]).result;
    let (plain, mixed) = (shuffled("0"), shuffled("512"));
    for counted in ["/host/read_requests", "/host/write_requests", "/host/page_writes"] {
        assert_eq!(number(&plain, counted), number(&mixed, counted), "{counted}");
    }
    assert_ne!(plain["flash"], mixed["flash"]);
    assert_eq!(shuffled("512")["flash"], mixed["flash"]);
    assert_eq!(shuffled("1")["flash"], plain["flash"]);
    let refused = try_run(&toml, &[("workload.shuffle_window", "2000000".into())]).unwrap_err();
    assert_eq!(
        refused,
        "workload.shuffle_window: shuffle_window is 2000000; expected a whole number from 0 to 1048576"
    );
}

#[test]
fn an_interrupted_run_goes_on() {
    let toml =
        format!("{DRIVE}twin = \"proj_0\"\nbeyond = \"scale\"\nrequests = 1500\nshuffle_window = 700\n");
    goes_on(&toml, 100, 3);
}
