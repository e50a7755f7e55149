//! `lifetime.reduce`: the drives and settings that allow deduplication and compression.

use crate::layers::Layers;
use floatgate_base::Result;
use floatgate_ftl::reduce::{ChunkSetup, Reduce, Schemes};
use floatgate_ftl::{Reclaim, Setup};
use floatgate_lifetime::reduce::{Chunks, Reducer};
use floatgate_lifetime::{SECONDS_PER_YEAR, Throttle};
use floatgate_sim::plan::{DriveSettings, ReduceSettings, ThrottleSettings};

/// 2^64: every page is a sample.
const SAMPLES_ALL: f64 = 18_446_744_073_709_551_616.0;
/// Fewest epochs in a life; the first one decides nothing.
const EPOCHS_MIN: f64 = 10.0;
const POLICY: &str = "lifetime.reduce.policy";

/// Resolves the reduction of the FTL; none if nothing is reduced.
pub(crate) fn resolve(
    layers: &Layers,
    (reduce, throttle): (&ReduceSettings, &ThrottleSettings),
    drive: &DriveSettings,
    setup: &Setup,
) -> Result<Option<Reduce>> {
    if reduce.policy == Reducer::None {
        return Ok(None);
    }
    check(layers, (reduce, throttle), drive, setup)?;
    let index_entries = match reduce.params.dedup {
        None => 0,
        Some(dedup) => {
            let entries =
                (dedup.index_share * f64::from(setup.logical_pages)).min(f64::from(u32::MAX / 8)) as u32;
            let pages = drive.geometry.pages_per_block;
            if entries < pages {
                let what = format!("an index of {entries} entries is smaller than a block of {pages} pages");
                let least = f64::from(pages) / f64::from(setup.logical_pages);
                // Two figures, rounded up.
                let decimals = (1..12).find(|&d| least * 10f64.powi(d) >= 10.0).unwrap_or(12);
                let least = (least * 10f64.powi(decimals)).ceil() / 10f64.powi(decimals);
                let expected = format!(
                    "expected at least {least:.0$} of the {1} logical pages",
                    decimals as usize, setup.logical_pages
                );
                return Err(layers.error("lifetime.reduce.index_share", what, expected));
            }
            entries
        }
    };
    let chunks = reduce.params.chunks.map(|Chunks { pages, timeout_ns, plain, repack, .. }| ChunkSetup {
        pages,
        page_bytes: drive.geometry.page_bytes,
        timeout_ns: Some(timeout_ns),
        plain,
        repack,
    });
    // A manager begins with everything off, and samples.
    let managed = reduce.params.integrated;
    let schemes = Schemes {
        dedup: index_entries > 0 && managed.is_none(),
        compress: chunks.is_some() && managed.is_none(),
    };
    let samples_below = managed.map_or(0, |managed| (managed.sample_share * SAMPLES_ALL) as u64);
    Ok(Some(Reduce { index_entries, chunks, schemes, samples_below }))
}

/// Checks whether a manager copies pages that are read often.
fn makes_replicas(reclaim: Reclaim) -> bool {
    reclaim.info().params.iter().any(|param| param.name == "replica_pages")
}

/// Refuses drives on which content cannot be reduced in this way.
fn check(
    layers: &Layers,
    (reduce, throttle): (&ReduceSettings, &ThrottleSettings),
    drive: &DriveSettings,
    setup: &Setup,
) -> Result<()> {
    let name = reduce.policy.info().name;
    if let Some(integrated) = reduce.params.integrated {
        if throttle.policy != Throttle::None {
            let what =
                format!("{name} throttles by itself, beside the throttle {}", throttle.policy.info().name);
            return Err(layers.error(POLICY, what, "expected lifetime.throttle.policy = \"none\""));
        }
        let (epoch_s, target_s) =
            (integrated.epoch_ns as f64 / 1e9, throttle.target_years * SECONDS_PER_YEAR);
        if EPOCHS_MIN * epoch_s > target_s {
            let what = format!("epochs of {epoch_s} s are too long for a life of {target_s:.0} s");
            let expected = format!(
                "expected at most {:.0} s, a tenth of lifetime.throttle.target_years",
                target_s / EPOCHS_MIN
            );
            return Err(layers.error("lifetime.reduce.epoch_s", what, expected));
        }
    }
    if setup.separate.foresees() {
        let what = format!(
            "{name} changes which writes are programmed, and the separator {} knows when pages die by the order of all",
            setup.separate.info().name
        );
        return Err(layers.error(POLICY, what, "expected another separator, or \"none\""));
    }
    if setup.programs_unwritten {
        let what =
            format!("{name} goes by what is written, and a page that was never written has no content");
        return Err(layers.error(
            "ftl.unwritten_reads",
            what,
            "expected \"nothing\", or lifetime.reduce.policy = \"none\"",
        ));
    }
    if let Some((_, reclaim)) = setup.disturb
        && makes_replicas(reclaim)
    {
        let what = format!(
            "{name} lets several logical pages share a physical one, and the read-disturb manager {} copies pages of one",
            reclaim.info().name
        );
        return Err(layers.error(
            POLICY,
            what,
            "expected a manager without replicas, such as ftl.reclaim.policy = \"redftl-plus-plus\", or \"none\"",
        ));
    }
    if let (Some(chunks), Some(disturb)) = (reduce.params.chunks, &drive.disturb) {
        let (reads, pages) = (disturb.max / floatgate_nand::disturb::UNIT, drive.flash_pages_per_block());
        if reads < pages + chunks.pages {
            let what = format!("a block endures {reads} reads, and a chunk is read as a whole");
            let expected = format!(
                "expected at least {}, the pages of a block and those of a chunk, or fewer lifetime.reduce.chunk_pages",
                pages + chunks.pages
            );
            return Err(layers.error("drive.disturb.max_reads", what, expected));
        }
    }
    if reduce.params.chunks.is_some() && !drive.plp {
        let what = format!("'{name}' gathers pages in the controller, which would lose them in a power cut");
        return Err(layers.error(POLICY, what, "expected drive.plp = true, or \"dedup\""));
    }
    Ok(())
}
