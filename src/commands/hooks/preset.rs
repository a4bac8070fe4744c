//! Presets: which one a registration names, and who may change it.

use super::args::TargetArgs;
use crate::runtime::environment::Environment;
use crate::runtime::options::Options;
use crate::runtime::{agent_check, policy_files};
use anyhow::bail;
use rune::client::registration::Registration;
use rune::encoding::nearest;
use rune::policy::{Config, DEFAULT_PRESET, PRESETS};

/// The preset of a registration if neither the command line nor an older registration names one.
pub fn default_preset(environment: &Environment) -> String {
    policy_files::preset(environment).unwrap_or_else(|| DEFAULT_PRESET.to_owned())
}

/// The strictest preset among entries, which may differ if the file was edited by hand.
pub fn strictest_preset(entries: &[Registration], environment: &Environment) -> Option<String> {
    let mut best: Option<(String, Config)> = None;
    for entry in entries {
        let preset = entry.preset().map_or_else(|| default_preset(environment), str::to_owned);
        let config = policy(entry);
        let is_stricter = |(_, best): &(String, Config)| best.is_looser_than(&config) && !config.is_looser_than(best);
        if best.as_ref().is_none_or(is_stricter) {
            best = Some((preset, config));
        }
    }
    best.map(|(preset, _)| preset)
}

fn policy(registration: &Registration) -> Config {
    let options = Options::of(registration);
    policy_files::settings(&options, &options.environment())
}

/// The environment that the receipt of a change to these entries is written in: that of their hooks, which read it at the
/// start of a session. The directories of the command line may be others.
pub fn receipt_environment(entries: &[Registration], environment: &Environment) -> Environment {
    let of_entry = |entry| Environment::of(environment.client, &Options::of(entry).dirs);
    entries.first().map_or_else(|| environment.clone(), of_entry)
}

/// Checks that the caller may replace these entries by a registration, and returns whether that needs a receipt.
pub fn check_change(old: &[Registration], new: &Registration, args: &TargetArgs) -> anyhow::Result<bool> {
    if args.dry_run {
        return Ok(false);
    }
    let after = policy(new);
    if old.iter().any(|old| after.is_looser_than(&policy(old))) {
        return agent_check::require_confirmed_person("making the guard less strict", args.yes).map(|()| true);
    }
    // Another program or another policy may be looser in any way.
    let rest = |registration: &Registration| {
        let Registration { program, words, .. } = registration.clone();
        let words: Vec<String> =
            words.into_iter().filter(|word| Some(word.as_str()) != registration.preset()).collect();
        (program, words)
    };
    let moved = old.iter().any(|old| rest(old) != rest(new));
    if moved {
        agent_check::require_person("moving the guard to another program or policy")?;
    }
    Ok(moved)
}

pub fn check_preset(preset: &str, environment: &Environment) -> anyhow::Result<()> {
    let file = environment.config_dir.as_ref().map(|dir| dir.join("presets").join(format!("{preset}.toml")));
    let is_name = preset.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if PRESETS.iter().any(|(name, _)| *name == preset) || (is_name && file.is_some_and(|file| file.is_file())) {
        return Ok(());
    }
    let names = PRESETS.map(|(name, _)| name);
    let help = nearest(preset, names.into_iter()).map_or_else(
        || format!("there are {}, and the files in presets/ beside your config.toml", names.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    bail!("unknown preset `{preset}`\n  help: {help}")
}
