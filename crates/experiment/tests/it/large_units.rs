//! Units of the map that are larger than a page of the flash: the planes that hold one are a plane with larger pages
//! (`docs/decisions/0031-units-of-several-planes.md`).

use crate::common::{number, run_ok};
use serde_json::Value;

const PAGE: u32 = 16_384;

/// A drive of so many planes per die with pages of so many bytes, energies of a page of 16 KiB times `times`.
fn drive(mode: &str, planes: u32, page_bytes: u32, unit: u32, times: u32) -> String {
    format!(
        "mode = \"{mode}\"\n[drive.geometry]\nchannels = 2\nplanes_per_die = {planes}\nblocks_per_plane = 48\n\
         pages_per_block = 32\npage_bytes = {page_bytes}\n[drive.timing]\ncommand_us = 0.5\n[drive.energy]\n\
         read_uj = {times}\nprogram_uj = {}\nerase_uj = {}\ntransfer_uj = {times}\n[ftl]\nspare_factor = 0.3\n\
         mapping_bytes = {unit}\nprecondition = \"random\"\n[workload]\nrequests = 6000\nread_share = 0.25\n\
         request_bytes = 8192\n",
        9 * times,
        70 * times
    )
}

/// The result without what names the experiment and its cost.
fn figures(toml: &str) -> Value {
    let mut result = run_ok(toml, &[]).result;
    let object = result.as_object_mut().expect("an object");
    for key in ["config", "config_hash", "run"] {
        object.remove(key);
    }
    result
}

#[test]
fn planes_that_hold_a_unit_are_one_with_larger_pages() {
    for mode in ["functional", "timed"] {
        for planes in [2, 4] {
            let unit = planes * PAGE;
            let joined = figures(&drive(mode, 4, PAGE, unit, 1));
            assert_eq!(
                joined,
                figures(&drive(mode, 4 / planes, unit, unit, planes)),
                "{mode}, {planes} planes"
            );
            assert_eq!(number(&joined, "/drive/mapping_bytes"), f64::from(unit));
            assert_eq!(number(&joined, "/drive/planes"), f64::from(8 / planes));
        }
    }
}

/// 8 KiB of a unit of 64 KiB cost a read of the unit and a program of it.
#[test]
fn writes_smaller_than_a_unit_read_and_program_all_of_it() {
    let result = figures(&drive("functional", 4, PAGE, 65_536, 1));
    let writes = number(&result, "/host/write_requests");
    assert!(writes > 4000.0);
    assert_eq!(number(&result, "/flash/reads/partial"), writes);
    let programs = number(&result, "/flash/programs/total");
    assert!(programs >= writes);
    assert!((number(&result, "/waf_bytes") - programs / writes * 8.0).abs() < 1e-3);
}

/// The resolved experiment states the flash as configured, and resolves to the same again.
#[test]
fn the_resolved_experiment_keeps_planes_and_pages() {
    let result = run_ok(&drive("timed", 4, PAGE, 32_768, 1), &[]).result;
    let geometry = &result["config"]["drive"]["geometry"];
    assert_eq!((&geometry["planes_per_die"], &geometry["page_bytes"]), (&4.into(), &PAGE.into()));
    assert_eq!(result["config"]["ftl"]["mapping_bytes"], 32_768);
    assert_eq!(result["config"]["drive"]["energy"]["program_uj"], 9.0);
}
