//! The 40 micro-benchmarks of RB-Explorer (Table 3): two write shares, two orders, two alignments, five sizes.
//!
//! Names follow the paper's format SIZE-ORDER-WRITES-ALIGNMENT, `4K-SQ-50%-W-4KiB-align`, in lower case and without the
//! percent sign: `4k-sq-50w-align`. Each ends when it has written 2 GiB (section 4.3); one with half reads makes twice
//! the requests. Without alignment requests begin at multiples of 512 B; a sequential one then starts at byte 512,
//! because sizes from 4 KiB would otherwise be aligned after all. For sequential 512 B at 4 KiB alignment, every
//! request begins at the next multiple of 4 KiB.

use super::{GeneratorConfig, Jobs, Pattern};

/// A micro-benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Micro {
    /// Name, such as `4k-sq-50w-align`.
    pub name: &'static str,
    /// Size of every request.
    pub request_bytes: u64,
    /// Whether the order is random; otherwise ascending.
    pub random: bool,
    /// Writes per hundred requests; the others are reads.
    pub write_percent: u8,
    /// Whether requests begin at multiples of 4 KiB; otherwise of 512 B.
    pub aligned: bool,
}

/// Bytes written by a micro-benchmark.
pub const BYTES: u64 = 2 << 30;

macro_rules! table {
    ($(($size:literal, $bytes:literal)),*) => {
        &[$(
            row(concat!($size, "-sq-100w-align"), $bytes, false, 100, true),
            row(concat!($size, "-sq-100w-no-align"), $bytes, false, 100, false),
            row(concat!($size, "-rd-100w-align"), $bytes, true, 100, true),
            row(concat!($size, "-rd-100w-no-align"), $bytes, true, 100, false),
            row(concat!($size, "-sq-50w-align"), $bytes, false, 50, true),
            row(concat!($size, "-sq-50w-no-align"), $bytes, false, 50, false),
            row(concat!($size, "-rd-50w-align"), $bytes, true, 50, true),
            row(concat!($size, "-rd-50w-no-align"), $bytes, true, 50, false),
        )*]
    };
}

const fn row(
    name: &'static str,
    request_bytes: u64,
    random: bool,
    write_percent: u8,
    aligned: bool,
) -> Micro {
    Micro { name, request_bytes, random, write_percent, aligned }
}

/// All of them.
pub const MICROS: &[Micro] =
    table![("512b", 512), ("4k", 4096), ("8k", 8192), ("16k", 16384), ("32k", 32768)];

impl Micro {
    /// Finds one by name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        MICROS.iter().find(|micro| micro.name == name)
    }

    /// Returns the requests until its bytes are written, on average over the draws of read or write.
    #[must_use]
    pub fn requests(&self) -> u64 {
        BYTES / self.request_bytes * 100 / u64::from(self.write_percent)
    }

    /// Returns the share of reads.
    #[must_use]
    pub fn read_share(&self) -> f64 {
        f64::from(100 - self.write_percent) / 100.0
    }

    /// Returns the job with its settings.
    #[must_use]
    pub fn jobs(&self) -> Jobs {
        Jobs {
            random_share: if self.random { 1.0 } else { 0.0 },
            sizes: vec![(self.request_bytes, 1.0)],
            align_bytes: if self.aligned { 4096 } else { 512 },
            offset_bytes: if self.aligned { 0 } else { 512 },
            ..Jobs::default()
        }
    }

    /// Configures the micro-benchmark for a space.
    #[must_use]
    pub fn config(&self, logical_bytes: u64, seed: u64) -> GeneratorConfig {
        GeneratorConfig {
            pattern: Pattern::Jobs,
            logical_bytes,
            read_share: self.read_share(),
            requests: self.requests(),
            jobs: self.jobs(),
            seed,
            ..GeneratorConfig::default()
        }
    }
}
