//! The state in which the drive starts: `ftl.precondition`, and what `auto` comes to.

use crate::layers::Layers;
use crate::settings;
use crate::tables::choice;
use floatgate_base::Result;
use floatgate_base::names::any_of;
use floatgate_flash::Layout;
use floatgate_ftl::{Setup, Victim, collect};
use floatgate_sim::plan::{AUTO_FILLS, Auto, AutoFill, PRECONDITIONS, Precondition};
use floatgate_sim::precondition::why_not_steady;

/// In the order of [`PRECONDITIONS`].
const ALL: [Precondition; 7] = [
    Precondition::None,
    Precondition::Sequential,
    Precondition::Random,
    Precondition::Steady,
    Precondition::Snapshot,
    Precondition::Fill,
    Precondition::Auto,
];

/// What a user writes to get it.
pub(crate) fn name(precondition: Precondition) -> &'static str {
    let row = ALL.iter().position(|&other| other == precondition).unwrap_or(0);
    PRECONDITIONS[row].0
}

/// The state where none is named: an empty drive says nothing of the years to come under a trace.
pub(crate) fn default(traced: bool) -> &'static str {
    name(if traced { Precondition::Auto } else { Precondition::None })
}

/// As asked for, or the default.
pub(crate) fn state(
    layers: &Layers,
    given: Option<&str>,
    victim: Victim,
    traced: bool,
) -> Result<Precondition> {
    let given = given.unwrap_or(default(traced));
    let row = choice(layers, "ftl.precondition", "precondition", given, PRECONDITIONS)?;
    if ALL[row] == Precondition::Steady && victim.law().is_none() {
        let expected = lawful("precondition = \"auto\", which fills at random instead");
        let what = "precondition = \"steady\" has no steady-state law for this victim policy";
        return Err(layers.error("ftl.precondition", what, expected));
    }
    Ok(ALL[row])
}

/// The victim policies that have a law, or something else.
fn lawful(or: &str) -> String {
    let lawful = collect::POLICIES.iter().map(|info| info.name);
    let lawful: Vec<_> = lawful.filter(|name| Victim::named(name).law().is_some()).collect();
    format!("expected ftl.collect.policy {}, or {or}", any_of(&lawful))
}

/// What `auto` comes to on a drive, where that is the state; `given` has its keys.
pub(crate) fn auto(
    layers: &Layers,
    given: &settings::Ftl,
    precondition: Precondition,
    (setup, layout): (&Setup, &Layout),
    traced: bool,
) -> Result<Option<Auto>> {
    if precondition != Precondition::Auto {
        return Ok(None);
    }
    let no_law = why_not_steady(setup, layout);
    let default = AUTO_FILLS[usize::from(no_law.is_some())].0;
    let fill = given.auto_fill.as_deref().unwrap_or(default);
    let row = choice(layers, "ftl.auto_fill", "auto_fill", fill, AUTO_FILLS)?;
    let fill = [AutoFill::Steady, AutoFill::Random][row];
    if let (AutoFill::Steady, Some(why)) = (fill, no_law) {
        return Err(layers.error("ftl.auto_fill", why, "expected \"random\", or no such key"));
    }
    if !traced && given.wear_in_max.is_some() {
        let what = "wear_in_max has no effect on a generator, which has no passes";
        return Err(layers.error("ftl.wear_in_max", what, "expected workload.warmup_requests instead"));
    }
    let wear_in_max = if setup.separate.foresees() {
        // Which laps there will be must be known before: the run says that there were none, and why.
        None
    } else {
        traced.then(|| given.wear_in_max())
    };
    Ok(Some(Auto { fill, no_law, wear_in_max }))
}
