//! Changes of the policy that would remove most interruptions, as lines for a terminal.

use super::tally::Stopped;
use crate::commands::allow::check;
use crate::runtime::environment::Environment;
use rune::encoding::escape::is_hidden;
use rune::policy::Config;
use rune::rules::Tier;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Lines that are suggested.
const MAX_LINES: usize = 8;

/// Interruptions from which on a line is worth it.
const MIN_REMOVED: u64 = 2;

/// The rules whose findings end where the directory is worked in.
const PLACE_RULES: [&str; 2] = ["edit-outside-project", "write-outside-project"];

/// What is suggested, and what it achieves.
#[derive(Debug, Default, Serialize)]
pub struct Suggested {
    /// Interruptions in all.
    pub of: u64,
    /// Those that would be removed.
    pub removed: u64,
    pub lines: Vec<Line>,
}

#[derive(Debug, Serialize)]
pub struct Line {
    /// The command.
    pub line: String,
    /// The interruptions that it removes, after the lines before it.
    pub removed: u64,
}

/// A change of the policy, the narrowest first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// An exception from a rule for one subject.
    Exact { rule: String, subject: String },
    /// A program that is known.
    Program(String),
    /// A directory that is worked in.
    Directory(String),
    /// An exception from a rule for all subjects that begin with these words; `end` is what follows, as a pattern.
    Beginning { rule: String, words: String, end: &'static str },
}

impl Change {
    fn line(&self, removed: u64) -> String {
        let reason = format!("--reason 'replay: {removed} calls'");
        match self {
            Change::Exact { rule, subject } => {
                let pattern = format!("^{}$", regex_lite::escape(subject));
                format!("rune allow {} --match {} {reason}", quoted(rule), quoted(&pattern))
            }
            Change::Beginning { rule, words, end } => {
                let pattern = format!("^{}{end}", regex_lite::escape(words));
                format!("rune allow {} --match {} {reason}", quoted(rule), quoted(&pattern))
            }
            Change::Program(name) => format!("rune allow --program {name} {reason}"),
            Change::Directory(path) => format!("rune allow --dir {} {reason}", quoted(path)),
        }
    }
}

/// Suggests changes that remove most of these interruptions: one after the other, the one that removes most.
pub fn suggest(stops: &BTreeMap<BTreeSet<Stopped>, u64>, config: &Config, environment: &Environment) -> Suggested {
    let finder = Finder { config, environment };
    // For each interruption, the changes that remove each of its findings. One without changes stays.
    let mut open: Vec<(Vec<Vec<Change>>, u64)> = Vec::new();
    for (stopped, count) in stops {
        let changes: Vec<Vec<Change>> = stopped.iter().map(|one| finder.changes(one)).collect();
        if changes.iter().all(|changes| !changes.is_empty()) {
            open.push((changes, *count));
        }
    }
    let mut suggested = Suggested { of: stops.values().sum(), ..Suggested::default() };
    while suggested.lines.len() < MAX_LINES {
        let mut removed_by: BTreeMap<&Change, u64> = BTreeMap::new();
        for (findings, count) in &open {
            let Some((first, rest)) = findings.split_first() else { continue };
            for change in first.iter().filter(|change| rest.iter().all(|changes| changes.contains(change))) {
                *removed_by.entry(change).or_default() += count;
            }
        }
        // Of equal ones the narrowest.
        let best = removed_by.into_iter().rev().max_by_key(|(_, removed)| *removed);
        let Some((change, removed)) = best.filter(|(_, removed)| *removed >= MIN_REMOVED) else { break };
        let change = change.clone();
        suggested.removed += removed;
        suggested.lines.push(Line { line: change.line(removed), removed });
        for (findings, _) in &mut open {
            findings.retain(|changes| !changes.contains(&change));
        }
        open.retain(|(findings, _)| !findings.is_empty());
    }
    suggested
}

struct Finder<'a> {
    config: &'a Config,
    environment: &'a Environment,
}

impl Finder<'_> {
    /// The changes by which the finding would not stop the call; those that `rune allow` refuses are left out.
    fn changes(&self, stopped: &Stopped) -> Vec<Change> {
        if let Some(program) = &stopped.program {
            let is_allowed = check::program(program, self.config).is_ok();
            return is_allowed.then(|| Change::Program(program.clone())).into_iter().collect();
        }
        let rule = &stopped.rule;
        let Some(subject) = stopped.subject.as_ref().filter(|_| check::rule(rule, self.config).is_ok()) else {
            return Vec::new();
        };
        // A text with a substitution does not say what runs, so it stands for calls of all kinds.
        if subject.chars().any(is_hidden) || subject.contains(['\n', '$']) {
            return Vec::new();
        }
        let mut changes = vec![Change::Exact { rule: rule.clone(), subject: subject.clone() }];
        if PLACE_RULES.contains(&rule.as_str()) {
            changes.extend(self.directory(subject).map(Change::Directory));
        } else if rule == "mcp-unregistered" {
            changes.extend(server(subject).map(|words| Change::Beginning { rule: rule.clone(), words, end: "__" }));
        } else if self.is_mild(rule) {
            changes.extend(beginning(subject).map(|words| Change::Beginning {
                rule: rule.clone(),
                words,
                end: "( |$)",
            }));
        }
        changes
    }

    /// Whether gentle only advises by this rule, so that an exception may be wide.
    fn is_mild(&self, rule: &str) -> bool {
        let mut named = self.config.rules.iter().filter(|known| known.id.as_str() == rule);
        named.all(|rule| rule.tier == Tier::Suspicious) && !self.config.always_ask.iter().any(|known| known == rule)
    }

    /// The repository that holds a file outside of the project, or else its directory.
    fn directory(&self, file: &str) -> Option<String> {
        let file = match (file.strip_prefix("~/"), &self.environment.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(file),
        };
        let folder = file.parent().filter(|folder| folder.is_absolute())?;
        let repository = folder.ancestors().find(|above| above.join(".git").exists());
        let allowed = |folder: &Path| check::directory(folder, self.environment, self.config).ok();
        repository.and_then(allowed).or_else(|| allowed(folder))
    }
}

/// The program and its verb: the first words of a command, if they are plain.
fn beginning(command: &str) -> Option<String> {
    let is_plain = |word: &&str| {
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    let mut words = command.split(' ');
    let (program, verb) = (words.next().filter(is_plain)?, words.next().filter(is_plain)?);
    Some(format!("{program} {verb}"))
}

/// The server in the name of an MCP tool: `mcp__server` of `mcp__server__tool`.
fn server(tool: &str) -> Option<String> {
    let (server, _) = tool.strip_prefix("mcp__")?.split_once("__")?;
    (!server.is_empty()).then(|| format!("mcp__{server}"))
}

/// A word in single quotes of the shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
