//! The process environment: directories, the project, the clock.

use super::options::Dirs;
use rune::client::Locations;
use rune::client::settings::SettingsDirs;
use rune::client::{self, Client};
use rune::event::{Event, Message};
use rune::programs::Catalogue;
use std::env;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;

/// Directories and switches from environment variables and the command line. The user database is not read: without
/// `HOME`, the home directory is unknown.
#[derive(Clone, Debug)]
pub struct Environment {
    pub client: &'static dyn Client,
    pub home: Option<PathBuf>,
    pub config_dir: Option<PathBuf>,
    pub state_dir: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
    pub client_dir: Option<PathBuf>,
    /// The directory of the log, which is the same for all clients.
    pub log_dir: Option<PathBuf>,
    /// Whether `client_dir` comes from the command line, which a project cannot change.
    pub client_dir_given: bool,
    /// The client's project directory.
    pub project: Option<PathBuf>,
    /// The current directory, in which the client runs the hook.
    pub current_dir: Option<PathBuf>,
    /// Whether `QUARANTINE_DISABLE=1` is set, by the operator or by the project.
    pub quarantine_disabled: bool,
    /// Whether the client runs headless, so that no person can answer a prompt.
    pub unattended: bool,
}

impl Environment {
    /// Reads the environment variables for a command that is not run by a client.
    pub fn read(dirs: &Dirs) -> Environment {
        Environment::of(client::DEFAULT, dirs)
    }

    /// Reads the environment variables for a hook that `client` runs. Directories on the command line take precedence.
    pub fn of(client: &'static dyn Client, dirs: &Dirs) -> Environment {
        let locations = client.locations();
        let home = absolute("HOME");
        let under = |variable: &str, default: &str| {
            let base = absolute(variable).or_else(|| home.as_ref().map(|home| home.join(default)));
            base.map(|base| base.join("rune"))
        };
        let directory_of = |locations: &Locations| {
            let default = home.as_ref().map(|home| home.join(locations.default_dir));
            absolute(locations.dir_variable).or(default)
        };
        let environment = Environment {
            config_dir: under("XDG_CONFIG_HOME", ".config"),
            state_dir: under("XDG_STATE_HOME", ".local/state"),
            data_dir: under("XDG_DATA_HOME", ".local/share"),
            client_dir: directory_of(locations),
            log_dir: directory_of(client::DEFAULT.locations()),
            client_dir_given: false,
            project: locations.project_variable.and_then(absolute),
            current_dir: env::current_dir().ok(),
            // Other clients take variables from files of the project.
            quarantine_disabled: client.name() == client::DEFAULT.name()
                && env::var_os("QUARANTINE_DISABLE").is_some_and(|value| value == "1"),
            unattended: locations.attended_variable.is_some_and(|name| env::var_os(name).is_some_and(|on| on == "0")),
            client,
            home,
        };
        environment.with_dirs(dirs)
    }

    /// The directories that contain the client's settings for a project.
    pub fn settings_dirs<'a>(&'a self, project: &'a Path) -> SettingsDirs<'a> {
        let managed = Path::new(self.client.locations().managed_dir);
        SettingsDirs { client: self.client_dir.as_deref(), project, managed }
    }

    /// The file that contains the user's MCP servers.
    pub fn user_server_file(&self) -> Option<PathBuf> {
        let mut files = self.client.user_server_files(self.client_dir.as_ref()?, self.home.as_deref());
        let last = files.pop()?;
        Some(files.into_iter().find(|file| file.exists()).unwrap_or(last))
    }

    /// The file that contains the MCP servers of the machine.
    pub fn managed_server_file(&self) -> PathBuf {
        let locations = self.client.locations();
        Path::new(locations.managed_dir).join(locations.managed_servers)
    }

    /// The environment of a hook that has these directories on its command line.
    pub fn with_dirs(&self, dirs: &Dirs) -> Environment {
        Environment {
            config_dir: dirs.config.clone().or_else(|| self.config_dir.clone()),
            state_dir: dirs.state.clone().or_else(|| self.state_dir.clone()),
            data_dir: dirs.data.clone().or_else(|| self.data_dir.clone()),
            client_dir: dirs.client.clone().or_else(|| self.client_dir.clone()),
            client_dir_given: dirs.client.is_some(),
            log_dir: dirs
                .client
                .clone()
                .filter(|_| self.client.name() == client::DEFAULT.name())
                .or_else(|| self.log_dir.clone()),
            ..self.clone()
        }
    }

    /// The environment of the client that a log line names.
    pub fn of_logged(&self, name: &str) -> Environment {
        match client::named(name).filter(|client| client.name() != self.client.name()) {
            Some(client) => {
                let dirs = [&self.config_dir, &self.state_dir, &self.data_dir].map(Clone::clone);
                let [config, state, data] = dirs;
                let project = self.project.clone();
                Environment { project, ..Environment::of(client, &Dirs { config, state, data, client: None }) }
            }
            None => self.clone(),
        }
    }

    /// The directories of the guard and of the client, by the options that name them.
    pub fn dirs(&self) -> [(&'static str, Option<&Path>); 4] {
        [
            ("--config-dir", self.config_dir.as_deref()),
            ("--state-dir", self.state_dir.as_deref()),
            ("--data-dir", self.data_dir.as_deref()),
            ("--client-dir", self.client_dir.as_deref()),
        ]
    }

    /// Completes a message to an event, with the home directory and the project of this environment.
    pub fn locate<'a>(&self, message: Message<'a>, catalogue: &Catalogue) -> Event<'a> {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        message.into_event(self.home.as_ref().map(text), self.project.as_ref().map(text), catalogue)
    }

    pub fn project_for(&self, cwd: &str) -> Option<PathBuf> {
        self.project.clone().or_else(|| Some(PathBuf::from(cwd)).filter(|cwd| cwd.is_absolute()))
    }

    /// The files and directories that belong to the guard.
    pub fn guard_paths(&self) -> Vec<PathBuf> {
        let names = self.client.locations().settings_names.iter().chain(&["telemetry.jsonl", "quarantine.d"]);
        let client = self.client_dir.iter().flat_map(|dir| names.clone().map(|name| dir.join(name)));
        let dirs = [&self.config_dir, &self.state_dir, &self.data_dir].into_iter().flatten().cloned();
        dirs.chain(client).chain(program()).collect()
    }

    /// The directories in which the client may look for project files: the project, `cwd` and the current directory, with
    /// symlinks and resolved, and all their ancestors.
    pub fn project_dirs(&self, cwd: &str) -> Vec<PathBuf> {
        let mut dirs: Vec<PathBuf> = Vec::new();
        let starts = self.project.clone().into_iter().chain([PathBuf::from(cwd)]).filter(|start| start.is_absolute());
        let starts: Vec<PathBuf> = starts.chain(self.current_dir.clone()).collect();
        let resolved: Vec<PathBuf> = starts.iter().filter_map(|start| start.canonicalize().ok()).collect();
        for start in starts.iter().chain(&resolved) {
            for dir in start.ancestors().map(Path::to_owned) {
                if !dirs.contains(&dir) {
                    dirs.push(dir);
                }
            }
        }
        dirs
    }
}

/// The current time. Works for a clock before 1970 as well.
pub fn now() -> OffsetDateTime {
    OffsetDateTime::from(std::time::SystemTime::now())
}

/// The path of this program: `argv[0]` if it is absolute, as in a registered hook. Otherwise `/proc` is read, which takes
/// longer than reading all other files of a call.
fn program() -> Option<PathBuf> {
    let named = env::args_os().next().map(PathBuf::from).filter(|path| path.is_absolute());
    named.and_then(|path| path.canonicalize().ok()).or_else(|| env::current_exe().ok())
}

fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
