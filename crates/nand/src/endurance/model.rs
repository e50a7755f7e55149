//! Slot `drive.endurance`: the law of the cycles that blocks endure. One row per model.

use super::Endurance;
use super::recovery::{NOMINAL_CYCLES, READY_PRINTED, READY_TABLE2, Recovery};
use floatgate_base::policy::Range;
use floatgate_base::{Acts, ChosenPolicy, Misfit, ParamInfo, PolicyInfo, Slot};

/// The slot.
pub const SLOT: Slot = Slot {
    key: "drive.endurance",
    selector: "model",
    what: "endurance model",
    summary: "Program/erase cycles that blocks endure.",
    policies: &[FIXED, PRINTED, TABLE2],
    common: &[ParamInfo::whole("pe_cycles", "nominal program/erase cycles", 3000, (1, u32::MAX))],
    acts: Acts::Always,
};

const FIXED: PolicyInfo = PolicyInfo::plain("fixed", "every block endures pe_cycles program/erase cycles");

const PRINTED: PolicyInfo = PolicyInfo {
    name: "ready-printed",
    summary: "blocks recover while they rest; READY's constants as its text prints them",
    source: "READY (FAST 2012), section 2",
    params: &constants(READY_PRINTED),
    cost: "a few logarithms per second of device time",
    memory: "none",
};

const TABLE2: PolicyInfo = PolicyInfo {
    name: "ready-table2",
    summary: "blocks recover while they rest; constants under which READY's Table 2 follows",
    params: &constants(READY_TABLE2),
    ..PRINTED
};

/// The constants of a law; nominal cycles are [`NOMINAL_CYCLES`].
const fn constants(law: Recovery) -> [ParamInfo; 8] {
    [
        ParamInfo::within(
            "interface_trap_v",
            "volts that interface traps add at the first of 3000 nominal cycles (A_it)",
            law.interface_trap_v,
            Range::FROM_0,
        ),
        ParamInfo::within(
            "interface_exponent",
            "exponent of the cycles in the voltage of interface traps",
            law.interface_exponent,
            Range::ABOVE_0,
        ),
        ParamInfo::within(
            "oxide_trap_v",
            "volts that oxide traps add at the first of 3000 nominal cycles (B_ot)",
            law.oxide_trap_v,
            Range::FROM_0,
        ),
        ParamInfo::within(
            "oxide_exponent",
            "exponent of the cycles in the voltage of oxide traps",
            law.oxide_exponent,
            Range::ABOVE_0,
        ),
        ParamInfo::within(
            "limit_v",
            "trapped volts at which a block is worn out",
            law.limit_v,
            Range::ABOVE_0,
        ),
        ParamInfo::within(
            "recovery_efficiency",
            "share of the trapped charge that heals for each factor e of idle time (C_e)",
            law.recovery_efficiency,
            Range::FROM_0,
        ),
        ParamInfo::within(
            "recovery_onset_s",
            "idle time up to which nothing heals, seconds (t0)",
            law.recovery_onset_s,
            Range::ABOVE_0,
        ),
        ParamInfo::within(
            "healed_share_max",
            "the most that heals",
            law.healed_share_max,
            Range::SHARE_BELOW_1,
        ),
    ]
}

/// Limit of a model's cycles; more would overflow the 64-bit counts of page programs.
const CYCLES_MAX: f64 = 1e9;

/// Shortest rest after which a law may heal all trapped charge. If less sufficed, blocks would not wear out.
const HEALED_S_MIN: f64 = 3600.0;

impl Endurance {
    /// Returns the configured model.
    ///
    /// # Errors
    /// Constants that contradict each other.
    pub fn of(settings: &ChosenPolicy) -> Result<Self, Misfit> {
        let pe_cycles = settings.whole("pe_cycles");
        if settings.name() == FIXED.name {
            return Ok(Self::Fixed { pe_cycles });
        }
        let law = Recovery {
            interface_trap_v: settings.real("interface_trap_v"),
            interface_exponent: settings.real("interface_exponent"),
            oxide_trap_v: settings.real("oxide_trap_v"),
            oxide_exponent: settings.real("oxide_exponent"),
            limit_v: settings.real("limit_v"),
            recovery_efficiency: settings.real("recovery_efficiency"),
            recovery_onset_s: settings.real("recovery_onset_s"),
            healed_share_max: settings.real("healed_share_max"),
        };
        let endurance = Self::Recovery { pe_cycles, law };
        heals_slowly(&law)?;
        wears_out(endurance, &law)?;
        Ok(endurance)
    }
}

/// Checks that rest does not heal everything at once.
fn heals_slowly(law: &Recovery) -> Result<(), Misfit> {
    // Without the cap, all is healed when C_e ln(t / t0) = 1.
    let whole_s = law.recovery_onset_s * libm::exp(1.0 / law.recovery_efficiency);
    if whole_s >= HEALED_S_MIN {
        return Ok(());
    }
    let what = format!(
        "recovery_efficiency {} and recovery_onset_s {} heal more than was trapped after {whole_s:.3e} s of rest",
        law.recovery_efficiency, law.recovery_onset_s
    );
    let expected = "expected constants under which that takes an hour or more";
    Err(Misfit::new("recovery_efficiency", what, expected))
}

/// Checks that the constants give a drive that can be written to and that wears out.
fn wears_out(endurance: Endurance, law: &Recovery) -> Result<(), Misfit> {
    if law.interface_trap_v == 0.0 && law.oxide_trap_v == 0.0 {
        let what = "nothing is trapped, so no block wears out";
        return Err(Misfit::new("oxide_trap_v", what, "expected interface_trap_v or oxide_trap_v above 0"));
    }
    let scale = NOMINAL_CYCLES / f64::from(endurance.pe_cycles());
    let least = endurance.cycles(None);
    if least.is_nan() || least < 1.0 {
        let what = format!("limit_v {} is reached within the first cycle of a block", law.limit_v);
        let expected = format!("expected more than {:.4} V, which one cycle traps", law.trap_v(scale));
        return Err(Misfit::new("limit_v", what, expected));
    }
    let most = endurance.cycles(Some(f64::INFINITY));
    if most > CYCLES_MAX {
        let what = format!("limit_v {} is reached only after {most:.3e} cycles", law.limit_v);
        return Err(Misfit::new("limit_v", what, "expected constants that give at most 10^9 cycles"));
    }
    Ok(())
}
