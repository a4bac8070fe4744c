//! MCP servers in the configuration of a client.

use super::settings::FileError;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// One server, as a file names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Its name, as the client shows it.
    pub name: String,
    /// The entry as JSON, with unexpanded variables: its identity is computed from it.
    pub entry: String,
    /// The names that lead to the entry in the file.
    pub steps: Vec<String>,
    /// How it is reached, or the fault of the entry.
    pub launch: Result<Launch, FileError>,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Launch {
    /// A program that speaks on its standard streams.
    Stdio {
        /// The program, a path or a name.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that are added to the environment of the client.
        env: BTreeMap<String, String>,
        /// The working directory, if the file names one.
        cwd: Option<String>,
    },
    /// A service at an address.
    Http {
        /// The address.
        url: String,
        /// Headers that every request carries.
        headers: BTreeMap<String, String>,
        /// Whether only the old transport, server-sent events, is supported.
        sse: bool,
    },
}

/// The circumstances in which a server is started.
#[derive(Clone, Copy)]
pub struct LaunchContext<'a> {
    /// The project.
    pub project: &'a Path,
    /// The directory of the plugin that the server belongs to.
    pub plugin_root: Option<&'a Path>,
    /// The environment of the process.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

/// The servers in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerFile {
    /// The servers that a user has added for the projects that were asked for.
    pub projects: Vec<Server>,
    /// The servers of the file itself.
    pub all: Vec<Server>,
    /// The parts that could not be parsed. Any of them may name a server.
    pub errors: Vec<FileError>,
}

/// An installed plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledPlugin {
    /// Its name, and `@` and the name of its marketplace.
    pub id: String,
    /// Its directory.
    pub root: PathBuf,
}

/// The servers of all plugins.
#[derive(Debug, Default)]
pub struct PluginServers {
    /// Each server with its plugin and its file.
    pub servers: Vec<(InstalledPlugin, PathBuf, Server)>,
    /// The files that could not be parsed.
    pub errors: Vec<(PathBuf, FileError)>,
}

/// The scope of a server, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerScope {
    /// The machine's administrator names it.
    Managed,
    /// A user has added it for one project.
    Local,
    /// A project names it.
    Project,
    /// A user has added it for all projects.
    User,
    /// A plugin brings it.
    Plugin,
}

impl fmt::Display for ServerScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ServerScope::Managed => "managed",
            ServerScope::Local => "local",
            ServerScope::Project => "project",
            ServerScope::User => "user",
            ServerScope::Plugin => "plugin",
        })
    }
}

/// Where a client found a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOrigin {
    /// In a file of this scope.
    Scope(ServerScope),
    /// On the command line or in another place that is not a file.
    NoFile,
    /// The client does not say.
    Unknown,
}

/// How a client introduces itself to MCP servers. What a server serves may depend on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Introduction {
    /// The protocol version that it offers.
    pub protocol_version: &'static str,
    /// Its name and version.
    pub client_info: Value,
    /// Its capabilities.
    pub capabilities: Value,
}

impl Introduction {
    /// The parameters of `initialize`.
    pub fn params(&self) -> Value {
        let Introduction { protocol_version, client_info, capabilities } = self;
        json!({"protocolVersion": protocol_version, "clientInfo": client_info, "capabilities": capabilities})
    }
}
