//! The table `[ftl.level]`.

use crate::layers::Layers;
use crate::raw;
use crate::tables::known;
use floatgate_base::Result;
use floatgate_ftl::level::{self, HotColdSwap, Level};

/// The leveler, and what the resolved experiment says; `pe_cycles` are those of the drive.
pub(crate) fn resolve(
    layers: &Layers,
    given: Option<raw::Level>,
    pe_cycles: u32,
) -> Result<(Level, raw::Level)> {
    let given = given.unwrap_or_default();
    let name = given.policy.clone().unwrap_or_else(|| "none".into());
    known(layers, "ftl.level.policy", "wear-leveler", &name, level::POLICIES)?;
    let info = level::POLICIES.iter().find(|info| info.name == name).expect("it is known");
    let set = [
        ("pe_cycles", given.pe_cycles.is_some()),
        ("retirement_age", given.retirement_age.is_some()),
        ("age_variance", given.age_variance.is_some()),
        ("lead_share_min", given.lead_share_min.is_some()),
    ];
    let foreign = set.iter().find(|&&(key, set)| set && !info.params.iter().any(|param| param.name == key));
    if let Some((key, _)) = foreign {
        let owners = level::POLICIES.iter().filter(|info| info.params.iter().any(|param| param.name == *key));
        let owners: Vec<_> = owners.map(|info| info.name).collect();
        return Err(layers.error(
            &format!("ftl.level.{key}"),
            format!("{key} is no parameter of {name}"),
            format!("expected it with {} only", owners.join(", ")),
        ));
    }
    match name.as_str() {
        "none" => Ok((Level::None, raw::Level { policy: Some(name), ..Default::default() })),
        "hot-cold-swap" => {
            let policy = hot_cold_swap(layers, &given, pe_cycles)?;
            let raw = raw::Level {
                policy: Some(name),
                pe_cycles: Some(policy.pe_cycles),
                retirement_age: Some(policy.retirement_age),
                age_variance: Some(policy.age_variance),
                lead_share_min: Some(policy.lead_share_min),
            };
            Ok((Level::HotColdSwap(policy), raw))
        }
        other => unreachable!("wear-leveler {other} is in the table but not here"),
    }
}

fn hot_cold_swap(layers: &Layers, given: &raw::Level, pe_cycles: u32) -> Result<HotColdSwap> {
    let policy = HotColdSwap {
        pe_cycles: given.pe_cycles.unwrap_or(pe_cycles),
        retirement_age: given.retirement_age.unwrap_or(0.85),
        age_variance: given.age_variance.unwrap_or(0.2),
        lead_share_min: given.lead_share_min.unwrap_or(0.01),
    };
    if policy.pe_cycles == 0 {
        return Err(layers.error("ftl.level.pe_cycles", "pe_cycles is 0", "expected a whole number from 1"));
    }
    let shares = [
        ("retirement_age", policy.retirement_age),
        ("age_variance", policy.age_variance),
        ("lead_share_min", policy.lead_share_min),
    ];
    match shares.iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
        Some((key, share)) => Err(layers.error(
            &format!("ftl.level.{key}"),
            format!("{key} is {share}"),
            "expected a share from 0 to 1",
        )),
        None => Ok(policy),
    }
}
