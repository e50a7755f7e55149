//! `drive.visible`: the bytes that the host sees, from which the spare factor follows.

use super::{drive, mapping};
use crate::layers::Layers;
use crate::settings::{self, SPARE_MAX};
use floatgate_base::Result;
use floatgate_base::units::parse_bytes;
use floatgate_nand::Geometry;

const KEY: &str = "drive.visible";
/// Half of the smallest page of a map: the number of visible pages is rounded down.
const HALF_BYTES: f64 = 256.0;

/// Returns the table of the flash translation layer with the spare factor that leaves the visible bytes, and the shape
/// of the drive.
///
/// # Errors
/// The drive has no such shape, or cannot show so many bytes.
pub(super) fn sized(
    layers: &Layers,
    table: Option<settings::Ftl>,
    drive_table: &settings::Drive,
) -> Result<(settings::Ftl, Geometry)> {
    let mut table = table.unwrap_or_default();
    let (shape, _) = drive::geometry(layers, drive_table, table.mapping_bytes)?;
    let Some(text) = &drive_table.visible else { return Ok((table, shape)) };
    if table.spare_factor.is_some() {
        let what = "visible and ftl.spare_factor both say how much the host sees";
        return Err(layers.error(KEY, what, "expected one of them"));
    }
    let bytes = parse_bytes(text).map_err(|e| layers.error(KEY, e, "expected a size such as \"7 GiB\""))?;
    let page = table.mapping_bytes.unwrap_or(mapping::BYTES_DEFAULT).clamp(1, shape.page_bytes.max(1));
    let shown = bytes.div_ceil(u64::from(page)) * u64::from(page);
    let flash = shape.bytes();
    let spare_factor = 1.0 - (shown as f64 + HALF_BYTES) / flash as f64;
    if bytes == 0 || spare_factor <= 0.0 || spare_factor > SPARE_MAX {
        let what = format!("'{text}' of a drive with {flash} bytes of flash");
        let least = 100.0 * (1.0 - SPARE_MAX);
        let expected = format!(
            "expected from {least:.0} % of the flash to less than all of it, or another drive.capacity"
        );
        return Err(layers.error(KEY, what, expected));
    }
    table.spare_factor = Some(spare_factor);
    Ok((table, shape))
}

#[cfg(test)]
mod tests {
    use crate::layers::Layers;
    use crate::resolve::resolve;

    fn pages_and_text(settings: &[(&str, &str)]) -> Result<(u32, String), String> {
        let mut layers = Layers::default();
        for (key, value) in settings {
            layers.add_override(key, value).expect("the key exists");
        }
        let resolved = resolve(layers).map_err(|error| error.to_string())?;
        let text = toml::to_string(&resolved.experiment).expect("it is a table");
        Ok((resolved.plan.ftl.setup.logical_pages, text))
    }

    #[test]
    fn so_many_bytes_are_seen_to_the_page_and_again_from_the_resolved_experiment() {
        for (capacity, visible, page) in [
            ("8 GiB", 7_u64 << 30, "4096"),
            ("64 MiB", (50 << 20) + 4096, "4096"),
            ("480 GB", 447_034_621_952, "16384"),
            ("7 TiB", (6_u64 << 40) + 3 * 4096, "16384"),
        ] {
            let text = visible.to_string();
            let sized = [("drive.capacity", capacity), ("drive.geometry.page_bytes", page)];
            let (pages, resolved) =
                pages_and_text(&[sized[0], sized[1], ("drive.visible", &text)]).expect("it fits");
            assert_eq!(u64::from(pages), visible.div_ceil(4096), "{capacity}");
            assert!(!resolved.contains("visible"), "{resolved}");
            let mut again = Layers::default();
            again.add_file(&resolved, "e.toml").expect("it is an experiment");
            assert_eq!(resolve(again).expect("it is sound").plan.ftl.setup.logical_pages, pages);
        }
    }

    #[test]
    fn what_a_drive_cannot_show_is_refused() {
        let refusal = |settings: &[(&str, &str)]| pages_and_text(settings).expect_err("it is refused");
        let one = ("drive.capacity", "1 GiB");
        let too_much = refusal(&[one, ("drive.visible", "1 GiB")]);
        assert!(
            too_much.starts_with("drive.visible: '1 GiB' of a drive with 1073741824 bytes"),
            "{too_much}"
        );
        let nothing = refusal(&[one, ("drive.visible", "0")]);
        assert!(nothing.starts_with("drive.visible: "), "{nothing}");
        let too_little = refusal(&[one, ("drive.visible", "50 MiB")]);
        assert!(too_little.contains("expected from 5 % of the flash to less than all of it"), "{too_little}");
        assert!(pages_and_text(&[one, ("drive.visible", "52 MiB")]).is_ok());
        let mut layers = Layers::default();
        let both = "[drive]\ncapacity = \"1 GiB\"\nvisible = \"900 MiB\"\n[ftl]\nspare_factor = 0.2\n";
        layers.add_file(both, "e.toml").expect("both are keys");
        let error = resolve(layers).expect_err("it is refused").to_string();
        assert!(error.contains("both say how much the host sees"), "{error}");
    }

    #[test]
    fn a_later_layer_replaces_the_other_key() {
        let file = "[drive]\ncapacity = \"1 GiB\"\n[ftl]\nspare_factor = 0.5\n";
        let mut layers = Layers::default();
        layers.add_file(file, "e.toml").expect("it is an experiment");
        layers.add_override("drive.visible", "900 MiB").expect("the key exists");
        let pages = resolve(layers).expect("it is sound").plan.ftl.setup.logical_pages;
        assert_eq!(pages, 900 << 8);
    }
}
