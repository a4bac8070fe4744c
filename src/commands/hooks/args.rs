//! The options of `rune hooks`, and the settings file that they name.

use crate::commands::current_dir;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::DONE;
use crate::runtime::options::Dirs;
use anyhow::{Context, bail, ensure};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use rune::client::settings::{Scope, SettingsDirs};
use rune::client::{self, Client};
use std::path::{Path, PathBuf};

/// Registers the guard in a client's settings, or changes how it is registered
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune hooks install --preset strict\n  rune hooks install --preset gentle --scope project --dry-run\n  rune hooks install --preset off\n\n\
The client must be Claude Code 2.1.139 or newer. For the user's own settings, the slash command `/rune` and the skill \
`quarantine` are written too.\n\nOnly Rune's entries are changed. The file as it was before the first of them is kept beside it as *.before-rune."
)]
pub struct InstallArgs {
    /// gentle, strict, a file of your own in presets/, or off, which removes the entries [default: what is registered, else what the policy names, else gentle]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Show the guard in the client's status bar as well, unless it shows something else; removed with the entries
    #[arg(long)]
    pub statusline: bool,
    /// Write a plugin for the client into this directory instead of a settings file
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scope", "settings"])]
    pub plugin: Option<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Args)]
pub struct TargetArgs {
    /// The client to register with: one, all, or those that are found on this machine
    #[arg(long, value_name = "NAME", default_value = DETECTED, value_parser = client_names_or_several())]
    pub client: String,
    /// Whose settings: yours, the project's, yours for this project, or the machine's
    #[arg(long, default_value = Scope::User.name(), value_parser = scope_parser())]
    pub scope: Scope,
    /// The settings file itself
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    pub settings: Option<PathBuf>,
    /// Show the changes without making them
    #[arg(long)]
    pub dry_run: bool,
    /// Loosen the guard although stdin is not a terminal; the process still needs a controlling terminal
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub dirs: DirArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Directories that the hook uses, absolute")]
pub struct DirArgs {
    /// The policy [default: $XDG_CONFIG_HOME/rune]
    #[arg(long, value_name = "DIR")]
    pub config_dir: Option<PathBuf>,
    /// Session files [default: $XDG_STATE_HOME/rune]
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
    /// Kept data [default: $XDG_DATA_HOME/rune]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    #[arg(long, value_name = "DIR", help = client_dir_help("The client's directory"))]
    pub client_dir: Option<PathBuf>,
}

/// The help of an option for the client's directory, with the default.
pub fn client_dir_help(what: &str) -> String {
    let locations = client::DEFAULT.locations();
    format!("{what} [default: ${} or ~/{}]", locations.dir_variable, locations.default_dir)
}

/// The word for every client, and the one for those that are found.
const EVERY: &str = "all";
const DETECTED: &str = "detected";

fn client_names_or_several() -> PossibleValuesParser {
    PossibleValuesParser::new(client::ALL.iter().map(|client| client.name()).chain([EVERY, DETECTED]))
}

pub fn client_parser() -> impl TypedValueParser<Value = &'static dyn Client> {
    let names = PossibleValuesParser::new(client::ALL.iter().map(|client| client.name()));
    names.map(|name| client::named(&name).unwrap_or(client::DEFAULT))
}

fn scope_parser() -> impl TypedValueParser<Value = Scope> {
    let scope = |name: String| Scope::NAMED.into_iter().find(|scope| scope.name() == name).unwrap_or(Scope::User);
    PossibleValuesParser::new(Scope::NAMED.map(Scope::name)).map(scope)
}

/// The settings file of one client that a command changes.
pub struct Target<'a> {
    pub args: &'a TargetArgs,
    pub environment: Environment,
}

impl Target<'_> {
    pub fn path(&self) -> anyhow::Result<PathBuf> {
        let here = current_dir()?;
        let client = self.environment.client;
        match &self.args.settings {
            Some(file) => Ok(here.join(file)),
            None => settings_file(self.args.scope, &self.environment.settings_dirs(&project(client, &here)), client),
        }
    }
}

impl TargetArgs {
    /// Runs a command for the clients that were named. What fails for one of several is reported after all of them.
    pub fn for_each_client(&self, command: impl Fn(&Target<'_>) -> anyhow::Result<()>) -> anyhow::Result<u8> {
        let targets = self.targets()?;
        if let [target] = targets.as_slice() {
            return command(target).map(|()| DONE);
        }
        for target in &targets {
            say!("{}: {}", target.environment.client.name(), target.path()?.display())?;
        }
        let failed = |target: &Target<'_>| {
            let error = command(target).err()?;
            Some(format!("{}: {error:#}", target.environment.client.name()))
        };
        let failed: Vec<String> = targets.iter().filter_map(failed).collect();
        ensure!(failed.is_empty(), "{}", failed.join("\n"));
        Ok(DONE)
    }

    /// Whether the entries go to the user's own settings.
    pub fn is_user(&self) -> bool {
        self.settings.is_none() && self.scope == Scope::User
    }

    /// The clients that were named, each with its environment. Of several, those without a file of the scope are left out.
    fn targets(&self) -> anyhow::Result<Vec<Target<'_>>> {
        let target = |client: &&'static dyn Client| {
            anyhow::Ok(Target { args: self, environment: self.dirs.environment_of(*client)? })
        };
        // A file or a directory that is named belongs to one client.
        let is_one = self.settings.is_some() || self.dirs.client_dir.is_some();
        let named = client::ALL.iter().filter(|client| client.name() == self.client);
        let targets: Vec<Target<'_>> = match self.client.as_str() {
            DETECTED if is_one => vec![target(&client::DEFAULT)?],
            EVERY | DETECTED => client::ALL.iter().map(target).collect::<anyhow::Result<_>>()?,
            _ => return named.map(target).collect(),
        };
        let is_found = |target: &Target<'_>| self.client == EVERY || is_one || is_installed(&target.environment);
        let (found, others): (Vec<_>, Vec<_>) = targets.into_iter().partition(is_found);
        let found: Vec<_> = found.into_iter().filter(|target| target.path().is_ok()).collect();
        // With no client on the machine, the settings are written for the one that is installed next.
        Ok(if found.is_empty() { others.into_iter().take(1).collect() } else { found })
    }

    /// Whether the entries go to a file of the project.
    pub fn is_project(&self) -> bool {
        self.settings.is_none() && self.scope.is_project()
    }

    /// Whether the entries go to the machine's settings, which root must write.
    pub fn is_managed(&self) -> bool {
        self.settings.is_none() && self.scope == Scope::Managed
    }
}

/// Whether a client has a directory, or a program on `PATH`.
fn is_installed(environment: &Environment) -> bool {
    let program = environment.client.locations().program;
    let path = std::env::var_os("PATH").unwrap_or_default();
    environment.client_dir.as_ref().is_some_and(|dir| dir.is_dir())
        || std::env::split_paths(&path).any(|dir| dir.is_absolute() && dir.join(program).is_file())
}

/// The settings file of a scope.
pub fn settings_file(scope: Scope, dirs: &SettingsDirs<'_>, client: &dyn Client) -> anyhow::Result<PathBuf> {
    if scope == Scope::User && dirs.client.is_none() {
        bail!("HOME is not set\n  help: set it, or name a file with `--settings`");
    }
    let file = client.settings_file(scope, dirs);
    file.with_context(|| format!("{} has no settings of the scope `{}`", client.name(), scope.name()))
}

/// The project of a directory: the nearest ancestor with a repository or with settings of the client, or else itself.
pub fn project(client: &dyn Client, here: &Path) -> PathBuf {
    let is_project = |dir: &&Path| {
        let dirs = SettingsDirs { client: None, project: dir, managed: Path::new("/") };
        let settings = client.settings_file(Scope::Project, &dirs);
        dir.join(".git").exists() || settings.is_some_and(|file| file.parent().is_some_and(Path::is_dir))
    };
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let mut below_home = here.ancestors().take_while(|dir| Some(*dir) != home.as_deref());
    below_home.find(is_project).unwrap_or(here).to_owned()
}

impl DirArgs {
    /// The environment of the default client, with the directories that were named.
    pub fn environment(&self) -> anyhow::Result<Environment> {
        self.environment_of(client::DEFAULT)
    }

    /// The environment of a client, with the directories that were named.
    pub fn environment_of(&self, client: &'static dyn Client) -> anyhow::Result<Environment> {
        let here = current_dir()?;
        let absolute = |dir: &Option<PathBuf>| dir.as_ref().map(|dir| here.join(dir));
        let variable = client.locations().dir_variable;
        let named = std::env::var_os(variable).map(PathBuf::from).filter(|_| self.client_dir.is_none());
        if let Some(dir) = named.filter(|dir| dir.is_relative() && !dir.as_os_str().is_empty()) {
            // The client would resolve it against the directory that it is started in.
            let help = "help: make it absolute, or name the directory with `--client-dir`";
            bail!("{variable} is `{}`, which is not an absolute path\n  {help}", dir.display());
        }
        let dirs = Dirs {
            config: absolute(&self.config_dir),
            state: absolute(&self.state_dir),
            data: absolute(&self.data_dir),
            client: absolute(&self.client_dir),
        };
        Ok(Environment::of(client, &dirs))
    }
}
