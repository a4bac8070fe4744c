//! The settings files that the client reads, and which of them has the last word.

use super::Scope;
use super::file::SettingsFile;
use crate::runtime::environment::Environment;
use rune::client::claude::locate::locate;
use rune::client::claude::register::Registration;
use rune::client::claude::settings::MANAGED;
use rune::client::claude::settings::Settings;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Whose a settings file is, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    User,
    Project,
    Local,
    /// Named on the client's command line.
    Given,
    Managed,
}

impl Level {
    pub fn name(self) -> &'static str {
        match self {
            Level::User => "user",
            Level::Project => "project",
            Level::Local => "local",
            Level::Given => "given",
            Level::Managed => "managed",
        }
    }

    /// Whether whoever wrote the project may have written it.
    pub fn is_project(self) -> bool {
        matches!(self, Level::Project | Level::Local)
    }
}

/// One settings file, as it was when we looked.
#[derive(Debug)]
pub struct Layer {
    pub level: Level,
    pub path: PathBuf,
    /// Its text, where there is a file.
    pub text: Option<String>,
    /// What it says, or what keeps it from being read and where.
    pub settings: Result<Settings, (String, String)>,
}

impl Layer {
    fn read(level: Level, path: PathBuf) -> Layer {
        let name = path.display().to_string();
        match SettingsFile::read(&path) {
            Ok(file) => {
                let settings = Settings::read(file.text.as_deref().unwrap_or_default());
                let settings =
                    settings.map_err(|broken| (format!("{name}:{}:{}", broken.line, broken.column), broken.what));
                Layer { level, path: file.path, text: file.text, settings }
            }
            Err(error) => {
                let what = error.root_cause().to_string();
                let what = what.strip_prefix(&format!("{name}: ")).unwrap_or(&what).to_owned();
                Layer { level, path, text: None, settings: Err((name, what)) }
            }
        }
    }

    /// Where a JSON pointer leads: file, line and column.
    pub fn place(&self, pointer: &str) -> String {
        let name = self.path.display();
        match self.text.as_deref().and_then(|text| locate(text, pointer)) {
            Some((line, column)) => format!("{name}:{line}:{column}"),
            None => name.to_string(),
        }
    }

    /// How the guard is called by the entries of the file.
    pub fn registration(&self) -> Option<Registration> {
        Registration::of(self.settings.as_ref().ok()?)
    }
}

/// All settings files, strongest first.
#[derive(Debug)]
pub struct Layers(Vec<Layer>);

impl Layers {
    /// Reads the files that a client in this project would.
    pub fn read(
        environment: &Environment,
        project: &Path,
        given: Option<&Path>,
        managed: Option<&Path>,
    ) -> anyhow::Result<Layers> {
        let file = |scope: Scope| scope.file(environment, project);
        let managed = managed.or(Path::new(MANAGED).parent()).unwrap_or(Path::new("/"));
        let mut files = vec![
            (Level::User, file(Scope::User)?),
            (Level::Project, file(Scope::Project)?),
            (Level::Local, file(Scope::Local)?),
            (Level::Managed, managed.join("managed-settings.json")),
        ];
        files.extend(given.map(|given| (Level::Given, given.to_owned())));
        files.extend(fragments(managed).into_iter().map(|path| (Level::Managed, path)));
        // Of files of one level the later one wins.
        files.sort_by_key(|(level, _)| *level);
        let mut layers: Vec<Layer> = Vec::new();
        for (level, path) in files {
            let layer = Layer::read(level, path);
            // In the home directory the user's file is the project's too.
            if !layers.iter().any(|known| is_same(&known.path, &layer.path)) {
                layers.push(layer);
            }
        }
        layers.reverse();
        Ok(Layers(layers))
    }

    /// Those that count in every project.
    pub fn of_no_project(mut self) -> Layers {
        self.0.retain(|layer| !layer.level.is_project());
        self
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Layer> {
        self.0.iter()
    }

    /// What each readable file says.
    pub fn settings(&self) -> impl Iterator<Item = (&Layer, &Settings)> {
        self.iter().filter_map(|layer| Some((layer, layer.settings.as_ref().ok()?)))
    }

    /// The file that switches the hooks of others off, if one does: the strongest that says anything decides.
    pub fn switching_off(&self) -> Option<&Layer> {
        strongest(self.settings(), "disableAllHooks")
    }

    /// The file that lets only the machine's own hooks run, if one does.
    pub fn managed_only(&self) -> Option<&Layer> {
        strongest(self.settings().filter(|(layer, _)| layer.level == Level::Managed), "allowManagedHooksOnly")
    }
}

/// The first file that says anything to a switch, if it switches it on.
fn strongest<'a>(mut files: impl Iterator<Item = (&'a Layer, &'a Settings)>, switch: &str) -> Option<&'a Layer> {
    let (layer, on) = files.find_map(|(layer, settings)| Some((layer, settings.switch(switch)?)))?;
    on.then_some(layer)
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// The files in `managed-settings.d`, in order.
fn fragments(managed: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(managed.join("managed-settings.d")).into_iter().flatten().flatten();
    let json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(json).collect();
    paths.sort();
    paths
}
