//! What an update would loosen: the policy that would be in force, read by the hook's own reader from a copy.

use super::{PolicyDirs, PolicyFile};
use crate::runtime::environment::Environment;
use crate::runtime::files::{put, read};
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use rune::policy::{Config, PRESETS};
use rune::rules::RuleKind;
use std::fs;
use std::path::Path;

/// What would be loosened than before, in words; nothing where nothing is.
pub fn find(files: &[PolicyFile], dirs: &PolicyDirs) -> anyhow::Result<Vec<String>> {
    let staged = dirs.data.join(format!(".policy.{}", std::process::id()));
    let installed = stage(files, dirs, &staged).map(|()| compare(&dirs.config, &staged));
    fs::remove_dir_all(&staged).ok();
    installed
}

fn compare(before: &Path, after: &Path) -> Vec<String> {
    let mut loosened = Vec::new();
    for (preset, _) in PRESETS {
        let (before, after) = (load_policy(before, preset), load_policy(after, preset));
        if after.is_looser_than(&before) {
            loosened.push(format!("the policy under the preset {preset}"));
        }
        loosened.extend(after.milder_rules(&before).into_iter().map(|rule| format!("the rule {rule}")));
    }
    loosened.sort();
    loosened.dedup();
    loosened
}

fn load_policy(directory: &Path, preset: &str) -> Config {
    let options = Options::parse(&["--preset".into(), preset.into(), "--config-dir".into(), directory.into()]);
    policy_files::config(
        &options,
        &Environment::look(&options.dirs),
        &policy_files::RuleSelection::all(&RuleKind::ALL.map(|(kind, ..)| kind)),
        None,
    )
}

/// Copies the policy as it would be.
fn stage(files: &[PolicyFile], dirs: &PolicyDirs, to: &Path) -> anyhow::Result<()> {
    for folder in ["", "presets", "rules"] {
        for entry in fs::read_dir(dirs.config.join(folder)).into_iter().flatten() {
            let from = entry?.path();
            let part = from.is_file() && from.extension().is_some_and(|kind| kind == "toml" || kind == "rules");
            let text = if part { read(&from)? } else { None };
            if let (Some(text), Some(name)) = (text, from.file_name()) {
                let copied = to.join(folder).join(name);
                put(&copied, &text, &copied)?;
            }
        }
    }
    for file in files {
        if let Some(text) = file.text() {
            let copied = to.join(&file.shipped.name);
            put(&copied, text, &copied)?;
        }
    }
    Ok(())
}
