//! What a client may connect to.

/// A range of the drive under a name, whose writes carry a placement handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    /// Name; clients that name none get the first export.
    pub name: String,
    /// First byte on the drive.
    pub offset: u64,
    /// Bytes.
    pub bytes: u64,
    /// Placement handle.
    pub stream: u16,
}
