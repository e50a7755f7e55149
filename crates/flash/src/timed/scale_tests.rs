//! Modes of erases on the timed array: their times, and random modes for the drives of `order_tests`.

use super::command_tests::{array, ends, page, program, request};
use super::*;
use crate::Cause;
use floatgate_base::{Lpn, Owner, Rng, UnitId};
use floatgate_nand::EraseModes;
use floatgate_nand::erase_modes::MODES_MAX as SCALES_MAX;

/// Random modes of erases of a drive.
#[derive(Clone)]
pub(super) struct Scales {
    of_unit: Vec<u8>,
    modes: EraseModes,
    rng: Rng,
}

impl Scales {
    /// Draws modes, one mode for half of the drives, and adds them to the drive's times.
    pub fn draw(seed: u64, layout: &Layout, phases: &mut Phases) -> Self {
        let mut rng = Rng::new(seed, "scales");
        let mut rising = |step: f64| -> [f64; SCALES_MAX] {
            let mut factor = 1.0;
            std::array::from_fn(|mode| {
                factor += if mode > 0 { step * rng.unit() } else { 0.0 };
                factor
            })
        };
        let (erase_factors, program_factors) = (rising(0.5), rising(0.3));
        let modes = EraseModes {
            count: [1, 1, 1, 2, 4, 5][rng.below(6) as usize],
            wear: [1000, 900, 800, 700, 600, 500, 400, 300],
            erase_factors,
            program_factors,
            margins: [1.0; SCALES_MAX],
            pe_cycles: 1000,
        };
        *phases = phases.scaled(&modes);
        Self { of_unit: vec![0; layout.units() as usize], modes, rng }
    }

    /// Creates an array with these modes.
    pub fn array(&self, layout: Layout, settings: Settings) -> Timed {
        let mut timed = Timed::new(layout, settings);
        if self.modes.count > 1 {
            timed.counts_mut().set_scaling(self.modes, 0);
        }
        timed
    }

    /// Draws the mode of an erase, and of a second one to a deeper mode.
    pub fn erased(&mut self, unit: u32) -> (u8, Option<u8>) {
        let mode = self.rng.below(u64::from(self.modes.count)) as u8;
        let again = (mode > 0 && self.rng.below(4) == 0).then(|| mode - 1);
        self.of_unit[unit as usize] = again.unwrap_or(mode);
        (mode, again)
    }

    /// Returns the times of a page of a unit from those in the ordinary mode.
    pub fn times(&self, unit: usize, ordinary: PageTimes) -> PageTimes {
        let factor = self.modes.program_factors[usize::from(self.of_unit[unit])];
        PageTimes { program_ns: (ordinary.program_ns as f64 * factor).round() as u64, ..ordinary }
    }

    /// Returns the time of an erase in a mode.
    pub fn erase_ns(&self, mode: u8, ordinary_ns: u64) -> u64 {
        let more = self.modes.erase_factors[usize::from(mode)] - 1.0;
        ordinary_ns + (ordinary_ns as f64 * more).round() as u64
    }
}

/// Modes with factors that can be multiplied by hand.
const MODES: EraseModes = EraseModes {
    count: 3,
    wear: [1000, 600, 250, 0, 0, 0, 0, 0],
    erase_factors: [1.0, 2.0, 4.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    program_factors: [1.0, 1.5, 3.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    margins: [1.0; SCALES_MAX],
    pe_cycles: 1000,
};

/// Two page types in two modes of programs: 100 and 200, then twice that. Reads take 40 and 50; a command takes 1, a
/// transfer 10, an erase 1000.
fn scaled() -> Timed {
    let mut phases = Phases { page_types: 2, modes: 2, command_ns: 1, ..Phases::plain(10, 0, 0, 1000) };
    for (row, (read_ns, program_ns)) in [(40, 100), (50, 200), (40, 200), (50, 400)].into_iter().enumerate() {
        phases.rows[0][row] = PageTimes { read_ns, program_ns };
    }
    let mut timed = array(1, Settings::plain(phases.scaled(&MODES)));
    timed.counts_mut().set_scaling(MODES, 0);
    timed
}

/// The factors of both kinds of modes multiply.
#[test]
fn programs_take_the_factors_of_both_modes() {
    for (scale, factor) in [(0, 2), (1, 3), (2, 6)] {
        for mode in [0, 1] {
            let mut t = scaled();
            let unit = UnitId(0);
            request(&mut t, 0, 0, |t| {
                t.set_erase_mode(unit, scale);
                t.erase(unit, Cause::Gc);
                t.set_mode(unit, mode);
            });
            let erased = 1 + 1000 * [1, 2, 4][usize::from(scale)];
            program(&mut t, 1, 0, page(0, 0, 0));
            program(&mut t, 2, 0, page(0, 0, 1));
            let times = [100, 200].map(|ns| ns * factor / 2 * u64::from(mode + 1));
            let first = erased + 11 + times[0];
            assert_eq!(ends(&mut t)[1..], [first, first + 11 + times[1]], "{scale} {mode}");
            // Reads take what they take in any mode.
            let before = t.last_ns();
            request(&mut t, 3, before, |t| t.read(page(0, 0, 1), Lpn(0), Cause::Host));
            t.finish();
            assert_eq!(t.last_ns(), before + 1 + 50 + 10);
        }
    }
}

/// A second erase takes its own time before the first program, and the wear of both is that of one in the deeper mode.
#[test]
fn a_block_is_erased_again_before_its_first_program() {
    let mut t = scaled();
    let unit = UnitId(0);
    request(&mut t, 0, 0, |t| {
        t.set_erase_mode(unit, 2);
        t.erase(unit, Cause::Gc);
        t.deepen(unit, 0, Cause::Gc);
    });
    program(&mut t, 1, 0, page(0, 0, 0));
    t.finish();
    assert_eq!(t.last_ns(), (1 + 4000) + (1 + 1000) + 11 + 100);
    let scaling = t.scaling().unwrap();
    assert_eq!((scaling.mode(unit), scaling.worn(unit)), (0, 1000));
    let counts = scaling.counts();
    assert_eq!((counts.erases_in(2), counts.erases_in(0), counts.deepened_total()), (1, 0, 1));
    assert_eq!((counts.worn, t.counters().erases_total(), t.erase_count(unit)), (1000, 1, 1));
    scaling.audit().unwrap();
}

/// Moves are counted by the modes of the block that takes them, host pages by `count_scaled`.
#[test]
fn programs_are_counted_by_mode() {
    let mut t = scaled();
    t.set_erase_mode(UnitId(1), 2);
    t.erase(UnitId(1), Cause::Gc);
    t.set_mode(UnitId(1), 1);
    t.program(page(0, 0, 0), Lpn(0), Cause::Host);
    t.count_scaled(page(0, 0, 0), Cause::Host);
    t.copy(page(0, 0, 0), page(0, 1, 0), Owner::page(Lpn(0)), Cause::Gc);
    let counts = t.scaling().unwrap().counts();
    assert_eq!(counts.programs[0][0][Cause::Host as usize], 1);
    assert_eq!(counts.programs[2][1][Cause::Gc as usize], 1);
    assert_eq!([0, 1, 2].map(|mode| counts.programs_in(mode)), [1, 0, 1]);
}
