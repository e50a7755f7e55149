//! Scans the files, page by page.

use crate::chunks::Lane;
use crate::codec::{CODECS, Codecs, Sizes};
use crate::distances::Duplicates;
use crate::figures::{ChunkFigures, CodecFigures, Collisions, Figures};
use crate::files::{self, Extent, Files};
use crate::fingerprint::Fingerprints;
use crate::index::{Compared, Index, Lookup};
use crate::lru_stack::LruStack;
use crate::{PAGE_BYTES, Settings, Watch};
use floatgate_base::{Error, Place, Result};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Pages per read.
const BLOCK_PAGES: usize = 64;
/// Bytes between two calls of the watch.
const BYTES_PER_CALL: u64 = 8 << 20;

/// Figures and, if requested, the data of each page.
pub struct Measured {
    /// The figures.
    pub figures: Figures,
    /// Fingerprint, LZ4 size and file of every page, if [`Settings::keep_pages`] requests them.
    pub pages: Option<FilePages>,
}

/// Data of all pages, file after file.
#[derive(Default)]
pub struct FilePages {
    /// Number of pages of each file.
    pub file_pages: Vec<u32>,
    /// By page. Contents that collide are distinguished: all but the first get another fingerprint.
    pub fingerprints: Vec<u64>,
    /// By page: bytes after LZ4, 4096 if the page does not shrink.
    pub lz4_bytes: Vec<u16>,
}

/// Measures the files below `paths`.
///
/// # Errors
/// Invalid settings; paths that cannot be read or hold no byte; errors of `watch`.
pub fn measure(paths: &[PathBuf], settings: &Settings, watch: &mut Watch<'_>) -> Result<Measured> {
    settings.validate()?;
    let mut files = Files::below(paths, watch)?;
    let list = std::mem::take(&mut files.list);
    let todo: u64 = list.iter().map(|file| file.bytes).sum();
    if list.iter().map(|file| file.bytes.div_ceil(PAGE_BYTES as u64)).sum::<u64>() >= u64::from(u32::MAX) {
        let what = format!("the files have {todo} bytes");
        return Err(Error::input(place(paths), what, "expected less than 16 TiB"));
    }
    let mut scan = Scan::new(settings);
    let mut reported = 0;
    for (number, file) in list.iter().enumerate() {
        scan.begin(&list, number);
        let before = scan.bytes;
        let read = scan.read_file(&mut |bytes| {
            if bytes >= reported + BYTES_PER_CALL {
                reported = bytes;
                watch(bytes, Some(todo), "read")?;
            }
            Ok(())
        })?;
        scan.files += u64::from(scan.bytes > before);
        if let Err(error) = read {
            files.note_unreadable(&file.path, &error);
        }
    }
    scan.finish(paths, files)
}

/// Returns the files of all arguments as a place for messages.
fn place(paths: &[PathBuf]) -> Place {
    let shown: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
    Place::Path(shown.join(", "))
}

/// Where the pages are stored.
struct Places<'a> {
    list: &'a [files::Listed],
    /// The first page of each file so far.
    starts: Vec<u32>,
    /// The file of the latest comparison.
    open: Option<(usize, File)>,
    page: Vec<u8>,
}

impl Places<'_> {
    /// Reads a page again into `self.page`, padded with zeros.
    fn read(&mut self, page: u32) -> io::Result<()> {
        // A file without pages starts where the next one does.
        let number = self.starts.partition_point(|start| *start <= page) - 1;
        if self.open.as_ref().is_none_or(|(at, _)| *at != number) {
            self.open = Some((number, files::open(&self.list[number].path)?));
        }
        let file = &self.open.as_ref().expect("was opened").1;
        let offset = u64::from(page - self.starts[number]) * PAGE_BYTES as u64;
        let most = (self.list[number].bytes - offset).min(PAGE_BYTES as u64) as usize;
        let got = read_full(file, &mut self.page[..most], offset)?;
        self.page[got..].fill(0);
        Ok(())
    }
}

/// Reads until the buffer is full or the file ends.
fn read_full(file: &File, to: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut got = 0;
    while got < to.len() {
        match file.read_at(&mut to[got..], offset + got as u64) {
            Ok(0) => break,
            Ok(more) => got += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

struct Scan<'a> {
    settings: &'a Settings,
    prints: Fingerprints,
    codecs: Codecs,
    places: Places<'a>,
    /// The current pages and their fingerprints.
    block: Vec<u8>,
    block_prints: Vec<u64>,
    index: Index,
    stack: LruStack,
    duplicates: Duplicates,
    /// All pages, by chunk size.
    plain: Vec<Lane>,
    /// Pages that are not duplicates.
    deduped: Vec<Lane>,
    /// Compressed bytes of all pages, of distinct contents, and number of pages that do not shrink.
    compressed: [[u64; 3]; CODECS.len()],
    zero_content: Option<u32>,
    zero_print: u64,
    zero_pages: u64,
    fingerprints: Collisions,
    kept: Option<FilePages>,
    files: u64,
    bytes: u64,
    pages: u32,
}

impl<'a> Scan<'a> {
    fn new(settings: &'a Settings) -> Self {
        let lanes = |name: &str| -> Vec<Lane> {
            let lane = |pages: &u32| Lane::new(name, *pages, settings.sample_share, settings.seed);
            settings.chunks.iter().map(lane).collect()
        };
        let prints = Fingerprints::new(settings.fingerprint_bits);
        Self {
            zero_print: prints.of(&[0; PAGE_BYTES]),
            prints,
            codecs: Codecs::new(settings.zstd_level),
            places: Places { list: &[], starts: vec![], open: None, page: vec![0; PAGE_BYTES] },
            block: vec![0; BLOCK_PAGES * PAGE_BYTES],
            block_prints: Vec::with_capacity(BLOCK_PAGES),
            index: Index::default(),
            stack: LruStack::default(),
            duplicates: Duplicates::new(),
            plain: lanes("all"),
            deduped: lanes("distinct"),
            compressed: Default::default(),
            zero_content: None,
            zero_pages: 0,
            fingerprints: Collisions { bits: settings.fingerprint_bits, ..Collisions::default() },
            kept: settings.keep_pages.then(FilePages::default),
            files: 0,
            bytes: 0,
            pages: 0,
            settings,
        }
    }

    /// Begins the next file.
    fn begin(&mut self, list: &'a [files::Listed], number: usize) {
        self.places.list = list;
        debug_assert_eq!(self.places.starts.len(), number);
        self.places.starts.push(self.pages);
        if let Some(kept) = &mut self.kept {
            kept.file_pages.push(0);
        }
    }

    /// Reads the pages of the current file as far as possible; `step` receives the bytes done.
    fn read_file(&mut self, step: &mut dyn FnMut(u64) -> Result<()>) -> Result<io::Result<()>> {
        let listed = &self.places.list[self.places.starts.len() - 1];
        let file = match files::open(&listed.path) {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        // Moved out for the duration of the file, since its pages are passed to methods of `self`.
        let mut block = std::mem::take(&mut self.block);
        let mut prints = std::mem::take(&mut self.block_prints);
        let done = self.read_blocks(&file, listed.bytes, &mut block, &mut prints, step);
        (self.block, self.block_prints) = (block, prints);
        done
    }

    fn read_blocks(
        &mut self,
        file: &File,
        bytes: u64,
        block: &mut [u8],
        prints: &mut Vec<u64>,
        step: &mut dyn FnMut(u64) -> Result<()>,
    ) -> Result<io::Result<()>> {
        let (mut offset, mut data_end) = (0, 0);
        while offset < bytes {
            if offset >= data_end {
                match files::extent(file, offset, bytes) {
                    Ok(Extent::Data(end)) => data_end = end,
                    Ok(Extent::Hole(end)) => {
                        self.take_zeros((end - offset).div_ceil(PAGE_BYTES as u64));
                        self.bytes += end - offset;
                        step(self.bytes)?;
                        if !end.is_multiple_of(PAGE_BYTES as u64) {
                            break; // the end of the file
                        }
                        offset = end;
                        continue;
                    }
                    Ok(Extent::End) => break,
                    Err(error) => return Ok(Err(error)),
                }
            }
            let most = (data_end - offset).min(block.len() as u64) as usize;
            let got = match read_full(file, &mut block[..most], offset) {
                Ok(got) => got,
                Err(error) => return Ok(Err(error)),
            };
            let padded = got.next_multiple_of(PAGE_BYTES);
            block[got..padded].fill(0);
            self.prints.of_pages(&block[..padded], prints);
            for (page, print) in block[..padded].chunks_exact(PAGE_BYTES).zip(&*prints) {
                self.take(page, *print);
            }
            self.bytes += got as u64;
            offset += got as u64;
            step(self.bytes)?;
            if got < most {
                break; // the file has shrunk since it was listed
            }
        }
        Ok(Ok(()))
    }

    /// Adds the next page.
    fn take(&mut self, page: &[u8], print: u64) {
        let number = self.pages;
        let zero = is_zero(page);
        self.zero_pages += u64::from(zero);
        let known = if zero { self.zero_content } else { None };
        let lookup = known.map_or_else(|| self.find(page, print), Lookup::Known);
        let sizes = match lookup {
            Lookup::Known(content) => self.take_copy(content, number),
            Lookup::New { after, collided, unknown } => {
                let sizes = self.codecs.sizes(page);
                let content = self.index.add(print, after, number, sizes);
                self.stack.add();
                if zero {
                    self.zero_content = Some(content);
                }
                self.fingerprints.collisions += u64::from(collided);
                self.fingerprints.not_compared += u64::from(unknown && !collided);
                self.count_sizes(sizes, 1, 1);
                for lane in &mut self.deduped {
                    lane.push(page, sizes, &mut self.codecs);
                }
                sizes
            }
        };
        self.count_sizes(sizes, 0, 1);
        for (of, size) in self.compressed.iter_mut().zip(sizes) {
            of[2] += u64::from(size == PAGE_BYTES as u32);
        }
        for lane in &mut self.plain {
            lane.push(page, sizes, &mut self.codecs);
        }
        self.keep(lookup, print, sizes);
        self.pages += 1;
    }

    /// Adds a run of pages of zeros without reading them; equivalent to [`Self::take`] for each.
    fn take_zeros(&mut self, pages: u64) {
        let mut left = pages;
        // The first page takes the ordinary lookup: its latest copy may lie far back.
        while left > 0 && (left == pages || self.zero_content.is_none()) {
            self.take(&[0; PAGE_BYTES], self.zero_print);
            left -= 1;
        }
        let (Some(content), 1..) = (self.zero_content, left) else { return };
        // From here on each page follows its latest copy, without another content in between.
        let known = self.index.content(content);
        known.last += left as u32;
        let (sizes, first) = (known.sizes(), known.first as usize);
        self.duplicates.add_times(0, 0, left);
        self.zero_pages += left;
        self.pages += left as u32;
        self.count_sizes(sizes, 0, left);
        for lane in &mut self.plain {
            lane.push_zeros(left, sizes, &mut self.codecs);
        }
        if let Some(kept) = &mut self.kept {
            let to = kept.fingerprints.len() + left as usize;
            kept.fingerprints.resize(to, kept.fingerprints[first]);
            kept.lz4_bytes.resize(to, sizes[0] as u16);
            *kept.file_pages.last_mut().expect("a file was begun") += left as u32;
        }
    }

    fn count_sizes(&mut self, sizes: Sizes, to: usize, times: u64) {
        for (of, size) in self.compressed.iter_mut().zip(sizes) {
            of[to] += u64::from(size) * times;
        }
    }

    /// Records a duplicate, and returns its compressed sizes.
    fn take_copy(&mut self, content: u32, page: u32) -> Sizes {
        let others = self.stack.again(content);
        let known = self.index.content(content);
        self.duplicates.add(u64::from(page - known.last - 1), others);
        known.last = page;
        known.sizes()
    }

    /// Looks up a page's content; among equal fingerprints the bytes decide, read again from their first occurrence.
    fn find(&mut self, page: &[u8], print: u64) -> Lookup {
        let Self { index, places, prints, zero_content, .. } = self;
        index.find(print, |number, content| {
            if Some(number) == *zero_content {
                return Compared::Different; // pages of zeros are not looked up here
            }
            match places.read(content.first) {
                Ok(()) if places.page == page => Compared::Same,
                // A copy that has changed since is not a collision.
                Ok(()) if prints.of(&places.page) == print => Compared::Different,
                _ => Compared::Unknown,
            }
        })
    }

    fn keep(&mut self, lookup: Lookup, print: u64, sizes: Sizes) {
        let Some(kept) = &mut self.kept else { return };
        let print = match lookup {
            Lookup::New { after: None, .. } => print,
            // A colliding content gets a fingerprint of its own, derived from its number.
            Lookup::New { after: Some(_), .. } => apart(print, self.index.len() as u32 - 1),
            Lookup::Known(content) => {
                let first = self.index.content(content).first;
                kept.fingerprints[first as usize]
            }
        };
        kept.fingerprints.push(print);
        kept.lz4_bytes.push(sizes[0] as u16);
        *kept.file_pages.last_mut().expect("a file was begun") += 1;
    }

    fn finish(mut self, paths: &[PathBuf], files: Files) -> Result<Measured> {
        let pages = u64::from(self.pages);
        if pages == 0 {
            let (empty, unreadable) = (files.skipped.empty_files, files.unreadable.count);
            let what = match (empty, unreadable) {
                (0, 0) => "no regular file in it".into(),
                (_, 0) => format!("all files are empty ({empty})"),
                (0, _) => format!("none of {unreadable} files and folders can be read"),
                _ => format!("all files are empty ({empty}) or unreadable ({unreadable})"),
            };
            return Err(Error::input(place(paths), what, "expected readable files with data"));
        }
        for lane in self.plain.iter_mut().chain(&mut self.deduped) {
            lane.close(&mut self.codecs);
        }
        let share = |part: u64| part as f64 / pages as f64;
        let unique = self.index.len();
        let figures = Figures {
            page_bytes: PAGE_BYTES as u64,
            files: self.files,
            bytes: self.bytes,
            pages,
            skipped: files.skipped,
            unreadable: files.unreadable,
            unique_pages: unique,
            duplicate_pages: self.duplicates.count(),
            duplicate_share: share(self.duplicates.count()),
            zero_pages: self.zero_pages,
            zero_share: share(self.zero_pages),
            dedup_written_ratio: share(unique),
            fingerprints: self.fingerprints,
            codecs: (0..CODECS.len()).map(|codec| self.codec_figures(codec)).collect(),
            duplicate_distance: self.duplicates.figures(),
        };
        Ok(Measured { figures, pages: self.kept })
    }

    fn codec_figures(&self, codec: usize) -> CodecFigures {
        let pages = u64::from(self.pages);
        let [all, distinct, incompressible] = self.compressed[codec];
        let bytes_of = |pages: u64| (pages * PAGE_BYTES as u64) as f64;
        let lanes = self.settings.chunks.iter().zip(self.plain.iter().zip(&self.deduped));
        CodecFigures {
            codec: CODECS[codec],
            level: (CODECS[codec] == "zstd").then_some(self.settings.zstd_level),
            compressed_share: all as f64 / bytes_of(pages),
            unique_compressed_share: distinct as f64 / bytes_of(self.index.len()),
            incompressible_share: incompressible as f64 / pages as f64,
            chunks: lanes
                .map(|(size, (plain, deduped))| ChunkFigures {
                    chunk_pages: *size,
                    compression: plain.written(codec, pages),
                    dedup_compression: deduped.written(codec, pages),
                })
                .collect(),
        }
    }
}

fn is_zero(page: &[u8]) -> bool {
    page.chunks_exact(64).all(|part| part.iter().fold(0, |sum, byte| sum | byte) == 0)
}

/// Derives another fingerprint for a content that collides: a bijection of its number and the fingerprint (Steele et
/// al., "Fast splittable pseudorandom number generators", 2014). No two contents of one fingerprint share the result.
fn apart(print: u64, number: u32) -> u64 {
    let mut x = print ^ (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
