//! Rules: what is looked for, how sure it is to be wrong, and what to tell the one who was stopped.

mod embedded;
mod example;
mod literal;
mod parse;
mod pattern;
mod prefilter;
mod syntax;
mod validator;

pub use example::Example;
pub use parse::{RuleError, parse};
pub use pattern::{Pattern, PatternError};
pub(crate) use prefilter::Groups;
pub use syntax::Tier;
pub use validator::ValidatorId;

use crate::encoding::nearest;
use crate::verdict::RuleId;
use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;
use syntax::Expected;

/// Which calls a file of rules is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
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

impl RuleKind {
    /// All kinds: name, and the rules that are embedded in the binary.
    pub const ALL: [(RuleKind, &'static str, &'static str); 6] = [
        (RuleKind::Bash, "bash", include_str!("../rules/bash.rules")),
        (RuleKind::Edit, "edit", include_str!("../rules/edit.rules")),
        (RuleKind::Read, "read", include_str!("../rules/read.rules")),
        (RuleKind::Mcp, "mcp", include_str!("../rules/mcp.rules")),
        (RuleKind::Agent, "agent", include_str!("../rules/agent.rules")),
        (RuleKind::Post, "post", include_str!("../rules/post.rules")),
    ];

    /// The kind of a file by its name: `bash.rules`, `bash.team.rules`.
    pub fn of_file(name: &str) -> Option<RuleKind> {
        let first = name.strip_suffix(".rules")?.split('.').next()?;
        RuleKind::ALL.iter().find(|(_, kind, _)| *kind == first).map(|(kind, ..)| *kind)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        RuleKind::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// The rules that are embedded in the binary.
    pub fn embedded(self) -> &'static str {
        RuleKind::ALL.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., text)| text)
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
    Validator(ValidatorId),
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its name.
    pub id: RuleId,
    /// How sure it is.
    pub tier: Tier,
    /// Which calls it is about.
    pub kind: RuleKind,
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
pub struct Match {
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

    /// Whether it has to be asked about every text, because the prefilter knows nothing about it.
    pub(crate) fn is_unfiltered(&self) -> bool {
        match &self.matcher {
            Matcher::Validator(_) => true,
            Matcher::Patterns(patterns) => patterns.iter().any(Pattern::is_unfiltered),
        }
    }
}
