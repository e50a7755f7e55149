//! The evidence of a run: whether it wrote enough, and evenly enough over time, for a forecast of years.

use floatgate_sim::{Outcome, Plan};
use serde_json::{Value, json};

/// Minimum of capacities that the host must write; with less, part of the drive still holds its initial data.
const DRIVE_WRITES_MIN: f64 = 1.0;
/// Minimum of capacities that flash must program if blocks were never erased. Blocks never erased after that hold cold
/// data: the run is not too short, wear is uneven.
const FLASH_WRITES_MIN: f64 = 3.0;

/// Requirements of a longer run.
struct Lack {
    why: &'static str,
    drive_writes_needed: f64,
}

/// Returns how much was written, and whether that is enough for a forecast of a life. `enough` is null if the host
/// wrote nothing.
pub(crate) fn evidence(plan: &Plan, outcome: &Outcome) -> Value {
    let page_bytes = f64::from(plan.drive.geometry.page_bytes);
    let logical_bytes = f64::from(plan.ftl.setup.logical_pages) * page_bytes;
    let drive_writes = outcome.host.write_bytes as f64 / logical_bytes;
    let flash_writes = outcome.flash.programs_total() as f64 / f64::from(plan.layout().pages());
    let lack = lack(drive_writes, flash_writes, outcome.never_erased, outcome.waf.stationary);
    let wrote = outcome.host.write_bytes > 0;
    json!({
        "drive_writes": drive_writes,
        "flash_writes": flash_writes,
        "blocks_never_erased": outcome.never_erased,
        "enough": wrote.then_some(lack.is_none()),
        "why": lack.as_ref().filter(|_| wrote).map(|lack| lack.why),
        "drive_writes_needed": lack.filter(|_| wrote).map(|lack| lack.drive_writes_needed),
        "transient_requests": outcome.waf.transient_requests,
    })
}

/// Returns the first missing requirement, and the drive writes that satisfy all missing ones; a longer run for the
/// first alone would only meet the next. The duration of a drift is unknown; a run of twice the length shows whether it
/// lasts.
fn lack(drive_writes: f64, flash_writes: f64, never_erased: u64, stationary: Option<bool>) -> Option<Lack> {
    let around = drive_writes * FLASH_WRITES_MIN / flash_writes;
    let lacking = [
        (drive_writes < DRIVE_WRITES_MIN, "too short", DRIVE_WRITES_MIN),
        (never_erased > 0 && flash_writes < FLASH_WRITES_MIN, "not all blocks were erased", around),
        (stationary == Some(false), "not stationary", 2.0 * drive_writes),
        (stationary.is_none(), "too few requests", 2.0 * drive_writes),
    ];
    let mut missing = lacking.into_iter().filter(|&(is_lacking, ..)| is_lacking);
    let (_, why, first) = missing.next()?;
    let drive_writes_needed = missing.map(|(_, _, needed)| needed).fold(first, f64::max);
    Some(Lack { why, drive_writes_needed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_takes_writes_erases_and_a_steady_state() {
        let of = |drive, flash, never, stationary| {
            lack(drive, flash, never, stationary).map(|lack| (lack.why, lack.drive_writes_needed))
        };
        assert_eq!(of(0.3, 9.0, 0, Some(true)), Some(("too short", 1.0)));
        assert_eq!(of(0.999, 9.0, 0, Some(true)), Some(("too short", 1.0)));
        // A short run that covered a tenth of the flash needs 3.0 / 0.1 times as much to cover all blocks.
        assert_eq!(of(0.125, 0.1, 7, Some(true)), Some(("too short", 3.75)));
        assert_eq!(of(0.9, 9.0, 0, Some(false)), Some(("too short", 1.8)));
        assert_eq!(of(1.5, 2.0, 7, Some(false)), Some(("not all blocks were erased", 3.0)));
        assert_eq!(of(1.0, 9.0, 0, Some(true)), None);
        assert_eq!(of(1.5, 2.999, 7, Some(true)).map(|(why, _)| why), Some("not all blocks were erased"));
        assert_eq!(of(1.5, 3.0, 7, Some(true)), None);
        assert_eq!(of(1.5, 2.0, 7, Some(true)), Some(("not all blocks were erased", 2.25)));
        assert_eq!(of(2.0, 2.5, 0, Some(true)), None);
        assert_eq!(of(4.0, 9.0, 7, Some(true)), None);
        assert_eq!(of(4.0, 9.0, 0, Some(false)), Some(("not stationary", 8.0)));
        assert_eq!(of(4.0, 9.0, 0, None), Some(("too few requests", 8.0)));
    }
}
