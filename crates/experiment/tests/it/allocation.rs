//! Static allocation: keeps every page in the plane that its number determines, whatever is collected.

use crate::common::policies::any_victim;
use crate::common::recorder::{Command, Recorder};
use floatgate_base::{DomainId, ExtentKind, Extents, Lpn, Rng};
use floatgate_flash::{Layout, Scope};
use floatgate_ftl::{Allocation, Ftl, Separate, Setup};
use floatgate_nand::Geometry;

const CASES: u64 = 60;

#[test]
fn static_pages_stay_in_their_plane() {
    for seed in crate::common::seeds(CASES) {
        let mut rng = Rng::new(seed, "static");
        let geometry = Geometry {
            channels: 1 + rng.below(3) as u32,
            chips_per_channel: 1 + rng.below(2) as u32,
            dies_per_chip: 1,
            planes_per_die: 1 + rng.below(3) as u32,
            blocks_per_plane: 10 + rng.below(20) as u32,
            pages_per_block: 2 + rng.below(12) as u32,
            page_bytes: 4096,
        };
        let separate = [Separate::None, Separate::HostGc][rng.below(2) as usize];
        let setup = Setup {
            allocation: Allocation::Static,
            victim: any_victim(&mut rng),
            separate,
            trigger_free_units: separate.streams(),
            stop_free_units: separate.streams() + 1,
            seed,
            ..Setup::plain((geometry.pages() as f64 * (0.3 + 0.3 * rng.unit())) as u32)
        };
        let layout = Layout::new(geometry, Scope::Plane);
        let mut ftl = Ftl::new(layout.clone(), setup);
        let mut flash = Recorder::new(layout.clone());
        let mut work = Extents::default();
        for _ in 0..6 * setup.logical_pages {
            // A few planes get most of the writes.
            let lpn = rng.below(u64::from(setup.logical_pages)) as u32;
            let lpn = if rng.below(3) == 0 { lpn } else { lpn - lpn % geometry.planes() };
            let trim = rng.below(12) == 0;
            work.push(Lpn(lpn), 1, if trim { ExtentKind::Trim } else { ExtentKind::Write });
        }
        ftl.serve(&mut flash, &work).unwrap_or_else(|e| panic!("seed {seed}, {setup:?}: {e:?}"));
        ftl.audit(&flash).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        assert!(flash.erased().count() > 0, "seed {seed}: nothing was collected");
        for command in &flash.commands {
            if let Command::Program(ppn, lpn) | Command::Copy(_, ppn, lpn) = *command {
                let plane = layout.domain_of(layout.unit_of(ppn));
                assert_eq!(plane, DomainId(lpn.0 % geometry.planes()), "seed {seed}: page {lpn}");
            }
        }
    }
}
