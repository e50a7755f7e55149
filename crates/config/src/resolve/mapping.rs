//! `ftl.mapping_bytes`: the unit of the map, and how many units a flash page holds.

use crate::layers::Layers;
use floatgate_base::{Error, PAGES_MAX, Result};
use floatgate_nand::Geometry;
use floatgate_sim::plan::DriveSettings;

/// The smallest page of a map: a sector.
const BYTES_MIN: u32 = 512;

/// The unit of nearly all drives, however large their flash pages are.
pub(super) const BYTES_DEFAULT: u32 = 4096;

/// The largest page of the array.
const PAGE_BYTES_MAX: u32 = 65_536;

/// Bytes of memory that a page of the map takes: four each way, rounded up from 7.5 measured.
const BYTES_PER_PAGE: u128 = 8;

/// Returns how many planes of a die work as one, where a unit of the map fills a page of each. Returns 1 for
/// units up to a flash page, and for `bytes` that planes cannot give, which [`resolve`] refuses.
pub(crate) fn planes_together(geometry: &Geometry, bytes: Option<u32>) -> u32 {
    let Some(bytes) = bytes.filter(|bytes| bytes.is_power_of_two() && *bytes <= PAGE_BYTES_MAX) else {
        return 1;
    };
    if !geometry.page_bytes.is_power_of_two() || bytes <= geometry.page_bytes {
        return 1;
    }
    let planes = bytes / geometry.page_bytes;
    if geometry.planes_per_die.is_multiple_of(planes) { planes } else { 1 }
}

/// Returns the largest unit of the map that a drive can have, bytes.
pub(crate) fn largest(geometry: &Geometry) -> u32 {
    let twos = 1 << geometry.planes_per_die.trailing_zeros().min(16);
    geometry.page_bytes.saturating_mul(twos).min(PAGE_BYTES_MAX).max(geometry.page_bytes)
}

/// Converts the geometry of a drive to units of the map.
pub(crate) fn resolve(layers: &Layers, drive: &mut DriveSettings, mapping_bytes: Option<u32>) -> Result<()> {
    let key = "ftl.mapping_bytes";
    let page_bytes = drive.geometry.page_bytes;
    let bytes = mapping_bytes.unwrap_or_else(|| page_bytes.min(BYTES_DEFAULT));
    if !bytes.is_power_of_two() || !(BYTES_MIN..=page_bytes).contains(&bytes) {
        let what = format!("mapping_bytes is {bytes}");
        let mut expected =
            format!("expected a power of two from {BYTES_MIN} to the {page_bytes} bytes of a page");
        let (largest, planes) = (largest(&drive.geometry), drive.geometry.planes_per_die);
        if largest > page_bytes {
            let together = largest / page_bytes;
            expected +=
                &format!(", or to the {largest} of {together} of the {planes} planes of a die together");
        }
        return Err(layers.error(key, what, expected));
    }
    let subpages = page_bytes / bytes;
    let pages = u128::from(drive.geometry.pages()) * u128::from(subpages);
    if pages > u128::from(PAGES_MAX) {
        return Err(too_many(layers, key, (pages, bytes), page_bytes.max(largest(&drive.geometry))));
    }
    drive.subpages = subpages;
    drive.geometry.page_bytes = bytes;
    drive.geometry.pages_per_block *= subpages;
    Ok(())
}

/// Refuses a map of more units than its words can address: `pages` of `bytes`, on a drive whose units may have
/// up to `largest` bytes.
pub(crate) fn too_many(layers: &Layers, key: &str, (pages, bytes): (u128, u32), largest: u32) -> Box<Error> {
    let gib = (pages * BYTES_PER_PAGE).div_ceil(1 << 30);
    let what = format!("the map has {pages} units of {bytes} bytes, {gib} GiB of memory at 8 bytes per unit");
    let most = u128::from(PAGES_MAX);
    let larger = std::iter::successors(Some(bytes), |bytes| bytes.checked_mul(2));
    let needed = larger
        .take_while(|&other| other <= PAGE_BYTES_MAX)
        .find(|&other| pages * u128::from(bytes) / u128::from(other) <= most);
    let remedy = match needed {
        Some(needed) if needed <= largest => format!("ftl.mapping_bytes = {needed} or more, or "),
        Some(needed) => format!("drive.geometry.page_bytes and ftl.mapping_bytes = {needed} or more, or "),
        None => String::new(),
    };
    let tib = ((most + 1) * u128::from(bytes)) >> 40;
    let expected = format!("expected at most {PAGES_MAX} units: {remedy}a drive smaller than {tib} TiB");
    layers.error(key, what, expected)
}
