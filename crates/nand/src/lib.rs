//! NAND physics: geometry, timing, endurance, modes of erases, read disturb, energy.
//!
//! Must not know: logical addresses, policies, requests. All models are passive: nothing here changes state.

pub mod disturb;
pub mod endurance;
pub mod energy;
pub mod erase_modes;
pub mod geometry;
pub mod lead_limit;
pub mod timing;

pub use disturb::Disturb;
pub use endurance::Endurance;
pub use energy::Energy;
pub use erase_modes::EraseModes;
pub use geometry::{Geometry, GeometryError};
pub use lead_limit::LeadLimit;
pub use timing::Timing;
