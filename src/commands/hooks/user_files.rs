//! The slash command and the skill that come with a registration for a user.

use super::args::Target;
use super::registration;
use crate::runtime::files::{read, write_like};
use rune::client::registration::Registration;
use std::fs;
use std::path::{Path, PathBuf};

/// What each of the files contains. A file without it is somebody else's.
const MARK: &str = "Written by `rune hooks install`";

/// Writes the files, unless there are others of their names.
pub fn write(target: &Target<'_>, registration: &Registration) -> anyhow::Result<()> {
    for (path, text) in files(target, registration) {
        let current = read(&path)?;
        if current.as_ref() == Some(&text) {
            continue;
        }
        if current.is_some_and(|current| !current.contains(MARK)) {
            say!("note: {} is not ours and stays as it is", path.display())?;
        } else if target.args.dry_run {
            say!("would write {}", path.display())?;
        } else {
            write_like(&path, &text, &path)?;
            say!("wrote {}", path.display())?;
        }
    }
    Ok(())
}

/// Removes the files that are ours, and the directories that they leave empty.
pub fn remove(target: &Target<'_>) -> anyhow::Result<()> {
    let Some(client_dir) = &target.environment.client_dir else { return Ok(()) };
    for (path, _) in files(target, &registration("off", &target.environment, None)?) {
        if !read(&path)?.is_some_and(|current| current.contains(MARK)) {
            continue;
        }
        if target.args.dry_run {
            say!("would remove {}", path.display())?;
            continue;
        }
        fs::remove_file(&path)?;
        say!("removed {}", path.display())?;
        let parents = path.ancestors().skip(1).take_while(|parent| *parent != client_dir.as_path());
        parents.take_while(|parent| fs::remove_dir(parent).is_ok()).for_each(drop);
    }
    Ok(())
}

/// The files of a registration in the user's own settings; other scopes have none.
fn files(target: &Target<'_>, registration: &Registration) -> Vec<(PathBuf, String)> {
    let dir = target.environment.client_dir.as_deref().filter(|_| target.args.is_user());
    let below = |dir: &Path| {
        let files = target.environment.client.user_files(registration);
        files.into_iter().map(|(name, text)| (dir.join(name), text)).collect()
    };
    dir.map_or_else(Vec::new, below)
}
