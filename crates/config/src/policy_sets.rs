//! Sets of policies that one name turns on (`policies = "all-in-one"`): the techniques of the dissertation on cross-layer
//! optimization and of the papers beside it, each by itself or together (section 7.2.4).
//!
//! A set lies over the file of an experiment and under the settings of the command line. What a policy needs beside its
//! own slot, such as a model of read disturb, lies under everything: a drive that has one keeps it.

use crate::layers::Layers;
use floatgate_base::{Error, Result, names::remedy};

/// A set.
#[derive(Clone, Copy, Debug)]
pub struct PolicySet {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Its source in the literature.
    pub source: &'static str,
    /// Keys over the file, with their values in TOML.
    pub over: &'static [(&'static str, &'static str)],
    /// Keys that apply where nothing else sets them.
    pub under: &'static [(&'static str, &'static str)],
    /// The sets of which it consists.
    pub parts: &'static [&'static str],
}

impl PolicySet {
    const fn new(name: &'static str, summary: &'static str, source: &'static str) -> Self {
        Self { name, summary, source, over: &[], under: &[], parts: &[] }
    }
}

/// The key that names sets.
pub const KEY: &str = "policies";
/// The name that stands for no set.
const NONE: &str = "none";
/// Joins the names of several.
const AND: char = '+';

const DISSERTATION: &str = "Dissertation on cross-layer optimization of NAND flash storage";

/// All sets. Parts are earlier than the set that consists of them.
pub const POLICY_SETS: &[PolicySet] = &[
    PolicySet {
        over: &[("ftl.separate.policy", "ids")],
        ..PolicySet::new(
            "ids",
            "data of program contexts that are updated together share blocks",
            DISSERTATION,
        )
    },
    PolicySet {
        over: &[("ftl.separate.policy", "pds")],
        ..PolicySet::new(
            "pds",
            "data of program contexts that are updated at similar times share blocks; in place of `ids`",
            DISSERTATION,
        )
    },
    PolicySet {
        over: &[("ftl.reclaim.policy", "redftl-plus")],
        under: &[("drive.disturb.model", "tlc-opt")],
        ..PolicySet::new(
            "redftl-plus",
            "disturbed blocks are mixed with cold ones into blocks that endure more reads",
            DISSERTATION,
        )
    },
    PolicySet {
        over: &[("ftl.reclaim.policy", "redftl-plus"), ("ftl.reclaim.mix", "nothing")],
        under: &[("drive.disturb.model", "tlc-opt")],
        ..PolicySet::new(
            "unmixed",
            "`redftl-plus`, but disturbed blocks are not mixed with cold ones, among whose data die some soon",
            DISSERTATION,
        )
    },
    PolicySet {
        over: &[("mode", "timed"), ("ftl.background.policy", "by-context")],
        ..PolicySet::new("idle", "jobs begin in idle time that program contexts predict", DISSERTATION)
    },
    PolicySet {
        over: &[("ftl.collect.timing", "by-context")],
        ..PolicySet::new(
            "collect",
            "victims wait whose data contexts will soon overwrite, and room is made before a burst",
            DISSERTATION,
        )
    },
    PolicySet {
        over: &[("lifetime.reduce.policy", "both")],
        ..PolicySet::new(
            "reduce",
            "duplicates are not programmed, and new content is compressed",
            "Improving the lifetime of SSDs by integrated management",
        )
    },
    PolicySet {
        over: &[("ftl.level.policy", "swl")],
        ..PolicySet::new(
            "level",
            "blocks that were not erased for long are emptied",
            "Pattern-based write scheduling and read balance-oriented wear-leveling",
        )
    },
    PolicySet {
        over: &[("mode", "timed"), ("ftl.dpes.policy", "idle")],
        ..PolicySet::new(
            "dpes",
            "blocks are erased less deeply where idle time allows slower programs",
            "Dissertation, section 7.2.4; dynamic program and erase scaling, FAST 2014",
        )
    },
    PolicySet {
        over: &[("lifetime.throttle.policy", "ready-optimistic")],
        under: &[("drive.endurance.model", "ready-table2")],
        ..PolicySet::new(
            "ready",
            "writes wait where the years would not be reached, recovery included",
            "READY",
        )
    },
    PolicySet {
        parts: &["ids", "redftl-plus", "idle", "collect", "reduce", "level", "dpes", "ready"],
        ..PolicySet::new(
            "all-in-one",
            "the integrated drive, with all techniques as the papers have them",
            "Dissertation, section 7.2.4",
        )
    },
];

/// Lays the sets that a text names over the layers so far.
///
/// # Errors
/// A name that is no set.
pub fn lay_over(layers: &mut Layers, names: &str) -> Result<()> {
    for set in parts(names)? {
        for (key, value) in set.over {
            layers.add_override(key, value)?;
        }
    }
    Ok(())
}

/// Lays what these sets need under the other layers.
///
/// # Errors
/// A name that is no set.
pub(crate) fn lay_under(layers: &mut Layers, names: &str) -> Result<()> {
    for set in parts(names)? {
        for (key, value) in set.under {
            layers.add_preset(&format!("{key} = \"{value}\"\n"));
        }
    }
    Ok(())
}

/// Returns the sets that a text names, `ids+redftl-plus`, without those that consist of others; each once. A set replaces
/// a part of another one that turns on the same slot: `all-in-one+pds` has no `ids`.
fn parts(names: &str) -> Result<Vec<&'static PolicySet>> {
    let mut sets: Vec<(&PolicySet, bool)> = Vec::new();
    for name in names.split(AND).map(str::trim).filter(|name| *name != NONE) {
        let set = find(name).ok_or_else(|| unknown(name))?;
        for part in set.parts.iter().filter_map(|part| find(part)) {
            if !sets.iter().any(|(other, _)| other.name == part.name || clash(other, part)) {
                sets.push((part, true));
            }
        }
        if set.parts.is_empty() {
            if let Some((other, _)) = sets.iter().find(|(other, is_part)| !is_part && clash(other, set)) {
                return Err(both(other, set));
            }
            sets.retain(|(other, _)| other.name != set.name && !clash(other, set));
            sets.push((set, false));
        }
    }
    Ok(sets.into_iter().map(|(set, _)| set).collect())
}

/// Returns whether two sets turn on different policies of a slot.
fn clash(one: &PolicySet, other: &PolicySet) -> bool {
    one.over.iter().any(|(key, value)| other.over.iter().any(|(own, its)| own == key && its != value))
}

fn both(one: &PolicySet, other: &PolicySet) -> Box<Error> {
    let what = format!("the sets {:?} and {:?} turn on different policies of one slot", one.name, other.name);
    Error::input(floatgate_base::Place::Setting(KEY.into()), what, "expected one of them")
}

fn find(name: &str) -> Option<&'static PolicySet> {
    POLICY_SETS.iter().find(|set| set.name == name)
}

fn unknown(name: &str) -> Box<Error> {
    let valid: Vec<_> = POLICY_SETS.iter().map(|set| set.name).collect();
    let quoted = floatgate_base::error::quote(name.as_bytes());
    let place = floatgate_base::Place::Setting(KEY.into());
    Error::input(
        place,
        format!("unknown set of policies {quoted}"),
        remedy(name, &valid, "floatgate policies"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_sound() {
        for (i, set) in POLICY_SETS.iter().enumerate() {
            let earlier = |name: &&str| POLICY_SETS[..i].iter().any(|other| other.name == *name);
            assert!(set.parts.iter().all(earlier) && !earlier(&set.name), "{}", set.name);
            assert!(set.parts.is_empty() != set.over.is_empty(), "{}", set.name);
            let mut layers = Layers::default();
            lay_over(&mut layers, set.name).unwrap();
            lay_under(&mut layers, set.name).unwrap();
            for (key, value) in set.over.iter().chain(set.under) {
                assert_eq!(layers.text(key), Some(*value), "{}", set.name);
            }
        }
    }

    #[test]
    fn names_are_joined_and_none_is_nothing() {
        let names = |text| parts(text).unwrap().iter().map(|set| set.name).collect::<Vec<_>>();
        assert_eq!(names("none"), [""; 0]);
        assert_eq!(names("ready+ids+ready"), ["ids", "ready"]);
        assert_eq!(
            names("all-in-one"),
            ["ids", "redftl-plus", "idle", "collect", "reduce", "level", "dpes", "ready"]
        );
        let rest = ["redftl-plus", "idle", "collect", "reduce", "level", "dpes", "ready"];
        assert_eq!(names("all-in-one+pds"), [&rest[..], &["pds"]].concat());
        assert_eq!(names("pds+all-in-one"), [&["pds"], &rest[..]].concat());
        assert_eq!(
            parts("ids+pds").unwrap_err().to_string(),
            "policies: the sets \"ids\" and \"pds\" turn on different policies of one slot; expected one of them"
        );
        let error = parts("idz").unwrap_err().to_string();
        assert_eq!(
            error,
            "policies: unknown set of policies 'idz'; did you mean 'ids'? ('floatgate policies' lists all)"
        );
    }

    /// A drive that has a model keeps it; the settings of the command line have the last word.
    #[test]
    fn a_set_lies_between_file_and_command_line() {
        let mut layers = Layers::default();
        layers
            .add_file("[drive.disturb]\nmodel = \"mlc\"\n[ftl.reclaim]\npolicy = \"rrb\"\n", "e.toml")
            .unwrap();
        lay_over(&mut layers, "redftl-plus").unwrap();
        assert_eq!(layers.text("ftl.reclaim.policy"), Some("redftl-plus"));
        layers.add_override("ftl.reclaim.policy", "baseline").unwrap();
        lay_under(&mut layers, "redftl-plus").unwrap();
        assert_eq!(layers.text("ftl.reclaim.policy"), Some("baseline"));
        assert_eq!(layers.text("drive.disturb.model"), Some("mlc"));
    }
}
