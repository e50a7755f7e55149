//! Lives under deduplication, compression and the integrated manager: by windows against every request through the FTL.

use crate::common::try_lifetime;
use floatgate_experiment::load;
use floatgate_sim::laps::{Criterion, measure};
use floatgate_sim::reading::pass::read_pass;
use serde_json::Value;

/// A drive of 8 MiB whose requests are 64 KiB each, for a tenth of a year.
fn experiment(reducer: &str, rate: f64, more: &str) -> String {
    format!(
        "[drive]\nplp = true\n[drive.geometry]\nblocks_per_plane = 64\npages_per_block = 32\n\
         [drive.endurance]\npe_cycles = 300\n[ftl]\nspare_factor = 0.2\n\
         [lifetime.throttle]\ntarget_years = 0.1\n{more}\
         [lifetime.forecast]\nlaps_max = 3\n[lifetime.reduce]\npolicy = \"{reducer}\"\n\
         [workload]\npattern = \"uniform\"\nrequest_bytes = 65536\nrequests = 40000\nrate_per_s = {rate}\n\
         duplicate_share = 0.2\ncompressed_share = 0.4\nincompressible_share = 0.1\n"
    )
}

fn lives(toml: &str) -> [Value; 2] {
    let method = |name: &str| vec![("lifetime.forecast.method".to_owned(), name.to_owned())];
    let variants = ["full", "windows"].map(method);
    let lives = try_lifetime(toml, &variants);
    lives.unwrap_or_else(|e| panic!("{e}\n{toml}")).try_into().unwrap()
}

fn close(lives: &[Value; 2], pointer: &str, tolerance: f64, what: &str) {
    let [full, windows] = [0, 1].map(|i| {
        lives[i].pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{what}: no {pointer}"))
    });
    let distance = (windows / full - 1.0).abs();
    assert!(distance <= tolerance, "{what}, {pointer}: {windows} by windows, {full} in full");
}

/// Mean times of page writes: what the flash takes, and what the throttle adds.
fn close_response(lives: &[Value; 2], tolerance: f64, what: &str) {
    let of = |life: &Value, key: &str| life["throttle"][key].as_f64().unwrap();
    let [full, windows] = lives.each_ref().map(|life| {
        ["service_us", "delay_us_mean", "wait_us_mean"].map(|key| of(life, key)).iter().sum::<f64>()
    });
    assert!((windows / full - 1.0).abs() <= tolerance, "{what}: {windows} us by windows, {full} us in full");
}

/// At a rate that the drive endures with its schemes, and at one that is throttled in any case; `make properties` has
/// more. Nearer to the limit, chance decides whether the first epochs are throttled, about which little is known.
#[test]
#[ignore = "takes long: `make long` runs it"]
fn a_managed_life_by_windows_is_that_of_a_drive() {
    let rates = [(0.004, false), (0.06, true), (0.007, false)];
    for (rate, throttled) in rates.into_iter().zip(crate::common::seeds(2)).map(|(rate, _)| rate) {
        // Few pages per epoch: a hundredth of them would say little.
        let toml = experiment("integrated", rate, "");
        let lives = lives(&toml.replace("[workload]", "sample_share = 0.2\n[workload]"));
        let what = format!("{rate} requests per second");
        for pointer in ["/reduce/written_ratio", "/reduce/energy_ratio", "/waf", "/lifetime/years"] {
            close(&lives, pointer, 0.01, &what);
        }
        close_response(&lives, 0.02, &what);
        close(&lives, "/throttle/demand_share", 0.005, &what);
        for life in &lives {
            assert!(life.pointer("/lifetime/holds").unwrap().as_bool().unwrap(), "{what}: {life}");
            let epochs = life.pointer("/reduce/epochs_by_choice").unwrap().as_object().unwrap();
            let of = |name: &str| epochs[name].as_u64().unwrap();
            let all: u64 = epochs.values().map(|epochs| epochs.as_u64().unwrap()).sum();
            // A tenth of a year has 10,512 epochs of five minutes.
            assert_eq!(all, 10_512, "{what}");
            assert!(of("both") > all * 9 / 10, "{what}: {epochs:?}");
            let count = life.pointer("/reduce/manager/throttled_epochs").unwrap().as_u64().unwrap();
            assert_eq!(count > all / 2, throttled, "{what}: {count} epochs throttled");
        }
        let schemes = lives[1].pointer("/reduce/by_choice").unwrap().as_array().unwrap();
        assert_eq!(schemes.len(), 4);
    }
}

/// Few pages per epoch, of which the default of one in a hundred is a sample; deduplication leaves nearly all of them.
#[test]
fn few_samples_say_as_much_by_windows() {
    let toml = experiment("integrated", 0.1, "").replace("request_bytes = 65536", "request_bytes = 4096");
    let toml = toml.replace("duplicate_share = 0.2", "duplicate_share = 0.004");
    let lives = lives(&toml.replace("compressed_share = 0.4", "compressed_share = 0.99"));
    close(&lives, "/reduce/energy_ratio", 0.02, "few samples");
    close(&lives, "/reduce/written_ratio", 0.01, "few samples");
}

/// A write buffer absorbs page writes before any scheme sees them, and slow engines delay their pages.
#[test]
#[ignore = "takes long: `make long` runs it"]
fn buffers_and_slow_engines_are_counted() {
    for (reducer, _) in ["integrated", "both"].into_iter().zip(crate::common::seeds(1)) {
        let toml = experiment(reducer, 0.05, "").replace("[drive]", "[drive]\nbuffer.capacity = \"256 KiB\"");
        let toml = toml.replace("[workload]", "hash_us = 100\ncompress_us = 1000\n[workload]");
        let toml = toml.replace("request_bytes = 65536", "request_bytes = 16384\nzipf_theta = 1.1");
        let toml = toml.replace("\"uniform\"", "\"zipf\"");
        let toml = if reducer == "integrated" {
            toml.replace("hash_us", "sample_share = 0.2\nhash_us")
        } else {
            toml
        };
        let lives = lives(&toml);
        for pointer in ["/reduce/written_ratio", "/reduce/energy_ratio", "/waf", "/lifetime/years"] {
            close(&lives, pointer, 0.02, reducer);
        }
        close_response(&lives, 0.03, reducer);
    }
}

/// If requests are single, distant pages, chunks never fill and compression saves nothing: samples show that.
#[test]
fn chunks_that_never_fill_are_not_worth_it() {
    let toml = experiment("integrated", 0.2, "").replace("request_bytes = 65536", "request_bytes = 4096");
    for life in lives(&toml.replace("[workload]", "sample_share = 0.2\n[workload]")) {
        let epochs = life.pointer("/reduce/epochs_by_choice").unwrap().as_object().unwrap();
        let on: u64 = ["compress", "both"].iter().map(|name| epochs[*name].as_u64().unwrap()).sum();
        assert!(on < 10, "{epochs:?}");
    }
}

#[test]
#[ignore = "takes long: `make long` runs it"]
fn fixed_schemes_by_windows_are_those_of_a_drive() {
    // Each of them once; `make properties` has all pairs.
    let pairs = [
        ("dedup", "none"),
        ("compress", "dynamic"),
        ("both", "none"),
        ("both", "dynamic"),
        ("dedup", "dynamic"),
        ("compress", "none"),
    ];
    for ((reducer, throttle), _) in pairs.into_iter().zip(crate::common::seeds(3)) {
        let more = format!("policy = \"{throttle}\"\n");
        let lives = lives(&experiment(reducer, 0.03, &more));
        let what = format!("{reducer}, {throttle}");
        for pointer in ["/reduce/written_ratio", "/reduce/energy_ratio", "/waf", "/lifetime/years"] {
            close(&lives, pointer, 0.01, &what);
        }
        close_response(&lives, 0.02, &what);
    }
}

/// Wear ahead of a drive with reduction goes in the same steps as without: it ends at the end of life, not far beyond.
/// The finished share of the work reaches the whole only at its end.
#[test]
fn wear_ahead_counts_requests_as_the_laps_do() {
    // A lap has hundreds of passes.
    let toml = experiment("compress", 0.1, "").replace("requests = 40000", "requests = 400");
    let toml = toml.replace("[workload]", "[ftl.level]\npolicy = \"hot-cold-swap\"\n[workload]");
    let [_, windows] = lives(&toml);
    let of = |key: &str| windows.pointer(&format!("/method/leveling/{key}")).and_then(Value::as_f64).unwrap();
    assert!(of("mean_erases_from") < 300.0 && of("mean_erases") < 303.0, "{}", windows["method"]);
    assert!(
        windows.pointer("/reduce/rewritten_pages").and_then(Value::as_u64).is_some(),
        "{}",
        windows["reduce"]
    );
    let plan = load(Some(&toml), "test", &[]).unwrap().plan;
    let pass = read_pass(&plan, Some(1_000_000_000), &mut |_| Ok(())).unwrap();
    let criterion = Criterion { error_max: 0.005, laps_max: 3, programs_min: 1 << 20, requests_max: 1 << 26 };
    let mut shares = vec![];
    let note = &mut |share: f64| {
        shares.push(share);
        Ok(())
    };
    measure(&plan, &pass, &criterion, None, note).unwrap();
    assert!(shares.is_sorted(), "{shares:?}");
    let whole = shares.iter().filter(|&&share| share >= 1.0 - 1e-9).count();
    assert!(shares.len() > 100 && whole <= 1, "{whole} of {}", shares.len());
}

#[test]
fn one_write_amplification_is_not_enough_for_a_manager() {
    let toml = experiment("integrated", 0.01, "").replace("laps_max = 3\n", "");
    let variant = vec![("lifetime.forecast.waf".to_owned(), "1.5".to_owned())];
    let error = try_lifetime(&toml, &[variant]);
    let text = error.unwrap_err().to_string();
    assert!(
        text.contains("lifetime.forecast.waf") && text.contains("what deduplication and compression leave"),
        "{text}"
    );
}
