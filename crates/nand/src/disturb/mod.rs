//! Read disturb: by how much a read disturbs the block that it reads (redFTL: dissertation on cross-layer
//! optimization of NAND flash storage, chapters 3 and 4).
//!
//! Reading a page disturbs the other pages of its block. The disturbance grows with the duration of the read (page
//! type) and with its voltage (mode of the block, set when it is programmed). The sum over the reads of a block must
//! stay below a maximum until the block is erased. [`Disturb`] holds a drive's parameters; [`trend`] is the law by
//! which that maximum depends on voltage and time.

mod model;
pub mod trend;

pub use model::SLOT;

/// Maximum of page types per block.
pub const TYPES_MAX: usize = 4;
/// Maximum of modes in which a block may be programmed.
pub const MODES_MAX: usize = 4;
/// Unit of disturbance: a thousandth of a read of the slowest page type in the ordinary mode.
pub const UNIT: u32 = 1000;

/// Parameters by which reads disturb the blocks of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disturb {
    /// Sum that a block endures between two erases, in thousandths of a read.
    pub max: u32,
    /// Types of pages: page `p` of a block is of type `p % types`, LSB first.
    pub types: u32,
    /// Modes in which a block may be programmed; mode 0 is the ordinary one.
    pub modes: u32,
    /// Disturbance of a read, in thousandths of a read, by mode and type; at least 1.
    pub weights: [[u32; TYPES_MAX]; MODES_MAX],
    /// Factor by which programs take longer in each mode.
    pub program_factors: [f64; MODES_MAX],
}

impl Disturb {
    /// Builds the parameters from weights by page type, and per mode from the factor of reads that a block endures and
    /// the factor by which its programs take longer.
    ///
    /// # Panics
    /// When there is no type or no mode, or too many.
    #[must_use]
    pub fn new(max_reads: u32, weights: &[f64], mode_reads: &[f64], program_factors: &[f64]) -> Self {
        assert!((1..=TYPES_MAX).contains(&weights.len()) && (1..=MODES_MAX).contains(&mode_reads.len()));
        let thousandths = |mode: usize, page_type: usize| {
            let share = weights.get(page_type)? / mode_reads.get(mode)?;
            Some(((share * f64::from(UNIT)).round() as u32).max(1))
        };
        let by_type = |mode| std::array::from_fn(|page_type| thousandths(mode, page_type).unwrap_or(0));
        Self {
            max: max_reads.saturating_mul(UNIT),
            types: weights.len() as u32,
            modes: mode_reads.len() as u32,
            weights: std::array::from_fn(by_type),
            program_factors: std::array::from_fn(|mode| program_factors.get(mode).copied().unwrap_or(1.0)),
        }
    }

    /// Returns how much a read of a page type disturbs in a mode.
    #[inline]
    #[must_use]
    pub fn weight(&self, mode: u8, page_type: u32) -> u32 {
        self.weights[usize::from(mode)][page_type as usize]
    }

    /// Returns how much a read of the slowest page type disturbs in a mode.
    #[must_use]
    pub fn heaviest(&self, mode: u8) -> u32 {
        self.weights[usize::from(mode)].into_iter().max().unwrap_or(0)
    }

    /// Returns the mode that allows the most reads.
    #[must_use]
    pub fn last_mode(&self) -> u8 {
        (self.modes - 1) as u8
    }
}

/// Returns the names of page types, by how many a block has.
#[must_use]
pub fn type_names(types: u32) -> &'static [&'static str] {
    match types {
        1 => &["all"],
        2 => &["LSB", "MSB"],
        3 => &["LSB", "CSB", "MSB"],
        _ => &["LSB", "CSB", "MSB", "TSB"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Disturb {
        Disturb::of(&SLOT.with(name, &[])).unwrap().unwrap()
    }

    /// Table 5 and section 4.2.3.
    #[test]
    fn weights_are_those_of_the_paper() {
        let base = of("tlc-base");
        assert_eq!((base.types, base.modes, base.max), (3, 3, 40_000_000));
        assert_eq!(base.weights[0][..3], [250, 500, 1000]);
        assert_eq!(base.weights[1][..3], [125, 250, 500]);
        assert_eq!(base.weights[2][..3], [50, 100, 200]);
        let opt = of("tlc-opt");
        assert_eq!(opt.weights[0][..3], [780, 1000, 790]);
        // "about 0.16": an LSB page in mode 2.
        assert_eq!(opt.weight(2, 0), 156);
        assert_eq!(of("mlc").weights[0][..2], [620, 1000]);
        let uniform = of("uniform");
        assert_eq!((uniform.types, uniform.weights[0][0], uniform.weights[2][0]), (1, 1000, 200));
        assert_eq!(uniform.program_factors[..3], [1.0, 1.08, 1.19]);
        assert_eq!(Disturb::of(&SLOT.with("none", &[])), Ok(None));
    }
}
