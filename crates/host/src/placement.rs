//! Maps addresses of a device to addresses of the drive.

/// Treatment of addresses beyond the end of the drive (`workload.beyond`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The run stops and names the drive that would hold the trace.
    Refuse,
    /// Addresses wrap around at the end of the drive.
    Wrap,
    /// Pages are spread to stretch the trace's span to the drive's: page p becomes p x drive / span.
    Scale,
}

/// Names of the choices with their meaning.
pub const BEYOND: &[(&str, &str)] = &[
    ("refuse", "stop, and name the drive size that would hold the trace"),
    ("wrap", "addresses wrap around at the end of the drive"),
    ("scale", "the trace's address span is stretched or shrunk to the drive's"),
];

/// Whether several devices of a trace share addresses (`workload.devices`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Devices {
    /// Each device has its own range of the drive, one after the other.
    Apart,
    /// All devices use the same addresses.
    Fold,
}

/// Names of the choices with their meaning.
pub const DEVICES: &[(&str, &str)] = &[
    ("apart", "each device of the trace gets its own range of the drive, one after the other"),
    ("fold", "equal addresses of different devices are the same page"),
];

/// A request that lies beyond the drive, or on a device that has no range yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// Its last byte lies beyond the end of the drive.
    Drive {
        /// One past the request's last byte, on the drive.
        end: u64,
    },
    /// The device is unknown: the trace must be scanned for its devices first.
    Device,
}

/// Maps device addresses to the drive.
#[derive(Clone, Debug)]
pub struct Placement {
    page_bytes: u64,
    logical_bytes: u64,
    beyond: Beyond,
    /// First byte of each device on the (unlimited) address line; the single entry 0 if devices are folded.
    bases: Vec<u64>,
    fold: bool,
    /// Pages of the address line, for scaling.
    span_pages: u64,
}

impl Placement {
    /// Creates the mapping. `ends` holds, per device, one past the largest byte addressed. It may be empty if addresses
    /// are not scaled and only device 0 occurs (or devices are folded).
    #[must_use]
    pub fn new(page_bytes: u32, logical_pages: u32, beyond: Beyond, devices: Devices, ends: &[u64]) -> Self {
        let page = u64::from(page_bytes);
        let fold = devices == Devices::Fold;
        let mut bases = vec![0];
        if !fold {
            // Each device begins after the previous one; the last end begins none.
            bases.extend(ends.iter().scan(0, |at, &end| {
                *at = whole_pages(end, page).saturating_add(*at);
                Some(*at)
            }));
            bases.truncate(ends.len().max(1));
        }
        let span_pages = Self::span_bytes(page_bytes, devices, ends) / page;
        Self {
            page_bytes: page,
            logical_bytes: u64::from(logical_pages) * page,
            beyond,
            bases,
            fold,
            span_pages: span_pages.max(1),
        }
    }

    /// Returns the bytes of the address line that devices with these ends take.
    #[must_use]
    pub fn span_bytes(page_bytes: u32, devices: Devices, ends: &[u64]) -> u64 {
        let page = u64::from(page_bytes);
        let whole = ends.iter().map(|&end| whole_pages(end, page));
        match devices {
            Devices::Apart => whole.fold(0, u64::saturating_add),
            Devices::Fold => whole.max().unwrap_or(0),
        }
    }

    /// Returns the logical bytes of the drive.
    #[must_use]
    pub fn logical_bytes(&self) -> u64 {
        self.logical_bytes
    }

    /// Returns the beginning of a device, and how many of its bytes map to the drive unchanged; none for an unknown device
    /// and for scaled addresses.
    #[must_use]
    pub fn room_of(&self, device: u16) -> Option<(u64, u64)> {
        let base = if self.fold { 0 } else { *self.bases.get(usize::from(device))? };
        let room = self.logical_bytes.checked_sub(base)?;
        (self.beyond != Beyond::Scale).then_some((base, room))
    }

    /// Returns the first byte of a request on the drive, and whether the address was changed for lying beyond it. The
    /// range of a wrapped or scaled request may still cross the end: it then continues at byte 0.
    ///
    /// # Errors
    /// When the request lies beyond the drive and that is refused.
    #[inline]
    pub fn place(&self, device: u16, offset: u64, bytes: u64) -> Result<(u64, bool), Outside> {
        let base = if self.fold { 0 } else { *self.bases.get(usize::from(device)).ok_or(Outside::Device)? };
        let start = base.saturating_add(offset);
        let end = start.saturating_add(bytes);
        match self.beyond {
            Beyond::Refuse if end > self.logical_bytes => Err(Outside::Drive { end }),
            Beyond::Refuse => Ok((start, false)),
            Beyond::Wrap => Ok((start % self.logical_bytes, end > self.logical_bytes)),
            Beyond::Scale => {
                let page = start / self.page_bytes;
                let drive_pages = self.logical_bytes / self.page_bytes;
                let scaled =
                    (u128::from(page) * u128::from(drive_pages) / u128::from(self.span_pages)) as u64;
                let place = (scaled.min(drive_pages - 1)) * self.page_bytes + start % self.page_bytes;
                Ok((place, place != start))
            }
        }
    }
}

/// Rounds bytes up to whole pages, saturating at 64 bits: traces may contain any address.
fn whole_pages(bytes: u64, page_bytes: u64) -> u64 {
    bytes.div_ceil(page_bytes).saturating_mul(page_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_lie_behind_one_another() {
        let p = Placement::new(4096, 100, Beyond::Refuse, Devices::Apart, &[5000, 4096, 1]);
        assert_eq!(p.place(0, 10, 1), Ok((10, false)));
        assert_eq!(p.place(1, 10, 1), Ok((8202, false)));
        assert_eq!(p.place(2, 0, 1), Ok((3 * 4096, false)));
        assert_eq!(p.place(3, 0, 1), Err(Outside::Device));
        let folded = Placement::new(4096, 100, Beyond::Refuse, Devices::Fold, &[]);
        assert_eq!(folded.place(9, 10, 1), Ok((10, false)));
    }

    #[test]
    fn beyond_the_drive_is_refused_wrapped_or_scaled() {
        let at = |beyond| {
            Placement::new(4096, 10, beyond, Devices::Apart, &[40 * 4096]).place(0, 35 * 4096 + 7, 4096)
        };
        assert_eq!(at(Beyond::Refuse), Err(Outside::Drive { end: 36 * 4096 + 7 }));
        assert_eq!(at(Beyond::Wrap), Ok((5 * 4096 + 7, true)));
        assert_eq!(at(Beyond::Scale), Ok((8 * 4096 + 7, true)));
    }
}
