//! Clients: the programs that run the hook, one folder for each.

pub mod claude;

use crate::event::{EventError, Header, Message};
use crate::quarantined::Quarantined;
use crate::verdict::Phase;
use crate::verdict::{Finding, Verdict};
use std::collections::BTreeSet;
use std::fmt;

/// A client that runs the hook: how its events are read, and in which form it takes answers.
pub trait Client: fmt::Debug + Sync {
    /// The name of the client, as `--client` takes it.
    fn name(&self) -> &'static str;

    /// Parses one event.
    fn parse<'a>(&self, input: &'a Quarantined<Vec<u8>>) -> Result<Message<'a>, EventError>;

    /// Builds the header of an event of which only the command line is known.
    fn header(&self, phase: Option<Phase>) -> Header;

    /// Renders a verdict in the form that the client takes.
    fn answer(&self, header: &Header, verdict: &Verdict) -> Answer;
}

/// All clients. A new client is a folder beside this file and an entry here.
pub const ALL: [&dyn Client; 1] = [&claude::Claude];

/// The client of this name.
pub fn named(name: &str) -> Option<&'static dyn Client> {
    ALL.into_iter().find(|client| client.name() == name)
}

/// What the process answers, in the form of one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// One JSON object, or nothing where there is no opinion.
    pub stdout: Option<String>,
    /// What a person or a log may want to know.
    pub stderr: Option<String>,
    /// The exit code.
    pub exit: u8,
}

impl Answer {
    /// The exit code that blocks a call.
    pub const BLOCKED: u8 = 2;

    /// The answer where no JSON can be given: exit code 2 blocks, and the reason goes to stderr.
    pub fn blocked(verdict: &Verdict) -> Answer {
        Answer { stdout: None, stderr: Some(reasons(verdict)), exit: Self::BLOCKED }
    }
}

/// Findings that are shown; of more, only the number is.
const SHOWN: usize = 8;

/// One line for each of the findings that decide, and the number of those that are not shown.
fn lines(verdict: &Verdict, line: impl Fn(&Finding) -> Option<String>) -> String {
    let effect = verdict.effect();
    let mut seen = BTreeSet::new();
    let deciding = verdict.distinct().into_iter().filter(|finding| finding.effect() == effect);
    let lines: Vec<String> = deciding.filter_map(line).filter(|line| seen.insert(line.clone())).collect();
    let shown = lines.get(..SHOWN.min(lines.len())).unwrap_or_default().join("\n");
    match lines.len() - SHOWN.min(lines.len()) {
        0 => shown,
        more => format!("{shown}\nand {more} more findings"),
    }
}

/// The reasons of the findings that decide, each under its rule.
fn reasons(verdict: &Verdict) -> String {
    lines(verdict, |finding| Some(format!("{}: {}", finding.rule(), finding.reason())))
}

/// What to do instead.
fn nudges(verdict: &Verdict) -> String {
    lines(verdict, |finding| finding.nudge().map(str::to_owned))
}

/// The words of the findings that decide, as context for a model.
fn context(verdict: &Verdict) -> String {
    lines(verdict, |finding| Some(finding.reason().to_owned()))
}
