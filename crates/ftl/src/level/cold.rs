//! Cold data: data that have outlived the writes of others.
//!
//! A block with few erases need not hold cold data: under a uniform load some block is always the least erased one.
//! Moving its data into a worn block gains nothing. They die there as soon as elsewhere, and the worn block, which
//! would have rested among the free ones, is erased again. Levelers that select the least erased block therefore also
//! check how long its data have been there.

use crate::units::Units;
use floatgate_base::policy::Range;
use floatgate_base::{ParamInfo, UnitId};

/// How long data must have stayed unchanged; for `adaptive` and `gap`.
pub(super) const COLD_DRIVE_WRITES: ParamInfo = ParamInfo::within(
    "cold_drive_writes",
    "host writes, in logical capacities, that the data of a block must have outlived to be moved as cold",
    1.0,
    Range { least: 0.0, most: f64::INFINITY, above_least: false, below_most: false },
);

/// Checks whether the data of a closed unit have outlived `drive_writes` writes of the whole drive.
pub(super) fn is_cold(units: &Units, unit: UnitId, now: u64, logical_pages: u32, drive_writes: f64) -> bool {
    let age = now.saturating_sub(units.closed_at[unit]);
    age as f64 >= drive_writes * f64::from(logical_pages)
}
