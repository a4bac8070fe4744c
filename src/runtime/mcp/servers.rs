//! The servers that the client would start here: every scope of its configuration, strongest first.

use super::identity;
use crate::runtime::environment::Environment;
use crate::runtime::files::read;
use rune::client::Client;
use rune::client::server::{InstalledPlugin, Launch, LaunchContext, Server, ServerSection};
use rune::encoding::canonical::Value as Canonical;
use rune::mcp::Identity;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};

/// Whose a server is, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Managed,
    Local,
    Project,
    User,
    Plugin,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Scope::Managed => "managed",
            Scope::Local => "local",
            Scope::Project => "project",
            Scope::User => "user",
            Scope::Plugin => "plugin",
        })
    }
}

/// A server that the client would start or call.
#[derive(Clone, Debug)]
pub struct Configured {
    pub name: String,
    pub scope: Scope,
    /// The file that names it.
    pub file: PathBuf,
    /// The names that lead to it in the file.
    pub steps: Vec<String>,
    /// Its entry, unexpanded.
    pub entry: Value,
    /// How it is reached, unexpanded, or what is wrong with its entry and where.
    pub launch: Result<Launch, String>,
    /// The plugin that it belongs to.
    pub plugin: Option<InstalledPlugin>,
    client: &'static dyn Client,
}

impl Configured {
    /// How its entry says that it is started or reached; nothing where the entry says neither.
    pub fn identity(&self) -> Option<Identity> {
        let project = self.file.parent().filter(|_| self.scope == Scope::Project);
        let identity = identity::of_entry(self.client, &Canonical::of(&self.entry).ok()?, project)?;
        let owner = self.plugin.as_ref().map(|plugin| plugin.id.as_str().into());
        Some(Identity { owner: owner.or(identity.owner), ..identity })
    }

    /// How it is reached, with variables filled in as the client does.
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

/// All servers of one place, and what kept us from reading more.
#[derive(Debug)]
pub struct Servers {
    client: &'static dyn Client,
    pub all: Vec<Configured>,
    /// Files that could not be read, each with its place.
    pub flaws: Vec<String>,
}

impl Servers {
    /// Looks at every scope that counts in a directory. A server that a stronger scope names too is left out.
    pub fn look(environment: &Environment, here: &Path) -> Servers {
        let client = environment.client;
        let mut servers = Servers { client, all: Vec::new(), flaws: Vec::new() };
        let managed = environment.managed_server_file();
        if let Some(text) = servers.text(&managed) {
            // Where the machine names servers, there are no others.
            if servers.add(Scope::Managed, &managed, &text, ServerSection::All) {
                return servers;
            }
        }
        let user = environment.user_server_file();
        let user = user.as_ref().and_then(|file| Some((file, servers.text(file)?)));
        if let Some((file, text)) = &user {
            let keys = [git_root(here), here.to_owned()];
            for key in keys.iter().filter_map(|key| key.to_str()) {
                servers.add(Scope::Local, file, text, ServerSection::Project(key));
            }
        }
        for folder in here.ancestors() {
            let file = folder.join(client.locations().project_servers);
            if let Some(text) = servers.text(&file) {
                servers.add(Scope::Project, &file, &text, ServerSection::All);
            }
        }
        if let Some((file, text)) = &user {
            servers.add(Scope::User, file, text, ServerSection::All);
        }
        servers.plugins(environment, here);
        servers
    }

    /// The server of this name, as it stands in the configuration or in the names of its tools.
    pub fn named(&self, name: &str) -> Option<&Configured> {
        self.all.iter().find(|server| server.name == name)
    }

    fn text(&mut self, file: &Path) -> Option<String> {
        read(file).unwrap_or_else(|error| {
            self.flaws.push(format!("{error:#}"));
            None
        })
    }

    /// Adds the servers of a file, without those that are known already, and returns whether it can be parsed.
    fn add(&mut self, scope: Scope, file: &Path, text: &str, section: ServerSection<'_>) -> bool {
        match self.client.servers(text, section) {
            Ok(servers) => {
                servers.into_iter().for_each(|server| self.push(configured(self.client, scope, file, server)));
                true
            }
            Err(error) => {
                self.note(error.describe(file));
                false
            }
        }
    }

    fn push(&mut self, server: Configured) {
        if self.named(&server.name).is_none() {
            self.all.push(server);
        }
    }

    fn note(&mut self, flaw: String) {
        if !self.flaws.contains(&flaw) {
            self.flaws.push(flaw);
        }
    }

    /// The servers of plugins that are installed and switched on.
    fn plugins(&mut self, environment: &Environment, here: &Path) {
        let project = git_root(here);
        let dirs = environment.settings_dirs(&project);
        let plugins = self.client.plugin_servers(&dirs, here, &mut |file| self.text(file));
        for (file, error) in plugins.errors {
            self.note(error.describe(&file));
        }
        for (plugin, file, server) in plugins.servers {
            let server = configured(self.client, Scope::Plugin, &file, server);
            self.push(Configured { plugin: Some(plugin), ..server });
        }
    }
}

fn configured(client: &'static dyn Client, scope: Scope, file: &Path, server: Server) -> Configured {
    let place = || {
        let steps: Vec<&str> = server.steps.iter().map(String::as_str).collect();
        match read(file).ok().flatten().and_then(|text| client.locate(&text, &steps)) {
            Some((line, column)) => format!("{}:{line}:{column}", file.display()),
            None => file.display().to_string(),
        }
    };
    Configured {
        launch: server.launch.clone().map_err(|what| format!("{}: {what}", place())),
        name: server.name,
        scope,
        file: file.to_owned(),
        steps: server.steps,
        entry: server.entry,
        plugin: None,
        client,
    }
}

/// What the client calls the project of a directory: the repository that it is part of, else itself.
fn git_root(here: &Path) -> PathBuf {
    here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here).to_owned()
}
