//! Unit tests of `src/runtime/files.rs`.

use super::*;
use crate::runtime::policy_files::read::tests::pipe;
use std::os::unix::fs::symlink;

#[test]
fn only_a_regular_file_is_read_and_a_dangling_symlink_is_missing() {
    let home = tempfile::tempdir().unwrap();
    let (fifo, link) = (home.path().join("fifo"), home.path().join("link"));
    pipe(&fifo);
    for irregular in [fifo.as_path(), home.path()] {
        let error = format!("{:#}", read(irregular).unwrap_err());
        assert_eq!(error, format!("{}: not a regular file", irregular.display()));
    }
    symlink(home.path().join("gone"), &link).unwrap();
    assert_eq!(read(&link).unwrap(), None);
    fs::write(home.path().join("gone"), b"\xff").unwrap();
    assert!(format!("{:#}", read(&link).unwrap_err()).ends_with("it is not UTF-8"));
}

#[test]
fn temporary_files_left_behind_are_skipped() {
    let home = tempfile::tempdir().unwrap();
    let left = home.path().join(format!(".a.json.{}.0", std::process::id()));
    fs::write(&left, "left").unwrap();
    let path = home.path().join("a.json");
    write_like(&path, "{}", &path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
    assert_eq!(fs::read_to_string(&left).unwrap(), "left");
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 2);
}
