//! `ftl.level`: wear-leveling, and the drives that support it.

use super::slot;
use crate::layers::Layers;
use crate::settings;
use floatgate_base::policy::Facts;
use floatgate_base::{ChosenPolicy, Result};
use floatgate_flash::{Layout, Scope};
use floatgate_ftl::{Allocation, Level};

const POLICY: &str = "ftl.level.policy";

/// Resolves the leveler of a drive.
pub(crate) fn resolve(
    layers: &Layers,
    table: Option<settings::Level>,
    facts: &Facts,
    (layout, allocation): (&Layout, Allocation),
) -> Result<(Level, settings::Level)> {
    let (policy, raw) = slot::resolve(layers, table, facts)?;
    let level = Level::of(&policy);
    if let Level::ReadBalance(_) = level {
        read_balance(layers, &policy, layout, allocation)?;
    }
    Ok((level, raw))
}

/// Checks read-balance, which writes pages to two chips of their channel.
fn read_balance(
    layers: &Layers,
    policy: &ChosenPolicy,
    layout: &Layout,
    allocation: Allocation,
) -> Result<()> {
    let name = policy.name();
    let chips = layout.geometry().chips_per_channel;
    if chips < 2 {
        let what = format!("{name} splits blocks over two chips of a channel, and a channel has {chips}");
        let expected =
            "expected drive.geometry.chips_per_channel of at least 2, or another policy such as \"swl\"";
        return Err(layers.error(POLICY, what, expected));
    }
    if layout.scope() == Scope::Superblock {
        let what = format!("{name} splits blocks over two chips, and a superblock lies on all of them");
        return Err(layers.error(POLICY, what, "expected another policy, or ftl.collect.scope = \"plane\""));
    }
    if allocation == Allocation::Static {
        let what = format!("{name} moves pages to other chips, and static allocation ties each to its plane");
        let expected = "expected another policy, or ftl.allocation.mode = \"dynamic\"";
        return Err(layers.error(POLICY, what, expected));
    }
    let [less, frequent] = ["less_read_share", "frequent_read_share"].map(|key| policy.real(key));
    if less >= frequent {
        let what = format!("less_read_share is {less} and frequent_read_share {frequent}");
        let expected = "expected a block that is read often to have more pages read than one that is hardly read: \
                        less_read_share below frequent_read_share";
        return Err(layers.error("ftl.level.less_read_share", what, expected));
    }
    Ok(())
}
