//! The `energy` table of a result: joules by operation and by cause.

use crate::reduce::EngineUj;
use floatgate_flash::{Cause, Counters};
use floatgate_nand::Energy;
use floatgate_nand::energy::joules;
use floatgate_sim::outcome::ReduceCounters;
use serde_json::{Map, Value, json};

/// An operation: its name, its energy, and its number by cause.
type Operation<'a> = (&'static str, Option<f64>, &'a dyn Fn(Cause) -> u64);

/// Pages moved inside their die by cause, which use no channel; and the counts of hash and compressor, if there are
/// any.
type Beside = ([u64; Cause::ALL.len()], Option<(EngineUj, ReduceCounters)>);

/// Builds joules by operation and cause. An operation of unknown energy is null and in no sum.
pub(crate) fn energy(
    energy: &Energy,
    flash: &Counters,
    (copybacks, engines): Beside,
    host_bytes_written: u64,
) -> Value {
    let (engine, pages) = engines.unwrap_or_default();
    let by_cause = |cause: Cause, host: u64, repack: u64| match cause {
        Cause::Host => host,
        Cause::Repack => repack,
        _ => 0,
    };
    let transfers = |c| flash.transfers(c) - 2 * copybacks[c as usize];
    let hashed = |c| by_cause(c, pages.hashed_pages, 0);
    let compressed = |c| by_cause(c, pages.compressed_pages, pages.repacked_pages);
    let decompressed = |c| by_cause(c, pages.decompressed_pages, pages.unpacked_pages);
    let operations: [Operation; 7] = [
        ("read", energy.read_uj, &|c| flash.reads[c as usize]),
        ("program", energy.program_uj, &|c| flash.flash_programs(c)),
        ("erase", energy.erase_uj, &|c| flash.erases[c as usize]),
        ("transfer", energy.transfer_uj, &transfers),
        ("hash", Some(engine.hash), &hashed),
        ("compress", Some(engine.compress), &compressed),
        ("decompress", Some(engine.decompress), &decompressed),
    ];
    // Omitted for drives without either.
    let operations = &operations[..if engines.is_some() { 7 } else { 4 }];
    let spent = |&(_, uj, count): &Operation, cause: Cause| joules(uj, count(cause));
    let causes = Cause::ALL.map(|c| (c.name(), operations.iter().filter_map(|op| spent(op, c)).sum::<f64>()));
    let sum = |op: &Operation| op.1.map(|_| Cause::ALL.iter().filter_map(|&c| spent(op, c)).sum::<f64>());
    let sums: Vec<Option<f64>> = operations.iter().map(sum).collect();
    let total_j = sums.iter().flatten().sum::<f64>();
    let mut table = Map::new();
    table.insert("total_j".into(), total_j.into());
    let per_byte = (host_bytes_written > 0).then(|| total_j / host_bytes_written as f64);
    table.insert("j_per_host_byte_written".into(), per_byte.into());
    table.insert("by_cause_j".into(), flat(causes.iter().map(|&(name, j)| (name, Some(j)))));
    table.insert("by_operation_j".into(), flat(operations.iter().zip(sums).map(|(op, j)| (op.0, j))));
    for op in operations {
        let causes = if op.0 == "erase" { &Cause::ERASING[..] } else { &Cause::ALL };
        let map = op.1.map(|_| flat(causes.iter().map(|&c| (c.name(), spent(op, c)))));
        table.insert(format!("{}_j", op.0), map.into());
    }
    table.into()
}

/// Builds a flat map with the total of the known values at its end.
fn flat<'a>(entries: impl Iterator<Item = (&'a str, Option<f64>)>) -> Value {
    let mut map: Map<String, Value> = entries.map(|(name, j)| (name.to_owned(), json!(j))).collect();
    let total: f64 = map.values().filter_map(Value::as_f64).sum();
    map.insert("total".into(), total.into());
    map.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Energy =
        Energy { read_uj: Some(2.0), program_uj: Some(30.0), erase_uj: Some(100.0), transfer_uj: Some(0.5) };

    /// Counts of some causes; 0 for the others.
    fn of(counts: &[(Cause, u64)]) -> [u64; Cause::ALL.len()] {
        let mut all = [0; Cause::ALL.len()];
        counts.iter().for_each(|&(cause, n)| all[cause as usize] = n);
        all
    }

    /// 10 pages of the host, 1 written in part, 4 moved out of 2 victims, 3 moved out of a block for wear-leveling, 7
    /// read by the host.
    fn counters() -> Counters {
        let [programs, reads] = [10, 7]
            .map(|host| of(&[(Cause::Host, host), (Cause::Partial, 1), (Cause::Gc, 4), (Cause::Level, 3)]));
        Counters {
            programs,
            reads,
            erases: of(&[(Cause::Gc, 2), (Cause::Level, 1)]),
            unmapped_reads: 9,
            ..Counters::default()
        }
    }

    fn close(table: &Value, place: &str, uj: f64) {
        let computed = table.pointer(place).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {place}"));
        assert!((computed * 1e6 - uj).abs() < 1e-9, "{place}: {computed} J, by hand {uj} uJ");
    }

    #[test]
    fn sums_are_those_by_hand() {
        let table = energy(&ALL, &counters(), (of(&[]), None), 40_960);
        close(&table, "/read_j/host", 7.0 * 2.0);
        close(&table, "/read_j/total", 15.0 * 2.0);
        close(&table, "/program_j/total", 18.0 * 30.0);
        close(&table, "/erase_j/gc", 200.0);
        close(&table, "/erase_j/total", 300.0);
        let keys =
            |operation: &str| table[operation].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        let named = |causes: &[Cause]| causes.iter().map(|c| c.name()).chain(["total"]).collect::<Vec<_>>();
        assert_eq!(keys("program_j"), named(&Cause::ALL));
        assert_eq!(keys("erase_j"), named(&Cause::ERASING));
        close(&table, "/transfer_j/total", 33.0 * 0.5);
        close(&table, "/by_cause_j/host", 10.0 * 30.5 + 7.0 * 2.5);
        close(&table, "/by_cause_j/partial", 30.5 + 2.5);
        // A copy is a read and a program with a transfer each.
        close(&table, "/by_cause_j/gc", 4.0 * (2.0 + 30.0 + 2.0 * 0.5) + 2.0 * 100.0);
        close(&table, "/by_cause_j/level", 3.0 * (2.0 + 30.0 + 2.0 * 0.5) + 100.0);
        let total = 322.5 + 33.0 + 332.0 + 199.0;
        for place in ["/by_cause_j/total", "/by_operation_j/total", "/total_j"] {
            close(&table, place, total);
        }
        close(&table, "/j_per_host_byte_written", total / 40_960.0);
        // Three of the four copies stay inside their die, and one of the other three.
        let table = energy(&ALL, &counters(), (of(&[(Cause::Gc, 3), (Cause::Level, 1)]), None), 40_960);
        close(&table, "/transfer_j/gc", 2.0 * 0.5);
        close(&table, "/transfer_j/level", 4.0 * 0.5);
        close(&table, "/total_j", total - 8.0 * 0.5);
    }

    #[test]
    fn what_is_not_known_is_null_and_in_no_sum() {
        let table =
            energy(&Energy { program_uj: Some(29.1), ..Energy::default() }, &counters(), (of(&[]), None), 0);
        for place in
            ["/read_j", "/erase_j", "/transfer_j", "/by_operation_j/read", "/j_per_host_byte_written"]
        {
            assert!(table.pointer(place).unwrap().is_null(), "{place}");
        }
        close(&table, "/total_j", 18.0 * 29.1);
        close(&table, "/by_operation_j/program", 18.0 * 29.1);
        close(&table, "/by_cause_j/gc", 4.0 * 29.1);
    }
}
