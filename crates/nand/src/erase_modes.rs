//! Modes in which a block may be erased and then programmed: dynamic program and erase scaling (DPES).
//!
//! Source: J. Jeong, S. S. Hahn, S. Lee and J. Kim, Lifetime Improvement of NAND Flash-based Storage Systems Using
//! Dynamic Program and Erase Scaling, FAST 2014; before it Improving NAND Endurance by Dynamic Program and Erase
//! Scaling, HotStorage 2013. A lower erase voltage, applied for longer, wears a block less. The window of threshold
//! voltages is then narrower, so the block must be programmed more finely, which takes longer. Wear is counted in
//! *effective cycles*: an ordinary erase is one, a shallower erase is its share of one.

use floatgate_base::policy::Range;
use floatgate_base::{ChosenPolicy, Misfit, ParamInfo};

/// Maximum of modes.
pub const MODES_MAX: usize = 8;
/// Unit of effective wear: a thousandth of the wear of an ordinary erase.
pub const WEAR_UNIT: u32 = 1000;

/// The table of modes (`ftl.dpes.modes`). Mode 0 is the ordinary one; each further one erases less deeply.
///
/// What a reader can check in the abstracts of both papers: endurance depends nearly linearly on the erase voltage, and
/// slow erases at a lower voltage wear less. The papers' FTL gains 45 % (2013) and 61.2 % (2014) more cycles for less
/// than 0.2 % and 2.2 % of write throughput.
///
/// All values below are assumed. `wear` and `program` are in circulation for the five erase voltages and write modes of
/// the 2014 paper, and were not compared with its tables. `erase` has no source: only its direction is published.
/// `margin` is 1 because finer programs are meant to keep the margins. Measurements of a chip replace these rows.
pub const MODES: ParamInfo = ParamInfo::rows(
    "modes",
    "modes of erases, the ordinary one first: the wear of an erase as a share of a cycle (in thousandths), by how much longer it \
     and programs take, and the share of the rated cycles up to which the window has margin for retention and read disturb",
    &[
        &[1.0, 1.0, 1.0, 1.0],
        &[0.86, 1.25, 1.15, 1.0],
        &[0.71, 1.5, 1.26, 1.0],
        &[0.55, 1.75, 1.42, 1.0],
        &[0.40, 2.0, 1.74, 1.0],
    ],
    (
        &[
            ("wear", Range::closed(0.001, 1.0)),
            ("erase", Range::closed(1.0, 100.0)),
            ("program", Range::closed(1.0, 10.0)),
            ("margin", Range::SHARE),
        ],
        MODES_MAX,
    ),
)
.shared();

/// The modes of a drive's blocks. Entries from `count` on are meaningless.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EraseModes {
    /// Number of modes, at least 1.
    pub count: u8,
    /// Wear of an erase, thousandths of a cycle.
    pub wear: [u32; MODES_MAX],
    /// Factor by which an erase takes longer.
    pub erase_factors: [f64; MODES_MAX],
    /// Factor by which programs take longer.
    pub program_factors: [f64; MODES_MAX],
    /// Share of the rated cycles, in effective wear, up to which a block may be erased so.
    pub margins: [f64; MODES_MAX],
    /// Rated cycles of a block.
    pub pe_cycles: u32,
}

impl EraseModes {
    /// Returns the configured modes of blocks with these rated cycles.
    ///
    /// # Errors
    /// A first row that is not the ordinary mode, and rows out of order.
    pub fn of(settings: &ChosenPolicy, pe_cycles: u32) -> Result<Self, Misfit> {
        let columns = ["wear", "erase", "program", "margin"].map(|name| settings.column(MODES.name, name));
        if let Some((name, column)) =
            ["wear", "erase", "program", "margin"].iter().zip(&columns).find(|(_, column)| column[0] != 1.0)
        {
            let what = format!("the first mode has {name} = {}", column[0]);
            let expected = "expected 1 for all keys: it is the ordinary mode, to which the others compare";
            return Err(Misfit::new(MODES.name, what, expected));
        }
        let [wear, erase, program, margin] = &columns;
        let falls = |column: &[f64]| column.windows(2).all(|pair| pair[0] >= pair[1]);
        if !falls(wear) || !falls(margin) || !erase.is_sorted() || !program.is_sorted() {
            let what = "modes are not sorted by depth";
            let expected = "expected wear and margin that fall from mode to mode, or stay, and erase and program that rise, or stay";
            return Err(Misfit::new(MODES.name, what, expected));
        }
        let of = |column: &[f64]| std::array::from_fn(|mode| column.get(mode).copied().unwrap_or(1.0));
        Ok(Self {
            count: wear.len() as u8,
            wear: of(wear).map(|share| (share * f64::from(WEAR_UNIT)).round() as u32),
            erase_factors: of(erase),
            program_factors: of(program),
            margins: of(margin),
            pe_cycles,
        })
    }

    /// Returns the shallowest mode up to `mode` that has margin on a block with this effective wear, thousandths of a
    /// cycle.
    #[must_use]
    pub fn with_margin(&self, mode: u8, worn: u32) -> u8 {
        let share = f64::from(worn) / f64::from(WEAR_UNIT) / f64::from(self.pe_cycles);
        // A margin of 1 has no end: blocks that recover endure more than the rated cycles.
        let fits =
            |&mode: &u8| self.margins[usize::from(mode)] >= 1.0 || share < self.margins[usize::from(mode)];
        (0..=mode.min(self.count - 1)).rev().find(fits).unwrap_or(0)
    }

    /// Returns the mean wear of an erase over the rated cycles of a block that is always erased in `mode` while that
    /// has margin, as a share of a cycle.
    #[must_use]
    pub fn mean_wear(&self, mode: u8) -> f64 {
        let mut erases_per_cycle = 0.0;
        let mut from = 0.0;
        for mode in (0..=mode.min(self.count - 1)).map(usize::from).rev() {
            let to = self.margins[mode].max(from);
            erases_per_cycle += (to - from) * f64::from(WEAR_UNIT) / f64::from(self.wear[mode]);
            from = to;
        }
        1.0 / erases_per_cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::policy::{Facts, Setting, Slot};
    use floatgate_base::{Acts, PolicyInfo};
    use std::collections::BTreeMap;

    const SLOT: Slot = Slot {
        key: "a",
        selector: "policy",
        what: "",
        summary: "",
        policies: &[PolicyInfo { params: &[MODES], ..PolicyInfo::plain("one", "") }],
        common: &[],
        acts: Acts::Always,
    };

    fn modes(rows: Option<&[[f64; 4]]>) -> Result<EraseModes, String> {
        let row = |row: &[f64; 4]| {
            let keys = ["wear", "erase", "program", "margin"].map(String::from);
            keys.into_iter().zip(*row).collect::<BTreeMap<_, _>>()
        };
        let set = rows.map(|rows| ("modes", Setting::Rows(rows.iter().map(row).collect())));
        let settings: Vec<_> = set.into_iter().collect();
        let policy = SLOT.fill(&SLOT.policies[0], &settings, &Facts::default()).map_err(|e| e.what)?;
        EraseModes::of(&policy, 1000).map_err(|e| e.what)
    }

    #[test]
    fn the_table_is_that_of_the_rows() {
        let modes = modes(None).unwrap();
        assert_eq!(modes.count, 5);
        assert_eq!(modes.wear[..5], [1000, 860, 710, 550, 400]);
        assert_eq!(modes.program_factors[..5], [1.0, 1.15, 1.26, 1.42, 1.74]);
        assert_eq!(modes.erase_factors[..5], [1.0, 1.25, 1.5, 1.75, 2.0]);
        for mode in 0..5 {
            assert_eq!(modes.with_margin(mode, 5_000_000), mode, "margins of 1 have no end");
            let wear = f64::from(modes.wear[usize::from(mode)]) / 1000.0;
            assert!((modes.mean_wear(mode) - wear).abs() < 1e-15);
        }
        assert_eq!(modes.with_margin(7, 0), 4, "there is no deeper row");
    }

    /// Up to half of 1000 cycles in mode 2, up to 800 in mode 1, the rest in mode 0.
    #[test]
    fn margins_end() {
        let rows = [[1.0; 4], [0.5, 1.0, 1.0, 0.8], [0.25, 2.0, 3.0, 0.5]];
        let modes = modes(Some(&rows)).unwrap();
        for (worn, mode) in [(0, 2), (499_999, 2), (500_000, 1), (799_999, 1), (800_000, 0), (u32::MAX, 0)] {
            assert_eq!(modes.with_margin(2, worn), mode, "{worn}");
        }
        // 500 / 0.25 + 300 / 0.5 + 200 / 1 erases wear 1000 cycles.
        assert!((modes.mean_wear(2) - 1000.0 / 2800.0).abs() < 1e-12);
        assert!((modes.mean_wear(1) - 1000.0 / 1800.0).abs() < 1e-12);
        assert_eq!(modes.mean_wear(0), 1.0);
    }

    #[test]
    fn rows_out_of_order_are_refused() {
        let refused = |rows: &[[f64; 4]]| modes(Some(rows)).unwrap_err();
        assert_eq!(refused(&[[0.9, 1.0, 1.0, 1.0]]), "the first mode has wear = 0.9");
        for second in [[0.5, 1.0, 1.0, 1.0], [0.3, 1.0, 1.6, 1.0], [0.3, 3.0, 1.0, 1.0]] {
            let third = [0.4, 2.0, 1.5, 1.0];
            let sorted = second == [0.5, 1.0, 1.0, 1.0];
            let rows = [[1.0; 4], second, third];
            assert_eq!(modes(Some(&rows)).is_ok(), sorted, "{second:?}");
        }
        assert!(modes(Some(&[[1.0; 4], [0.0, 1.0, 1.0, 1.0]])).is_err());
    }
}
