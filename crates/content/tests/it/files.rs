//! Which files are read, and what happens to unreadable files and to files that change meanwhile.

use floatgate_base::Rng;
use floatgate_content::{Measured, PAGE_BYTES, Settings, measure};
use std::fs;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};

fn of(paths: &[&Path]) -> floatgate_base::Result<Measured> {
    let paths: Vec<PathBuf> = paths.iter().map(|path| path.to_path_buf()).collect();
    let settings = Settings { keep_pages: true, ..Settings::default() };
    measure(&paths, &settings, &mut |_, _, _| Ok(()))
}

fn refused(path: &Path) -> String {
    of(&[path]).err().expect("should be refused").to_string()
}

#[test]
fn regular_files_once_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("b")).unwrap();
    for (name, pages) in [("c", 3), ("b/z", 2), ("b/a", 1), ("a", 4)] {
        fs::write(at(name), vec![pages as u8; pages * PAGE_BYTES - 1]).unwrap();
    }
    fs::write(at("empty"), "").unwrap();
    fs::hard_link(at("a"), at("z-again")).unwrap();
    symlink(at("c"), at("link")).unwrap();
    symlink(folder.path(), at("b/circle")).unwrap();
    let measured = of(&[folder.path()]).unwrap();
    assert_eq!(measured.pages.unwrap().file_pages, [4, 1, 2, 3]);
    let figures = measured.figures;
    assert_eq!((figures.files, figures.pages, figures.bytes), (4, 10, 10 * PAGE_BYTES as u64 - 4));
    let skipped = figures.skipped;
    assert_eq!((skipped.empty_files, skipped.further_names, skipped.symbolic_links), (1, 1, 2));
    // Arguments keep their order, files below two of them count once, and arguments may be links.
    let measured = of(&[&at("link"), &at("b"), folder.path()]).unwrap();
    assert_eq!(measured.pages.unwrap().file_pages, [3, 1, 2, 4]);
    assert_eq!(measured.figures.skipped.further_names, 4);
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refused(folder.path()).contains("no regular file in it"));
    fs::write(folder.path().join("empty"), "").unwrap();
    assert!(refused(folder.path()).contains("all files are empty (1)"));
    assert!(refused(&folder.path().join("missing")).contains("No such file"));
    assert!(refused(Path::new("/dev/null")).contains("is a device"));
}

#[test]
fn a_copy_that_has_changed_is_not_taken_for_the_same() {
    // The second file is replaced or removed before it is read.
    for remove in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let first = folder.path().join("1");
        // Enough bytes for a call of the watch before the second file.
        let data: Vec<u8> = (0..(9 << 20) / 4_u32).flat_map(u32::to_le_bytes).collect();
        fs::write(&first, &data).unwrap();
        fs::write(folder.path().join("2"), &data[..10 * PAGE_BYTES]).unwrap();
        let paths = [folder.path().to_path_buf()];
        let mut calls = 0;
        let measured = measure(&paths, &Settings::default(), &mut |_, _, _| {
            calls += 1;
            if remove {
                let _ = fs::remove_file(&first);
            } else {
                fs::write(&first, vec![7; data.len()]).unwrap();
            }
            Ok(())
        });
        let figures = measured.unwrap().figures;
        assert!(calls > 0);
        assert_eq!(figures.fingerprints.collisions, 0);
        assert_eq!(figures.fingerprints.not_compared, 10);
        // The rest of the first file was read after the change, or through its former name.
        assert!(figures.unique_pages >= 10 + (8 << 20) / PAGE_BYTES as u64);
    }
}

#[test]
fn the_watch_ends_the_work() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("large"), vec![1; 20 << 20]).unwrap();
    let stop = |_: u64, _: Option<u64>, _: &str| Err(floatgate_base::Error::run("stopped", ""));
    let paths = [folder.path().to_path_buf()];
    let ended = measure(&paths, &Settings::default(), &mut { stop });
    assert_eq!(ended.err().unwrap().what, "stopped");
}

/// Writes `pieces` (offset, bytes) into a file of `size` bytes, with holes or with zeros between them.
fn write_pieces(path: &Path, size: u64, pieces: &[(u64, Vec<u8>)], holes: bool) {
    let file = fs::File::create(path).unwrap();
    if holes {
        file.set_len(size).unwrap();
    } else {
        file.write_all_at(&vec![0; size as usize], 0).unwrap();
    }
    for (offset, bytes) in pieces {
        file.write_all_at(bytes, *offset).unwrap();
    }
}

#[test]
fn holes_are_zeros() {
    let mut rng = Rng::new(11, "holes");
    let page = PAGE_BYTES as u64;
    for round in 0..12 {
        let [sparse, dense] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        for name in ["a", "b", "c"] {
            let size = 1 + rng.below(600 * page);
            let pieces: Vec<(u64, Vec<u8>)> = (0..rng.below(5))
                .map(|_| {
                    let offset = rng.below(size);
                    let most = (size - offset).min(1 + rng.below(20 * page));
                    (
                        offset,
                        (0..most)
                            .map(|n| if round % 2 == 0 { rng.next_u64() as u8 } else { n as u8 })
                            .collect(),
                    )
                })
                .collect();
            write_pieces(&sparse.path().join(name), size, &pieces, true);
            write_pieces(&dense.path().join(name), size, &pieces, false);
        }
        let settings = Settings {
            keep_pages: true,
            sample_share: 0.25,
            chunks: vec![1, 2, 7, 64],
            ..Settings::default()
        };
        let of = |folder: &Path| measure(&[folder.to_path_buf()], &settings, &mut |_, _, _| Ok(())).unwrap();
        let (with_holes, plain) = (of(sparse.path()), of(dense.path()));
        assert_eq!(with_holes.figures, plain.figures, "round {round}");
        let (with_holes, plain) = (with_holes.pages.unwrap(), plain.pages.unwrap());
        assert_eq!(with_holes.file_pages, plain.file_pages);
        assert_eq!(with_holes.fingerprints, plain.fingerprints);
        assert_eq!(with_holes.lz4_bytes, plain.lz4_bytes);
    }
}

#[test]
fn holes_are_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let size = 1 << 40;
    write_pieces(&folder.path().join("disk"), size, &[(1 << 39, vec![7; 3 * PAGE_BYTES])], true);
    let settings = Settings { sample_share: 0.0, ..Settings::default() };
    let mut calls = 0;
    // One call per 8 MiB read.
    let count = &mut |_: u64, _: Option<u64>, _: &str| {
        calls += 1;
        if calls < 10 { Ok(()) } else { Err(floatgate_base::Error::run("holes are read", "")) }
    };
    let figures = measure(&[folder.path().to_path_buf()], &settings, count).unwrap().figures;
    assert_eq!((figures.pages, figures.bytes), (1 << 28, size));
    assert_eq!((figures.zero_pages, figures.unique_pages), ((1 << 28) - 3, 2));
    assert_eq!(figures.duplicate_pages, (1 << 28) - 2);
}

#[test]
fn files_that_change_their_size_are_read_as_far_as_they_go() {
    // Data and holes; the change happens at the first call of the watch, after 8 MiB.
    for (data, holes) in [(true, false), (false, true), (true, true)] {
        for new_size in [0, 9 << 20, 10 * (1 << 20) + 5, 64 << 20] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            let mut pieces = vec![(0, vec![1; 8 << 20])];
            if data {
                pieces.push((16 << 20, vec![2; 4 << 20]));
            }
            write_pieces(&path, 32 << 20, &pieces, holes);
            let change = |_: u64, _: Option<u64>, _: &str| {
                fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(new_size).unwrap();
                Ok(())
            };
            let paths = [folder.path().to_path_buf()];
            let figures = measure(&paths, &Settings::default(), &mut { change }).unwrap().figures;
            assert_eq!(figures.bytes, new_size.clamp(8 << 20, 32 << 20), "{data} {holes} {new_size}");
        }
    }
}

#[test]
fn special_files_are_never_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let pipe = |path: &Path| {
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the name ends in a zero byte.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    };
    pipe(&at("pipe"));
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    symlink(at("loop"), at("loop")).unwrap();
    fs::write(at("a"), vec![3; 9 << 20]).unwrap();
    fs::write(at("b"), vec![4; PAGE_BYTES]).unwrap();
    assert!(refused(&at("pipe")).contains("is a pipe"));
    assert!(refused(&at("socket")).contains("not a regular file"));
    assert!(refused(&at("loop")).contains("Too many levels of symbolic links"));
    // The second file becomes a pipe, or a link to one, before it is read.
    for link in [false, true] {
        let mut done = false;
        let swap = &mut |_: u64, _: Option<u64>, _: &str| {
            if !std::mem::replace(&mut done, true) {
                fs::remove_file(at("b")).unwrap();
                if link { symlink(at("pipe"), at("b")).unwrap() } else { pipe(&at("b")) }
            }
            Ok(())
        };
        let figures = measure(&[folder.path().to_path_buf()], &Settings::default(), swap).unwrap().figures;
        assert_eq!((figures.files, figures.unreadable.count), (1, 1));
        assert_eq!((figures.skipped.special_files, figures.skipped.symbolic_links), (2, 1));
        fs::remove_file(at("b")).unwrap();
        fs::write(at("b"), vec![4; PAGE_BYTES]).unwrap();
    }
}
