//! The state in which the drive starts: `ftl.precondition`, and what `auto` comes to.

use crate::layers::Layers;
use crate::tables::{any_of, choice};
use floatgate_base::Result;
use floatgate_flash::Layout;
use floatgate_ftl::{Setup, Victim, collect};
use floatgate_sim::plan::{AUTO_FILLS, Auto, AutoFill, PRECONDITIONS, Precondition};
use floatgate_sim::precondition::why_not_steady;

/// Capacities of the drive that laps write at most unless told otherwise.
const WEAR_IN: f64 = 3.0;
/// The most that they may be allowed.
const WEAR_IN_MAX: f64 = 1000.0;

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

/// As asked for; `auto` for a trace where nothing is: on an empty drive it says nothing of the years to come.
pub(crate) fn state(
    layers: &Layers,
    given: Option<&str>,
    victim: Victim,
    traced: bool,
) -> Result<Precondition> {
    let default = if traced { Precondition::Auto } else { Precondition::None };
    let given = given.unwrap_or(name(default));
    let row = choice(layers, "ftl.precondition", "precondition", given, PRECONDITIONS)?;
    if ALL[row] == Precondition::Steady && victim.law().is_none() {
        let expected = lawful("precondition = \"auto\", which fills at random instead");
        let what = "no steady-state law is known for this victim policy";
        return Err(layers.error("ftl.precondition", what, expected));
    }
    Ok(ALL[row])
}

/// The victim policies that have a law, or something else.
fn lawful(or: &str) -> String {
    let lawful = collect::POLICIES.iter().map(|info| info.name);
    let lawful: Vec<_> = lawful.filter(|name| Victim::named(name).law().is_some()).collect();
    format!("expected {}, or {or}", any_of(&lawful))
}

/// What `auto` comes to on a drive, where that is the state; `asked` are its keys.
pub(crate) fn auto(
    layers: &Layers,
    asked: (Option<String>, Option<f64>),
    precondition: Precondition,
    (setup, layout): (&Setup, &Layout),
    traced: bool,
) -> Result<Option<Auto>> {
    let (fill, wear_in_max) = asked;
    if precondition != Precondition::Auto {
        let given = [("auto_fill", fill.is_some()), ("wear_in_max", wear_in_max.is_some())];
        return match given.iter().find(|(_, given)| *given) {
            None => Ok(None),
            Some((key, _)) => Err(layers.error(
                &format!("ftl.{key}"),
                format!("{key} has no effect with another precondition"),
                "expected it with ftl.precondition = \"auto\" only",
            )),
        };
    }
    let no_law = why_not_steady(setup, layout);
    let default = AUTO_FILLS[usize::from(no_law.is_some())].0;
    let row = choice(layers, "ftl.auto_fill", "way to fill", fill.as_deref().unwrap_or(default), AUTO_FILLS)?;
    let fill = [AutoFill::Steady, AutoFill::Random][row];
    if let (AutoFill::Steady, Some(why)) = (fill, no_law) {
        return Err(layers.error("ftl.auto_fill", why, "expected \"random\", or no such key"));
    }
    let wear_in_max = match wear_in_max {
        Some(_) if !traced => {
            let what = "wear_in_max has no effect on a generator, which has no passes";
            let expected = "expected workload.warmup_requests instead";
            return Err(layers.error("ftl.wear_in_max", what, expected));
        }
        Some(max) if !(0.0..=WEAR_IN_MAX).contains(&max) => {
            let what = format!("wear_in_max is {max}");
            let expected = format!("expected a number of drive writes from 0 to {WEAR_IN_MAX}");
            return Err(layers.error("ftl.wear_in_max", what, expected));
        }
        // Which laps there will be must be known before: the run says that there were none, and why.
        _ if setup.separate.foresees() => None,
        given => given.or(traced.then_some(WEAR_IN)),
    };
    Ok(Some(Auto { fill, no_law, wear_in_max }))
}
