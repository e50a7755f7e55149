//! Every slot takes the parameters of the policy that is chosen, within their ranges, and no others. The rows come from
//! the tables of the slots.

use crate::common::try_run;
use floatgate_base::names;
use floatgate_base::policy::ParamKind;
use floatgate_base::{Acts, ParamInfo, PolicyInfo, Setting, Slot};
use floatgate_config::Resolved;
use floatgate_config::layers::Layers;
use floatgate_config::slot_types::SLOTS;
use floatgate_experiment::load;

/// A table with a policy and a line more.
fn toml(slot: &Slot, info: &PolicyInfo, more: &str) -> String {
    format!("[{}]\n{} = \"{}\"\n{more}\n", slot.key, slot.selector, info.name)
}

fn resolved_toml(resolved: &Resolved) -> String {
    toml::to_string(&resolved.experiment).unwrap()
}

/// Returns why an experiment is refused in the mode in which a slot, and a parameter of it, act.
fn refused(toml: &str, slot: &Slot, param: Option<&ParamInfo>) -> String {
    let Err(error) = load(Some(toml), "e.toml", &[mode(slot, param)]) else { panic!("it is taken:\n{toml}") };
    assert_eq!(error.status(), 2);
    error.to_string()
}

fn mode(slot: &Slot, param: Option<&ParamInfo>) -> (String, String) {
    // One policy of `ftl.dpes` measures idle time.
    let timed = slot.acts == Acts::Timed
        || slot.key == "ftl.dpes"
        || param.is_some_and(|param| param.acts == Acts::Timed);
    ("mode".into(), if timed { "timed" } else { "functional" }.into())
}

/// Values outside a range, as TOML and as messages show them.
fn outside(param: &ParamInfo) -> Vec<(String, String)> {
    match param.kind {
        ParamKind::Whole { least, most } => {
            let below = least.checked_sub(1).map(|value| value.to_string());
            let above = (most < u64::from(u32::MAX) * 2).then(|| (most + 1).to_string());
            below.into_iter().chain(above).map(|value| (value.clone(), value)).collect()
        }
        ParamKind::Number(range) => {
            let mut values = vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, range.least - 1.0];
            values.extend(range.most.is_finite().then_some(range.most + 1.0));
            values.extend(range.above_least.then_some(range.least));
            values.extend(range.below_most.then_some(range.most));
            let of = |value: f64| {
                let word = if value.is_nan() { "nan".into() } else { format!("{value:?}") };
                (word, value.to_string())
            };
            values.into_iter().map(of).collect()
        }
        ParamKind::Order(names) => {
            let (few, other) = (names[1..].to_vec(), [&["nobody"], &names[1..]].concat());
            [few, other].map(|names| (format!("{names:?}"), format!("{names:?}"))).to_vec()
        }
        ParamKind::Flag
        | ParamKind::Name(_)
        | ParamKind::Listed(_)
        | ParamKind::Text(_)
        | ParamKind::Other(_) => Vec::new(),
        ParamKind::Numbers { range, most } => {
            let numbers = |n: usize| format!("[{}]", vec![range.most.to_string(); n].join(", "));
            [String::from("[]"), numbers(most + 1), format!("[{}]", range.least - 1.0)]
                .map(|list| (list.clone(), list))
                .to_vec()
        }
        ParamKind::Rows { columns, most } => {
            let row = |value: f64| {
                // As keys are shown.
                let mut keys: Vec<_> = columns.iter().map(|(name, _)| format!("{name} = {value}")).collect();
                keys.sort_unstable();
                format!("{{{}}}", keys.join(", "))
            };
            let (good, bad) = (row(columns[0].1.least), row(columns[0].1.least - 1.0));
            [
                String::from("[]"),
                format!("[{}]", vec![good; most + 1].join(", ")),
                format!("[{bad}]"),
                "[{}]".into(),
            ]
            .map(|list| (list.clone(), list))
            .to_vec()
        }
    }
}

#[test]
fn values_outside_their_range_are_refused() {
    let mut tried = 0;
    for slot in SLOTS {
        for info in slot.policies {
            for param in slot.params_of(info) {
                for (word, shown) in outside(param) {
                    let (name, range) = (param.name, param.range_words());
                    let expected = format!("e.toml:3:1: {name} is {shown}; expected {range}");
                    let error = refused(&toml(slot, info, &format!("{name} = {word}")), slot, Some(param));
                    assert_eq!(error, expected);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 100);
}

#[test]
fn values_of_another_kind_are_refused_where_they_stand() {
    for slot in SLOTS {
        for info in slot.policies {
            for param in slot.params_of(info) {
                let fault = match param.kind {
                    ParamKind::Whole { .. } => "is not a whole number; expected a whole number",
                    ParamKind::Number(_) => "is not a number; expected ",
                    ParamKind::Flag => "is neither true nor false; expected true or false",
                    ParamKind::Name(_) | ParamKind::Listed(_) => "is not text; expected a name in quotes",
                    ParamKind::Text(_) | ParamKind::Other(_) => "is not text; expected ",
                    // [true] is a list; what is in it is another matter.
                    ParamKind::Numbers { .. } | ParamKind::Rows { .. } | ParamKind::Order(_) => continue,
                };
                let name = param.name;
                let error = refused(&toml(slot, info, &format!("{name} = [true]")), slot, Some(param));
                let expected = format!("e.toml:3:{}: {name} = [true] {fault}", name.len() + 4);
                assert!(error.starts_with(&expected), "{error}");
            }
        }
    }
}

#[test]
fn names_that_are_in_no_table_are_refused_with_valid_ones() {
    for slot in SLOTS {
        let error = refused(&format!("[{}]\n{} = \"nobody\"", slot.key, slot.selector), slot, None);
        let names: Vec<_> = slot.policies.iter().map(|info| info.name).collect();
        let remedy = names::remedy("nobody", &names, "floatgate policies");
        assert_eq!(error, format!("e.toml:2:1: unknown {} 'nobody'; {remedy}", slot.what));
        let error = refused(&toml(slot, &slot.policies[0], "nothing = 1"), slot, None);
        let start = format!("e.toml:3:1: unknown key 'nothing' in [{}]; expected ", slot.key);
        assert!(error.starts_with(&start), "{error}");
        let keys = [slot.selector].into_iter().chain(slot.params().into_iter().map(|(param, _)| param.name));
        for key in keys.take(names::SUGGESTIONS_MAX) {
            assert!(error.contains(&format!("'{key}'")), "{error}");
        }
    }
}

/// A value that a parameter takes.
fn inside(param: &ParamInfo) -> String {
    match param.kind {
        ParamKind::Whole { least, .. } => (least + 1).to_string(),
        ParamKind::Number(range) if range.most.is_finite() => {
            format!("{:?}", 0.5 * (range.least + range.most))
        }
        ParamKind::Number(range) => format!("{:?}", range.least + 1.0),
        ParamKind::Flag => "false".into(),
        ParamKind::Name(names) => format!("\"{}\"", names[1].0),
        ParamKind::Listed(names) => format!("\"{}\"", names()[0]),
        ParamKind::Text(_) | ParamKind::Other(_) => "\"4 KiB\"".into(),
        ParamKind::Order(names) => format!("{:?}", names.iter().rev().collect::<Vec<_>>()),
        ParamKind::Numbers { range, .. } => format!("[{:?}]", range.most),
        ParamKind::Rows { columns, .. } => {
            let keys: Vec<_> =
                columns.iter().map(|(name, range)| format!("{name} = {:?}", range.least)).collect();
            format!("[{{{}}}]", keys.join(", "))
        }
    }
}

/// What the policies of a slot need beside their table.
fn rest(slot: &Slot) -> &'static str {
    match slot.key {
        "ftl.reclaim" => "[drive.disturb]\nmodel = \"tlc-base\"\n[workload]\nrequests = 5\nrate_per_s = 1\n",
        // Some levelers move pages to another chip of their channel.
        "ftl.level" => "[drive.geometry]\nchips_per_channel = 2\n[workload]\nrequests = 5\nrate_per_s = 1\n",
        "drive.buffer" => {
            "capacity = \"32 KiB\"\n[drive.disturb]\nmodel = \"tlc-base\"\n[workload]\nrequests = 5\n"
        }
        // In closed loop no drive is idle.
        "ftl.background" | "ftl.dpes" => "[workload]\nrequests = 5\nrate_per_s = 1\narrival = \"open\"\n",
        // Throttles go by the time of requests.
        _ => "[workload]\nrequests = 5\nrate_per_s = 1\n",
    }
}

/// Settings of another policy are refused if one layer has both, and dropped if a later layer chooses another policy.
/// The command line is never ignored.
#[test]
fn parameters_of_other_policies_are_refused_or_make_way() {
    let mut tried = 0;
    for slot in SLOTS {
        for (param, owners) in slot.params().into_iter().filter(|(_, owners)| !owners.is_empty()) {
            let (name, value) = (param.name, inside(param));
            for info in slot.policies.iter().filter(|info| !owners.contains(&info.name)) {
                let selector = slot.selector;
                let takers: Vec<_> = owners.iter().take(5).map(|owner| format!("\"{owner}\"")).collect();
                let start = format!("e.toml:3:1: {name} = ");
                let end = format!(
                    " has no effect with {selector} = \"{}\"; expected {selector} = {}, or no {name}",
                    info.name,
                    names::any_of(&takers)
                );
                let line = format!("{name} = {value}");
                let error = refused(&toml(slot, info, &line), slot, Some(param));
                assert!(error.starts_with(&start) && error.ends_with(&end), "{error}");
                let (policy, key) =
                    (format!("{}.{}", slot.key, slot.selector), format!("{}.{name}", slot.key));
                let chosen = (policy.clone(), info.name.to_string());
                let mode = mode(slot, Some(param));
                let over_file = |text: &str| load(Some(text), "e.toml", &[chosen.clone(), mode.clone()]);
                let owner = slot.find(owners[0]).unwrap();
                let resolved =
                    over_file(&(toml(slot, owner, &line) + rest(slot))).unwrap_or_else(|e| panic!("{e}"));
                let table = &resolved_toml(&resolved);
                let table = table.split("\n\n").find(|t| t.starts_with(&format!("[{}]\n", slot.key)));
                // Slots that were added later have no table where they have their default.
                let is_left_out = ["ftl.dpes", "ftl.metadata"].contains(&slot.key) && info.name == "none";
                assert_eq!(table.is_none(), is_left_out, "{}: {table:?}", slot.key);
                assert!(!table.unwrap_or_default().contains(&format!("\n{name} = ")), "{table:?}");
                // In either order.
                let setting = (key.clone(), value.clone());
                for overrides in [
                    [setting.clone(), chosen.clone(), mode.clone()],
                    [chosen.clone(), setting.clone(), mode.clone()],
                ] {
                    let error = load(None, "e.toml", &overrides).unwrap_err().to_string();
                    assert!(
                        error.starts_with(&format!("{key}: {name} = ")) && error.ends_with(&end),
                        "{error}"
                    );
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 100);
}

/// The order of overrides does not matter, and settings of a file that belong to no policy in particular are kept.
#[test]
fn a_parameter_that_fits_the_policy_is_kept() {
    let all = |overrides: &[(&str, &str)], text: &str| {
        let mut layers = Layers::default();
        layers.add_file(text, "e.toml").unwrap();
        overrides.iter().for_each(|(key, value)| layers.add_override(key, value).unwrap());
        layers.experiment().ftl.unwrap().collect.unwrap().get("choices").cloned()
    };
    let (choices, policy) = (("ftl.collect.choices", "4"), ("ftl.collect.policy", "d-choices"));
    assert_eq!(all(&[choices, policy], ""), Some(Setting::Whole(4)));
    assert_eq!(all(&[policy, choices], ""), Some(Setting::Whole(4)));
    assert_eq!(all(&[policy], "[ftl.collect]\nchoices = 5\n"), Some(Setting::Whole(5)));
    assert_eq!(
        all(&[policy], "[ftl.collect]\npolicy = \"d-choices\"\nchoices = 5\n"),
        Some(Setting::Whole(5))
    );
}

/// Settings with the same meaning under several throttles are kept when another of them is chosen.
#[test]
fn shared_parameters_stay() {
    let text = "[lifetime.throttle]\npolicy = \"dynamic\"\nperiod_s = 2\nspare_share = 0.3\n[workload]\n\
                requests = 5\nrate_per_s = 1\n";
    let with = |policy: &str| {
        let overrides = [("lifetime.throttle.policy".into(), policy.into())];
        resolved_toml(&load(Some(text), "e.toml", &overrides).unwrap_or_else(|e| panic!("{e}")))
    };
    let has = |policy: &str| {
        let toml = with(policy);
        (toml.contains("period_s = 2.0\n"), toml.contains("spare_share = 0.3\n"))
    };
    assert_eq!(has("ready-optimistic"), (true, true));
    assert_eq!(has("ready-pessimistic"), (true, false));
    assert_eq!(has("static"), (true, false));
    assert!(!with("none").contains("period_s"));
}

/// Every policy runs by its name alone, as in the resolved experiment.
#[test]
fn every_resolved_table_resolves_to_itself() {
    for slot in SLOTS {
        for info in slot.policies {
            let experiment = toml(slot, info, "") + rest(slot);
            let resolved = |text: &str| {
                let resolved = load(Some(text), "e.toml", &[mode(slot, None)]);
                resolved_toml(&resolved.unwrap_or_else(|e| panic!("{e}\n{text}")))
            };
            let once = resolved(&experiment);
            let twice = resolved(&once);
            assert_eq!(once, twice);
        }
    }
    assert!(try_run("[ftl.collect]\nscope = \"die\"\n", &[]).is_err());
}
