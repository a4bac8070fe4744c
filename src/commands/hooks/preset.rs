//! Presets: which one a registration names, and who may step from one to another.

use super::PlaceArgs;
use crate::runtime::environment::Environment;
use crate::runtime::options::Options;
use crate::runtime::{agent_check, policy_files};
use anyhow::bail;
use rune::client::claude::register::Registration;
use rune::encoding::nearest;
use rune::policy::{Config, DEFAULT_PRESET, PRESETS};

/// The preset of those who name none and have none registered.
pub fn first_preset(environment: &Environment) -> String {
    policy_files::preset(environment).unwrap_or_else(|| DEFAULT_PRESET.to_owned())
}

/// The strictest preset among entries; somebody may have worked on one of them.
pub fn strictest(entries: &[Registration], environment: &Environment) -> Option<String> {
    let mut best: Option<(String, Config)> = None;
    for entry in entries {
        let preset = entry.preset().map_or_else(|| first_preset(environment), str::to_owned);
        let config = policy(entry);
        let stays = |(_, best): &(String, Config)| config.is_looser_than(best) || !best.is_looser_than(&config);
        if !best.as_ref().is_some_and(stays) {
            best = Some((preset, config));
        }
    }
    best.map(|(preset, _)| preset)
}

/// The policy that a hook of this registration judges by.
fn policy(registration: &Registration) -> Config {
    let options = options(registration);
    policy_files::config(&options, &Environment::read(&options.dirs), &policy_files::RuleSelection::all(&[]), None)
}

/// Where the receipt of a change to these entries goes: to the directories that their hooks read at the start of a session.
/// Those that the command line names may be others.
pub fn world_of_receipt(entries: &[Registration], environment: &Environment) -> Environment {
    entries.first().map_or_else(|| environment.clone(), |entry| Environment::read(&options(entry).dirs))
}

fn options(registration: &Registration) -> Options {
    Options::parse(&registration.words.iter().map(Into::into).collect::<Vec<_>>())
}

/// Checks that the caller may go from these entries to a registration; tells whether that loosens the guard.
pub fn check_step(old: &[Registration], new: &Registration, place: &PlaceArgs) -> anyhow::Result<bool> {
    if place.dry_run {
        return Ok(false);
    }
    let after = policy(new);
    if old.iter().any(|old| after.is_looser_than(&policy(old))) {
        return agent_check::require_confirmed_person("making the guard less strict", place.yes).map(|()| true);
    }
    // Another program or another policy may be anything.
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

/// Whether there is a preset of this name.
pub fn check_preset(preset: &str, environment: &Environment) -> anyhow::Result<()> {
    let own = environment.config_dir.as_ref().map(|dir| dir.join("presets").join(format!("{preset}.toml")));
    let plain = preset.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if PRESETS.iter().any(|(name, _)| *name == preset) || (plain && own.is_some_and(|own| own.is_file())) {
        return Ok(());
    }
    let names = PRESETS.map(|(name, _)| name);
    let help = nearest(preset, names.into_iter()).map_or_else(
        || format!("there are {}, and the files in presets/ beside your config.toml", names.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    bail!("unknown preset `{preset}`\n  help: {help}")
}
