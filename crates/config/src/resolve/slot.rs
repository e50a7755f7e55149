//! The table of any slot: its policy, with parameters checked and defaults filled in.

use crate::layers::Layers;
use crate::slot_table::SlotTable;
use crate::slot_types::Table;
use crate::tables::unknown;
use floatgate_base::policy::Facts;
use floatgate_base::{ChosenPolicy, Error, Misfit, Result};

/// Resolves the selected policy and its table.
pub(crate) fn resolve<T: Table>(
    layers: &Layers,
    table: Option<SlotTable<T>>,
    facts: &Facts,
) -> Result<(ChosenPolicy, SlotTable<T>)> {
    let (slot, table) = (T::SLOT, table.unwrap_or_default());
    let name = table.policy.as_deref().unwrap_or(slot.policies[0].name);
    let Some(info) = slot.find(name) else {
        let key = format!("{}.{}", slot.key, slot.selector);
        return Err(unknown(layers, &key, slot.what, name, slot.all().into_iter().map(|info| info.name)));
    };
    let policy = slot.fill(info, table.values(), facts).map_err(|misfit| refuse::<T>(layers, misfit))?;
    let resolved = SlotTable::of(&policy);
    Ok((policy, resolved))
}

/// Makes the error of a wrong parameter, at the place where it is set.
pub(crate) fn refuse<T: Table>(layers: &Layers, misfit: Misfit) -> Box<Error> {
    layers.section(T::SLOT.key).error(misfit.param, misfit.what, misfit.expected)
}
