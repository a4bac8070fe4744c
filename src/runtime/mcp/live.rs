//! The client's configuration as it is now: which servers it names, and how it starts or reaches each.
//!
//! Read on calls of MCP tools, so nothing is parsed that is not asked for.

use super::identity;
use crate::runtime::environment::Environment;
use crate::runtime::policy_files::read_settings_text;
use rune::encoding::canonical::Value;
use rune::encoding::json::Fields;
use rune::mcp::Live;
use std::path::{Path, PathBuf};

/// Where the machine's administrator names servers; there are then no others.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode/managed-mcp.json"
} else {
    "/etc/claude-code/managed-mcp.json"
};

/// Whose an entry is, in the client's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Managed,
    Local,
    Project,
    User,
}

/// One server in one file.
#[derive(Debug)]
struct Entry {
    name: String,
    scope: Scope,
    /// The folder of the file.
    folder: PathBuf,
    raw: Vec<u8>,
}

/// The servers that the client's files name, strongest scope first.
#[derive(Debug, Default)]
pub struct Servers {
    entries: Vec<Entry>,
    /// Files that cannot be read: a server may stand in any of them.
    pub flaws: Vec<String>,
}

impl Servers {
    /// Looks at the files that count for a call in `cwd`.
    pub fn look(environment: &Environment, cwd: &str) -> Servers {
        let mut servers = Servers::default();
        if let Some(text) = servers.text(Path::new(MANAGED)) {
            servers.add(Scope::Managed, Path::new(MANAGED), &Fields::read(text.as_bytes()));
            return servers;
        }
        let places: Vec<PathBuf> = environment.project_for(cwd).into_iter().chain([PathBuf::from(cwd)]).collect();
        let user = user_file(environment).and_then(|file| Some((servers.text(&file)?, file)));
        let fields = user.as_ref().map(|(text, file)| (Fields::read(text.as_bytes()), file));
        if let Some((fields, file)) = &fields {
            let projects = fields.object("projects").unwrap_or_default();
            let mut keys: Vec<PathBuf> = Vec::new();
            for place in &places {
                keys.extend([git_root(place), place.clone()]);
            }
            keys.dedup();
            for own in keys.iter().filter_map(|key| projects.object(key.to_str()?)) {
                servers.add(Scope::Local, file, &own);
            }
        }
        let mut folders: Vec<&Path> = Vec::new();
        for folder in places.iter().flat_map(|place| place.ancestors()) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        for folder in folders {
            let file = folder.join(".mcp.json");
            if let Some(text) = servers.text(&file) {
                servers.add(Scope::Project, &file, &Fields::read(text.as_bytes()));
            }
        }
        if let Some((fields, file)) = &fields {
            servers.add(Scope::User, file, fields);
        }
        servers
    }

    /// The names, each once.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.entries.iter().map(|entry| entry.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// How a server is started or reached. Where the client tells whose it is, that entry counts and no other.
    pub fn live(&self, name: &str, told: Option<&str>) -> Live {
        let scope = match told {
            Some("managed" | "enterprise") => Some(Scope::Managed),
            Some("local") => Some(Scope::Local),
            Some("project") => Some(Scope::Project),
            Some("user") => Some(Scope::User),
            // It was named on the client's command line, or comes from somewhere else that has no file.
            Some("dynamic" | "claudeai" | "sdk") => return Live::Nowhere,
            _ => None,
        };
        let fits = |entry: &&Entry| entry.name == name && scope.is_none_or(|scope| scope == entry.scope);
        match self.entries.iter().find(fits) {
            Some(entry) => {
                let project = Some(&*entry.folder).filter(|_| entry.scope == Scope::Project);
                let identity = Value::read(&entry.raw).ok().and_then(|raw| identity::of_entry(&raw, project));
                identity.map_or(Live::Unreadable, Live::Entry)
            }
            None if self.flaws.is_empty() => Live::Nowhere,
            None => Live::Unreadable,
        }
    }

    fn add(&mut self, scope: Scope, file: &Path, fields: &Fields<'_>) {
        let named = fields.object("mcpServers").unwrap_or_default();
        if let Some(flaw) = fields.error().or(named.error()) {
            self.flaws.push(format!("{}: {flaw}", file.display()));
        }
        let folder = file.parent().unwrap_or(file);
        self.entries.extend(named.iter().map(|(name, raw)| Entry {
            name: name.to_owned(),
            scope,
            folder: folder.to_owned(),
            raw: raw.to_vec(),
        }));
    }

    fn text(&mut self, file: &Path) -> Option<String> {
        read_settings_text(file).unwrap_or_else(|what| {
            self.flaws.push(what);
            None
        })
    }
}

/// The file that holds a user's servers: beside the client's directory where that is the usual one, else in it.
fn user_file(environment: &Environment) -> Option<PathBuf> {
    let client = environment.client_dir.as_ref()?;
    let within = client.join(".claude.json");
    let usual = environment.home.as_ref().filter(|home| **client == home.join(".claude"));
    Some(usual.filter(|_| !within.exists()).map_or(within, |home| home.join(".claude.json")))
}

/// What the client calls the project of a directory: the repository that it is part of, else itself.
fn git_root(here: &Path) -> PathBuf {
    here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here).to_owned()
}
