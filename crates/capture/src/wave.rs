//! Writes captures: value change dumps, or rows of times and levels as Logic 2 exports them. Times are whole
//! nanoseconds.

use crate::options::Format;
use std::io::{Result, Write};

const NS_PER_S: u64 = 1_000_000_000;

/// Writes the levels of pins in order of time.
#[derive(Debug)]
pub struct WaveWriter<W: Write> {
    out: W,
    format: Format,
    /// Whether each pin is low.
    low: Vec<bool>,
    names: Vec<String>,
    /// The lines of a value change dump that set each pin high and low.
    lines: Vec<[Vec<u8>; 2]>,
    /// The time of the pending changes; none before the first one.
    now_ns: Option<u64>,
    /// Whether a pin changed at that time.
    changed: bool,
}

/// Returns an identifier of a value change dump: a number in base 94.
fn identifier(pin: usize) -> String {
    let (mut rest, mut text) = (pin, String::new());
    loop {
        text.push(char::from(33 + (rest % 94) as u8));
        rest /= 94;
        if rest == 0 {
            return text;
        }
        rest -= 1;
    }
}

impl<W: Write> WaveWriter<W> {
    /// Creates a writer for pins with these names, as [`Format::Csv`] or a value change dump.
    #[must_use]
    pub fn new(out: W, format: Format, names: Vec<String>) -> Self {
        let line = |pin, level| format!("{level}{}\n", identifier(pin)).into_bytes();
        let lines = (0..names.len()).map(|pin| [line(pin, '1'), line(pin, '0')]).collect();
        Self { out, format, low: vec![false; names.len()], names, lines, now_ns: None, changed: false }
    }

    /// Begins the capture at `from_ns` with these pins low.
    ///
    /// # Errors
    /// Errors of the writer, here and below.
    pub fn begin(&mut self, from_ns: u64, low: &[bool]) -> Result<()> {
        self.low.copy_from_slice(low);
        self.now_ns = Some(from_ns);
        if self.format == Format::Csv {
            self.changed = true;
            return writeln!(self.out, "Time [s],{}", self.names.join(","));
        }
        let out = &mut self.out;
        writeln!(out, "$version floatgate {} $end", env!("CARGO_PKG_VERSION"))?;
        writeln!(out, "$timescale 1 ns $end\n$scope module drive $end")?;
        for (pin, name) in self.names.iter().enumerate() {
            writeln!(out, "$var wire 1 {} {name} $end", identifier(pin))?;
        }
        writeln!(out, "$upscope $end\n$enddefinitions $end\n#{from_ns}\n$dumpvars")?;
        for (lines, &low) in self.lines.iter().zip(low) {
            out.write_all(&lines[usize::from(low)])?;
        }
        writeln!(out, "$end")
    }

    /// Sets a pin low or high from `time_ns`, which must not lie before the previous change.
    pub fn change(&mut self, time_ns: u64, pin: usize, low: bool) -> Result<()> {
        if self.now_ns != Some(time_ns) {
            self.row()?;
            self.now_ns = Some(time_ns);
            if self.format != Format::Csv {
                self.time(time_ns)?;
            }
        }
        self.low[pin] = low;
        self.changed = true;
        if self.format == Format::Csv {
            return Ok(());
        }
        self.out.write_all(&self.lines[pin][usize::from(low)])
    }

    /// Writes the time of the changes that follow, in a value change dump.
    fn time(&mut self, time_ns: u64) -> Result<()> {
        self.out.write_all(b"#")?;
        self.out.write_all(itoa::Buffer::new().format(time_ns).as_bytes())?;
        self.out.write_all(b"\n")
    }

    /// Writes the row of the pending changes.
    fn row(&mut self) -> Result<()> {
        let Some(now_ns) = self.now_ns.filter(|_| self.format == Format::Csv && self.changed) else {
            return Ok(());
        };
        self.changed = false;
        self.out.write_all(itoa::Buffer::new().format(now_ns / NS_PER_S).as_bytes())?;
        self.out.write_all(b".")?;
        // A leading one keeps the zeros after it.
        self.out.write_all(&itoa::Buffer::new().format(NS_PER_S + now_ns % NS_PER_S).as_bytes()[1..])?;
        for &low in &self.low {
            self.out.write_all(if low { b",0" } else { b",1" })?;
        }
        self.out.write_all(b"\n")
    }

    /// Ends the capture at `time_ns`, and returns the writer.
    pub fn end(mut self, time_ns: u64) -> Result<W> {
        self.row()?;
        if self.now_ns != Some(time_ns) {
            self.now_ns = Some(time_ns);
            self.changed = true;
            if self.format == Format::Csv {
                self.row()?;
            } else {
                self.time(time_ns)?;
            }
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: Format) -> String {
        let names = ["rb0".to_owned(), "rb1".to_owned()];
        let mut writer = WaveWriter::new(Vec::new(), format, names.to_vec());
        writer.begin(5, &[false, true]).unwrap();
        for (time_ns, pin, low) in [(10, 0, true), (10, 1, false), (1_500_000_000, 0, false)] {
            writer.change(time_ns, pin, low).unwrap();
        }
        String::from_utf8(writer.end(2_000_000_000).unwrap()).unwrap()
    }

    #[test]
    fn both_formats_by_hand() {
        let version = env!("CARGO_PKG_VERSION");
        assert_eq!(
            written(Format::Vcd),
            format!(
                "$version floatgate {version} $end\n$timescale 1 ns $end\n$scope module drive $end\n\
                 $var wire 1 ! rb0 $end\n$var wire 1 \" rb1 $end\n$upscope $end\n$enddefinitions $end\n\
                 #5\n$dumpvars\n1!\n0\"\n$end\n#10\n0!\n1\"\n#1500000000\n1!\n#2000000000\n"
            )
        );
        assert_eq!(
            written(Format::Csv),
            "Time [s],rb0,rb1\n0.000000005,1,0\n0.000000010,0,1\n1.500000000,1,1\n2.000000000,1,1\n"
        );
    }

    #[test]
    fn identifiers_differ() {
        let mut all: Vec<String> = (0..20_000).map(identifier).collect();
        assert!(all.iter().all(|id| !id.is_empty() && id.bytes().all(|b| (33..127).contains(&b))));
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 20_000);
    }
}
