//! The MCP servers in the client's configuration: every scope, strongest first.

use super::own;
use crate::runtime::environment::Environment;
use crate::runtime::policy_files::read_settings_text;
use rune::client::claude::locate::find as locate;
use rune::client::claude::server::{Document, Launch};
use rune::client::claude::settings::MANAGED;
use rune::encoding::canonical::Value as Canonical;
use rune::mcp::{ConfiguredIdentity, Identity, UniqueMap};
use serde::Deserialize;
use serde_json::Value;
use serde_json::error::Category;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// The scope of a configuration entry, strongest first.
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
    /// The path of its entry in the file, by member names.
    pub steps: Vec<String>,
    /// Its entry as JSON, unexpanded.
    entry: String,
    /// How it is reached, unexpanded, or what is wrong with its entry and where.
    pub launch: Result<Launch, String>,
    /// The plugin that it belongs to.
    pub plugin: Option<Plugin>,
}

/// An installed plugin.
#[derive(Clone, Debug)]
pub struct Plugin {
    /// Its name, and the name of its marketplace after an `@`.
    id: String,
    pub root: PathBuf,
}

impl Plugin {
    fn name(&self) -> &str {
        self.id.split_once('@').map_or(&*self.id, |(name, _)| name)
    }
}

impl Configured {
    /// The identity of its entry; `None` for an invalid entry.
    pub fn identity(&self) -> Option<Identity> {
        let project = self.file.parent().filter(|_| self.scope == Scope::Project);
        let identity = own::identity(&Canonical::read(self.entry.as_bytes()).ok()?, project)?;
        let owner = self.plugin.as_ref().map(|plugin| plugin.id.as_str().into());
        Some(Identity { owner: owner.or(identity.owner), ..identity })
    }

    /// How it is reached, with variables expanded as the client does.
    pub fn expanded(&self, project: &Path) -> Result<Launch, String> {
        let lookup = |name: &str| match name {
            "CLAUDE_PLUGIN_ROOT" => self.plugin.as_ref().map(|plugin| plugin.root.to_string_lossy().into_owned()),
            "CLAUDE_PROJECT_DIR" => Some(project.to_string_lossy().into_owned()),
            name => std::env::var(name).ok(),
        };
        self.launch.clone().map(|launch| launch.expand(&lookup))
    }
}

/// The members of a configuration file that concern servers. The others are skipped unparsed: the client's file can be
/// megabytes large, and it is read on every call of an MCP tool.
#[derive(Default, Deserialize)]
struct ConfigFile<'a> {
    #[serde(borrow, rename = "mcpServers")]
    servers: Option<&'a RawValue>,
    #[serde(borrow)]
    projects: Option<&'a RawValue>,
}

impl<'a> ConfigFile<'a> {
    /// Parses a file; an empty one names nothing.
    fn parse(text: &'a str) -> serde_json::Result<Self> {
        let text = text.trim_start_matches('\u{feff}');
        match text.trim_start().chars().next() {
            None => Ok(ConfigFile::default()),
            // serde would also read a struct from an array.
            Some('[') => Err(serde::de::Error::custom("an array")),
            Some(_) => serde_json::from_str(text),
        }
    }

    /// The files that a plugin's manifest names in place of servers.
    fn server_files(&self) -> Vec<String> {
        match self.servers.and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            Some(Value::String(file)) => vec![file],
            Some(Value::Array(files)) => files.iter().filter_map(|file| Some(file.as_str()?.to_owned())).collect(),
            _ => Vec::new(),
        }
    }
}

/// The members of an object, by name. Anything but an object has none; an object that repeats a name is an error.
fn members(raw: Option<&RawValue>) -> serde_json::Result<BTreeMap<String, &RawValue>> {
    let object = raw.map(RawValue::get).filter(|raw| raw.starts_with('{'));
    object.map_or(Ok(BTreeMap::new()), |raw| serde_json::from_str::<UniqueMap<_>>(raw).map(|members| members.0))
}

/// The servers that the client's files name, and the files that could not be read.
#[derive(Debug, Default)]
pub struct Servers {
    entries: Vec<Configured>,
    /// Files that could not be read, each with its path. Any of them may name a server.
    pub flaws: Vec<String>,
}

impl Servers {
    /// Reads the files that apply to a call in `cwd`: those of its project and of the directory itself. Plugins are
    /// left out, because they are many files.
    pub fn for_call(environment: &Environment, cwd: &str) -> Servers {
        let directories: Vec<PathBuf> = environment.project_of(cwd).into_iter().chain([PathBuf::from(cwd)]).collect();
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
        let mut servers = Servers::default();
        let managed = Path::new(MANAGED).with_file_name("managed-mcp.json");
        if let Some(text) = servers.text(&managed) {
            servers.add_file(Scope::Managed, &managed, &text);
            return (servers, true);
        }
        let user = user_file(environment).and_then(|file| Some((servers.text(&file)?, file)));
        let user = user.as_ref().and_then(|(text, file)| Some((servers.parse(file, text)?, text, file)));
        if let Some((config, text, file)) = &user {
            let mut keys: Vec<PathBuf> =
                directories.iter().flat_map(|place| [git_root(place), place.clone()]).collect();
            keys.dedup();
            let projects = servers.checked(file, members(config.projects)).unwrap_or_default();
            for key in keys.iter().filter_map(|key| key.to_str()) {
                let project = projects.get(key).filter(|raw| raw.get().starts_with('{'));
                let project = project.and_then(|raw| servers.checked(file, ConfigFile::parse(raw.get())));
                if let Some(project) = project {
                    servers.add(Scope::Local, file, text, &["projects", key, "mcpServers"], project.servers);
                }
            }
        }
        let mut ancestors: Vec<&Path> = Vec::new();
        for directory in directories.iter().flat_map(|directory| directory.ancestors()) {
            if !ancestors.contains(&directory) {
                ancestors.push(directory);
            }
        }
        for directory in ancestors {
            let file = directory.join(".mcp.json");
            if let Some(text) = servers.text(&file) {
                servers.add_file(Scope::Project, &file, &text);
            }
        }
        if let Some((config, text, file)) = &user {
            servers.add(Scope::User, file, text, &["mcpServers"], config.servers);
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

    /// How a server is started or reached. If the client says which scope it is from, only that entry counts.
    pub fn identity(&self, name: &str, scope: Option<&str>) -> ConfiguredIdentity {
        let scope = match scope {
            Some("managed" | "enterprise") => Some(Scope::Managed),
            Some("local") => Some(Scope::Local),
            Some("project") => Some(Scope::Project),
            Some("user") => Some(Scope::User),
            // These come from the command line or from elsewhere, and have no file.
            Some("dynamic" | "claudeai" | "sdk") => return ConfiguredIdentity::Missing,
            _ => None,
        };
        let is_named = |entry: &&Configured| entry.name == name && scope.is_none_or(|scope| scope == entry.scope);
        match self.entries.iter().find(is_named) {
            Some(entry) => entry.identity().map_or(ConfiguredIdentity::Unreadable, ConfiguredIdentity::Known),
            None if self.flaws.is_empty() => ConfiguredIdentity::Missing,
            None => ConfiguredIdentity::Unreadable,
        }
    }

    fn text(&mut self, file: &Path) -> Option<String> {
        read_settings_text(file).unwrap_or_else(|what| {
            self.flaws.push(what);
            None
        })
    }

    fn parse<'a>(&mut self, file: &Path, text: &'a str) -> Option<ConfigFile<'a>> {
        let (at, config) = match ConfigFile::parse(text) {
            Err(error) => (format!(":{}:{}", error.line().max(1), error.column().max(1)), Err(error)),
            Ok(config) => (String::new(), Ok(config)),
        };
        self.checked(Path::new(&format!("{}{at}", file.display())), config)
    }

    /// The value of a result; an error becomes a flaw of `file`.
    fn checked<T>(&mut self, file: &Path, result: serde_json::Result<T>) -> Option<T> {
        let describe = |error: serde_json::Error| match error.classify() {
            // The message of a data error may quote the file.
            Category::Data => "expected a JSON object without repeated names".to_owned(),
            Category::Io | Category::Syntax | Category::Eof => {
                let words = error.to_string();
                words.rsplit_once(" at line ").map_or(words.as_str(), |(what, _)| what).to_owned()
            }
        };
        result.map_err(|error| self.flaws.push(format!("{}: {}", file.display(), describe(error)))).ok()
    }

    fn add_file(&mut self, scope: Scope, file: &Path, text: &str) {
        if let Some(config) = self.parse(file, text) {
            self.add(scope, file, text, &["mcpServers"], config.servers);
        }
    }

    /// Adds the members of the object `servers`, which is at `path` of the file.
    fn add(&mut self, scope: Scope, file: &Path, text: &str, path: &[&str], servers: Option<&RawValue>) {
        for (name, raw) in self.checked(file, members(servers)).unwrap_or_default() {
            let steps: Vec<String> = path.iter().map(|step| (*step).to_owned()).chain([name.clone()]).collect();
            let launch = serde_json::from_str(raw.get()).map_err(|_| "the entry is not valid JSON".to_owned());
            let launch = launch.and_then(|entry| Launch::read(&entry)).map_err(|what| {
                let at = locate(text, steps.iter().map(String::as_str));
                let at = at.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
                format!("{}{at}: {what}", file.display())
            });
            let (file, entry) = (file.to_owned(), raw.get().to_owned());
            self.entries.push(Configured { name, scope, file, steps, entry, launch, plugin: None });
        }
    }

    /// Adds the servers of plugins that are installed and enabled.
    fn add_plugins(&mut self, environment: &Environment, here: &Path) {
        let Some(client) = &environment.client_dir else { return };
        let enabled = self.enabled_plugins(client, here);
        if !enabled.values().any(|on| *on) {
            return;
        }
        let installed = self.document(&client.join("plugins/installed_plugins.json"));
        let known = self.document(&client.join("plugins/known_marketplaces.json"));
        for id in enabled.iter().filter(|(_, on)| **on).map(|(id, _)| id) {
            let (name, market) = id.split_once('@').unwrap_or((id, ""));
            let marketplace = known.as_ref().and_then(|known| known.at(&pointer(&[market])).cloned());
            let root = match marketplace
                .filter(|market| market.pointer("/source/source").is_some_and(|kind| kind == "directory"))
            {
                // The client runs these from their own directory, not from its copy.
                Some(market) => self.local_plugin_root(name, &market),
                None => installed.as_ref().and_then(|all| {
                    let copies = all.at(&pointer(&["plugins", id]))?.as_array()?;
                    let here = |copy: &&Value| copy["projectPath"].as_str().is_none_or(|path| here.starts_with(path));
                    copies.iter().filter(here).find_map(|copy| copy["installPath"].as_str()).map(PathBuf::from)
                }),
            };
            if let Some(root) = root {
                self.add_plugin(&Plugin { id: id.clone(), root });
            }
        }
    }

    /// The directory of a plugin from a marketplace on this machine.
    fn local_plugin_root(&mut self, name: &str, market: &Value) -> Option<PathBuf> {
        let folder = PathBuf::from(market["installLocation"].as_str()?);
        let list = self.document(&folder.join(".claude-plugin/marketplace.json"))?;
        let plugins = list.at("/plugins")?.as_array()?;
        let source = plugins.iter().find(|plugin| plugin["name"] == name)?["source"].as_str()?;
        Some(folder.join(source))
    }

    fn add_plugin(&mut self, plugin: &Plugin) {
        let first = self.entries.len();
        let manifest = plugin.root.join(".claude-plugin/plugin.json");
        let mut files = vec![plugin.root.join(".mcp.json")];
        if let Some(text) = self.text(&manifest) {
            // The manifest contains servers, or names the files that do.
            if let Some(config) = self.parse(&manifest, &text) {
                files.extend(config.server_files().into_iter().map(|file| plugin.root.join(file)));
                self.add(Scope::Plugin, &manifest, &text, &["mcpServers"], config.servers);
            }
        }
        for file in files {
            let Some(text) = self.text(&file) else { continue };
            let Some(config) = self.parse(&file, &text) else { continue };
            if config.servers.is_some() {
                self.add(Scope::Plugin, &file, &text, &["mcpServers"], config.servers);
            } else {
                // A plugin's file may omit `mcpServers` and be the object of servers itself.
                let whole = serde_json::from_str(text.trim_start_matches('\u{feff}')).ok();
                self.add(Scope::Plugin, &file, &text, &[], whole);
            }
        }
        for server in self.entries.iter_mut().skip(first) {
            server.name = format!("plugin:{}:{}", plugin.name(), server.name);
            server.plugin = Some(plugin.clone());
        }
    }

    /// The plugins that the settings enable or disable; the strongest file wins.
    fn enabled_plugins(&mut self, client: &Path, here: &Path) -> BTreeMap<String, bool> {
        let project = git_root(here);
        let files = [
            client.join("settings.json"),
            project.join(".claude/settings.json"),
            project.join(".claude/settings.local.json"),
            PathBuf::from(MANAGED),
        ];
        let mut enabled = BTreeMap::new();
        for file in files {
            let Some(document) = self.document(&file) else { continue };
            let switches = document.at("/enabledPlugins").and_then(Value::as_object).into_iter().flatten();
            enabled.extend(switches.map(|(id, on)| (id.clone(), on.as_bool().unwrap_or(true))));
        }
        enabled
    }

    fn document(&mut self, file: &Path) -> Option<Document> {
        let text = self.text(file)?;
        let document = Document::read(&text).map_err(|broken| {
            self.flaws.push(format!("{}:{}:{}: {}", file.display(), broken.line, broken.column, broken.what));
        });
        document.ok()
    }
}

/// A JSON pointer of these member names.
fn pointer(steps: &[&str]) -> String {
    steps.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
}

/// The file of a user's servers: next to the client's directory if that is the default one, else inside it.
fn user_file(environment: &Environment) -> Option<PathBuf> {
    let client = environment.client_dir.as_ref()?;
    let default = environment.home.as_ref().filter(|home| **client == home.join(".claude"));
    let inside = client.join(".claude.json");
    // `CLAUDE_CONFIG_DIR` may also name the default directory, and then the file is inside it.
    Some(default.filter(|_| !inside.exists()).map_or(inside, |home| home.join(".claude.json")))
}

/// The client's project of a directory: the repository that contains it, else the directory itself.
fn git_root(here: &Path) -> PathBuf {
    here.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(here).to_owned()
}

#[cfg(test)]
#[path = "../../../tests/unit/runtime/mcp/servers.rs"]
mod tests;
