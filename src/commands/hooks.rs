//! `rune hooks`: registers the guard in the settings of clients, removes it, and shows where it is registered.

mod args;
mod file;
mod first_run;
mod layer;
mod plugin;
mod preset;
mod program;
mod registered;
mod status;
mod user_files;

pub use args::project;
pub use args::{DirArgs, InstallArgs, client_dir_help};
pub use layer::{SettingsLayer, SettingsLayers};
pub use preset::default_preset;
pub use program::ProgramError;
pub use registered::{NamedPreset, options_with_preset, registered_options};
pub use status::{InspectArgs, Inspection, RegisteredLayer};

use crate::commands::{current_dir, doctor, path_text, program, say};
use crate::runtime::agent_check;
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::DONE;
use crate::runtime::files::{self, diff};
use crate::runtime::receipts;
use anyhow::{Context, bail};
use args::{Target, TargetArgs};
use clap::Subcommand;
use file::{Backup, SettingsFile};
use preset::{check_change, check_preset, receipt_environment, strictest_preset};
use rune::client::registration::Registration;
use rune::client::settings::FileError;
use rune::client::{self, Client};
use rune::receipt::Loosening;
use std::path::{Path, PathBuf};

#[derive(Debug, Subcommand)]
pub enum Hooks {
    Install(InstallArgs),
    /// Removes the guard from a client's settings; the same as `install --preset off`
    #[command(after_help = "Example:\n  rune hooks uninstall --dry-run")]
    Uninstall(TargetArgs),
    /// Shows which settings files register the guard, whether the entries are in force, and whether the guard is on
    #[command(
        after_help = "Example:\n  rune hooks status --json\n\nExit 0: the guard is on. Exit 1: it is off, or partly on. Exit 2: cannot tell."
    )]
    Status(InspectArgs),
    #[command(hide = true)]
    FirstRun(first_run::FirstRunArgs),
}

pub fn run(command: &Hooks) -> anyhow::Result<u8> {
    match command {
        Hooks::Install(args) if args.preset.as_deref() == Some("off") => {
            args.target.for_each_client(|target| uninstall(target, "`rune hooks install --preset off`"))
        }
        Hooks::Install(args) => args.target.for_each_client(|target| match &args.plugin {
            Some(folder) => plugin::write(folder, args.preset.as_deref(), target),
            None => install(args.preset.as_deref(), args.statusline, target),
        }),
        Hooks::Uninstall(args) => args.for_each_client(|target| uninstall(target, "`rune hooks uninstall`")),
        Hooks::Status(args) => status::run(args),
        Hooks::FirstRun(_) => first_run::run().map(|()| DONE),
    }
}

fn install(preset: Option<&str>, statusline: bool, target: &Target<'_>) -> anyhow::Result<()> {
    let Target { args, environment } = target;
    if let Some(problem) = doctor::client_version(environment, &project(environment.client, &current_dir()?)) {
        bail!("{}\n  help: {}; nothing was changed", problem.what, problem.advice);
    }
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
    let with_line = if statusline { client.with_status_line(&new, &edited) } else { Ok(Some(edited.clone())) };
    let with_line = with_line.map_err(|error| refusal(&file, client, &error))?;
    if with_line.is_none() {
        say!("note: the status bar shows something else; add the output of `rune statusline` to it yourself")?;
    }
    let edited = with_line.unwrap_or(edited);
    if loosens && edited != text {
        receipts::record_loosening(&receipt_environment(&old, environment), Loosening::HooksInstall)?;
    }
    let backup = if old.is_empty() { Backup::Keep } else { Backup::None };
    let scripts = write_scripts(&file, &new, target)?;
    let written = show_or_write(&file, Some(&edited), backup, args)?;
    if scripts && !args.dry_run {
        files::make_executable(&file.path)?;
    }
    if let Some(kept) = written {
        say!("registered in {} with the preset {preset}", file.path.display())?;
        if let Some(kept) = kept {
            say!("how it was before is kept in {}", kept.display())?;
        }
        if args.is_project() {
            say("note: the entries name files of this machine; others who share the project need their own")?;
        }
    } else if !args.dry_run {
        say!("{} is as it should be (preset {preset})", file.path.display())?;
    }
    user_files::write(target, &new)?;
    if args.dry_run {
        return Ok(());
    }
    // Creating the key here spares the first call that the guard objects to.
    receipts::create_key(environment).map_err(anyhow::Error::msg)?;
    check_in_force(&file.path, target)
}

/// Writes the other files that register the guard beside the settings file, and returns whether there are any.
fn write_scripts(file: &SettingsFile, registration: &Registration, target: &Target<'_>) -> anyhow::Result<bool> {
    let client = target.environment.client;
    let scripts = client.scripts(registration);
    for (name, text) in &scripts {
        let script = SettingsFile::read(&file.path.with_file_name(name))?;
        let is_ours =
            |text: &String| client.read_settings(text).is_ok_and(|settings| settings.registration().is_some());
        if !script.text.as_ref().is_none_or(is_ours) {
            bail!("{}: it is there and is not the guard's\n  help: move it away", script.path.display());
        }
        if show_or_write(&script, Some(text), Backup::None, target.args)?.is_some() {
            files::make_executable(&script.path)?;
        }
    }
    Ok(!scripts.is_empty())
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
    let (own, others): (Vec<_>, Vec<_>) = reasons.partition(|reason| reason.is_next_step);
    for step in own {
        say!("note: {}\n  help: {}", step.what, step.advice)?;
    }
    let lines: Vec<_> = others.iter().map(|reason| format!("{}\n  help: {}", reason.what, reason.advice)).collect();
    if lines.is_empty() {
        return Ok(());
    }
    bail!("the entries are there, and the guard stays off\n{}", lines.join("\n"))
}

fn uninstall(target: &Target<'_>, what: &str) -> anyhow::Result<()> {
    let Target { args, environment } = target;
    let client = environment.client;
    if !args.dry_run {
        agent_check::require_confirmed_person(what, args.yes)?;
    }
    if args.is_managed() {
        let option: String = client_option(client).iter().map(|word| format!(" {word}")).collect();
        let (program, file) = (program()?, target.path()?);
        let command = format!("sudo {program} hooks uninstall{option} --yes --settings '{}'", file.display());
        return say!("a root shell must run:\n  {command}");
    }
    let file = SettingsFile::read(&target.path()?)?;
    user_files::remove(target)?;
    let Some(text) = &file.text else { return say!("nothing is registered in {}", file.path.display()) };
    let left = client.uninstall(text, file.before.as_deref()).map_err(|error| refusal(&file, client, &error))?;
    if !args.dry_run && left != file.text {
        let old = client.read_settings(text).map_err(|error| refusal(&file, client, &error))?.registrations();
        receipts::record_loosening(&receipt_environment(&old, environment), Loosening::HooksUninstall)?;
    }
    if let Some(registration) = client.read_settings(text).ok().and_then(|settings| settings.registration()) {
        for (name, text) in client.scripts(&registration) {
            let script = SettingsFile::read(&file.path.with_file_name(name))?;
            if script.text.as_ref() == Some(&text) {
                show_or_write(&script, None, Backup::None, args)?;
            }
        }
    }
    if show_or_write(&file, left.as_deref(), Backup::None, args)?.is_some() {
        say!("removed from {}", file.path.display())?;
        say("a session that is running keeps its guard until it ends")?;
    } else if !args.dry_run {
        say!("nothing is registered in {}", file.path.display())?;
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
            say!("{} would stay as it is", file.path.display())?;
        }
        return Ok(None);
    }
    if args.dry_run {
        say(&diff(&file.path, file.text.as_deref().unwrap_or_default(), text.unwrap_or_default()))?;
        return Ok(None);
    }
    file.write(text, backup).map(Some)
}

/// The registration that `install` writes.
pub fn registration(preset: &str, environment: &Environment, file: Option<&Path>) -> anyhow::Result<Registration> {
    let mut words = vec!["--preset".to_owned(), preset.to_owned()];
    words.extend(client_option(environment.client));
    for (flag, dir) in environment.dirs() {
        let dir = dir.with_context(|| format!("HOME is not set\n  help: set it, or name `{flag}`"))?;
        words.extend([flag.to_owned(), path_text(dir)?]);
    }
    Ok(Registration { program: program()?, words, file: file.map(path_text).transpose()? })
}

/// The words that name a client: none for the default one.
fn client_option(client: &dyn Client) -> Vec<String> {
    let name = Some(client.name()).filter(|name| *name != client::DEFAULT.name());
    name.map_or_else(Vec::new, |name| vec!["--client".to_owned(), name.to_owned()])
}

/// Prints the command that root must run to register the guard in the machine's settings.
fn show_managed_install(preset: Option<&str>, target: &Target<'_>) -> anyhow::Result<()> {
    let Target { args, environment } = target;
    let preset = preset.map_or_else(|| default_preset(environment), str::to_owned);
    check_preset(&preset, environment)?;
    let words = registration(&preset, environment, None)?.words;
    let quoted: Vec<String> = words.iter().map(|word| rune::shell::quote_word(word)).collect();
    let dry_run = if args.dry_run { " --dry-run" } else { "" };
    say!(
        "the machine's settings belong to root; a root shell must run:\n  sudo {} hooks install{dry_run} --settings {} {}",
        rune::shell::quote_word(&program()?),
        rune::shell::quote_word(&target.path()?.to_string_lossy()),
        quoted.join(" ")
    )
}

fn refusal(file: &SettingsFile, client: &dyn Client, error: &FileError) -> anyhow::Error {
    anyhow::anyhow!(
        "{}\n  help: settings are {}; mend the file, or name another with `--settings`. Nothing was changed",
        error.describe(&file.path),
        client.locations().settings_format,
    )
}
