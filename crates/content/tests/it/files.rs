//! Which files are looked at, and what happens to those that cannot be, or that change meanwhile.

use floatgate_content::{Measured, PAGE_BYTES, Settings, measure};
use std::fs;
use std::os::unix::fs::symlink;
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
    // Arguments keep their order, what they share counts once, and they may be links themselves.
    let measured = of(&[&at("link"), &at("b"), folder.path()]).unwrap();
    assert_eq!(measured.pages.unwrap().file_pages, [3, 1, 2, 4]);
    assert_eq!(measured.figures.skipped.further_names, 4);
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refused(folder.path()).contains("there is no regular file"));
    fs::write(folder.path().join("empty"), "").unwrap();
    assert!(refused(folder.path()).contains("only empty files (1)"));
    assert!(refused(&folder.path().join("missing")).contains("No such file"));
    assert!(refused(Path::new("/dev/null")).contains("is a device"));
}

#[test]
fn a_copy_that_has_changed_is_not_taken_for_the_same() {
    // The second file's turn comes when the first one has other bytes, or is gone.
    for remove in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let first = folder.path().join("1");
        // So many bytes that the watch is called before the second file.
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
        // The rest of the first file was read after the change, or through the name that it had.
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
