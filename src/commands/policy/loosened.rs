//! What an update would loosen: loads the policy before and after it, with the loader that the hook uses.

use super::{PolicyDirs, PolicyFile};
use crate::commands::hook_options;
use crate::runtime::files::{read, write_like};
use crate::runtime::policy_files::{self, RuleSelection};
use rune::policy::{Config, PRESETS};
use rune::rules::RuleKind;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Lists the presets and rules that writing `files` would loosen.
pub fn find(files: &[PolicyFile], dirs: &PolicyDirs) -> anyhow::Result<Vec<String>> {
    let staged = dirs.data.join(format!(".policy.{}", std::process::id()));
    let loosened = stage(files, dirs, &staged).map(|()| compare(&dirs.config, &staged).into_iter().collect());
    fs::remove_dir_all(&staged).ok();
    loosened
}

fn compare(before: &Path, after: &Path) -> BTreeSet<String> {
    let mut loosened = BTreeSet::new();
    for (preset, _) in PRESETS {
        let (before, after) = (load_policy(before, preset), load_policy(after, preset));
        if after.is_looser_than(&before) {
            loosened.insert(format!("the policy under the preset {preset}"));
        }
        loosened.extend(after.weakened_rules(&before).into_iter().map(|rule| format!("the rule {rule}")));
    }
    loosened
}

fn load_policy(directory: &Path, preset: &str) -> Config {
    let options = hook_options(Some(preset), Some(directory));
    let wanted = RuleSelection::all(&RuleKind::all());
    policy_files::config(&options, &options.environment(), &wanted, None)
}

/// Copies the policy to `staged`, and writes `files` over the copy.
fn stage(files: &[PolicyFile], dirs: &PolicyDirs, staged: &Path) -> anyhow::Result<()> {
    for folder in ["", "presets", "rules"] {
        for entry in fs::read_dir(dirs.config.join(folder)).into_iter().flatten() {
            let from = entry?.path();
            let is_policy = from.is_file() && from.extension().is_some_and(|kind| kind == "toml" || kind == "rules");
            let text = if is_policy { read(&from)? } else { None };
            if let (Some(text), Some(name)) = (text, from.file_name()) {
                let copy = staged.join(folder).join(name);
                write_like(&copy, &text, &copy)?;
            }
        }
    }
    for file in files {
        if let Some(text) = file.new_text() {
            let copy = staged.join(&file.shipped.name);
            write_like(&copy, text, &copy)?;
        }
    }
    Ok(())
}
