//! A drive in a file: written at the end of a run, and the first state of others, in either mode.
//!
//! The file begins with the properties of the drive; a run that starts from it must describe the same drive.

use crate::array::{BackEnd, with_flash};
use crate::drive::Drive;
use crate::plan::Plan;
use floatgate_base::Result;
use floatgate_flash::Scope;
use floatgate_ftl::Victim;
use floatgate_ftl::pool::FREE_CHOICES;
use floatgate_ftl::setup::ALLOCATIONS;
use floatgate_snapshot::{Kind, Reader, damaged, replace_file, unfit};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Version of the sections' content; increases with every change of a written type.
pub const STATE_VERSION: u32 = 28;

/// A property in which two drives may differ.
#[derive(Debug, Serialize, Deserialize)]
struct Trait {
    /// The setting that determines it.
    key: String,
    /// The value to compare.
    is: String,
    /// Values of the setting that match it.
    fits: String,
}

/// Returns all properties on which the state depends.
fn traits(plan: &Plan) -> Vec<Trait> {
    let g = &plan.drive.geometry;
    let counts = [
        ("channels", g.channels),
        ("chips_per_channel", g.chips_per_channel),
        ("dies_per_chip", g.dies_per_chip),
        ("planes_per_die", g.planes_per_die),
        ("blocks_per_plane", g.blocks_per_plane),
        ("pages_per_block", plan.drive.flash_pages_per_block()),
        ("page_bytes", plan.drive.flash_page_bytes()),
    ];
    let geometry = counts.map(|(key, n)| (format!("drive.geometry.{key}"), n.to_string(), n.to_string()));
    let mapping_bytes = g.page_bytes.to_string();
    let mapping = [("ftl.mapping_bytes".to_owned(), mapping_bytes.clone(), mapping_bytes)];
    let scope = match plan.ftl.scope {
        Scope::Plane => "plane",
        Scope::Superblock => "superblock",
    };
    let quoted = |name: &str| format!("\"{name}\"");
    // Under static allocation every page must lie in its own plane.
    let allocation = ALLOCATIONS[plan.ftl.setup.allocation as usize].0;
    let index = plan.ftl.setup.victim.index_kind();
    let separate = plan.ftl.setup.separate.chosen();
    let rest = [
        ("ftl.collect.scope", scope.to_owned(), quoted(scope)),
        ("ftl.allocation.mode", allocation.to_owned(), quoted(allocation)),
        ("ftl.spare_factor", plan.ftl.setup.logical_pages.to_string(), plan.ftl.spare_factor.to_string()),
        ("ftl.separate.policy", format!("{separate:?}"), quoted(separate.info().name)),
        (
            "ftl.dispatch.policy",
            plan.ftl.dispatch.labels().to_string(),
            quoted(plan.ftl.dispatch.info().name),
        ),
        ("ftl.collect.policy", index.words(), Victim::with_index(index).join(" or ")),
        (
            "ftl.free_block",
            FREE_CHOICES[plan.ftl.setup.free_choice as usize].0.to_owned(),
            quoted(FREE_CHOICES[plan.ftl.setup.free_choice as usize].0),
        ),
    ];
    let rest = rest.map(|(key, is, fits)| (key.to_owned(), is, fits));
    geometry.into_iter().chain(mapping).chain(rest).map(|(key, is, fits)| Trait { key, is, fits }).collect()
}

/// Refuses the file of another drive.
fn compare(path: &str, theirs: &[Trait], ours: &[Trait]) -> Result<()> {
    if theirs.len() != ours.len() || theirs.iter().zip(ours).any(|(a, b)| a.key != b.key) {
        return Err(damaged(path, 0, "the snapshot is damaged: it does not describe its drive"));
    }
    match theirs.iter().zip(ours).find(|(a, b)| a.is != b.is) {
        Some((a, b)) => Err(unfit(
            path,
            format!("holds another drive: {} is {} there and {} here", a.key, a.fits, b.fits),
            format!("expected {} = {}", a.key, a.fits),
        )),
        None => Ok(()),
    }
}

/// Writes a drive at rest; returns the content hash in hex.
///
/// # Errors
/// The file cannot be written.
pub fn save<F: BackEnd>(path: &Path, plan: &Plan, drive: &Drive<F>) -> Result<String> {
    replace_file(path, Kind::Drive, STATE_VERSION, |out| {
        out.state("drive", &(traits(plan), plan.seed))?;
        drive.ftl.save(out)?;
        out.state("flash", &drive.array.counts().saved())
    })
}

/// Replaces `drive` by the one in a file; returns the file's content hash. Random numbers continue if the seed is
/// unchanged; with another seed they begin anew.
///
/// # Errors
/// The file is missing, damaged, or holds another drive or version.
pub fn load<F: BackEnd>(path: &str, plan: &Plan, drive: &mut Drive<F>) -> Result<String> {
    let mut from = Reader::open(path, Kind::Drive, STATE_VERSION)?;
    let (theirs, seed): (Vec<Trait>, u64) = from.state("drive")?;
    compare(path, &theirs, &traits(plan))?;
    let Drive { ftl, array } = drive;
    ftl.restore(&mut from)?;
    ftl.start_over(seed != plan.seed);
    if !array.counts_mut().restore(from.state("flash")?) {
        return Err(damaged(
            path,
            0,
            "the snapshot is damaged: it holds the wear of another number of blocks",
        ));
    }
    ftl.learn_wear(array.erase_counts());
    let hash = from.finish()?;
    if plan.shadow {
        with_flash!(array, flash => ftl.show_content(flash));
    }
    Ok(hash)
}
