//! The options of the registered hook, for commands that speak for it.

use super::{RegisteredLayer, SettingsLayers, project};
use crate::commands::current_dir;
use crate::runtime::environment::Environment;
use crate::runtime::options::{Dirs, Options};
use rune::client;

/// The options of the strongest registration that counts for the current directory, or else those of a hook without options.
/// Registrations of a project are ignored, because a project must not choose directories.
pub fn registered_options() -> anyhow::Result<Options> {
    let environment = Environment::read(&Dirs::default());
    let project = project(client::DEFAULT, &current_dir()?);
    let layers = SettingsLayers::read(&environment, &project, None, None);
    let layers = if environment.client_dir.is_some() { Some(layers?) } else { None };
    let registered = layers.as_ref().map(RegisteredLayer::all).unwrap_or_default();
    let own = registered.into_iter().find(|registered| !registered.layer.scope.is_project());
    Ok(own.map_or_else(|| Options::parse(&[]), |registered| registered.options))
}
