//! The files of rules: the operator's in place of or beside the embedded ones, and the project's on top.

use super::{PolicyTexts, read_copy};
use rune::event::{Action, Event};
use rune::policy::Config;
use rune::rules::{self, Owner, Rule, RuleError, RuleKind};
use rune::shell::Act;
use rune::verdict::failure::Failure;
use rustix::fs::{CWD, Dir, Mode, OFlags, openat};
use rustix::io::Errno;
use std::path::Path;

/// Which rules are wanted.
pub struct RuleSelection {
    /// Those of these kinds.
    pub kinds: Vec<RuleKind>,
    /// What was read on the way.
    pub memory: PolicyTexts,
}

impl RuleSelection {
    /// All rules of these kinds.
    pub fn all(kinds: &[RuleKind]) -> Self {
        RuleSelection { kinds: kinds.to_vec(), memory: PolicyTexts::default() }
    }

    /// The rules that an event is asked about.
    pub fn of(event: &Event<'_>) -> Self {
        RuleSelection { kinds: kinds(event), memory: PolicyTexts::default() }
    }

    /// Reads a file of rules, `None` where there is none; on an error, what cannot be read of the file at all.
    fn read(&self, path: &Path, name: &str, kind: RuleKind, owner: Owner) -> Result<Option<Read>, String> {
        // Those of other kinds need no copy: nobody asks for them again.
        let text = match kind {
            RuleKind::Mcp => self.memory.text(path, Some(kind.embedded()))?,
            RuleKind::Bash | RuleKind::Edit | RuleKind::Read | RuleKind::Agent | RuleKind::Post => {
                read_copy(path, kind.embedded())?
            }
        };
        Ok(text.map(|text| rules::parse(text, name, kind, owner)))
    }

    /// The names of the `.rules` files in a directory, in order.
    fn names(&self, directory: &Path) -> Result<Vec<String>, String> {
        let names = names(directory)?;
        if self.kinds.contains(&RuleKind::Mcp) {
            self.memory.note(directory, &names);
        }
        Ok(names)
    }
}

/// Rules, and what is wrong with others.
type Read = (Vec<Rule>, Vec<RuleError>);

fn kinds(event: &Event<'_>) -> Vec<RuleKind> {
    if event.phase != rune::verdict::Phase::Before {
        return Vec::new();
    }
    match &event.action {
        Action::Shell { .. } => {
            // A line that touches no file is not asked about files.
            let touches = |of: fn(Act) -> bool| {
                event.shell().is_some_and(|shell| shell.effects.accesses.iter().any(|access| of(access.act)))
            };
            let edit = touches(|act| act != Act::Read).then_some(RuleKind::Edit);
            let read = touches(|act| act == Act::Read).then_some(RuleKind::Read);
            [Some(RuleKind::Bash), edit, read].into_iter().flatten().collect()
        }
        Action::Edit { .. } | Action::Patch { .. } => vec![RuleKind::Edit],
        Action::Read { .. } | Action::Files { .. } | Action::Fetch { .. } => vec![RuleKind::Read],
        Action::Mcp { .. } => vec![RuleKind::Mcp],
        Action::Agent { .. } => vec![RuleKind::Agent],
        Action::Search | Action::Resource { .. } | Action::Settings { .. } | Action::Other => Vec::new(),
    }
}

/// The rules about content, once it is known that a result comes from an untrusted surface.
pub fn about_content(config: &mut Config, directory: Option<&Path>, project: Option<&Path>) {
    let wanted = RuleSelection::all(&[RuleKind::Post]);
    of_operator(config, directory, &wanted);
    if let (Some(own), Some(project)) = (&mut config.project, project) {
        own.add_rules(config.rules.clone());
        of_project(own, project, &wanted);
    }
}

/// The operator's rules: `bash.rules` in place of the embedded file, `bash.<name>.rules` beside it.
pub fn of_operator(config: &mut Config, directory: Option<&Path>, wanted: &RuleSelection) {
    let names = match directory.map(|directory| wanted.names(directory)) {
        None => Vec::new(),
        Some(Ok(names)) => names,
        // The embedded rules still hold.
        Some(Err(what)) => {
            config.failures.push(Failure::Config(what));
            Vec::new()
        }
    };
    for name in names.iter().filter(|name| RuleKind::from_file_name(name).is_none()) {
        let known = RuleKind::ALL.map(|(_, kind, _)| format!("{kind}.rules, {kind}.<name>.rules")).join("; ");
        config.failures.push(Failure::Config(format!(
            "rules/{name}: which calls are these rules for?\n  help: there are {known}"
        )));
    }
    for kind in &wanted.kinds {
        let base = format!("{}.rules", kind.name());
        if !names.contains(&base) {
            let defaults = rules::parse(kind.embedded(), &base, *kind, Owner::Operator);
            add(config, defaults, ToString::to_string);
        }
        let Some(directory) = directory else { continue };
        for name in names.iter().filter(|name| RuleKind::from_file_name(name) == Some(*kind)) {
            let path = directory.join(name);
            match wanted.read(&path, &path.display().to_string(), *kind, Owner::Operator) {
                Ok(Some(rules)) => add(config, rules, ToString::to_string),
                Ok(None) => {}
                Err(what) => config.failures.push(Failure::Config(what)),
            }
        }
    }
}

/// The names of all rules that an operator has, whether or not they are asked.
pub fn names_of_all(directory: Option<&Path>) -> Vec<String> {
    let kinds = RuleKind::ALL.map(|(kind, ..)| kind);
    let mut config = Config::fold([], Vec::new()).with_default_rules(&kinds);
    of_operator(&mut config, directory, &RuleSelection::all(&kinds));
    config.rules.iter().map(|rule| rule.id.as_str().to_owned()).collect()
}

/// The project's rules, of which no word reaches an answer.
pub fn of_project(config: &mut Config, directory: &Path, wanted: &RuleSelection) {
    let flaw = |what: &str| Failure::Config(format!("the project's own policy cannot be read: {what}"));
    let names = match wanted.names(directory) {
        Ok(names) => names,
        Err(_) => return config.failures.push(flaw("its rules are no directory")),
    };
    for name in &names {
        let Some(kind) = RuleKind::from_file_name(name) else {
            config.failures.push(flaw("one of its files of rules has a name that tells no kind of call"));
            continue;
        };
        if !wanted.kinds.contains(&kind) {
            continue;
        }
        let file = format!(".rune/rules/{}.rules", kind.name());
        match wanted.read(&directory.join(name), &file, kind, Owner::Project) {
            Ok(Some(rules)) => {
                add(config, rules, |error| {
                    format!(
                        "the project's own policy cannot be read: .rune/rules/{}.rules, line {}",
                        kind.name(),
                        error.line
                    )
                });
            }
            Ok(None) => {}
            Err(_) => config.failures.push(flaw("one of its files of rules")),
        }
    }
}

fn add(config: &mut Config, (rules, errors): Read, words: impl Fn(&RuleError) -> String) {
    config.add_rules(rules);
    config.failures.extend(errors.iter().map(|error| Failure::Config(words(error))));
}

/// The names of the `.rules` files in a directory, in order.
pub fn names(directory: &Path) -> Result<Vec<String>, String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let entries = match openat(CWD, directory, flags, Mode::empty()).and_then(Dir::new) {
        Ok(entries) => entries,
        Err(Errno::NOENT) if !super::is_dangling(directory) => return Ok(Vec::new()),
        Err(error) => return Err(format!("{}: {}", directory.display(), std::io::Error::from(error))),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| format!("{}: {}", directory.display(), std::io::Error::from(error)))?;
        let name = entry.file_name().to_string_lossy();
        if name.ends_with(".rules") && !name.starts_with('.') {
            names.push(name.into_owned());
        }
    }
    names.sort();
    Ok(names)
}
