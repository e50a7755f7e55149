//! The twins that ship, twins of users, and the settings that name them.

use super::*;
use crate::generator;
use crate::layers::Layers;
use floatgate_base::RequestBatch;
use floatgate_base::testing::Bound;
use floatgate_trace::generate::Pattern;
use floatgate_trace::{Generator, GeneratorConfig, Info, Source, info};
use std::sync::Arc;

/// Long twins are looked at through so many of their requests: the same laws, shares and span, thinned.
const SAMPLE: u64 = 150_000;
/// Of twins with sets of places, whose sizes stay as they are: more, for there must be many sets.
const SAMPLE_OF_SETS: u64 = 1_000_000;

fn look(twin: &Twin) -> Info {
    let config = GeneratorConfig {
        pattern: Pattern::Twin,
        logical_bytes: twin.footprint_bytes,
        requests: twin.requests,
        twin: Some(Arc::new(twin.clone())),
        ..GeneratorConfig::default()
    };
    info(&mut Generator::new(config).unwrap()).unwrap()
}

/// Every figure that a run shows, beside what the TOML says: within 5 %, whether from the paper or assumed.
fn hold(preset: &TwinPreset, thin: u64) -> Vec<(String, f64, f64)> {
    let file: TwinFile = toml::from_str(preset.toml).unwrap();
    let twin = read(preset.toml, preset.name).unwrap();
    let trace = look(&twin.thinned(thin));
    let scale = twin.requests as f64 / twin.thinned(thin).requests as f64;
    let gib = trace.write_bytes as f64 * scale / GIB;
    let hours = trace.duration_s.unwrap() / 3600.0;
    let all_bytes = (trace.read_bytes + trace.write_bytes) as f64;
    let figures = [
        ("duration_s", Some(file.duration_s), trace.duration_s),
        ("requests", file.requests.map(|n| n as f64), Some(trace.requests as f64 * scale)),
        ("written_gib", file.written_gib, Some(gib)),
        ("written_gib_per_hour", file.written_gib_per_hour, Some(gib / hours)),
        ("read_share", Some(file.read_share), Some(trace.reads as f64 / trace.requests as f64)),
        ("mean_request_bytes", file.mean_request_bytes, Some(all_bytes / trace.requests as f64)),
        ("reads.mean_bytes", file.reads.mean_bytes, trace.mean_read_bytes),
        ("writes.mean_bytes", file.writes.mean_bytes, trace.mean_write_bytes),
        ("writes.again_share", file.writes.again_share, trace.rewrite_share),
    ];
    let mut shown: Vec<_> = figures
        .into_iter()
        .filter_map(|(key, figure, seen)| Some((key.to_owned(), figure?, seen.unwrap_or(0.0))))
        .collect();
    for (key, figure, seen) in &shown {
        assert!((seen - figure).abs() <= 0.05 * figure.abs(), "{} {key}: {seen}, not {figure}", preset.name);
    }
    assert!(trace.footprint_bytes <= twin.footprint_bytes);
    if file.source.contains_key("footprint_bytes") {
        // Distinct pages follow the requests in number, so thinned ones are as many fewer.
        let seen = trace.footprint_bytes as f64 * scale;
        let figure = file.footprint_bytes as f64;
        assert!(
            (seen - figure).abs() <= 0.05 * figure,
            "{} footprint_bytes: {seen}, not {figure}",
            preset.name
        );
        shown.push(("footprint_bytes".into(), figure, seen));
    }
    shown
}

/// Times are the same and so are the pages per write, within what ends of extents change, whether or not it is worked out
/// which pages are written.
#[test]
fn counting_pages_needs_no_pages() {
    for preset in TWINS {
        let twin = read(preset.toml, preset.name).unwrap().thinned(100);
        let made = |counts_only: bool| {
            let config = GeneratorConfig {
                pattern: Pattern::Twin,
                logical_bytes: twin.footprint_bytes,
                requests: twin.requests.min(200_000),
                twin: Some(Arc::new(twin.clone())),
                counts_only,
                ..GeneratorConfig::default()
            };
            let mut source = Generator::new(config).unwrap();
            let mut batch = RequestBatch::default();
            source.fill(&mut batch, 200_000).unwrap();
            let writes: Vec<_> =
                (0..batch.len()).filter(|&i| batch.op[i] == floatgate_base::Op::Write).collect();
            let pages = writes.iter().map(|&i| {
                let (from, bytes) = (batch.offset[i], batch.bytes[i]);
                (from + bytes - 1) / 4096 - from / 4096 + 1
            });
            let pages = pages.sum::<u64>() as f64;
            (batch.time_ns, [writes.len() as f64, pages])
        };
        let (whole, counted) = (made(false), made(true));
        assert_eq!(whole.0, counted.0, "{}", preset.name);
        for (whole, counted) in whole.1.into_iter().zip(counted.1) {
            // Runs of writes make the counts vary.
            let slack = 0.01 * whole + 5.0 * whole.sqrt();
            assert!((whole - counted).abs() <= slack, "{}: {counted}, not {whole}", preset.name);
        }
    }
}

/// The number in words such as "maximum write 16K KiB", in bytes.
fn printed_maximum(words: &str, op: &str) -> Option<f64> {
    let number = words.split_once(&format!("maximum {op} "))?.1.split_once(" KiB")?.0;
    let (digits, times) = number.strip_suffix('K').map_or((number, 1.0), |digits| (digits, 1024.0));
    Some(digits.parse::<f64>().unwrap() * times * 1024.0)
}

/// Where a paper prints the largest request, every request of the twin is made to see it.
#[test]
fn twins_hold_their_maxima() {
    let mut checked = 0;
    for preset in TWINS {
        let file: TwinFile = toml::from_str(preset.toml).unwrap();
        let printed = ["read", "write"].map(|op| file.source.values().find_map(|w| printed_maximum(w, op)));
        if printed == [None; 2] {
            continue;
        }
        let twin = Arc::new(read(preset.toml, preset.name).unwrap());
        let (space, requests) = (twin.footprint_bytes, twin.requests);
        let config = GeneratorConfig {
            pattern: Pattern::Twin,
            logical_bytes: space,
            requests,
            twin: Some(twin),
            ..GeneratorConfig::default()
        };
        let mut source = Generator::new(config).unwrap();
        let mut largest = [0; 2];
        let mut batch = RequestBatch::with_capacity(RequestBatch::DEFAULT_LEN);
        let mut bound = Bound::new(100_000_000);
        loop {
            bound.step();
            batch.clear();
            source.fill(&mut batch, RequestBatch::DEFAULT_LEN).unwrap();
            if batch.is_empty() {
                break;
            }
            for (op, bytes) in batch.op.iter().zip(&batch.bytes) {
                let seen = &mut largest[*op as usize];
                *seen = (*bytes).max(*seen);
            }
        }
        for (bytes, (seen, op)) in printed.into_iter().zip(largest.into_iter().zip(["read", "write"])) {
            let Some(bytes) = bytes else { continue };
            // Sizes are whole sectors: 8.3 KiB, as printed, are 16 of them.
            let holds = seen as f64 <= bytes && seen as f64 >= 0.95 * bytes;
            assert!(holds, "{} maximum {op}: {seen}, not {bytes}", preset.name);
            checked += 1;
        }
    }
    assert_eq!(checked, 4);
}

#[test]
fn twins_hold_their_figures() {
    let broken: Vec<String> =
        TWINS.iter().filter_map(|t| read(t.toml, t.name).err()).map(|e| e.to_string()).collect();
    assert_eq!(broken, [""; 0]);
    for preset in TWINS {
        let twin = read(preset.toml, preset.name).unwrap();
        let sample = if twin.sets.any() { SAMPLE_OF_SETS } else { SAMPLE };
        hold(preset, twin.requests.div_ceil(sample));
    }
}

/// Takes minutes: `cargo test --release -p floatgate-config -- --ignored --nocapture` prints the table.
#[test]
#[ignore = "takes minutes; twins_hold_their_figures holds a part of each twin to the same figures"]
fn whole_twins_hold_their_figures() {
    for preset in TWINS {
        let file: TwinFile = toml::from_str(preset.toml).unwrap();
        for (key, figure, seen) in hold(preset, 1) {
            let from = if file.source.contains_key(&key) { "paper" } else { "assumed" };
            println!("{:12} {key:22} {from:8} {figure:16.4} {seen:16.4}", preset.name);
        }
    }
}

#[test]
fn every_figure_is_from_the_paper_or_assumed() {
    for preset in TWINS {
        assert_eq!(unexplained(preset.toml).unwrap(), [""; 0], "{}", preset.name);
        let table: Table = toml::from_str(preset.toml).unwrap();
        let named = |name: &String| match name.split_once('.') {
            Some((outer, inner)) => table.get(outer).is_some_and(|t| t.get(inner).is_some()),
            None => table.contains_key(name),
        };
        let file: TwinFile = toml::from_str(preset.toml).unwrap();
        assert!(!file.source.is_empty(), "{} has nothing from its paper", preset.name);
        for (name, words) in file.source.iter().chain(&file.assumed) {
            assert!(named(name), "{} explains {name}, which it does not hold", preset.name);
            assert!(words.len() > 10, "{} hardly explains {name}", preset.name);
        }
        assert!(preset.summary().len() > 20 && preset.summary().ends_with('.'), "{}", preset.name);
    }
    let open = unexplained(
        "a = 1\nb = 2\n[rate]\nc = 1\nd = 2\n[source]\na = 'x'\n'rate.c' = 'x'\n[assumed]\na = 'y'\n",
    );
    assert_eq!(open.unwrap(), ["a", "b", "rate.d"]);
}

fn refused(settings: &[(&str, &str)], space: Option<&str>) -> String {
    let settings: Vec<_> = settings.iter().map(|(k, v)| (format!("workload.{k}"), (*v).to_owned())).collect();
    let error = generator(&settings, space, 1).expect_err("should be refused");
    assert_eq!(error.status(), 2);
    error.to_string()
}

#[test]
fn twins_that_cannot_be_made_are_refused() {
    let unknown = refused(&[("twin", "prox")], None);
    assert!(
        unknown.starts_with("workload.twin: unknown twin 'prox'; did you mean 'proxy' or 'proj'?"),
        "{unknown}"
    );
    assert!(unknown.ends_with("; or the path of a TOML file"), "{unknown}");
    for (settings, space, expected) in [
        (
            &[("twin", "proxy")][..],
            Some("1 GiB"),
            "workload.twin: the twin takes 25769803776 bytes of a drive that shows 1073741824; \
             expected a larger drive, or beyond = \"scale\" or \"wrap\"",
        ),
        (
            &[("twin", "proxy"), ("beyond", "wrap")],
            None,
            "workload.beyond: addresses wrap at the end of a drive, not of a trace; \
             expected \"refuse\" or \"scale\"",
        ),
        (
            &[("twin", "proxy"), ("pattern", "zipf")],
            None,
            "workload.pattern: pattern = \"zipf\" has no effect with kind = \"twin\"; expected kind = \"synthetic\", or no pattern",
        ),
        (
            &[("kind", "twin")],
            Some("1 GiB"),
            "workload.twin: a twin workload names no twin; expected twin = \"NAME\" or a path",
        ),
    ] {
        assert_eq!(refused(settings, space), expected);
    }
    assert!(refused(&[("twin", "no/such.toml")], None).starts_with("no/such.toml: no such file; "));
}

#[test]
fn patterns_that_cannot_be_made_are_refused() {
    for (settings, space, expected) in [
        (
            &[("pattern", "jobs")][..],
            None,
            "--drive-bytes: the size of the address space is missing; expected a size such as \"64 GiB\"",
        ),
        (
            &[("pattern", "jobs"), ("burst_on_s", "1")],
            Some("1 GiB"),
            "workload.burst_on_s: burst_on_s without burst_off_s; expected both, or neither",
        ),
        (
            &[("pattern", "jobs"), ("sizes", "[[4096, 1]]"), ("request_bytes", "4096")],
            Some("1 GiB"),
            "workload.request_bytes: request_bytes and sizes both tell how large requests are; \
             expected one of the two",
        ),
        (
            &[("pattern", "jesd219"), ("request_bytes", "4096")],
            Some("1 GiB"),
            "workload.request_bytes: request_bytes has no effect with pattern = \"jesd219\"; \
             expected no request_bytes: the standard has its own sizes",
        ),
        (
            &[("pattern", "zipf"), ("random_share", "0.5")],
            Some("1 GiB"),
            "workload.random_share: random_share = 0.5 has no effect with pattern = \"zipf\"; expected pattern = \"jobs\", or no random_share",
        ),
        (
            &[("micro", "4k-rd-50w-align"), ("read_share", "0.1")],
            Some("1 GiB"),
            "workload.read_share: read_share beside the micro-benchmark '4k-rd-50w-align'; \
             expected the one or the other",
        ),
        (
            &[("file", "x.csv")],
            Some("1 GiB"),
            "workload.kind: a trace is generated already; expected a twin or a pattern",
        ),
    ] {
        assert_eq!(refused(settings, space), expected);
    }
    assert!(refused(&[("micro", "4k")], Some("1 GiB")).contains("unknown micro '4k'; expected one of"));
}

#[test]
fn a_twin_that_cannot_be_read_says_where() {
    let text = "duration_s = 60\nrequests = 10\nread_share = 0.0\nfootprint_bytes = 1000000\n";
    assert!(read(text, "t.toml").is_ok());
    let message = |more: &str| read(&format!("{text}{more}"), "t.toml").unwrap_err().to_string();
    assert!(
        message("[writes]\nmean = 3\n")
            .starts_with("t.toml:6:1: unknown key 'mean' in [writes]; did you mean 'mean_")
    );
    assert_eq!(
        message("written_gib = 1\n"),
        "t.toml: requests: one of requests, written_gib and written_gib_per_hour is wanted; \
         expected just one of them"
    );
    assert_eq!(
        message("[writes]\nsigma = 1.0\n"),
        "t.toml: writes.sigma: a lognormal law lacks parameters; \
         expected mean_bytes, sigma, min_bytes, max_bytes and step_bytes"
    );
    assert_eq!(
        message("[writes]\nloops = [[1048576, 0.5]]\n"),
        "t.toml: writes.loops: writes have no loops; expected it under [reads]"
    );
    assert_eq!(
        message("[reads]\nloop_cluster_bytes = 65536\n"),
        "t.toml: reads.loop_cluster_bytes: loop_cluster_bytes has no effect without loops; expected reads.loops too"
    );
    assert_eq!(
        message("[reads]\nloops = [[1048576, 0.5]]\n"),
        "t.toml: reads.loops: loops without reads; expected a read_share above 0"
    );
    assert_eq!(
        message("[sets]\nshare = 0.5\naddresses = [[65, 1]]\nvisits = [[4, 1]]\n"),
        "t.toml: sets.addresses: not a list of numbers with weights; \
         expected pairs of a number from 1 to 64 and its weight"
    );
    assert_eq!(
        message("[writes]\nhot_share_of_pages = 0.1\n"),
        "t.toml: writes.zipf_theta: two laws of popularity, or half a one; \
         expected zipf_theta, or hot_share_of_pages and hot_share_of_accesses"
    );
    assert_eq!(
        read(&text.replace("1000000", "1000"), "t.toml").unwrap_err().to_string(),
        "t.toml: footprint_bytes: a footprint of 1000 bytes; \
         expected at least 106496, the size of the distinct pages"
    );
}

#[test]
fn a_later_word_overrules_an_earlier_one() {
    let config = |file: &str, over: &[(&str, &str)]| {
        let mut layers = Layers::default();
        layers.add_file(file, "e.toml").unwrap();
        over.iter().for_each(|(key, value)| layers.add_override(key, value).unwrap());
        let resolved = crate::resolve(layers).unwrap();
        let again = toml::to_string(&resolved.experiment).unwrap();
        let mut layers = Layers::default();
        layers.add_file(&again, "again.toml").unwrap();
        assert_eq!(crate::resolve(layers).unwrap().experiment, resolved.experiment);
        resolved.experiment.workload.unwrap()
    };
    let twin = "[workload]\ntwin = \"multi\"\nbeyond = \"scale\"\n";
    assert_eq!(config(twin, &[]).requests, Some(300_000));
    let traced = config(twin, &[("workload.file", "x.csv")]);
    assert_eq!((traced.kind.as_deref(), traced.twin), (Some("trace"), None));
    let jobs = "[workload]\npattern = \"jobs\"\nrandom_share = 0.5\nrequest_bytes = 8192\n";
    assert_eq!(config(jobs, &[]).sizes, Some(vec![(8192, 1.0)]));
    assert_eq!(config(jobs, &[("workload.pattern", "zipf")]).random_share, None);
    assert_eq!(config(jobs, &[("workload.pattern", "jesd219")]).read_share, Some(0.4));
    let micro = config(jobs, &[("workload.micro", "16k-sq-50w-no-align")]);
    assert_eq!((micro.sizes, micro.offset_bytes), (Some(vec![(16_384, 1.0)]), Some(512)));
    assert_eq!((micro.requests, micro.micro), (Some(262_144), None));
    assert_eq!(config(jobs, &[("workload.twin", "multi")]).kind.as_deref(), Some("twin"));
    let file = "[workload]\nfile = \"x.csv\"\n";
    assert_eq!(config(file, &[("workload.twin", "multi")]).kind.as_deref(), Some("twin"));
}

#[test]
fn a_fitted_twin_is_read_back() {
    let twin = read(TwinPreset::find("multi").unwrap().toml, "multi").unwrap();
    let config = GeneratorConfig {
        pattern: Pattern::Twin,
        requests: 20_000,
        twin: Some(Arc::new(twin)),
        ..GeneratorConfig::default()
    };
    let mut source = Generator::new(config).unwrap();
    let fit = floatgate_trace::generate::twin::fit(&mut source, "fitted", "-").unwrap();
    let text = to_toml(&fit);
    assert_eq!(unexplained(&text).unwrap(), [""; 0]);
    let again = read(&text, "fitted.toml").unwrap();
    assert_eq!(again, fit.twin);
}

#[test]
fn a_file_without_an_end_is_no_twin() {
    let error = find("/dev/zero", None).unwrap_err();
    assert_eq!(error.to_string(), "/dev/zero: is larger than 16 MiB; expected a twin in a TOML file");
}
