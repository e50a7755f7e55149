//! Energy of the flash operations.

/// Energy of one operation each, microjoules; None where unknown. A page costs the same whether it is programmed alone,
/// together with other planes, or suspended in between.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Energy {
    /// Array read of a page.
    pub read_uj: Option<f64>,
    /// Array program of a page.
    pub program_uj: Option<f64>,
    /// Erase of a block.
    pub erase_uj: Option<f64>,
    /// A page over a channel.
    pub transfer_uj: Option<f64>,
}

impl Energy {
    /// Returns the energies of operations on so many planes at once.
    #[must_use]
    pub fn of_planes(self, planes: u32) -> Self {
        let times = |uj: Option<f64>| uj.map(|uj| uj * f64::from(planes));
        Self {
            read_uj: times(self.read_uj),
            program_uj: times(self.program_uj),
            erase_uj: times(self.erase_uj),
            transfer_uj: times(self.transfer_uj),
        }
    }
}

/// Returns the joules of `count` operations of `uj` microjoules each.
#[must_use]
pub fn joules(uj: Option<f64>, count: u64) -> Option<f64> {
    uj.map(|uj| uj * count as f64 / 1e6)
}
