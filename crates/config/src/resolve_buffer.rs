//! The table `[drive.buffer]`.

use crate::layers::Layers;
use crate::raw;
use crate::tables::choice;
use floatgate_base::units::{exact_bytes, parse_bytes};
use floatgate_base::{Error, Result};
use floatgate_host::{AwareConfig, BufferConfig};
use floatgate_nand::Geometry;
use floatgate_sim::plan::{BufferSettings, DriveSettings};

const POLICY: &str = "drive.buffer.policy";
const LRU: &str = "lru";
const AWARE: &str = "disturb-aware";
const POLICIES: &[(&str, &str)] =
    &[(LRU, "the page used least recently leaves"), (AWARE, "pages that are read most are kept")];
const DISTURBED_SHARE: f64 = 0.0;
const KEPT_SHARE: f64 = 0.8;

/// The buffer, if there is one, and what the resolved experiment says. Without a capacity there is no buffer, and the other keys would change nothing; `access_us` belongs to time.
pub(crate) fn resolve(
    layers: &Layers,
    given: raw::Buffer,
    drive: &DriveSettings,
    logical_pages: u32,
    timed: bool,
) -> Result<(Option<BufferSettings>, raw::Buffer)> {
    let geometry = &drive.geometry;
    let access_us = given.access_us.unwrap_or(0.0);
    if !(access_us.is_finite() && (0.0..=1e9).contains(&access_us)) {
        let what = format!("access_us is {access_us}");
        return Err(layers.error("drive.buffer.access_us", what, "expected a number from 0 to 10^9"));
    }
    let text = given.capacity.clone().unwrap_or_else(|| "0 B".into());
    let pages = pages(layers, &text, geometry)?;
    if pages == 0 {
        refuse_all(layers, &given)?;
        let raw = raw::Buffer { capacity: Some("0 B".into()), ..raw::Buffer::default() };
        return Ok((None, raw));
    }
    if !timed && access_us != 0.0 {
        let what = format!("access_us {access_us} has no effect in functional mode");
        let expected = "expected 0 or no such key, or mode = \"timed\"";
        return Err(layers.error("drive.buffer.access_us", what, expected));
    }
    let policy = given.policy.clone().unwrap_or_else(|| LRU.into());
    let policy = POLICIES[choice(layers, POLICY, "order of a buffer", &policy, POLICIES)?].0;
    let (aware, disturbed_share, raw_aware) = aware(layers, &given, drive, policy == AWARE, pages)?;
    let read_cache = given.read_cache.unwrap_or(aware.is_some());
    if aware.is_some() && !read_cache {
        let what = "a buffer that is disturb-aware keeps pages that were read, and read_cache is false";
        let expected = "expected read_cache = true, or policy = \"lru\"";
        return Err(layers.error("drive.buffer.read_cache", what, expected));
    }
    let watermarks = watermarks(layers, &given)?;
    let count = |share: f64| (share * f64::from(pages)) as u32;
    let config = BufferConfig {
        pages,
        page_bytes: geometry.page_bytes,
        logical_pages,
        read_cache,
        watermarks: watermarks.map(|(high, low)| (count(high), count(low))),
        aware,
    };
    let raw = raw::Buffer {
        capacity: Some(exact_bytes(u64::from(pages) * u64::from(geometry.page_bytes))),
        policy: Some(policy.into()),
        read_cache: Some(read_cache),
        high_watermark: watermarks.map(|w| w.0),
        low_watermark: watermarks.map(|w| w.1),
        access_us: timed.then_some(access_us),
        ..raw_aware
    };
    let access_ns = (access_us * 1e3).round() as u64;
    Ok((Some(BufferSettings { config, access_ns, disturbed_share }), raw))
}

/// The keys of the disturb-aware order, and which of them are set.
fn aware_keys(given: &raw::Buffer) -> [(&'static str, bool); 3] {
    [
        ("disturbed_share", given.disturbed_share.is_some()),
        ("kept_share", given.kept_share.is_some()),
        ("preload", given.preload.is_some()),
    ]
}

/// The disturb-aware order where it is asked for, the share from which on a block is a disturbed one, and its keys as they are.
fn aware(
    layers: &Layers,
    given: &raw::Buffer,
    drive: &DriveSettings,
    is_aware: bool,
    pages: u32,
) -> Result<(Option<AwareConfig>, f64, raw::Buffer)> {
    if !is_aware {
        if let Some((key, _)) = aware_keys(given).iter().find(|(_, set)| *set) {
            let what = format!("{key} has no effect with policy \"{LRU}\"");
            let expected = format!("expected it with policy = \"{AWARE}\" only");
            return Err(layers.error(&format!("drive.buffer.{key}"), what, expected));
        }
        return Ok((None, 0.0, raw::Buffer::default()));
    }
    if drive.disturb.is_none() {
        let expected = "expected \"lru\", or a drive.disturb.model such as \"tlc-base\"";
        return Err(layers.error(POLICY, "no block is ever disturbed: reads disturb nothing", expected));
    }
    let disturbed_share = given.disturbed_share.unwrap_or(DISTURBED_SHARE);
    let kept_share = given.kept_share.unwrap_or(KEPT_SHARE);
    for (key, share) in [("disturbed_share", disturbed_share), ("kept_share", kept_share)] {
        if !(0.0..=1.0).contains(&share) {
            let what = format!("{key} is {share}");
            return Err(layers.error(&format!("drive.buffer.{key}"), what, "expected a share from 0 to 1"));
        }
    }
    let preload = given.preload.unwrap_or(true);
    // One place at least for all other pages.
    let kept_pages = ((kept_share * f64::from(pages)) as u32).min(pages - 1);
    let raw = raw::Buffer {
        disturbed_share: Some(disturbed_share),
        kept_share: Some(kept_share),
        preload: Some(preload),
        ..raw::Buffer::default()
    };
    Ok((Some(AwareConfig { kept_pages, preload }), disturbed_share, raw))
}

/// Whole pages of a capacity.
fn pages(layers: &Layers, text: &str, geometry: &Geometry) -> Result<u32> {
    let key = "drive.buffer.capacity";
    let bytes = parse_bytes(text).map_err(|e| layers.error(key, e, "expected a size such as \"32 MiB\""))?;
    let page_bytes = u64::from(geometry.page_bytes);
    if !bytes.is_multiple_of(page_bytes) {
        let less = if bytes < page_bytes { "less than one page" } else { "no whole number of pages" };
        let what = format!("'{text}' is {less}");
        return Err(layers.error(key, what, format!("expected 0, or a multiple of {page_bytes} bytes")));
    }
    if bytes > geometry.bytes() {
        let what = format!("'{text}' is more than the drive has flash");
        return Err(layers.error(key, what, format!("expected at most {}", exact_bytes(geometry.bytes()))));
    }
    Ok((bytes / page_bytes) as u32)
}

/// Both, or none.
fn watermarks(layers: &Layers, given: &raw::Buffer) -> Result<Option<(f64, f64)>> {
    let (high, low) = match (given.high_watermark, given.low_watermark) {
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
    for (key, share) in [("high_watermark", high), ("low_watermark", low)] {
        if !(0.0..=1.0).contains(&share) {
            let what = format!("{key} is {share}");
            return Err(layers.error(&format!("drive.buffer.{key}"), what, "expected a share from 0 to 1"));
        }
    }
    if low > high {
        let what = format!("low_watermark {low} lies above high_watermark {high}");
        return Err(layers.error("drive.buffer.low_watermark", what, format!("expected at most {high}")));
    }
    Ok(Some((high, low)))
}

fn refuse_all(layers: &Layers, given: &raw::Buffer) -> Result<()> {
    let set = [
        ("policy", given.policy.as_deref().is_some_and(|policy| policy != LRU)),
        ("read_cache", given.read_cache == Some(true)),
        ("high_watermark", given.high_watermark.is_some()),
        ("low_watermark", given.low_watermark.is_some()),
        ("access_us", given.access_us.is_some_and(|us| us != 0.0)),
    ];
    match set.iter().chain(&aware_keys(given)).find(|(_, set)| *set) {
        Some((key, _)) => Err(without(layers, &format!("drive.buffer.{key}"), key)),
        None => Ok(()),
    }
}

/// A key that does nothing without a buffer.
fn without(layers: &Layers, path: &str, key: &str) -> Box<Error> {
    let what = format!("{key} has no effect without a buffer");
    layers.error(path, what, "expected it with drive.buffer.capacity above 0 only")
}
