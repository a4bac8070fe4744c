//! Servers that a project configures and that run its own files: in another project, the same words run others.

use rune::encoding::canonical::Value;
use rune::mcp::Identity;
use std::path::Path;

/// Programs that fetch what they run, so that a folder among their words is what it works on.
const FETCHERS: [&str; 6] = ["bunx", "docker", "npx", "pipx", "podman", "uvx"];

/// How an entry starts or reaches a server; `project` is the folder of the file, where that is a project's.
pub fn identity(entry: &Value, project: Option<&Path>) -> Option<Identity> {
    let mut identity = Identity::of_entry(entry)?;
    if let Some(folder) = project.filter(|folder| runs_files_of(folder, &identity)) {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        identity.owner = Some(folder.to_string_lossy().into());
    }
    Some(identity)
}

/// Whether a word of the entry is a file of the project, or a folder of it that may be a program.
fn runs_files_of(folder: &Path, identity: &Identity) -> bool {
    let command = identity.command.as_deref();
    let name = command.and_then(|command| Path::new(command).file_name());
    let fetches = name.is_some_and(|name| FETCHERS.iter().any(|fetcher| name == *fetcher));
    let words = command.into_iter().chain(identity.args.iter().chain(&identity.cwd).map(String::as_str));
    let values = words.flat_map(|word| [Some(word), word.split_once('=').map(|(_, value)| value)]).flatten();
    values.filter(|value| !value.is_empty() && !value.starts_with('/')).any(|value| {
        let path = folder.join(value);
        names_project(value) || path.is_file() || !fetches && path.is_dir()
    })
}

/// Whether a variable in a word leads into the project.
fn names_project(word: &str) -> bool {
    word.contains("${CLAUDE_PROJECT_DIR") || word.contains("${PWD")
}
