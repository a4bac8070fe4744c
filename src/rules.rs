//! Rules: what is looked for, how sure it is to be wrong, and what to tell the one who was stopped.

#[cfg(test)]
mod clause;
mod clue;
mod embedded;
mod example;
mod excerpt;
mod gist;
mod glance;
mod lead;
mod parse;
mod pattern;
mod patterns;
mod proof;
mod skim;
mod walk;

pub use example::Example;
use example::Says;
pub use excerpt::Excerpt;
use gist::Beginning;
pub(crate) use gist::Letters;
pub use lead::Leads;
pub(crate) use lead::{Trace, traces};
pub use parse::{RuleError, parse, parse_for};
pub use pattern::{Pattern, PatternError};
pub use patterns::Patterns;
pub use proof::{Disproof, disproofs};
pub use skim::{Initials, Skim};

use crate::decide::subject::{Subject, Unit};
use crate::decide::validators::{Scene, Validator};
use crate::verdict::RuleId;
use std::fmt;
use std::rc::Rc;

/// How sure a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// It must not happen.
    Block,
    /// A person should look.
    Suspicious,
}

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
        (Kind::Bash, "bash", embedded::text(&embedded::BASH_TEXT)),
        (Kind::Edit, "edit", embedded::text(&embedded::EDIT_TEXT)),
        (Kind::Read, "read", embedded::text(&embedded::READ_TEXT)),
        (Kind::Mcp, "mcp", embedded::text(&embedded::MCP_TEXT)),
        (Kind::Agent, "agent", embedded::text(&embedded::AGENT_TEXT)),
        (Kind::Post, "post", embedded::text(&embedded::POST_TEXT)),
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
    Patterns(Patterns),
    /// What only a program can find.
    Validator(Validator),
}

/// One rule.
#[derive(Clone, Debug)]
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
    pub only_when: Patterns,
    /// None of these may match.
    pub except_when: Patterns,
    /// It counts only in a session that has taken in untrusted content.
    pub only_when_tainted: bool,
    /// What to do instead.
    pub nudge: Excerpt,
    /// How texts begin that it could match.
    beginning: Beginning,
    /// Its lines, with the examples that prove it.
    proof: Excerpt,
    /// Where it is written.
    pub source: Source,
    /// Whose it is.
    pub owner: Owner,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        // How its texts begin is told by its patterns.
        let Rule {
            id,
            tier,
            kind,
            matcher,
            only_when,
            except_when,
            only_when_tainted,
            nudge,
            proof,
            source,
            owner,
            ..
        } = self;
        (id, tier, kind, matcher, only_when, except_when)
            == (&other.id, &other.tier, &other.kind, &other.matcher, &other.only_when, &other.except_when)
            && (only_when_tainted, nudge, proof, source, owner)
                == (&other.only_when_tainted, &other.nudge, &other.proof, &other.source, &other.owner)
    }
}

impl Eq for Rule {}

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
    pub fn hits(&self) -> impl Iterator<Item = Example<'_>> {
        example::examples(self.proof.as_str(), self.source.line, Says::Hits)
    }

    /// Calls that nobody objects to.
    pub fn misses(&self) -> impl Iterator<Item = Example<'_>> {
        example::examples(self.proof.as_str(), self.source.line, Says::Misses)
    }

    /// Whether it could find something in a unit of its kind, as far as that is plain to see.
    pub(crate) fn could_concern(&self, unit: &Unit<'_>) -> bool {
        match self.matcher {
            Matcher::Validator(_) => true,
            Matcher::Patterns(_) => unit.texts().any(|(_, letters)| self.beginning.allows(letters)),
        }
    }

    /// What it would cost to match those of its patterns that could match; nothing where none could.
    pub(crate) fn effort(&self, unit: &Unit<'_>) -> usize {
        let of = |letters: &Letters, pattern: &Pattern| {
            if could_match(pattern, letters, unit) { pattern.effort() } else { 0 }
        };
        match &self.matcher {
            Matcher::Validator(_) => 1,
            Matcher::Patterns(patterns) => unit
                .texts()
                .map(|(_, letters)| patterns.iter().map(|pattern| of(letters, pattern)).sum::<usize>())
                .sum(),
        }
    }

    /// Whether there are clues to what it looks for.
    pub(crate) fn has_clues(&self) -> bool {
        match &self.matcher {
            Matcher::Validator(_) => false,
            Matcher::Patterns(patterns) => patterns.iter().all(|pattern| pattern.number().is_some()),
        }
    }

    /// What this rule finds in a unit of its kind.
    pub fn find(&self, unit: &Unit<'_>, scene: &Scene<'_>) -> Result<Option<Found>, PatternError> {
        let found = match &self.matcher {
            Matcher::Patterns(patterns) => {
                let could = unit.texts().any(|(_, letters)| patterns.could_match(letters));
                (could && matches_any(patterns, unit)?).then(|| Found { tier: self.tier, what: String::new() })
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
            Subject::Passage(around, _) => matches_in(&self.except_when, around)?,
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
    for pattern in patterns {
        if pattern.matches(text)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a pattern matches one of the texts of a unit.
pub(crate) fn matches_any(patterns: &[Pattern], unit: &Unit<'_>) -> Result<bool, PatternError> {
    // A pattern that says nothing of a pipe means one command.
    let piped = matches!(unit.subject, Subject::Pipeline(_));
    for (text, letters) in unit.texts() {
        for pattern in patterns {
            if could_match(pattern, letters, unit)
                && (!piped || pattern.as_str().contains("\\|"))
                && pattern.is_match(text)?
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a pattern could match, by the letters of a text or by the clues of its unit.
fn could_match(pattern: &Pattern, letters: &Letters, unit: &Unit<'_>) -> bool {
    let led = if let Subject::Passage(_, leads) = &unit.subject { leads.lead_to(pattern) } else { None };
    led.unwrap_or_else(|| pattern.could_match(letters))
}
