//! Unusable input: one plain message with place, fact, and what is expected; and runs that stop report when. Names and
//! parameters of policies: `policies.rs`.

use crate::common::{Folder, number, run_ok};
use floatgate_base::names::remedy;
use floatgate_base::{Error, Rng};
use floatgate_config::presets::PRESETS;
use floatgate_experiment::{load, run};
use floatgate_ftl::collect;

fn error(toml: &str, overrides: &[(&str, &str)]) -> Box<Error> {
    let overrides: Vec<_> = overrides.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    load(Some(toml), "e.toml", &overrides)
        .and_then(|resolved| run(resolved, &mut |_| Ok(())))
        .err()
        .unwrap_or_else(|| panic!("should be refused:\n{toml}"))
}

/// Returns the message of a refused experiment.
fn refusal(toml: &str) -> String {
    let error = error(toml, &[]);
    assert_eq!(error.status(), 2, "{error}");
    error.to_string()
}

/// Each experiment is refused with its message.
fn check(cases: &[(&str, &str)]) {
    for (toml, message) in cases {
        assert_eq!(refusal(toml), format!("e.toml:{message}"), "{toml}");
    }
}

#[test]
fn unknown_names_are_quoted_and_close_ones_suggested() {
    check(&[
        ("sed = 1", "1:1: unknown key 'sed'; did you mean 'seed'? ('floatgate schema' lists all)"),
        (
            "[drive.timing]\nread = 1",
            "2:1: unknown key 'read' in [drive.timing]; did you mean 'read_us' or 'read_us_by_page_type'? ('floatgate schema' lists all)",
        ),
        (
            // Nothing is hashed or compressed yet, so their energy would be a silent knob.
            "[drive.energy]\nhash_uj = 1",
            "2:1: unknown key 'hash_uj' in [drive.energy]; did you mean 'lifetime.reduce.hash_uj'?",
        ),
        ("[ftl.map]\npolicy = \"page\"\nx = 1", "3:1: unknown key 'x' in [ftl.map]; expected 'policy'"),
        (
            "[ftl]\nprecondition = \"wet\"",
            "2:1: unknown precondition 'wet'; expected one of 'none', 'sequential', 'random', 'steady', 'snapshot' or 2 others ('floatgate schema' lists all)",
        ),
        (
            "[workload]\npattern = \"zip\"",
            "2:1: unknown pattern 'zip'; did you mean 'zipf'? ('floatgate schema' lists all)",
        ),
        (
            "[workload]\nfile = \"x\"\ntime_unit = \"h\"",
            "3:1: unknown time_unit 'h'; expected one of 'ns', 'us', 'ms', 's', 'filetime'",
        ),
        (
            "[workload]\nfile = \"x\"\non_bad_line = \"weep\"",
            "3:1: unknown on_bad_line 'weep'; expected one of 'stop', 'skip'",
        ),
    ]);
    // Drives and formats change; their tables list the current ones.
    let drives: Vec<_> = PRESETS.iter().map(|p| p.name).collect();
    check(&[(
        "[drive]\npreset = \"floppy\"",
        &format!("2:1: unknown drive 'floppy'; {}", remedy("floppy", &drives, "floatgate drives")),
    )]);
    check(&[(
        "[workload]\nfile = \"x\"\nformat = \"mrs\"",
        "3:1: unknown format 'mrs'; did you mean 'msr'? ('floatgate schema' lists all)",
    )]);
}

#[test]
fn numbers_outside_their_range() {
    for value in ["nan", "inf", "-inf", "0.0", "1.0", "-0.1", "1.5", "0.9999", "0.96"] {
        let shown = value.parse::<f64>().unwrap();
        check(&[(
            &format!("[ftl]\nspare_factor = {value}"),
            &format!(
                "2:1: spare_factor is {shown}; expected a share of the flash above 0 and up to 0.95: 0.07 to 0.13 on most \
                 drives, about 0.27 on drives rated for three drive writes per day"
            ),
        )]);
    }
    for key in ["read_share", "trim_share"] {
        for value in ["nan", "inf", "-0.1", "1.1"] {
            let shown = value.parse::<f64>().unwrap();
            check(&[(
                &format!("[workload]\n{key} = {value}"),
                &format!("2:1: {key} is {shown}; expected a number from 0 to 1"),
            )]);
        }
    }
    const TIME: &str = "a number from 0.001 (a nanosecond) to 1e8 (100 seconds)";
    const ABOVE_0: &str = "a number greater than 0";
    for (key, range) in
        [("read_us", TIME), ("program_us", TIME), ("erase_us", TIME), ("channel_mb_per_s", ABOVE_0)]
    {
        for value in ["nan", "inf", "0.0", "-1.0"] {
            let shown = value.parse::<f64>().unwrap();
            check(&[(
                &format!("[drive.timing]\n{key} = {value}"),
                &format!("2:1: {key} is {shown}; expected {range}"),
            )]);
        }
    }
    for key in ["read_uj", "program_uj", "erase_uj", "transfer_uj"] {
        for value in ["nan", "inf", "-1.0"] {
            let shown = value.parse::<f64>().unwrap();
            check(&[(
                &format!("[drive.energy]\n{key} = {value}"),
                &format!("2:1: {key} is {shown}; expected a number from 0"),
            )]);
        }
    }
    check(&[
        (
            "[workload]\nread_share = 0.6\ntrim_share = 0.6",
            "2:1: read_share + trim_share = 1.2; expected a sum of at most 1",
        ),
        ("[workload]\nrate_per_s = nan", "2:1: rate_per_s is NaN; expected a number greater than 0"),
        ("[workload]\nrate_per_s = inf", "2:1: rate_per_s is inf; expected a number greater than 0"),
        (
            "[workload]\npattern = \"zipf\"\nzipf_theta = nan",
            "3:1: zipf_theta is NaN; expected a number from 0 to 20",
        ),
        (
            "[workload]\npattern = \"hot-cold\"\nhot_share_of_pages = inf",
            "3:1: hot_share_of_pages is inf; expected a number from 0 to 1",
        ),
        (
            "[workload]\npattern = \"hot-cold\"\nhot_share_of_writes = -1.0",
            "3:1: hot_share_of_writes is -1; expected a number from 0 to 1",
        ),
        (
            "[ftl.collect]\ntrigger_free_blocks = 4\nstop_free_blocks = 2",
            "3:1: the stop level, 2 blocks, lies below the trigger, 4; expected a stop level that is not below the \
             trigger",
        ),
    ]);
}

#[test]
fn impossible_units_of_the_map() {
    for (bytes, most) in [("0", 4096), ("256", 4096), ("3000", 4096), ("8192", 4096), ("32768", 16_384)] {
        check(&[(
            &format!("[ftl]\nmapping_bytes = {bytes}\n[drive.geometry]\npage_bytes = {most}"),
            &format!(
                "2:1: mapping_bytes is {bytes}; expected a power of two from 512 to the {most} bytes of a page"
            ),
        )]);
    }
    for (planes, bytes, words) in [
        (4, "131072", ", or to the 65536 of 4 of the 4 planes of a die together"),
        (6, "65536", ", or to the 32768 of 2 of the 6 planes of a die together"),
        (3, "32768", ""),
    ] {
        check(&[(
            &format!(
                "[ftl]\nmapping_bytes = {bytes}\n[drive.geometry]\npage_bytes = 16384\nplanes_per_die = {planes}"
            ),
            &format!(
                "2:1: mapping_bytes is {bytes}; expected a power of two from 512 to the 16384 bytes of a page{words}"
            ),
        )]);
    }
    check(&[
        (
            "mode = \"timed\"\n[ftl]\nmapping_bytes = 8192\n[drive.geometry]\nplanes_per_die = 2\n\
             [drive.commands]\nmulti_plane = \"any\"",
            "7:1: a unit of the map (ftl.mapping_bytes) fills a page of every plane of a die already; expected \
             multi_plane = \"none\"",
        ),
        (
            "[drive.geometry]\nblocks_per_plane = 1048576\npages_per_block = 4096\nplanes_per_die = 2",
            "2:1: the map has 8589934592 units of 4096 bytes, 64 GiB of memory at 8 bytes per unit; expected at most \
             2147483647 units: drive.geometry.page_bytes and ftl.mapping_bytes = 32768 or more, or a drive smaller \
             than 8 TiB",
        ),
    ]);
    check(&[(
        "[ftl]\nmapping_bytes = 512\n[drive.geometry]\nblocks_per_plane = 2097152\npages_per_block = 128",
        "2:1: the map has 2147483648 units of 512 bytes, 16 GiB of memory at 8 bytes per unit; expected at most \
             2147483647 units: ftl.mapping_bytes = 1024 or more, or a drive smaller than 1 TiB",
    )]);
}

#[test]
fn impossible_drives() {
    for key in [
        "channels",
        "chips_per_channel",
        "dies_per_chip",
        "planes_per_die",
        "blocks_per_plane",
        "pages_per_block",
    ] {
        check(&[(
            &format!("[drive.geometry]\n{key} = 0"),
            &format!("2:1: {key} is 0; expected a whole number from 1"),
        )]);
    }
    for bytes in ["0", "256", "4000", "131072"] {
        check(&[(
            &format!("[drive.geometry]\npage_bytes = {bytes}"),
            &format!("2:1: page_bytes is {bytes}; expected a power of two from 512 to 65536"),
        )]);
    }
    check(&[
        (
            "[drive.geometry]\nblocks_per_plane = 8388608",
            "2:1: the map has 2147483648 units of 4096 bytes, 16 GiB of memory at 8 bytes per unit; expected at most \
             2147483647 units: drive.geometry.page_bytes and ftl.mapping_bytes = 8192 or more, or a drive smaller \
             than 8 TiB",
        ),
        (
            "[drive.geometry]\nblocks_per_plane = 4294967295\npages_per_block = 4294967295\nchannels = 4294967295",
            "2:1: the map has 79228162458924105385300197375 units of 4096 bytes, 590295809946388791392 GiB of memory \
             at 8 bytes per unit; expected at most 2147483647 units: a drive smaller than 8 TiB",
        ),
        (
            "[drive]\ncapacity = \"9 TiB\"",
            "2:1: the map has 2415919104 units of 4096 bytes, 18 GiB of memory at 8 bytes per unit; expected at most \
             2147483647 units: drive.geometry.page_bytes and ftl.mapping_bytes = 8192 or more, or a drive smaller \
             than 8 TiB",
        ),
        (
            "[drive]\ncapacity = \"nan GiB\"",
            "2:1: 'nan GiB' is not a size; expected a size such as \"128 GiB\"",
        ),
        (
            "[drive.endurance]\nmodel = \"ready-printed\"\nlimit_v = 0.02",
            "3:1: limit_v 0.02 is reached within the first cycle of a block; expected more than 0.0230 V, which \
             one cycle traps",
        ),
        (
            "[drive.endurance]\nmodel = \"ready-printed\"\nlimit_v = 1e9",
            "3:1: limit_v 1000000000 is reached only after 1.715e19 cycles; expected constants that give at most 10^9 \
             cycles",
        ),
        (
            "[drive.endurance]\nmodel = \"ready-printed\"\ninterface_trap_v = 0\noxide_trap_v = 0",
            "4:1: nothing is trapped, so no block wears out; expected interface_trap_v or oxide_trap_v above 0",
        ),
    ]);
}

#[test]
fn impossible_workloads() {
    check(&[
        ("[workload]\nrequests = 0", "2:1: requests is 0; expected a whole number from 1"),
        ("[workload]\nrequest_bytes = 0", "2:1: request_bytes is 0; expected a whole number from 1"),
        ("[workload]\nfile = \"x\"\nrepeat = 0", "3:1: repeat is 0; expected a whole number from 1"),
    ]);
}

#[test]
fn impossible_states_and_paces_of_the_ftl() {
    check(&[
        (
            "[ftl]\nprecondition = \"steady\"\n[ftl.collect]\npolicy = \"cost-benefit\"",
            "2:1: precondition = \"steady\" has no steady-state law for this victim policy; expected ftl.collect.policy greedy, fifo, random or d-choices, or \
             precondition = \"auto\", which fills at random instead",
        ),
        (
            "mode = \"timed\"\n[ftl.collect]\npaced_from_writes = 5",
            "3:1: paced_from_writes = 5 has no effect in timed mode; expected mode = \"functional\", or no paced_from_writes",
        ),
        (
            "mode = \"timed\"\n[ftl.collect]\ngarbage_share = 0.1",
            "3:1: garbage_share = 0.1 has no effect in timed mode; expected mode = \"functional\", or no garbage_share",
        ),
        (
            "[ftl.collect]\nmode = \"incremental\"\ngarbage_share = 0.1",
            "2:1: blocks that are collected by their share of garbage are collected whole; expected mode = \"whole-block\" \
             beside garbage_share",
        ),
        (
            "[ftl.collect]\npace_writes = 5",
            "2:1: pace_writes has no effect while nothing is collected at a pace; expected it with paced_from_writes only",
        ),
        (
            "[ftl]\nfill_share = 0.5",
            "2:1: fill_share = 0.5 has no effect with precondition = \"none\"; expected precondition = \"fill\", or no fill_share",
        ),
        (
            "[ftl]\nprecondition = \"fill\"\nfill_share = 1.0",
            "3:1: fill_share is 1; expected a number between 0 and 1",
        ),
        (
            "[ftl]\nprecondition = \"fill\"\nfill_share = nan",
            "3:1: fill_share is NaN; expected a number between 0 and 1",
        ),
        (
            "[drive.geometry]\nblocks_per_plane = 100\npages_per_block = 10\n[ftl]\nspare_factor = 0.1\n\
             precondition = \"fill\"\nfill_share = 0.91",
            "7:1: fill_share 0.91 is 910 pages of the flash, and the host sees 900; expected no more than 0.9, or a \
             smaller ftl.spare_factor",
        ),
    ]);
}

const DRIVE: &str = "[drive.geometry]\nblocks_per_plane = 40\npages_per_block = 16\n";

#[test]
fn a_spare_factor_that_leaves_no_free_block_names_one_that_does() {
    let small = "[drive.geometry]\nblocks_per_plane = 32\n[workload]\nrequests = 20000\n[ftl]\n";
    assert_eq!(
        refusal(&format!("{small}spare_factor = 0.05\n")),
        "e.toml:6:1: the spare space, 410 pages, is too small: 2 blocks must be free or open, and the drive has 32; \
         expected a spare factor of at least 0.0627, or lower levels of ftl.collect"
    );
    assert_eq!(
        refusal("[drive.geometry]\nblocks_per_plane = 2\n"),
        "ftl.spare_factor: the spare space, 36 pages, is too small: 2 blocks must be free or open, and the drive has 2; \
         expected a drive with more blocks in each plane"
    );
    // A drive of the catalogue keeps all its dies under drive.capacity.
    assert_eq!(
        refusal("[drive]\npreset = \"client-tlc-1t\"\ncapacity = \"4 GiB\"\n"),
        "ftl.spare_factor: the spare space, 49418 pages, is too small: 2 blocks in each plane must be free or open, and the \
         drive has 1; expected a drive with more blocks in each plane, or --capacity in place of drive.capacity, which removes dies first"
    );
    assert_eq!(
        refusal("[drive]\npreset = \"client-tlc-1t\"\ncapacity = \"1 GiB\"\n"),
        "e.toml:3:1: '1 GiB' is less than one block per plane; expected at least 2214592512 bytes, or --capacity in place of \
         drive.capacity, which removes dies first"
    );
    // The suggested value is enough, and slightly less is not: the drive runs, with the shadow model watching.
    let mut rng = Rng::new(1, "spare");
    for _ in 0..300 {
        let (blocks, pages, planes) = (6 + rng.below(60), 1 + rng.below(40), 1 + rng.below(5));
        let separator = ["none", "host-gc"][rng.below(2) as usize];
        let scope = ["plane", "superblock"][rng.below(2) as usize];
        let toml = |spare: &str| {
            format!(
                "[drive.geometry]\nblocks_per_plane = {blocks}\npages_per_block = {pages}\nchannels = {planes}\n\
                 [ftl]\nspare_factor = {spare}\nprecondition = \"random\"\n[ftl.collect]\nscope = \"{scope}\"\n\
                 [ftl.separate]\npolicy = \"{separator}\"\n[workload]\nrequests = 2000\n"
            )
        };
        let message = refusal(&toml("0.0001"));
        let Some((_, named)) = message.split_once("a spare factor of at least ") else { continue };
        let named = named.split(',').next().unwrap();
        let mut resolved =
            load(Some(&toml(named)), "e.toml", &[]).unwrap_or_else(|e| panic!("{message}\n{e}"));
        resolved.plan.shadow = true;
        run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{}\n{e}", toml(named)));
        let less =
            named.parse::<f64>().unwrap() - 0.0002 - 1.0 / (blocks * pages * planes) as f64 * planes as f64;
        if less > 0.0 {
            refusal(&toml(&less.to_string()));
        }
    }
}

/// A trace of single writes, as MSR writes them.
fn msr(writes: impl Iterator<Item = (u64, u64, u64)>) -> String {
    writes
        .map(|(device, offset, bytes)| format!("128166372003061629,host,{device},Write,{offset},{bytes},0\n"))
        .collect()
}

#[test]
fn traces_that_cannot_be_read() {
    let folder = Folder::new("bad-traces");
    let refused = |file: &str| refusal(&format!("{DRIVE}[workload]\nfile = \"{file}\"\n"));
    let good = msr((0..2000).map(|i| (0, i % 400 * 4096, 4096)));
    let path = format!("{}/none.csv", folder.path());
    assert_eq!(refused(&path), format!("{path}: no such file; expected a trace file"));
    let path = folder.path();
    assert_eq!(refused(&path), format!("{path}: is a directory; expected a trace file"));
    let path = folder.file("empty.csv", "");
    assert_eq!(refused(&path), format!("{path}: the file is empty; expected a trace"));
    let path = folder.file("header.csv", "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n");
    assert_eq!(
        refused(&path),
        format!("{path}: no request in 1 line; expected at least one read, write or TRIM")
    );
    let path = folder.file("letter.txt", "Dear Sir or Madam,\n");
    assert!(refused(&path).starts_with(&format!(
        "{path}: unknown format (first line 'Dear Sir or Madam,'); expected one of 'msr', 'spc', "
    )));
    // A line in the middle, well behind the head that decides about the format.
    let path = folder.file("line.csv", format!("{good}128166372003061629,host,0,Write,12k,4096,0\n{good}"));
    assert_eq!(refused(&path), format!("{path}:2001:33: '12k' is not an offset; expected bytes"));
    let path = folder.file("bytes.csv", [good.as_bytes(), b"1,h\xff,0,Write,0,512,1\n"].concat());
    assert_eq!(refused(&path), format!("{path}:2001:4: '\u{fffd}' is not UTF-8; expected a line of text"));
    let packed = zstd::encode_all(good.as_bytes(), 3).unwrap();
    let path = folder.file("cut.csv.zst", &packed[..packed.len() - 9]);
    assert_eq!(
        refused(&path),
        format!(
            "{path}@{}: the zstd stream is cut short after 0 decompressed bytes; expected a complete zstd file",
            packed.len() - 9
        )
    );
}

#[test]
fn bad_lines_are_skipped_on_request() {
    let folder = Folder::new("skip");
    let good = msr((0..50).map(|i| (0, i * 4096, 4096)));
    let path = folder.file("some.csv", format!("{good}rubbish\n{good}1,h,0,Write,x,512,1\n"));
    let result =
        run_ok(&format!("{DRIVE}[workload]\nfile = \"{path}\"\non_bad_line = \"skip\"\n"), &[]).result;
    assert_eq!(
        (number(&result, "/workload/bad_lines_skipped"), number(&result, "/host/write_requests")),
        (2.0, 100.0)
    );
    // The result names the line, but not the path of the file.
    assert_eq!(
        result["workload"]["first_bad_line"],
        "line 51:1: 'rubbish' is not a time stamp; expected ticks of 100 ns"
    );
    assert!(!result.to_string().contains(&folder.path()));
}

/// The suggested size holds the trace, in the shape of the refused drive.
#[test]
fn a_trace_larger_than_the_drive_names_one_that_holds_it() {
    let folder = Folder::new("larger");
    let mut rng = Rng::new(3, "larger");
    for case in 0..60 {
        let devices = 1 + rng.below(3);
        let writes: Vec<_> =
            (0..300).map(|_| (rng.below(devices), rng.below(64 << 20), 1 + rng.below(20_000))).collect();
        let path = folder.file(&format!("{case}.csv"), msr(writes.into_iter()));
        let fold = ["apart", "fold"][rng.below(2) as usize];
        let shape = format!(
            "channels = {}\npages_per_block = {}\npage_bytes = {}\n",
            1 + rng.below(9),
            1 + rng.below(300),
            512 << rng.below(8)
        );
        let rest = format!(
            "[ftl]\nspare_factor = {}\n[workload]\nfile = \"{path}\"\ndevices = \"{fold}\"\n",
            0.03 + 0.4 * rng.unit()
        );
        let small = format!("[drive.geometry]\nblocks_per_plane = 102\n{shape}{rest}");
        let Err(error) = load(Some(&small), "e.toml", &[]).and_then(|r| run(r, &mut |_| Ok(()))) else {
            continue;
        };
        let message = error.to_string();
        let Some((_, named)) = message.split_once("expected drive.capacity = \"") else {
            panic!("{message}\n{small}")
        };
        assert!(message.starts_with(&format!("{path}:")) && error.status() == 2, "{message}");
        let named = named.split('"').next().unwrap();
        let large = format!("[drive]\ncapacity = \"{named}\"\n[drive.geometry]\n{shape}{rest}");
        let result = run_ok(&large, &[]).result;
        assert_eq!(number(&result, "/host/write_requests"), 300.0);
    }
}

#[test]
fn a_trace_larger_than_the_drive_says_where() {
    let folder = Folder::new("where");
    let path = folder.file("a.csv", msr([(0, 0, 4096), (0, 1 << 30, 4096), (0, 2 << 30, 4096)].into_iter()));
    assert_eq!(
        refusal(&format!("{DRIVE}[ftl]\nspare_factor = 0.25\n[workload]\nfile = \"{path}\"\n")),
        format!(
            "{path}:2: the trace addresses 2.0 GiB (2147487744 bytes) but the drive has 1.9 MiB (1966080 bytes); \
             expected drive.capacity = \"2796224 KiB\" or more, or workload.beyond = \"wrap\" or \"scale\""
        )
    );
}

/// A stopped run is not bad input: it ends with status 1 and names the request and its place.
#[test]
fn a_worn_out_drive_says_when() {
    let toml = format!("{DRIVE}[drive.endurance]\npe_cycles = 3\n[ftl]\nspare_factor = 0.25\n[workload]\n");
    let error = error(&format!("{toml}requests = 100000\nrate_per_s = 100\n"), &[]);
    assert_eq!(error.status(), 1);
    assert_eq!(
        error.to_string(),
        "the drive was worn out at request 1458, 1457 host page writes and 14.570 s into the run: it has \
         programmed its capacity 3 times; expected fewer requests or passes, or more drive.endurance.pe_cycles"
    );
}

/// A drive that passes the check of the spare factor cannot run out of free blocks: with fewer than the stop level
/// free, the closed blocks of some plane hold more pages than are live. No experiment can therefore show the message. A
/// plane that happens to be full of live pages must leave its share to the others and recover.
#[test]
fn no_admitted_drive_runs_out_of_free_blocks() {
    for policy in collect::POLICIES.iter().map(|info| info.name) {
        // An unreachable stop level lets collection continue until nothing more can be gained.
        for (separator, stop) in [
            ("none", ""),
            ("host-gc", ""),
            ("none", "stop_free_blocks = 40\n"),
            ("host-gc", "stop_free_blocks = 40\n"),
        ] {
            // 4 planes of 64 blocks of 3 pages, of which 60 (62) may hold live pages: 16 pages less than that.
            let spare = if separator == "none" { 0.0521 } else { 0.0834 };
            let toml = format!(
                "[drive.geometry]\nchannels = 4\nblocks_per_plane = 64\npages_per_block = 3\n\
                 [drive.endurance]\npe_cycles = 1000000\n[ftl]\nspare_factor = {spare}\n\
                 precondition = \"sequential\"\n[ftl.collect]\npolicy = \"{policy}\"\n{stop}[ftl.separate]\n\
                 policy = \"{separator}\"\n[workload]\nrequests = 20000\npattern = \"zipf\"\n"
            );
            let mut resolved = load(Some(&toml), "e.toml", &[]).unwrap_or_else(|e| panic!("{e}\n{toml}"));
            resolved.plan.shadow = true;
            run(resolved, &mut |_| Ok(())).unwrap_or_else(|e| panic!("{e}\n{toml}"));
        }
    }
}

/// Messages of `floatgate lifetime` about experiments that it refuses.
fn life_error(toml: &str, overrides: &[(&str, &str)]) -> String {
    let variant = overrides.iter().map(|(key, value)| ((*key).to_string(), (*value).to_string())).collect();
    let options = floatgate_experiment::LifetimeOptions::default();
    match floatgate_experiment::lifetime(Some(toml), "e.toml", &[variant], &options, &mut |_| Ok(())) {
        Ok(_) => panic!("{overrides:?} of {toml} is taken"),
        Err(e) => e.to_string(),
    }
}

#[test]
fn lives_that_cannot_be_gone_through() {
    let life = "[drive]\ncapacity = \"64 MiB\"\n[drive.endurance]\nmodel = \"ready-table2\"\n[workload]\nrequests = 50\n\
                rate_per_s = 1\n";
    let cases: &[(&[(&str, &str)], &str)] = &[
        (
            &[("lifetime.throttle.target_years", "0")],
            "lifetime.throttle.target_years: target_years is 0; expected a number greater than 0, up to 100",
        ),
        (&[("workload.arrival", "open")], "workload.arrival: arrival 'open' has no effect on a life"),
        (&[("workload.rate_per_s", "1000000")], "the workload lasts"),
        (
            &[("lifetime.forecast.cycles_used", "4000")],
            "lifetime.forecast.cycles_used: the drive is worn out already: 4000 cycles of 3036 are used",
        ),
        (
            &[("lifetime.throttle.policy", "static"), ("lifetime.forecast.cycles_used", "3020")],
            "3020 cycles of 3000 that the throttle \"static\" counts on are used",
        ),
        (
            &[("lifetime.throttle.policy", "dynamic"), ("lifetime.throttle.target_years", "0.00001")],
            "an epoch of 600 s is longer than the life of 0.00001 years",
        ),
        (&[("drive.endurance.recovery_efficiency", "2")], "heal more than was trapped"),
        (&[("drive.endurance.healed_share_max", "1.0")], "expected a number from 0 up to but not 1"),
        (
            &[("lifetime.forecast.method", "full"), ("lifetime.forecast.waf", "2")],
            "lifetime.forecast.waf: waf = 2 has no effect with method = \"full\"; expected method = \"auto\", \"windows\" or \"requests\", or no waf",
        ),
        (&[("lifetime.forecast.laps_max", "2")], "laps_max is 2; expected a whole number from 3"),
    ];
    for (overrides, expected) in cases {
        let error = life_error(life, overrides);
        assert!(error.contains(expected), "{overrides:?}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let timeless = life.replace("rate_per_s = 1\n", "");
    let error = life_error(&timeless, &[]);
    assert!(error.contains("workload.rate_per_s: the workload has no arrival rate"), "{error}");
}
