//! Unit tests of `src/runtime/policy_files/read.rs`.

use super::*;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// Creates a named pipe.
pub fn pipe(path: &Path) -> PathBuf {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    path.to_owned()
}

#[test]
fn only_a_regular_file_is_read() {
    let home = tempfile::tempdir().unwrap();
    let (fifo, file, link) = (home.path().join("fifo"), home.path().join("file"), home.path().join("link"));
    pipe(&fifo);
    std::fs::write(&file, "text").unwrap();
    assert_eq!(read_bytes(&file).unwrap(), b"text");
    for irregular in [fifo.as_path(), home.path(), Path::new("/dev/null")] {
        assert_eq!(read_bytes(irregular).unwrap_err().to_string(), "not a regular file");
    }
    symlink(&file, &link).unwrap();
    assert_eq!(read_bytes(&link).unwrap(), b"text");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(read_bytes(&link).unwrap_err().kind(), ErrorKind::NotFound);
}
