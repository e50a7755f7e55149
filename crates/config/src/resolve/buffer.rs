//! The table `[drive.buffer]`.

use super::slot;
use crate::layers::Layers;
use crate::settings;
use floatgate_base::policy::Facts;
use floatgate_base::units::{exact_bytes, parse_bytes};
use floatgate_base::{ChosenPolicy, Result};
use floatgate_host::buffer::{DISTURB_AWARE, SLOT};
use floatgate_host::{AwareConfig, BufferConfig};
use floatgate_nand::Geometry;
use floatgate_sim::plan::{BufferSettings, DriveSettings};

const POLICY: &str = "drive.buffer.policy";

/// Resolves the buffer and its table. Without a capacity there is no buffer, and its other keys have no effect.
pub(crate) fn resolve(
    layers: &Layers,
    table: Option<settings::Buffer>,
    drive: &DriveSettings,
    logical_pages: u32,
    timed: bool,
) -> Result<(Option<BufferSettings>, settings::Buffer)> {
    let geometry = &drive.geometry;
    let (policy, mut raw) = slot::resolve(layers, table, &Facts::default())?;
    let pages = pages(layers, policy.text("capacity"), geometry)?;
    if pages == 0 {
        refuse_all(layers)?;
        let mut raw = settings::Buffer::default();
        raw.set("capacity", "0 B");
        return Ok((None, raw));
    }
    let (aware, disturbed_share) = aware(layers, &policy, drive, pages)?;
    let read_cache = policy.find_flag("read_cache").unwrap_or(aware.is_some());
    if aware.is_some() && !read_cache {
        let what = "a buffer that is disturb-aware keeps pages that were read, and read_cache is false";
        let expected = "expected read_cache = true, or policy = \"lru\"";
        return Err(layers.error("drive.buffer.read_cache", what, expected));
    }
    let watermarks = watermarks(layers, &policy)?;
    let count = |share: f64| (share * f64::from(pages)) as u32;
    let config = BufferConfig {
        pages,
        page_bytes: geometry.page_bytes,
        logical_pages,
        read_cache,
        watermarks: watermarks.map(|(high, low)| (count(high), count(low))),
        aware,
    };
    raw.set("capacity", exact_bytes(u64::from(pages) * u64::from(geometry.page_bytes)).as_str());
    raw.set("read_cache", read_cache);
    if !timed {
        raw.remove("access_us");
    }
    let access_ns = (policy.real("access_us") * 1e3).round() as u64;
    Ok((Some(BufferSettings { config, access_ns, disturbed_share }), raw))
}

/// Returns the disturb-aware order if it is selected, with the read share that makes a block disturbed.
fn aware(
    layers: &Layers,
    policy: &ChosenPolicy,
    drive: &DriveSettings,
    pages: u32,
) -> Result<(Option<AwareConfig>, f64)> {
    if policy.name() != DISTURB_AWARE.name {
        return Ok((None, 0.0));
    }
    if drive.disturb.is_none() {
        let expected = "expected \"lru\", or a drive.disturb.model such as \"tlc-base\"";
        return Err(layers.error(POLICY, "no block is ever disturbed: reads disturb nothing", expected));
    }
    let preload = policy.find_flag("preload").unwrap_or(false);
    // At least one place for all other pages.
    let kept_pages = ((policy.real("kept_share") * f64::from(pages)) as u32).min(pages - 1);
    Ok((Some(AwareConfig { kept_pages, preload }), policy.real("disturbed_share")))
}

/// Returns the whole pages of a capacity.
fn pages(layers: &Layers, text: &str, geometry: &Geometry) -> Result<u32> {
    let key = "drive.buffer.capacity";
    let bytes = parse_bytes(text).map_err(|e| layers.error(key, e, "expected a size such as \"32 MiB\""))?;
    let page_bytes = u64::from(geometry.page_bytes);
    if !bytes.is_multiple_of(page_bytes) {
        let less = if bytes < page_bytes { "less than one page" } else { "not a whole number of pages" };
        let what = format!("'{text}' is {less}");
        return Err(layers.error(key, what, format!("expected 0, or a multiple of {page_bytes} bytes")));
    }
    if bytes > geometry.bytes() {
        let what = format!("'{text}' is more than the drive has flash");
        return Err(layers.error(key, what, format!("expected at most {}", exact_bytes(geometry.bytes()))));
    }
    Ok((bytes / page_bytes) as u32)
}

/// Returns both watermarks, or none.
fn watermarks(layers: &Layers, policy: &ChosenPolicy) -> Result<Option<(f64, f64)>> {
    let (high, low) = match (policy.find_real("high_watermark"), policy.find_real("low_watermark")) {
        (None, None) => return Ok(None),
        (Some(high), Some(low)) => (high, low),
        (high, _) => {
            let (set, other) = if high.is_some() {
                ("high_watermark", "low_watermark")
            } else {
                ("low_watermark", "high_watermark")
            };
            let what = format!("{set} without {other}");
            return Err(layers.error(&format!("drive.buffer.{set}"), what, "expected both, or neither"));
        }
    };
    if low > high {
        let what = format!("low_watermark {low} lies above high_watermark {high}");
        return Err(layers.error("drive.buffer.low_watermark", what, format!("expected at most {high}")));
    }
    Ok(Some((high, low)))
}

/// Refuses keys other than defaults beside a capacity of 0.
fn refuse_all(layers: &Layers) -> Result<()> {
    let key_of = |name: &str| format!("{}.{name}", SLOT.key);
    let is_default = |name: &str| {
        let value = layers.value(&key_of(name));
        let usual = match name {
            "policy" => value.and_then(toml::Value::as_str) == Some(SLOT.policies[0].name),
            "read_cache" => value.and_then(toml::Value::as_bool) == Some(false),
            "access_us" => value.is_some_and(|us| us.as_integer() == Some(0) || us.as_float() == Some(0.0)),
            _ => name == "capacity",
        };
        value.is_none() || usual
    };
    let params = SLOT.params();
    let names = std::iter::once(SLOT.selector).chain(params.iter().map(|(param, _)| param.name));
    match names.into_iter().find(|name| !is_default(name)) {
        Some(name) => {
            let what = format!("{name} has no effect without a buffer");
            let expected = "expected it with drive.buffer.capacity above 0 only";
            Err(layers.error(&key_of(name), what, expected))
        }
        None => Ok(()),
    }
}
