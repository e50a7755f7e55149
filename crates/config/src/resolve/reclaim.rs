//! `ftl.reclaim`: read reclaim, and the drives that support it.

use super::slot;
use crate::layers::Layers;
use crate::settings;
use floatgate_base::policy::Facts;
use floatgate_base::{ChosenPolicy, Result};
use floatgate_flash::{Layout, Scope};
use floatgate_ftl::{Reclaim, reclaim};
use floatgate_sim::plan::DriveSettings;

const POLICY: &str = "ftl.reclaim.policy";

/// Resolves the manager of read disturb, for a drive whose pages are those of the map; none without read
/// disturb.
pub(crate) fn resolve(
    layers: &Layers,
    table: Option<settings::Reclaim>,
    drive: &DriveSettings,
    layout: &Layout,
) -> Result<(Option<Reclaim>, settings::Reclaim)> {
    let mut table = table.unwrap_or_default();
    if drive.disturb.is_some() {
        table.policy.get_or_insert_with(|| reclaim::DEFAULT.into());
    }
    let (manager, raw) = slot::resolve(layers, Some(table), &Facts::default())?;
    let none = reclaim::POLICIES[0].name;
    let Some(disturb) = drive.disturb else {
        if manager.name() == none {
            return Ok((None, raw));
        }
        let what = format!("{} has nothing to do: reads disturb nothing", manager.name());
        let expected = "expected \"none\", or a drive.disturb.model such as \"tlc-base\"";
        return Err(layers.error(POLICY, what, expected));
    };
    let pages = drive.flash_pages_per_block();
    if disturb.max / floatgate_nand::disturb::UNIT < pages {
        let what =
            format!("a block of {pages} pages stands {} reads", disturb.max / floatgate_nand::disturb::UNIT);
        let expected = format!("expected at least {pages}: each page must be read once without a reclaim");
        return Err(layers.error("drive.disturb.max_reads", what, expected));
    }
    if manager.find_name("order") == Some("by-type") && disturb.types < 2 {
        let what = format!(
            "{} sorts pages by their type, and drive.disturb.model has one type only",
            manager.name()
        );
        let expected = "expected a model with page types (\"mlc\", \"tlc-base\", \"tlc-opt\"), or ftl.reclaim.policy = \"rrb\"";
        return Err(layers.error(POLICY, what, expected));
    }
    replicas(layers, &manager, drive, layout)?;
    Ok((Some(Reclaim::of(&manager)), raw))
}

/// Refuses drives without room for replicas in blocks, or without pages of their own.
fn replicas(layers: &Layers, manager: &ChosenPolicy, drive: &DriveSettings, layout: &Layout) -> Result<()> {
    let Some(replica_pages) = manager.find_whole("replica_pages") else { return Ok(()) };
    if layout.scope() == Scope::Superblock {
        let what = format!(
            "{} keeps pages of each block for replicas, and a superblock is programmed as one",
            manager.name()
        );
        let expected = "expected another policy, or ftl.collect.scope = \"plane\"";
        return Err(layers.error(POLICY, what, expected));
    }
    if drive.subpages > 1 {
        let what = format!(
            "{} makes replicas of whole flash pages, and {} pages of the map share one",
            manager.name(),
            drive.subpages
        );
        let expected =
            format!("expected another policy, or ftl.mapping_bytes = {}", drive.flash_page_bytes());
        return Err(layers.error(POLICY, what, expected));
    }
    let most = u64::from(drive.geometry.pages_per_block / 2);
    if replica_pages > most {
        let what = format!(
            "replica_pages is {replica_pages}, in blocks of {} pages",
            drive.geometry.pages_per_block
        );
        let expected = format!("expected at most {most}, half of a block");
        return Err(layers.error("ftl.reclaim.replica_pages", what, expected));
    }
    let [create, migrate] = ["create_at", "migrate_at"].map(|name| manager.real(name));
    if create > migrate {
        let what = format!("create_at is {create} and migrate_at {migrate}");
        let expected = "expected replicas to be made before they take their originals' places: create_at no larger than migrate_at";
        return Err(layers.error("ftl.reclaim.create_at", what, expected));
    }
    Ok(())
}
