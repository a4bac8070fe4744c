//! Files that people own too: links followed, read whole, written atomically.

use crate::runtime::policy_files;
use anyhow::{Context, bail};
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{Error, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Files left behind by processes of one number that are looked past.
const MOST_LEFT: usize = 100;

/// The file that a path means: through links, also one that leads to where nothing is yet.
pub fn follow_links(path: &Path) -> anyhow::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().map_or(target.clone(), |folder| folder.join(&target)),
            Err(_) => return Ok(path),
        }
    }
    bail!("{}: a link that leads to itself", path.display())
}

/// Reads a regular file as text; `None` where the file or the target of a symlink does not exist.
pub fn read(path: &Path) -> anyhow::Result<Option<String>> {
    let text = match policy_files::read_bytes(path) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8")),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => Err(error),
    };
    text.map(Some).with_context(|| path.display().to_string())
}

/// Writes beside the file and moves it there, so that nobody ever sees half of it. Mode and owner are those of `like`.
pub fn write_like(path: &Path, text: &str, like: &Path) -> anyhow::Result<()> {
    write(path, text.as_bytes(), 0o600, fs::metadata(like).ok())
}

/// The same for a file that anybody may read. A link in its place leads to a file that nobody has named.
pub fn write_public(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    refuse_link(path)?;
    write(path, text, 0o644, None)
}

/// The same for a file that is ours alone.
pub fn write_private(path: &Path, text: &[u8]) -> anyhow::Result<()> {
    refuse_link(path)?;
    write(path, text, 0o600, None)
}

fn refuse_link(path: &Path) -> anyhow::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            let help = "help: remove it, or name another directory";
            bail!("{}: a link or no regular file, and nothing is written through it\n  {help}", path.display())
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

fn write(path: &Path, text: &[u8], mode: u32, like: Option<Metadata>) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    if !folder.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(|| folder.display().to_string())?;
    }
    let unwritable = || format!("{}: cannot be written", path.display());
    let (scratch, mut file) = scratch(path, mode).with_context(unwritable)?;
    let mut write = || -> std::io::Result<()> {
        file.write_all(text)?;
        if let Some(found) = &like {
            file.set_permissions(Permissions::from_mode(found.mode() & 0o7777))?;
            // Only root may give files away, and only root needs to.
            std::os::unix::fs::chown(&scratch, Some(found.uid()), Some(found.gid())).ok();
        }
        file.sync_all()?;
        fs::rename(&scratch, path)?;
        File::open(folder)?.sync_all()
    };
    write()
        .inspect_err(|_| {
            fs::remove_file(&scratch).ok();
        })
        .with_context(unwritable)
}

/// A new file beside another. Whoever was killed may have left one of the same name.
fn scratch(path: &Path, mode: u32) -> std::io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut nth = 0;
    loop {
        let scratch = path.with_file_name(format!(".{name}.{}.{nth}", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&scratch) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && nth < MOST_LEFT => nth += 1,
            made => return made.map(|file| (scratch, file)),
        }
    }
}

/// What would change in a file, as a patch.
pub fn diff(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    let mut options = diffy::DiffOptions::new();
    options.set_original_filename(name.clone()).set_modified_filename(name);
    options.create_patch(before, after).to_string().trim_end().to_owned()
}

#[cfg(test)]
#[path = "../../tests/unit/runtime/files.rs"]
mod tests;
