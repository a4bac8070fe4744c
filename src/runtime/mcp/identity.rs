//! The identity of a configured server. If a project's entry runs files of the project, the project is part of it, because
//! the same entry runs other files in another project.

use rune::client::Client;
use rune::encoding::canonical::Value;
use rune::mcp::Identity;
use std::path::Path;

/// Programs that fetch what they run. A directory among their arguments is data, not a program.
const FETCHERS: [&str; 6] = ["bunx", "docker", "npx", "pipx", "podman", "uvx"];

/// Reads the identity from an entry. `project` is the directory of the configuration file, if it is a project's file.
pub fn of_entry(client: &dyn Client, entry: &Value, project: Option<&Path>) -> Option<Identity> {
    let mut identity = Identity::of_entry(entry)?;
    if let Some(folder) = project.filter(|folder| runs_files_of(client, folder, &identity)) {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        identity.owner = Some(folder.to_string_lossy().into());
    }
    Some(identity)
}

/// Whether an argument of the entry is a file of the project, or a directory of it that may be a program.
fn runs_files_of(client: &dyn Client, folder: &Path, identity: &Identity) -> bool {
    let command = identity.command.as_deref();
    let name = command.and_then(|command| Path::new(command).file_name());
    let fetches = name.is_some_and(|name| FETCHERS.iter().any(|fetcher| name == *fetcher));
    let words = command.into_iter().chain(identity.args.iter().chain(&identity.cwd).map(String::as_str));
    let values = words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]).flatten();
    values.filter(|value| !value.is_empty() && !value.starts_with('/')).any(|value| {
        let path = folder.join(value);
        names_project(client, value) || path.is_file() || !fetches && path.is_dir()
    })
}

/// Whether a word contains a variable for the project's directory.
fn names_project(client: &dyn Client, word: &str) -> bool {
    client.locations().project_variable.into_iter().chain(["PWD"]).any(|name| word.contains(&format!("${{{name}")))
}
