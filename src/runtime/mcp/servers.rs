//! The MCP servers in the client's configuration: every scope, strongest first.

use crate::runtime::environment::Environment;
use crate::runtime::policy_files::read_settings_text;
use rune::client::Client;
use rune::client::server::{InstalledPlugin, Launch, LaunchContext, Server, ServerOrigin, ServerScope};
use rune::client::settings::FileError;
use rune::encoding::canonical::Value as Canonical;
use rune::event::Server as SentServer;
use rune::mcp::{CallTarget, ConfiguredIdentity, Identity};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A server that the client would start or call.
#[derive(Clone, Debug)]
pub struct Configured {
    pub name: String,
    pub scope: ServerScope,
    /// The file that names it.
    pub file: PathBuf,
    /// The path of its entry in the file, by member names.
    pub steps: Vec<String>,
    /// Its entry as JSON, unexpanded.
    entry: String,
    /// How it is reached, unexpanded, or what is wrong with its entry and where.
    pub launch: Result<Launch, String>,
    pub plugin: Option<InstalledPlugin>,
    client: &'static dyn Client,
}

impl Configured {
    /// The identity of its entry; `None` for an invalid entry.
    pub fn identity(&self) -> Option<Identity> {
        let project = self.file.parent().filter(|_| self.scope == ServerScope::Project);
        let identity = identity_of_entry(self.client, &Canonical::read(self.entry.as_bytes()).ok()?, project)?;
        let owner = self.plugin.as_ref().map(|plugin| plugin.id.as_str().into());
        Some(Identity { owner: owner.or(identity.owner), ..identity })
    }

    /// How it is reached, with variables expanded as the client does.
    pub fn expanded(&self, project: &Path) -> Result<Launch, String> {
        self.launch.clone().map(|launch| self.client.expand(&launch, &self.context(project)))
    }

    /// The variables that the client adds to its environment.
    pub fn environment(&self, project: &Path) -> Vec<(&'static str, String)> {
        self.client.server_environment(&self.context(project))
    }

    fn context<'a>(&'a self, project: &'a Path) -> LaunchContext<'a> {
        let plugin_root = self.plugin.as_ref().map(|plugin| &*plugin.root);
        LaunchContext { project, plugin_root, variable: &|name| std::env::var(name).ok() }
    }
}

/// Which files name a server.
#[derive(Clone, Copy, Debug)]
pub enum Provided<'a> {
    /// No file.
    NoFile,
    /// Only this entry of the user or the administrator, which counts for all projects.
    ForAllProjects(&'a Configured),
    /// Another file, or one that cannot be read.
    Elsewhere,
}

/// The servers that the client's files name, and the files that could not be read.
#[derive(Debug)]
pub struct Servers {
    client: &'static dyn Client,
    entries: Vec<Configured>,
    /// Files that could not be read, each with its path. Any of them may name a server.
    pub flaws: Vec<String>,
}

impl Servers {
    /// Reads the files that apply to a call in `cwd`: those of its project and of the directory itself. Plugins are
    /// left out, because they are many files.
    pub fn for_call(environment: &Environment, cwd: &str) -> Servers {
        let directories: Vec<PathBuf> = environment.project_for(cwd).into_iter().chain([PathBuf::from(cwd)]).collect();
        Servers::read(environment, &directories).0
    }

    /// Reads all files that apply to a directory, including those of plugins.
    pub fn for_directory(environment: &Environment, directory: &Path) -> Servers {
        let (mut servers, is_managed) = Servers::read(environment, &[directory.to_owned()]);
        if !is_managed {
            servers.add_plugins(environment, directory);
        }
        servers
    }

    /// Reads the files of some directories. The second value says that the administrator's file replaces all others.
    fn read(environment: &Environment, directories: &[PathBuf]) -> (Servers, bool) {
        let client = environment.client;
        let mut servers = Servers { client, entries: Vec::new(), flaws: Vec::new() };
        let managed = environment.managed_server_file();
        if let Some(text) = servers.text(&managed) {
            servers.add_file(ServerScope::Managed, &managed, &text);
            return (servers, true);
        }
        let user = environment.user_server_file().and_then(|file| Some((servers.text(&file)?, file)));
        let mut keys: Vec<PathBuf> = directories.iter().flat_map(|place| [git_root(place), place.clone()]).collect();
        keys.dedup();
        let keys: Vec<&str> = keys.iter().filter_map(|key| key.to_str()).collect();
        let user = user.map(|(text, file)| (client.servers(&text, &keys), file));
        let user = user.map(|(content, file)| {
            servers.add_errors(&file, &content.errors);
            servers.add(ServerScope::Local, &file, content.projects);
            (content.all, file)
        });
        let mut ancestors: Vec<&Path> = Vec::new();
        for directory in directories.iter().flat_map(|directory| directory.ancestors()) {
            if !ancestors.contains(&directory) {
                ancestors.push(directory);
            }
        }
        for directory in ancestors {
            let file = directory.join(client.locations().project_servers);
            let is_user = user.as_ref().is_some_and(|(_, user)| *user == file);
            if !is_user && let Some(text) = servers.text(&file) {
                servers.add_file(ServerScope::Project, &file, &text);
            }
        }
        if let Some((all, file)) = user {
            servers.add(ServerScope::User, &file, all);
        }
        (servers, false)
    }

    /// The servers that the client would use: of several entries with the same name, the strongest.
    pub fn effective(&self) -> impl Iterator<Item = &Configured> {
        let mut seen = BTreeSet::new();
        self.entries.iter().filter(move |server| seen.insert(&server.name))
    }

    /// The strongest entry of a name.
    pub fn named(&self, name: &str) -> Option<&Configured> {
        self.entries.iter().find(|server| server.name == name)
    }

    /// The names of all servers, sorted.
    pub fn names(&self) -> Vec<String> {
        self.entries.iter().map(|entry| entry.name.clone()).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// How a server is started or reached. If the client says where it found the server, only that entry counts.
    pub fn identity(&self, name: &str, source: Option<&str>) -> ConfiguredIdentity {
        let scope = match source.map_or(ServerOrigin::Unknown, |source| self.client.server_origin(source)) {
            ServerOrigin::Scope(scope) => Some(scope),
            ServerOrigin::NoFile => return ConfiguredIdentity::Missing,
            ServerOrigin::Unknown => None,
        };
        let is_named = |entry: &&Configured| entry.name == name && scope.is_none_or(|scope| scope == entry.scope);
        match self.entries.iter().find(is_named) {
            Some(entry) => entry.identity().map_or(ConfiguredIdentity::Unreadable, ConfiguredIdentity::Known),
            None if self.flaws.is_empty() => ConfiguredIdentity::Missing,
            None => ConfiguredIdentity::Unreadable,
        }
    }

    /// Which files name a server. The client may say in its event which entry it uses.
    fn provided(&self, name: &str, source: Option<&str>) -> Provided<'_> {
        let mut entries = self.entries.iter().filter(|entry| entry.name == name);
        let is_general = |entry: &Configured| matches!(entry.scope, ServerScope::User | ServerScope::Managed);
        match source.map_or(ServerOrigin::Unknown, |source| self.client.server_origin(source)) {
            ServerOrigin::Scope(scope) => entries
                .find(|entry| entry.scope == scope && is_general(entry))
                .map_or(Provided::Elsewhere, Provided::ForAllProjects),
            _ if !self.flaws.is_empty() => Provided::Elsewhere,
            ServerOrigin::NoFile if entries.next().is_some() => Provided::Elsewhere,
            ServerOrigin::NoFile => Provided::NoFile,
            ServerOrigin::Unknown => match (entries.next(), entries.next()) {
                (None, _) => Provided::NoFile,
                (Some(entry), None) if is_general(entry) => Provided::ForAllProjects(entry),
                (Some(_), _) => Provided::Elsewhere,
            },
        }
    }

    /// Which files name the server of a call.
    pub fn provided_of(&self, target: &CallTarget, sent: Option<&SentServer>) -> Provided<'_> {
        match target {
            CallTarget::Collision => Provided::Elsewhere,
            CallTarget::Tool { server, .. } => self.provided(server, sent.map(|sent| sent.source.as_str())),
        }
    }

    /// The entries of the user and the administrator that count for all projects.
    pub fn for_all_projects(&self) -> impl Iterator<Item = &Configured> {
        self.entries.iter().filter(|entry| matches!(entry.scope, ServerScope::User | ServerScope::Managed))
    }

    fn text(&mut self, file: &Path) -> Option<String> {
        read_settings_text(file).unwrap_or_else(|what| {
            self.flaws.push(what);
            None
        })
    }

    fn add_file(&mut self, scope: ServerScope, file: &Path, text: &str) {
        let content = self.client.servers(text, &[]);
        self.add_errors(file, &content.errors);
        self.add(scope, file, content.all);
    }

    fn add_errors(&mut self, file: &Path, errors: &[FileError]) {
        self.flaws.extend(errors.iter().map(|error| error.describe(file)));
    }

    fn add(&mut self, scope: ServerScope, file: &Path, servers: Vec<Server>) {
        let client = self.client;
        self.entries.extend(servers.into_iter().map(|server| configured(client, scope, file, server)));
    }

    /// Adds the servers of plugins that are installed and enabled.
    fn add_plugins(&mut self, environment: &Environment, here: &Path) {
        let client = self.client;
        let project = git_root(here);
        let dirs = environment.settings_dirs(&project);
        let plugins = client.plugin_servers(&dirs, here, &mut |file| self.text(file));
        for (file, error) in plugins.errors {
            self.add_errors(&file, &[error]);
        }
        self.entries.extend(plugins.servers.into_iter().map(|(plugin, file, server)| {
            let server = configured(client, ServerScope::Plugin, &file, server);
            Configured { plugin: Some(plugin), ..server }
        }));
    }
}

fn configured(client: &'static dyn Client, scope: ServerScope, file: &Path, server: Server) -> Configured {
    Configured {
        launch: server.launch.map_err(|error| error.describe(file)),
        name: server.name,
        scope,
        file: file.to_owned(),
        steps: server.steps,
        entry: server.entry,
        plugin: None,
        client,
    }
}

/// The client's project of a directory: the repository that contains it, else the directory itself.
fn git_root(here: &Path) -> PathBuf {
    here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here).to_owned()
}

/// Programs that fetch what they run. A directory among their arguments is data, not a program.
const FETCHERS: [&str; 6] = ["bunx", "docker", "npx", "pipx", "podman", "uvx"];

/// Reads the identity from an entry. `project` is the directory of the configuration file, if it is a project's file. If
/// the entry runs files of the project, the project is part of its identity: elsewhere it runs other files.
fn identity_of_entry(client: &dyn Client, entry: &Canonical, project: Option<&Path>) -> Option<Identity> {
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

#[cfg(test)]
#[path = "../../../tests/unit/runtime/mcp/servers.rs"]
mod tests;
