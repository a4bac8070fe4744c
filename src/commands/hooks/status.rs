//! `rune hooks status`: which entries of ours stand where, and whether the guard is on.

use super::layer::{Layer, Layers, Level};
use super::program::{self, ProgramError};
use super::{DirArgs, first_preset, project, registration, say};
use crate::runtime::environment::Environment;
use crate::runtime::exit_code::{DONE, FAILED};
use crate::runtime::options::Options;
use anyhow::{Context, bail};
use clap::Args;
use rune::client::claude::drift::Drift;
use rune::client::claude::register::Registration;
use rune::client::claude::settings::{Hook, Settings};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where to look, and how to say what was found.
#[derive(Debug, Args)]
pub struct LookArgs {
    /// JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// The project [default: the one that the current directory is part of]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// A settings file that you start the client with (`claude --settings FILE`)
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// The directory of the machine's settings [default: where the client looks]
    #[arg(long, value_name = "DIR")]
    pub managed_dir: Option<PathBuf>,
    #[command(flatten)]
    pub dirs: DirArgs,
}

/// What there is to look at.
pub struct Sight {
    pub environment: Environment,
    pub project: PathBuf,
    pub layers: Layers,
}

impl LookArgs {
    pub fn look(&self) -> anyhow::Result<Sight> {
        let here = std::env::current_dir().context("the current directory cannot be told")?;
        let absolute = |path: &Option<PathBuf>| path.as_ref().map(|path| here.join(path));
        let project = absolute(&self.project).unwrap_or_else(|| project(&here));
        let environment = Environment { project: Some(project.clone()), ..self.dirs.environment()? };
        let (given, managed) = (absolute(&self.settings), absolute(&self.managed_dir));
        if let Some(given) = given.as_ref().filter(|given| !given.exists()) {
            bail!("{}: no such file\n  help: name the one that the client is started with", given.display());
        }
        if self.project.is_some() && !project.is_dir() {
            bail!("{}: no such directory\n  help: name the directory of a project", project.display());
        }
        let layers = Layers::read(&environment, &project, given.as_deref(), managed.as_deref())?;
        Ok(Sight { environment, project, layers })
    }
}

/// Whether the guard is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Guard {
    Off,
    /// It is asked, but not at all moments that it needs.
    Partly,
    On,
}

/// A settings file that our entries stand in.
pub struct Wired<'a> {
    pub layer: &'a Layer,
    pub settings: &'a Settings,
    /// How the guard is called there.
    pub registration: Registration,
    /// What its words mean to the hook.
    pub options: Options,
    /// What is wrong with the program, where something is.
    pub flaw: Option<ProgramError>,
    /// Whether its program is this very one.
    pub this_program: bool,
}

/// Why entries guard nothing, and what to do about it.
pub struct Obstacle {
    pub what: String,
    pub advice: &'static str,
}

impl<'a> Wired<'a> {
    /// All files with entries of ours, strongest first.
    pub fn all(layers: &'a Layers) -> Vec<Wired<'a>> {
        let wired = |(layer, settings): (&'a Layer, &'a Settings)| {
            let registration = layer.registration()?;
            let options = Options::parse(&registration.words.iter().map(Into::into).collect::<Vec<_>>());
            let flaw = ProgramError::of(&registration.program);
            let program = Path::new(&registration.program);
            let this_program = std::env::current_exe().is_ok_and(|this| program::is_same(program, &this));
            Some(Wired { layer, settings, registration, options, flaw, this_program })
        };
        layers.settings().filter_map(wired).collect()
    }

    /// What differs from what we would write there for the same program, preset and directories.
    pub fn drift(&self, environment: &Environment) -> anyhow::Result<Vec<Drift<'a>>> {
        let environment = environment.with_dirs(&self.options.dirs);
        let preset = self.registration.preset().map_or_else(|| first_preset(&environment), str::to_owned);
        let wanted = registration(&preset, &environment, Some(&self.layer.path))?;
        let wanted = Registration { program: self.registration.program.clone(), ..wanted };
        Ok(wanted.drift(self.settings))
    }

    /// What keeps the client from running the entries, or them from guarding anything.
    pub fn obstacles(&self, layers: &Layers) -> Vec<Obstacle> {
        let managed = self.layer.level == Level::Managed;
        let mut obstacles = Vec::new();
        let mut add = |what: String, advice| obstacles.push(Obstacle { what, advice });
        if let Some(layer) = layers.switching_off().filter(|layer| !managed || layer.level == Level::Managed) {
            add(format!("{}: this switches all hooks off", layer.place("/disableAllHooks")), "take it out");
        }
        if let Some(layer) = layers.managed_only().filter(|_| !managed) {
            let what = format!("{}: this lets only the machine's own hooks run", layer.place("/allowManagedHooksOnly"));
            add(what, "register there: `rune hooks install --scope managed`");
        }
        if let Some(invalid) = self.settings.invalid().into_iter().find(|invalid| invalid.voids) {
            let place = self.layer.place(&invalid.pointer);
            let what = format!("{place}: the client drops the file: {} {}", invalid.event, invalid.what);
            add(what, "mend or remove it");
        }
        if let Some(flaw) = self.flaw {
            let what = format!("{} {}", self.registration.program, flaw.what());
            add(what, "`rune hooks install` registers the program that you start it with");
        }
        let is_off = |entry: &Registration| entry.preset() == Some("off");
        if Registration::each(self.settings).iter().all(is_off) {
            let what = format!("{}: all entries name the preset off, which stops nothing", self.layer.place("/hooks"));
            add(what, "`rune hooks install --preset gentle` names another");
        }
        obstacles
    }

    fn guard(&self, layers: &Layers) -> Guard {
        match () {
            () if !self.obstacles(layers).is_empty() => Guard::Off,
            () if !self.registration.losses(self.settings, true).is_empty() => Guard::Partly,
            () => Guard::On,
        }
    }
}

impl Guard {
    pub fn of(wired: &[Wired<'_>], layers: &Layers) -> Guard {
        wired.iter().map(|wired| wired.guard(layers)).max().unwrap_or(Guard::Off)
    }

    fn word(self) -> &'static str {
        match self {
            Guard::Off => "off",
            Guard::Partly => "partly",
            Guard::On => "on",
        }
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    guard: Guard,
    files: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    scope: Level,
    file: String,
    exists: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    registered: Option<Entries>,
}

#[derive(Serialize)]
struct Entries {
    preset: Option<String>,
    program: String,
    events: Vec<String>,
    in_force: bool,
    obstacles: Vec<String>,
    drift: Vec<String>,
}

pub fn run(args: &LookArgs) -> anyhow::Result<u8> {
    let Sight { environment, layers, .. } = args.look()?;
    let wired = Wired::all(&layers);
    let guard = Guard::of(&wired, &layers);
    let files = layers.iter().map(|layer| row(layer, &wired, &layers, &environment)).collect::<anyhow::Result<_>>()?;
    let report = Report { guard, files };
    say(&if args.json { serde_json::to_string(&report)? } else { text(&report) })?;
    Ok(if guard == Guard::On { DONE } else { FAILED })
}

fn row(layer: &Layer, wired: &[Wired<'_>], layers: &Layers, environment: &Environment) -> anyhow::Result<Row> {
    let entries = |wired: &Wired<'_>| -> anyhow::Result<Entries> {
        let obstacles = wired.obstacles(layers);
        let ours = wired.settings.hooks().into_iter().filter(Hook::is_ours);
        Ok(Entries {
            preset: wired.registration.preset().map(str::to_owned),
            program: wired.registration.program.clone(),
            events: ours.map(|hook| hook.event.to_owned()).collect(),
            in_force: obstacles.is_empty(),
            obstacles: obstacles.into_iter().map(|obstacle| obstacle.what).collect(),
            drift: wired.drift(environment)?.iter().map(ToString::to_string).collect(),
        })
    };
    let registered = wired.iter().find(|wired| std::ptr::eq(wired.layer, layer)).map(entries).transpose()?;
    Ok(Row {
        scope: layer.level,
        file: layer.path.display().to_string(),
        exists: layer.text.is_some() || layer.settings.is_err(),
        unreadable: layer.settings.as_ref().err().map(|(place, what)| format!("{place}: {what}")),
        registered,
    })
}

fn text(report: &Report) -> String {
    let mut lines = vec![format!("the guard is {}", report.guard.word())];
    for row in &report.files {
        let said = match (&row.registered, &row.unreadable) {
            (Some(entries), _) => {
                let preset = entries.preset.as_deref().unwrap_or("what the policy names");
                let force = if entries.in_force { "in force" } else { "not in force" };
                format!("{force}, preset {preset}, runs {}", entries.program)
            }
            (None, Some(_)) => "cannot be read".to_owned(),
            (None, None) if row.exists => "nothing of ours".to_owned(),
            (None, None) => "no such file".to_owned(),
        };
        lines.push(format!("{:<8} {}: {said}", row.scope.name(), row.file));
        let notes = row.registered.iter().flat_map(|entries| entries.obstacles.iter().chain(&entries.drift));
        lines.extend(notes.chain(&row.unreadable).map(|note| format!("         {note}")));
    }
    lines.join("\n")
}
