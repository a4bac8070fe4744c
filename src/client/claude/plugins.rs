//! Plugins of Claude Code: the MCP servers of those that are installed, and the plugin that registers the guard.

use super::servers;
use crate::client::Client;
use crate::client::registration::{PluginFiles, Registration};
use crate::client::server::{InstalledPlugin, PluginServers, Server, ServerFile};
use crate::client::settings::{FileError, Scope, SettingsDirs};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const SKILL: &str = include_str!("../../../config/plugin/skill.md");
const COMMAND: &str = include_str!("../../../config/plugin/command.md");

/// The manifest of a plugin.
const MANIFEST: &str = ".claude-plugin/plugin.json";

/// The files of the plugin that registers the guard.
pub(super) fn own_plugin(registration: &Registration) -> Result<PluginFiles, FileError> {
    let manifest = serde_json::json!({
        "name": "rune",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "A guard around each tool call: allows, asks, denies, and marks what strangers have written",
    });
    let mut files = vec![
        (MANIFEST, format!("{manifest:#}\n")),
        ("hooks/hooks.json", super::register::install(registration, "", None)?),
    ];
    files.extend(user_files(registration));
    Ok(PluginFiles { manifest: MANIFEST, files, start_command: "claude --plugin-dir" })
}

/// The slash command and the skill.
pub(super) fn user_files(registration: &Registration) -> Vec<(&'static str, String)> {
    let program = crate::shell::quote_word(&registration.program);
    vec![("commands/rune.md", COMMAND.replace("{program}", &program)), ("skills/quarantine/SKILL.md", SKILL.to_owned())]
}

/// Whether a manifest is that of the guard's plugin.
pub(super) fn is_own_plugin(manifest: &str) -> bool {
    let manifest: Value = serde_json::from_str(manifest).unwrap_or_default();
    manifest.get("name").and_then(Value::as_str) == Some("rune")
}

/// The servers of the plugins that are installed and enabled for `here`.
pub(super) fn servers(
    client: &dyn Client,
    dirs: &SettingsDirs<'_>,
    here: &Path,
    read: &mut dyn FnMut(&Path) -> Option<String>,
) -> PluginServers {
    let mut reader = Reader { read, found: PluginServers::default() };
    for plugin in reader.installed(client, dirs, here) {
        reader.add_plugin(&plugin);
    }
    reader.found
}

/// Whether a hook of the plugins that are installed and enabled for `here` may answer permission prompts.
pub(super) fn answer_prompts(
    client: &dyn Client,
    dirs: &SettingsDirs<'_>,
    here: &Path,
    read: &mut dyn FnMut(&Path) -> Option<String>,
) -> bool {
    let mut reader = Reader { read, found: PluginServers::default() };
    reader.installed(client, dirs, here).into_iter().any(|plugin| {
        let manifest = (reader.read)(&plugin.root.join(MANIFEST)).unwrap_or_default();
        let named = serde_json::from_str::<Value>(&manifest).ok().and_then(|manifest| manifest.get("hooks").cloned());
        let files: Vec<String> = match named {
            Some(Value::String(file)) => vec![file],
            Some(Value::Array(files)) => files.iter().filter_map(|file| file.as_str().map(str::to_owned)).collect(),
            _ => Vec::new(),
        };
        let texts = files
            .into_iter()
            .chain(["hooks/hooks.json".to_owned()])
            .filter_map(|file| (reader.read)(&plugin.root.join(file)));
        texts.collect::<Vec<_>>().iter().chain([&manifest]).any(|text| text.contains("PermissionRequest"))
    })
}

/// Reads the files of plugins and collects their servers.
struct Reader<'a> {
    read: &'a mut dyn FnMut(&Path) -> Option<String>,
    found: PluginServers,
}

impl Reader<'_> {
    fn document(&mut self, file: &Path) -> Option<Value> {
        let text = (self.read)(file)?;
        servers::document(&text).map_err(|error| self.found.errors.push((file.to_owned(), error))).ok()
    }

    /// The plugins that are installed and enabled.
    fn installed(&mut self, client: &dyn Client, dirs: &SettingsDirs<'_>, here: &Path) -> Vec<InstalledPlugin> {
        let Some(dir) = dirs.client else { return Vec::new() };
        let enabled = self.enabled(client, dirs);
        if enabled.is_empty() {
            return Vec::new();
        }
        let installed = self.document(&dir.join("plugins/installed_plugins.json"));
        let marketplaces = self.document(&dir.join("plugins/known_marketplaces.json"));
        let mut plugins = Vec::new();
        for id in enabled {
            let (name, marketplace) = id.split_once('@').unwrap_or((&id, ""));
            let marketplace = marketplaces.as_ref().and_then(|known| known.get(marketplace));
            let is_directory =
                |market: &&Value| market.pointer("/source/source").is_some_and(|kind| kind == "directory");
            let root = match marketplace.filter(is_directory) {
                // The client uses these in place, not its copy.
                Some(marketplace) => self.development_root(name, marketplace),
                None => installed.as_ref().and_then(|installed| installed_root(installed, &id, here)),
            };
            plugins.extend(root.map(|root| InstalledPlugin { id, root }));
        }
        plugins
    }

    /// The plugins that settings enable, by name. Of several files the strongest decides.
    fn enabled(&mut self, client: &dyn Client, dirs: &SettingsDirs<'_>) -> Vec<String> {
        let mut enabled = BTreeMap::new();
        for file in Scope::NAMED.into_iter().filter_map(|scope| client.settings_file(scope, dirs)) {
            let Some(document) = self.document(&file) else { continue };
            let switches = document.get("enabledPlugins").and_then(Value::as_object).into_iter().flatten();
            enabled.extend(switches.map(|(id, on)| (id.clone(), on.as_bool().unwrap_or(true))));
        }
        enabled.into_iter().filter(|(_, on)| *on).map(|(id, _)| id).collect()
    }

    /// The directory of a plugin in a marketplace on this machine.
    fn development_root(&mut self, name: &str, marketplace: &Value) -> Option<PathBuf> {
        let folder = PathBuf::from(marketplace.get("installLocation")?.as_str()?);
        let list = self.document(&folder.join(".claude-plugin/marketplace.json"))?;
        let plugins = list.get("plugins")?.as_array()?;
        let plugin = plugins.iter().find(|plugin| plugin.get("name").is_some_and(|known| known == name))?;
        Some(folder.join(plugin.get("source")?.as_str()?))
    }

    fn add_plugin(&mut self, plugin: &InstalledPlugin) {
        let manifest = plugin.root.join(MANIFEST);
        let mut files = vec![plugin.root.join(".mcp.json")];
        if let Some(text) = (self.read)(&manifest) {
            // The manifest contains servers, or names the files that do.
            files.extend(servers::server_files(&text).into_iter().map(|file| plugin.root.join(file)));
            self.add(plugin, &manifest, servers::read(&text, &[]));
        }
        for file in files {
            if let Some(text) = (self.read)(&file) {
                self.add(plugin, &file, servers::read_plugin_file(&text));
            }
        }
    }

    fn add(&mut self, plugin: &InstalledPlugin, file: &Path, servers: ServerFile) {
        let name = plugin.id.split_once('@').map_or(&*plugin.id, |(name, _)| name);
        self.found.errors.extend(servers.errors.into_iter().map(|error| (file.to_owned(), error)));
        self.found.servers.extend(servers.all.into_iter().map(|server| {
            let server = Server { name: format!("plugin:{name}:{}", server.name), ..server };
            (plugin.clone(), file.to_owned(), server)
        }));
    }
}

/// The directory of the installed copy of a plugin that counts in `here`.
fn installed_root(installed: &Value, id: &str, here: &Path) -> Option<PathBuf> {
    let copies = installed.get("plugins")?.get(id)?.as_array()?;
    let text = |copy: &Value, name: &str| copy.get(name).and_then(Value::as_str).map(PathBuf::from);
    let counts = |copy: &&Value| text(copy, "projectPath").is_none_or(|project| here.starts_with(project));
    copies.iter().filter(counts).find_map(|copy| text(copy, "installPath"))
}
