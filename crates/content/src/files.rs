//! Lists the files below the user's paths, in a reproducible order.

use crate::figures::{Skipped, Unreadable};
use crate::{PAGE_BYTES, Watch};
use floatgate_base::{Error, Place, Result};
use rustc_hash::FxHashSet;
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Names between two calls of the watch.
const NAMES_PER_CALL: u64 = 4096;
/// Most unreadable files to name; the others are only counted.
const NAMED_MAX: usize = 100;

/// A file and its size when it was listed; later growth is ignored.
pub struct Listed {
    pub path: PathBuf,
    pub bytes: u64,
}

/// The files, and the items that were skipped.
#[derive(Default)]
pub struct Files {
    pub list: Vec<Listed>,
    pub skipped: Skipped,
    pub unreadable: Unreadable,
    seen: FxHashSet<(u64, u64)>,
    names: u64,
}

impl Files {
    /// Lists the regular files below `paths`, in the order of the arguments; the names of a folder are sorted by their
    /// bytes. A file with several names, or below several of the paths, is listed once. Symbolic links are not
    /// followed, except for the paths themselves.
    ///
    /// # Errors
    /// A path that does not exist, cannot be read or is neither a file nor a folder; errors of `watch`.
    pub fn below(paths: &[PathBuf], watch: &mut Watch<'_>) -> Result<Self> {
        let mut files = Self::default();
        for named in paths {
            let looked = std::fs::canonicalize(named).and_then(|real| Ok((real.metadata()?, real)));
            let (metadata, real) = looked.map_err(|e| unusable(named, &reason(&e)))?;
            // Only a path that is itself a link keeps its real name instead of the user's.
            let is_link = named.symlink_metadata().is_ok_and(|own| own.is_symlink());
            let path = if is_link { real } else { named.clone() };
            if metadata.is_dir() {
                let listed = sorted_names(&path).map_err(|e| unusable(named, &reason(&e)))?;
                files.take_all(listed, watch)?;
            } else if metadata.is_file() {
                files.take_file(path, &metadata);
            } else {
                return Err(unusable(named, &format!("is {}", kind(&metadata))));
            }
        }
        Ok(files)
    }

    /// Records a file or folder that could not be read.
    pub fn note_unreadable(&mut self, path: &Path, error: &io::Error) {
        self.unreadable.count += 1;
        if self.unreadable.named.len() < NAMED_MAX {
            self.unreadable.named.push((path.to_string_lossy().into_owned(), reason(error)));
        }
    }

    /// Lists everything below the waiting names; the last one is next.
    fn take_all(&mut self, mut waiting: Vec<PathBuf>, watch: &mut Watch<'_>) -> Result<()> {
        while let Some(path) = waiting.pop() {
            self.names += 1;
            if self.names.is_multiple_of(NAMES_PER_CALL) {
                watch(0, None, "list files")?;
            }
            let looked = path.symlink_metadata().and_then(|metadata| {
                if metadata.is_dir() {
                    waiting.extend(sorted_names(&path)?);
                }
                Ok(metadata)
            });
            match looked {
                Err(error) => self.note_unreadable(&path, &error),
                Ok(metadata) if metadata.is_dir() => {}
                Ok(metadata) if metadata.is_file() => self.take_file(path, &metadata),
                Ok(metadata) if metadata.is_symlink() => self.skipped.symbolic_links += 1,
                Ok(_) => self.skipped.special_files += 1,
            }
        }
        Ok(())
    }

    fn take_file(&mut self, path: PathBuf, metadata: &Metadata) {
        if !self.seen.insert((metadata.dev(), metadata.ino())) {
            self.skipped.further_names += 1;
        } else if metadata.len() == 0 {
            self.skipped.empty_files += 1;
        } else {
            self.list.push(Listed { path, bytes: metadata.len() });
        }
    }
}

/// Reads the names in a folder, sorted in reverse.
fn sorted_names(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<PathBuf>>>()?;
    names.sort_unstable_by(|a, b| b.as_os_str().cmp(a.as_os_str()));
    Ok(names)
}

/// Opens a listed file without waiting for a link or a pipe that has replaced it since.
pub fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("is no longer a regular file")) }
}

/// A run of a file's bytes from some offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Data to read up to this offset.
    Data(u64),
    /// Zeros up to this offset, a multiple of the page size or the end of the file; nothing is stored.
    Hole(u64),
    /// The file ends here: it has shrunk since it was listed.
    End,
}

/// Determines the run that begins at `offset`, a multiple of the page size below `end`. Its length is in whole pages,
/// unless it reaches `end`. On a file system that cannot report holes, everything is data.
///
/// # Errors
/// The system's error of a seek.
pub fn extent(file: &File, offset: u64, end: u64) -> io::Result<Extent> {
    let page = PAGE_BYTES as u64;
    let data = match seek(file, offset, libc::SEEK_DATA)? {
        Seek::Unknown => return Ok(Extent::Data(end)),
        Seek::At(at) => at.min(end),
        Seek::Nothing => {
            // No data after the offset: a hole up to the current end of the file.
            let end = file.metadata()?.len().min(end);
            return Ok(if end > offset { Extent::Hole(end) } else { Extent::End });
        }
    };
    let whole = data / page * page;
    if whole > offset {
        return Ok(Extent::Hole(whole));
    }
    match seek(file, data, libc::SEEK_HOLE)? {
        // At least one page, even if a hole has been punched since.
        Seek::At(hole) => Ok(Extent::Data(hole.next_multiple_of(page).max(offset + page).min(end))),
        Seek::Unknown | Seek::Nothing => Ok(Extent::Data(end)),
    }
}

enum Seek {
    At(u64),
    /// Nothing of this kind follows the offset.
    Nothing,
    /// The file system does not support the request.
    Unknown,
}

fn seek(file: &File, offset: u64, whence: libc::c_int) -> io::Result<Seek> {
    // SAFETY: a seek touches no memory, and the descriptor is open. Reads name their own offsets and are unaffected.
    let metadata = unsafe { libc::lseek(file.as_raw_fd(), offset as libc::off_t, whence) };
    if metadata >= 0 {
        return Ok(Seek::At(metadata as u64));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENXIO) => Ok(Seek::Nothing),
        Some(libc::EINVAL | libc::EOPNOTSUPP | libc::ENOSYS) => Ok(Seek::Unknown),
        _ => Err(error),
    }
}

/// Formats the system's error without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

fn kind(metadata: &Metadata) -> &'static str {
    let is = metadata.file_type();
    if is.is_block_device() || is.is_char_device() {
        "a device"
    } else if is.is_fifo() {
        "a pipe"
    } else {
        "not a regular file"
    }
}

fn unusable(path: &Path, what: &str) -> Box<Error> {
    let place = Place::Path(path.to_string_lossy().into_owned());
    Error::input(place, what, "expected a file or a folder that can be read")
}
