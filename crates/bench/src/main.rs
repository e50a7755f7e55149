//! `make bench`: programs a second of the engine, beside a flat kernel and plain memory, in one run.
#![allow(clippy::disallowed_types)] // Measuring time is what a benchmark is for.

mod flat;

use floatgate_base::{Rng, prefetch::prefetch};
use floatgate_flash::{Functional, Layout, Scope};
use floatgate_ftl::{Extents, FreeChoice, Ftl, Kind, Separate, Setup, Victim};
use floatgate_nand::Geometry;
use std::time::Instant;

const PAGES_PER_BLOCK: u32 = 256;
const SPARE: f64 = 0.07;
const CHUNK: usize = 4096;

fn seconds(mut work: impl FnMut() -> u64) -> (u64, f64) {
    let start = Instant::now();
    let n = work();
    (n, start.elapsed().as_secs_f64())
}

fn memory(logical: u32, count: u64) -> f64 {
    let mut rng = Rng::new(1, "memory");
    let mut table = vec![0u32; logical as usize];
    let plain = seconds(|| {
        for _ in 0..count {
            let slot = rng.below(u64::from(logical)) as usize;
            table[slot] = table[slot].wrapping_add(slot as u32);
        }
        count
    });
    println!("plain {:.1}", plain.0 as f64 / plain.1 / 1e6);
    let mut run = |n: u64| {
        let mut order = [0usize; 64];
        let mut done = 0;
        while done < n {
            for slot in &mut order {
                *slot = rng.below(u64::from(logical)) as usize;
                prefetch(&table, *slot);
            }
            for &slot in &order {
                table[slot] = table[slot].wrapping_add(slot as u32);
            }
            done += 64;
        }
        done
    };
    run(u64::from(logical) / 2);
    let (n, s) = seconds(|| run(count));
    n as f64 / s / 1e6
}

fn main() {
    for gib in [8u32, 128] {
        let blocks = gib * 1024;
        let pages = blocks * PAGES_PER_BLOCK;
        let logical = (f64::from(pages) * (1.0 - SPARE)) as u32;
        let host = u64::from(pages) / 2;
        let rmw = memory(logical, 100_000_000);
        println!("{gib} GiB: memory {rmw:.1} M/s");
        for round in 0..2 {
            let mut rng = Rng::new(1, "bench");
            let mut flat = flat::Flat::new(blocks, PAGES_PER_BLOCK, logical, &mut rng);
            let mut lpns = vec![0u32; CHUNK];
            let mut go = |flat: &mut flat::Flat, n: u64| {
                for _ in 0..n / CHUNK as u64 {
                    for lpn in &mut lpns {
                        *lpn = rng.below(u64::from(logical)) as u32;
                    }
                    flat.write(&lpns);
                }
            };
            go(&mut flat, u64::from(pages));
            let before = flat.programs;
            let (_, s) = seconds(|| {
                go(&mut flat, host);
                0
            });
            let programs = flat.programs - before;
            println!(
                "  flat   {:.1} M/s WAF {:.3}",
                programs as f64 / s / 1e6,
                programs as f64 / host as f64
            );
            drop(flat);

            let geometry = Geometry {
                channels: 1,
                chips_per_channel: 1,
                dies_per_chip: 1,
                planes_per_die: 1,
                blocks_per_plane: blocks,
                pages_per_block: PAGES_PER_BLOCK,
                page_bytes: 4096,
            };
            let layout = Layout::new(geometry, Scope::Plane);
            let setup = Setup {
                logical_pages: logical,
                victim: Victim::Greedy,
                separate: Separate::None,
                free_choice: FreeChoice::LeastErased,
                trigger_free_units: 1,
                stop_free_units: 1,
                seed: 1,
            };
            let mut flash = Functional::new(layout.clone());
            let mut ftl = Ftl::new(layout, setup, u64::MAX);
            let mut rng = Rng::new(1, "bench");
            let order = floatgate_base::permute::Permutation::new(u64::from(logical), &mut rng);
            let mut extents = Extents::default();
            for i in 0..u64::from(logical) {
                extents.push(order.apply(i) as u32, 1, Kind::Write);
                if extents.len() == CHUNK {
                    ftl.serve(&mut flash, &extents).unwrap();
                    extents.clear();
                }
            }
            ftl.serve(&mut flash, &extents).unwrap();
            let mut go = |ftl: &mut Ftl, flash: &mut Functional, n: u64| {
                for _ in 0..n / CHUNK as u64 {
                    extents.clear();
                    for _ in 0..CHUNK {
                        extents.push(rng.below(u64::from(logical)) as u32, 1, Kind::Write);
                    }
                    ftl.serve(flash, &extents).unwrap();
                }
            };
            go(&mut ftl, &mut flash, u64::from(pages));
            ftl.reset_counts(&mut flash);
            let (_, s) = seconds(|| {
                go(&mut ftl, &mut flash, host);
                0
            });
            use floatgate_flash::Flash;
            let programs = flash.counters().programs_total();
            println!(
                "  engine {:.1} M/s WAF {:.3} mean free {:.1} (round {round})",
                programs as f64 / s / 1e6,
                programs as f64 / host as f64,
                ftl.mean_free_pages()
            );
        }
    }
}
