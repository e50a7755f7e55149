//! Computes write amplification from counts of programs, with its error term by term (section 3.2, Equations 3 to 7).

use serde::Serialize;

/// Shape of the measured drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Chips per channel.
    pub chips: u32,
    /// Dies per chip, each with a pin of its own.
    pub dies: u32,
    /// Planes per die.
    pub planes: u32,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Pages per block, if known.
    pub pages_per_block: Option<u32>,
}

impl Geometry {
    /// Returns the number of dies.
    #[must_use]
    pub fn all_dies(&self) -> u64 {
        [self.chips, self.dies]
            .into_iter()
            .fold(u64::from(self.channels), |dies, per| dies.saturating_mul(per.into()))
    }
}

/// Least number of pages per block.
const PAGES_PER_BLOCK_MIN: u32 = 64;

/// Possible errors of the count by cause, in programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Terms {
    /// Low phases near the limits of the interval, which may belong to the other side.
    pub near_ends: f64,
    /// Erases that may be among the programs if none were distinguished: one per block programmed, and one more per
    /// plane.
    pub hidden_erases: f64,
    /// Low phases cut at the ends of the capture, or by an unknown level.
    pub cut: f64,
    /// Low phases as short as the recorder's period: as many are missed.
    pub missed: f64,
    /// Twice the standard error of the mean over the measured dies, relative to the mean; none if only one of several
    /// was measured.
    pub dies_share: Option<f64>,
}

impl Terms {
    /// Bounds the erases hidden among `programs` on `signals` pins.
    #[must_use]
    pub fn hidden_erases((programs, signals): (u64, usize), erases: u64, geometry: &Geometry) -> f64 {
        if erases > 0 || programs == 0 {
            return 0.0;
        }
        let pages = f64::from(geometry.pages_per_block.unwrap_or(PAGES_PER_BLOCK_MIN));
        // A program of several planes fills a page in each, and their blocks are erased together. The block erased last
        // is not yet full at the end of the capture.
        programs as f64 / pages + signals as f64 * f64::from(geometry.planes)
    }

    /// Computes the relative error from differences between dies: `programs` by pin, of `dies`
    /// measured dies of `all_dies`.
    #[must_use]
    pub fn dies_share(programs: &[u64], dies: u64, all_dies: u64) -> Option<f64> {
        let measured = programs.len() as f64;
        if dies >= all_dies {
            return Some(0.0);
        }
        let mean = programs.iter().sum::<u64>() as f64 / measured;
        if programs.len() < 2 || mean == 0.0 {
            return None;
        }
        let square = |&n: &u64| (n as f64 - mean).powi(2);
        let variance = programs.iter().map(square).sum::<f64>() / (measured - 1.0);
        let left = 1.0 - dies as f64 / all_dies as f64;
        Some(2.0 * libm::sqrt(variance / measured * left) / mean)
    }
}

/// Host writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostBytes {
    /// Number of bytes.
    pub bytes: u64,
    /// Bound on the error of this number: the step of the counter that it was read from.
    pub step_bytes: u64,
}

/// The programmed volume, and its ratio to the host's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Volume {
    /// Pages programmed per die.
    pub n_p: f64,
    /// Bytes programmed on the drive.
    pub p_volume_bytes: f64,
    /// Write amplification; none without the host's bytes.
    pub wa: Option<f64>,
    /// Lower limit of write amplification.
    pub wa_low: Option<f64>,
    /// Upper limit of write amplification.
    pub wa_high: Option<f64>,
}

impl Volume {
    /// Computes the volume of `programs` of `dies` dies, each of `multi_page` pages. There may be less programs by the
    /// first of `doubtful`, and more by the second.
    #[must_use]
    pub fn of(
        geometry: &Geometry,
        (programs, dies): (u64, usize),
        multi_page: f64,
        (terms, doubtful): (&Terms, (f64, f64)),
        host: Option<HostBytes>,
    ) -> Self {
        let bytes_per_program =
            multi_page / dies.max(1) as f64 * geometry.all_dies() as f64 * geometry.page_bytes as f64;
        let wa_of = |programs: f64, steps: f64| {
            let host_bytes = host.map(|host| (host.bytes as f64 + steps * host.step_bytes as f64).max(0.0));
            host_bytes.map(|host_bytes| programs * bytes_per_program / host_bytes)
        };
        let programs = programs as f64;
        let share = terms.dies_share.unwrap_or(0.0);
        let least = (programs - terms.near_ends - terms.hidden_erases - doubtful.0).max(0.0);
        let least = least * (1.0 - share).max(0.0);
        let most = (programs + terms.near_ends + terms.cut + terms.missed + doubtful.1) * (1.0 + share);
        Self {
            n_p: programs * multi_page / dies.max(1) as f64,
            p_volume_bytes: programs * bytes_per_program,
            wa: wa_of(programs, 0.0),
            wa_low: wa_of(least, 1.0),
            // A step as large as the number itself leaves no upper limit.
            wa_high: wa_of(most, -1.0).filter(|wa| wa.is_finite()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SSD_M: Geometry =
        Geometry { channels: 8, chips: 1, dies: 2, planes: 2, page_bytes: 4096, pages_per_block: Some(256) };

    fn host_bytes(bytes: u64) -> Option<HostBytes> {
        Some(HostBytes { bytes, step_bytes: 0 })
    }

    /// 2 GB of sequential writes in multi-plane programs: counted as single ones, their WA is a half.
    #[test]
    fn equations_3_to_7_by_hand() {
        let host = 2 << 30;
        let programs = host / 4096 / 16 / 2;
        let none = Terms { dies_share: Some(0.0), ..Terms::default() };
        let single = Volume::of(&SSD_M, (programs, 1), 1.0, (&none, (0.0, 0.0)), host_bytes(host));
        assert_eq!((single.wa, single.wa_low), (Some(0.5), Some(0.5)));
        let multi = Volume::of(&SSD_M, (programs, 1), 2.0, (&none, (0.0, 0.0)), host_bytes(host));
        assert_eq!((multi.wa, multi.n_p, multi.p_volume_bytes), (Some(1.0), 32768.0, host as f64));
        // Two pins with equal counts.
        let two = Volume::of(&SSD_M, (2 * programs, 2), 2.0, (&none, (0.0, 0.0)), host_bytes(host));
        assert_eq!((two.wa, two.n_p), (Some(1.0), 32768.0));
    }

    /// Section 4.3: one erase per block that counts as a program is 1/128 or 1/256.
    #[test]
    fn terms_by_hand() {
        assert_eq!(Terms::hidden_erases((25_600, 1), 0, &SSD_M), 102.0);
        assert_eq!(Terms::hidden_erases((25_600, 3), 0, &SSD_M), 106.0);
        assert_eq!(Terms::hidden_erases((25_600, 3), 3, &SSD_M), 0.0);
        assert_eq!(Terms::dies_share(&[100], 1, 16), None);
        assert_eq!(Terms::dies_share(&[100], 1, 1), Some(0.0));
        let share = Terms::dies_share(&[90, 110], 2, 16).unwrap();
        assert!((share - 2.0 * (200.0f64 / 2.0 * 14.0 / 16.0).sqrt() / 100.0).abs() < 1e-12, "{share}");
        let terms = Terms { near_ends: 10.0, hidden_erases: 5.0, cut: 1.0, missed: 2.0, dies_share: None };
        let volume = Volume::of(&SSD_M, (1000, 1), 1.0, (&terms, (0.0, 0.0)), host_bytes(65_536_000));
        assert_eq!((volume.wa_low, volume.wa, volume.wa_high), (Some(0.985), Some(1.0), Some(1.013)));
        // A counter with steps of a tenth of the bytes written.
        let coarse = Some(HostBytes { bytes: 65_536_000, step_bytes: 6_553_600 });
        let volume = Volume::of(&SSD_M, (1100, 1), 1.0, (&Terms::default(), (0.0, 0.0)), coarse);
        assert_eq!((volume.wa_low, volume.wa, volume.wa_high), (Some(1.0), Some(1.1), Some(1100.0 / 900.0)));
        let coarse = Some(HostBytes { bytes: 1000, step_bytes: 1000 });
        assert_eq!(Volume::of(&SSD_M, (1, 1), 1.0, (&Terms::default(), (0.0, 0.0)), coarse).wa_high, None);
    }
}
