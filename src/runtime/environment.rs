//! The world around the process: directories, the project, the clock.

use super::options::Dirs;
use rune::client::settings::SettingsDirs;
use rune::client::{self, Client};
use rune::event::{Event, Message};
use std::env;
use std::path::{Path, PathBuf};
use time::OffsetDateTime;

/// What the process knows of its surroundings. Nothing is looked up in a user database: a home that the
/// environment does not name is unknown.
#[derive(Clone, Debug)]
pub struct Environment {
    pub client: &'static dyn Client,
    pub home: Option<PathBuf>,
    pub config_dir: Option<PathBuf>,
    pub state_dir: Option<PathBuf>,
    pub data_dir: Option<PathBuf>,
    pub client_dir: Option<PathBuf>,
    /// The client's directory is named on the command line, where no project can name it.
    pub client_dir_given: bool,
    /// The directory that the client calls its project.
    pub project: Option<PathBuf>,
    /// `QUARANTINE_DISABLE=1` is set, by whomever.
    pub silence_wanted: bool,
}

impl Environment {
    /// The environment of a command that is not run by a client.
    pub fn look(dirs: &Dirs) -> Environment {
        Environment::of(client::DEFAULT, dirs)
    }

    /// The environment of a hook that a client runs.
    pub fn of(client: &'static dyn Client, dirs: &Dirs) -> Environment {
        let locations = client.locations();
        let home = absolute("HOME");
        let under = |variable: &str, default: &str| {
            let base = absolute(variable).or_else(|| home.as_ref().map(|home| home.join(default)));
            base.map(|base| base.join("rune"))
        };
        Environment {
            config_dir: dirs.config.clone().or_else(|| under("XDG_CONFIG_HOME", ".config")),
            state_dir: dirs.state.clone().or_else(|| under("XDG_STATE_HOME", ".local/state")),
            data_dir: dirs.data.clone().or_else(|| under("XDG_DATA_HOME", ".local/share")),
            client_dir: dirs
                .client
                .clone()
                .or_else(|| absolute(locations.dir_variable))
                .or_else(|| home.as_ref().map(|home| home.join(locations.default_dir))),
            client_dir_given: dirs.client.is_some(),
            project: locations.project_variable.and_then(absolute),
            silence_wanted: env::var_os("QUARANTINE_DISABLE").is_some_and(|value| value == "1"),
            client,
            home,
        }
    }

    /// The directories that hold the client's settings in a project.
    pub fn settings_dirs<'a>(&'a self, project: &'a Path) -> SettingsDirs<'a> {
        let managed = Path::new(self.client.locations().managed_dir);
        SettingsDirs { client: self.client_dir.as_deref(), project, managed }
    }

    /// The file that holds the user's MCP servers.
    pub fn user_server_file(&self) -> Option<PathBuf> {
        let mut files = self.client.user_server_files(self.client_dir.as_ref()?, self.home.as_deref());
        let last = files.pop()?;
        Some(files.into_iter().find(|file| file.exists()).unwrap_or(last))
    }

    /// The file that names the machine's MCP servers.
    pub fn managed_server_file(&self) -> PathBuf {
        let locations = self.client.locations();
        Path::new(locations.managed_dir).join(locations.managed_servers)
    }

    /// The same as a hook sees it that is told these directories.
    pub fn told(&self, dirs: &Dirs) -> Environment {
        Environment {
            config_dir: dirs.config.clone().or_else(|| self.config_dir.clone()),
            state_dir: dirs.state.clone().or_else(|| self.state_dir.clone()),
            data_dir: dirs.data.clone().or_else(|| self.data_dir.clone()),
            client_dir: dirs.client.clone().or_else(|| self.client_dir.clone()),
            client_dir_given: dirs.client.is_some(),
            ..self.clone()
        }
    }

    /// The event that a message of a client is about, on this machine.
    pub fn locate<'a>(&self, message: Message<'a>) -> Event<'a> {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        message.locate(self.home.as_ref().map(text), self.project.as_ref().map(text))
    }

    /// The project that a call in `cwd` is part of.
    pub fn project_of(&self, cwd: &str) -> Option<PathBuf> {
        self.project.clone().or_else(|| Some(PathBuf::from(cwd)).filter(|cwd| cwd.is_absolute()))
    }

    /// The files and directories of the guard itself.
    pub fn own(&self) -> Vec<PathBuf> {
        let names = self.client.locations().settings_names.iter().chain(&["telemetry.jsonl", "quarantine.d"]);
        let client = self.client_dir.iter().flat_map(|dir| names.clone().map(|name| dir.join(name)));
        let dirs = [&self.config_dir, &self.state_dir, &self.data_dir].into_iter().flatten().cloned();
        dirs.chain(client).chain(program()).collect()
    }

    /// The directories whose files the client may take for the project's: the project, the directory of the call and
    /// that of the process, by name and in reality, and what lies above them.
    pub fn project_dirs(&self, cwd: &str) -> Vec<PathBuf> {
        let mut dirs: Vec<PathBuf> = Vec::new();
        let named = self.project.clone().into_iter().chain([PathBuf::from(cwd)]).filter(|start| start.is_absolute());
        let named: Vec<PathBuf> = named.chain(env::current_dir()).collect();
        let real: Vec<PathBuf> = named.iter().filter_map(|start| start.canonicalize().ok()).collect();
        for start in named.iter().chain(&real) {
            for dir in start.ancestors().map(Path::to_owned) {
                if !dirs.contains(&dir) {
                    dirs.push(dir);
                }
            }
        }
        dirs
    }
}

/// The time, also on a machine whose clock stands before 1970.
pub fn now() -> OffsetDateTime {
    OffsetDateTime::from(std::time::SystemTime::now())
}

/// Where this program lies: where the name leads that it was started by, as hooks are registered. A look into `/proc`,
/// where that does not tell, costs more than all other files of a call.
fn program() -> Option<PathBuf> {
    let named = env::args_os().next().map(PathBuf::from).filter(|path| path.is_absolute());
    named.and_then(|path| path.canonicalize().ok()).or_else(|| env::current_exe().ok())
}

fn absolute(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}
