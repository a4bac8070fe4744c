//! Our own entries: whether they are those that we would write, and whether their program can be started.

use super::finding::Finding;
use crate::commands::hooks::{Level, ProgramError, Wired};
use crate::runtime::environment::Environment;
use crate::runtime::policy_files;
use rune::client::claude::drift::{Difference, Drift};
use rune::client::claude::settings::Hook;
use std::path::PathBuf;

/// Seconds that the guard may need; it answers after five at the latest.
const NEEDED: f64 = 6.0;

pub fn check(wired: &Wired<'_>, environment: &Environment) -> anyhow::Result<Vec<Finding>> {
    let mut findings: Vec<Finding> = program(wired).into_iter().collect();
    findings.extend(directories(wired, environment));
    findings.extend(looser(wired, environment));
    findings.extend(wired.drift(environment)?.iter().map(|drift| drifted(drift, wired)));
    Ok(findings)
}

/// The place of the entry that tells how the guard is called.
fn place(wired: &Wired<'_>) -> String {
    let ours: Vec<Hook<'_>> = wired.settings.hooks().into_iter().filter(Hook::is_ours).collect();
    let hook = ours.iter().find(|hook| hook.event == "PreToolUse").or(ours.first());
    hook.map_or_else(|| wired.layer.path.display().to_string(), |hook| wired.layer.place(&hook.pointer()))
}

/// `rune hooks install` for the file of an entry.
fn install(wired: &Wired<'_>) -> String {
    match wired.layer.level {
        Level::User => "`rune hooks install`".to_owned(),
        Level::Given => {
            format!("`rune hooks install --settings {}`", rune::shell::quote_word(&wired.layer.path.to_string_lossy()))
        }
        scope @ (Level::Project | Level::Local | Level::Managed) => {
            format!("`rune hooks install --scope {}`", scope.name())
        }
    }
}

fn program(wired: &Wired<'_>) -> Option<Finding> {
    let program = &wired.registration.program;
    let again = format!("{} registers this program", install(wired));
    let finding = match wired.flaw {
        Some(flaw) => {
            let (id, advice) = match flaw {
                ProgramError::Relative => ("program-relative", again),
                ProgramError::Missing => ("program-missing", format!("it was moved or removed; {again}")),
                ProgramError::Broken => ("program-broken", again),
                ProgramError::NotExecutable => {
                    ("program-not-executable", format!("`chmod 755 {}`", rune::shell::quote_word(program)))
                }
            };
            Finding::new(id, format!("the program that the hooks run, {program}, {}", flaw.what()), advice)
        }
        None if !wired.this_program => {
            let what = format!("the hooks run {program}, which is another program than this one");
            let ask = format!("; where the other one is meant, ask it: `{} doctor`", rune::shell::quote_word(program));
            // Nobody should be sent to start what a project brings.
            let ask = if wired.layer.level.is_project() { String::new() } else { ask };
            Finding::new("program-other", what, format!("{again}{ask}"))
        }
        None => return None,
    };
    Some(finding.at(place(wired)))
}

/// A preset that lets more pass than the one that the policy names, which it overrules.
fn looser(wired: &Wired<'_>, environment: &Environment) -> Option<Finding> {
    let environment = environment.told(&wired.options.dirs);
    let (registered, named) = (wired.options.preset.clone()?, policy_files::preset(&environment)?);
    let policy = |preset: &str| {
        let mut options = wired.options.clone();
        options.preset = Some(preset.to_owned());
        policy_files::config(&options, &environment, &policy_files::RuleSelection::all(&[]), None)
    };
    let what = format!("the hooks are told `--preset {registered}`, and the policy names the stricter `{named}`");
    let advice =
        format!("{} with `--preset {named}`; where {registered} is meant, say so in config.local.toml", install(wired));
    let looser = registered != named && policy(&registered).is_looser_than(&policy(&named));
    looser.then(|| Finding::new("preset-looser", what, advice).at(place(wired)))
}

/// Directories that the entries name and that are others than those of this shell.
fn directories(wired: &Wired<'_>, environment: &Environment) -> Vec<Finding> {
    let named = &wired.options.dirs;
    let dirs = [
        ("--config-dir", &named.config, &environment.config_dir),
        ("--state-dir", &named.state, &environment.state_dir),
        ("--data-dir", &named.data, &environment.data_dir),
        ("--client-dir", &named.client, &environment.client_dir),
    ];
    let finding = |flag: &str, told: &PathBuf, known: &PathBuf| {
        let what = format!("the hooks are told `{flag} {}`, and here it is {}", told.display(), known.display());
        let advice = format!(
            "{} writes the one from here; where the other one is meant, add `{flag} {}` to this command",
            install(wired),
            rune::shell::quote_word(&told.to_string_lossy())
        );
        Finding::new("other-directory", what, advice).at(place(wired))
    };
    let other = |(flag, told, known): (&'static str, &Option<PathBuf>, &Option<PathBuf>)| match (told, known) {
        (Some(told), Some(known)) if told != known => Some(finding(flag, told, known)),
        _ => None,
    };
    dirs.into_iter().filter_map(other).collect()
}

fn drifted(drift: &Drift<'_>, wired: &Wired<'_>) -> Finding {
    let event = drift.event;
    let advice = format!("{} writes it as it should be", install(wired));
    let field = |name: &str| match &drift.kind {
        Difference::Fields(fields) => fields.iter().any(|field| field == name),
        Difference::Missing | Difference::Repeated(_) | Difference::Needless => false,
    };
    let place = drift.hook.map_or_else(|| wired.layer.place("/hooks"), |hook| wired.layer.place(&hook.pointer()));
    let short = drift.hook.and_then(|hook| hook.timeout()).filter(|time| field("timeout") && *time < NEEDED);
    let never = drift.hook.is_some_and(|hook| field("matcher") && hook.is_for("Read").is_none());
    let (id, what) = match (&drift.kind, short) {
        (Difference::Missing, _) => ("event-missing", format!("no entry of ours for {event}")),
        (Difference::Repeated(times), _) => ("entry-repeated", format!("{times} entries of ours for {event}")),
        (Difference::Needless, _) => ("entry-needless", format!("an entry of ours for {event}, which needs none")),
        (Difference::Fields(_), Some(time)) => {
            ("timeout-too-short", format!("{event}: the client waits {time} s for an answer, and the guard may take 5"))
        }
        (Difference::Fields(_), None) if never => {
            ("matcher-invalid", format!("{event}: the matcher cannot be read, and such a hook never runs"))
        }
        (Difference::Fields(_), None) if field("onFailure") => {
            ("on-failure-missing", format!("{event}: a hook that fails does not block the call"))
        }
        (Difference::Fields(fields), None) => {
            ("entry-differs", format!("{event}: the entry differs in {} from what we would write", fields.join(", ")))
        }
    };
    Finding::new(id, what, advice).at(place)
}
