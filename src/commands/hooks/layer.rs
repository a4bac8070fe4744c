//! The settings files that the client reads, by precedence.

use super::args::settings_file;
use super::file::SettingsFile;
use crate::runtime::environment::Environment;
use rune::client::Client;
use rune::client::settings::{Scope, Settings, SettingsDirs, Switch};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct SettingsLayer {
    client: &'static dyn Client,
    pub scope: Scope,
    pub path: PathBuf,
    /// Its text, if the file exists.
    pub text: Option<String>,
    /// Its content, or the place and the description of the error.
    pub settings: Result<Settings, (String, String)>,
}

impl SettingsLayer {
    fn read(client: &'static dyn Client, scope: Scope, path: PathBuf) -> SettingsLayer {
        let (path, text, settings) = match SettingsFile::read(&path) {
            Ok(file) => {
                let settings = client.read_settings(file.text.as_deref().unwrap_or_default());
                let settings = settings.map_err(|error| (error.place(&path), error.what));
                (file.path, file.text, settings)
            }
            Err(error) => {
                let (name, what) = (path.display().to_string(), error.root_cause().to_string());
                let what = what.strip_prefix(&format!("{name}: ")).unwrap_or(&what).to_owned();
                (path, None, Err((name, what)))
            }
        };
        SettingsLayer { client, scope, path, text, settings }
    }

    /// The file, line and column of a JSON pointer.
    pub fn place(&self, pointer: &str) -> String {
        let name = self.path.display();
        let steps: Vec<&str> = pointer.split('/').skip(1).collect();
        match self.text.as_deref().and_then(|text| self.client.locate(text, &steps)) {
            Some((line, column)) => format!("{name}:{line}:{column}"),
            None => name.to_string(),
        }
    }
}

/// All settings files, strongest first.
#[derive(Debug)]
pub struct SettingsLayers(Vec<SettingsLayer>);

impl SettingsLayers {
    /// Reads the files that a client in this project reads. `given` is the file on its command line, `managed` another
    /// directory of the machine's settings.
    pub fn read(
        environment: &Environment,
        project: &Path,
        given: Option<&Path>,
        managed: Option<&Path>,
    ) -> anyhow::Result<SettingsLayers> {
        let client = environment.client;
        let dirs = environment.settings_dirs(project);
        let dirs = SettingsDirs { managed: managed.unwrap_or(dirs.managed), ..dirs };
        settings_file(Scope::User, &dirs, client)?;
        let named = Scope::NAMED.into_iter().filter_map(|scope| Some((scope, client.settings_file(scope, &dirs)?)));
        let mut files: Vec<(Scope, PathBuf)> = named.collect();
        files.extend(given.map(|given| (Scope::Given, given.to_owned())));
        let fragments = fragments(&dirs.managed.join(client.locations().managed_fragments));
        files.extend(fragments.into_iter().map(|path| (Scope::Managed, path)));
        // Of files of one scope the later one wins.
        files.sort_by_key(|(scope, _)| *scope);
        let mut layers: Vec<SettingsLayer> = Vec::new();
        for (scope, path) in files {
            let layer = SettingsLayer::read(client, scope, path);
            // In the home directory, the user's file and the project's are the same.
            if !layers.iter().any(|known| is_same(&known.path, &layer.path)) {
                layers.push(layer);
            }
        }
        layers.reverse();
        Ok(SettingsLayers(layers))
    }

    /// The layers that apply to every project.
    pub fn without_project(mut self) -> SettingsLayers {
        self.0.retain(|layer| !layer.scope.is_project());
        self
    }

    pub fn iter(&self) -> std::slice::Iter<'_, SettingsLayer> {
        self.0.iter()
    }

    /// The readable files with their settings.
    pub fn settings(&self) -> impl Iterator<Item = (&SettingsLayer, &Settings)> {
        self.iter().filter_map(|layer| Some((layer, layer.settings.as_ref().ok()?)))
    }

    /// The place of the setting that disables all hooks. The strongest file that has it decides.
    pub fn hooks_disabled(&self) -> Option<(&SettingsLayer, &Switch)> {
        first_switch(self.settings().filter_map(|(layer, settings)| Some((layer, settings.hooks_disabled.as_ref()?))))
    }

    /// The place of the setting that lets only managed hooks run.
    pub fn managed_hooks_only(&self) -> Option<(&SettingsLayer, &Switch)> {
        let managed = self.settings().filter(|(layer, _)| layer.scope == Scope::Managed);
        first_switch(managed.filter_map(|(layer, settings)| Some((layer, settings.managed_hooks_only.as_ref()?))))
    }
}

/// The first of several switches, if it is on.
fn first_switch<'a>(
    mut switches: impl Iterator<Item = (&'a SettingsLayer, &'a Switch)>,
) -> Option<(&'a SettingsLayer, &'a Switch)> {
    switches.next().filter(|(_, switch)| switch.on)
}

fn is_same(one: &Path, other: &Path) -> bool {
    one == other || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

/// The JSON files in a directory, in order.
fn fragments(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_json).collect();
    paths.sort();
    paths
}
