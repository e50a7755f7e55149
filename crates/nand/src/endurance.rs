//! How many program/erase cycles a block stands.

/// The endurance model of a drive (`drive.endurance.model`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Endurance {
    /// Every block stands the same nominal number of cycles, however long it rests between them.
    Fixed {
        /// Nominal program/erase cycles.
        pe_cycles: u32,
    },
}

/// Names of the endurance models with what they do, for the configuration and the docs.
pub const MODELS: &[(&str, &str)] = &[("fixed", "every block stands pe_cycles program/erase cycles")];

impl Endurance {
    /// Nominal cycles of a block.
    #[must_use]
    pub fn pe_cycles(self) -> u32 {
        match self {
            Self::Fixed { pe_cycles } => pe_cycles,
        }
    }
}
