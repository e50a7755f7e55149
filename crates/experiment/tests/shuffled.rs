//! A workload whose writes are shuffled, and a twin with sets of places: what is counted, and that a run of it can be
//! interrupted.

mod common;

use common::{number, run_ok, try_run};
use floatgate_experiment::load;
use floatgate_sim::Simulation;
use floatgate_snapshot::{Kind, Reader, Writer};

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
        "workload.shuffle_window: a window of 2000000 requests; expected a whole number from 0 to 1048576"
    );
}

#[test]
fn an_interrupted_run_goes_on() {
    let toml =
        format!("{DRIVE}twin = \"proj_0\"\nbeyond = \"scale\"\nrequests = 1500\nshuffle_window = 700\n");
    let resolved = || load(Some(&toml), "t.toml", &[]).unwrap();
    let mut whole = Simulation::new(resolved().plan).unwrap();
    while whole.step(100).unwrap() != floatgate_sim::Phase::Done {}
    let mut stopped = Simulation::new(resolved().plan).unwrap();
    let mut steps = 0;
    while stopped.step(100).unwrap() != floatgate_sim::Phase::Done {
        steps += 1;
        if steps % 3 == 0 {
            let mut out = Writer::new(Vec::new(), Kind::Run, 1).unwrap();
            stopped.save(&mut out).unwrap();
            let bytes = out.finish().unwrap().0;
            let mut from = Reader::new("t", &bytes[..], Kind::Run, 1).unwrap();
            stopped = Simulation::resume(resolved().plan, &mut from).unwrap();
        }
    }
    assert!(steps > 8);
    let (whole, stopped) = (whole.finish(), stopped.finish());
    assert_eq!(format!("{:?}", whole.flash), format!("{:?}", stopped.flash));
    assert_eq!(format!("{:?}", whole.host), format!("{:?}", stopped.host));
}
