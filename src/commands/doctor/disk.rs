//! Files and directories: whether the log can be written, and who else may write the policy.

use super::finding::Finding;
use crate::commands::hooks::Wired;
use crate::runtime::environment::Environment;
use crate::runtime::log;
use crate::runtime::options::Options;
use std::fs::{self, OpenOptions};
use std::io::{Error, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Files beyond this are not looked at.
const MOST: usize = 10_000;

/// Directories of ours nest no deeper.
const DEEPEST: usize = 4;

pub fn check(options: &Options, environment: &Environment) -> Vec<Finding> {
    let environment = environment.told(&options.dirs);
    let mut findings = Vec::new();
    if let Some(Err(error)) = log::path(&environment).map(|path| can_append(&path).map_err(|error| (path, error))) {
        let (path, error) = error;
        findings.push(
            Finding::new(
                "telemetry-unwritable",
                format!("the log cannot be written: {error}"),
                "make it a file that you may write, or remove it",
            )
            .at(path.display().to_string()),
        );
    }
    let sessions = environment.state_dir.as_ref().map(|state| state.join("sessions"));
    if let Some(sessions) = sessions.filter(|sessions| can_append(&sessions.join(PROBE)).is_err()) {
        findings.push(
            Finding::new(
                "sessions-unwritable",
                "what a session has taken in cannot be noted, so results of its subagents are not marked",
                "make it a directory that you may write, or remove it",
            )
            .at(sessions.display().to_string()),
        );
    }
    let allowlist = environment.client_dir.as_ref().map(|dir| dir.join("quarantine.d/trusted-mcp-allowlist.txt"));
    let dirs = [&environment.config_dir, &environment.state_dir, &environment.data_dir];
    let files = dirs.into_iter().flatten().flat_map(|dir| below(dir)).chain(allowlist);
    findings.extend(files.filter_map(|path| loose(&path)));
    findings
}

/// The file that the entries stand in, and the program that they run.
pub fn registered(wired: &Wired<'_>) -> Vec<Finding> {
    let files = [wired.layer.path.clone(), PathBuf::from(&wired.registration.program)];
    files.iter().filter_map(|path| loose(path).or_else(|| loose_folder(path.parent()?))).collect()
}

/// The name of a file that is made and removed again to see whether one can be.
const PROBE: &str = ".rune-doctor";

/// Whether a file could be appended to; leaves everything as it was.
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
        // It would be made; the nearest one that is there has to be a directory.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let nearest = folder.ancestors().skip(1).find_map(|above| fs::metadata(above).ok());
            let fine = nearest.is_some_and(|above| above.is_dir() && !above.permissions().readonly());
            if fine { Ok(()) } else { Err(Error::new(ErrorKind::NotADirectory, "its directory cannot be made")) }
        }
        Err(error) => Err(error),
    }
}

/// A directory and what is below it.
fn below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![(dir.to_owned(), 0)];
    while let Some((path, depth)) = open.pop() {
        if depth < DEEPEST && path.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            open.extend(entries.map(|entry| (entry.path(), depth + 1)));
        }
        found.push(path);
        if found.len() >= MOST {
            break;
        }
    }
    found.sort();
    found
}

/// A directory in which anybody may put another file in place of ours.
fn loose_folder(path: &Path) -> Option<Finding> {
    let open = fs::metadata(path).is_ok_and(|found| found.mode() & 0o1002 == 0o002);
    if open { loose(path) } else { None }
}

/// A file or directory that others may change; of a key, one that others may read.
fn loose(path: &Path) -> Option<Finding> {
    let found = fs::metadata(path).ok()?;
    let mode = found.mode() & 0o7777;
    let key = path.extension().is_some_and(|extension| extension == "key");
    // A group of the owner's own name has nobody else in it.
    let own_group = found.gid() == found.uid();
    let shut = match (key, own_group) {
        (true, _) => 0o077,
        (false, true) => 0o002,
        (false, false) => 0o022,
    };
    if mode & shut == 0 {
        return None;
    }
    let (what, right) = match (key, found.is_dir()) {
        (true, _) => ("others may read or change this key", "600"),
        (false, true) => ("others may put files into this directory", "go-w"),
        (false, false) => ("others may change this file", "go-w"),
    };
    let name = path.display().to_string();
    let advice = format!("`chmod {right} {}`", rune::shell::quote_word(&name));
    Some(Finding::new("loose-mode", format!("{what} (mode {mode:o})"), advice).at(name))
}
