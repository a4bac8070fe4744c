//! `rune hooks install --plugin`: the guard as a plugin of the client, which calls the same binary.

use super::args::Target;
use super::preset::{check_preset, default_preset};
use super::registration;
use crate::commands::current_dir;
use crate::runtime::files::write_like;
use anyhow::bail;
use std::path::Path;

pub fn write(folder: &Path, preset: Option<&str>, target: &Target<'_>) -> anyhow::Result<()> {
    let Target { args, environment } = target;
    let client = environment.client;
    let preset = preset.map_or_else(|| default_preset(environment), str::to_owned);
    check_preset(&preset, environment)?;
    let folder = current_dir()?.join(folder);
    let registration = registration(&preset, environment, None)?;
    let plugin = client.plugin(&registration).map_err(|error| anyhow::anyhow!(error.what))?;
    let manifest = std::fs::read_to_string(folder.join(plugin.manifest)).unwrap_or_default();
    let is_empty = std::fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty && !client.is_own_plugin(&manifest) {
        bail!("{}: not empty, and not a plugin of ours\n  help: name a directory of its own", folder.display());
    }
    for (name, text) in plugin.files {
        let path = folder.join(name);
        if args.dry_run {
            say!("would write {}", path.display())?;
        } else {
            write_like(&path, &text, &path)?;
        }
    }
    if args.dry_run {
        return Ok(());
    }
    say!("wrote a plugin with the preset {preset} to {}", folder.display())?;
    let folder = rune::shell::quote_word(&folder.to_string_lossy());
    say!("try it with: {} {folder}", plugin.start_command)
}
