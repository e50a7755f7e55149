//! The tables under `[drive]`: shape, times, energy. Those that matter to timed mode only are in `timed.rs`.

use super::slot::{self, refuse};
use super::{mapping, timed};
use crate::layers::Layers;
use crate::settings;
use crate::settings::{US_MAX, US_MIN};
use crate::slot_types;
use floatgate_base::policy::Facts;
use floatgate_base::{PAGES_MAX, Result, units::parse_bytes};
use floatgate_flash::timed::settings::one_mode;
use floatgate_flash::timed::{Phases, Settings};
use floatgate_nand::erase_modes::MODES_MAX as SCALES_MAX;
use floatgate_nand::timing::PAGE_TYPES_MAX;
use floatgate_nand::{Disturb, Endurance, Energy, Geometry, Timing};
use floatgate_sim::plan::DriveSettings;

/// Resolves the drive and its tables. `modes`: whether operations take time, and whether collection is
/// incremental.
pub(crate) fn resolve(
    layers: &Layers,
    table: settings::Drive,
    mapping_bytes: Option<u32>,
    (timed, incremental): (bool, bool),
    seed: u64,
) -> Result<(DriveSettings, settings::Drive)> {
    let (geometry, together) = geometry(layers, &table, mapping_bytes)?;
    let (bad_block_reserve, plp) = (table.bad_block_reserve(), table.plp());
    let (timing, raw_timing) = timing(layers, table.timing.unwrap_or_default(), timed, geometry.page_bytes)?;
    let (commands, raw_commands) =
        timed::commands(layers, table.commands, timed, (geometry.planes_per_die, together))?;
    let (service, raw_scheduling) =
        timed::scheduling(layers, table.scheduling, (timed, incremental), &commands)?;
    let (model, raw_endurance) = slot::resolve(layers, table.endurance, &Facts::default())?;
    let endurance =
        Endurance::of(&model).map_err(|misfit| refuse::<slot_types::Endurance>(layers, misfit))?;
    let (model, raw_disturb) = slot::resolve(layers, table.disturb, &Facts::default())?;
    let disturb = Disturb::of(&model).map_err(|misfit| refuse::<slot_types::Disturb>(layers, misfit))?;
    let energy = energy(table.energy.as_ref()).map(|energy| energy.of_planes(together));
    let raw = settings::Drive {
        preset: None,
        buffer: None,
        capacity: None,
        visible: None,
        geometry: Some(settings::Geometry {
            channels: Some(geometry.channels),
            chips_per_channel: Some(geometry.chips_per_channel),
            dies_per_chip: Some(geometry.dies_per_chip),
            planes_per_die: Some(geometry.planes_per_die * together),
            blocks_per_plane: Some(geometry.blocks_per_plane),
            pages_per_block: Some(geometry.pages_per_block),
            page_bytes: Some(geometry.page_bytes / together),
        }),
        timing: Some(raw_timing),
        commands: raw_commands,
        scheduling: raw_scheduling,
        endurance: Some(raw_endurance),
        disturb: Some(raw_disturb),
        bad_block_reserve: Some(bad_block_reserve),
        energy: energy.and(table.energy),
        plp: Some(plp),
        rated: None,
    };
    let phases = phases(&timing, geometry.page_bytes, disturb.as_ref());
    let timed::Service { order, urgent_as_writes, jobs_hold_channel, reads_old_copies } = service;
    let array = Settings {
        phases,
        commands,
        order,
        urgent_as_writes,
        jobs_hold_channel,
        reads_old_copies,
        seed,
        plp,
    };
    let drive = DriveSettings {
        geometry,
        subpages: 1,
        plp,
        timing,
        array,
        endurance,
        disturb,
        bad_block_reserve,
        energy,
    };
    Ok((drive, raw))
}

/// The times of the array's phases, in whole nanoseconds.
fn phases(timing: &Timing, page_bytes: u32, disturb: Option<&Disturb>) -> Phases {
    let ns = |us: f64| (us * 1e3).round() as u64;
    let ordinary = one_mode(timing.read_us.map(ns), timing.program_us.map(ns));
    let modes = disturb.map_or(1, |disturb| disturb.modes);
    let ordinary = ordinary[0];
    let mut rows = ordinary;
    for (row, times) in rows.iter_mut().enumerate().take((modes * timing.page_types) as usize) {
        let (mode, page_type) = (row as u32 / timing.page_types, row as u32 % timing.page_types);
        let factor = disturb.map_or(1.0, |disturb| disturb.program_factors[mode as usize]);
        *times = ordinary[page_type as usize];
        times.program_ns = ns(timing.program_us[page_type as usize] * factor);
    }
    Phases {
        command_ns: ns(timing.command_us),
        transfer_ns: ns(timing.transfer_us(page_bytes)),
        rows: [rows; SCALES_MAX],
        page_types: timing.page_types,
        modes,
        scales: 1,
        program_spread: timing.program_spread,
        erase_ns: ns(timing.erase_us),
        erase_more_ns: [0; SCALES_MAX],
        erase_spread: timing.erase_spread,
    }
}

/// Resolves the shape of the drive, and how many planes of each die work as one. These planes program, read and
/// erase together, since a page of the map fills a page of each
/// (`docs/decisions/0031-units-of-several-planes.md`).
pub(crate) fn geometry(
    layers: &Layers,
    table: &settings::Drive,
    mapping_bytes: Option<u32>,
) -> Result<(Geometry, u32)> {
    let g = table.geometry.clone().unwrap_or_default();
    let mut geometry = Geometry {
        channels: g.channels(),
        chips_per_channel: g.chips_per_channel(),
        dies_per_chip: g.dies_per_chip(),
        planes_per_die: g.planes_per_die(),
        blocks_per_plane: g.blocks_per_plane(),
        pages_per_block: g.pages_per_block(),
        page_bytes: g.page_bytes(),
    };
    let together = mapping::planes_together(&geometry, mapping_bytes);
    geometry.planes_per_die /= together;
    geometry.page_bytes *= together;
    if let Some(capacity) = &table.capacity {
        if g.blocks_per_plane.is_some() {
            let what = "capacity and geometry.blocks_per_plane are both set";
            return Err(layers.error("drive.capacity", what, "expected one of them"));
        }
        // The other counts are checked with one block per plane, before the capacity is divided by them.
        geometry.blocks_per_plane = 1;
        check(layers, &geometry)?;
        geometry.blocks_per_plane = blocks_for(layers, capacity, &geometry)?;
    }
    check(layers, &geometry)?;
    Ok((geometry, together))
}

fn check(layers: &Layers, geometry: &Geometry) -> Result<()> {
    geometry.check().map_err(|fault| {
        // The user set the size of the drive by its capacity or by a count of blocks.
        let by_capacity = fault.key == "blocks_per_plane" && layers.text("drive.capacity").is_some();
        let key = if by_capacity { "drive.capacity".into() } else { format!("drive.geometry.{}", fault.key) };
        let counts =
            [geometry.channels, geometry.chips_per_channel, geometry.dies_per_chip, geometry.planes_per_die];
        let of_a_plane = [geometry.blocks_per_plane, geometry.pages_per_block];
        let pages =
            counts.iter().chain(&of_a_plane).fold(1, |pages: u128, &n| pages.saturating_mul(n.into()));
        if fault.key == "blocks_per_plane" && pages > u128::from(PAGES_MAX) {
            let largest = mapping::largest(geometry);
            return mapping::too_many(layers, &key, (pages, geometry.page_bytes), largest);
        }
        layers.error(&key, fault.what, fault.expected)
    })
}

/// Returns how else a drive of the catalogue with so many planes is made smaller: `drive.capacity` leaves it all of them.
pub(super) fn smaller(layers: &Layers, planes: u32) -> &'static str {
    let has = |key| layers.value(key).is_some();
    if planes > 1 && has("drive.preset") && has("drive.capacity") {
        ", or --capacity in place of drive.capacity, which removes dies first"
    } else {
        ""
    }
}

/// Returns the blocks per plane for about `capacity`: the largest number of whole blocks within it.
fn blocks_for(layers: &Layers, capacity: &str, one: &Geometry) -> Result<u32> {
    let key = "drive.capacity";
    let bytes =
        parse_bytes(capacity).map_err(|e| layers.error(key, e, "expected a size such as \"128 GiB\""))?;
    let blocks = bytes / one.bytes();
    if blocks == 0 {
        let what = format!("'{capacity}' is less than one block per plane");
        let expected = format!("expected at least {} bytes{}", one.bytes(), smaller(layers, one.planes()));
        return Err(layers.error(key, what, expected));
    }
    u32::try_from(blocks).map_err(|_| {
        layers.error(key, format!("'{capacity}' is too large"), format!("expected at most {PAGES_MAX} pages"))
    })
}

/// Resolves how long operations take, and their table.
fn timing(
    layers: &Layers,
    table: settings::Timing,
    timed: bool,
    page_bytes: u32,
) -> Result<(Timing, settings::Timing)> {
    let (reads, programs) = times_by_page_type(layers, &table)?;
    let page_types = reads.len().max(programs.len());
    let all = |times: &[f64]| -> [f64; PAGE_TYPES_MAX] { std::array::from_fn(|i| times[i % times.len()]) };
    let channel_mb_per_s = channel_rate(layers, table.channel_mb_per_s(), page_bytes)?;
    let (erase_us, command_us) = (table.erase_us(), table.command_us());
    let (program_spread, erase_spread) = (table.program_spread(), table.erase_spread());
    let timing = Timing {
        read_us: all(&reads),
        program_us: all(&programs),
        page_types: page_types as u32,
        program_spread,
        erase_us,
        erase_spread,
        command_us,
        channel_mb_per_s,
    };
    let raw = settings::Timing {
        read_us: table.read_us_by_page_type.is_none().then_some(reads[0]),
        program_us: table.program_us_by_page_type.is_none().then_some(programs[0]),
        erase_us: Some(erase_us),
        read_us_by_page_type: table.read_us_by_page_type,
        program_us_by_page_type: table.program_us_by_page_type,
        program_spread: timed.then_some(program_spread),
        erase_spread: timed.then_some(erase_spread),
        command_us: Some(command_us),
        channel_mb_per_s: Some(channel_mb_per_s),
    };
    Ok((timing, raw))
}

/// Returns the times of reads and programs: one for all page types or one for each. Two lists are equally long.
fn times_by_page_type(layers: &Layers, table: &settings::Timing) -> Result<(Vec<f64>, Vec<f64>)> {
    let by_type = |key: &str, one: Option<f64>, list: &Option<Vec<f64>>, default: f64| match (one, list) {
        (Some(_), Some(_)) => {
            let what = format!("{key} and {key}_by_page_type are both set");
            Err(layers.error(&format!("drive.timing.{key}_by_page_type"), what, "expected one of them"))
        }
        (_, Some(list)) => Ok(list.clone()),
        (one, None) => Ok(vec![one.unwrap_or(default)]),
    };
    let reads = by_type("read_us", table.read_us, &table.read_us_by_page_type, table.read_us())?;
    let programs =
        by_type("program_us", table.program_us, &table.program_us_by_page_type, table.program_us())?;
    let page_types = reads.len().max(programs.len());
    for (key, times) in [("read_us", &reads), ("program_us", &programs)] {
        if times.len() > 1 && times.len() < page_types {
            let what =
                format!("{key}_by_page_type names {} times and the other list {page_types}", times.len());
            let key = format!("drive.timing.{key}_by_page_type");
            return Err(layers.error(&key, what, "expected as many in both, or one of the lists only"));
        }
    }
    Ok((reads, programs))
}

/// Returns the speed of a channel, MB per second, if a page takes a time that the clock can count.
fn channel_rate(layers: &Layers, channel_mb_per_s: f64, page_bytes: u32) -> Result<f64> {
    let page_us = f64::from(page_bytes) / channel_mb_per_s;
    if !(US_MIN..=US_MAX).contains(&page_us) {
        let what = format!("channel_mb_per_s is {channel_mb_per_s}");
        let expected = "expected a rate at which a page takes from a nanosecond to 100 seconds";
        return Err(layers.error("drive.timing.channel_mb_per_s", what, expected));
    }
    Ok(channel_mb_per_s)
}

/// Returns the energies; none if no key is set.
fn energy(table: Option<&settings::Energy>) -> Option<Energy> {
    let table = table.cloned().unwrap_or_default();
    let energy = Energy {
        read_uj: table.read_uj,
        program_uj: table.program_uj,
        erase_uj: table.erase_uj,
        transfer_uj: table.transfer_uj,
    };
    (energy != Energy::default()).then_some(energy)
}
