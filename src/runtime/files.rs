//! Reads and atomically writes files that people edit too.

use crate::runtime::policy_files;
use anyhow::{Context, bail};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Temporary files with the same process id, left behind by processes that were killed, that are skipped.
const MAX_LEFT_BEHIND: usize = 100;

/// Follows symlinks to a file that need not exist.
pub fn follow_links(path: &Path) -> anyhow::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().map_or(target.clone(), |folder| folder.join(&target)),
            Err(_) => return Ok(path),
        }
    }
    bail!("{}: too many levels of symlinks", path.display())
}

/// Reads a regular file as text; `None` if the file or the target of a symlink does not exist.
pub fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let text = match policy_files::read_bytes(path) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8")),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error),
    };
    text.map(Some).with_context(|| path.display().to_string())
}

/// Writes a file atomically, with the mode and the owner of `like`.
pub fn write_like(path: &Path, text: &str, like: &Path) -> anyhow::Result<()> {
    write(path, text.as_bytes(), 0o600, fs::metadata(like).ok())
}

/// Lets everybody who may read a file run it.
pub fn make_executable(path: &Path) -> anyhow::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(0o755)).with_context(|| path.display().to_string())
}

/// Writes a file atomically with mode 644. Fails if there is a symlink at its path.
pub fn write_public(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    refuse_symlink(path)?;
    write(path, text, 0o644, None)
}

/// Writes a file atomically with mode 600. Fails if there is a symlink at its path.
pub fn write_private(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    refuse_symlink(path)?;
    write(path, text, 0o600, None)
}

fn refuse_symlink(path: &Path) -> anyhow::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            let help = "help: remove it, or name another directory";
            bail!("{}: a symlink or not a regular file\n  {help}", path.display())
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn write(path: &Path, text: &[u8], mode: u32, like: Option<Metadata>) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    if !folder.exists() {
        create_private_dir(folder).with_context(|| folder.display().to_string())?;
    }
    let unwritable = || format!("{}: cannot be written", path.display());
    let (temporary, mut file) = create_temporary(path, mode).with_context(unwritable)?;
    let mut write = || -> std::io::Result<()> {
        file.write_all(text)?;
        if let Some(found) = &like {
            file.set_permissions(Permissions::from_mode(found.mode() & 0o7777))?;
            // Only root can change the owner, and for other users it is the same.
            std::os::unix::fs::chown(&temporary, Some(found.uid()), Some(found.gid())).ok();
        }
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        File::open(folder)?.sync_all()
    };
    write()
        .inspect_err(|_| {
            fs::remove_file(&temporary).ok();
        })
        .with_context(unwritable)
}

/// Creates a directory and its parents with mode 700, where they are missing.
pub fn create_private_dir(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a temporary file beside `path`. A process that was killed may have left one of the same name.
fn create_temporary(path: &Path, mode: u32) -> std::io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut nth = 0;
    loop {
        let temporary = path.with_file_name(format!(".{name}.{}.{nth}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && nth < MAX_LEFT_BEHIND => nth += 1,
            created => return created.map(|file| (temporary, file)),
        }
    }
}

/// The change of a file as a unified diff.
pub fn diff(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    let mut options = diffy::DiffOptions::new();
    options.set_original_filename(name.clone()).set_modified_filename(name);
    options.create_patch(before, after).to_string().trim_end().to_owned()
}

#[cfg(test)]
#[path = "../../tests/unit/runtime/files.rs"]
mod tests;
