//! `rune hooks`: registers the guard in the settings of clients, removes it, and shows where it is registered.

mod file;
mod layer;
mod plugin;
mod preset;
mod program;
mod status;

pub use layer::{SettingsLayer, SettingsLayers};
pub use preset::default_preset;
pub use program::ProgramError;
pub use status::{InspectArgs, Inspection, RegisteredLayer};

use crate::runtime::agent_check;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::DONE;
use crate::runtime::files::patch;
use crate::runtime::options::Dirs;
use crate::runtime::receipts;
use anyhow::{Context, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use file::{Backup, SettingsFile};
use preset::{check_change, check_preset, receipt_environment, strictest_preset};
use rune::client::registration::Registration;
use rune::client::settings::{FileError, Scope, SettingsDirs};
use rune::client::{self, Client};
use rune::receipt::Loosening;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub enum Hooks {
    Install(InstallArgs),
    Uninstall(UninstallArgs),
    Status(StatusArgs),
}

/// Shows which settings files register the guard, whether the entries are in force, and whether the guard is on
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rune hooks status --json\n\nExit 0: the guard is on. Exit 1: it is off, or partly on. Exit 2: cannot tell."
)]
pub struct StatusArgs {
    #[command(flatten)]
    pub inspect: InspectArgs,
}

/// Registers the guard in a client's settings, or changes how it is registered
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune hooks install --preset strict\n  rune hooks install --preset gentle --scope project --dry-run\n  rune hooks install --preset off\n\n\
Only Rune's entries are changed. The file as it was before the first of them is kept beside it as *.before-rune."
)]
pub struct InstallArgs {
    /// gentle, strict, a file of your own in presets/, or off, which removes the entries [default: what is registered, else what the policy names, else gentle]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Write a plugin for the client into this directory instead of a settings file
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scope", "settings"])]
    pub plugin: Option<PathBuf>,
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Removes the guard from a client's settings; the same as `install --preset off`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune hooks uninstall --dry-run")]
pub struct UninstallArgs {
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Args)]
pub struct TargetArgs {
    /// The client to register with
    #[arg(long, value_name = "NAME", default_value = client::DEFAULT.name(), value_parser = client_names())]
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

fn client_names() -> PossibleValuesParser {
    PossibleValuesParser::new(client::ALL.into_iter().map(Client::name).chain(["all"]))
}

fn scope_parser() -> impl TypedValueParser<Value = Scope> {
    let scope = |name: String| Scope::NAMED.into_iter().find(|scope| scope.name() == name).unwrap_or(Scope::User);
    PossibleValuesParser::new(Scope::NAMED.map(Scope::name)).map(scope)
}

pub fn run(command: &Hooks) -> anyhow::Result<u8> {
    match command {
        Hooks::Install(args) if args.preset.as_deref() == Some("off") => {
            args.target.for_each_client(|target| uninstall(target, "`rune hooks install --preset off`"))
        }
        Hooks::Install(args) => args.target.for_each_client(|target| match &args.plugin {
            Some(folder) => plugin::write(folder, args.preset.as_deref(), target),
            None => install(args.preset.as_deref(), target),
        }),
        Hooks::Uninstall(args) => args.target.for_each_client(|target| uninstall(target, "`rune hooks uninstall`")),
        Hooks::Status(args) => status::run(&args.inspect),
    }
}

/// The settings file of one client that a command changes.
struct Target<'a> {
    args: &'a TargetArgs,
    environment: Environment,
}

impl Target<'_> {
    fn path(&self) -> anyhow::Result<PathBuf> {
        let here = current_dir()?;
        let client = self.environment.client;
        match &self.args.settings {
            Some(file) => Ok(here.join(file)),
            None => settings_file(self.args.scope, &self.environment.settings_dirs(&project(client, &here)), client),
        }
    }
}

impl TargetArgs {
    /// Runs a command for the clients that were named.
    fn for_each_client(&self, command: impl Fn(&Target<'_>) -> anyhow::Result<()>) -> anyhow::Result<u8> {
        for client in client::ALL.into_iter().filter(|client| [client.name(), "all"].contains(&&*self.client)) {
            command(&Target { args: self, environment: self.dirs.environment_of(client)? })?;
        }
        Ok(DONE)
    }

    /// Whether the entries go to a file of the project.
    fn is_project(&self) -> bool {
        self.settings.is_none() && self.scope.is_project()
    }

    /// Whether the entries go to the machine's settings, which root must write.
    fn is_managed(&self) -> bool {
        self.settings.is_none() && self.scope == Scope::Managed
    }
}

/// The settings file of a scope.
fn settings_file(scope: Scope, dirs: &SettingsDirs<'_>, client: &dyn Client) -> anyhow::Result<PathBuf> {
    if scope == Scope::User && dirs.client.is_none() {
        bail!("HOME is not set\n  help: set it, or name a file with `--settings`");
    }
    let file = client.settings_file(scope, dirs);
    file.with_context(|| format!("{} has no settings of the scope `{}`", client.name(), scope.name()))
}

fn install(preset: Option<&str>, target: &Target<'_>) -> anyhow::Result<()> {
    let Target { args, environment } = target;
    if args.is_managed() {
        return show_managed_install(preset, target);
    }
    let client = environment.client;
    let file = SettingsFile::read(&target.path()?)?;
    let text = file.text.as_deref().unwrap_or_default();
    let settings = client.read_settings(text).map_err(|error| refusal(&file, client, &error))?;
    let old = settings.registrations();
    let preset = match preset {
        Some(preset) => preset.to_owned(),
        None => strictest_preset(&old, environment).unwrap_or_else(|| default_preset(environment)),
    };
    check_preset(&preset, environment)?;
    let new = registration(&preset, environment, Some(&file.path))?;
    let loosens = check_change(&old, &new, args)?;
    let edited = client.install(&new, text, file.before.as_deref()).map_err(|error| refusal(&file, client, &error))?;
    if loosens && edited != text {
        receipts::loosen(&receipt_environment(&old, environment), Loosening::HooksInstall)?;
    }
    let backup = if old.is_empty() { Backup::Keep } else { Backup::None };
    if let Some(kept) = show_or_write(&file, Some(&edited), backup, args)? {
        say(&format!("registered in {} with the preset {preset}", file.path.display()))?;
        if let Some(kept) = kept {
            say(&format!("how it was before is kept in {}", kept.display()))?;
        }
        if args.is_project() {
            say("note: the entries name files of this machine; others who share the project need their own")?;
        }
    } else if !args.dry_run {
        say(&format!("{} is as it should be (preset {preset})", file.path.display()))?;
    }
    if args.dry_run {
        return Ok(());
    }
    // Creating the key here spares the first call that the guard objects to.
    receipts::make_key(environment).map_err(anyhow::Error::msg)?;
    check_in_force(&file.path, target)
}

/// Fails if something keeps the entries of a file from taking effect.
fn check_in_force(file: &Path, target: &Target<'_>) -> anyhow::Result<()> {
    let environment = &target.environment;
    let project = project(environment.client, &current_dir()?);
    let layers = SettingsLayers::read(environment, &project, Some(file), None)?;
    // The settings of one project do not matter for a registration for all projects.
    let layers = if target.args.is_project() { layers } else { layers.without_project() };
    let registered = RegisteredLayer::all(&layers);
    let reasons = registered.iter().filter(|registered| registered.layer.path == file);
    let reasons = reasons.flat_map(|registered| registered.reasons_off(&layers));
    let lines: Vec<_> = reasons.map(|reason| format!("{}\n  help: {}", reason.what, reason.advice)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    bail!("the entries are there, and the guard stays off\n{}", lines.join("\n"))
}

fn uninstall(target: &Target<'_>, what: &str) -> anyhow::Result<()> {
    let Target { args, environment } = target;
    let client = environment.client;
    if !args.dry_run {
        agent_check::may_loosen(what, args.yes)?;
    }
    if args.is_managed() {
        let command = format!("sudo {} hooks uninstall --yes --settings '{}'", program()?, target.path()?.display());
        return say(&format!("a root shell must run:\n  {command}"));
    }
    let file = SettingsFile::read(&target.path()?)?;
    let Some(text) = &file.text else { return say(&format!("nothing is registered in {}", file.path.display())) };
    let left = client.uninstall(text, file.before.as_deref()).map_err(|error| refusal(&file, client, &error))?;
    if !args.dry_run && left != file.text {
        let old = client.read_settings(text).map_err(|error| refusal(&file, client, &error))?.registrations();
        receipts::loosen(&receipt_environment(&old, environment), Loosening::HooksUninstall)?;
    }
    if show_or_write(&file, left.as_deref(), Backup::None, args)?.is_some() {
        say(&format!("removed from {}", file.path.display()))?;
        say("a session that is running keeps its guard until it ends")?;
    } else if !args.dry_run {
        say(&format!("nothing is registered in {}", file.path.display()))?;
    }
    Ok(())
}

/// Shows a change, or makes it. Returns the backup that was kept, or the outer `None` if nothing was written.
fn show_or_write(
    file: &SettingsFile,
    text: Option<&str>,
    backup: Backup,
    args: &TargetArgs,
) -> anyhow::Result<Option<Option<PathBuf>>> {
    if file.text.as_deref() == text {
        if args.dry_run {
            say(&format!("{} would stay as it is", file.path.display()))?;
        }
        return Ok(None);
    }
    if args.dry_run {
        say(&patch(&file.path, file.text.as_deref().unwrap_or_default(), text.unwrap_or_default()))?;
        return Ok(None);
    }
    file.write(text, backup).map(Some)
}

/// The registration that `install` writes.
pub fn registration(preset: &str, environment: &Environment, file: Option<&Path>) -> anyhow::Result<Registration> {
    let dirs = [
        ("--config-dir", &environment.config_dir),
        ("--state-dir", &environment.state_dir),
        ("--data-dir", &environment.data_dir),
        ("--client-dir", &environment.client_dir),
    ];
    let mut words = vec!["--preset".to_owned(), preset.to_owned()];
    for (flag, dir) in dirs {
        let dir = dir.as_ref().with_context(|| format!("HOME is not set\n  help: set it, or name `{flag}`"))?;
        words.extend([flag.to_owned(), text(dir)?]);
    }
    Ok(Registration { program: program()?, words, file: file.map(text).transpose()? })
}

/// The absolute path of this program.
fn program() -> anyhow::Result<String> {
    text(&std::env::current_exe().context("cannot find the path of this program")?)
}

fn text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("{}: not a name that JSON can hold", path.display()))?;
    Ok(text.to_owned())
}

/// Prints the command that root must run to register the guard in the machine's settings.
fn show_managed_install(preset: Option<&str>, target: &Target<'_>) -> anyhow::Result<()> {
    let Target { args, environment } = target;
    let preset = preset.map_or_else(|| default_preset(environment), str::to_owned);
    check_preset(&preset, environment)?;
    let words = registration(&preset, environment, None)?.words;
    let quoted: Vec<String> = words.iter().map(|word| rune::shell::typed(word)).collect();
    let dry_run = if args.dry_run { " --dry-run" } else { "" };
    say(&format!(
        "the machine's settings belong to root; a root shell must run:\n  sudo {} hooks install{dry_run} --settings {} {}",
        rune::shell::typed(&program()?),
        rune::shell::typed(&target.path()?.to_string_lossy()),
        quoted.join(" ")
    ))
}

fn refusal(file: &SettingsFile, client: &dyn Client, error: &FileError) -> anyhow::Error {
    anyhow::anyhow!(
        "{}\n  help: settings are {}; mend the file, or name another with `--settings`. Nothing was changed",
        error.describe(&file.path),
        client.locations().settings_format,
    )
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

    fn environment_of(&self, client: &'static dyn Client) -> anyhow::Result<Environment> {
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

fn current_dir() -> anyhow::Result<PathBuf> {
    std::env::current_dir().context("cannot read the current directory")
}

/// Prints a line without control characters: it may name files of a project.
pub fn say(line: &str) -> anyhow::Result<()> {
    let plain = |c: char| if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { '?' } else { c };
    let line: String = line.chars().map(plain).collect();
    Ok(writeln!(std::io::stdout().lock(), "{line}")?)
}
