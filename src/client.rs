//! Clients: who asks, and in which words. One file each.

pub mod claude;

use crate::event::{Header, Message, Unread};
use crate::quarantined::Quarantined;
use crate::verdict::Phase;
use crate::verdict::{Finding, Verdict};
use std::collections::BTreeSet;

/// A client that can call us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    Claude,
}

/// What the process says: the words of one client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// One JSON object, or nothing where there is no opinion.
    pub stdout: Option<String>,
    /// What a person or a log may want to know.
    pub stderr: Option<String>,
    /// The exit code.
    pub exit: u8,
}

impl Client {
    /// All clients by name.
    pub const ALL: [(&'static str, Client); 1] = [("claude", Client::Claude)];

    /// Its name.
    pub fn name(self) -> &'static str {
        Client::ALL.iter().find(|(_, client)| *client == self).map_or("", |(name, _)| name)
    }

    /// Parses one event.
    pub fn parse<'a>(self, input: &'a Quarantined<Vec<u8>>) -> Result<Message<'a>, Unread> {
        match self {
            Client::Claude => claude::parse(input),
        }
    }

    /// What is known of an event from the command line alone.
    pub fn header(self, phase: Option<Phase>) -> Header {
        match self {
            Client::Claude => claude::header(phase),
        }
    }

    /// Puts a verdict into the client's words.
    pub fn answer(self, header: &Header, verdict: &Verdict) -> Answer {
        match self {
            Client::Claude => claude::answer(header, verdict),
        }
    }
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
