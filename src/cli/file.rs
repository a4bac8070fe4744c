//! Files that people own too: links followed, read whole, written atomically.

use anyhow::{Context, bail};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The file that a path means: through links, also one that leads to where nothing is yet.
pub fn follow(path: &Path) -> anyhow::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().map_or(target.clone(), |folder| folder.join(&target)),
            Err(_) => return Ok(path),
        }
    }
    bail!("{}: a link that leads to itself", path.display())
}

/// The text of a file, `None` where there is none.
pub fn read(path: &Path) -> anyhow::Result<Option<String>> {
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

/// What would change in a file, as a patch.
pub fn patch(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    let mut options = diffy::DiffOptions::new();
    options.set_original_filename(name.clone()).set_modified_filename(name);
    options.create_patch(before, after).to_string().trim_end().to_owned()
}
