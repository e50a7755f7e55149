//! Hashes the rows of a trace independently of compression, chunking and the numbering of devices.

use super::ColumnChunk;
use rustc_hash::FxHashMap;

/// Bytes to hash at once.
const BUFFER: usize = 64 << 10;

/// One hash per column; columns are hashed separately because chunks may end anywhere.
#[derive(Default)]
pub(super) struct ColumnHasher {
    columns: [blake3::Hasher; 9],
    /// Flags and predicted lifetimes, which are optional.
    flags: Option<blake3::Hasher>,
    predicted_life: Option<blake3::Hasher>,
    buffer: Vec<u8>,
    /// Devices by name, numbered in the order of their first row.
    devices: FxHashMap<String, u16>,
    names: Vec<String>,
}

impl ColumnHasher {
    /// Adds the next rows.
    pub fn update(&mut self, chunk: &ColumnChunk) {
        let rows = &chunk.rows;
        self.column(0, rows.time_ns.iter().map(|v| v.to_le_bytes()));
        self.column(1, rows.offset.iter().map(|v| v.to_le_bytes()));
        self.column(2, rows.bytes.iter().map(|v| v.to_le_bytes()));
        self.column(3, rows.op.iter().map(|&op| [op as u8]));
        let number = self.number_devices(chunk);
        self.column(4, rows.device.iter().map(|&d| number[usize::from(d)].to_le_bytes()));
        self.column(5, chunk.context_ids.iter().map(|v| v.to_le_bytes()));
        self.column(6, rows.stream.iter().map(|v| v.to_le_bytes()));
        if !rows.flags.is_empty() {
            self.flags.get_or_insert_default().update(&rows.flags);
        }
        if !rows.predicted_life.is_empty() {
            let hasher = self.predicted_life.get_or_insert_default();
            rows.predicted_life.iter().for_each(|life| _ = hasher.update(&life.to_le_bytes()));
        }
        let content = &rows.content;
        let entries = (0..content.end.len()).map(|i| (content.range(i).len() as u64).to_le_bytes());
        self.column(7, entries);
        let pages = content.fingerprint.iter().zip(&content.compressed_bytes);
        self.column(8, pages.map(|(f, c)| (u128::from(*f) << 16 | u128::from(*c)).to_le_bytes()));
    }

    /// Numbers the chunk's devices independently of the chunking of the trace.
    fn number_devices(&mut self, chunk: &ColumnChunk) -> Vec<u16> {
        let mut number: Vec<Option<u16>> = vec![None; chunk.devices.len()];
        for &device in &chunk.rows.device {
            let slot = &mut number[usize::from(device)];
            if slot.is_none() {
                let name = &chunk.devices[usize::from(device)];
                let next = self.names.len() as u16;
                let at = *self.devices.entry(name.clone()).or_insert(next);
                if usize::from(at) == self.names.len() {
                    self.names.push(name.clone());
                }
                *slot = Some(at);
            }
        }
        number.into_iter().map(Option::unwrap_or_default).collect()
    }

    fn column<const N: usize>(&mut self, at: usize, values: impl Iterator<Item = [u8; N]>) {
        self.buffer.clear();
        for value in values {
            self.buffer.extend_from_slice(&value);
            if self.buffer.len() >= BUFFER {
                self.columns[at].update(&self.buffer);
                self.buffer.clear();
            }
        }
        self.columns[at].update(&self.buffer);
    }

    /// Returns the hash of all columns and the names of the devices, in hex.
    pub fn finish(self) -> String {
        let mut all = blake3::Hasher::new();
        let lives = self.predicted_life.iter().map(|hasher| (true, hasher));
        let others = self.columns.iter().chain(&self.flags).map(|hasher| (false, hasher));
        others.chain(lives).for_each(|(named, column)| {
            if named {
                all.update(b"predicted_life");
            }
            all.update(column.finalize().as_bytes());
        });
        for name in &self.names {
            all.update(&(name.len() as u64).to_le_bytes());
            all.update(name.as_bytes());
        }
        all.finalize().to_hex().to_string()
    }
}
