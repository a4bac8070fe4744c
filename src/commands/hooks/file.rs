//! Settings files on disk, and the backups of how they were before the guard was registered.

use crate::runtime::files::{follow_links, read, write_like};
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// The content of a settings file when it was read.
pub struct SettingsFile {
    /// The file itself, with symlinks resolved.
    pub path: PathBuf,
    /// Its text, if the file exists.
    pub text: Option<String>,
    /// Its text before the guard was registered, if a backup was kept.
    pub before: Option<String>,
    /// The number of the last backup.
    last_backup: Option<usize>,
}

/// Whether a write keeps a backup of the present text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backup {
    Keep,
    None,
}

/// Backups with higher numbers are ignored.
const MAX_BACKUPS: usize = 100;

impl SettingsFile {
    /// Reads a file that need not exist.
    pub fn read(path: &Path) -> anyhow::Result<SettingsFile> {
        let path = follow_links(path)?;
        let text = read(&path)?;
        let exists = |nth: &usize| fs::symlink_metadata(backup_path(&path, *nth)).is_ok();
        let last_backup = (0..MAX_BACKUPS).rfind(exists);
        // A backup that cannot be read was not made by this program.
        let before = last_backup.and_then(|nth| read(&backup_path(&path, nth)).ok().flatten());
        Ok(SettingsFile { path, text, before, last_backup })
    }

    /// Writes a new text, or removes the file. Returns the path of the backup, if one was made.
    pub fn write(&self, text: Option<&str>, backup: Backup) -> anyhow::Result<Option<PathBuf>> {
        if read(&self.path)? != self.text {
            bail!("{}: it has changed since it was read\n  help: run it again", self.path.display());
        }
        let mut kept = None;
        if let (Backup::Keep, Some(before)) = (backup, &self.text) {
            // An older backup may be the only copy of its text.
            let path = backup_path(&self.path, self.last_backup.map_or(0, |last| last + 1));
            write_like(&path, before, &self.path)?;
            kept = Some(path);
        }
        match text {
            Some(text) => write_like(&self.path, text, &self.path)?,
            None => fs::remove_file(&self.path).with_context(|| self.path.display().to_string())?,
        }
        // The backup is not needed once the file has its text again.
        let restored = self.before.is_some() && self.before.as_deref() == text;
        if let (Backup::None, Some(nth), true) = (backup, self.last_backup, restored) {
            fs::remove_file(backup_path(&self.path, nth)).ok();
        }
        Ok(kept)
    }
}

/// The path of a backup: the name of the file and `.before-rune`, then `.before-rune.1` and so on.
fn backup_path(path: &Path, nth: usize) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-rune");
    if nth > 0 {
        name.push(format!(".{nth}"));
    }
    path.with_file_name(name)
}
