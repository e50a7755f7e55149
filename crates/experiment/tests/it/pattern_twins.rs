//! The twins of pattern-based scheduling meet Tables II and III and Figure 2 of its paper, and lose their patterns when
//! their writes are shuffled.

use floatgate_config::twins::TwinPreset;
use floatgate_trace::{
    Generator, GeneratorConfig, Pattern, PatternSettings, PatternsInfo, Shuffle, Source, patterns, shuffled,
};
use std::sync::Arc;

/// Name, every so many requests that are looked at, share of the writes, patterns a window and their mean size.
const TWINS: [(&str, u64, f64, f64, f64); 4] = [
    ("proj_0", 5, 0.875, 15.3, 6.4),
    ("pc-server-1", 6, 0.688, 15.2, 7.7),
    ("pc-server-2", 7, 0.524, 13.4, 5.7),
    ("pc-server-3", 12, 0.307, 8.6, 5.5),
];

fn mined(name: &str, thin: u64, shuffle: Option<Shuffle>) -> PatternsInfo {
    let preset = TwinPreset::find(name).unwrap();
    let twin = floatgate_config::twins::read(preset.toml, name).unwrap().thinned(thin);
    let config = GeneratorConfig {
        pattern: Pattern::Twin,
        logical_bytes: twin.footprint_bytes,
        requests: twin.requests,
        twin: Some(Arc::new(twin)),
        ..GeneratorConfig::default()
    };
    let source: Box<dyn Source> = Box::new(Generator::new(config).unwrap());
    patterns(shuffled(source, shuffle).unwrap().as_mut(), &PatternSettings::default()).unwrap()
}

fn within(what: &str, value: f64, wanted: f64, tolerance: f64) {
    assert!((value - wanted).abs() <= tolerance * wanted, "{what}: {value}, not {wanted}");
}

/// Values of Table III within 15 and 10 %; shares of Figure 2, which the paper prints for proj_0 alone, within 10 %
/// there and within 25 % of proj_0's elsewhere.
#[test]
fn patterns_are_as_many_and_as_large_as_printed() {
    for (name, thin, writes, per_window, size) in TWINS {
        let report = mined(name, thin, None);
        let say = |what: &str| format!("{name} {what}");
        within(&say("writes"), report.writes as f64 / report.requests as f64, writes, 0.01);
        within(&say("patterns"), report.patterns_per_window.unwrap(), per_window, 0.15);
        within(&say("size"), report.pattern_size_mean.unwrap(), size, 0.1);
        let tolerance = if name == "proj_0" { 0.1 } else { 0.25 };
        let addresses = &report.addresses;
        within(&say("over 4"), addresses.accessed_over_4_share.unwrap(), 0.4, tolerance);
        within(&say("in patterns"), addresses.frequent.share.unwrap(), 0.382, tolerance);
        within(&say("read once"), addresses.read_once_share.unwrap(), 0.5, tolerance);
    }
}

/// The same addresses equally often in each window of 1,024 requests: the remaining patterns are chance.
#[test]
fn shuffled_writes_have_hardly_any_patterns() {
    for (name, thin, ..) in TWINS {
        let (plain, mixed) =
            (mined(name, thin, None), mined(name, thin, Some(Shuffle { window: 1024, seed: 1 })));
        assert_eq!((plain.requests, plain.writes), (mixed.requests, mixed.writes));
        assert_eq!(plain.addresses.accesses.addresses, mixed.addresses.accesses.addresses);
        assert_eq!(plain.addresses.frequent.addresses, mixed.addresses.frequent.addresses);
        assert!(mixed.items() * 10.0 < plain.items(), "{name}: {} of {}", mixed.items(), plain.items());
    }
}

trait Items {
    /// Addresses of all patterns, each as often as it is in one.
    fn items(&self) -> f64;
}

impl Items for PatternsInfo {
    fn items(&self) -> f64 {
        self.patterns as f64 * self.pattern_size_mean.unwrap_or(0.0)
    }
}
