//! Unit tests of `src/runtime/log.rs`.

use super::*;
use crate::runtime::policy_files::read::tests::pipe;
use std::fs;
use std::os::unix::fs::symlink;

#[test]
fn only_a_regular_file_is_appended_to() {
    let home = tempfile::tempdir().unwrap();
    let fifo = pipe(&home.path().join("fifo"));
    let refused = |path: &Path| append_text(path, "line\n").unwrap_err().to_string();
    assert_eq!(refused(&fifo), "not a regular file");
    // With a reader the pipe can be opened, and a write to it would succeed.
    let reader = File::options().read(true).write(true).open(&fifo).unwrap();
    assert_eq!(refused(&fifo), "not a regular file");
    drop(reader);
    assert_eq!(refused(home.path()), "not a regular file");
    assert_eq!(refused(Path::new("/dev/null")), "not a regular file");
    let link = home.path().join("link");
    symlink(&fifo, &link).unwrap();
    assert_eq!(refused(&link), "not a regular file");
}

#[test]
fn a_missing_folder_is_created_and_a_dangling_symlink_leads_to_a_new_file_or_an_error() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("a/b/log");
    append_text(&log, "one\n").unwrap();
    append_text(&log, "two\n").unwrap();
    assert_eq!(fs::read_to_string(&log).unwrap(), "one\ntwo\n");
    fs::write(&log, "one\ntw").unwrap();
    append_text(&log, "three\n").unwrap();
    assert_eq!(fs::read_to_string(&log).unwrap(), "one\ntw\nthree\n");
    let link = home.path().join("link");
    symlink(home.path().join("target"), &link).unwrap();
    append_text(&link, "line\n").unwrap();
    assert_eq!(fs::read_to_string(home.path().join("target")).unwrap(), "line\n");
    let lost = home.path().join("lost");
    symlink(home.path().join("gone/target"), &lost).unwrap();
    assert_eq!(append_text(&lost, "line\n").unwrap_err().kind(), ErrorKind::NotFound);
}
