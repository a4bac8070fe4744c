//! The `.rules` language: rules, their patterns and examples, and the parser.

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
use crate::programs::{Does, schema};
use crate::verdict::RuleId;
use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;
use syntax::Expected;

/// The kind of a file of rules: what its rules are matched with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleKind {
    /// Commands.
    Bash,
    /// Files that a tool or a command changes.
    Edit,
    /// Files and web pages that a tool or a command reads.
    Read,
    /// Calls of MCP tools.
    Mcp,
    /// Calls of other agents.
    Agent,
    /// Content of results from untrusted surfaces.
    Post,
}

impl RuleKind {
    /// The name and the embedded rules of each kind.
    const TABLE: &[(RuleKind, &str, &str)] = &[
        (RuleKind::Bash, "bash", include_str!("../rules/bash.rules")),
        (RuleKind::Edit, "edit", include_str!("../rules/edit.rules")),
        (RuleKind::Read, "read", include_str!("../rules/read.rules")),
        (RuleKind::Mcp, "mcp", include_str!("../rules/mcp.rules")),
        (RuleKind::Agent, "agent", include_str!("../rules/agent.rules")),
        (RuleKind::Post, "post", include_str!("../rules/post.rules")),
    ];

    /// All kinds.
    pub fn all() -> Vec<RuleKind> {
        RuleKind::TABLE.iter().map(|(kind, ..)| *kind).collect()
    }

    /// The kind of a file with this name: `bash.rules`, `bash.team.rules`.
    pub fn from_file_name(name: &str) -> Option<RuleKind> {
        let first = name.strip_suffix(".rules")?.split('.').next()?;
        RuleKind::TABLE.iter().find(|(_, kind, _)| *kind == first).map(|(kind, ..)| *kind)
    }

    /// The name, without `.rules`.
    pub fn name(self) -> &'static str {
        RuleKind::TABLE.iter().find(|(kind, ..)| *kind == self).map_or("", |(_, name, _)| name)
    }

    /// The text of the embedded rules.
    pub fn embedded(self) -> &'static str {
        RuleKind::TABLE.iter().find(|(kind, ..)| *kind == self).map_or("", |(.., text)| text)
    }
}

/// Who wrote a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The operator, or the author of the embedded rules.
    Operator,
    /// The project that the agent works on. It may be hostile, so no text of its rules reaches an answer.
    Project,
}

/// The position of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file.
    pub file: Rc<str>,
    /// The line of its header, from 1.
    pub line: usize,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// How a rule matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher {
    /// If any of these patterns matches.
    Patterns(Cow<'static, [Pattern]>),
    /// If a command has one of these effects, by the catalogue of programs.
    Does(Cow<'static, [NamedEffect]>),
    /// If a validator finds something.
    Validator(ValidatorId),
}

/// An effect that a `does` clause names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedEffect {
    /// What the catalogue says about a verb, or what a statement or a request does.
    Does(Does),
    /// The command prints credentials.
    Reveals,
}

impl NamedEffect {
    /// The effect of this name.
    pub fn from_name(name: &str) -> Option<NamedEffect> {
        let known = schema::DOES.iter().find(|(known, _)| *known == name).map(|(_, does)| NamedEffect::Does(*does));
        known.or_else(|| (name == "reveals").then_some(NamedEffect::Reveals))
    }
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// Its tier.
    pub tier: Tier,
    /// The kind of the file that it is in.
    pub kind: RuleKind,
    /// What it matches.
    pub matcher: Matcher,
    /// If there are any, one of these must match too.
    pub only_when: Cow<'static, [Pattern]>,
    /// None of these may match.
    pub except_when: Cow<'static, [Pattern]>,
    /// Whether it applies only to sessions that have read untrusted content.
    pub only_when_tainted: bool,
    /// What a match means: the rest of a sentence that begins with the command or the file, with variables. Empty if the
    /// rule does not say it.
    pub reason: Cow<'static, str>,
    /// What to do instead, with variables.
    pub nudge: Cow<'static, str>,
    examples: Cow<'static, [Example]>,
    /// Where it is written.
    pub source: Source,
    /// Who wrote it.
    pub owner: Owner,
}

/// A match of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// The tier of the match. That of a validator's match may differ from the tier of the rule.
    pub tier: Tier,
    /// What a validator found, in place of the rule's reason: a constant text, or empty.
    pub reason: String,
}

impl Rule {
    /// Examples that the rule must match.
    pub fn hits(&self) -> impl Iterator<Item = &Example> {
        self.examples.iter().filter(|example| example.expected == Expected::Match)
    }

    /// Examples that no rule may match.
    pub fn misses(&self) -> impl Iterator<Item = &Example> {
        self.examples.iter().filter(|example| example.expected == Expected::NoMatch)
    }

    /// Whether the prefilter can never rule it out.
    pub(crate) fn is_unfiltered(&self) -> bool {
        match &self.matcher {
            Matcher::Validator(_) | Matcher::Does(_) => true,
            Matcher::Patterns(patterns) => patterns.iter().any(Pattern::is_unfiltered),
        }
    }
}
