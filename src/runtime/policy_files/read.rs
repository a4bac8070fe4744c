//! Reads regular files of bounded size.

use rustix::buffer::spare_capacity;
use rustix::fs::{OFlags, lstat};
use rustix::io::{Errno, read, retry_on_intr};
use std::borrow::Cow;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::mem::MaybeUninit;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// A larger policy file is an error.
const MAX_POLICY_BYTES: u64 = 1 << 20;

/// A larger settings file is an error.
const MAX_SETTINGS_BYTES: u64 = 64 << 20;

/// Reads the text of a client's file, which may be large; `None` if it does not exist.
pub fn read_settings_text(path: &Path) -> Result<Option<String>, String> {
    read_up_to(MAX_SETTINGS_BYTES, path)
}

/// Reads the text of a file; `None` if it does not exist. The error names the file.
pub fn read_text(path: &Path) -> Result<Option<String>, String> {
    read_up_to(MAX_POLICY_BYTES, path)
}

/// Reads the text of a policy file that often equals `expected`; `None` if it does not exist.
pub(super) fn read_copy(path: &Path, expected: &'static str) -> Result<Option<Cow<'static, str>>, String> {
    read_like(expected, MAX_POLICY_BYTES, path)
}

fn read_up_to(max_bytes: u64, path: &Path) -> Result<Option<String>, String> {
    read_like("", max_bytes, path).map(|text| text.map(Cow::into_owned))
}

fn read_like(expected: &'static str, max_bytes: u64, path: &Path) -> Result<Option<Cow<'static, str>>, String> {
    match open(path).and_then(|(file, length)| read_all(&file, length, max_bytes, expected)) {
        Ok(text) if text.len() as u64 > max_bytes => {
            Err(format!("{}: larger than {} MB", path.display(), max_bytes >> 20))
        }
        Ok(text) => Ok(Some(text)),
        // A dangling symlink is a policy that was lost, which is an error.
        Err(error) if error.kind() == ErrorKind::NotFound && !path.ancestors().take(2).any(is_dangling) => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Opens a regular file for reading and returns its length.
///
/// The type is checked on the open file, because a file that is checked by name can be replaced before it is opened.
/// Without `O_NONBLOCK`, opening a pipe without a writer would block until the deadline.
pub fn open(path: &Path) -> std::io::Result<(File, u64)> {
    open_with(path, OFlags::empty())
}

/// Like [`open`], with more flags.
pub fn open_with(path: &Path, flags: OFlags) -> std::io::Result<(File, u64)> {
    let flags = (flags | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok((file, found.len()))
}

/// Reads all bytes of a regular file.
pub fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let (mut file, length) = open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads the text of a file of this length, at least `max_bytes + 1` bytes of a longer one. Of a file that equals `expected`
/// no copy is made.
fn read_all(file: &File, length: u64, max_bytes: u64, expected: &'static str) -> std::io::Result<Cow<'static, str>> {
    let mut bytes = Vec::new();
    if !expected.is_empty() && length == expected.len() as u64 && equals(file, expected, &mut bytes)? {
        return Ok(Cow::Borrowed(expected));
    }
    let capacity = usize::try_from(length.min(max_bytes) + 1).unwrap_or(1);
    bytes.reserve(capacity.saturating_sub(bytes.len()));
    // A file that has grown since is read to its end.
    while bytes.len() as u64 <= max_bytes {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len());
        }
        if retry_on_intr(|| read(file, spare_capacity(&mut bytes)))? == 0 || bytes.len() as u64 == length {
            break;
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))?;
    Ok(Cow::Owned(text))
}

/// Whether the content of a file equals `expected`. If not, the bytes that were read are in `bytes`.
fn equals(file: &File, expected: &str, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    // On the stack, whose pages are mapped already: page faults on a new heap block would cost more than the comparison.
    let mut buffer = [MaybeUninit::uninit(); 8 << 10];
    let mut rest = expected.as_bytes();
    while !rest.is_empty() {
        let (piece, _) = loop {
            match read(file, &mut buffer) {
                Err(Errno::INTR) => {}
                read => break read?,
            }
        };
        match rest.strip_prefix(&*piece) {
            Some(more) if !piece.is_empty() => rest = more,
            _ => {
                bytes.extend(expected.as_bytes().iter().take(expected.len() - rest.len()).chain(&*piece));
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether no file has this name. A dangling symlink is a file.
pub fn is_missing(path: &Path) -> bool {
    matches!(lstat(path), Err(Errno::NOENT))
}

pub(super) fn is_dangling(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) && std::fs::metadata(path).is_err()
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/policy_files/read.rs"]
pub mod tests;
