//! Settings files on disk: read whole, written with a copy of how they were before us.

use crate::cli::file::{follow, put, read};
use anyhow::{Context, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// A settings file, as it was when we looked.
pub struct SettingsFile {
    /// The file itself, links followed.
    pub path: PathBuf,
    /// Its text, where there is a file.
    pub text: Option<String>,
    /// Its text before any entry of ours was in it, where a copy was kept.
    pub before: Option<String>,
}

impl SettingsFile {
    /// Looks at a file that need not exist.
    pub fn read(path: &Path) -> anyhow::Result<SettingsFile> {
        let path = follow(path)?;
        let text = read(&path)?;
        let before = read(&backup(&path))?;
        Ok(SettingsFile { path, text, before })
    }

    /// Writes a new text, or removes the file. `first` tells that nothing of ours was in it, so a copy is kept.
    pub fn write(&self, text: Option<&str>, first: bool) -> anyhow::Result<()> {
        if read(&self.path)? != self.text {
            bail!("{}: somebody has changed it meanwhile\n  help: run it again", self.path.display());
        }
        let copy = backup(&self.path);
        if let (true, Some(before)) = (first, &self.text) {
            put(&copy, before, &self.path)?;
        }
        match text {
            Some(text) => put(&self.path, text, &self.path)?,
            None => fs::remove_file(&self.path).with_context(|| self.path.display().to_string())?,
        }
        // A copy of what is there again is worth nothing.
        if !first && self.before.is_some() && self.before.as_deref() == text {
            fs::remove_file(copy).ok();
        }
        Ok(())
    }
}

/// Where the text from before is kept.
pub fn backup(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-rune");
    path.with_file_name(name)
}
