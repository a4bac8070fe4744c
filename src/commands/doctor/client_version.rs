//! The version of the client: an older one does not understand the registered entries, and blocks every call.

use super::Problem;
use crate::runtime::environment::Environment;
use rune::client::Locations;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// How long the client may take to print its version.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes of its output that are read.
const MAX_BYTES: u64 = 1 << 10;

/// Starts the client that is first on `PATH`, unless it lies in the project, and compares its version.
pub fn check(environment: &Environment, project: &Path) -> Option<Problem> {
    let Locations { program, minimum_version, .. } = environment.client.locations();
    let path = find(program, project)?;
    let version = read_version(&output(&path)?)?;
    let text = |version: [u32; 3]| version.map(|part| part.to_string()).join(".");
    let (found, needed) = (text(version), text(*minimum_version));
    let what = format!("the client is version {found}, and the registered entries need {needed} or newer");
    let advice = "update it; until then it starts the hooks without their arguments, and every call is blocked";
    (version < *minimum_version).then(|| Problem::new("client-too-old", what, advice).at(path.display().to_string()))
}

fn find(program: &str, project: &Path) -> Option<PathBuf> {
    let directories: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let is_own = |directory: &PathBuf| directory.is_absolute() && !directory.starts_with(project);
    let programs = directories.into_iter().filter(is_own).map(|directory| directory.join(program));
    programs.filter(|path| path.is_file()).find(|path| !path.canonicalize().is_ok_and(|real| real.starts_with(project)))
}

/// What `--version` prints; `None` if it fails or takes too long.
fn output(program: &Path) -> Option<String> {
    let piped = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut child = piped.ok()?;
    let stdout = child.stdout.take()?;
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut text = String::new();
        stdout.take(MAX_BYTES).read_to_string(&mut text).ok();
        sender.send(text).ok();
    });
    let text = receiver.recv_timeout(TIMEOUT).ok();
    child.kill().ok();
    child.wait().ok();
    text
}

/// The first three numbers that are separated by dots.
fn read_version(text: &str) -> Option<[u32; 3]> {
    let mut words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    words.find_map(|word| {
        let mut parts = word.split('.').map(|part| part.parse().ok());
        Some([parts.next()??, parts.next()??, parts.next()??])
    })
}
