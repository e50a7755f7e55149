//! Energy of the flash operations.

/// Energy of one operation each, microjoules; none where it is not known. A page costs the same whether it is
/// programmed alone, together with other planes, or suspended in between.
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

/// Joules of `count` operations of `uj` microjoules each.
#[must_use]
pub fn joules(uj: Option<f64>, count: u64) -> Option<f64> {
    uj.map(|uj| uj * count as f64 / 1e6)
}
