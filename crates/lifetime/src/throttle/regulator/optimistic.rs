//! Optimistic: an epoch may borrow a share of the capacity of later ones, and pays a tenth of its own for it (READY,
//! section 3.4, Fig. 7b).
//!
//! Within the epoch it is the pessimistic regulator with the spare on top. Periods that write less pay back loans of
//! earlier ones, and only writes beyond the epoch's capacity use the spare.

use super::allotment::{Allotment, Remaining};

/// Assigns an epoch its capacity. If the previous one did not use the spare, `c = C_r / m`, and a share of the other
/// epochs' capacity is spare.
///
/// If it did, `c` is reduced by that share, and only the reduction becomes spare. The share is of the last unreduced
/// capacity, because reductions must not compound. A fresh spare every epoch would wear the drive out early.
#[must_use]
pub fn allot(left: &Remaining) -> Allotment {
    let even = (left.bytes / left.epochs).max(0.0);
    match left.unreduced_rate {
        Some(rate) if left.touched_spare => {
            let capacity_bytes = ((1.0 - left.spare_share) * rate * left.length_ns as f64).min(even);
            let spare_bytes = (left.bytes - left.epochs * capacity_bytes).max(0.0);
            Allotment { capacity_bytes, spare_bytes }
        }
        _ => Allotment { capacity_bytes: even, spare_bytes: left.spare_share * even * (left.epochs - 1.0) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's example: 3 MB for three epochs.
    #[test]
    fn the_example_of_section_3_4() {
        let left = Remaining {
            bytes: 3.0,
            epochs: 3.0,
            unreduced_rate: None,
            length_ns: 1,
            touched_spare: false,
            spare_share: 0.1,
        };
        let first = allot(&left);
        assert_eq!((first.capacity_bytes, (first.spare_bytes * 1e12).round()), (1.0, 0.2e12));
        // 1.1 MB written: both later epochs have 0.9, and 0.1 is spare.
        let touched =
            Remaining { bytes: 1.9, epochs: 2.0, unreduced_rate: Some(1.0), touched_spare: true, ..left };
        let second = allot(&touched);
        assert_eq!(second.capacity_bytes, 0.9);
        assert!((second.spare_bytes - 0.1).abs() < 1e-12);
        // All of that spent as well: 0.9 is left, without spare.
        let third = allot(&Remaining { bytes: 0.9, epochs: 1.0, ..touched });
        assert!((third.capacity_bytes - 0.9).abs() < 1e-12);
        assert!(third.spare_bytes < 1e-12);
        // The spare spent at once: pessimistic with 0.9.
        let spent = allot(&Remaining { bytes: 1.8, ..touched });
        assert!((spent.capacity_bytes - 0.9).abs() < 1e-12 && spent.spare_bytes < 1e-12);
        // Spare unused after that: the rest is shared evenly again.
        let alone = allot(&Remaining { bytes: 1.2, epochs: 1.0, touched_spare: false, ..touched });
        assert_eq!((alone.capacity_bytes, alone.spare_bytes), (1.2, 0.0));
    }

    #[test]
    fn a_reduced_capacity_never_exceeds_an_even_share() {
        let left = Remaining {
            bytes: 1.0,
            epochs: 4.0,
            unreduced_rate: Some(1.0),
            length_ns: 1,
            touched_spare: true,
            spare_share: 0.1,
        };
        assert_eq!(allot(&left), Allotment { capacity_bytes: 0.25, spare_bytes: 0.0 });
    }
}
