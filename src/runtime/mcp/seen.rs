//! The servers of the user's own configuration that were there before a session took in untrusted content: one hash of
//! name and identity per line. A server that appears later may be the work of that content.

use super::servers::Configured;
use crate::runtime::environment::Environment;
use crate::runtime::log::append_text;
use crate::runtime::policy_files::read_text;
use rune::encoding::canonical::Value;
use rune::mcp::{Hash, HashSubject};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The hash that stands for a server in the file; `None` if its entry is invalid.
pub fn fingerprint(server: &Configured) -> Option<String> {
    let identity = Value::of(&server.identity()?).ok()?;
    let named = [("name".to_owned(), Value::String(server.name.clone())), ("identity".to_owned(), identity)];
    Some(Hash::of(HashSubject::Identity, &Value::object(named)).to_string())
}

/// Reads the file. A file that cannot be read names no server.
pub fn read(environment: &Environment) -> BTreeSet<String> {
    let text = path(environment).and_then(|path| read_text(&path).ok().flatten()).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Adds servers to the file.
pub fn add(environment: &Environment, fingerprints: &[String]) -> Result<(), String> {
    let Some(path) = path(environment).filter(|_| !fingerprints.is_empty()) else { return Ok(()) };
    let lines: String = fingerprints.iter().map(|one| format!("{one}\n")).collect();
    append_text(&path, &lines).map_err(|error| format!("{}: {error}", path.display()))
}

fn path(environment: &Environment) -> Option<PathBuf> {
    Some(environment.state_dir.as_ref()?.join("mcp-servers-seen"))
}
