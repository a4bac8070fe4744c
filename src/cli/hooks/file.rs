//! Settings files on disk: read whole, written atomically, with a copy of how they were before us.

use anyhow::{Context, bail};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
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

/// The file that a path means: through links, also one that leads to where nothing is yet.
fn follow(path: &Path) -> anyhow::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().map_or(target.clone(), |folder| folder.join(&target)),
            Err(_) => return Ok(path),
        }
    }
    bail!("{}: a link that leads to itself", path.display())
}

fn read(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => bail!("{}: not a regular file", path.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Ok(_) | Err(_) => {}
    }
    fs::read_to_string(path).map(Some).with_context(|| path.display().to_string())
}

/// Writes beside the file and moves it there, so that nobody ever sees half of it. Mode and owner are those of `like`.
pub fn put(path: &Path, text: &str, like: &Path) -> anyhow::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    if !folder.exists() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(|| folder.display().to_string())?;
    }
    let found = fs::metadata(like).ok();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let scratch = folder.join(format!(".{name}.{}", std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&scratch)?;
        file.write_all(text.as_bytes())?;
        if let Some(found) = &found {
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
        .with_context(|| format!("{}: cannot be written", path.display()))
}
