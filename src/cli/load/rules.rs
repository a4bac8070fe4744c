//! The files of rules: the operator's in place of or beside the embedded ones, and the project's on top.

use super::read_text;
use rune::config::Config;
use rune::event::{Action, Event};
use rune::failure::Failure;
use rune::rule::{self, Kind, Owner, RuleError};
use rune::shell::Act;
use std::io::ErrorKind;
use std::path::Path;

/// The kinds of rules that an event is asked about.
pub fn kinds(event: &Event<'_>) -> Vec<Kind> {
    if event.phase != rune::event::Phase::Before {
        return Vec::new();
    }
    match &event.action {
        Action::Shell { .. } => {
            // A line that touches no file is not asked about files.
            let touches = |of: fn(Act) -> bool| {
                event.shell().is_some_and(|(_, effects)| effects.accesses.iter().any(|access| of(access.act)))
            };
            let edit = touches(|act| act != Act::Read).then_some(Kind::Edit);
            let read = touches(|act| act == Act::Read).then_some(Kind::Read);
            [Some(Kind::Bash), edit, read].into_iter().flatten().collect()
        }
        Action::Edit { .. } | Action::Patch { .. } => vec![Kind::Edit],
        Action::Read { .. } | Action::Fetch { .. } => vec![Kind::Read],
        Action::Mcp { .. } => vec![Kind::Mcp],
        Action::Agent { .. } => vec![Kind::Agent],
        Action::Search | Action::Resource { .. } | Action::Settings { .. } | Action::Other => Vec::new(),
    }
}

/// The operator's rules: `bash.rules` in place of the embedded file, `bash.<name>.rules` beside it.
pub fn of_operator(config: &mut Config, directory: Option<&Path>, kinds: &[Kind]) {
    let names = match directory.map(names) {
        None => Vec::new(),
        Some(Ok(names)) => names,
        Some(Err(what)) => return config.flaws.push(Failure::Config(what)),
    };
    for name in names.iter().filter(|name| Kind::of_file(name).is_none()) {
        let known = Kind::ALL.map(|(_, kind, _)| format!("{kind}.rules, {kind}.<name>.rules")).join("; ");
        config.flaws.push(Failure::Config(format!(
            "rules/{name}: which calls are these rules for?\n  help: there are {known}"
        )));
    }
    for kind in kinds {
        let base = format!("{}.rules", kind.name());
        if !names.contains(&base) {
            let defaults = rule::parse(kind.embedded(), &base, *kind, Owner::Operator);
            add(config, defaults, ToString::to_string);
        }
        let Some(directory) = directory else { continue };
        for name in names.iter().filter(|name| Kind::of_file(name) == Some(*kind)) {
            let path = directory.join(name);
            match read_text(&path) {
                Ok(Some(text)) => {
                    add(
                        config,
                        rule::parse(text, &path.display().to_string(), *kind, Owner::Operator),
                        ToString::to_string,
                    );
                }
                Ok(None) => {}
                Err(what) => config.flaws.push(Failure::Config(what)),
            }
        }
    }
}

/// The names of all rules that an operator has, whether or not they are asked.
pub fn names_of_all(directory: Option<&Path>) -> Vec<String> {
    let kinds = Kind::ALL.map(|(kind, ..)| kind);
    let mut config = Config::fold([], Vec::new()).with_default_rules(&kinds);
    of_operator(&mut config, directory, &kinds);
    config.rules.iter().map(|rule| rule.id.as_str().to_owned()).collect()
}

/// The project's rules, of which no word reaches an answer.
pub fn of_project(config: &mut Config, directory: &Path, kinds: &[Kind]) {
    let flaw = |what: &str| Failure::Config(format!("the project's own policy cannot be read: {what}"));
    let names = match names(directory) {
        Ok(names) => names,
        Err(_) => return config.flaws.push(flaw("its rules are no directory")),
    };
    for name in &names {
        let Some(kind) = Kind::of_file(name) else {
            config.flaws.push(flaw("one of its files of rules has a name that tells no kind of call"));
            continue;
        };
        if !kinds.contains(&kind) {
            continue;
        }
        match read_text(&directory.join(name)) {
            Ok(Some(text)) => {
                let rules = rule::parse(text, &format!(".rune/rules/{}.rules", kind.name()), kind, Owner::Project);
                add(config, rules, |error| {
                    format!(
                        "the project's own policy cannot be read: .rune/rules/{}.rules, line {}",
                        kind.name(),
                        error.line
                    )
                });
            }
            Ok(None) => {}
            Err(_) => config.flaws.push(flaw("one of its files of rules")),
        }
    }
}

fn add(config: &mut Config, (rules, errors): (Vec<rule::Rule>, Vec<RuleError>), words: impl Fn(&RuleError) -> String) {
    config.add_rules(rules);
    config.flaws.extend(errors.iter().map(|error| Failure::Config(words(error))));
}

/// The names of the `.rules` files in a directory, in order.
fn names(directory: &Path) -> Result<Vec<String>, String> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound && !super::is_dangling(directory) => return Ok(Vec::new()),
        Err(error) => return Err(format!("{}: {error}", directory.display())),
    };
    let mut names: Vec<String> = entries
        .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
        .filter(|name| name.ends_with(".rules") && !name.starts_with('.'))
        .collect();
    names.sort();
    Ok(names)
}
