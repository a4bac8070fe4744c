//! The guard's entries: whether they are those that `install` would write, and whether their program can be started.

use super::Problem;
use crate::commands::hooks::{ProgramError, RegisteredLayer};
use crate::runtime::environment::Environment;
use crate::runtime::policy_files;
use rune::client::registration::{Difference, Drift, EntryDefect};
use rune::client::settings::Scope;
use std::path::Path;

pub fn check(registered: &RegisteredLayer<'_>, environment: &Environment) -> anyhow::Result<Vec<Problem>> {
    let mut problems: Vec<Problem> = program(registered).into_iter().collect();
    problems.extend(directories(registered, environment));
    problems.extend(looser_preset(registered, environment));
    problems.extend(registered.drift(environment)?.iter().map(|drift| drift_problem(drift, registered)));
    Ok(problems)
}

/// The place of the entry that decides how the guard is called.
fn place(registered: &RegisteredLayer<'_>) -> String {
    let layer = registered.layer;
    let hook = registered.settings.main_guard_hook();
    hook.map_or_else(|| layer.path.display().to_string(), |hook| layer.place(&hook.pointer))
}

/// The `rune hooks install` command for the file of an entry.
fn install_command(registered: &RegisteredLayer<'_>) -> String {
    match registered.layer.scope {
        Scope::User => "`rune hooks install`".to_owned(),
        Scope::Given => {
            let file = rune::shell::quote_word(&registered.layer.path.to_string_lossy());
            format!("`rune hooks install --settings {file}`")
        }
        scope @ (Scope::Project | Scope::Local | Scope::Managed) => {
            format!("`rune hooks install --scope {}`", scope.name())
        }
    }
}

fn program(registered: &RegisteredLayer<'_>) -> Option<Problem> {
    let program = &registered.registration.program;
    let again = format!("{} registers this program", install_command(registered));
    let problem = match registered.program_error {
        Some(error) => {
            let (id, advice) = match error {
                ProgramError::Relative => ("program-relative", again),
                ProgramError::Missing => ("program-missing", format!("it was moved or removed; {again}")),
                ProgramError::Broken => ("program-broken", again),
                ProgramError::NotExecutable => {
                    ("program-not-executable", format!("`chmod 755 {}`", rune::shell::quote_word(program)))
                }
            };
            Problem::new(id, format!("the program that the hooks run, {program}, {}", error.what()), advice)
        }
        None if !registered.is_this_program => {
            let what = format!("the hooks run {program}, which is another program than this one");
            let ask = format!("; where the other one is meant, ask it: `{} doctor`", rune::shell::quote_word(program));
            // Do not advise to start a program that a project names.
            let ask = if registered.layer.scope.is_project() { String::new() } else { ask };
            Problem::new("program-other", what, format!("{again}{ask}"))
        }
        None => return None,
    };
    Some(problem.at(place(registered)))
}

/// A registered preset that is looser than the one in the policy, which it overrides.
fn looser_preset(registered: &RegisteredLayer<'_>, environment: &Environment) -> Option<Problem> {
    let environment = environment.with_dirs(&registered.options.dirs);
    let (given, named) = (registered.options.preset.clone()?, policy_files::preset(&environment)?);
    let policy = |preset: &str| {
        let mut options = registered.options.clone();
        options.preset = Some(preset.to_owned());
        policy_files::settings(&options, &environment)
    };
    let what = format!("the hooks are told `--preset {given}`, and the policy names the stricter `{named}`");
    let advice = format!(
        "{} with `--preset {named}`; where {given} is meant, say so in config.local.toml",
        install_command(registered)
    );
    let is_looser = given != named && policy(&given).is_looser_than(&policy(&named));
    is_looser.then(|| Problem::new("preset-looser", what, advice).at(place(registered)))
}

/// Directories that the entries name and that differ from those of this process.
fn directories(registered: &RegisteredLayer<'_>, environment: &Environment) -> Vec<Problem> {
    let problem = |flag: &str, given: &Path, known: &Path| {
        let what = format!("the hooks are told `{flag} {}`, and here it is {}", given.display(), known.display());
        let advice = format!(
            "{} writes the one from here; where the other one is meant, add `{flag} {}` to this command",
            install_command(registered),
            rune::shell::quote_word(&given.to_string_lossy())
        );
        Problem::new("other-directory", what, advice).at(place(registered))
    };
    let of_hook = environment.with_dirs(&registered.options.dirs);
    let pairs = of_hook.dirs().into_iter().zip(environment.dirs());
    let other = pairs.filter_map(|((flag, given), (_, known))| Some((flag, given?, known?)));
    other.filter(|(_, given, known)| given != known).map(|(flag, given, known)| problem(flag, given, known)).collect()
}

fn drift_problem(drift: &Drift, registered: &RegisteredLayer<'_>) -> Problem {
    let event = &drift.event;
    let (id, what) = match &drift.difference {
        Difference::Missing => ("event-missing", format!("no entry of ours for {event}")),
        Difference::Repeated(times) => ("entry-repeated", format!("{times} entries of ours for {event}")),
        Difference::Needless => ("entry-needless", format!("an entry of ours for {event}, which needs none")),
        Difference::Fields { defect: Some(EntryDefect::ShortTimeout(seconds)), .. } => (
            "timeout-too-short",
            format!("{event}: the client waits {seconds} s for an answer, and the guard may take 5"),
        ),
        Difference::Fields { defect: Some(EntryDefect::NeverRuns), .. } => {
            ("matcher-invalid", format!("{event}: the matcher cannot be read, and such a hook never runs"))
        }
        Difference::Fields { defect: Some(EntryDefect::FailsOpen), .. } => {
            ("on-failure-missing", format!("{event}: a hook that fails does not block the call"))
        }
        Difference::Fields { names, defect: None } => {
            ("entry-differs", format!("{event}: the entry differs in {} from what we would write", names.join(", ")))
        }
    };
    let place = registered.layer.place(drift.pointer.as_deref().unwrap_or("/hooks"));
    Problem::new(id, what, format!("{} writes it as it should be", install_command(registered))).at(place)
}
