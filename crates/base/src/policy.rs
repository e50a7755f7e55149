//! How a policy describes itself, and the values that an experiment gives to its parameters.
//!
//! A [`Slot`] is a place for one policy of several. The row of a policy ([`PolicyInfo`]) is the only place where its
//! parameters are written: their names, kinds, ranges and defaults. Reading, checks, the schema, `floatgate policies`,
//! the docs and the lists of the tests follow from it.

/// A place for one policy of several, such as `ftl.collect`.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    /// Its table in an experiment.
    pub key: &'static str,
    /// The key of that table that names the policy.
    pub selector: &'static str,
    /// What stands in it, for messages: "victim policy".
    pub what: &'static str,
    /// What it decides.
    pub summary: &'static str,
    /// All policies; the first is the default.
    pub policies: &'static [PolicyInfo],
    /// Parameters that every policy takes.
    pub common: &'static [ParamInfo],
}

/// A policy of a slot.
#[derive(Clone, Copy, Debug)]
pub struct PolicyInfo {
    /// Value of the slot's selector.
    pub name: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters beside those that every policy of the slot takes.
    pub params: &'static [ParamInfo],
    /// Cost of a decision.
    pub cost: &'static str,
    /// Memory that it needs, per page or per block.
    pub memory: &'static str,
}

impl PolicyInfo {
    /// The row of a policy that does nothing of note, and so has no parameters and costs nothing.
    #[must_use]
    pub const fn plain(name: &'static str, summary: &'static str) -> Self {
        Self { name, summary, source: "-", params: &[], cost: "none", memory: "none" }
    }
}

/// A parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// Key in the slot's table.
    pub name: &'static str,
    /// What it means, and its unit.
    pub summary: &'static str,
    /// What it may be.
    pub kind: ParamKind,
    /// What it is where it is not given.
    pub default: Fallback,
    /// Whether it means the same under each policy that has it, so that a file's value stays when another one of them is
    /// chosen over it.
    pub shared: bool,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// A whole number.
    Whole {
        /// The least value.
        least: u64,
        /// The largest value.
        most: u64,
    },
    /// A number.
    Number(Range),
    /// One of these names, each with what it means.
    Name(&'static [(&'static str, &'static str)]),
}

/// A range of finite numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub least: f64,
    /// The upper end; infinite for none.
    pub most: f64,
    /// Whether the lower end itself is left out.
    pub above_least: bool,
    /// Whether the upper end itself is left out.
    pub below_most: bool,
}

/// What a parameter is where it is not given.
#[derive(Clone, Copy, Debug)]
pub enum Fallback {
    /// A number, or of a [`ParamKind::Name`] the number of its row.
    Value(f64),
    /// What follows from the drive, in words and as a value.
    Drive(&'static str, fn(&Facts) -> f64),
    /// Nothing: the code that uses the parameter knows what to do, in these words.
    Absent(&'static str),
}

/// What defaults may follow from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Nominal program/erase cycles of a block.
    pub pe_cycles: u32,
    /// Whether collection goes along with host writes where nothing else is said.
    pub incremental: bool,
}

/// A value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A whole number.
    Whole(u64),
    /// A number.
    Number(f64),
    /// A name.
    Name(String),
}

/// What is wrong with a value: the parameter, what is wrong, what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// The parameter at fault.
    pub param: &'static str,
    /// What is wrong.
    pub what: String,
    /// What was expected.
    pub expected: String,
}

impl Misfit {
    /// With what is wrong and what was expected.
    #[must_use]
    pub fn new(param: &'static str, what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { param, what: what.into(), expected: expected.into() }
    }
}

impl Range {
    /// From `least` to `most`.
    #[must_use]
    pub const fn closed(least: f64, most: f64) -> Self {
        Self { least, most, above_least: false, below_most: false }
    }

    /// From 0.
    pub const FROM_0: Self = Self::closed(0.0, f64::INFINITY);
    /// Greater than 0.
    pub const ABOVE_0: Self = Self { above_least: true, ..Self::FROM_0 };
    /// A share: from 0 to 1.
    pub const SHARE: Self = Self::closed(0.0, 1.0);
    /// A share of less than all.
    pub const SHARE_BELOW_1: Self = Self { below_most: true, ..Self::SHARE };
    /// A share of something, but not of all.
    pub const SHARE_BETWEEN: Self = Self { above_least: true, ..Self::SHARE_BELOW_1 };

    /// Whether a number lies in it.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        let from = if self.above_least { value > self.least } else { value >= self.least };
        let to = if self.below_most { value < self.most } else { value <= self.most };
        value.is_finite() && from && to
    }

    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        let from = if self.above_least { "greater than" } else { "from" };
        let (least, most) = (self.least, self.most);
        match (most.is_infinite(), self.above_least, self.below_most) {
            (true, ..) => format!("a number {from} {least}"),
            (false, false, false) => format!("a number from {least} to {most}"),
            (false, true, true) => format!("a number between {least} and {most}"),
            (false, false, true) => format!("a number from {least} up to but not {most}"),
            (false, true, false) => format!("a number greater than {least}, up to {most}"),
        }
    }
}

impl ParamInfo {
    const fn new(name: &'static str, summary: &'static str, kind: ParamKind, default: Fallback) -> Self {
        Self { name, summary, kind, default, shared: false }
    }

    /// A whole number from `least` to `most`.
    #[must_use]
    pub const fn whole(
        name: &'static str,
        summary: &'static str,
        default: u32,
        (least, most): (u32, u32),
    ) -> Self {
        let kind = ParamKind::Whole { least: least as u64, most: most as u64 };
        Self::new(name, summary, kind, Fallback::Value(default as f64))
    }

    /// A whole number of up to 64 bits, from `least`.
    #[must_use]
    pub const fn count(name: &'static str, summary: &'static str, least: u64) -> Self {
        let kind = ParamKind::Whole { least, most: u64::MAX };
        Self::new(name, summary, kind, Fallback::Value(least as f64))
    }

    /// A number from `least` to `most`.
    #[must_use]
    pub const fn real(
        name: &'static str,
        summary: &'static str,
        default: f64,
        (least, most): (f64, f64),
    ) -> Self {
        Self::within(name, summary, default, Range::closed(least, most))
    }

    /// A number of a range.
    #[must_use]
    pub const fn within(name: &'static str, summary: &'static str, default: f64, range: Range) -> Self {
        Self::new(name, summary, ParamKind::Number(range), Fallback::Value(default))
    }

    /// One of several names, the first by default.
    #[must_use]
    pub const fn name(
        name: &'static str,
        summary: &'static str,
        names: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self::new(name, summary, ParamKind::Name(names), Fallback::Value(0.0))
    }

    /// The same with a default that follows from the drive, as `words` say.
    #[must_use]
    pub const fn or_of_drive(self, words: &'static str, of: fn(&Facts) -> f64) -> Self {
        Self { default: Fallback::Drive(words, of), ..self }
    }

    /// The same without a default: where it is not given, happens what `words` say.
    #[must_use]
    pub const fn or(self, words: &'static str) -> Self {
        Self { default: Fallback::Absent(words), ..self }
    }

    /// The same, as one that means the same under each policy that has it.
    #[must_use]
    pub const fn shared(self) -> Self {
        Self { shared: true, ..self }
    }

    /// The default in words: a value, or what it follows from.
    #[must_use]
    pub fn default_words(&self) -> String {
        match (self.default, self.kind) {
            (Fallback::Value(row), ParamKind::Name(names)) => names[row as usize].0.into(),
            (Fallback::Value(value), _) => value.to_string(),
            (Fallback::Drive(words, _) | Fallback::Absent(words), _) => words.into(),
        }
    }

    /// What it means, with its default.
    #[must_use]
    pub fn described(&self) -> String {
        let colon = if matches!(self.default, Fallback::Value(_)) { "" } else { ":" };
        format!("{}; default{colon} {}", self.summary, self.default_words())
    }

    /// What values it takes, in words.
    #[must_use]
    pub fn range_words(&self) -> String {
        match self.kind {
            ParamKind::Whole { least, most: u64::MAX } => format!("a whole number from {least}"),
            ParamKind::Whole { least, most } => format!("a whole number from {least} to {most}"),
            ParamKind::Number(range) => range.words(),
            ParamKind::Name(names) => {
                let names: Vec<_> = names.iter().map(|(name, _)| format!("'{name}'")).collect();
                format!("one of {}", names.join(", "))
            }
        }
    }

    /// The value where none is given.
    #[must_use]
    pub fn fallback(&self, facts: &Facts) -> Option<Setting> {
        let value = match self.default {
            Fallback::Value(value) => value,
            Fallback::Drive(_, of) => of(facts),
            Fallback::Absent(_) => return None,
        };
        Some(self.setting(value))
    }

    /// A number as a value of its kind; of a name, that of its row.
    #[must_use]
    pub fn setting(&self, value: f64) -> Setting {
        match self.kind {
            ParamKind::Whole { .. } => Setting::Whole(value as u64),
            ParamKind::Number(_) => Setting::Number(value),
            ParamKind::Name(names) => Setting::Name(names[value as usize].0.into()),
        }
    }

    /// Whether a value is of its kind and in its range.
    #[must_use]
    pub fn takes(&self, value: &Setting) -> bool {
        match (self.kind, value) {
            (ParamKind::Whole { least, most }, Setting::Whole(value)) => (least..=most).contains(value),
            (ParamKind::Number(range), Setting::Number(value)) => range.contains(*value),
            (ParamKind::Name(names), Setting::Name(value)) => names.iter().any(|(name, _)| name == value),
            _ => false,
        }
    }

    fn check(&self, value: Setting) -> Result<Setting, Misfit> {
        if self.takes(&value) {
            return Ok(value);
        }
        let what = match &value {
            Setting::Whole(value) => format!("{} is {value}", self.name),
            Setting::Number(value) => format!("{} is {value}", self.name),
            Setting::Name(value) => {
                format!("unknown {} {}", self.name, crate::error::quote(value.as_bytes()))
            }
        };
        Err(Misfit::new(self.name, what, format!("expected {}", self.range_words())))
    }
}

impl Slot {
    /// The policy of a name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'static PolicyInfo> {
        self.policies.iter().find(|info| info.name == name)
    }

    /// The parameters that a policy takes.
    pub fn params_of(&self, info: &'static PolicyInfo) -> impl Iterator<Item = &'static ParamInfo> {
        self.common.iter().chain(info.params)
    }

    /// Every parameter of the slot, each name once, with the policies that have it; none for a common one.
    #[must_use]
    pub fn params(&self) -> Vec<(&'static ParamInfo, Vec<&'static str>)> {
        let mut found: Vec<_> = self.common.iter().map(|param| (param, Vec::new())).collect();
        for info in self.policies {
            for param in info.params {
                match found.iter_mut().find(|(other, _)| other.name == param.name) {
                    Some((_, owners)) => owners.push(info.name),
                    None => found.push((param, vec![info.name])),
                }
            }
        }
        found
    }

    /// A policy with the values that are given, and its defaults for the rest.
    ///
    /// # Errors
    /// A parameter of another policy, or a value outside its range.
    pub fn fill(
        &self,
        info: &'static PolicyInfo,
        given: &[(&'static str, Setting)],
        facts: &Facts,
    ) -> Result<Given, Misfit> {
        let foreign = given.iter().find(|(key, _)| self.params_of(info).all(|param| param.name != *key));
        if let Some((key, _)) = foreign {
            let owners = self.params().into_iter().find(|(param, _)| param.name == *key);
            let owners = owners.map(|(_, owners)| owners.join(", ")).unwrap_or_default();
            let what = format!("{key} is no parameter of {}", info.name);
            return Err(Misfit::new(key, what, format!("expected it with {owners} only")));
        }
        let mut values = Vec::new();
        for param in self.params_of(info) {
            let set = given.iter().find(|(key, _)| *key == param.name).map(|(_, value)| value.clone());
            if let Some(value) = set.map(|value| param.check(value)).transpose()? {
                values.push((param.name, value));
            } else if let Some(value) = param.fallback(facts) {
                values.push((param.name, value));
            }
        }
        Ok(Given { info, values })
    }

    /// A policy with these values and defaults for the rest, where code names one: of a name its row.
    ///
    /// # Panics
    /// When there is no such policy, or it does not take the values.
    #[must_use]
    pub fn with(&self, name: &str, values: &[(&str, f64)]) -> Given {
        let info = self.find(name).unwrap_or_else(|| panic!("{name} is in no row of {}", self.key));
        let setting = |&(key, value): &(&str, f64)| {
            let param = self.params_of(info).find(|param| param.name == key);
            let param = param.unwrap_or_else(|| panic!("{key} is no parameter of {name}"));
            (param.name, param.setting(value))
        };
        let values: Vec<_> = values.iter().map(setting).collect();
        self.fill(info, &values, &Facts { pe_cycles: 3000, incremental: false })
            .unwrap_or_else(|e| panic!("{name}: {e:?}"))
    }
}

impl From<u32> for Setting {
    fn from(value: u32) -> Self {
        Self::Whole(value.into())
    }
}

impl From<f64> for Setting {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

/// A policy with a value for each of its parameters that has one: those that were given, and defaults.
#[derive(Clone, Debug)]
pub struct Given {
    info: &'static PolicyInfo,
    values: Vec<(&'static str, Setting)>,
}

impl Given {
    /// The policy's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.info.name
    }

    /// The values, in the order of the table.
    #[must_use]
    pub fn values(&self) -> &[(&'static str, Setting)] {
        &self.values
    }

    fn get(&self, name: &str) -> Option<&Setting> {
        self.values.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// A number, if the policy has the parameter and it has a value.
    #[must_use]
    pub fn find_real(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Setting::Whole(value) => Some(*value as f64),
            Setting::Number(value) => Some(*value),
            Setting::Name(_) => None,
        }
    }

    /// A whole number, likewise.
    #[must_use]
    pub fn find_whole(&self, name: &str) -> Option<u64> {
        match self.get(name)? {
            Setting::Whole(value) => Some(*value),
            _ => None,
        }
    }

    /// A number.
    ///
    /// # Panics
    /// When the policy has no such parameter with a default.
    #[must_use]
    pub fn real(&self, name: &str) -> f64 {
        self.find_real(name).unwrap_or_else(|| panic!("{} has no number {name}", self.info.name))
    }

    /// A whole number of at most 32 bits.
    ///
    /// # Panics
    /// As [`Given::real`].
    #[must_use]
    pub fn whole(&self, name: &str) -> u32 {
        let value = self.find_whole(name).and_then(|value| u32::try_from(value).ok());
        value.unwrap_or_else(|| panic!("{} has no whole number {name}", self.info.name))
    }

    /// A name.
    ///
    /// # Panics
    /// As [`Given::real`].
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
    };

    fn fill(name: &str, given: &[(&'static str, Setting)]) -> Result<Given, String> {
        let facts = Facts { pe_cycles: 77, incremental: false };
        SLOT.fill(SLOT.find(name).unwrap(), given, &facts).map_err(|e| format!("{}; {}", e.what, e.expected))
    }

    #[test]
    fn what_is_not_given_is_the_default() {
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
            "size is no parameter of none; expected it with one, two only"
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
