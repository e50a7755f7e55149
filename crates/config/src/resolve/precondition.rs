//! The first state of the drive: `ftl.precondition`, and what `auto` resolves to.

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

/// Returns the name in experiments.
pub(crate) fn name(precondition: Precondition) -> &'static str {
    let row = ALL.iter().position(|&other| other == precondition).unwrap_or(0);
    PRECONDITIONS[row].0
}

/// Returns the default. Under a trace an empty drive would say nothing about the years to come.
pub(crate) fn default(traced: bool) -> &'static str {
    name(if traced { Precondition::Auto } else { Precondition::None })
}

/// Resolves the first state.
pub(crate) fn state(
    layers: &Layers,
    name: Option<&str>,
    victim: Victim,
    traced: bool,
) -> Result<Precondition> {
    let name = name.unwrap_or(default(traced));
    let row = choice(layers, "ftl.precondition", "precondition", name, PRECONDITIONS)?;
    if ALL[row] == Precondition::Steady && victim.law().is_none() {
        let expected = lawful("precondition = \"auto\", which fills at random instead");
        let what = "precondition = \"steady\" has no steady-state law for this victim policy";
        return Err(layers.error("ftl.precondition", what, expected));
    }
    Ok(ALL[row])
}

/// Lists the victim policies that have a law, then another remedy.
fn lawful(or: &str) -> String {
    let lawful = collect::POLICIES.iter().map(|info| info.name);
    let lawful: Vec<_> = lawful.filter(|name| Victim::named(name).law().is_some()).collect();
    format!("expected ftl.collect.policy {}, or {or}", any_of(&lawful))
}

/// Resolves `auto` on a drive; `table` has its keys.
pub(crate) fn auto(
    layers: &Layers,
    table: &settings::Ftl,
    precondition: Precondition,
    (setup, layout): (&Setup, &Layout),
    traced: bool,
) -> Result<Option<Auto>> {
    if precondition != Precondition::Auto {
        return Ok(None);
    }
    let no_law = why_not_steady(setup, layout);
    let default = AUTO_FILLS[usize::from(no_law.is_some())].0;
    let fill = table.auto_fill.as_deref().unwrap_or(default);
    let row = choice(layers, "ftl.auto_fill", "auto_fill", fill, AUTO_FILLS)?;
    let fill = [AutoFill::Steady, AutoFill::Random][row];
    if let (AutoFill::Steady, Some(why)) = (fill, no_law) {
        return Err(layers.error("ftl.auto_fill", why, "expected \"random\", or no such key"));
    }
    if !traced && table.wear_in_max.is_some() {
        let what = "wear_in_max has no effect on a generator, which has no passes";
        return Err(layers.error("ftl.wear_in_max", what, "expected workload.warmup_requests instead"));
    }
    let wear_in_max = if setup.separate.foresees() {
        // The laps must be known before the run, which reports a run without laps and the reason.
        None
    } else {
        traced.then(|| table.wear_in_max())
    };
    Ok(Some(Auto { fill, no_law, wear_in_max }))
}
