//! `rune doctor`: finds what silently disables the guard.

mod client_version;
mod entries;
mod loosened;
mod other_hooks;
mod permissions;
mod pins;
mod policy;
mod samples;
mod settings;

pub use client_version::check as client_version;
pub use loosened::matches_everything;

use super::hooks::{InspectArgs, Inspection, RegisteredLayer};
use super::say;
use crate::runtime::exit_code::{DONE, FAILED, REFUSED};
use crate::runtime::options::Options;
use crate::runtime::pause;
use crate::runtime::watchdog::{Progress, arm};
use rune::policy::Pause;
use serde::Serialize;
use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// The time limit of the whole command: longer than one sample for each file with a program that hangs.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What is wrong, where, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The stable name.
    pub id: &'static str,
    /// The file, with line and column if they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub what: String,
    pub advice: String,
}

impl Problem {
    pub fn new(id: &'static str, what: impl Into<String>, advice: impl Into<String>) -> Problem {
        Problem { id, place: None, what: what.into(), advice: advice.into() }
    }

    pub fn at(self, place: impl Into<String>) -> Problem {
        Problem { place: Some(place.into()), ..self }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place.iter().map(|place| format!("{place}: ")).collect::<String>();
        write!(f, "{place}{} ({})\n  help: {}", self.what, self.id, self.advice)
    }
}

/// The output of `--json`.
#[derive(Serialize)]
struct DoctorReport {
    healthy: bool,
    findings: Vec<Problem>,
}

pub fn run(args: &InspectArgs) -> anyhow::Result<u8> {
    // Opening a named pipe in place of a file blocks.
    let on_timeout = |_: &Progress| {
        let what = "cannot tell: a file of the policy or a registered program hangs";
        writeln!(std::io::stderr().lock(), "rune: {what}").ok();
    };
    arm(TIMEOUT, &Arc::new(Progress::new()), on_timeout, |_| REFUSED)?;
    let findings = examine(&args.inspect()?)?;
    let healthy = findings.is_empty();
    if args.json {
        say(&crate::commands::to_json(&DoctorReport { healthy, findings })?)?;
    } else if healthy {
        say("all is well: the guard is on, and answers sample calls as it should")?;
    } else {
        findings.iter().try_for_each(|problem| say(&problem.to_string()))?;
    }
    Ok(if healthy { DONE } else { FAILED })
}

fn examine(inspection: &Inspection) -> anyhow::Result<Vec<Problem>> {
    let Inspection { environment, project, layers } = inspection;
    let registered = RegisteredLayer::all(layers);
    let mut problems = settings::check(layers, &registered, environment.client);
    let (repeated, registered): (Vec<_>, Vec<_>) =
        registered.iter().partition(|layer| settings::is_repeated(layer, &registered));
    problems.extend(repeated.into_iter().map(settings::repeated));
    for layer in &registered {
        problems.extend(layer.obstacle().map(|(what, advice)| Problem::new("not-confirmed", what, advice)));
        problems.extend(entries::check(layer, environment)?);
    }
    problems.extend(other_hooks::check(layers, environment, project));
    problems.extend(client_version::check(environment, project).filter(|_| !registered.is_empty()));
    // A project must not choose the programs that are started here, nor the files that are read.
    let trusted = |layer: &&RegisteredLayer<'_>| layer.is_this_program || !layer.layer.scope.is_project();
    let registered: Vec<&RegisteredLayer<'_>> = registered.into_iter().filter(trusted).collect();
    // Without a registration, the policy is that of a first registration.
    let mut unregistered = Options::parse(&[]);
    unregistered.client = environment.client;
    let options: Vec<&Options> = registered.iter().map(|layer| &layer.options).collect();
    let paused: Vec<Option<Pause>> =
        registered.iter().map(|layer| pause::read(&environment.with_dirs(&layer.options.dirs))).collect();
    if let Some(pause) = paused.iter().flatten().next() {
        let what = format!("the guard is paused {pause}: only what is always denied is stopped");
        problems.push(Problem::new("paused", what, "`rune resume` ends the pause"));
    }
    for options in if options.is_empty() { vec![&unregistered] } else { options } {
        problems.extend(policy::check(options, environment, project));
        problems.extend(pins::check(options, environment, project));
        problems.extend(permissions::check(options, environment));
    }
    for (layer, pause) in registered.iter().zip(paused) {
        problems.extend(permissions::check_registered(layer));
        // During a pause the samples are not answered as the preset says.
        if pause.is_some() {
            continue;
        }
        problems.extend(samples::check(layer, environment, project)?);
    }
    let mut unique: Vec<Problem> = Vec::new();
    for problem in problems {
        if !unique.contains(&problem) {
            unique.push(problem);
        }
    }
    Ok(unique)
}
