//! `ftl.mapping_bytes`: what the map knows as one page, and how many of these a page of the flash holds.

use crate::layers::Layers;
use floatgate_base::{PAGES_MAX, Result};
use floatgate_sim::plan::DriveSettings;

/// The smallest page of a map: a sector.
const BYTES_MIN: u32 = 512;

/// What nearly all drives map, however large their flash pages are.
const BYTES_DEFAULT: u32 = 4096;

/// Lets the geometry of a drive count in pages of the map.
pub(crate) fn resolve(layers: &Layers, drive: &mut DriveSettings, given: Option<u32>) -> Result<()> {
    let key = "ftl.mapping_bytes";
    let page_bytes = drive.geometry.page_bytes;
    let bytes = given.unwrap_or_else(|| page_bytes.min(BYTES_DEFAULT));
    if !bytes.is_power_of_two() || !(BYTES_MIN..=page_bytes).contains(&bytes) {
        let what = format!("mapping_bytes is {bytes}");
        let expected =
            format!("expected a power of two from {BYTES_MIN} to the {page_bytes} bytes of a page");
        return Err(layers.error(key, what, expected));
    }
    let subpages = page_bytes / bytes;
    let pages = drive.geometry.pages() * u64::from(subpages);
    if pages > PAGES_MAX {
        let what = format!("the map has {pages} pages of {bytes} bytes");
        let expected = format!("expected at most {PAGES_MAX}: a larger mapping_bytes, or a smaller drive");
        return Err(layers.error(key, what, expected));
    }
    drive.subpages = subpages;
    drive.geometry.page_bytes = bytes;
    drive.geometry.pages_per_block *= subpages;
    Ok(())
}
