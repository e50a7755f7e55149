//! The policies that this process has loaded: checked against the contract, kept until it ends.

use crate::contract::{self, FAILED, Kind, Order, PARAMS_MAX, Policy, STREAMS_MAX, VERSION};
use floatgate_base::{ChosenPolicy, ParamInfo, PolicyInfo, Slot};
use std::ffi::{CStr, c_char};
use std::fmt;
use std::sync::{Mutex, PoisonError, RwLock};

/// The parameter of epochs that borrow from later ones.
const SPARE_SHARE: &str = "spare_share";

/// All loaded policies, the latest last.
static LOADED: RwLock<Vec<&'static Plugin>> = RwLock::new(Vec::new());

/// The slots that take policies from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotKind {
    /// Victim policies, `ftl.collect`.
    Victim,
    /// Separators, `ftl.separate`.
    Separator,
    /// Wear-levelers, `ftl.level`.
    Leveler,
    /// Throttles, `lifetime.throttle`.
    Throttle,
}

impl SlotKind {
    const ALL: [Self; 4] = [Self::Victim, Self::Separator, Self::Leveler, Self::Throttle];

    /// Returns the slot with this key; none if it takes no policies from outside.
    #[must_use]
    pub fn of(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.slot() == key)
    }

    /// Returns its policies in words.
    #[must_use]
    pub fn what(self) -> &'static str {
        match self {
            Self::Victim => "victim policy",
            Self::Separator => "separator",
            Self::Leveler => "wear-leveler",
            Self::Throttle => "throttle",
        }
    }

    /// Returns the key of the slot.
    #[must_use]
    pub fn slot(self) -> &'static str {
        match self {
            Self::Victim => "ftl.collect",
            Self::Separator => "ftl.separate",
            Self::Leveler => "ftl.level",
            Self::Throttle => "lifetime.throttle",
        }
    }
}

/// A policy from outside.
pub struct Plugin {
    /// Its row, which its slot lists.
    pub info: &'static PolicyInfo,
    /// Its slot.
    pub kind: SlotKind,
    /// For victim policies.
    pub order: Order,
    /// Its functions and needs.
    pub policy: Policy,
    /// Parameters at the beginning of its row that all policies of its slot share, and that it does not see.
    shared: usize,
    /// The hash of its file: a drive continues under the same code only.
    pub sha256: String,
    /// Sets of parameters in use, each kept once.
    values: Mutex<Vec<&'static [f64]>>,
}

// SAFETY: pointers in `policy` lead to texts and functions that live as long as the process and never change
// (contract); the policy promises that its functions may be called from any thread.
unsafe impl Send for Plugin {}
// SAFETY: as above; all else is immutable or behind a lock.
unsafe impl Sync for Plugin {}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.info.name, self.sha256)
    }
}

/// Why a policy is refused: the fact, and what was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The fact.
    pub what: String,
    /// What was expected.
    pub expected: String,
}

fn refused<T>(what: impl Into<String>, expected: impl Into<String>) -> Result<T, Refused> {
    Err(Refused { what: what.into(), expected: expected.into() })
}

impl Plugin {
    /// Returns the loaded policy of a row; none if the row is floatgate's own.
    #[must_use]
    pub fn of(info: &'static PolicyInfo) -> Option<&'static Self> {
        let loaded = LOADED.read().unwrap_or_else(PoisonError::into_inner);
        loaded.iter().copied().find(|plugin| std::ptr::eq(plugin.info, info))
    }

    /// Returns the policy that a file describes.
    #[must_use]
    pub fn find(kind: SlotKind, name: &str, sha256: &str) -> Option<&'static Self> {
        let loaded = LOADED.read().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |plugin: &&&Self| plugin.kind == kind && plugin.info.name == name && plugin.sha256 == sha256;
        loaded.iter().find(is_it).copied()
    }

    /// Returns its name and the hash of its file, as an experiment keeps them.
    #[must_use]
    pub fn code(&self) -> String {
        format!("{} {}", self.info.name, self.sha256)
    }

    /// Returns the values of the parameters in their order, as the policy takes them.
    #[must_use]
    pub fn values(&self, settings: &ChosenPolicy) -> &'static [f64] {
        let value = |param: &ParamInfo| match settings.find_flag(param.name) {
            Some(flag) => f64::from(u8::from(flag)),
            None => settings.real(param.name),
        };
        self.kept(self.own_params().iter().map(value).collect())
    }

    /// Returns the parameters that the policy declares.
    #[must_use]
    pub fn own_params(&self) -> &'static [ParamInfo] {
        &self.info.params[self.shared..]
    }

    /// Keeps a set of values for the life of the process, each set once.
    #[must_use]
    pub fn kept(&self, values: Vec<f64>) -> &'static [f64] {
        let mut sets = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |set: &&&[f64]| set.iter().map(|v| v.to_bits()).eq(values.iter().map(|v| v.to_bits()));
        if let Some(set) = sets.iter().find(same) {
            return set;
        }
        let set: &'static [f64] = values.leak();
        sets.push(set);
        set
    }

    /// Returns the number of streams of a separator with these values.
    ///
    /// # Errors
    /// The policy fails, or states a number outside the range.
    pub fn streams(&self, values: &[f64]) -> Result<u32, Refused> {
        // SAFETY: `load` has checked that a separator has the function; values has the length that it expects.
        let streams = self.policy.streams.map_or(1, |streams| unsafe { streams(values.as_ptr()) });
        if streams == FAILED {
            return refused(self.failed("streams", "before the run"), "expected a number of streams");
        }
        if !(1..=STREAMS_MAX).contains(&streams) {
            let what = format!("{}: {streams} streams", self.info.name);
            return refused(what, format!("expected 1 to {STREAMS_MAX} streams"));
        }
        Ok(streams)
    }

    /// Describes a failed call: policy, function, state of the drive, and the reason if the policy has one.
    #[must_use]
    pub fn failed(&self, function: &str, when: &str) -> String {
        // SAFETY: the policy promises a text that lasts until the next call.
        let why = self.policy.explain.and_then(|explain| text(unsafe { explain() }).ok());
        let why = why.filter(|why| !why.is_empty()).map_or_else(String::new, |why| format!(": {why}"));
        format!("policy '{}' failed in {function}, {when}{why}", self.info.name)
    }
}

/// A policy that an experiment has chosen, with the values of its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Chosen {
    /// The policy.
    pub plugin: &'static Plugin,
    /// The values of the parameters that it declares; each set of them is kept once.
    pub values: &'static [f64],
}

impl PartialEq for Chosen {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.plugin, other.plugin) && std::ptr::eq(self.values, other.values)
    }
}

impl Eq for Chosen {}

impl Chosen {
    /// Returns the choice of a slot, if it is a policy from outside.
    #[must_use]
    pub fn of(settings: &ChosenPolicy, kind: SlotKind) -> Option<Self> {
        let plugin = Plugin::of(settings.info()).filter(|plugin| plugin.kind == kind)?;
        Some(Self { plugin, values: plugin.values(settings) })
    }
}

/// Checks whether a policy with this name and hash is loaded, as [`Plugin::code`] writes them.
#[must_use]
pub fn is_loaded(code: &str) -> bool {
    let loaded = LOADED.read().unwrap_or_else(PoisonError::into_inner);
    loaded.iter().any(|plugin| plugin.code() == code)
}

/// Checks a policy and adds it to its slot. One that was loaded under the same name before gives way to it.
///
/// # Errors
/// The policy breaks the contract, or has the name of a policy of floatgate.
///
/// # Safety
/// `policy` is null or points to at least eight bytes; if its version is [`VERSION`], to a [`Policy`] of the size that
/// it states, whose texts, tables and functions live as long as the process.
pub unsafe fn load(
    policy: *const Policy,
    sha256: &str,
    slot_of: impl Fn(&str) -> Option<&'static Slot>,
) -> Result<&'static Plugin, Refused> {
    if policy.is_null() {
        return refused("it has no policy", "expected a policy of the contract");
    }
    // SAFETY: both words lie in the eight bytes that the caller promises.
    let (version, size) =
        unsafe { ((&raw const (*policy).version).read(), (&raw const (*policy).size).read()) };
    if version != VERSION {
        let expected = format!("expected version {VERSION}: build it with the header of this floatgate");
        return refused(format!("it is of version {version} of the contract"), expected);
    }
    if size as usize != size_of::<Policy>() {
        let expected =
            format!("expected {}: build it with the header of this floatgate", size_of::<Policy>());
        return refused(format!("its description has {size} bytes"), expected);
    }
    // SAFETY: the caller promises a policy of this size.
    let policy = unsafe { *policy };
    let slot_key = text(policy.slot).map_err(|what| unreadable("slot", what))?;
    let kind = SlotKind::of(&slot_key);
    let (Some(kind), Some(slot)) = (kind, slot_of(&slot_key)) else {
        let keys = SlotKind::ALL.map(|kind| format!("'{}'", kind.slot()));
        return refused(format!("its slot is '{slot_key}'"), format!("expected one of {}", keys.join(", ")));
    };
    let shared = shared_params(kind, slot, policy.needs);
    let number_shared = shared.len();
    let info = row(&policy, slot, shared)?;
    complete(&policy, kind)?;
    let order = order(policy.order)?;
    let plugin = Plugin {
        info: Box::leak(Box::new(info)),
        kind,
        order,
        policy,
        shared: number_shared,
        sha256: sha256.into(),
        values: Mutex::default(),
    };
    let plugin: &'static Plugin = Box::leak(Box::new(plugin));
    LOADED.write().unwrap_or_else(PoisonError::into_inner).push(plugin);
    slot.add(plugin.info);
    Ok(plugin)
}

/// Returns the parameters that the mechanism of a slot takes whatever its policy: those of planning, for a throttle.
fn shared_params(kind: SlotKind, slot: &'static Slot, needs: u32) -> Vec<ParamInfo> {
    if kind != SlotKind::Throttle {
        return vec![];
    }
    let borrows = needs & contract::needs::BORROWING != 0;
    let acts = |param: &ParamInfo| param.shared && (borrows || param.name != SPARE_SHARE);
    slot.params().into_iter().map(|(param, _)| *param).filter(acts).collect()
}

/// Reads the row of a policy.
fn row(policy: &Policy, slot: &'static Slot, shared: Vec<ParamInfo>) -> Result<PolicyInfo, Refused> {
    let name = text(policy.name).map_err(|what| unreadable("name", what))?;
    if !is_name(&name, '-') {
        return refused(format!("its name is '{name}'"), "expected letters a to z, digits and dashes");
    }
    if slot.policies.iter().any(|info| info.name == name) {
        let expected = format!("expected a name that no {} of floatgate has", slot.what);
        return refused(format!("its name is '{name}', which floatgate has"), expected);
    }
    let summary = text(policy.summary).map_err(|what| unreadable("summary", what))?;
    let source = text(policy.source).map_err(|what| unreadable("source", what))?;
    if policy.params_len > PARAMS_MAX || policy.params_len > 0 && policy.params.is_null() {
        let what = format!("it has {} parameters", policy.params_len);
        return refused(what, format!("expected a table of at most {PARAMS_MAX}"));
    }
    let mut params = shared;
    for number in 0..policy.params_len as usize {
        // SAFETY: the policy states so many.
        let param = param(unsafe { &*policy.params.add(number) })?;
        if slot.common.iter().chain(&params).any(|other| other.name == param.name) {
            let what = format!("its parameter '{}' is there twice", param.name);
            return refused(what, format!("expected a name that no other key of {} has", slot.key));
        }
        must_be_alike(&param, slot)?;
        params.push(param);
    }
    Ok(PolicyInfo {
        name: name.leak(),
        summary: summary.leak(),
        source: source.leak(),
        params: params.leak(),
        cost: "a call from outside",
        memory: "its own",
    })
}

fn param(param: &contract::Param) -> Result<ParamInfo, Refused> {
    let name = text(param.name).map_err(|what| unreadable("parameter", what))?;
    let summary = text(param.summary).map_err(|what| unreadable(&name, what))?;
    if !is_name(&name, '_') {
        return refused(format!("its parameter '{name}'"), "expected letters a to z, digits and underscores");
    }
    let (name, summary): (&'static str, &'static str) = (name.leak(), summary.leak());
    let (value, least, most) = (param.value, param.least, param.most);
    let is_whole = |value: f64| value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&value);
    let in_order = least <= value && value <= most && least.is_finite();
    let info = if param.kind == Kind::Whole as u32
        && in_order
        && [value, least, most].into_iter().all(is_whole)
    {
        ParamInfo::whole(name, summary, value as u32, (least as u32, most as u32))
    } else if param.kind == Kind::Real as u32 && in_order {
        ParamInfo::real(name, summary, value, (least, most))
    } else if param.kind == Kind::Flag as u32 && (value == 0.0 || value == 1.0) {
        ParamInfo::flag(name, summary, value == 1.0)
    } else {
        let what =
            format!("its parameter '{name}' is {value}, from {least} to {most}, of kind {}", param.kind);
        return refused(what, "expected a default within its range, of kind 0 (whole), 1 (real) or 2 (flag)");
    };
    Ok(info)
}

/// Refuses a parameter that has the name of another policy's of the slot, but is of another kind: an experiment is read
/// before its policies are known.
fn must_be_alike(param: &ParamInfo, slot: &'static Slot) -> Result<(), Refused> {
    let is_of_kind = |kind| std::mem::discriminant(&kind) == std::mem::discriminant(&param.kind);
    let other =
        slot.params().into_iter().find(|(other, _)| other.name == param.name && !is_of_kind(other.kind));
    match other {
        Some((other, owners)) => refused(
            format!("its parameter '{}' is {}", param.name, param.range_words()),
            format!("expected {}, as of '{}', or another name", other.range_words(), owners.join("', '")),
        ),
        None => Ok(()),
    }
}

/// Checks that the functions which a slot requires are there.
fn complete(policy: &Policy, kind: SlotKind) -> Result<(), Refused> {
    let required = match kind {
        SlotKind::Victim => vec![("pick", policy.pick.is_some())],
        SlotKind::Separator => vec![
            ("streams", policy.streams.is_some()),
            ("write", policy.write.is_some()),
            ("move_stream", policy.move_stream.is_some()),
        ],
        SlotKind::Leveler => vec![("review' or 'job", policy.review.is_some() || policy.job.is_some())],
        SlotKind::Throttle => vec![("delay", policy.delay.is_some())],
    };
    match required.into_iter().find(|(_, is_there)| !is_there) {
        Some((name, _)) => {
            refused(format!("it has no function '{name}'"), "expected one: its slot requires it")
        }
        None => Ok(()),
    }
}

fn order(number: u32) -> Result<Order, Refused> {
    let all = [Order::Any, Order::Closing, Order::Valid, Order::ValidAndAge, Order::ValidAndIdleAge];
    match all.into_iter().find(|order| *order as u32 == number) {
        Some(order) => Ok(order),
        None => refused(format!("its order is {number}"), "expected 0 to 4"),
    }
}

fn is_name(name: &str, joint: char) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == joint;
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(inner) && name.len() <= 64
}

fn unreadable(what: &str, why: String) -> Refused {
    Refused {
        what: format!("its {what}: {why}"),
        expected: "expected a text in UTF-8 that ends with 0".into(),
    }
}

/// Reads a text of the contract.
fn text(text: *const c_char) -> Result<String, String> {
    if text.is_null() {
        return Err("it is missing".into());
    }
    // SAFETY: the policy promises a text that ends with 0.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Into::into).map_err(|_| "it is not UTF-8".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Blocks, Param};
    use floatgate_base::Acts;
    use std::ptr::null;

    static SLOT: Slot = Slot {
        key: "ftl.collect",
        selector: "policy",
        what: "victim policy",
        summary: "",
        policies: &[PolicyInfo {
            params: &[ParamInfo::whole("window", "-", 4, (1, 9))],
            ..PolicyInfo::plain("greedy", "-")
        }],
        common: &[ParamInfo::flag("common", "-", false)],
        acts: Acts::Always,
    };

    unsafe extern "C" fn first(blocks: *const Blocks, _: *const f64) -> u32 {
        // SAFETY: a test passes blocks.
        unsafe { (*blocks).first }
    }

    fn policy(name: &'static CStr) -> Policy {
        Policy {
            slot: c"ftl.collect".as_ptr(),
            name: name.as_ptr(),
            summary: c"one of a test".as_ptr(),
            source: c"-".as_ptr(),
            order: Order::Closing as u32,
            pick: Some(first),
            ..Policy::EMPTY
        }
    }

    fn load_of(policy: &Policy) -> Result<&'static Plugin, Refused> {
        // SAFETY: texts and functions of tests are static; the policy itself is copied.
        unsafe { load(policy, "hash", |key| (key == SLOT.key).then_some(&SLOT)) }
    }

    fn refusal(change: impl Fn(&mut Policy)) -> String {
        let mut one = policy(c"own");
        change(&mut one);
        load_of(&one).expect_err("the policy breaks the contract").what
    }

    #[test]
    fn a_policy_becomes_a_row_and_gives_way_to_another_one_of_its_name() {
        let before = load_of(&policy(c"own-row")).expect("the policy is sound");
        assert!(std::ptr::eq(SLOT.find("own-row").expect("it is there"), before.info));
        let after = load_of(&policy(c"own-row")).expect("the policy is sound");
        assert!(std::ptr::eq(SLOT.find("own-row").expect("it is there"), after.info));
        assert!(std::ptr::eq(Plugin::of(before.info).expect("choices keep theirs"), before));
        assert_eq!(SLOT.all().iter().filter(|info| info.name == "own-row").count(), 1);
    }

    #[test]
    fn policies_that_break_the_contract_are_refused() {
        assert_eq!(refusal(|p| p.version = 2), "it is of version 2 of the contract");
        assert_eq!(refusal(|p| p.size = 8), "its description has 8 bytes");
        assert_eq!(refusal(|p| p.slot = c"ftl.map".as_ptr()), "its slot is 'ftl.map'");
        assert_eq!(refusal(|p| p.slot = c"ftl.separate".as_ptr()), "its slot is 'ftl.separate'");
        assert_eq!(refusal(|p| p.slot = null()), "its slot: it is missing");
        assert_eq!(refusal(|p| p.name = c"Own".as_ptr()), "its name is 'Own'");
        assert_eq!(refusal(|p| p.name = c"greedy".as_ptr()), "its name is 'greedy', which floatgate has");
        assert_eq!(refusal(|p| p.name = c"\xff".as_ptr()), "its name: it is not UTF-8");
        assert_eq!(refusal(|p| p.pick = None), "it has no function 'pick'");
        assert_eq!(refusal(|p| p.order = 9), "its order is 9");
        assert_eq!(refusal(|p| p.params_len = 1), "it has 1 parameters");
        // SAFETY: null is allowed.
        let none = unsafe { load(null(), "hash", |_| None) };
        assert_eq!(none.expect_err("null is no policy").what, "it has no policy");
    }

    #[test]
    fn parameters_have_to_be_sound() {
        let param = |name: &'static CStr, kind: u32, value: f64, (least, most): (f64, f64)| Param {
            name: name.as_ptr(),
            summary: c"-".as_ptr(),
            kind,
            reserved: 0,
            value,
            least,
            most,
        };
        let refusal =
            |params: &[Param]| refusal(|p| (p.params, p.params_len) = (params.as_ptr(), params.len() as u32));
        let sound = param(c"k", 0, 3.0, (1.0, 9.0));
        assert_eq!(refusal(&[sound, sound]), "its parameter 'k' is there twice");
        assert_eq!(refusal(&[param(c"common", 2, 0.0, (0.0, 1.0))]), "its parameter 'common' is there twice");
        assert_eq!(refusal(&[param(c"K", 0, 3.0, (1.0, 9.0))]), "its parameter 'K'");
        assert_eq!(
            refusal(&[param(c"window", 1, 0.5, (0.0, 1.0))]),
            "its parameter 'window' is a number from 0 to 1"
        );
        for (kind, value, range) in [
            (0, 0.0, (1.0, 9.0)),
            (0, 2.5, (1.0, 9.0)),
            (1, f64::NAN, (1.0, 9.0)),
            (2, 2.0, (0.0, 1.0)),
            (3, 2.0, (0.0, 9.0)),
        ] {
            let what = refusal(&[param(c"k", kind, value, range)]);
            assert!(what.starts_with("its parameter 'k' is "), "{what}");
        }
    }

    #[test]
    fn sets_of_values_are_kept_once() {
        let plugin = load_of(&policy(c"own-values")).expect("the policy is sound");
        let first = plugin.kept(vec![1.0, 2.0]);
        assert!(std::ptr::eq(first, plugin.kept(vec![1.0, 2.0])));
        assert!(!std::ptr::eq(first, plugin.kept(vec![1.0, -2.0])));
    }
}
