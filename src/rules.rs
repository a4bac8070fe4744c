//! Rules: what is looked for, how sure it is to be wrong, and what to tell the one who was stopped.

mod embedded;
mod example;
mod parse;
mod pattern;
mod prefilter;
mod proof;
mod syntax;

pub use example::Example;
pub use parse::{RuleError, parse};
pub use pattern::{Pattern, PatternError};
pub(crate) use prefilter::Groups;
pub use proof::{Disproof, disproofs};
pub use syntax::Tier;

use crate::decide::subject::{Subject, Unit};
use crate::decide::validators::{Scene, Validator};
use crate::encoding::nearest;
use crate::verdict::RuleId;
use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;
use syntax::Expected;

/// Which calls a file of rules is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Commands that would run.
    Bash,
    /// Files that would be changed, by whatever tool or command.
    Edit,
    /// Files and pages that would be read.
    Read,
    /// Calls of MCP tools.
    Mcp,
    /// Work that is handed to another agent.
    Agent,
    /// What results from untrusted surfaces say.
    Post,
}

impl Kind {
    /// All kinds: name, and the rules that are embedded in the binary.
    pub const ALL: [(Kind, &'static str, &'static str); 6] = [
        (Kind::Bash, "bash", include_str!("../rules/bash.rules")),
        (Kind::Edit, "edit", include_str!("../rules/edit.rules")),
        (Kind::Read, "read", include_str!("../rules/read.rules")),
        (Kind::Mcp, "mcp", include_str!("../rules/mcp.rules")),
        (Kind::Agent, "agent", include_str!("../rules/agent.rules")),
        (Kind::Post, "post", include_str!("../rules/post.rules")),
    ];

    /// The kind of a file by its name: `bash.rules`, `bash.team.rules`.
    pub fn of_file(name: &str) -> Option<Kind> {
        let first = name.strip_suffix(".rules")?.split('.').next()?;
        Kind::ALL.iter().find(|(_, kind, _)| *kind == first).map(|(kind, ..)| *kind)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// The rules that are embedded in the binary.
    pub fn embedded(self) -> &'static str {
        Kind::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., text)| text)
    }
}

/// Whose rule it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The operator's, or ours.
    Operator,
    /// That of the project that is being worked on: none of its words reach an answer.
    Project,
}

/// Where a rule is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file.
    pub file: Rc<str>,
    /// The line of its name.
    pub line: usize,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What a rule looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher {
    /// Any of these patterns.
    Patterns(Cow<'static, [Pattern]>),
    /// What only a program can find.
    Validator(Validator),
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub id: RuleId,
    /// How sure it is.
    pub tier: Tier,
    /// Which calls it is about.
    pub kind: Kind,
    /// What it looks for.
    pub matcher: Matcher,
    /// One of these has to match too.
    pub only_when: Cow<'static, [Pattern]>,
    /// None of these may match.
    pub except_when: Cow<'static, [Pattern]>,
    /// It counts only in a session that has taken in untrusted content.
    pub only_when_tainted: bool,
    /// What to do instead.
    pub nudge: Cow<'static, str>,
    /// The examples that prove it.
    examples: Cow<'static, [Example]>,
    /// Where it is written.
    pub source: Source,
    /// Whose it is.
    pub owner: Owner,
}

/// What a rule found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// How sure it is.
    pub tier: Tier,
    /// What it is, in words of our own; empty where the rule's own words say it.
    pub what: String,
}

impl Rule {
    /// Calls that it answers.
    pub fn hits(&self) -> impl Iterator<Item = &Example> {
        self.examples.iter().filter(|example| example.expected == Expected::Match)
    }

    /// Calls that nobody objects to.
    pub fn misses(&self) -> impl Iterator<Item = &Example> {
        self.examples.iter().filter(|example| example.expected == Expected::NoMatch)
    }

    /// Whether it could find something in a unit of its kind, by the prefilter of its patterns.
    pub(crate) fn could_concern(&self, unit: &Unit<'_>) -> bool {
        match &self.matcher {
            Matcher::Validator(_) => true,
            Matcher::Patterns(patterns) => {
                unit.texts().any(|(_, groups)| patterns.iter().any(|pattern| pattern.could_match(groups)))
            }
        }
    }

    /// The cost of matching those of its patterns that could match, in ordinary patterns; nothing where none could.
    pub(crate) fn cost(&self, unit: &Unit<'_>) -> usize {
        match &self.matcher {
            Matcher::Validator(_) => 1,
            Matcher::Patterns(patterns) => {
                let of = |groups| {
                    patterns.iter().filter(|pattern| pattern.could_match(groups)).map(Pattern::cost).sum::<usize>()
                };
                unit.texts().map(|(_, groups)| of(groups)).sum()
            }
        }
    }

    /// Whether it has to be asked about every text, because the prefilter knows nothing about it.
    pub(crate) fn is_unfiltered(&self) -> bool {
        match &self.matcher {
            Matcher::Validator(_) => true,
            Matcher::Patterns(patterns) => patterns.iter().any(Pattern::is_unfiltered),
        }
    }

    /// What this rule finds in a unit of its kind.
    pub fn find(&self, unit: &Unit<'_>, scene: &Scene<'_>) -> Result<Option<Found>, PatternError> {
        let found = match &self.matcher {
            Matcher::Patterns(patterns) => {
                matches_any(patterns, unit)?.then(|| Found { tier: self.tier, what: String::new() })
            }
            // What is certain is suspicious too; what is only suspicious is not certain.
            Matcher::Validator(validator) => {
                let found = unit.ask(*validator, scene);
                found.filter(|found| self.tier == Tier::Suspicious || found.tier == Tier::Block)
            }
        };
        let Some(found) = found else { return Ok(None) };
        let wanted = self.only_when.is_empty() || matches_any(&self.only_when, unit)?;
        let excepted = match unit.subject {
            // What a passage is about is said before or behind it.
            Subject::Passage(around) => matches_in(&self.except_when, around)?,
            Subject::Command(..)
            | Subject::Pipeline(_)
            | Subject::Line
            | Subject::Access(_)
            | Subject::File(_)
            | Subject::Page(_)
            | Subject::Mcp
            | Subject::Agent => matches_any(&self.except_when, unit)?,
        };
        Ok((wanted && !excepted).then_some(found))
    }
}

fn matches_in(patterns: &[Pattern], text: &str) -> Result<bool, PatternError> {
    let groups = Groups::of(text);
    for pattern in patterns {
        if pattern.matches_with(text, &groups)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a pattern matches one of the texts of a unit.
pub(crate) fn matches_any(patterns: &[Pattern], unit: &Unit<'_>) -> Result<bool, PatternError> {
    // A pattern that says nothing of a pipe means one command.
    let piped = matches!(unit.subject, Subject::Pipeline(_));
    for (text, groups) in unit.texts() {
        for pattern in patterns.iter().filter(|pattern| !piped || pattern.as_str().contains("\\|")) {
            if pattern.matches_with(text, groups)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
