//! Slot `drive.disturb`: how much each read disturbs. One row per model.

use super::{Disturb, MODES_MAX, TYPES_MAX};
use floatgate_base::policy::Range;
use floatgate_base::{Acts, ChosenPolicy, Misfit, ParamInfo, PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "drive.disturb",
    selector: "model",
    what: "read-disturb model",
    summary: "How much reads disturb the block that they read.",
    policies: &[NONE, UNIFORM, MLC, TLC_BASE, TLC_OPT],
    common: &[],
    acts: Acts::Always,
};

const NONE: PolicyInfo = PolicyInfo::plain("none", "reads disturb nothing");

/// Sums of disturbance are 32-bit counts of thousandths.
const READS_MAX: u32 = 4_000_000;

const MAX_READS: ParamInfo = ParamInfo::whole(
    "max_reads",
    "reads of the slowest type of page that an ordinary block endures between two erases",
    40_000,
    (1, READS_MAX),
)
.shared();

/// Table 4.
const MODES: ParamInfo = ParamInfo::rows(
    "modes",
    "modes in which a block may be programmed, the ordinary one first: the factor of reads that it endures then, and \
     by how much longer its programs take",
    &[&[1.0, 1.0], &[2.0, 1.08], &[5.0, 1.19]],
    (&[("reads", Range::closed(1.0, 1000.0)), ("program", Range::closed(1.0, 10.0))], MODES_MAX),
)
.shared();

const fn weights(by_type: &'static [f64]) -> ParamInfo {
    ParamInfo::numbers(
        "weights",
        "what a read disturbs by type of page, LSB first, as a share of the slowest type; page p of a block is of type p \
         modulo their number",
        by_type,
        (Range { above_least: true, ..Range::SHARE }, TYPES_MAX),
    )
}

const SOURCE: &str =
    "dissertation on cross-layer optimization of NAND flash storage, section 4.2.3 (redFTL+)";

const UNIFORM: PolicyInfo = PolicyInfo {
    name: "uniform",
    summary: "every read of a block disturbs it as much",
    source: SOURCE,
    params: &[MAX_READS, MODES],
    cost: "a table look-up per flash read",
    memory: "16 bytes per block",
};

const MLC: PolicyInfo = PolicyInfo {
    name: "mlc",
    summary: "two types of pages: LSB pages are read in half the time (Figure 17: 61 % more reads)",
    params: &[MAX_READS, weights(&[0.62, 1.0]), MODES],
    ..UNIFORM
};

const TLC_BASE: PolicyInfo = PolicyInfo {
    name: "tlc-base",
    summary: "three types of pages of a typical TLC chip (Table 5, TLCbase)",
    params: &[MAX_READS, weights(&[0.25, 0.5, 1.0]), MODES],
    ..UNIFORM
};

const TLC_OPT: PolicyInfo = PolicyInfo {
    name: "tlc-opt",
    summary: "three types of pages of the TLC chips that were measured (Figure 17, TLCopt)",
    params: &[MAX_READS, weights(&[0.78, 1.0, 0.79]), MODES],
    ..UNIFORM
};

impl Disturb {
    /// Returns the configured model, or None where reads disturb nothing.
    ///
    /// # Errors
    /// Modes that contradict each other.
    pub fn of(settings: &ChosenPolicy) -> Result<Option<Self>, Misfit> {
        if settings.name() == NONE.name {
            return Ok(None);
        }
        let by_type = match settings.name() {
            name if name == UNIFORM.name => &[1.0],
            _ => settings.numbers("weights"),
        };
        let (reads, program) = (settings.column("modes", "reads"), settings.column("modes", "program"));
        if reads[0] != 1.0 || program[0] != 1.0 {
            let what = format!("the first mode has reads = {} and program = {}", reads[0], program[0]);
            let expected = "expected 1 and 1: it is the ordinary mode, to which the others compare";
            return Err(Misfit::new("modes", what, expected));
        }
        if !reads.is_sorted() {
            let what = "modes are not sorted by the reads that they allow";
            return Err(Misfit::new("modes", what, "expected reads that rise from mode to mode"));
        }
        Ok(Some(Self::new(settings.whole("max_reads"), by_type, &reads, &program)))
    }
}
