//! The tables under `[drive]`.

use crate::layers::Layers;
use crate::raw;
use crate::tables::choice;
use floatgate_base::{Result, units::parse_bytes};
use floatgate_nand::{Endurance, Energy, Geometry, Timing, endurance::MODELS};

pub(crate) struct Drive {
    pub geometry: Geometry,
    pub timing: Timing,
    pub endurance: Endurance,
    pub energy: Option<Energy>,
    pub raw: raw::Drive,
}

pub(crate) fn resolve(layers: &Layers, given: raw::Drive) -> Result<Drive> {
    let geometry = geometry(layers, &given)?;
    let timing = timing(layers, given.timing.unwrap_or_default())?;
    let endurance = endurance(layers, given.endurance.unwrap_or_default())?;
    let energy = energy(layers, given.energy.as_ref())?;
    let raw = raw::Drive {
        preset: None,
        capacity: None,
        geometry: Some(raw::Geometry {
            channels: Some(geometry.channels),
            chips_per_channel: Some(geometry.chips_per_channel),
            dies_per_chip: Some(geometry.dies_per_chip),
            planes_per_die: Some(geometry.planes_per_die),
            blocks_per_plane: Some(geometry.blocks_per_plane),
            pages_per_block: Some(geometry.pages_per_block),
            page_bytes: Some(geometry.page_bytes),
        }),
        timing: Some(raw::Timing {
            read_us: Some(timing.read_us),
            program_us: Some(timing.program_us),
            erase_us: Some(timing.erase_us),
            channel_mb_per_s: Some(timing.channel_mb_per_s),
        }),
        endurance: Some(raw::Endurance {
            model: Some(MODELS[0].0.into()),
            pe_cycles: Some(endurance.pe_cycles()),
        }),
        energy: energy.and(given.energy),
    };
    Ok(Drive { geometry, timing, endurance, energy, raw })
}

fn geometry(layers: &Layers, given: &raw::Drive) -> Result<Geometry> {
    let g = given.geometry.clone().unwrap_or_default();
    let mut geometry = Geometry {
        channels: g.channels.unwrap_or(1),
        chips_per_channel: g.chips_per_channel.unwrap_or(1),
        dies_per_chip: g.dies_per_chip.unwrap_or(1),
        planes_per_die: g.planes_per_die.unwrap_or(1),
        blocks_per_plane: g.blocks_per_plane.unwrap_or(32_768),
        pages_per_block: g.pages_per_block.unwrap_or(256),
        page_bytes: g.page_bytes.unwrap_or(4096),
    };
    if let Some(capacity) = &given.capacity {
        if g.blocks_per_plane.is_some() {
            let what = "capacity and geometry.blocks_per_plane are both set";
            return Err(layers.error("drive.capacity", what, "expected one of them"));
        }
        // With one block a plane the other counts are checked before the capacity is divided by them.
        geometry.blocks_per_plane = 1;
        check(layers, &geometry)?;
        geometry.blocks_per_plane = blocks_for(layers, capacity, &geometry)?;
    }
    check(layers, &geometry)?;
    Ok(geometry)
}

fn check(layers: &Layers, geometry: &Geometry) -> Result<()> {
    geometry.check().map_err(|fault| {
        // A drive that is too large was asked for by its capacity, or by a count of blocks.
        let by_capacity = fault.key == "blocks_per_plane" && layers.text("drive.capacity").is_some();
        let key = if by_capacity { "drive.capacity".into() } else { format!("drive.geometry.{}", fault.key) };
        layers.error(&key, fault.what, fault.expected)
    })
}

/// Blocks of each plane of a drive of about `capacity`: the nearest number of whole blocks that is not larger.
fn blocks_for(layers: &Layers, capacity: &str, one: &Geometry) -> Result<u32> {
    let key = "drive.capacity";
    let bytes =
        parse_bytes(capacity).map_err(|e| layers.error(key, e, "expected a size such as \"128 GiB\""))?;
    let blocks = bytes / one.bytes();
    if blocks == 0 {
        let what = format!("'{capacity}' is less than one block a plane");
        return Err(layers.error(key, what, format!("expected at least {} bytes", one.bytes())));
    }
    u32::try_from(blocks).map_err(|_| {
        let pages_max = floatgate_base::PAGES_MAX;
        layers.error(key, format!("'{capacity}' is too large"), format!("expected at most {pages_max} pages"))
    })
}

fn timing(layers: &Layers, given: raw::Timing) -> Result<Timing> {
    let timing = Timing {
        read_us: given.read_us.unwrap_or(50.0),
        program_us: given.program_us.unwrap_or(600.0),
        erase_us: given.erase_us.unwrap_or(3000.0),
        channel_mb_per_s: given.channel_mb_per_s.unwrap_or(333.0),
    };
    let values = [
        ("read_us", timing.read_us),
        ("program_us", timing.program_us),
        ("erase_us", timing.erase_us),
        ("channel_mb_per_s", timing.channel_mb_per_s),
    ];
    for (key, value) in values {
        if !(value.is_finite() && value > 0.0) {
            let what = format!("{key} is {value}");
            return Err(layers.error(
                &format!("drive.timing.{key}"),
                what,
                "expected a number greater than 0",
            ));
        }
    }
    Ok(timing)
}

/// None where no figure is given.
fn energy(layers: &Layers, given: Option<&raw::Energy>) -> Result<Option<Energy>> {
    let given = given.cloned().unwrap_or_default();
    let energy = Energy {
        read_uj: given.read_uj,
        program_uj: given.program_uj,
        erase_uj: given.erase_uj,
        transfer_uj: given.transfer_uj,
    };
    let values = [
        ("read_uj", energy.read_uj),
        ("program_uj", energy.program_uj),
        ("erase_uj", energy.erase_uj),
        ("transfer_uj", energy.transfer_uj),
    ];
    for (key, value) in values {
        if let Some(value) = value.filter(|v| !(v.is_finite() && *v >= 0.0)) {
            let key_path = format!("drive.energy.{key}");
            return Err(layers.error(&key_path, format!("{key} is {value}"), "expected a number from 0"));
        }
    }
    Ok((energy != Energy::default()).then_some(energy))
}

fn endurance(layers: &Layers, given: raw::Endurance) -> Result<Endurance> {
    let model = given.model.unwrap_or_else(|| MODELS[0].0.into());
    choice(layers, "drive.endurance.model", "endurance model", &model, MODELS)?;
    let pe_cycles = given.pe_cycles.unwrap_or(3000);
    if pe_cycles == 0 {
        return Err(layers.error(
            "drive.endurance.pe_cycles",
            "pe_cycles is 0",
            "expected a whole number from 1",
        ));
    }
    Ok(Endurance::Fixed { pe_cycles })
}
