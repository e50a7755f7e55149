//! Goes through the files, page by page.

use crate::chunks::Lane;
use crate::codec::{CODECS, Codecs, Sizes};
use crate::distances::Duplicates;
use crate::figures::{ChunkFigures, CodecFigures, Collisions, Figures};
use crate::files::{self, Extent, Files};
use crate::fingerprint::Fingerprints;
use crate::index::{Compared, Found, Index};
use crate::lru_stack::LruStack;
use crate::{PAGE_BYTES, Settings, Watch};
use floatgate_base::{Error, Place, Result};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Pages that are read at once.
const BLOCK_PAGES: usize = 64;
/// Bytes between two calls of the watch.
const BYTES_PER_CALL: u64 = 8 << 20;

/// Figures, and the pages where they were to be kept.
pub struct Measured {
    /// The figures.
    pub figures: Figures,
    /// Fingerprint, LZ4 size and file of every page, where [`Settings::keep_pages`] asked for them.
    pub pages: Option<FilePages>,
}

/// What is known of all pages, file after file.
#[derive(Default)]
pub struct FilePages {
    /// Pages of each file.
    pub file_pages: Vec<u32>,
    /// By page. Contents that collide are told apart: all but the first get another fingerprint.
    pub fingerprints: Vec<u64>,
    /// By page: bytes after LZ4, 4096 where the page does not shrink.
    pub lz4_bytes: Vec<u16>,
}

/// Measures the files below `paths`.
///
/// # Errors
/// Settings that cannot be; paths that cannot be read or hold no byte; what `watch` says.
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
    let mut told = 0;
    for (number, file) in list.iter().enumerate() {
        scan.begin(&list, number);
        let before = scan.bytes;
        let read = scan.read_file(&mut |bytes| {
            if bytes >= told + BYTES_PER_CALL {
                told = bytes;
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

/// The files of all arguments as a place for messages.
fn place(paths: &[PathBuf]) -> Place {
    let shown: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
    Place::Path(shown.join(", "))
}

/// Where the pages lie.
struct Places<'a> {
    list: &'a [files::Listed],
    /// The first page of each file begun.
    starts: Vec<u32>,
    /// The file that was compared with last.
    open: Option<(usize, File)>,
    page: Vec<u8>,
}

impl Places<'_> {
    /// Reads a page again into `self.page`, filled up with zeros.
    fn read(&mut self, page: u32) -> io::Result<()> {
        // Files that gave no page start where the next one does.
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
    /// Pages just read, and their fingerprints.
    block: Vec<u8>,
    block_prints: Vec<u64>,
    index: Index,
    stack: LruStack,
    duplicates: Duplicates,
    /// All pages, by size of the chunk.
    plain: Vec<Lane>,
    /// Pages that are no duplicates.
    deduped: Vec<Lane>,
    /// Compressed bytes of all pages, of distinct contents, and pages that do not shrink.
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

    /// The next file's turn.
    fn begin(&mut self, list: &'a [files::Listed], number: usize) {
        self.places.list = list;
        debug_assert_eq!(self.places.starts.len(), number);
        self.places.starts.push(self.pages);
        if let Some(kept) = &mut self.kept {
            kept.file_pages.push(0);
        }
    }

    /// Takes the pages of the file begun last, as far as it can be read; `step` hears of the bytes done.
    fn read_file(&mut self, step: &mut dyn FnMut(u64) -> Result<()>) -> Result<io::Result<()>> {
        let listed = &self.places.list[self.places.starts.len() - 1];
        let file = match files::open(&listed.path) {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        // Taken for the time of the file, as pages of it are handed on.
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
                break; // shorter than it was when it was listed
            }
        }
        Ok(Ok(()))
    }

    /// Takes the next page.
    fn take(&mut self, page: &[u8], print: u64) {
        let number = self.pages;
        let zero = is_zero(page);
        self.zero_pages += u64::from(zero);
        let known = if zero { self.zero_content } else { None };
        let found = known.map_or_else(|| self.find(page, print), Found::Known);
        let sizes = match found {
            Found::Known(content) => self.take_copy(content, number),
            Found::New { after, collided, unknown } => {
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
        self.keep(found, print, sizes);
        self.pages += 1;
    }

    /// Takes a run of pages of zeros that need not be read: as [`Self::take`] does, one after another.
    fn take_zeros(&mut self, pages: u64) {
        let mut left = pages;
        // The first page is looked for as any other, and its latest copy may lie far behind it.
        while left > 0 && (left == pages || self.zero_content.is_none()) {
            self.take(&[0; PAGE_BYTES], self.zero_print);
            left -= 1;
        }
        let (Some(content), 1..) = (self.zero_content, left) else { return };
        // From here on each page is the neighbour of its latest copy: no other content comes between.
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

    /// Books a duplicate; its compressed sizes.
    fn take_copy(&mut self, content: u32, page: u32) -> Sizes {
        let others = self.stack.again(content);
        let known = self.index.content(content);
        self.duplicates.add(u64::from(page - known.last - 1), others);
        known.last = page;
        known.sizes()
    }

    /// Looks for a page's content; on equal fingerprints the bytes decide, read again from where they stood first.
    fn find(&mut self, page: &[u8], print: u64) -> Found {
        let Self { index, places, prints, zero_content, .. } = self;
        index.find(print, |number, content| {
            if Some(number) == *zero_content {
                return Compared::Different; // pages of zeros are not looked for here
            }
            match places.read(content.first) {
                Ok(()) if places.page == page => Compared::Same,
                // What has changed since is no collision.
                Ok(()) if prints.of(&places.page) == print => Compared::Different,
                _ => Compared::Unknown,
            }
        })
    }

    fn keep(&mut self, found: Found, print: u64, sizes: Sizes) {
        let Some(kept) = &mut self.kept else { return };
        let print = match found {
            Found::New { after: None, .. } => print,
            // Contents with a fingerprint that others have get one of their own from their number.
            Found::New { after: Some(_), .. } => apart(print, self.index.len() as u32 - 1),
            Found::Known(content) => {
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
                (0, 0) => "there is no regular file".into(),
                (_, 0) => format!("there are only empty files ({empty})"),
                (0, _) => format!("none of {unreadable} files and folders can be read"),
                _ => format!("there are only empty files ({empty}) and unreadable ones ({unreadable})"),
            };
            return Err(Error::input(place(paths), what, "expected files with data that can be read"));
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

/// Another fingerprint for a content that collides: a bijection of its number and the fingerprint (Steele et al., "Fast
/// splittable pseudorandom number generators", 2014), so that no two contents of one fingerprint share it.
fn apart(print: u64, number: u32) -> u64 {
    let mut x = print ^ (u64::from(number) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
