//! Permissions: whether the log and the sessions can be written, and who else can write the policy.

use super::Problem;
use crate::commands::hooks::RegisteredLayer;
use crate::runtime::environment::Environment;
use crate::runtime::options::Options;
use crate::runtime::{log, policy_files};
use std::fs::{self, OpenOptions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The number of files that are checked below one directory.
const MAX_FILES: usize = 10_000;

/// The depth to which directories are checked; the guard's own are not nested deeper.
const MAX_DEPTH: usize = 4;

pub fn check(options: &Options, environment: &Environment) -> Vec<Problem> {
    let environment = environment.with_dirs(&options.dirs);
    let mut problems = Vec::new();
    if let Some(path) = log::path(&environment)
        && let Err(error) = can_append(&path)
    {
        let what = format!("the log cannot be written: {error}");
        let advice = "make it a file that you may write, or remove it";
        problems.push(Problem::new("telemetry-unwritable", what, advice).at(path.display().to_string()));
    }
    let sessions = environment.state_dir.as_ref().map(|state| state.join("sessions"));
    if let Some(sessions) = sessions.filter(|sessions| can_append(&sessions.join(PROBE)).is_err()) {
        let what = "what a session has taken in cannot be noted, so results of its subagents are not marked";
        let advice = "make it a directory that you may write, or remove it";
        problems.push(Problem::new("sessions-unwritable", what, advice).at(sessions.display().to_string()));
    }
    let allowlist = policy_files::allowlist_path(&environment);
    let dirs = [&environment.config_dir, &environment.state_dir, &environment.data_dir];
    let files = dirs.into_iter().flatten().flat_map(|dir| files_below(dir)).chain(allowlist);
    problems.extend(files.filter_map(|path| loose(&path)));
    problems
}

/// Checks the settings file of a registration, and the program that it runs.
pub fn check_registered(registered: &RegisteredLayer<'_>) -> Vec<Problem> {
    let files = [registered.layer.path.as_path(), Path::new(&registered.registration.program)];
    files.into_iter().filter_map(|path| loose(path).or_else(|| loose_folder(path.parent()?))).collect()
}

/// The name of a file that is created and removed to test whether a directory is writable.
const PROBE: &str = ".rune-doctor";

/// Tests whether a file can be appended to, or created, without changing it.
fn can_append(path: &Path) -> Result<(), Error> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err(Error::new(ErrorKind::InvalidInput, "not a regular file")),
        Ok(_) => return OpenOptions::new().append(true).open(path).map(drop),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Err(_) => {}
    }
    match fs::metadata(folder) {
        Ok(_) => {
            let probe = folder.join(format!("{PROBE}.{}", std::process::id()));
            OpenOptions::new().write(true).create_new(true).open(&probe)?;
            fs::remove_file(probe)
        }
        // It would be created, in the nearest ancestor that exists.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let nearest = folder.ancestors().skip(1).find_map(|above| fs::metadata(above).ok());
            let is_writable = nearest.is_some_and(|above| above.is_dir() && !above.permissions().readonly());
            if is_writable { Ok(()) } else { Err(Error::new(ErrorKind::NotADirectory, "its directory cannot be made")) }
        }
        Err(error) => Err(error),
    }
}

/// A directory and the files below it.
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(dir.to_owned(), 0)];
    while let Some((path, depth)) = open.pop() {
        if depth < MAX_DEPTH && path.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.map(|entry| (entry.path(), depth + 1)));
        }
        found.push(path);
        if found.len() >= MAX_FILES {
            break;
        }
    }
    found.sort();
    found
}

/// A directory in which every user can replace a file.
fn loose_folder(path: &Path) -> Option<Problem> {
    let open = fs::metadata(path).is_ok_and(|found| found.mode() & 0o1002 == 0o002);
    if open { loose(path) } else { None }
}

/// A file or directory that other users can change, or a key that they can read.
fn loose(path: &Path) -> Option<Problem> {
    let found = fs::metadata(path).ok()?;
    let mode = found.mode() & 0o7777;
    let key = path.extension().is_some_and(|extension| extension == "key");
    // A group with the number of the owner has no other members.
    let own_group = found.gid() == found.uid();
    let forbidden = match (key, own_group) {
        (true, _) => 0o077,
        (false, true) => 0o002,
        (false, false) => 0o022,
    };
    if mode & forbidden == 0 {
        return None;
    }
    let (what, right) = match (key, found.is_dir()) {
        (true, _) => ("others may read or change this key", "600"),
        (false, true) => ("others may put files into this directory", "go-w"),
        (false, false) => ("others may change this file", "go-w"),
    };
    let name = path.display().to_string();
    let advice = format!("`chmod {right} {}`", rune::shell::quote_word(&name));
    Some(Problem::new("loose-mode", format!("{what} (mode {mode:o})"), advice).at(name))
}
