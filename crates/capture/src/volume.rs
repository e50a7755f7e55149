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
    /// Blocks per plane, if known.
    pub blocks_per_plane: Option<u32>,
}

impl Geometry {
    /// Returns the number of dies.
    #[must_use]
    pub fn all_dies(&self) -> u64 {
        [self.chips, self.dies]
            .into_iter()
            .fold(u64::from(self.channels), |dies, per| dies.saturating_mul(per.into()))
    }

    /// Returns the pages per die, if known.
    pub(crate) fn pages_per_die(&self) -> Option<f64> {
        let blocks = f64::from(self.blocks_per_plane?) * f64::from(self.planes);
        Some(blocks * f64::from(self.pages_per_block?))
    }
}

/// Least number of pages per block.
const PAGES_PER_BLOCK_MIN: u32 = 64;

/// Least number of pages per die: dies of 1 Gbit have 65,536 pages of 2 KiB (`docs/decisions/0054-one-die-for-all.md`).
pub(crate) const PAGES_PER_DIE_MIN: f64 = 32_768.0;

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
    /// By how much the only measured die of several may differ from the mean of all; 0 if all or several were measured,
    /// none without the host's bytes.
    pub one_die_share: Option<f64>,
}

impl Terms {
    /// Bounds how far the programs of the only measured die of several may lie from the mean of all, relative to the
    /// mean. `wa` is the write amplification that this die shows.
    ///
    /// Dies receive equal writes, but hold different numbers of valid pages, and so have different spare space. A die
    /// receives one write of every D, and loses a page with the probability of its share of the valid pages. Its number
    /// of valid pages V then has a variance of V (1 - 1/D) / 2. The closed form of FIFO collection makes of that a
    /// difference in write amplification. The bound is two standard deviations; without collection it is 0.
    #[must_use]
    pub fn one_die_share(wa: f64, geometry: &Geometry) -> f64 {
        // The share of valid pages in victims.
        let victim_valid = (1.0 - 1.0 / wa).max(0.0);
        if victim_valid <= 0.0 || victim_valid >= 1.0 {
            return 0.0;
        }
        let (dead, log) = (1.0 - victim_valid, -libm::log(victim_valid));
        let valid_share = dead / log;
        // Relative change of write amplification per change of the share of valid pages.
        let slope = log * log / (dead * (dead / victim_valid - log));
        let left = 1.0 - 1.0 / geometry.all_dies() as f64;
        let pages = geometry.pages_per_die().unwrap_or(PAGES_PER_DIE_MIN);
        2.0 * slope * libm::sqrt(valid_share * left / 2.0 / pages)
    }

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
        let share = terms.dies_share.or(terms.one_die_share).unwrap_or(0.0);
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

    const SSD_M: Geometry = Geometry {
        channels: 8,
        chips: 1,
        dies: 2,
        planes: 2,
        page_bytes: 4096,
        pages_per_block: Some(256),
        blocks_per_plane: None,
    };

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
        let terms = Terms { near_ends: 10.0, hidden_erases: 5.0, cut: 1.0, missed: 2.0, ..Terms::default() };
        let volume = Volume::of(&SSD_M, (1000, 1), 1.0, (&terms, (0.0, 0.0)), host_bytes(65_536_000));
        assert_eq!((volume.wa_low, volume.wa, volume.wa_high), (Some(0.985), Some(1.0), Some(1.013)));
        // One die of 16 that may differ by a tenth.
        let terms = Terms { one_die_share: Some(0.1), ..Terms::default() };
        let volume = Volume::of(&SSD_M, (1000, 1), 1.0, (&terms, (0.0, 0.0)), host_bytes(65_536_000));
        assert_eq!((volume.wa_low, volume.wa_high), (Some(0.9), Some(1.1)));
        // A counter with steps of a tenth of the bytes written.
        let coarse = Some(HostBytes { bytes: 65_536_000, step_bytes: 6_553_600 });
        let volume = Volume::of(&SSD_M, (1100, 1), 1.0, (&Terms::default(), (0.0, 0.0)), coarse);
        assert_eq!((volume.wa_low, volume.wa, volume.wa_high), (Some(1.0), Some(1.1), Some(1100.0 / 900.0)));
        let coarse = Some(HostBytes { bytes: 1000, step_bytes: 1000 });
        assert_eq!(Volume::of(&SSD_M, (1, 1), 1.0, (&Terms::default(), (0.0, 0.0)), coarse).wa_high, None);
    }
    /// The share by which one die differs, from a simulation of the valid pages of dies and the slope by differences.
    #[test]
    fn one_die_differs_by_its_valid_pages() {
        let small = Geometry { channels: 4, chips: 1, dies: 1, blocks_per_plane: Some(2), ..SSD_M };
        let (dies, valid_share, writes) = (4, 0.8, 400_000);
        let pages = small.pages_per_die().unwrap();
        let mut valid = vec![(pages * valid_share) as u64; dies];
        let all: u64 = valid.iter().sum();
        let mut rng = floatgate_base::Rng::new(1, "valid pages");
        let mut square = 0.0;
        for write in 0..writes {
            let mut page = rng.below(all);
            let from = valid
                .iter()
                .position(|&held| {
                    page < held || {
                        page -= held;
                        false
                    }
                })
                .unwrap();
            valid[from] -= 1;
            valid[write % dies] += 1;
            square += (valid[0] as f64 - pages * valid_share).powi(2);
        }
        let deviation = libm::sqrt(square / writes as f64) / pages;
        let wa = |share: f64| {
            // Bisection of the closed form: (1 - x) / -ln x is the share of valid pages.
            let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
            for _ in 0..100 {
                let x = f64::midpoint(low, high);
                if (1.0 - x) / -libm::log(x) < share { low = x } else { high = x }
            }
            1.0 / (1.0 - low)
        };
        let slope = libm::log(wa(valid_share + 1e-5) / wa(valid_share - 1e-5)) / 2e-5;
        let share = Terms::one_die_share(wa(valid_share), &small);
        assert!((share / (2.0 * slope * deviation) - 1.0).abs() < 0.1, "{share} {slope} {deviation}");
        // Nothing is copied; a die of unknown size; a die of 16 times as many pages.
        assert_eq!(Terms::one_die_share(1.0, &small), 0.0);
        assert_eq!(Terms::one_die_share(0.5, &small), 0.0);
        let least = Geometry { pages_per_block: Some(256), blocks_per_plane: Some(64), ..SSD_M };
        assert_eq!(Terms::one_die_share(4.0, &SSD_M), Terms::one_die_share(4.0, &least));
        let large = Geometry { blocks_per_plane: Some(1024), ..least };
        let ratio = Terms::one_die_share(4.0, &least) / Terms::one_die_share(4.0, &large);
        assert!((ratio - 4.0).abs() < 1e-9, "{ratio}");
    }
}
