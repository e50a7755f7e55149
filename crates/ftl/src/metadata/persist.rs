//! Writes the pages of metadata that are due.

use super::map_log::DuePage;
use crate::features::Features;
use crate::ftl::Ftl;
use crate::setup::Failure;
use floatgate_base::Hints;
use floatgate_flash::{Cause, Flash};

impl Ftl {
    /// Writes pages of journal and map that are due after a host request; `flushes` if no change may stay in DRAM.
    #[inline(always)]
    pub(crate) fn persist_map<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        flushes: bool,
    ) -> Result<(), Failure> {
        if self.mapping.sides.log.is_some() { self.persist_changes::<S, F>(flash, flushes) } else { Ok(()) }
    }

    #[inline(never)]
    fn persist_changes<S: Features, F: Flash>(
        &mut self,
        flash: &mut F,
        flushes: bool,
    ) -> Result<(), Failure> {
        while let Some(due) = self.mapping.sides.log.as_mut().and_then(|log| log.take_due(flushes)) {
            let (DuePage::Map(lpn) | DuePage::Journal(lpn)) = due;
            let slot = self.write::<S, F>(flash, lpn, Hints::default(), Cause::Metadata)?;
            self.advance_collection(flash, slot)?;
        }
        Ok(())
    }
}
