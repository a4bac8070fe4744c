//! Settings files on disk: read whole, written with a copy of how they were before us.

use crate::runtime::files::{follow_links, read, write_like};
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
    /// The copy that was made last, by its number.
    copy: Option<usize>,
}

/// Copies beyond this are looked past.
const MOST_COPIES: usize = 100;

impl SettingsFile {
    /// Looks at a file that need not exist.
    pub fn read(path: &Path) -> anyhow::Result<SettingsFile> {
        let path = follow_links(path)?;
        let text = read(&path)?;
        let there = |nth: &usize| fs::symlink_metadata(backup(&path, *nth)).is_ok();
        let copy = (0..MOST_COPIES).rfind(there);
        // What cannot be read is no copy of ours.
        let before = copy.and_then(|nth| read(&backup(&path, nth)).ok().flatten());
        Ok(SettingsFile { path, text, before, copy })
    }

    /// Writes a new text, or removes the file. `first` tells that nothing of ours was in it, so a copy is kept: the
    /// path of that.
    pub fn write(&self, text: Option<&str>, first: bool) -> anyhow::Result<Option<PathBuf>> {
        if read(&self.path)? != self.text {
            bail!("{}: somebody has changed it meanwhile\n  help: run it again", self.path.display());
        }
        let mut kept = None;
        if let (true, Some(before)) = (first, &self.text) {
            // A copy that is there already is of another day, and may be the only one.
            let copy = backup(&self.path, self.copy.map_or(0, |last| last + 1));
            write_like(&copy, before, &self.path)?;
            kept = Some(copy);
        }
        match text {
            Some(text) => write_like(&self.path, text, &self.path)?,
            None => fs::remove_file(&self.path).with_context(|| self.path.display().to_string())?,
        }
        // A copy of what is there again is worth nothing.
        if let (false, Some(nth), true) = (first, self.copy, self.before.is_some() && self.before.as_deref() == text) {
            fs::remove_file(backup(&self.path, nth)).ok();
        }
        Ok(kept)
    }
}

/// Where the text from before is kept: `settings.json.before-rune`, then `.before-rune.1` and so on.
fn backup(path: &Path, nth: usize) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".before-rune");
    if nth > 0 {
        name.push(format!(".{nth}"));
    }
    path.with_file_name(name)
}
