//! The table `[drive.endurance]`.

use crate::layers::{Layers, Section};
use crate::raw;
use crate::tables::choice;
use floatgate_base::Result;
use floatgate_nand::Endurance;
use floatgate_nand::endurance::{MODELS, NOMINAL_CYCLES, Recovery, law_of};

/// The most cycles that a model may come to; beyond, a drive's page programs would leave 64 bits.
const CYCLES_MAX: f64 = 1e9;

/// Rest after which a law may heal all that was trapped: in less it would leave nothing to wear blocks out.
const HEALED_S_MIN: f64 = 3600.0;

/// The model, and what the resolved experiment says.
pub(crate) fn resolve(layers: &Layers, given: raw::Endurance) -> Result<(Endurance, raw::Endurance)> {
    let model = given.model.clone().unwrap_or_else(|| MODELS[0].0.into());
    choice(layers, "drive.endurance.model", "endurance model", &model, MODELS)?;
    let section = layers.section("drive.endurance");
    let pe_cycles = given.pe_cycles.unwrap_or(3000);
    if pe_cycles == 0 {
        return Err(section.error("pe_cycles", "pe_cycles is 0", "expected a whole number from 1"));
    }
    let plain =
        raw::Endurance { model: Some(model.clone()), pe_cycles: Some(pe_cycles), ..Default::default() };
    let Some(preset) = law_of(&model) else {
        refuse_constants(section, &given, &model)?;
        return Ok((Endurance::Fixed { pe_cycles }, plain));
    };
    let law = Recovery {
        interface_trap_v: given.interface_trap_v.unwrap_or(preset.interface_trap_v),
        interface_exponent: given.interface_exponent.unwrap_or(preset.interface_exponent),
        oxide_trap_v: given.oxide_trap_v.unwrap_or(preset.oxide_trap_v),
        oxide_exponent: given.oxide_exponent.unwrap_or(preset.oxide_exponent),
        limit_v: given.limit_v.unwrap_or(preset.limit_v),
        recovery_efficiency: given.recovery_efficiency.unwrap_or(preset.recovery_efficiency),
        recovery_onset_s: given.recovery_onset_s.unwrap_or(preset.recovery_onset_s),
        healed_share_max: given.healed_share_max.unwrap_or(preset.healed_share_max),
    };
    check(section, &law)?;
    let endurance = Endurance::Recovery { pe_cycles, law };
    check_cycles(section, endurance, &law)?;
    let raw = raw::Endurance {
        interface_trap_v: Some(law.interface_trap_v),
        interface_exponent: Some(law.interface_exponent),
        oxide_trap_v: Some(law.oxide_trap_v),
        oxide_exponent: Some(law.oxide_exponent),
        limit_v: Some(law.limit_v),
        recovery_efficiency: Some(law.recovery_efficiency),
        recovery_onset_s: Some(law.recovery_onset_s),
        healed_share_max: Some(law.healed_share_max),
        ..plain
    };
    Ok((endurance, raw))
}

/// Constants of recovery change nothing where blocks do not recover.
fn refuse_constants(section: Section<'_>, given: &raw::Endurance, model: &str) -> Result<()> {
    let constants = [
        ("interface_trap_v", given.interface_trap_v),
        ("interface_exponent", given.interface_exponent),
        ("oxide_trap_v", given.oxide_trap_v),
        ("oxide_exponent", given.oxide_exponent),
        ("limit_v", given.limit_v),
        ("recovery_efficiency", given.recovery_efficiency),
        ("recovery_onset_s", given.recovery_onset_s),
        ("healed_share_max", given.healed_share_max),
    ];
    match constants.iter().find(|(_, value)| value.is_some()) {
        None => Ok(()),
        Some((key, _)) => {
            let what = format!("{key} has no effect under the model \"{model}\"");
            Err(section.error(
                key,
                what,
                "expected no such key, or model = \"ready-table2\" or another one that recovers",
            ))
        }
    }
}

/// Each constant by itself.
fn check(section: Section<'_>, law: &Recovery) -> Result<()> {
    let from_0 = [
        ("interface_trap_v", law.interface_trap_v),
        ("oxide_trap_v", law.oxide_trap_v),
        ("recovery_efficiency", law.recovery_efficiency),
    ];
    for (key, value) in from_0 {
        if !(value.is_finite() && value >= 0.0) {
            return Err(section.error(key, format!("{key} is {value}"), "expected a number from 0"));
        }
    }
    let above_0 = [
        ("interface_exponent", law.interface_exponent),
        ("oxide_exponent", law.oxide_exponent),
        ("limit_v", law.limit_v),
        ("recovery_onset_s", law.recovery_onset_s),
    ];
    for (key, value) in above_0 {
        if !(value.is_finite() && value > 0.0) {
            return Err(section.error(key, format!("{key} is {value}"), "expected a number greater than 0"));
        }
    }
    // Without the cap: C_e ln(t / t0) = 1.
    let whole_s = law.recovery_onset_s * libm::exp(1.0 / law.recovery_efficiency);
    if whole_s < HEALED_S_MIN {
        let what = format!(
            "recovery_efficiency {} and recovery_onset_s {} heal more than was trapped after {whole_s:.3e} s of rest",
            law.recovery_efficiency, law.recovery_onset_s
        );
        let expected = "expected constants under which that takes an hour or more";
        return Err(section.error("recovery_efficiency", what, expected));
    }
    let share = law.healed_share_max;
    if !(0.0..1.0).contains(&share) {
        let what = format!("healed_share_max is {share}: rest would heal all that cycles trap, or more");
        return Err(section.error("healed_share_max", what, "expected a share from 0 up to but not 1"));
    }
    Ok(())
}

/// All of them together must give a drive that can be written to, and that wears out.
fn check_cycles(section: Section<'_>, endurance: Endurance, law: &Recovery) -> Result<()> {
    if law.interface_trap_v == 0.0 && law.oxide_trap_v == 0.0 {
        let what = "nothing is trapped, so no block wears out";
        return Err(section.error("oxide_trap_v", what, "expected interface_trap_v or oxide_trap_v above 0"));
    }
    let scale = NOMINAL_CYCLES / f64::from(endurance.pe_cycles());
    let least = endurance.cycles(None);
    if least.is_nan() || least < 1.0 {
        let what = format!("limit_v {} is met before a block has been through one cycle", law.limit_v);
        let expected = format!("expected more than {:.4} V, which one cycle traps", law.trap_v(scale));
        return Err(section.error("limit_v", what, expected));
    }
    let most = endurance.cycles(Some(f64::INFINITY));
    if most > CYCLES_MAX {
        let what = format!("limit_v {} is met only after {most:.3e} cycles", law.limit_v);
        return Err(section.error("limit_v", what, "expected constants that give at most 10^9 cycles"));
    }
    Ok(())
}
