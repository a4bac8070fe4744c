//! The guard as a plugin of Claude Code: the same binary, called from a plugin's hooks.

use super::preset::{check_preset, first_preset};
use super::{PlaceArgs, registration, say};
use crate::runtime::files::put;
use anyhow::{Context, bail};
use std::path::Path;

const SKILL: &str = include_str!("../../../config/plugin/skill.md");
const COMMAND: &str = include_str!("../../../config/plugin/command.md");

/// Writes the plugin into a directory.
pub fn write(folder: &Path, preset: Option<&str>, place: &PlaceArgs) -> anyhow::Result<()> {
    let environment = place.dirs.environment()?;
    let preset = preset.map_or_else(|| first_preset(&environment), str::to_owned);
    check_preset(&preset, &environment)?;
    let folder = std::env::current_dir().context("the current directory cannot be told")?.join(folder);
    let manifest = folder.join(".claude-plugin/plugin.json");
    let foreign = std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some()) && !is_ours(&manifest);
    if foreign {
        bail!("{}: not empty, and not a plugin of ours\n  help: name a directory of its own", folder.display());
    }
    let registration = registration(&preset, &environment, None)?;
    let program = rune::shell::quote_word(&registration.program);
    let hooks = registration.install("", None).map_err(|broken| anyhow::anyhow!(broken.what))?;
    let version = env!("CARGO_PKG_VERSION");
    let plugin = serde_json::json!({
        "name": "rune",
        "version": version,
        "description": "A guard around each tool call: allows, asks, denies, and marks what strangers have written",
    });
    for (name, text) in [
        (".claude-plugin/plugin.json", format!("{plugin:#}\n")),
        ("hooks/hooks.json", hooks),
        ("commands/rune.md", COMMAND.replace("{program}", &program)),
        ("skills/untrusted-content/SKILL.md", SKILL.to_owned()),
    ] {
        let path = folder.join(name);
        if place.dry_run {
            say(&format!("would write {}", path.display()))?;
        } else {
            put(&path, &text, &path)?;
        }
    }
    if place.dry_run {
        return Ok(());
    }
    say(&format!("wrote a plugin with the preset {preset} to {}", folder.display()))?;
    say(&format!("try it with: claude --plugin-dir {}", rune::shell::quote_word(&folder.to_string_lossy())))
}

fn is_ours(manifest: &Path) -> bool {
    let text = std::fs::read_to_string(manifest).unwrap_or_default();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    value.get("name").and_then(serde_json::Value::as_str) == Some("rune")
}
