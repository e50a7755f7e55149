//! `ftl.precondition = "fill"`: this share of the flash holds data when the run begins, in the last logical pages.

use crate::common::{number, run_ok};
use floatgate_experiment::{load, run};
use serde_json::Value;

/// 2 planes of 40 blocks of 16 pages: 1280 physical pages, 960 logical ones.
fn filled(more: &str, workload: &str) -> String {
    format!(
        "[drive.geometry]\nchannels = 2\nblocks_per_plane = 40\npages_per_block = 16\n[ftl]\nspare_factor = 0.25\n\
         precondition = \"fill\"\n{more}\n[workload]\n{workload}\n"
    )
}

fn shadowed(toml: &str) -> Value {
    let mut resolved = load(Some(toml), "e.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
    resolved.plan.shadow = true;
    run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}\n{toml}")).result
}

#[test]
fn the_last_logical_pages_hold_the_share_of_the_flash() {
    let read = "pattern = \"sequential\"\nread_share = 1\nrequests = ";
    for (share, written) in [(0.5, 640), (0.7, 896), (0.75, 960)] {
        for scope in ["plane", "superblock"] {
            let more = format!("fill_share = {share}\n[ftl.collect]\nscope = \"{scope}\"");
            let free = 960 - written;
            // The pages in front were never written, all behind them were.
            if free > 0 {
                let result = run_ok(&filled(&more, &format!("{read}{free}")), &[]).result;
                assert_eq!(number(&result, "/flash/unmapped_reads"), f64::from(free), "{share} {scope}");
            }
            let result = run_ok(&filled(&more, &format!("{read}960")), &[]).result;
            assert_eq!(number(&result, "/flash/unmapped_reads"), f64::from(free), "{share} {scope}");
            assert_eq!(number(&result, "/flash/reads/host"), f64::from(written), "{share} {scope}");
            assert_eq!(number(&result, "/flash/programs/total"), 0.0);
            assert_eq!(number(&result, "/wear/erases_max"), 0.0);
        }
    }
}

/// A program at the drive's beginning soon sets off collection, which moves the filled pages on.
#[test]
fn a_run_on_a_filled_drive_is_exact_in_both_modes() {
    for mode in ["functional", "timed"] {
        for scope in ["plane", "superblock"] {
            for separator in ["none", "host-gc", "hash"] {
                let more = format!(
                    "fill_share = 0.7\n[ftl.collect]\nscope = \"{scope}\"\n[ftl.separate]\npolicy = \"{separator}\""
                );
                let workload = "pattern = \"jobs\"\nworking_set_bytes = 1048576\nrequests = 9000\ntrim_share = 0.1\n\
                                read_share = 0.2";
                let toml = format!("mode = \"{mode}\"\n{}", filled(&more, workload));
                let result = shadowed(&toml);
                assert!(number(&result, "/gc/victims") > 100.0, "{toml}");
                assert!(number(&result, "/flash/programs/gc") > 0.0, "{toml}");
            }
        }
    }
}
