//! Settings that make no sense in timed mode are refused, with the key and the remedy.

use crate::common::{Folder, try_run};

const FULL: &str = "mode = \"timed\"\n[drive.geometry]\nchannels = 2\nchips_per_channel = 2\nblocks_per_plane = 40\n\
                    pages_per_block = 16\n[ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n";

/// Overrides of a full drive in time, and how the message begins that refuses it.
type Refusal<'a> = (&'a [(&'a str, &'a str)], &'a str);

fn refused(cases: &[Refusal<'_>]) {
    let toml = format!("{FULL}[workload]\nrequests = 100\n");
    for &(overrides, message) in cases {
        let overrides: Vec<_> = overrides.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
        let error = try_run(&toml, &overrides).err().unwrap_or_else(|| panic!("{overrides:?} ran"));
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn times_that_make_no_sense_are_refused() {
    refused(&[
        (
            &[("drive.timing.erase_us", "0")],
            "drive.timing.erase_us: erase_us is 0; expected a number from 0.001 (a nanosecond) to 1e8 (100 seconds)",
        ),
        (
            &[("drive.timing.read_us", "1e15")],
            "drive.timing.read_us: read_us is 1e15; expected a number from 0.001 (a nanosecond) to 1e8 (100 seconds)",
        ),
        (
            &[("drive.timing.read_us", "0.0001")],
            "drive.timing.read_us: read_us is 0.0001; expected a number from 0.001 (a nanosecond) to 1e8 (100 seconds)",
        ),
        (
            &[("drive.timing.channel_mb_per_s", "1e9")],
            "drive.timing.channel_mb_per_s: channel_mb_per_s is 1000000000; expected a rate at which a page takes from",
        ),
        (
            &[("drive.timing.program_us_by_page_type", "[500, -1]")],
            "drive.timing.program_us_by_page_type: program_us_by_page_type is [500, -1]; expected a list of up to 4, each a number from 0.001 to 100000000",
        ),
        (
            &[("drive.timing.read_us_by_page_type", "[1, 2, 3, 4, 5]")],
            "drive.timing.read_us_by_page_type: read_us_by_page_type is [1, 2, 3, 4, 5]; expected a list of up to 4, each a number from 0.001 to 100000000",
        ),
        (
            &[
                ("drive.timing.read_us_by_page_type", "[1, 2]"),
                ("drive.timing.program_us_by_page_type", "[1, 2, 3]"),
            ],
            "drive.timing.read_us_by_page_type: read_us_by_page_type names 2 times and the other list 3; expected as many",
        ),
        (
            &[("drive.timing.command_us", "-1")],
            "drive.timing.command_us: command_us is -1; expected a number from 0",
        ),
        (
            &[("drive.timing.program_spread", "1")],
            "drive.timing.program_spread: program_spread is 1; expected a number from 0 up to but not 1",
        ),
        (
            &[("drive.timing.erase_spread", "-0.1")],
            "drive.timing.erase_spread: erase_spread is -0.1; expected a number from 0 up to but not 1",
        ),
    ]);
}

#[test]
fn commands_and_scheduling_that_make_no_sense_are_refused() {
    refused(&[
        (
            &[("drive.commands.erase_suspend", "true"), ("drive.commands.resume_us", "1e300")],
            "drive.commands.resume_us: resume_us is 1e300; expected a number from 0 to 1e8 (100 seconds)",
        ),
        (
            &[("drive.commands.multi_plane", "any")],
            "drive.commands.multi_plane: a multi-plane command needs several planes, and planes_per_die is 1; expected \
             multi_plane = \"none\", or drive.geometry.planes_per_die from 2",
        ),
        (
            &[("drive.commands.suspend_us", "5")],
            "drive.commands.suspend_us: suspend_us has no effect while nothing is suspended; expected it with",
        ),
        (
            &[("drive.commands.erase_suspend", "true"), ("drive.scheduling.policy", "fcfs")],
            "drive.scheduling.policy: under fcfs no read is preferred, so nothing would be suspended; expected",
        ),
        (
            &[("drive.commands.cache_read", "true"), ("drive.scheduling.jobs_hold", "channel")],
            "drive.scheduling.jobs_hold: jobs_hold is \"channel\", and cache commands or suspension let host operations in between; expected",
        ),
        (
            &[("drive.scheduling.moved_reads", "old"), ("drive.scheduling.jobs_hold", "channel")],
            "drive.scheduling.moved_reads: jobs_hold is \"channel\", and keeps reads waiting until the pages have moved; expected",
        ),
        (
            &[("drive.scheduling.priority", r#"["read", "read", "write"]"#)],
            "drive.scheduling.priority: priority is [\"read\", \"read\", \"write\"]; expected \"read\", \"write\", \"background\", in any order",
        ),
        (
            &[("mode", "functional"), ("drive.commands.copyback", "true")],
            "drive.commands.copyback: copyback = true has no effect in functional mode; expected mode = \"timed\", or no copyback",
        ),
    ]);
}

#[test]
fn allocation_and_idle_jobs_that_make_no_sense_are_refused() {
    refused(&[
        (
            &[("ftl.background.policy", "idle")],
            "ftl.background.policy: in closed loop the drive is never idle; expected \"none\", or workload.arrival = \
             \"open\" or \"think\"",
        ),
        (
            &[("ftl.allocation.order", r#"["channel", "die", "die", "plane"]"#)],
            "ftl.allocation.order: [channel, die, die, plane] does not name each of them once; expected \"channel\", \
             \"chip\", \"die\", \"plane\", in any order",
        ),
        (
            &[("ftl.allocation.order", r#"["channel", "lane"]"#)],
            "ftl.allocation.order: unknown level 'lane'; did you mean 'plane'?",
        ),
        (
            &[("ftl.allocation.mode", "static"), ("ftl.collect.scope", "superblock")],
            "ftl.allocation.mode: superblocks stripe over planes; static allocation has no effect; expected",
        ),
        (
            &[("ftl.background.policy", "idle"), ("ftl.background.trigger_free_blocks", "1")],
            "ftl.background.trigger_free_blocks: trigger_free_blocks is 1; expected more than ftl.collect's trigger, 1,",
        ),
        (
            &[("ftl.background.idle_us", "1")],
            "ftl.background.idle_us: idle_us = 1 has no effect with policy = \"none\"; expected policy = \"idle\" or \"by-context\", or no idle_us",
        ),
    ]);
}

#[test]
fn arrivals_that_make_no_sense_are_refused() {
    refused(&[
        (&[("mode", "real")], "mode: unknown mode 'real'; expected one of 'functional', 'timed'"),
        (
            &[("workload.queue_depth", "0")],
            "workload.queue_depth: queue_depth is 0; expected a whole number from 1",
        ),
        (
            &[("workload.arrival", "open")],
            "workload.arrival: arrival \"open\" needs times, and this workload has no rate_per_s; give workload.rate_per_s",
        ),
        (
            &[("workload.arrival", "now")],
            "workload.arrival: unknown arrival 'now'; expected one of 'open', 'shifted', 'closed', 'think'",
        ),
        (
            &[("workload.arrival", "open"), ("workload.rate_per_s", "5"), ("workload.queue_depth", "3")],
            "workload.queue_depth: queue_depth = 3 has no effect with arrival = \"open\"; expected arrival = \"closed\", or no queue_depth",
        ),
        (
            &[("mode", "functional"), ("workload.queue_depth", "16")],
            "workload.queue_depth: queue_depth = 16 has no effect in functional mode; expected mode = \"timed\", or no queue_depth",
        ),
    ]);
}

#[test]
fn a_trace_without_times_is_refused() {
    let folder = Folder::new("timeless");
    let path = folder.file("t.pages", "1\n2\n3\n");
    let error = try_run(&format!("{FULL}[workload]\nfile = \"{path}\"\n"), &[]).err().unwrap();
    assert!(error.starts_with("workload.arrival: a trace in format pages has no times"), "{error}");
}

/// A key of timed mode may say in functional mode what is so by default; anything else is refused, as a whole table is.
#[test]
fn defaults_of_timed_mode_may_stand_in_functional_mode() {
    let toml = "[drive.geometry]\nblocks_per_plane = 60\n[workload]\nrequests = 10\n";
    let run = |key: &str, value: &str| try_run(toml, &[("mode", "functional".into()), (key, value.into())]);
    for (key, value) in [
        ("drive.commands.copyback", "false"),
        ("drive.scheduling.policy", "priority"),
        ("ftl.background.policy", "none"),
        ("host.queues", "1"),
    ] {
        assert!(run(key, value).is_ok(), "{key}");
    }
    let error = run("drive.commands", "{ copyback = true }").err().unwrap();
    assert!(error.contains("copyback = true has no effect in functional mode"), "{error}");
}
