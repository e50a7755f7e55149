//! Which files there are below the paths that a user named, in an order that does not change.

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
/// Unreadable files that are named; the rest is counted.
const NAMED_MAX: usize = 100;

/// A file and its size when it was listed; what grows beyond that is not looked at.
pub struct Listed {
    pub path: PathBuf,
    pub bytes: u64,
}

/// The files, and what was left out.
#[derive(Default)]
pub struct Files {
    pub list: Vec<Listed>,
    pub skipped: Skipped,
    pub unreadable: Unreadable,
    seen: FxHashSet<(u64, u64)>,
    names: u64,
}

impl Files {
    /// Lists the regular files below `paths`: these in the order given, the names of a folder in the order of their
    /// bytes. A file with several names, or below several of the paths, is listed once. Symbolic links are not followed,
    /// but for the paths themselves.
    ///
    /// # Errors
    /// A path that is not there, cannot be looked at or is neither file nor folder; what `watch` says.
    pub fn below(paths: &[PathBuf], watch: &mut Watch<'_>) -> Result<Self> {
        let mut files = Self::default();
        for named in paths {
            let looked = std::fs::canonicalize(named).and_then(|real| Ok((real.metadata()?, real)));
            let (found, real) = looked.map_err(|e| unusable(named, &reason(&e)))?;
            // Only a path that is a link itself loses the name that the user gave it.
            let is_link = named.symlink_metadata().is_ok_and(|own| own.is_symlink());
            let path = if is_link { real } else { named.clone() };
            if found.is_dir() {
                let listed = sorted_names(&path).map_err(|e| unusable(named, &reason(&e)))?;
                files.take_all(listed, watch)?;
            } else if found.is_file() {
                files.take_file(path, &found);
            } else {
                return Err(unusable(named, &format!("is {}", kind(&found))));
            }
        }
        Ok(files)
    }

    /// Notes a file or folder that could not be read.
    pub fn note_unreadable(&mut self, path: &Path, error: &io::Error) {
        self.unreadable.count += 1;
        if self.unreadable.named.len() < NAMED_MAX {
            self.unreadable.named.push((path.to_string_lossy().into_owned(), reason(error)));
        }
    }

    /// Takes names (the next one last) with all that is below them.
    fn take_all(&mut self, mut waiting: Vec<PathBuf>, watch: &mut Watch<'_>) -> Result<()> {
        while let Some(path) = waiting.pop() {
            self.names += 1;
            if self.names.is_multiple_of(NAMES_PER_CALL) {
                watch(0, None, "list files")?;
            }
            let looked = path.symlink_metadata().and_then(|found| {
                if found.is_dir() {
                    waiting.extend(sorted_names(&path)?);
                }
                Ok(found)
            });
            match looked {
                Err(error) => self.note_unreadable(&path, &error),
                Ok(found) if found.is_dir() => {}
                Ok(found) if found.is_file() => self.take_file(path, &found),
                Ok(found) if found.is_symlink() => self.skipped.symbolic_links += 1,
                Ok(_) => self.skipped.special_files += 1,
            }
        }
        Ok(())
    }

    fn take_file(&mut self, path: PathBuf, found: &Metadata) {
        if !self.seen.insert((found.dev(), found.ino())) {
            self.skipped.further_names += 1;
        } else if found.len() == 0 {
            self.skipped.empty_files += 1;
        } else {
            self.list.push(Listed { path, bytes: found.len() });
        }
    }
}

/// The names in a folder, the first one last.
fn sorted_names(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names = std::fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<Vec<PathBuf>>>()?;
    names.sort_unstable_by(|a, b| b.as_os_str().cmp(a.as_os_str()));
    Ok(names)
}

/// Opens a listed file; what has taken its name since (a link, a pipe) is not waited for.
pub fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("is no regular file any more")) }
}

/// A run of a file's bytes from some offset on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// To be read up to this offset.
    Data(u64),
    /// Zeros up to this offset, a multiple of the page or the end of the file; nothing is stored.
    Hole(u64),
    /// The file ends here: it is shorter than when it was listed.
    End,
}

/// Finds the run that begins at `offset`, a multiple of the page before `end`, in whole pages (or up to `end`). Where the
/// file system does not tell holes, all is data.
///
/// # Errors
/// What the system says of a seek.
pub fn extent(file: &File, offset: u64, end: u64) -> io::Result<Extent> {
    let page = PAGE_BYTES as u64;
    let data = match seek(file, offset, libc::SEEK_DATA)? {
        Seek::Unknown => return Ok(Extent::Data(end)),
        Seek::At(at) => at.min(end),
        Seek::Nothing => {
            // No data behind the offset: a hole up to the end, wherever that is by now.
            let end = file.metadata()?.len().min(end);
            return Ok(if end > offset { Extent::Hole(end) } else { Extent::End });
        }
    };
    let whole = data / page * page;
    if whole > offset {
        return Ok(Extent::Hole(whole));
    }
    match seek(file, data, libc::SEEK_HOLE)? {
        // At least a page, even where a hole has been punched since.
        Seek::At(hole) => Ok(Extent::Data(hole.next_multiple_of(page).max(offset + page).min(end))),
        Seek::Unknown | Seek::Nothing => Ok(Extent::Data(end)),
    }
}

enum Seek {
    At(u64),
    /// There is nothing of this kind behind the offset.
    Nothing,
    /// The file system cannot say.
    Unknown,
}

fn seek(file: &File, offset: u64, whence: libc::c_int) -> io::Result<Seek> {
    // SAFETY: a seek touches no memory, and the descriptor is open; reads name their offsets and do not mind it.
    let found = unsafe { libc::lseek(file.as_raw_fd(), offset as libc::off_t, whence) };
    if found >= 0 {
        return Ok(Seek::At(found as u64));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENXIO) => Ok(Seek::Nothing),
        Some(libc::EINVAL | libc::EOPNOTSUPP | libc::ENOSYS) => Ok(Seek::Unknown),
        _ => Err(error),
    }
}

/// What the system says, without its number.
pub fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

fn kind(found: &Metadata) -> &'static str {
    let is = found.file_type();
    if is.is_block_device() || is.is_char_device() {
        "a device"
    } else if is.is_fifo() {
        "a pipe"
    } else {
        "no regular file"
    }
}

fn unusable(path: &Path, what: &str) -> Box<Error> {
    let place = Place::Path(path.to_string_lossy().into_owned());
    Error::input(place, what, "expected a file or a folder that can be read")
}
