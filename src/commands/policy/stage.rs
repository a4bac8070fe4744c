//! What an update would loosen: the policy that would be in force, read by the hook's own reader from a copy.

use super::{File, Place};
use crate::runtime::environment::Environment;
use crate::runtime::files::{read, write_like};
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use rune::policy::{Config, PRESETS};
use rune::rules::RuleKind;
use std::fs;
use std::path::Path;

/// What would be milder than before, in words; nothing where nothing is.
pub fn loosened(files: &[File], place: &Place) -> anyhow::Result<Vec<String>> {
    let staged = place.data.join(format!(".policy.{}", std::process::id()));
    let found = copy(files, place, &staged).map(|()| compare(&place.config, &staged));
    fs::remove_dir_all(&staged).ok();
    found
}

fn compare(before: &Path, after: &Path) -> Vec<String> {
    let mut milder = Vec::new();
    for (preset, _) in PRESETS {
        let (before, after) = (policy(before, preset), policy(after, preset));
        if after.is_looser_than(&before) {
            milder.push(format!("the policy under the preset {preset}"));
        }
        milder.extend(after.milder_rules(&before).into_iter().map(|rule| format!("the rule {rule}")));
    }
    milder.sort();
    milder.dedup();
    milder
}

fn policy(directory: &Path, preset: &str) -> Config {
    let options = Options::parse(&["--preset".into(), preset.into(), "--config-dir".into(), directory.into()]);
    policy_files::config(
        &options,
        &Environment::read(&options.dirs),
        &policy_files::RuleSelection::all(&RuleKind::ALL.map(|(kind, ..)| kind)),
        None,
    )
}

/// Copies the policy as it would be.
fn copy(files: &[File], place: &Place, to: &Path) -> anyhow::Result<()> {
    for folder in ["", "presets", "rules"] {
        for entry in fs::read_dir(place.config.join(folder)).into_iter().flatten() {
            let from = entry?.path();
            let part = from.is_file() && from.extension().is_some_and(|kind| kind == "toml" || kind == "rules");
            let text = if part { read(&from)? } else { None };
            if let (Some(text), Some(name)) = (text, from.file_name()) {
                let copied = to.join(folder).join(name);
                write_like(&copied, &text, &copied)?;
            }
        }
    }
    for file in files {
        if let Some(text) = file.text() {
            let copied = to.join(&file.shipped.name);
            write_like(&copied, text, &copied)?;
        }
    }
    Ok(())
}
