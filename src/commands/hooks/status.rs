//! `rune hooks status`: which settings files register the guard, and whether it is on.

use super::args::{DirArgs, client_parser, project};
use super::layer::{SettingsLayer, SettingsLayers};
use super::program::{self, ProgramError};
use super::{default_preset, registration};
use crate::commands::style::home_relative;
use crate::commands::{current_dir, say};
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::{DONE, FAILED};
use crate::runtime::files;
use crate::runtime::options::Options;
use crate::runtime::pause;
use anyhow::bail;
use clap::Args;
use rune::client::registration::{Drift, Registration};
use rune::client::settings::{Scope, Settings};
use rune::client::{self, Client};
use serde::Serialize;
use std::path::{Path, PathBuf};

// Options that name the settings to inspect. A doc comment would replace those of the commands.
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// The client whose settings are read
    #[arg(long, value_name = "NAME", default_value = client::DEFAULT.name(), value_parser = client_parser())]
    pub client: &'static dyn Client,
    /// The project [default: the one that the current directory is part of]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// A settings file that you name on the client's command line
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// The directory of the machine's settings [default: where the client looks]
    #[arg(long, value_name = "DIR")]
    pub managed_dir: Option<PathBuf>,
    #[command(flatten)]
    pub dirs: DirArgs,
}

/// The settings of a project and of its environment.
pub struct Inspection {
    pub environment: Environment,
    pub project: PathBuf,
    pub layers: SettingsLayers,
}

impl InspectArgs {
    pub fn inspect(&self) -> anyhow::Result<Inspection> {
        let here = current_dir()?;
        let absolute = |path: &Option<PathBuf>| path.as_ref().map(|path| here.join(path));
        let environment = self.dirs.environment_of(self.client)?;
        let project = absolute(&self.project).unwrap_or_else(|| project(environment.client, &here));
        let environment = Environment { project: Some(project.clone()), ..environment };
        let (given, managed) = (absolute(&self.settings), absolute(&self.managed_dir));
        if let Some(given) = given.as_ref().filter(|given| !given.exists()) {
            bail!("{}: no such file\n  help: name the one that the client is started with", given.display());
        }
        if self.project.is_some() && !project.is_dir() {
            bail!("{}: no such directory\n  help: name the directory of a project", project.display());
        }
        let layers = SettingsLayers::read(&environment, &project, given.as_deref(), managed.as_deref())?;
        Ok(Inspection { environment, project, layers })
    }
}

/// Whether the guard is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum GuardState {
    Off,
    /// It is registered, but not for all events that it needs.
    Partly,
    /// It is registered and answers as under the preset off for some time.
    Paused,
    On,
}

/// A settings file that registers the guard.
pub struct RegisteredLayer<'a> {
    pub layer: &'a SettingsLayer,
    pub settings: &'a Settings,
    /// How the guard is called there.
    pub registration: Registration,
    pub options: Options,
    pub program_error: Option<ProgramError>,
    pub is_this_program: bool,
}

/// A reason why a registration has no effect, and the remedy.
pub struct ReasonOff {
    pub what: String,
    pub advice: &'static str,
    /// Whether it is what the person does next after a registration, in the client.
    pub is_next_step: bool,
}

impl<'a> RegisteredLayer<'a> {
    /// All files that register the guard, strongest first.
    pub fn all(layers: &'a SettingsLayers) -> Vec<RegisteredLayer<'a>> {
        let registered = |(layer, settings): (&'a SettingsLayer, &'a Settings)| {
            let registration = settings.registration()?;
            let options = Options::of(&registration);
            let program_error = ProgramError::of(&registration.program);
            let program = Path::new(&registration.program);
            let is_this_program = std::env::current_exe().is_ok_and(|this| program::is_same(program, &this));
            Some(RegisteredLayer { layer, settings, registration, options, program_error, is_this_program })
        };
        layers.settings().filter_map(registered).collect()
    }

    /// The differences from what `install` would write for the same program, preset and directories.
    pub fn drift(&self, environment: &Environment) -> anyhow::Result<Vec<Drift>> {
        let environment = environment.with_dirs(&self.options.dirs);
        let preset = self.registration.preset().map_or_else(|| default_preset(&environment), str::to_owned);
        let wanted = registration(&preset, &environment, Some(&self.layer.path))?;
        let wanted = Registration { program: self.registration.program.clone(), ..wanted };
        let drift = environment.client.drift(&wanted, self.text());
        drift.map_err(|error| anyhow::anyhow!(error.describe(&self.layer.path)))
    }

    /// Why the client skips the entries although they are right, and what to do.
    pub fn obstacle(&self) -> Option<(String, &'static str)> {
        let mut read = |file: &Path| files::read(file).ok().flatten();
        self.options.client.obstacle(&self.layer.path, self.text(), &mut read)
    }

    fn text(&self) -> &str {
        self.layer.text.as_deref().unwrap_or_default()
    }

    /// The reasons why the client does not run the entries, or why they stop nothing.
    pub fn reasons_off(&self, layers: &SettingsLayers) -> Vec<ReasonOff> {
        let managed = self.layer.scope == Scope::Managed;
        let mut reasons = Vec::new();
        reasons.extend(self.obstacle().map(|(what, advice)| ReasonOff { what, advice, is_next_step: true }));
        let mut add = |what: String, advice| reasons.push(ReasonOff { what, advice, is_next_step: false });
        let disabled = layers.hooks_disabled().filter(|(layer, _)| !managed || layer.scope == Scope::Managed);
        if let Some((layer, switch)) = disabled {
            add(format!("{}: this switches all hooks off", layer.place(switch.pointer)), "take it out");
        }
        if let Some((layer, switch)) = layers.managed_hooks_only().filter(|_| !managed) {
            let what = format!("{}: this lets only the machine's own hooks run", layer.place(switch.pointer));
            add(what, "register there: `rune hooks install --scope managed`");
        }
        if let Some(part) = self.settings.invalid.iter().find(|part| part.voids_file) {
            let place = self.layer.place(&part.pointer);
            let what = format!("{place}: the client drops the file: {} {}", part.name, part.what);
            add(what, "mend or remove it");
        }
        if let Some(error) = self.program_error {
            let what = format!("{} {}", self.registration.program, error.what());
            add(what, "`rune hooks install` registers the program that you start it with");
        }
        if self.settings.registrations().iter().all(|entry| entry.preset() == Some("off")) {
            let what = format!("{}: all entries name the preset off, which stops nothing", self.layer.place("/hooks"));
            add(what, "`rune hooks install --preset gentle` names another");
        }
        reasons
    }

    fn state(&self, layers: &SettingsLayers, client: &dyn Client) -> GuardState {
        if !self.reasons_off(layers).is_empty() {
            GuardState::Off
        } else if !client.losses(&self.registration, self.text()).is_ok_and(|losses| losses.is_empty()) {
            GuardState::Partly
        } else if pause::read(&self.options.environment()).is_some() {
            GuardState::Paused
        } else {
            GuardState::On
        }
    }
}

impl GuardState {
    fn name(self) -> &'static str {
        match self {
            GuardState::Off => "off",
            GuardState::Partly => "partly",
            GuardState::Paused => "paused",
            GuardState::On => "on",
        }
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct StatusReport {
    guard: GuardState,
    /// When a pause ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<String>,
    files: Vec<FileStatus>,
    /// What the client cannot do, and what the guard does in place of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<String>,
}

#[derive(Serialize)]
struct FileStatus {
    scope: Scope,
    file: String,
    exists: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    registered: Option<RegistrationStatus>,
}

#[derive(Serialize)]
struct RegistrationStatus {
    preset: Option<String>,
    program: String,
    events: Vec<String>,
    in_force: bool,
    obstacles: Vec<String>,
    drift: Vec<String>,
}

pub fn run(args: &InspectArgs) -> anyhow::Result<u8> {
    let Inspection { environment, layers, .. } = args.inspect()?;
    let registered = RegisteredLayer::all(&layers);
    let states = registered.iter().map(|registered| registered.state(&layers, environment.client));
    let guard = states.max().unwrap_or(GuardState::Off);
    let files = layers.iter().map(|layer| file_status(layer, &registered, &layers, &environment));
    let pauses = registered.iter().filter_map(|registered| pause::read(&registered.options.environment()));
    let paused = pauses.map(|pause| pause.to_string()).next();
    let limits = environment.client.unsupported().iter().filter(|_| !registered.is_empty());
    let limits = limits.map(|limit| format!("{}; {}", limit.what, limit.instead)).collect();
    let report = StatusReport { guard, paused, files: files.collect::<anyhow::Result<_>>()?, limits };
    say(&if args.json { crate::commands::to_json(&report)? } else { text(&report, environment.home.as_deref()) })?;
    Ok(if guard == GuardState::On { DONE } else { FAILED })
}

fn file_status(
    layer: &SettingsLayer,
    registered: &[RegisteredLayer<'_>],
    layers: &SettingsLayers,
    environment: &Environment,
) -> anyhow::Result<FileStatus> {
    let status = |registered: &RegisteredLayer<'_>| -> anyhow::Result<RegistrationStatus> {
        let reasons = registered.reasons_off(layers);
        Ok(RegistrationStatus {
            preset: registered.registration.preset().map(str::to_owned),
            program: registered.registration.program.clone(),
            events: registered.settings.guard_hooks().map(|hook| hook.event.clone()).collect(),
            in_force: reasons.is_empty(),
            obstacles: reasons.into_iter().map(|reason| reason.what).collect(),
            drift: registered.drift(environment)?.iter().map(ToString::to_string).collect(),
        })
    };
    let registered = registered.iter().find(|registered| std::ptr::eq(registered.layer, layer));
    Ok(FileStatus {
        scope: layer.scope,
        file: layer.path.display().to_string(),
        exists: layer.text.is_some() || layer.settings.is_err(),
        unreadable: layer.settings.as_ref().err().map(|(place, what)| format!("{place}: {what}")),
        registered: registered.map(status).transpose()?,
    })
}

/// The indentation of what belongs to a file.
const INDENT: &str = "         ";

fn text(report: &StatusReport, home: Option<&Path>) -> String {
    let state = match report.guard {
        GuardState::Partly => "registered, but not for all events that it needs",
        GuardState::Off | GuardState::Paused | GuardState::On => report.guard.name(),
    };
    let mut lines = vec![format!("the guard is {state}")];
    lines.extend(report.paused.iter().map(|pause| format!("paused {pause}; `rune resume` ends the pause")));
    for file in &report.files {
        let status = match (&file.registered, &file.unreadable) {
            (Some(registered), _) => {
                let preset = registered.preset.as_deref().unwrap_or("what the policy names");
                let force = if registered.in_force { "in force" } else { "not in force" };
                let program = home_relative(Path::new(&registered.program), home);
                format!("{force}, preset {preset}\n         runs {program}")
            }
            (None, Some(_)) => "cannot be read".to_owned(),
            (None, None) if file.exists => "nothing of ours".to_owned(),
            (None, None) => "no such file".to_owned(),
        };
        lines.push(format!("{:<8} {}: {status}", file.scope.name(), home_relative(Path::new(&file.file), home)));
        let notes = file.registered.iter().flat_map(|registered| registered.obstacles.iter().chain(&registered.drift));
        lines.extend(notes.chain(&file.unreadable).map(|note| format!("{INDENT}{note}")));
    }
    lines.extend(report.limits.iter().map(|limit| format!("limit    {limit}")));
    lines.join("\n")
}
