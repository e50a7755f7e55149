//! The data of a live drive in a sparse file: what was never written, or was trimmed, takes no space and reads as zeros.
//!
//! With a volatile cache, writes that are not flushed lie in memory, and a random half of their blocks also in the file,
//! as if the drive had begun to write them out. A power cut, or a kill, loses the other half.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use floatgate_base::Rng;

/// Bytes that a cache keeps or loses as one.
pub const BLOCK: u64 = 4096;
/// Blocks in a cache beyond which it writes all of them out, as a flush does.
const CACHED_MAX: usize = 1 << 16;

type Block = Box<[u8; BLOCK as usize]>;

/// The data of a drive.
pub struct Store {
    file: File,
    bytes: u64,
    cache: Option<Mutex<Cache>>,
}

struct Cache {
    blocks: BTreeMap<u64, Block>,
    rng: Rng,
}

impl Store {
    /// Opens or creates the file of a drive of so many bytes. `volatile` holds the seed of a volatile cache.
    ///
    /// # Errors
    /// The file cannot be opened, or belongs to a drive of another size.
    pub fn open(path: &Path, bytes: u64, volatile: Option<u64>) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let was = file.metadata()?.len();
        if was != 0 && was != bytes {
            return Err(io::Error::other(format!("it has {was} bytes, and the drive {bytes}")));
        }
        file.set_len(bytes)?;
        let cache =
            |seed| Mutex::new(Cache { blocks: BTreeMap::new(), rng: Rng::new(seed, "volatile cache") });
        Ok(Self { file, bytes, cache: volatile.map(cache) })
    }

    /// Returns the bytes of the drive.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads data from `offset`.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buf, offset)?;
        if let Some(cache) = &self.cache {
            let cache = locked(cache);
            for (&number, block) in cache.blocks.range(blocks_of(offset, buf.len())) {
                overlay(buf, offset, number, block);
            }
        }
        Ok(())
    }

    /// Writes data at `offset`.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, data: &[u8], offset: u64) -> io::Result<()> {
        let Some(cache) = &self.cache else { return self.file.write_all_at(data, offset) };
        let mut cache = locked(cache);
        for number in blocks_of(offset, data.len()) {
            let mut block = self.block(&cache, number)?;
            let start = number * BLOCK;
            let from = offset.max(start);
            let to = (offset + data.len() as u64).min(start + BLOCK);
            let part = &data[(from - offset) as usize..(to - offset) as usize];
            block[(from - start) as usize..(to - start) as usize].copy_from_slice(part);
            self.cache_block(&mut cache, number, block)?;
        }
        self.write_out_if_full(&mut cache)
    }

    /// Makes a range read as zeros.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn zero(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let Some(cache) = &self.cache else { return self.punch(offset, bytes) };
        let zeros = vec![0; (BLOCK as usize).min(bytes as usize)];
        let mut at = offset;
        let mut cache = locked(cache);
        let end = offset + bytes;
        while at < end {
            let n = (BLOCK - at % BLOCK).min(end - at);
            let number = at / BLOCK;
            let mut block = self.block(&cache, number)?;
            let from = (at % BLOCK) as usize;
            block[from..from + n as usize].copy_from_slice(&zeros[..n as usize]);
            self.cache_block(&mut cache, number, block)?;
            self.write_out_if_full(&mut cache)?;
            at += n;
        }
        Ok(())
    }

    /// Keeps all that was written before: it survives a kill and a power cut.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn flush(&self) -> io::Result<()> {
        if let Some(cache) = &self.cache {
            self.write_out(&mut locked(cache))?;
        }
        self.file.sync_data()
    }

    /// Cuts the power: blocks that are only in the cache are lost. Returns how many blocks it held; by chance a half of
    /// them lies in the file, too.
    pub fn cut_power(&self) -> usize {
        self.cache.as_ref().map_or(0, |cache| std::mem::take(&mut locked(cache).blocks).len())
    }

    /// Returns a block as the host sees it.
    fn block(&self, cache: &Cache, number: u64) -> io::Result<Block> {
        if let Some(block) = cache.blocks.get(&number) {
            return Ok(block.clone());
        }
        let mut block = Box::new([0; BLOCK as usize]);
        let n = BLOCK.min(self.bytes - number * BLOCK) as usize;
        self.file.read_exact_at(&mut block[..n], number * BLOCK)?;
        Ok(block)
    }

    /// Puts a block into the cache, and by chance into the file, too.
    fn cache_block(&self, cache: &mut Cache, number: u64, block: Block) -> io::Result<()> {
        if cache.rng.below(2) == 0 {
            self.write_block(number, &block)?;
        }
        cache.blocks.insert(number, block);
        Ok(())
    }

    fn write_block(&self, number: u64, block: &Block) -> io::Result<()> {
        let n = BLOCK.min(self.bytes - number * BLOCK) as usize;
        self.file.write_all_at(&block[..n], number * BLOCK)
    }

    fn write_out_if_full(&self, cache: &mut Cache) -> io::Result<()> {
        if cache.blocks.len() > CACHED_MAX { self.write_out(cache) } else { Ok(()) }
    }

    fn write_out(&self, cache: &mut Cache) -> io::Result<()> {
        for (&number, block) in &cache.blocks {
            self.write_block(number, block)?;
        }
        cache.blocks.clear();
        Ok(())
    }

    /// Gives the space of a range back; what the file system cannot punch is written as zeros.
    fn punch(&self, offset: u64, bytes: u64) -> io::Result<()> {
        const MODE: i32 = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: a system call on an open file; it has no pointers.
        let status = unsafe { libc::fallocate(self.file.as_raw_fd(), MODE, offset as i64, bytes as i64) };
        if status == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EOPNOTSUPP) {
            return Err(error);
        }
        let zeros = vec![0; 1 << 16];
        let mut at = offset;
        while at < offset + bytes {
            let n = (zeros.len() as u64).min(offset + bytes - at);
            self.file.write_all_at(&zeros[..n as usize], at)?;
            at += n;
        }
        Ok(())
    }
}

fn locked(cache: &Mutex<Cache>) -> MutexGuard<'_, Cache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

fn blocks_of(offset: u64, bytes: usize) -> std::ops::Range<u64> {
    offset / BLOCK..(offset + bytes as u64).div_ceil(BLOCK)
}

/// Copies the part of a block that lies in the buffer of a read from `offset`.
fn overlay(buf: &mut [u8], offset: u64, number: u64, block: &Block) {
    let start = number * BLOCK;
    let from = offset.max(start);
    let to = (offset + buf.len() as u64).min(start + BLOCK);
    let part = &block[(from - start) as usize..(to - start) as usize];
    buf[(from - offset) as usize..(to - offset) as usize].copy_from_slice(part);
}
