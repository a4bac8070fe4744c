//! The servers that the client would start here: every scope of its configuration, strongest first.

use super::identity;
use crate::runtime::environment::Environment;
use crate::runtime::files::read;
use rune::client::claude::locate::find as place_of;
use rune::client::claude::server::{Document, Launch, Server};
use rune::client::claude::settings::MANAGED;
use rune::encoding::canonical::Value as Canonical;
use rune::mcp::Identity;
use serde_json::Value;
use std::collections::BTreeMap;
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
    pub plugin: Option<Plugin>,
}

/// A plugin that is installed.
#[derive(Clone, Debug)]
pub struct Plugin {
    /// Its name, and that of its marketplace behind an `@`.
    id: String,
    pub root: PathBuf,
}

impl Plugin {
    fn name(&self) -> &str {
        self.id.split_once('@').map_or(&*self.id, |(name, _)| name)
    }
}

impl Configured {
    /// How its entry says that it is started or reached; nothing where the entry says neither.
    pub fn identity(&self) -> Option<Identity> {
        let project = self.file.parent().filter(|_| self.scope == Scope::Project);
        let identity = identity::of_entry(&Canonical::of(&self.entry).ok()?, project)?;
        let owner = self.plugin.as_ref().map(|plugin| plugin.id.as_str().into());
        Some(Identity { owner: owner.or(identity.owner), ..identity })
    }

    /// How it is reached, with variables filled in as the client does.
    pub fn expanded(&self, project: &Path) -> Result<Launch, String> {
        let lookup = |name: &str| match name {
            "CLAUDE_PLUGIN_ROOT" => self.plugin.as_ref().map(|plugin| plugin.root.to_string_lossy().into_owned()),
            "CLAUDE_PROJECT_DIR" => Some(project.to_string_lossy().into_owned()),
            name => std::env::var(name).ok(),
        };
        self.launch.clone().map(|launch| launch.expand(&lookup))
    }
}

/// All servers of one place, and what kept us from reading more.
#[derive(Debug, Default)]
pub struct Servers {
    pub all: Vec<Configured>,
    /// Files that could not be read, each with its place.
    pub flaws: Vec<String>,
}

impl Servers {
    /// Looks at every scope that counts in a directory. A server that a stronger scope names too is left out.
    pub fn look(environment: &Environment, here: &Path) -> Servers {
        let mut servers = Servers::default();
        let managed = Path::new(MANAGED).with_file_name("managed-mcp.json");
        if let Some((document, text)) = servers.document(&managed) {
            // Where the machine names servers, there are no others.
            servers.add(Scope::Managed, &managed, &text, document.servers());
            return servers;
        }
        let user = user_file(environment);
        let document = user.as_ref().and_then(|file| Some((file, servers.document(file)?)));
        if let Some((file, (document, text))) = &document {
            let keys = [git_root(here), here.to_owned()];
            for key in keys.iter().filter_map(|key| key.to_str()) {
                servers.add(Scope::Local, file, text, document.servers_of(key));
            }
        }
        for folder in here.ancestors() {
            let file = folder.join(".mcp.json");
            if let Some((document, text)) = servers.document(&file) {
                servers.add(Scope::Project, &file, &text, document.servers());
            }
        }
        if let Some((file, (document, text))) = &document {
            servers.add(Scope::User, file, text, document.servers());
        }
        servers.plugins(environment, here);
        servers
    }

    /// The server of this name, as it stands in the configuration or in the names of its tools.
    pub fn named(&self, name: &str) -> Option<&Configured> {
        self.all.iter().find(|server| server.name == name)
    }

    fn document(&mut self, file: &Path) -> Option<(Document, String)> {
        let text = match read(file) {
            Ok(text) => text?,
            Err(error) => {
                self.flaws.push(format!("{error:#}"));
                return None;
            }
        };
        match Document::read(&text) {
            Ok(document) => Some((document, text)),
            Err(broken) => {
                self.flaws.push(format!("{}:{}:{}: {}", file.display(), broken.line, broken.column, broken.what));
                None
            }
        }
    }

    fn add(&mut self, scope: Scope, file: &Path, text: &str, servers: Vec<Server>) {
        for server in servers.into_iter().map(|server| configured(scope, file, text, server)) {
            if self.named(&server.name).is_none() {
                self.all.push(server);
            }
        }
    }

    /// The servers of plugins that are installed and switched on.
    fn plugins(&mut self, environment: &Environment, here: &Path) {
        let Some(client) = &environment.client_dir else { return };
        let enabled = self.enabled(client, here);
        if !enabled.values().any(|on| *on) {
            return;
        }
        let installed = self.document(&client.join("plugins/installed_plugins.json"));
        let known = self.document(&client.join("plugins/known_marketplaces.json"));
        for id in enabled.iter().filter(|(_, on)| **on).map(|(id, _)| id) {
            let (name, market) = id.split_once('@').unwrap_or((id, ""));
            let marketplace = known.as_ref().and_then(|(known, _)| known.at(&pointer(&[market])).cloned());
            let root = match marketplace
                .filter(|market| market.pointer("/source/source").is_some_and(|kind| kind == "directory"))
            {
                // The client takes these from where they are developed, not from its copy.
                Some(market) => self.developed(name, &market),
                None => installed.as_ref().and_then(|(all, _)| {
                    let copies = all.at(&pointer(&["plugins", id]))?.as_array()?;
                    let here = |copy: &&Value| copy["projectPath"].as_str().is_none_or(|path| here.starts_with(path));
                    copies.iter().filter(here).find_map(|copy| copy["installPath"].as_str()).map(PathBuf::from)
                }),
            };
            if let Some(root) = root {
                self.plugin(&Plugin { id: id.clone(), root });
            }
        }
    }

    /// Where a plugin of a marketplace on this machine lies.
    fn developed(&mut self, name: &str, market: &Value) -> Option<PathBuf> {
        let folder = PathBuf::from(market["installLocation"].as_str()?);
        let (list, _) = self.document(&folder.join(".claude-plugin/marketplace.json"))?;
        let plugins = list.at("/plugins")?.as_array()?;
        let source = plugins.iter().find(|plugin| plugin["name"] == name)?["source"].as_str()?;
        Some(folder.join(source))
    }

    fn plugin(&mut self, plugin: &Plugin) {
        let manifest = plugin.root.join(".claude-plugin/plugin.json");
        let mut files = vec![plugin.root.join(".mcp.json")];
        if let Some((document, text)) = self.document(&manifest) {
            files.extend(document.server_files().into_iter().map(|file| plugin.root.join(file)));
            self.add_of_plugin(plugin, &manifest, &text, document.servers());
        }
        for file in files {
            if let Some((document, text)) = self.document(&file) {
                self.add_of_plugin(plugin, &file, &text, document.plugin_servers());
            }
        }
    }

    fn add_of_plugin(&mut self, plugin: &Plugin, file: &Path, text: &str, servers: Vec<Server>) {
        for server in servers {
            let mut server = configured(Scope::Plugin, file, text, server);
            server.name = format!("plugin:{}:{}", plugin.name(), server.name);
            server.plugin = Some(plugin.clone());
            if self.named(&server.name).is_none() {
                self.all.push(server);
            }
        }
    }

    /// Which plugins the settings switch on or off; the strongest word counts.
    fn enabled(&mut self, client: &Path, here: &Path) -> BTreeMap<String, bool> {
        let project = git_root(here);
        let files = [
            client.join("settings.json"),
            project.join(".claude/settings.json"),
            project.join(".claude/settings.local.json"),
            PathBuf::from(MANAGED),
        ];
        let mut enabled = BTreeMap::new();
        for file in files {
            let Some((document, _)) = self.document(&file) else { continue };
            let switches = document.at("/enabledPlugins").and_then(Value::as_object).into_iter().flatten();
            enabled.extend(switches.map(|(id, on)| (id.clone(), on.as_bool().unwrap_or(true))));
        }
        enabled
    }
}

fn configured(scope: Scope, file: &Path, text: &str, server: Server) -> Configured {
    let place = || match place_of(text, server.steps.iter().map(String::as_str)) {
        Some((line, column)) => format!("{}:{line}:{column}", file.display()),
        None => file.display().to_string(),
    };
    Configured {
        launch: server.launch.clone().map_err(|what| format!("{}: {what}", place())),
        name: server.name,
        scope,
        file: file.to_owned(),
        steps: server.steps,
        entry: server.entry,
        plugin: None,
    }
}

/// A JSON pointer by names.
fn pointer(steps: &[&str]) -> String {
    steps.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
}

/// The file that holds a user's servers: beside the client's directory where that is the usual one, else in it.
fn user_file(environment: &Environment) -> Option<PathBuf> {
    let client = environment.client_dir.as_ref()?;
    let usual = environment.home.as_ref().filter(|home| **client == home.join(".claude"));
    let within = client.join(".claude.json");
    // `CLAUDE_CONFIG_DIR` may name the usual directory too, and then the file lies in it.
    Some(usual.filter(|_| !within.exists()).map_or(within, |home| home.join(".claude.json")))
}

/// What the client calls the project of a directory: the repository that it is part of, else itself.
fn git_root(here: &Path) -> PathBuf {
    here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here).to_owned()
}
