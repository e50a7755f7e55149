//! Serves requests of laps in as many steps as needed.

use crate::simulation::{Phase, Simulation};
use floatgate_base::Result;

/// Requests served between two ticks.
pub(crate) const STEP: u64 = 1 << 18;

/// Serves `requests`. `tick` receives the programs so far, and the requests served by this call.
pub(crate) fn serve(
    simulation: &mut Simulation,
    requests: u64,
    tick: &mut dyn FnMut(u64, u64) -> Result<()>,
) -> Result<()> {
    let mut left = requests;
    while left > 0 {
        // A step ends at the end of a pass, and may have served nothing.
        let served = simulation.stages.book.counted;
        if simulation.step(left.min(STEP))? == Phase::Done {
            break;
        }
        left -= (simulation.stages.book.counted - served).min(left);
        tick(programs(simulation), requests - left)?;
    }
    Ok(())
}

/// Returns the pages programmed so far.
pub(crate) fn programs(simulation: &Simulation) -> u64 {
    simulation.stages.serving.counters().programs_total()
}
