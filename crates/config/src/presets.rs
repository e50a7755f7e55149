//! The catalogue of drives that ships with the program: `configs/drives/*.toml`, compiled in.

/// A drive of the catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Name, as in `drive.preset`.
    pub name: &'static str,
    /// Its TOML; the first line, a comment, is its summary.
    pub toml: &'static str,
}

macro_rules! presets {
    ($($name:literal),* $(,)?) => {
        &[$(Preset { name: $name, toml: include_str!(concat!("../../../configs/drives/", $name, ".toml")) },)*]
    };
}

/// All drives.
pub const PRESETS: &[Preset] = presets![
    "mlc-20nm",
    "ready-32g",
    "ready-128g",
    "pattern-16g",
    "ssd-v",
    "ssd-i",
    "ssd-m",
    "ssd-s",
    "tlc-redftl"
];

impl Preset {
    /// Finds a drive by name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// What the drive is.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.toml.lines().next().unwrap_or("").trim_start_matches('#').trim()
    }
}
