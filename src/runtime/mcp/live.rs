//! The client's configuration as it is now: which servers it names, and how it starts or reaches each.
//!
//! Read on calls of MCP tools, so nothing is parsed that is not asked for.

use super::identity;
use crate::runtime::environment::Environment;
use crate::runtime::policy_files::read_settings_text;
use rune::client::Client;
use rune::client::server::ServerOrigin;
use rune::client::settings::Scope;
use rune::encoding::canonical::Value;
use rune::mcp::Live;
use std::path::{Path, PathBuf};

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
#[derive(Debug)]
pub struct Servers {
    client: &'static dyn Client,
    entries: Vec<Entry>,
    /// Files that cannot be read: a server may stand in any of them.
    pub flaws: Vec<String>,
}

impl Servers {
    /// Looks at the files that count for a call in `cwd`.
    pub fn look(environment: &Environment, cwd: &str) -> Servers {
        let client = environment.client;
        let mut servers = Servers { client, entries: Vec::new(), flaws: Vec::new() };
        let managed = environment.managed_server_file();
        if let Some(text) = servers.text(&managed) {
            let raw = client.raw_servers(&text, &[]);
            servers.note(&managed, raw.flaw);
            servers.add(Scope::Managed, &managed, raw.all);
            return servers;
        }
        let places: Vec<PathBuf> = environment.project_for(cwd).into_iter().chain([PathBuf::from(cwd)]).collect();
        let user = environment.user_server_file().and_then(|file| Some((servers.text(&file)?, file)));
        let mut keys: Vec<PathBuf> = Vec::new();
        for place in &places {
            keys.extend([git_root(place), place.clone()]);
        }
        keys.dedup();
        let keys: Vec<&str> = keys.iter().filter_map(|key| key.to_str()).collect();
        let user = user.as_ref().map(|(text, file)| (client.raw_servers(text, &keys), file));
        if let Some((raw, file)) = &user {
            servers.note(file, raw.flaw.clone());
            servers.add(Scope::Local, file, raw.projects.clone());
        }
        let mut folders: Vec<&Path> = Vec::new();
        for folder in places.iter().flat_map(|place| place.ancestors()) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        for folder in folders {
            let file = folder.join(client.locations().project_servers);
            if let Some(text) = servers.text(&file) {
                let raw = client.raw_servers(&text, &[]);
                servers.note(&file, raw.flaw);
                servers.add(Scope::Project, &file, raw.all);
            }
        }
        if let Some((raw, file)) = user {
            servers.add(Scope::User, file, raw.all);
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
        let scope = match told.map_or(ServerOrigin::Unknown, |source| self.client.server_origin(source)) {
            ServerOrigin::Scope(scope) => Some(scope),
            ServerOrigin::NoFile => return Live::Nowhere,
            ServerOrigin::Unknown => None,
        };
        let fits = |entry: &&Entry| entry.name == name && scope.is_none_or(|scope| scope == entry.scope);
        match self.entries.iter().find(fits) {
            Some(entry) => {
                let project = Some(&*entry.folder).filter(|_| entry.scope == Scope::Project);
                let identity =
                    Value::read(&entry.raw).ok().and_then(|raw| identity::of_entry(self.client, &raw, project));
                identity.map_or(Live::Unreadable, Live::Entry)
            }
            None if self.flaws.is_empty() => Live::Nowhere,
            None => Live::Unreadable,
        }
    }

    fn note(&mut self, file: &Path, flaw: Option<String>) {
        self.flaws.extend(flaw.map(|flaw| format!("{}: {flaw}", file.display())));
    }

    fn add(&mut self, scope: Scope, file: &Path, named: Vec<(String, &[u8])>) {
        let folder = file.parent().unwrap_or(file);
        self.entries.extend(named.into_iter().map(|(name, raw)| Entry {
            name,
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

/// What the client calls the project of a directory: the repository that it is part of, else itself.
fn git_root(here: &Path) -> PathBuf {
    here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here).to_owned()
}
