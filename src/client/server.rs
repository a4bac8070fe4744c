//! MCP servers in the configuration of a client.

use super::settings::{FileError, Scope};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One server, as a file names it.
#[derive(Clone, Debug, PartialEq)]
pub struct Server {
    /// Its name, as the client shows it.
    pub name: String,
    /// The entry itself, with unexpanded variables: its identity is computed from it.
    pub entry: Value,
    /// The names that lead to the entry in the file.
    pub steps: Vec<String>,
    /// How it is reached, or the fault of the entry.
    pub launch: Result<Launch, String>,
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

impl std::fmt::Debug for LaunchContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LaunchContext").field("project", &self.project).finish_non_exhaustive()
    }
}

/// The part of a file that names servers.
#[derive(Clone, Copy, Debug)]
pub enum ServerSection<'a> {
    /// The servers of the file itself.
    All,
    /// The servers that a user has added for one project.
    Project(&'a str),
}

/// The entries of servers in a file, as bytes.
#[derive(Clone, Debug, Default)]
pub struct RawServers<'a> {
    /// The servers of each project that was asked for, by name.
    pub projects: Vec<(String, &'a [u8])>,
    /// The servers of the file itself, by name.
    pub all: Vec<(String, &'a [u8])>,
    /// The fault of the file, where it cannot be relied upon.
    pub flaw: Option<String>,
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

/// Where a client found a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerOrigin {
    /// In a file of this scope.
    Scope(Scope),
    /// On the command line or in another place that is not a file.
    NoFile,
    /// The client does not say.
    Unknown,
}
