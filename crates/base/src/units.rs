//! Sizes in human-readable form.

/// Parses a size such as `128 GiB`, `4096`, `1.5 TB` into bytes (`GiB` binary, `GB` decimal).
///
/// # Errors
/// The fact that is wrong with the text, without a place.
pub fn parse_bytes(text: &str) -> std::result::Result<u64, String> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let value: f64 = number.parse().map_err(|_| format!("'{text}' is not a size"))?;
    let factor: u64 = match unit {
        "" | "B" => 1,
        "KB" | "kB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" | "K" => 1 << 10,
        "MiB" | "M" => 1 << 20,
        "GiB" | "G" => 1 << 30,
        "TiB" | "T" => 1 << 40,
        _ => return Err(format!("'{unit}' is not a unit of size")),
    };
    let bytes = value * factor as f64;
    if !bytes.is_finite() || !(0.0..9.0e18).contains(&bytes) {
        return Err(format!("'{text}' is out of range"));
    }
    Ok(bytes as u64)
}

/// Formats bytes with a binary unit and at most three digits, `119 GiB`.
#[must_use]
pub fn show_bytes(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = 0;
    const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 || value >= 99.95 {
        format!("{value:.0} {}", UNITS[unit])
    } else {
        format!("{value:.1} {}", UNITS[unit])
    }
}

/// Formats bytes without rounding, in the largest binary unit that divides them.
#[must_use]
pub fn exact_bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(size, _)| bytes > 0 && bytes.is_multiple_of(*size)) {
        Some((size, unit)) => format!("{} {unit}", bytes / size),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_shown() {
        assert_eq!(parse_bytes("128 GiB"), Ok(128 << 30));
        assert_eq!(parse_bytes("1.5TB"), Ok(1_500_000_000_000));
        assert_eq!(parse_bytes("4096"), Ok(4096));
        assert!(parse_bytes("12 parsecs").is_err());
        assert!(parse_bytes("").is_err());
        assert!(parse_bytes("1e99 TiB").is_err());
        assert_eq!(show_bytes(128 << 30), "128 GiB");
        assert_eq!(show_bytes(1536), "1.5 KiB");
        assert_eq!(exact_bytes(1536), "1536 B");
        for bytes in [1, 1536, 3 << 20, 5 << 30, (1 << 40) + (1 << 20)] {
            assert_eq!(parse_bytes(&exact_bytes(bytes)), Ok(bytes));
        }
    }
}
