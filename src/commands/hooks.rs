//! The hooks of clients: putting ours in, taking them out, and telling what is there.

mod file;
mod layer;
mod plugin;
mod preset;
mod program;
mod status;

pub use file::SettingsFile;
pub use layer::{Layer, Layers, Level};
pub use preset::first_preset;
pub use program::ProgramError;
pub use status::{LookArgs, Sight, Wired};

use crate::runtime::agent_check;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::DONE;
use crate::runtime::files::patch;
use crate::runtime::options::Dirs;
use crate::runtime::receipts;
use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use preset::{check_preset, check_step, strictest, world_of_receipt};
use rune::client::claude::register::{self, Registration};
use rune::client::claude::settings::{Hook, MANAGED, Settings};
use rune::receipt::Loosening;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub enum Hooks {
    Install(InstallArgs),
    Uninstall(UninstallArgs),
    Status(StatusArgs),
}

/// Says which settings files hold our entries, whether they are in force, and whether the guard is on
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rune hooks status --json\n\nExit 0: the guard is on. Exit 1: it is off, or partly on. Exit 2: cannot tell."
)]
pub struct StatusArgs {
    #[command(flatten)]
    pub look: LookArgs,
}

/// Registers the guard in a client's settings, or changes how it is registered
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune hooks install --preset strict\n  rune hooks install --preset gentle --scope project --dry-run\n  rune hooks install --preset off\n\n\
Only our own entries are touched. The file as it was before the first of them is kept beside it as *.before-rune."
)]
pub struct InstallArgs {
    /// gentle, strict, a file of your own in presets/, or off, which removes our entries [default: what is registered, else what the policy names, else gentle]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Write a plugin for Claude Code into this directory instead of a settings file
    #[arg(long, value_name = "DIR", conflicts_with_all = ["scope", "settings"])]
    pub plugin: Option<PathBuf>,
    #[command(flatten)]
    pub place: PlaceArgs,
}

/// Removes our entries from a client's settings; the same as `install --preset off`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rune hooks uninstall --dry-run")]
pub struct UninstallArgs {
    #[command(flatten)]
    pub place: PlaceArgs,
}

#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// The client to register with: claude, or all
    #[arg(long, value_name = "NAME", default_value = "claude", value_parser = ["claude", "all"])]
    pub client: String,
    /// Whose settings: yours, the project's, yours for this project, or the machine's
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub scope: Scope,
    /// The settings file itself
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    pub settings: Option<PathBuf>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Loosen the guard where stdin is not a terminal; a terminal is needed all the same
    #[arg(long)]
    pub yes: bool,
    #[command(flatten)]
    pub dirs: DirArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Directories that the hook is told, absolute")]
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
    /// The client's directory [default: $CLAUDE_CONFIG_DIR or ~/.claude]
    #[arg(long, value_name = "DIR")]
    pub client_dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Scope {
    User,
    Project,
    Local,
    Managed,
}

impl Scope {
    /// The settings file of this scope.
    pub fn file(self, environment: &Environment, project: &Path) -> anyhow::Result<PathBuf> {
        let client = || {
            environment.client_dir.clone().context("HOME is not set\n  help: set it, or name a file with `--settings`")
        };
        Ok(match self {
            Scope::User => client()?.join("settings.json"),
            Scope::Project => project.join(".claude/settings.json"),
            Scope::Local => project.join(".claude/settings.local.json"),
            Scope::Managed => PathBuf::from(MANAGED),
        })
    }
}

pub fn run(command: &Hooks) -> anyhow::Result<u8> {
    match command {
        Hooks::Install(args) => match (&args.plugin, args.preset.as_deref()) {
            (_, Some("off")) => uninstall(&args.place, "`rune hooks install --preset off`")?,
            (Some(folder), preset) => plugin::write(folder, preset, &args.place)?,
            (None, preset) => return install(preset, &args.place),
        },
        Hooks::Uninstall(args) => uninstall(&args.place, "`rune hooks uninstall`")?,
        Hooks::Status(args) => return status::run(&args.look),
    }
    Ok(DONE)
}

fn install(preset: Option<&str>, place: &PlaceArgs) -> anyhow::Result<u8> {
    let environment = place.dirs.environment()?;
    if place.scope == Scope::Managed {
        return say_managed(preset, place, &environment).map(|()| DONE);
    }
    let path = place.file(&environment)?;
    let file = SettingsFile::read(&path)?;
    let settings = read(&file)?;
    let old = Registration::each(&settings);
    let preset = match preset {
        Some(preset) => preset.to_owned(),
        None => strictest(&old, &environment).unwrap_or_else(|| first_preset(&environment)),
    };
    check_preset(&preset, &environment)?;
    let new = registration(&preset, &environment, Some(&file.path))?;
    let loosens = check_step(&old, &new, place)?;
    let text = file.text.as_deref().unwrap_or_default();
    let edited = new.install(text, file.before.as_deref()).map_err(|broken| refusal(&file, &broken))?;
    if loosens && edited != text {
        receipts::loosen(&world_of_receipt(&old, &environment), Loosening::HooksInstall)?;
    }
    let first = !settings.hooks().iter().any(Hook::is_ours);
    if let Some(kept) = show_or_write(&file, Some(&edited), first, place)? {
        say(&format!("registered in {} with the preset {preset}", file.path.display()))?;
        if let Some(kept) = kept {
            say(&format!("how it was before is kept in {}", kept.display()))?;
        }
        if matches!(place.scope, Scope::Project | Scope::Local) && place.settings.is_none() {
            say("note: the entries name files of this machine; others who share the project need their own")?;
        }
    } else if !place.dry_run {
        say(&format!("{} is as it should be (preset {preset})", file.path.display()))?;
    }
    if place.dry_run {
        return Ok(DONE);
    }
    // The first call that is objected to need not make it.
    receipts::make_key(&environment).map_err(anyhow::Error::msg)?;
    warn(&file.path, place, &environment)
}

/// Says what keeps the entries of a file from guarding anything, where something does.
fn warn(file: &Path, place: &PlaceArgs, environment: &Environment) -> anyhow::Result<u8> {
    let here = std::env::current_dir().context("the current directory cannot be told")?;
    let layers = Layers::read(environment, &project(&here), Some(file), None)?;
    let in_project = place.settings.is_none() && matches!(place.scope, Scope::Project | Scope::Local);
    // What one project says is no fault of a registration for all of them.
    let layers = if in_project { layers } else { layers.of_no_project() };
    let wired = Wired::all(&layers);
    let obstacles: Vec<_> = wired.iter().filter(|wired| wired.layer.path == file).collect();
    let obstacles: Vec<_> = obstacles.iter().flat_map(|wired| wired.obstacles(&layers)).collect();
    if obstacles.is_empty() {
        return Ok(DONE);
    }
    let lines = obstacles.iter().map(|obstacle| format!("{}\n  help: {}", obstacle.what, obstacle.advice));
    bail!("the entries are there, and the guard stays off\n{}", lines.collect::<Vec<_>>().join("\n"))
}

fn uninstall(place: &PlaceArgs, what: &str) -> anyhow::Result<()> {
    if !place.dry_run {
        agent_check::may_loosen(what, place.yes)?;
    }
    let environment = place.dirs.environment()?;
    if place.scope == Scope::Managed {
        return say(&format!(
            "a root shell must run:\n  sudo {} hooks uninstall --yes --settings '{MANAGED}'",
            program()?
        ));
    }
    let file = SettingsFile::read(&place.file(&environment)?)?;
    let Some(text) = &file.text else { return say(&format!("nothing is registered in {}", file.path.display())) };
    let left = register::remove(text, file.before.as_deref()).map_err(|broken| refusal(&file, &broken))?;
    if !place.dry_run && left != file.text {
        let old = Registration::each(&read(&file)?);
        receipts::loosen(&world_of_receipt(&old, &environment), Loosening::HooksUninstall)?;
    }
    if show_or_write(&file, left.as_deref(), false, place)?.is_some() {
        say(&format!("removed from {}", file.path.display()))?;
        say("a session that is running keeps its guard until it ends")?;
    } else if !place.dry_run {
        say(&format!("nothing is registered in {}", file.path.display()))?;
    }
    Ok(())
}

/// Shows or makes a change. Where one was made: the copy of how the file was before, if one was kept.
fn show_or_write(
    file: &SettingsFile,
    text: Option<&str>,
    first: bool,
    place: &PlaceArgs,
) -> anyhow::Result<Option<Option<PathBuf>>> {
    if file.text.as_deref() == text {
        if place.dry_run {
            say(&format!("{} would stay as it is", file.path.display()))?;
        }
        return Ok(None);
    }
    if place.dry_run {
        say(&patch(&file.path, file.text.as_deref().unwrap_or_default(), text.unwrap_or_default()))?;
        return Ok(None);
    }
    file.write(text, first).map(Some)
}

/// The registration that we would write now.
pub fn registration(preset: &str, environment: &Environment, file: Option<&Path>) -> anyhow::Result<Registration> {
    let known = [
        ("--config-dir", &environment.config_dir),
        ("--state-dir", &environment.state_dir),
        ("--data-dir", &environment.data_dir),
        ("--client-dir", &environment.client_dir),
    ];
    let mut words = vec!["--preset".to_owned(), preset.to_owned()];
    for (flag, dir) in known {
        let dir = dir.as_ref().with_context(|| format!("HOME is not set\n  help: set it, or name `{flag}`"))?;
        words.extend([flag.to_owned(), text(dir)?]);
    }
    Ok(Registration { program: program()?, words, file: file.map(text).transpose()? })
}

/// This very program, absolute.
fn program() -> anyhow::Result<String> {
    text(&std::env::current_exe().context("where this program lies cannot be told")?)
}

fn text(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("{}: not a name that JSON can hold", path.display()))?;
    Ok(text.to_owned())
}

fn say_managed(preset: Option<&str>, place: &PlaceArgs, environment: &Environment) -> anyhow::Result<()> {
    let preset = preset.map_or_else(|| first_preset(environment), str::to_owned);
    check_preset(&preset, environment)?;
    let words = registration(&preset, environment, None)?.words;
    let quoted: Vec<String> = words.iter().map(|word| rune::shell::quote_word(word)).collect();
    let dry = if place.dry_run { " --dry-run" } else { "" };
    say(&format!(
        "the machine's settings belong to root; a root shell must run:\n  sudo {} hooks install{dry} --settings {} {}",
        rune::shell::quote_word(&program()?),
        rune::shell::quote_word(MANAGED),
        quoted.join(" ")
    ))
}

fn read(file: &SettingsFile) -> anyhow::Result<Settings> {
    Settings::read(file.text.as_deref().unwrap_or_default()).map_err(|broken| refusal(file, &broken))
}

fn refusal(file: &SettingsFile, broken: &rune::client::claude::settings::Broken) -> anyhow::Error {
    anyhow::anyhow!(
        "{}:{}:{}: {}\n  help: settings are plain JSON, without comments; mend the file, or name another with `--settings`. Nothing was changed",
        file.path.display(),
        broken.line,
        broken.column,
        broken.what
    )
}

impl PlaceArgs {
    fn file(&self, environment: &Environment) -> anyhow::Result<PathBuf> {
        let here = std::env::current_dir().context("the current directory cannot be told")?;
        match &self.settings {
            Some(file) => Ok(here.join(file)),
            None => self.scope.file(environment, &project(&here)),
        }
    }
}

/// The project that a directory is part of: the nearest one that the client or git knows, else itself.
pub fn project(here: &Path) -> PathBuf {
    let known = |dir: &&Path| dir.join(".git").exists() || dir.join(".claude").is_dir();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let above = here.ancestors().take_while(|dir| Some(*dir) != home.as_deref());
    above.into_iter().find(known).unwrap_or(here).to_owned()
}

impl DirArgs {
    /// The world, with the directories that were named.
    pub fn environment(&self) -> anyhow::Result<Environment> {
        let here = std::env::current_dir().context("the current directory cannot be told")?;
        let absolute = |dir: &Option<PathBuf>| dir.as_ref().map(|dir| here.join(dir));
        let named = std::env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from).filter(|_| self.client_dir.is_none());
        if let Some(dir) = named.filter(|dir| dir.is_relative() && !dir.as_os_str().is_empty()) {
            // The client would look for it in whatever directory it is started in.
            let help = "help: make it absolute, or name the directory with `--client-dir`";
            bail!("CLAUDE_CONFIG_DIR is `{}`, which is not an absolute path\n  {help}", dir.display());
        }
        Ok(Environment::look(&Dirs {
            config: absolute(&self.config_dir),
            state: absolute(&self.state_dir),
            data: absolute(&self.data_dir),
            client: absolute(&self.client_dir),
        }))
    }
}

/// Says something to a person. A project's files may name anything, and a terminal obeys control characters.
pub fn say(line: &str) -> anyhow::Result<()> {
    let plain = |c: char| if c.is_control() && !matches!(c, '\n' | '\r' | '\t') { '?' } else { c };
    let line: String = line.chars().map(plain).collect();
    Ok(writeln!(std::io::stdout().lock(), "{line}")?)
}
