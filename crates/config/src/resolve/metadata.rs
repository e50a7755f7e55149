//! `ftl.metadata`: the map on flash.

use super::slot;
use crate::layers::Layers;
use crate::settings;
use floatgate_base::policy::Facts;
use floatgate_base::{Error, Result, Setting};
use floatgate_ftl::Separate;
use floatgate_ftl::metadata::Metadata;
use floatgate_nand::Geometry;

/// Resolves the table; defaults become numbers. Refuses separators that know the next write of every page: metadata are
/// not in the workload.
pub(super) fn resolve(
    layers: &Layers,
    (table, facts): (Option<settings::Metadata>, &Facts),
    (logical_pages, geometry): (u32, Geometry),
    separate: Separate,
) -> Result<(Option<Metadata>, Option<settings::Metadata>)> {
    let (policy, mut raw) = slot::resolve(layers, table, facts)?;
    let metadata = Metadata::of(&policy, logical_pages, geometry.page_bytes);
    if let Some(metadata) = metadata {
        raw.set("updates_per_page", Setting::Whole(metadata.updates_per_page.into()));
        raw.set("journal_pages", Setting::Whole(metadata.journal_pages.into()));
    }
    if metadata.is_some() && separate.foresees() {
        let what = "an oracle separator cannot foresee writes of metadata";
        return Err(layers.error("ftl.metadata.policy", what, "expected \"none\", or another separator"));
    }
    // Left out without metadata, which keeps the hashes of older experiments.
    Ok((metadata, metadata.map(|_| raw)))
}

/// Makes the error of metadata that leave no room: they have `pages`, and `room` pages are left beside those of the host.
pub(super) fn refused(layers: &Layers, pages: u64, room: u64) -> Box<Error> {
    let what = format!("map and journal take {pages} pages, and {room} are left beside those of the host");
    let expected = "expected fewer journal_pages, or more ftl.spare_factor";
    layers.error("ftl.metadata.journal_pages", what, expected)
}
