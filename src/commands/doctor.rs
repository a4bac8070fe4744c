//! `rune doctor`: every way to be silently off, and what to do about it.

mod disk;
mod entry;
mod finding;
mod foreign;
mod pins;
mod policy;
mod sample;
mod settings;

use super::hooks::{LookArgs, Sight, Wired, say};
use crate::runtime::exit_code::{DONE, FAILED, REFUSED};
use crate::runtime::options::Options;
use crate::runtime::watchdog::{Progress, arm};
use clap::Args;
use finding::Finding;
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

/// How long everything may take: longer than a sample in each file through a program that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Finds out whether the guard is on and works, and says what to do where it does not
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune doctor\n  rune doctor --json | jq -r '.findings[].id'\n\n\
It ends by playing sample events through the registered commands; they leave no trace.\n\
Exit 0: all is well. Exit 1: there are findings. Exit 2: cannot tell.")]
pub struct DoctorArgs {
    #[command(flatten)]
    look: LookArgs,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report {
    healthy: bool,
    findings: Vec<Finding>,
}

pub fn run(args: &DoctorArgs) -> anyhow::Result<u8> {
    // A pipe in place of a file would be waited for.
    let late = |_: &Progress| {
        let what = "cannot tell: a file of the policy or a registered program hangs";
        writeln!(std::io::stderr().lock(), "rune: {what}").ok();
    };
    arm(PATIENCE, &Arc::new(Progress::new()), late, |_| REFUSED)?;
    let sight = args.look.look()?;
    let findings = examine(&sight)?;
    let healthy = findings.is_empty();
    if args.look.json {
        say(&serde_json::to_string(&Report { healthy, findings })?)?;
    } else if healthy {
        say("all is well: the guard is on, and answers sample calls as it should")?;
    } else {
        findings.iter().try_for_each(|finding| say(&finding.to_string()))?;
    }
    Ok(if healthy { DONE } else { FAILED })
}

fn examine(sight: &Sight) -> anyhow::Result<Vec<Finding>> {
    let Sight { environment, project, layers } = sight;
    let wired = Wired::all(layers);
    let mut findings = settings::check(layers, &wired);
    let (doubled, wired): (Vec<_>, Vec<_>) = wired.iter().partition(|one| settings::is_doubled(one, &wired));
    findings.extend(doubled.into_iter().map(settings::doubled));
    for wired in &wired {
        findings.extend(entry::check(wired, environment)?);
    }
    findings.extend(foreign::check(layers, environment, project));
    // A project does not choose what we start, nor where we look.
    let chosen = |wired: &&&Wired<'_>| wired.this_program || !wired.layer.level.is_project();
    let wired: Vec<&Wired<'_>> = wired.iter().filter(chosen).copied().collect();
    // Without a registration, the policy is the one that a first one would name.
    let unregistered = Options::parse(&[]);
    let called: Vec<&Options> = wired.iter().map(|wired| &wired.options).collect();
    for options in if called.is_empty() { vec![&unregistered] } else { called } {
        findings.extend(policy::check(options, environment, project));
        findings.extend(pins::check(options, environment, project));
        findings.extend(disk::check(options, environment));
    }
    for wired in &wired {
        findings.extend(disk::registered(wired));
        findings.extend(sample::check(wired, environment, project)?);
    }
    let mut once: Vec<Finding> = Vec::new();
    for finding in findings {
        if !once.contains(&finding) {
            once.push(finding);
        }
    }
    Ok(once)
}
