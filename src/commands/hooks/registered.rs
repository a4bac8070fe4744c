//! The options of the registered hook and its preset, for commands that speak for it.

use super::preset::{check_preset, default_preset};
use super::{RegisteredLayer, SettingsLayers, project};
use crate::commands::current_dir;
use crate::commands::style::home_relative;
use crate::runtime::environment::Environment;
use crate::runtime::options::{Dirs, Options};
use rune::client;
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// A preset, and what names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedPreset {
    pub name: String,
    pub source: String,
}

impl fmt::Display for NamedPreset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "preset: {} ({})", self.name, self.source)
    }
}

/// The options of the strongest registration that counts for the current directory, or else those of a hook without options.
/// Registrations of a project are ignored, because a project must not choose directories.
pub fn registered_options() -> anyhow::Result<Options> {
    find().map(|(options, _)| options)
}

/// The options of a hook with the preset `given`, or else with the registered one. An unknown preset is an error.
pub fn options_with_preset(given: Option<&str>, config_dir: Option<&Path>) -> anyhow::Result<(Options, NamedPreset)> {
    let (mut options, registered_in) = find()?;
    options.dirs.config = config_dir.map(Path::to_path_buf).or(options.dirs.config);
    let environment = options.environment();
    let (name, source) = match (given, &options.preset, registered_in) {
        (Some(given), ..) => {
            check_preset(given, &environment)?;
            (given.to_owned(), "given by `--preset`".to_owned())
        }
        (None, Some(preset), Some(file)) => (preset.clone(), format!("registered in {file}")),
        (None, _, Some(file)) => (default_preset(&environment), format!("of the policy; {file} names none")),
        (None, _, None) => (default_preset(&environment), "of the policy; the guard is not registered".to_owned()),
    };
    options.preset = Some(name.clone());
    Ok((options, NamedPreset { name, source }))
}

/// The registration that counts, and its file.
fn find() -> anyhow::Result<(Options, Option<String>)> {
    let environment = Environment::read(&Dirs::default());
    let project = project(client::DEFAULT, &current_dir()?);
    let layers = SettingsLayers::read(&environment, &project, None, None);
    let layers = if environment.client_dir.is_some() { Some(layers?) } else { None };
    let registered = layers.as_ref().map(RegisteredLayer::all).unwrap_or_default();
    let own = registered.into_iter().find(|registered| !registered.layer.scope.is_project());
    Ok(own.map_or_else(
        || (Options::parse(&[]), None),
        |registered| (registered.options, Some(home_relative(&registered.layer.path, environment.home.as_deref()))),
    ))
}
