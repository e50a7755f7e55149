//! Sizes with units where a key takes bytes: `working_set_bytes = "400 MiB"`; and whole numbers of bytes where it takes
//! sizes: `capacity = 0`.
//!
//! They are rewritten in the text of a layer, before it is read: one rule for tables and policies. It changes no line.

use crate::property::{SIZE, takes_bytes, takes_sizes};
use crate::settings::row_of;
use crate::toml_errors::{Origin, line_of};
use floatgate_base::units::parse_bytes;
use floatgate_base::{Error, Place, Result};
use std::borrow::Cow;
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// What stands in the text for a size.
enum Written {
    /// A size in quotes, where the key takes bytes.
    Size(String),
    /// Bytes, where the key takes a size in quotes.
    Bytes(String),
}

/// Writes the sizes of a layer as each key takes them. Text that is not TOML stays as it is.
///
/// # Errors
/// A size that cannot be read, at its key.
pub(crate) fn in_bytes<'a>(text: &'a str, origin: Origin<'_>) -> Result<Cow<'a, str>> {
    let Ok(table) = DeTable::parse(text) else { return Ok(Cow::Borrowed(text)) };
    let mut sizes = Vec::new();
    collect(table.get_ref(), "", &mut sizes);
    let mut made = Cow::Borrowed(text);
    sizes.sort_by_key(|(span, _)| span.start);
    // From the last one on: the places of those before it stay.
    for (span, written) in sizes.into_iter().rev() {
        let size = match written {
            Written::Size(size) => size,
            Written::Bytes(bytes) => {
                made.to_mut().replace_range(span, &format!("\"{bytes}\""));
                continue;
            }
        };
        let bytes = parse_bytes(&size).map_err(|what| {
            let place = match origin {
                Origin::Override(key, _) => Place::Setting(key.to_owned()),
                Origin::Experiment(path) | Origin::Other(path, _) => line_of(text, span.start, path),
            };
            Error::input(place, what, format!("expected a whole number of bytes, or {SIZE}"))
        })?;
        made.to_mut().replace_range(span, &bytes.to_string());
    }
    Ok(made)
}

/// Collects the values to rewrite, and where they stand.
fn collect(table: &DeTable<'_>, prefix: &str, sizes: &mut Vec<(Range<usize>, Written)>) {
    for (key, value) in table {
        let path =
            if prefix.is_empty() { key.get_ref().to_string() } else { format!("{prefix}.{}", key.get_ref()) };
        match value.get_ref() {
            DeValue::Table(inner) => collect(inner, &path, sizes),
            DeValue::String(size) if row_of(&path).is_some_and(|row| takes_sizes(&row)) => {
                sizes.push((value.span(), Written::Size(size.to_string())));
            }
            DeValue::Integer(bytes) if row_of(&path).is_some_and(|row| takes_bytes(&row)) => {
                let decimal = u64::from_str_radix(&bytes.as_str().replace('_', ""), bytes.radix());
                if let Ok(decimal) = decimal {
                    sizes.push((value.span(), Written::Bytes(decimal.to_string())));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::layers::Layers;

    fn refused(key: &str, value: &str) -> String {
        Layers::default().add_override(key, value).unwrap_err().to_string()
    }

    #[test]
    fn keys_in_bytes_take_sizes_in_files() {
        let mut layers = Layers::default();
        let text = "drive.geometry = { page_bytes = \"16 KiB\" } # before\n[workload]\nworking_set_bytes = '1 TiB'\n\
                    offset_bytes = 4096\n[ftl.separate]\npolicy = \"eti\"\nextent_bytes = \"2MiB\"\n";
        layers.add_file(text, "e.toml").unwrap();
        let experiment = layers.experiment();
        let workload = experiment.workload.unwrap();
        assert_eq!((workload.working_set_bytes, workload.offset_bytes), (Some(1 << 40), Some(4096)));
        assert_eq!(experiment.drive.unwrap().geometry.unwrap().page_bytes, Some(16 << 10));
        let separate = experiment.ftl.unwrap().separate.unwrap();
        assert_eq!(separate.get("extent_bytes"), Some(&floatgate_base::Setting::Whole(2 << 20)));
        let place = floatgate_base::Place::Line { path: "e.toml".into(), line: 4, column: Some(1) };
        assert_eq!(layers.place("workload.offset_bytes"), place);
    }

    #[test]
    fn keys_that_take_sizes_take_bytes() {
        let mut layers = Layers::default();
        let text = "drive.capacity = 0x4000_0000\n[drive.buffer]\ncapacity = 0 # none\n[drive.rated]\n\
                    user_capacity = 1_000_000\n";
        layers.add_file(text, "e.toml").unwrap();
        let drive = layers.experiment().drive.unwrap();
        assert_eq!(drive.capacity.as_deref(), Some("1073741824"));
        assert_eq!(layers.text("drive.buffer.capacity"), Some("0"));
        assert_eq!(layers.text("drive.rated.user_capacity"), Some("1000000"));
        for value in ["-1", "1.5", "true", "[1]"] {
            let text = format!("[drive.buffer]\ncapacity = {value}\n");
            let error = Layers::default().add_file(&text, "e.toml").unwrap_err().to_string();
            assert!(error.starts_with("e.toml:2:12: ") && error.contains("is not text"), "{error}");
        }
    }

    #[test]
    fn keys_in_bytes_take_sizes_of_the_command_line() {
        for (size, bytes) in
            [("400MiB", 400 << 20), ("\"1.5 kB\"", 1500), ("4096", 4096), ("'2 GiB'", 2 << 30)]
        {
            let mut layers = Layers::default();
            layers.add_override("workload.working_set_bytes", size).unwrap();
            assert_eq!(layers.experiment().workload.unwrap().working_set_bytes, Some(bytes), "{size}");
        }
    }

    #[test]
    fn sizes_that_cannot_be_read_are_refused_at_their_key() {
        let expected = "; expected a whole number of bytes, or a size such as \"4 KiB\"";
        assert_eq!(
            refused("workload.request_bytes", "4 parsecs"),
            format!("workload.request_bytes: 'parsecs' is not a unit of size{expected}")
        );
        assert_eq!(
            refused("workload.request_bytes", "large"),
            format!("workload.request_bytes: 'large' is not a size{expected}")
        );
        let text = "[workload]\nrequest_bytes = \"4 KiBs\"\n";
        let error = Layers::default().add_file(text, "e.toml").unwrap_err().to_string();
        assert_eq!(error, format!("e.toml:2:17: 'KiBs' is not a unit of size{expected}"));
        // Other keys take no size, and a value of another type keeps its own error.
        assert!(refused("workload.requests", "4 KiB").contains("is not a whole number"));
        let flag = refused("workload.request_bytes", "true");
        assert!(
            flag.contains("'true' is not a whole number; expected a whole number from 1, such as "),
            "{flag}"
        );
        assert!(flag.ends_with(", or a size such as \"4 KiB\""), "{flag}");
    }
}
