//! Layers of settings: a preset under a file under overrides. Each layer is checked by itself, where its places
//! are known, and then laid over the lower ones.
//!
//! A layer drops alternatives in lower layers: the capacity if it sets the blocks, the parameters of another
//! policy of the slot, the keys of another mode, kind of workload, pattern or first state. A `shared` parameter
//! that the new policy has stays. Keys of the command line without effect are refused, not dropped.

use crate::policy_code;
use crate::settings::Experiment;
use crate::settings::conditions;
use crate::sizes;
use crate::slot_types::SLOTS;
use crate::toml_errors::{Origin, line_of, refusal};
use floatgate_base::units::parse_bytes;
use floatgate_base::{Acts, Error, Place, Result, Slot};
use floatgate_host::buffer::SLOT as BUFFER;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

/// The settings as written, before defaults.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    merged: Table,
    places: BTreeMap<String, Place>,
}

/// Alternative keys: setting one drops the others in lower layers.
const ALTERNATIVES: &[&[&str]] = &[
    &["drive.capacity", "drive.geometry.blocks_per_plane"],
    &["drive.visible", "ftl.spare_factor"],
    &["drive.rated.user_bytes", "drive.rated.user_capacity"],
    &["drive.timing.read_us", "drive.timing.read_us_by_page_type"],
    &["drive.timing.program_us", "drive.timing.program_us_by_page_type"],
    &["ftl.collect.trigger_free_blocks", "ftl.collect.trigger_free_share"],
    &["ftl.collect.stop_free_blocks", "ftl.collect.stop_free_share"],
];

/// Keys that replace the workload: another value drops the other keys of the workload, even those of the
/// command line.
const REPLACED_AS_A_WHOLE: [&str; 2] = ["workload.kind", "workload.pattern"];

/// Keys that drop others in lower layers, unless their own layer sets these.
const OVERRULING: &[(&str, &[&str])] = &[
    (
        "workload.micro",
        &[
            "workload.pattern",
            "workload.request_bytes",
            "workload.read_share",
            "workload.trim_share",
            "workload.random_share",
            "workload.sizes",
            "workload.align_bytes",
            "workload.offset_bytes",
        ],
    ),
    ("workload.pattern", &["workload.micro"]),
    ("workload.stop_after", &["workload.requests", "workload.repeat"]),
];

/// Keys that are dropped when the key that they follow from changes.
const FOLLOWING: &[(&str, &str)] =
    &[("ftl.collect.policy", "ftl.auto_fill"), ("ftl.allocation.mode", "ftl.auto_fill")];

impl Layers {
    /// Lays the text of a TOML file over the other layers.
    ///
    /// # Errors
    /// With line and column: bad TOML, unknown keys, values of a wrong type.
    pub fn add_file(&mut self, text: &str, path: &str) -> Result<()> {
        let text = &*sizes::in_bytes(text, Origin::Experiment(path))?;
        let fail = |e: toml::de::Error| refusal(text, Origin::Experiment(path), &e);
        let table = DeTable::parse(text).map_err(fail)?;
        policy_code::must_be_loaded(table.get_ref(), text, path)?;
        toml::from_str::<Experiment>(text).map_err(fail)?;
        let mut places = BTreeMap::new();
        collect_places(table.get_ref(), "", &mut |key, start| {
            places.insert(key, line_of(text, start, path));
        });
        let table = toml::from_str::<Table>(text).map_err(fail)?;
        self.lay(table, places);
        Ok(())
    }

    /// Lays `key = value` over the other layers; the value is TOML, or else a bare string.
    ///
    /// # Errors
    /// Names the key: unknown keys, values of a wrong type.
    pub fn add_override(&mut self, key: &str, value: &str) -> Result<()> {
        let place = || Place::Setting(key.to_string());
        let proper = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if key.is_empty() || !key.chars().all(proper) {
            return Err(Error::input(
                place(),
                "this is not a key",
                "expected a dotted key such as ftl.spare_factor",
            ));
        }
        let quoted = Value::String(value.to_string()).to_string();
        let candidates = [format!("{key} = {value}\n"), format!("{key} = {quoted}\n")];
        // A value such as 1\nseed = 2 must not smuggle in further keys.
        let one_line = !value.contains(['\n', '\r']);
        let mut first_error = None;
        for text in candidates.iter().skip(usize::from(!one_line)) {
            let text = match sizes::in_bytes(text, Origin::Override(key, value)) {
                Ok(text) => text,
                Err(_) if first_error.is_some() && is_toml(&candidates[0]) => break,
                Err(error) => return Err(error),
            };
            // Whole numbers of TOML end at 2^63 - 1: reading a table checks that, reading an
            // experiment does not.
            match toml::from_str::<Experiment>(&text).and_then(|_| toml::from_str::<Table>(&text)) {
                Ok(table) => {
                    let places = BTreeMap::from([(key.to_string(), place())]);
                    self.lay(table, places);
                    return Ok(());
                }
                // Where the value is TOML, its own error is the one to report.
                Err(e) if first_error.is_none() || !is_toml(&candidates[0]) => first_error = Some((text, e)),
                Err(_) => {}
            }
        }
        let (text, error) = first_error.expect("one candidate was tried");
        Err(refusal(&text, Origin::Override(key, value), &error))
    }

    /// Lays a preset's text under everything.
    ///
    /// # Panics
    /// When the preset, which ships with the program, is not valid.
    pub fn add_preset(&mut self, text: &str) {
        let upper = std::mem::take(self);
        self.add_file(text, "preset").expect("presets that ship are valid");
        self.places.clear();
        self.lay(upper.merged, upper.places);
        // In functional mode the preset's keys of timed mode are dropped.
        if self.text("mode").unwrap_or("functional") == "functional" {
            for key in conditions::acting_in(Acts::Timed) {
                if !self.places.contains_key(&key) && !self.is_overridden(&key) {
                    self.drop(&key);
                }
            }
        }
    }

    fn lay(&mut self, mut upper: Table, places: BTreeMap<String, Place>) {
        imply(&mut upper);
        for keys in ALTERNATIVES {
            if keys.iter().any(|key| has(&upper, key)) {
                keys.iter().for_each(|key| self.drop(key));
            }
        }
        for (key, overruled) in OVERRULING {
            if has(&upper, key) {
                self.drop_unless_overridden(overruled.iter().filter(|key| !has(&upper, key)));
            }
        }
        self.drop_what_needs_others(&upper);
        for slot in SLOTS {
            self.make_way(slot, &upper);
        }
        self.drop_what_cannot_act(&upper);
        merge(&mut self.merged, upper);
        self.places.extend(places);
    }

    /// Drops keys that act only with another name of a key that this layer sets. Those that act with the
    /// new name stay if no lower layer set another one.
    fn drop_what_needs_others(&mut self, upper: &Table) {
        for key in conditions::needed_keys() {
            let Some(name) = find(upper, key).and_then(Value::as_str) else { continue };
            let before = self.text(key).map(str::to_string);
            if before.as_deref() == Some(name) {
                continue;
            }
            let replaced = REPLACED_AS_A_WHOLE.contains(&key);
            for (other, names) in conditions::needing(key) {
                let stays = names.contains(&name) && before.is_none();
                if !stays && (replaced || !self.is_overridden(&other)) {
                    self.drop(&other);
                }
            }
        }
        for (key, following) in FOLLOWING {
            if find(upper, key).and_then(Value::as_str).is_some_and(|name| self.text(key) != Some(name)) {
                self.drop_unless_overridden([following]);
            }
        }
    }

    /// Drops keys that a lower layer set and that have no effect in the mode, arrival or throttle of this
    /// layer: one experiment runs either way.
    fn drop_what_cannot_act(&mut self, upper: &Table) {
        let named = |key: &str| find(upper, key).and_then(Value::as_str);
        let shifted = self.text("workload.arrival") == Some("shifted");
        match named("mode") {
            Some("functional") => {
                self.drop_unless_overridden(conditions::acting_in(Acts::Timed));
                // A throttle can shift time stamps in functional mode, too.
                if !shifted {
                    self.drop_unless_overridden(["workload.arrival"]);
                }
            }
            Some("timed") => self.drop_unless_overridden(conditions::acting_in(Acts::Functional)),
            _ => {}
        }
        if named("lifetime.throttle.policy") == Some("none") && shifted {
            self.drop_unless_overridden(["workload.arrival"]);
        }
        // By default traces and twins arrive at their time stamps.
        let kind = named("workload.kind");
        let arrives = named("workload.arrival").or_else(|| self.text("workload.arrival"));
        if matches!(kind, Some("trace" | "twin")) && arrives.is_none() {
            self.drop_unless_overridden(["workload.queue_depth"]);
        }
        if matches!(kind, Some("synthetic" | "twin")) {
            self.drop_unless_overridden(["ftl.wear_in_max"]);
        }
        if named("drive.buffer.capacity").is_some_and(|size| parse_bytes(size) == Ok(0)) {
            let others = BUFFER.params().into_iter().map(|(param, _)| param.name).chain([BUFFER.selector]);
            let keys = others.map(|name| format!("{}.{name}", BUFFER.key));
            self.drop_unless_overridden(keys.filter(|key| key != "drive.buffer.capacity"));
        }
        // The standard has its own sizes.
        if named("workload.pattern") == Some("jesd219") {
            self.drop_unless_overridden(["workload.request_bytes"]);
        }
    }

    /// Drops parameters of the policy that this layer replaces. Those of the new policy stay if they mean
    /// the same under both, or if no lower layer set a policy.
    fn make_way(&mut self, slot: &Slot, upper: &Table) {
        let selector = format!("{}.{}", slot.key, slot.selector);
        let Some(policy) = find(upper, &selector).and_then(Value::as_str) else { return };
        let before = self.text(&selector).map(str::to_string);
        if before.as_deref() == Some(policy) {
            return;
        }
        let theirs = slot.find(policy).map_or(&[][..], |info| info.params);
        for (param, owners) in slot.params() {
            let stays =
                theirs.iter().any(|other| other.name == param.name && (other.shared || before.is_none()));
            let key = format!("{}.{}", slot.key, param.name);
            if !owners.is_empty() && !stays && !self.is_overridden(&key) {
                self.drop(&key);
            }
        }
    }

    /// Checks whether the command line set a key: by itself, one of its table, or the table that it is in.
    fn is_overridden(&self, key: &str) -> bool {
        let touches = |name: &str| is_within(name, key) || is_within(key, name);
        self.places.iter().any(|(name, place)| touches(name) && matches!(place, Place::Setting(_)))
    }

    /// Drops keys, but not those of the command line: they are refused if they have no effect.
    fn drop_unless_overridden<K: AsRef<str>>(&mut self, keys: impl IntoIterator<Item = K>) {
        for key in keys {
            if !self.is_overridden(key.as_ref()) {
                self.drop(key.as_ref());
            }
        }
    }

    fn drop(&mut self, key: &str) {
        let mut parts = key.split('.').peekable();
        let mut table = &mut self.merged;
        while let Some(part) = parts.next() {
            if parts.peek().is_none() {
                table.remove(part);
            } else if let Some(Value::Table(inner)) = table.get_mut(part) {
                table = inner;
            } else {
                return;
            }
        }
        self.places.remove(key);
    }

    /// Locates where a key was set; its own name if it was not.
    #[must_use]
    pub fn place(&self, key: &str) -> Place {
        self.places.get(key).cloned().unwrap_or_else(|| Place::Setting(key.to_string()))
    }

    /// Checks whether a file or an override set the key; presets do not count.
    #[must_use]
    pub fn is_set(&self, key: &str) -> bool {
        self.places.contains_key(key)
    }

    /// Returns the text of a key, if it is set to one.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.value(key).and_then(Value::as_str)
    }

    /// Returns the value of a key, if it is set.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&Value> {
        find(&self.merged, key)
    }

    /// Returns all layers as one experiment.
    ///
    /// # Panics
    /// Never: every layer was checked.
    #[must_use]
    pub fn experiment(&self) -> Experiment {
        self.merged.clone().try_into().expect("each layer was checked")
    }

    /// Returns the settings under a table, such as `lifetime.throttle`.
    #[must_use]
    pub fn section(&self, name: &'static str) -> Section<'_> {
        Section { layers: self, name }
    }

    /// Makes an input error at the place of `key`.
    #[must_use]
    pub fn error(&self, key: &str, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
        let what = what.into();
        // The line of a file shows the key; elsewhere the place is the key.
        Error::input(self.place(key), what, expected)
    }
}

/// A table of the settings, for errors that name a key within it.
#[derive(Clone, Copy, Debug)]
pub struct Section<'a> {
    layers: &'a Layers,
    name: &'static str,
}

impl Section<'_> {
    /// Makes an input error at the place of `key` of the table.
    #[must_use]
    pub fn error(&self, key: &str, what: impl Into<String>, expected: impl Into<String>) -> Box<Error> {
        self.layers.error(&format!("{}.{key}", self.name), what, expected)
    }
}

/// Sets the keys that others imply: a file or a twin is the workload, and a snapshot is the first state of the
/// drive.
fn imply(upper: &mut Table) {
    const IMPLIED: [(&str, &str, &str, &str); 3] = [
        ("workload", "file", "kind", "trace"),
        ("workload", "twin", "kind", "twin"),
        ("ftl", "snapshot", "precondition", "snapshot"),
    ];
    for (table, named, key, value) in IMPLIED {
        if let Some(Value::Table(table)) = upper.get_mut(table)
            && table.contains_key(named)
            && !table.contains_key(key)
        {
            table.insert(key.into(), value.into());
        }
    }
}

fn is_toml(text: &str) -> bool {
    DeTable::parse(text).is_ok()
}

fn collect_places(table: &DeTable<'_>, prefix: &str, add: &mut impl FnMut(String, usize)) {
    for (key, value) in table {
        let path =
            if prefix.is_empty() { key.get_ref().to_string() } else { format!("{prefix}.{}", key.get_ref()) };
        let value: &Spanned<DeValue<'_>> = value;
        if let DeValue::Table(inner) = value.get_ref() {
            collect_places(inner, &path, add);
        }
        add(path, key.span().start);
    }
}

pub(crate) fn find<'a>(table: &'a Table, key: &str) -> Option<&'a Value> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let value = table.get(first)?;
    match rest {
        None => Some(value),
        Some(rest) => find(value.as_table()?, rest),
    }
}

/// Checks whether `name` is `key`, or lies in the table `key`.
fn is_within(name: &str, key: &str) -> bool {
    name.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn has(table: &Table, key: &str) -> bool {
    find(table, key).is_some()
}

fn merge(lower: &mut Table, upper: Table) {
    for (key, value) in upper {
        match (lower.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => merge(below, above),
            (_, value) => {
                lower.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Layers::default().add_file(text, "e.toml").unwrap_err().to_string()
    }

    #[test]
    fn a_file_that_is_wrong_says_where() {
        let unknown = message("seed = 1\n[ftl]\nspare = 3\n");
        assert!(unknown.starts_with("e.toml:3:1: unknown key 'spare' in [ftl]; did you mean"), "{unknown}");
        let kind = message("[ftl]\nspare_factor = \"x\"\n");
        assert!(kind.starts_with("e.toml:2:16: spare_factor = \"x\" is not a number; expected"), "{kind}");
        assert!(message("seed = = 2\n").starts_with("e.toml:1:"));
    }

    #[test]
    fn overrides_lie_over_the_file() {
        let mut layers = Layers::default();
        layers
            .add_file(
                "[ftl]\nspare_factor = 0.1\n[ftl.collect]\npolicy = \"d-choices\"\nchoices = 4\n",
                "e.toml",
            )
            .unwrap();
        layers.add_override("ftl.spare_factor", "0.2").unwrap();
        layers.add_override("ftl.collect.policy", "greedy").unwrap();
        let ftl = layers.experiment().ftl.unwrap();
        assert_eq!(ftl.spare_factor, Some(0.2));
        let collect = ftl.collect.unwrap();
        assert_eq!((collect.policy.as_deref(), collect.get("choices")), (Some("greedy"), None));
        assert_eq!(layers.place("ftl.spare_factor"), Place::Setting("ftl.spare_factor".into()));
    }

    #[test]
    fn one_experiment_can_be_run_in_either_mode() {
        let text = "mode = \"timed\"\n[drive.commands]\ncopyback = true\n[workload]\nqueue_depth = 4\n";
        let with = |overrides: &[(&str, &str)]| {
            let mut layers = Layers::default();
            layers.add_file(text, "e.toml").unwrap();
            overrides.iter().for_each(|(key, value)| layers.add_override(key, value).unwrap());
            let experiment = layers.experiment();
            let commands = experiment.drive.unwrap_or_default().commands;
            (commands.is_some_and(|c| c.copyback.is_some()), experiment.workload.unwrap().queue_depth)
        };
        assert_eq!(with(&[("mode", "timed")]), (true, Some(4)));
        assert_eq!(with(&[("mode", "functional")]), (false, None));
        assert_eq!(with(&[("workload.arrival", "think")]), (true, None));
        // A trace arrives at its stamps, unless the file has another way.
        assert_eq!(with(&[("workload.file", "a.csv")]), (true, None));
        assert_eq!(with(&[("workload.arrival", "closed"), ("workload.file", "a.csv")]), (true, Some(4)));
        // Keys of the command line without effect are refused, not dropped.
        assert_eq!(with(&[("workload.queue_depth", "5"), ("mode", "functional")]), (false, Some(5)));
    }

    #[test]
    fn what_a_drive_does_in_time_goes_where_there_is_none() {
        let spread = |overrides: &[(&str, &str)]| {
            let mut layers = Layers::default();
            overrides.iter().for_each(|(key, value)| layers.add_override(key, value).unwrap());
            layers.add_preset("[drive.timing]\nerase_us = 1000\nprogram_spread = 0.5\n");
            let timing = layers.experiment().drive.unwrap().timing.unwrap();
            assert_eq!(timing.erase_us, Some(1000.0));
            timing.program_spread
        };
        assert_eq!((spread(&[]), spread(&[("mode", "functional")])), (None, None));
        assert_eq!(spread(&[("mode", "timed")]), Some(0.5));
        // Keys of the command line without effect are refused, not dropped.
        assert_eq!(spread(&[("drive.timing.program_spread", "0.1")]), Some(0.1));
    }

    /// A whole table on the command line is refused like its keys, not forgotten.
    #[test]
    fn tables_of_the_command_line_stay() {
        for overrides in [["drive.commands", "mode"], ["mode", "drive.commands"]] {
            let mut layers = Layers::default();
            for key in overrides {
                layers
                    .add_override(key, if key == "mode" { "functional" } else { "{ copyback = true }" })
                    .unwrap();
            }
            layers.add_preset("[drive.timing]\nerase_us = 1000\n");
            let commands = layers.experiment().drive.unwrap().commands;
            assert_eq!(commands.and_then(|commands| commands.copyback), Some(true), "{overrides:?}");
        }
    }

    #[test]
    fn naming_a_twin_makes_it_the_workload() {
        let mut layers = Layers::default();
        layers.add_file("[workload]\nkind = \"synthetic\"\npattern = \"zipf\"\n", "e.toml").unwrap();
        layers.add_override("workload.twin", "prxy").unwrap();
        let workload = layers.experiment().workload.unwrap();
        assert_eq!((workload.kind.as_deref(), workload.pattern), (Some("twin"), None));
    }

    #[test]
    fn what_a_later_choice_needs_stays_where_nothing_was_chosen_before() {
        let fill = |text: &str| {
            let mut layers = Layers::default();
            layers.add_file(text, "e.toml").unwrap();
            layers.add_override("ftl.precondition", "fill").unwrap();
            layers.experiment().ftl.unwrap().fill_share
        };
        assert_eq!(fill("[ftl]\nfill_share = 0.5\n"), Some(0.5));
        assert_eq!(fill("[ftl]\nprecondition = \"random\"\nfill_share = 0.5\n"), None);
    }

    #[test]
    fn saying_what_was_implied_drops_nothing() {
        let requests = |kind| {
            let mut layers = Layers::default();
            layers.add_file("[workload]\nrequests = 7\n", "e.toml").unwrap();
            layers.add_override("workload.kind", kind).unwrap();
            layers.experiment().workload.unwrap().requests
        };
        assert_eq!((requests("synthetic"), requests("trace")), (Some(7), None));
    }

    /// `floatgate run X.toml --trace F`, where X sets how often a trace repeats, but names no trace.
    #[test]
    fn what_a_file_says_of_traces_holds_for_the_trace_that_is_named() {
        let passes = |text: &str| {
            let mut layers = Layers::default();
            layers.add_file(text, "e.toml").unwrap();
            layers.add_override("workload.kind", "trace").unwrap();
            layers.add_override("workload.file", "a.csv").unwrap();
            let workload = layers.experiment().workload.unwrap();
            (workload.repeat, workload.warmup_passes, workload.requests)
        };
        let keys = "repeat = 2\nwarmup_passes = 1\nrequests = 7\n";
        assert_eq!(passes(&format!("[workload]\n{keys}")), (Some(2), Some(1), None));
        // Keys of another kind of workload are dropped with it, and those of a trace with the trace.
        let mut layers = Layers::default();
        layers.add_file("[workload]\nfile = \"a.csv\"\nrepeat = 2\n", "e.toml").unwrap();
        layers.add_override("workload.kind", "synthetic").unwrap();
        let workload = layers.experiment().workload.unwrap();
        assert_eq!((workload.file, workload.repeat), (None, None));
        assert_eq!(passes(&format!("[workload]\nkind = \"twin\"\n{keys}")), (None, None, None));
    }

    #[test]
    fn an_override_that_is_wrong_names_its_key() {
        let wrong = |key, value| Layers::default().add_override(key, value).unwrap_err().to_string();
        assert!(wrong("ftl.spare", "1").starts_with("ftl.spare: unknown key 'spare' in [ftl]; did you mean"));
        assert!(
            wrong("ftl.spare_factor", "lots").contains("'lots' is not a number"),
            "{}",
            wrong("ftl.spare_factor", "lots")
        );
        assert!(wrong("seed", "1\nmode = 'x'").starts_with("seed: "));
        assert!(wrong("a b", "1").contains("not a key"));
        let large = wrong("workload.requests", "18446744073709551615");
        assert!(large.contains("too large; expected a whole number up to 9223372036854775807"), "{large}");
    }

    #[test]
    fn alternatives_replace_one_another() {
        let mut layers = Layers::default();
        layers.add_file("[drive.geometry]\nblocks_per_plane = 7\n", "e.toml").unwrap();
        layers.add_override("drive.capacity", "1 GiB").unwrap();
        let drive = layers.experiment().drive.unwrap();
        assert_eq!(drive.geometry.unwrap().blocks_per_plane, None);
        assert_eq!(drive.capacity.as_deref(), Some("1 GiB"));
    }
}
