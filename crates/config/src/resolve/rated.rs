//! `[drive.rated]`: the rating by the maker, to compare with the results of the model.

use crate::layers::Layers;
use crate::presets::Preset;
use crate::settings::{self, USER_BYTES_MAX};
use floatgate_base::{Result, units::parse_bytes};
use serde_json::{Value, json};

/// Days of a warranty year, as makers reckon drive writes per day.
const DAYS_PER_YEAR: f64 = 365.0;
const BYTES_PER_TB: f64 = 1e12;
/// The rating of a drive; figures that are not published are none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rated {
    /// Bytes that the user of the drive as it is sold sees.
    pub user_bytes: Option<u64>,
    /// Bytes that the host may write.
    pub tbw_bytes: Option<u64>,
    /// Years of warranty.
    pub years: Option<f64>,
    /// Spare factor of the drive as it is sold, if the rating is that of its preset.
    pub spare_factor: Option<f64>,
}

impl Rated {
    /// Returns how often the host may write the whole drive.
    #[must_use]
    pub fn drive_writes(&self) -> Option<f64> {
        Some(self.tbw_bytes? as f64 / self.user_bytes? as f64)
    }

    /// Returns the drive writes per day over the warranty.
    #[must_use]
    pub fn dwpd(&self) -> Option<f64> {
        Some(self.drive_writes()? / self.years? / DAYS_PER_YEAR)
    }

    /// Formats the rating for results and the catalogue. The drive shows `logical_bytes` at `spare_factor`; if its
    /// flash is scaled, its rating is, too. Space left unused costs no rated bytes: flash counts, not what is visible.
    #[must_use]
    pub fn to_json(&self, logical_bytes: u64, spare_factor: f64) -> Value {
        let as_sold = self.spare_factor.map_or(1.0, |sold| (1.0 - sold) / (1.0 - spare_factor));
        let of_this = |writes: f64| (writes * logical_bytes as f64 * as_sold).round() as u64;
        json!({
            "user_bytes": self.user_bytes,
            "tbw_bytes": self.tbw_bytes,
            "years": self.years,
            "drive_writes": self.drive_writes(),
            "dwpd": self.dwpd(),
            "visible_tbw_bytes": self.drive_writes().map(of_this),
        })
    }
}

/// Resolves the rating and its table; none if the table is empty. `preset` names the drive of the catalogue, if any.
pub(crate) fn resolve(
    layers: &Layers,
    table: Option<settings::Rated>,
    preset: Option<&str>,
) -> Result<(Option<Rated>, Option<settings::Rated>)> {
    let table = table.unwrap_or_default();
    let mut rated = of_table(layers, &table)?;
    if rated == Rated::default() {
        return Ok((None, None));
    }
    rated.spare_factor =
        preset.and_then(Preset::find).and_then(|preset| spare_factor_as_sold(preset, &rated));
    let user_bytes = rated.user_bytes;
    let raw = settings::Rated { user_bytes, user_capacity: None, tbw_tb: table.tbw_tb, years: table.years };
    Ok((Some(rated), Some(raw)))
}

fn of_table(layers: &Layers, table: &settings::Rated) -> Result<Rated> {
    // No less than one byte, however small the rating.
    let tbw_bytes = table.tbw_tb.map(|tb| (tb * BYTES_PER_TB).round().max(1.0) as u64);
    Ok(Rated { user_bytes: user_bytes(layers, table)?, tbw_bytes, years: table.years, spare_factor: None })
}

/// Returns the spare factor of a preset, if the rating is its own: another rating is that of another drive.
fn spare_factor_as_sold(preset: &Preset, rated: &Rated) -> Option<f64> {
    let mut layers = Layers::default();
    layers.add_preset(preset.toml);
    let own = layers.experiment();
    let sold = of_table(&layers, &own.drive?.rated?).ok()?;
    let is_own = (sold.user_bytes, sold.tbw_bytes) == (rated.user_bytes, rated.tbw_bytes);
    is_own.then_some(own.ftl?.spare_factor).flatten()
}

fn user_bytes(layers: &Layers, table: &settings::Rated) -> Result<Option<u64>> {
    let (key, bytes) = match (table.user_bytes, &table.user_capacity) {
        (Some(_), Some(_)) => {
            let what = "user_bytes and user_capacity are both set";
            return Err(layers.error("drive.rated.user_capacity", what, "expected one of them"));
        }
        (None, None) => return Ok(None),
        (Some(bytes), None) => ("drive.rated.user_bytes", bytes),
        (None, Some(text)) => {
            let key = "drive.rated.user_capacity";
            let bytes =
                parse_bytes(text).map_err(|e| layers.error(key, e, "expected a size such as \"1.92 TB\""))?;
            (key, bytes)
        }
    };
    if !(1..=USER_BYTES_MAX).contains(&bytes) {
        let what = format!("a drive of {bytes} bytes");
        return Err(layers.error(key, what, "expected more than 0, at most 9e18"));
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::{Resolved, resolve};

    fn rated(text: &str) -> Result<Resolved> {
        let mut layers = Layers::default();
        layers.add_file(text, "drive.toml").expect("the text is TOML with known keys");
        resolve(layers)
    }

    #[test]
    fn a_write_a_day_over_five_years() {
        // Read-intensive drives: 1.92 TB and 3,504 TBW are one drive write per day over 5 years of 365 days.
        let resolved = rated("[drive.rated]\nuser_capacity = \"1.92 TB\"\ntbw_tb = 3504\nyears = 5\n")
            .expect("it is valid");
        let rated = resolved.rated.expect("it is given");
        assert_eq!(rated.user_bytes, Some(1_920_000_000_000));
        assert_eq!(rated.tbw_bytes, Some(3_504_000_000_000_000));
        assert!((rated.drive_writes().expect("both are known") - 1825.0).abs() < 1e-9);
        assert!((rated.dwpd().expect("all are known") - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_rating_has_only_the_figures_of_the_file() {
        assert_eq!(rated("").expect("it is valid").rated, None);
        let resolved = rated("[drive.rated]\nuser_bytes = 256000000000\n").expect("it is valid");
        let rated = resolved.rated.expect("it is given");
        assert_eq!((rated.tbw_bytes, rated.drive_writes(), rated.dwpd()), (None, None, None));
    }

    /// Returns the rated bytes of a drive under some settings.
    fn allowed(settings: &[(&str, &str)]) -> f64 {
        let mut layers = Layers::default();
        for (key, value) in settings {
            layers.add_override(key, value).expect("the key exists");
        }
        let resolved = resolve(layers).expect("it is valid");
        let logical_bytes = u64::from(resolved.plan.ftl.setup.logical_pages)
            * u64::from(resolved.plan.drive.geometry.page_bytes);
        let json =
            resolved.rated.expect("it is known").to_json(logical_bytes, resolved.plan.ftl.spare_factor);
        json["visible_tbw_bytes"].as_f64().expect("it is known")
    }

    #[test]
    fn space_left_unused_costs_no_rated_bytes() {
        let drive = ("drive.preset", "boot-480g");
        let sold = allowed(&[drive]);
        assert!((sold / 876e12 - 1.0).abs() < 1e-4, "{sold}");
        for spare_factor in ["0.1272", "0.2", "0.273", "0.07"] {
            let here = allowed(&[drive, ("ftl.spare_factor", spare_factor)]);
            assert!((here / sold - 1.0).abs() < 1e-6, "{spare_factor}: {here}");
        }
        // A slice has the share of its flash.
        let slice = allowed(&[drive, ("drive.geometry.blocks_per_plane", "911")]);
        let slice_with_more =
            allowed(&[drive, ("drive.geometry.blocks_per_plane", "911"), ("ftl.spare_factor", "0.273")]);
        assert!((slice_with_more / slice - 1.0).abs() < 1e-6, "{slice_with_more}, {slice}");
        assert!(slice < 0.6 * sold, "{slice}");
    }

    #[test]
    fn a_rating_of_its_own_is_that_of_the_visible_bytes() {
        // Another product with the flash of a preset: its capacity as sold belongs to its spare factor.
        let own = allowed(&[
            ("drive.preset", "boot-480g"),
            ("ftl.spare_factor", "0.2726"),
            ("drive.rated.user_capacity", "400 GB"),
            ("drive.rated.tbw_tb", "2190"),
        ]);
        assert!((own / 2190e12 - 1.0).abs() < 1e-3, "{own}");
    }

    #[test]
    fn what_makes_no_sense_is_refused_at_its_line() {
        let cases = [
            ("user_bytes = 0", "user_bytes is 0"),
            ("user_capacity = \"0 TB\"", "a drive of 0 bytes"),
            ("user_capacity = \"much\"", "not a size"),
            ("user_bytes = 1\nuser_capacity = \"1 TB\"", "both set"),
            ("tbw_tb = 0", "tbw_tb is 0"),
            ("tbw_tb = -1.0", "tbw_tb is -1"),
            ("tbw_tb = inf", "tbw_tb is inf"),
            ("tbw_tb = nan", "tbw_tb is NaN"),
            ("years = 0", "years is 0"),
            ("years = nan", "years is NaN"),
        ];
        for (line, what) in cases {
            let error = rated(&format!("[drive.rated]\n{line}\n")).expect_err(line).to_string();
            assert!(error.starts_with("drive.toml:") && error.contains(what), "{line}: {error}");
        }
    }
}
