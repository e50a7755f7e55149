//! What `floatgate lifetime` measures before it goes through a life: write amplification, and what reduction leaves of page
//! writes. Under the integrated manager both depend on the schemes that are on, so each choice of them has laps of its own.

use crate::options::Progress;
use crate::workers::each;
use floatgate_base::Result;
use floatgate_config::Resolved;
use floatgate_lifetime::life::{Forecast, Managed, Reduction};
use floatgate_lifetime::reduce::{ByChoice, CHOICES};
use floatgate_sim::laps::{Criterion, Laps, Reduced, measure};
use floatgate_sim::plan::{Plan, Schemes};
use floatgate_sim::reading::pass::Pass;

/// The choices in the order of [`floatgate_lifetime::reduce::Decision::choice`].
pub(crate) const SCHEMES: [Schemes; CHOICES] = [
    Schemes { dedup: false, compress: false },
    Schemes { dedup: true, compress: false },
    Schemes { dedup: false, compress: true },
    Schemes { dedup: true, compress: true },
];

/// What was measured for a variant.
pub(crate) enum Measured {
    /// Nothing: write amplification is given, nothing is written, or each request goes through the FTL.
    Nothing,
    /// Laps of the drive as it is.
    Once(Box<Laps>),
    /// Laps for each choice of schemes, in the order of [`SCHEMES`].
    ByChoice(Vec<Laps>),
}

impl Measured {
    /// The laps of a drive whose schemes do not change.
    pub fn once(&self) -> Option<&Laps> {
        match self {
            Self::Once(laps) => Some(laps),
            Self::Nothing | Self::ByChoice(_) => None,
        }
    }

    /// All laps: one, or those of each choice.
    pub fn all(&self) -> &[Laps] {
        match self {
            Self::Nothing => &[],
            Self::Once(laps) => std::slice::from_ref(laps),
            Self::ByChoice(laps) => laps,
        }
    }
}

/// Whether write amplification need not be measured.
pub(crate) fn is_given(resolved: &Resolved) -> bool {
    resolved.forecast.waf.is_some() || resolved.forecast.waf_of_bytes.is_some()
}

pub(crate) fn criterion(forecast: &Forecast) -> Criterion {
    Criterion { error_max: forecast.waf_error_max, laps_max: forecast.laps_max }
}

/// Measures each variant that is wanted, all choices of schemes side by side.
pub(crate) fn each_choice(
    wanted: &[Option<(&Resolved, &Pass)>],
    progress: &mut dyn FnMut(Progress) -> Result<()>,
) -> Result<Vec<Measured>> {
    let choices = |resolved: &Resolved| -> Vec<Option<Schemes>> {
        let managed = resolved.plan.reduce.params.integrated.is_some();
        if managed { SCHEMES.map(Some).to_vec() } else { vec![None] }
    };
    let wanted = wanted
        .iter()
        .map(|one| one.filter(|(resolved, pass)| !is_given(resolved) && pass.demand.pages() > 0));
    let wanted: Vec<_> = wanted.collect();
    let items = wanted.iter().flatten().flat_map(|&(resolved, pass)| {
        choices(resolved).into_iter().map(move |schemes| (resolved, pass, schemes))
    });
    let items: Vec<_> = items.collect();
    let laps = each(&items, "write amplification", progress, |&(resolved, pass, schemes), told| {
        let plan = schemes.map(|schemes| resolved.plan.with_schemes(schemes));
        measure_laps(plan.as_ref().unwrap_or(&resolved.plan), resolved, pass, &|share| told.tick(share))
    })?;
    let mut laps = laps.into_iter();
    let measured = wanted.iter().map(|one| match one.map(|(resolved, _)| choices(resolved).len()) {
        None => Measured::Nothing,
        Some(1) => laps.next().map_or(Measured::Nothing, |laps| Measured::Once(Box::new(laps))),
        Some(count) => Measured::ByChoice(laps.by_ref().take(count).collect()),
    });
    Ok(measured.collect())
}

fn measure_laps(
    plan: &Plan,
    resolved: &Resolved,
    pass: &Pass,
    tick: &dyn Fn(f64) -> Result<()>,
) -> Result<Laps> {
    // Three laps of programs at a guess; there is no knowing.
    let capacity = plan.drive.geometry.pages().max(pass.demand.pages()) as f64;
    let mut tick = |programs: u64| tick(programs as f64 / (4.0 * capacity));
    measure(plan, (pass.requests, &pass.windows), &criterion(&resolved.forecast), &mut tick)
}

/// What reduction does to the writes of a life, from what was measured.
pub(crate) fn reduction(plan: &Plan, pass: &Pass, measured: &Measured) -> Option<Reduction> {
    let [hash_ns, compress_ns, _] = plan.engine_delays().unwrap_or_default();
    match measured {
        Measured::Nothing => None,
        Measured::Once(laps) => laps
            .reduced
            .as_ref()
            .map(|reduced| Reduction::Always { left: reduced.left, engine_ns: hash_ns + compress_ns }),
        Measured::ByChoice(laps) => {
            let left = |choice: usize| laps[choice].reduced.as_ref();
            let of_choice = |choice: usize| left(choice).map_or(1.0, |reduced: &Reduced| reduced.left);
            let amplification =
                std::array::from_fn(|choice| laps[choice].waf / of_choice(choice).max(f64::MIN_POSITIVE));
            let windows = (0..pass.windows.requests.len()).map(|window| -> ByChoice {
                std::array::from_fn(|choice| left(choice).map_or(1.0, |one| one.left_by_window[window]))
            });
            let engine_ns = SCHEMES.map(|Schemes { dedup, compress }| {
                u64::from(dedup) * hash_ns + u64::from(compress) * compress_ns
            });
            let windows = (pass.windows.width_ns, windows.collect());
            Some(Reduction::Managed(Box::new(Managed::new(&pass.demand, windows, amplification, engine_ns))))
        }
    }
}
