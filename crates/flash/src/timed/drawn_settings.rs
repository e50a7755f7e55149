//! Random settings for the drives of `order_tests` and `row_tests`.

use super::settings::ROWS_MAX;
use super::*;
use floatgate_base::Rng;
use floatgate_nand::erase_modes::MODES_MAX as SCALES_MAX;

/// Draws durations, optional commands and orders of service.
pub(super) fn settings(rng: &mut Rng, seed: u64) -> Settings {
    let yes = |rng: &mut Rng| rng.below(2) == 0;
    let phases = Phases {
        command_ns: rng.below(4),
        transfer_ns: 1 + rng.below(40),
        rows: [[(); ROWS_MAX]
            .map(|()| PageTimes { read_ns: 1 + rng.below(60), program_ns: 1 + rng.below(600) });
            SCALES_MAX],
        page_types: 1 + rng.below(4) as u32,
        modes: 1 + rng.below(3) as u32,
        scales: 1,
        program_spread: if yes(rng) { 0.0 } else { 0.3 },
        erase_ns: 1 + rng.below(3000),
        erase_more_ns: [0; SCALES_MAX],
        erase_spread: if yes(rng) { 0.0 } else { 0.4 },
    };
    let rules = [MultiPlane::None, MultiPlane::SamePage, MultiPlane::SameBlockAndPage, MultiPlane::Any];
    let (suspend_ns, resume_ns) = (rng.below(20), rng.below(20));
    let suspend = Suspend {
        program: yes(rng),
        erase: yes(rng),
        suspend_ns,
        resume_ns,
        reads_max: 1 + rng.below(4) as u32,
    };
    let commands = Commands {
        multi_plane: rules[rng.below(4) as usize],
        cache_read: yes(rng),
        cache_program: yes(rng),
        copyback: yes(rng),
        suspend,
    };
    let [r, w, b] = Class::ALL;
    let orders = [[r, w, b], [r, b, w], [w, r, b], [w, b, r], [b, r, w], [b, w, r]];
    let order = match rng.below(7) {
        6 => Order::Fcfs,
        n => Order::Priority(orders[n as usize]),
    };
    Settings {
        phases,
        commands,
        order,
        urgent_as_writes: yes(rng),
        jobs_hold_channel: false,
        reads_old_copies: yes(rng),
        seed,
        plp: true,
    }
}
