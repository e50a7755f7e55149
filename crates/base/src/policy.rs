//! How a policy describes itself, and the values of its parameters in an experiment.
//!
//! A [`Slot`] holds one policy of several. The row of a policy ([`PolicyInfo`]) is the only place where its parameters
//! are written: their names, kinds, ranges and defaults. The row determines
//! - reading: the table of every slot has one type (`config::slot_table`), which rejects unknown keys;
//! - range checks, defaults, and the rejection of parameters of other policies ([`Slot::fill`]);
//! - which keys a layer of settings drops when it names another policy (`config::layers`);
//! - the resolved experiment, the JSON schema, `floatgate policies` and `docs/policies.md`;
//! - the lists of the tests (`policies.rs`, `policy_knobs.rs` and all random experiments of `crates/experiment`).
//!
//! Constraints between parameters are checked by the policy when it is constructed ([`ChosenPolicy`], [`Misfit`]).
//!
//! The slots are defined beside their policies: `ftl::collect`, `separate`, `level`, `reclaim`, `dpes` and
//! `single_policy_slots`, `host::dispatch` and `buffer`, `lifetime::throttle` and `reduce`, `nand::endurance` and
//! `disturb`, `flash::timed::scheduling`, `sim::background`.

use crate::names::{SUGGESTIONS_MAX, any_of};
pub use crate::param::{Acts, Facts, Fallback, Misfit, Need, ParamInfo, ParamKind, Range, Setting};
use std::sync::{PoisonError, RwLock};

/// A slot for one policy of several, such as `ftl.collect`.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Its table in an experiment.
    pub key: &'static str,
    /// The key of that table that selects the policy.
    pub selector: &'static str,
    /// The kind of policy, for messages: "victim policy".
    pub what: &'static str,
    /// The decision that it makes.
    pub summary: &'static str,
    /// All policies; the first is the default.
    pub policies: &'static [PolicyInfo],
    /// Parameters that every policy takes.
    pub common: &'static [ParamInfo],
    /// The modes in which it has an effect.
    pub acts: Acts,
}

/// A policy of a slot.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInfo {
    /// Value of the slot's selector.
    pub name: &'static str,
    /// What the policy does.
    pub summary: &'static str,
    /// Its source in the literature.
    pub source: &'static str,
    /// Its parameters beside the common ones of the slot.
    pub params: &'static [ParamInfo],
    /// Cost of a decision.
    pub cost: &'static str,
    /// Memory per page or per block.
    pub memory: &'static str,
}

impl PolicyInfo {
    /// Describes a policy without parameters, cost and memory.
    #[must_use]
    pub const fn plain(name: &'static str, summary: &'static str) -> Self {
        Self { name, summary, source: "-", params: &[], cost: "none", memory: "none" }
    }
}

/// Policies from outside by the key of their slot, the latest first (`floatgate-plugin`).
static ADDED: RwLock<Vec<(&'static str, &'static PolicyInfo)>> = RwLock::new(Vec::new());

impl Slot {
    /// Returns the policy with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'static PolicyInfo> {
        self.policies.iter().find(|info| info.name == name).or_else(|| {
            let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
            added.iter().find(|(key, info)| *key == self.key && info.name == name).map(|(_, info)| *info)
        })
    }

    /// Adds a policy from outside to the slot. It takes the place of one that was added under the same name: choices
    /// made before keep theirs.
    pub fn add(&self, info: &'static PolicyInfo) {
        let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
        added.retain(|(key, other)| (*key, other.name) != (self.key, info.name));
        added.insert(0, (self.key, info));
    }

    /// Removes all policies from outside from all slots; choices made before keep theirs.
    pub fn remove_added() {
        ADDED.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Lists all policies: floatgate's own, then those from outside, by name.
    #[must_use]
    pub fn all(&self) -> Vec<&'static PolicyInfo> {
        let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
        let mut added: Vec<_> =
            added.iter().filter(|(key, _)| *key == self.key).map(|(_, info)| *info).collect();
        added.sort_by_key(|info| info.name);
        self.policies.iter().chain(added).collect()
    }

    /// Returns the parameters that a policy takes.
    pub fn params_of(&self, info: &'static PolicyInfo) -> impl Iterator<Item = &'static ParamInfo> {
        self.common.iter().chain(info.params)
    }

    /// Lists every parameter of the slot once, with the policies that take it; a common one has an empty list.
    #[must_use]
    pub fn params(&self) -> Vec<(&'static ParamInfo, Vec<&'static str>)> {
        let mut params: Vec<_> = self.common.iter().map(|param| (param, Vec::new())).collect();
        for info in self.all() {
            for param in info.params {
                match params.iter_mut().find(|(other, _)| other.name == param.name) {
                    Some((_, owners)) => owners.push(info.name),
                    None => params.push((param, vec![info.name])),
                }
            }
        }
        params
    }

    /// Combines a policy with the values from an experiment, and its defaults for the rest.
    ///
    /// # Errors
    /// A parameter of another policy, or a value outside its range.
    pub fn fill(
        &self,
        info: &'static PolicyInfo,
        settings: &[(&'static str, Setting)],
        facts: &Facts,
    ) -> Result<ChosenPolicy, Misfit> {
        let foreign = settings.iter().find(|(key, _)| self.params_of(info).all(|param| param.name != *key));
        if let Some((key, value)) = foreign {
            let owners = self.params().into_iter().find(|(param, _)| param.name == *key);
            let owners = owners.map(|(_, owners)| owners).unwrap_or_default();
            let owners: Vec<_> =
                owners.iter().take(SUGGESTIONS_MAX).map(|name| format!("\"{name}\"")).collect();
            let selector = self.selector;
            let what =
                format!("{key} = {} has no effect with {selector} = \"{}\"", value.to_toml(), info.name);
            let expected = format!("expected {selector} = {}, or no {key}", any_of(&owners));
            return Err(Misfit::new(key, what, expected));
        }
        let mut values = Vec::new();
        for param in self.params_of(info) {
            let set = settings.iter().find(|(key, _)| *key == param.name).map(|(_, value)| value.clone());
            if let Some(value) = set.map(|value| param.check(value)).transpose()? {
                values.push((param.name, value));
            } else if let Some(value) = param.fallback(facts) {
                values.push((param.name, value));
            }
        }
        Ok(ChosenPolicy { info, values })
    }

    /// Combines a policy, named in code, with these values and its defaults. The value of a name is the index of its
    /// row.
    ///
    /// # Panics
    /// When no such policy exists, or it does not take the values.
    #[must_use]
    pub fn with(&self, name: &str, values: &[(&str, f64)]) -> ChosenPolicy {
        let info = self.find(name).unwrap_or_else(|| panic!("{name} is in no row of {}", self.key));
        let setting = |&(key, value): &(&str, f64)| {
            let param = self.params_of(info).find(|param| param.name == key);
            let param = param.unwrap_or_else(|| panic!("{key} is not a parameter of {name}"));
            (param.name, param.setting(value))
        };
        let values: Vec<_> = values.iter().map(setting).collect();
        self.fill(info, &values, &Facts { pe_cycles: 3000, ..Facts::default() })
            .unwrap_or_else(|e| panic!("{name}: {e:?}"))
    }
}

/// A policy with the values of its parameters, from an experiment or by default.
#[derive(Clone, Debug)]
pub struct ChosenPolicy {
    info: &'static PolicyInfo,
    values: Vec<(&'static str, Setting)>,
}

impl ChosenPolicy {
    /// Returns the policy's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.info.name
    }

    /// Returns the row of the policy.
    #[must_use]
    pub fn info(&self) -> &'static PolicyInfo {
        self.info
    }

    /// Returns the values, in the order of the table.
    #[must_use]
    pub fn values(&self) -> &[(&'static str, Setting)] {
        &self.values
    }

    fn get(&self, name: &str) -> Option<&Setting> {
        self.values.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Returns a number, if the policy has the parameter and it has a value.
    #[must_use]
    pub fn find_real(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Setting::Whole(value) => Some(*value as f64),
            Setting::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns a whole number, if the policy has the parameter and it has a value.
    #[must_use]
    pub fn find_whole(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Setting::Whole(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns a number.
    ///
    /// # Panics
    /// When the policy has no such parameter, or one without a default.
    #[must_use]
    pub fn real(&self, name: &str) -> f64 {
        self.find_real(name).unwrap_or_else(|| panic!("{} has no number {name}", self.info.name))
    }

    /// Returns a whole number of at most 32 bits.
    ///
    /// # Panics
    /// As for [`ChosenPolicy::real`].
    #[must_use]
    pub fn whole(&self, name: &str) -> u32 {
        let value = self.find_whole(name).and_then(|value| u32::try_from(value).ok());
        value.unwrap_or_else(|| panic!("{} has no whole number {name}", self.info.name))
    }

    /// Returns a list of numbers.
    ///
    /// # Panics
    /// As for [`ChosenPolicy::real`].
    #[must_use]
    pub fn numbers(&self, name: &str) -> &[f64] {
        match self.get(name) {
            Some(Setting::Numbers(list)) => list,
            _ => panic!("{} has no list {name}", self.info.name),
        }
    }

    /// Returns a column of a list of tables.
    ///
    /// # Panics
    /// As for [`ChosenPolicy::real`], or when the tables have no such column.
    #[must_use]
    pub fn column(&self, name: &str, column: &str) -> Vec<f64> {
        match self.get(name) {
            Some(Setting::Rows(rows)) => rows.iter().map(|row| row[column]).collect(),
            _ => panic!("{} has no tables {name}", self.info.name),
        }
    }

    /// Returns the names of an order, if the policy has the parameter.
    #[must_use]
    pub fn find_names(&self, name: &str) -> Option<&[String]> {
        match self.get(name)? {
            Setting::Names(list) => Some(list),
            _ => None,
        }
    }

    /// Returns a flag, if the policy has the parameter.
    #[must_use]
    pub fn find_flag(&self, name: &str) -> Option<bool> {
        match self.get(name)? {
            Setting::Flag(value) => Some(*value),
            _ => None,
        }
    }

    /// Returns a name, if the policy has the parameter.
    #[must_use]
    pub fn find_name(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Setting::Name(value) => Some(value),
            _ => None,
        }
    }

    /// Returns a name.
    ///
    /// # Panics
    /// As for [`ChosenPolicy::real`].
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.get(name) {
            Some(Setting::Name(value)) => value,
            _ => panic!("{} has no name {name}", self.info.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: ParamInfo = ParamInfo::whole("size", "what it holds", 8, (1, 64));
    const LIFE: ParamInfo = ParamInfo::whole("life", "what it takes", 0, (1, u32::MAX))
        .or_of_drive("the drive's", |facts| f64::from(facts.pe_cycles));
    const SHARE: ParamInfo = ParamInfo::within("share", "how much", 0.5, Range::SHARE_BELOW_1);
    const SCOPE: ParamInfo = ParamInfo::name("scope", "where", &[("plane", "here"), ("drive", "anywhere")]);
    const NONE: PolicyInfo = PolicyInfo::plain("none", "");
    const SLOT: Slot = Slot {
        key: "a.b",
        selector: "policy",
        what: "policy",
        summary: "",
        policies: &[
            NONE,
            PolicyInfo { name: "one", params: &[SIZE, LIFE, SHARE], ..NONE },
            PolicyInfo { name: "two", params: &[SIZE.or("all")], ..NONE },
        ],
        common: &[SCOPE],
        acts: Acts::Always,
    };

    fn fill(name: &str, settings: &[(&'static str, Setting)]) -> Result<ChosenPolicy, String> {
        let facts = Facts { pe_cycles: 77, ..Facts::default() };
        SLOT.fill(SLOT.find(name).unwrap(), settings, &facts)
            .map_err(|e| format!("{}; {}", e.what, e.expected))
    }

    #[test]
    fn missing_values_are_the_defaults() {
        let one = fill("one", &[("size", 3.into())]).unwrap();
        assert_eq!((one.whole("size"), one.whole("life"), one.real("share")), (3, 77, 0.5));
        assert_eq!(one.text("scope"), "plane");
        let two = fill("two", &[]).unwrap();
        assert_eq!((two.find_whole("size"), two.find_real("share")), (None, None));
    }

    #[test]
    fn values_outside_their_range_and_foreign_ones_are_refused() {
        let refused =
            |name: &str, key: &'static str, value: Setting| fill(name, &[(key, value)]).unwrap_err();
        assert_eq!(refused("one", "size", 65.into()), "size is 65; expected a whole number from 1 to 64");
        assert_eq!(
            refused("one", "share", 1.0.into()),
            "share is 1; expected a number from 0 up to but not 1"
        );
        assert_eq!(
            refused("none", "scope", Setting::Name("die".into())),
            "unknown scope 'die'; expected one of 'plane', 'drive'"
        );
        assert_eq!(
            refused("none", "size", 3.into()),
            "size = 3 has no effect with policy = \"none\"; expected policy = \"one\" or \"two\", or no size"
        );
    }

    #[test]
    fn ranges_in_words() {
        let words =
            |least, most, above_least, below_most| Range { least, most, above_least, below_most }.words();
        assert_eq!(words(0.0, f64::INFINITY, true, false), "a number greater than 0");
        assert_eq!(words(0.0, 100.0, true, false), "a number greater than 0, up to 100");
        assert_eq!(words(0.0, 1.0, true, true), "a number between 0 and 1");
        assert!(!Range::FROM_0.contains(f64::INFINITY) && !Range::SHARE.contains(f64::NAN));
        assert_eq!(SIZE.described(), "what it holds; default 8");
        assert_eq!(LIFE.described(), "what it takes; default: the drive's");
    }
}
