//! The catalogue of drives that ships with the program: `configs/drives/*.toml`, compiled in.

/// Where a drive of the catalogue comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// A class of drives that one can buy (`docs/drives.md`).
    Current,
    /// The drive of a paper.
    Papers,
}

impl Group {
    /// Returns the name in the catalogue.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Papers => "papers",
        }
    }
}

/// A drive of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name, as in `drive.preset`.
    pub name: &'static str,
    /// Where it comes from.
    pub group: Group,
    /// Its TOML; the first line, a comment, is its summary.
    pub toml: &'static str,
}

macro_rules! presets {
    ($($group:ident: $($name:literal),*;)*) => {
        &[$($(Preset {
            name: $name,
            group: Group::$group,
            toml: include_str!(concat!("../../../configs/drives/", $name, ".toml")),
        },)*)*]
    };
}

/// All drives, by group.
pub const PRESETS: &[Preset] = presets![
    Current:
        "ent-tlc-ri-1t92",
        "ent-tlc-ri-7t68",
        "ent-tlc-ri-15t36",
        "ent-tlc-mu-1t6",
        "ent-tlc-mu-3t2",
        "ent-tlc-mu-6t4",
        "ent-qlc-30t72",
        "ent-qlc-61t44",
        "client-tlc-1t",
        "client-tlc-2t",
        "client-tlc-hmb-1t",
        "client-qlc-1t",
        "client-qlc-2t",
        "boot-480g",
        "ufs-256g",
        "slc-lowlat-1t6",
        "slc-p5810-800g";
    Papers:
        "mlc-20nm",
        "ready-32g",
        "ready-128g",
        "pattern-16g",
        "ssd-v",
        "ssd-i",
        "ssd-m",
        "ssd-s",
        "tlc-redftl",
        "tlc-redftl-opt",
        "mlc-redftl";
];

impl Preset {
    /// Finds a drive by name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns the summary of the drive.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.toml.lines().next().unwrap_or("").trim_start_matches('#').trim()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::Layers;
    use crate::resolve::resolve;

    fn layers(preset: &Preset) -> Layers {
        let mut layers = Layers::default();
        layers.add_override("drive.preset", preset.name).expect("the key exists");
        layers
    }

    #[test]
    fn every_drive_is_valid_in_both_modes() {
        for preset in PRESETS {
            for mode in ["functional", "timed"] {
                let mut layers = layers(preset);
                layers.add_override("mode", mode).expect("the key exists");
                resolve(layers).unwrap_or_else(|e| panic!("{} in mode {mode}: {e}", preset.name));
            }
        }
    }

    #[test]
    fn drives_one_can_buy_show_what_they_are_sold_with() {
        for preset in PRESETS.iter().filter(|p| p.group == Group::Current) {
            let resolved = resolve(layers(preset)).expect("drives that ship are valid");
            let user_bytes = resolved.rated.and_then(|r| r.user_bytes).expect("every class has a capacity");
            let plan = &resolved.plan;
            let shown = f64::from(plan.ftl.setup.logical_pages) * f64::from(plan.drive.geometry.page_bytes);
            let scaled = if preset.summary().ends_with("scaled to 1/2 of its blocks.") { 2.0 } else { 1.0 };
            // An odd number of blocks per plane has no half, and spare factors have four digits.
            let ratio = shown * scaled / user_bytes as f64;
            assert!((ratio - 1.0).abs() < 3e-3, "{}: shows {ratio} of what it is sold with", preset.name);
        }
    }

    #[test]
    fn every_figure_of_drives_one_can_buy_names_its_source() {
        for preset in PRESETS.iter().filter(|p| p.group == Group::Current) {
            for line in preset.toml.lines().filter(|line| line.contains(" = ")) {
                let names_source = line.contains(" # ") || line == "dies_per_chip = 1";
                assert!(names_source, "{}: {line}", preset.name);
            }
        }
    }

    #[test]
    fn a_capacity_keeps_shape_and_rating_of_a_drive() {
        let preset = Preset::find("ent-tlc-ri-1t92").expect("it ships");
        let whole = resolve(layers(preset)).expect("it is valid");
        let mut smaller = layers(preset);
        smaller.add_override("drive.capacity", "64GiB").expect("the key exists");
        let part = resolve(smaller).expect("it is valid");
        let (one, other) = (part.plan.drive.geometry, whole.plan.drive.geometry);
        // 64 planes with blocks of 24 MiB: 42 of them are 63 GiB.
        assert_eq!(one.blocks_per_plane, 42);
        assert_eq!((one.planes(), one.pages_per_block), (other.planes(), other.pages_per_block));
        assert_eq!(part.rated, whole.rated);
    }
}
