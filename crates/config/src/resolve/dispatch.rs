//! The table `[ftl.dispatch]`: which writes belong together, and what follows for the open blocks.

use super::slot::{self, refuse};
use crate::layers::Layers;
use crate::{settings, slot_types};
use floatgate_base::Result;
use floatgate_base::policy::Facts;
use floatgate_ftl::separate::Labelled;
use floatgate_ftl::{Allocation, FreeChoice, Separate};
use floatgate_host::Dispatch;

const POLICY: &str = "ftl.dispatch.policy";

/// Resolves the dispatcher.
pub(crate) fn resolve(
    layers: &Layers,
    table: Option<settings::Dispatch>,
    facts: &Facts,
) -> Result<(Dispatch, settings::Dispatch)> {
    let (policy, raw) = slot::resolve(layers, table, facts)?;
    let dispatch = Dispatch::of(&policy).map_err(|misfit| refuse::<slot_types::Dispatch>(layers, misfit))?;
    Ok((dispatch, raw))
}

/// Separates labelled pages, in place of a separator that ignores pages.
pub(crate) fn separate(layers: &Layers, dispatch: Dispatch, separate: Separate) -> Result<Separate> {
    let (groups, rest_in_upper_half) = (dispatch.makes_groups(), dispatch.has_rest_in_upper_half());
    let labelled = |moved_apart| Separate::Labelled(Labelled { groups, rest_in_upper_half, moved_apart });
    match separate {
        _ if !dispatch.labels() => Ok(separate),
        Separate::None => Ok(labelled(false)),
        Separate::HostGc => Ok(labelled(true)),
        other => {
            let what = format!(
                "the dispatcher {} says which open block a write joins, and so does the separator {}",
                dispatch.info().name,
                other.info().name
            );
            let expected =
                "expected ftl.separate.policy = \"none\" or \"host-gc\", or ftl.dispatch.policy = \"fcfs\"";
            Err(layers.error(POLICY, what, expected))
        }
    }
}

/// Refuses drives on which groups cannot work.
pub(crate) fn check(
    layers: &Layers,
    dispatch: Dispatch,
    allocation: Allocation,
    free_choice: FreeChoice,
) -> Result<()> {
    if !dispatch.makes_groups() {
        return Ok(());
    }
    let name = dispatch.info().name;
    if allocation == Allocation::Static {
        let what = format!(
            "the dispatcher {name} keeps each group in one plane, and static allocation names the plane of each page"
        );
        return Err(layers.error(POLICY, what, "expected ftl.allocation.mode = \"dynamic\""));
    }
    if free_choice != FreeChoice::LeastErased {
        let what = format!("the dispatcher {name} opens free blocks by their wear; free_block has no effect");
        let expected = "expected ftl.free_block = \"least-erased\", or another dispatcher";
        return Err(layers.error("ftl.free_block", what, expected));
    }
    Ok(())
}
