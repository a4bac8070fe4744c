//! Environment variables that change which code other programs run, or which servers they talk to.

mod harmless;

use super::{Context, block, suspicious, suspicious_if};
use crate::decide::subject::{Subject, SubjectKind};
use crate::rules::{Match, Tier};
use crate::shell::Reading;
use harmless::{Directories, Homes, Judge, LineFacts};
use std::collections::{BTreeMap, BTreeSet};

// The lists of `rules/variables.toml`.
include!(concat!(env!("OUT_DIR"), "/variables.rs"));

/// What a program uses the value of a variable for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// Code that it runs or loads.
    Code,
    /// Directories that it searches for code.
    Search,
    /// A file that it obeys.
    Settings,
    /// The directory of its settings and state.
    Home,
    /// A file or directory that it writes.
    Output,
    /// A program or command line that it runs.
    Command,
    /// Options.
    Options,
    /// A server.
    Server,
}

/// The names and the shapes of names for each purpose. A narrower list comes before a wider one.
const PURPOSES: [(Purpose, &[&str], &[&str]); 8] = [
    (Purpose::Search, &SEARCH_NAMES, &SEARCH_SHAPES),
    (Purpose::Settings, &SETTINGS_NAMES, &SETTINGS_SHAPES),
    (Purpose::Home, &HOMES_NAMES, &HOMES_SHAPES),
    (Purpose::Output, &OUTPUTS_NAMES, &OUTPUTS_SHAPES),
    (Purpose::Command, &COMMANDS_NAMES, &COMMANDS_SHAPES),
    (Purpose::Options, &OPTIONS_NAMES, &OPTIONS_SHAPES),
    (Purpose::Server, &SERVERS_NAMES, &SERVERS_SHAPES),
    (Purpose::Code, &CODE_NAMES, &CODE_SHAPES),
];

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    if !matches!(subject.kind, SubjectKind::Line) {
        return None;
    }
    let (reading, effects) = (context.reading()?, context.effects()?);
    // A variable that is set for every command is judged once.
    let env: BTreeSet<&(String, Option<String>)> = effects.env.iter().collect();
    let names_home = env.iter().any(|(name, _)| Homes::are_named_by(name));
    let homes = names_home.then(|| Homes::of(reading, effects));
    let directories = output_directories(&env, reading);
    let line = LineFacts::default();
    let judged = |(name, value): &(String, Option<String>)| {
        let directories = directories.get(&(name.as_str(), value.as_deref().unwrap_or_default()));
        let judge = Judge { name, context, homes: homes.as_ref(), directories, line: &line };
        find_in_variable(value.as_deref(), judge)
    };
    let matches = env.into_iter().filter_map(judged);
    matches.max_by_key(|matched| matched.tier == Tier::Block)
}

/// The working directories of the commands for which a variable names a file without a directory; `None` for an unknown one.
fn output_directories<'r>(
    env: &BTreeSet<&'r (String, Option<String>)>,
    reading: &'r Reading,
) -> BTreeMap<(&'r str, &'r str), Directories<'r>> {
    let is_output =
        |name: &str| canonical_name(name).is_some_and(|name| OUTPUTS_NAMES.iter().any(|known| matches(known, &name)));
    let in_directory = |value: &&str| !value.is_empty() && !value.contains('/');
    let named = env.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_deref().filter(in_directory)?)));
    let mut found: BTreeMap<(&str, &str), Directories<'_>> =
        named.filter(|(name, _)| is_output(name)).map(|named| (named, BTreeSet::new())).collect();
    let commands = if found.is_empty() { &[] } else { reading.commands.as_slice() };
    for command in commands {
        for (name, value) in &command.env {
            if let Some(directories) = found.get_mut(&(name.as_str(), value.as_deref().unwrap_or_default())) {
                directories.insert(command.cwd.as_deref());
                directories.extend(command.other_cwds.iter().map(|other| other.path.as_deref()));
            }
        }
    }
    found
}

fn find_in_variable(value: Option<&str>, judge: Judge<'_, '_>) -> Option<Match> {
    let certain = || block("sets a variable that changes what other programs do");
    let possible = || suspicious("sets a variable that can change what other programs do");
    if value.is_some_and(|value| POOLS_VALUES.iter().any(|pattern| matches(pattern, value))) {
        return block("gives a program the address of a mining pool");
    }
    let name = canonical_name(judge.name)?;
    let judge = Judge { name: &name, ..judge };
    match (name.as_str(), value) {
        // Without a value it is switched off.
        ("LD_PRELOAD", Some("")) => return None,
        ("LD_PRELOAD", _) => return certain(),
        ("PATH", Some(value)) if judge.is_path_of_tools(value) => return None,
        ("PATH", Some(value)) if judge.are_ordinary_directories(value) => return possible(),
        // The project's own modules, and options of Node.js that load nothing.
        ("PYTHONPATH", Some(value)) if judge.are_ordinary_directories(value) => return None,
        ("NODE_OPTIONS", Some(value)) if !value.is_empty() && judge.are_harmless_options(value) => return None,
        ("PATH" | "PYTHONPATH" | "NODE_OPTIONS", _) => return certain(),
        _ => {}
    }
    if let Some(value) = value.filter(|value| switches_check_off(&name, value)) {
        return suspicious_if(!judge.is_for_this_machine(value), "switches off the check of a server's certificate");
    }
    let known = |(_, names, _): &&(Purpose, &[&str], &[&str])| names.iter().any(|pattern| matches(pattern, &name));
    if let Some((purpose, ..)) = PURPOSES.iter().find(known) {
        return value.is_none_or(|value| !judge.is_harmless(*purpose, value)).then(possible).flatten();
    }
    let shaped = |(_, _, shapes): &&(Purpose, &[&str], &[&str])| shapes.iter().any(|pattern| matches(pattern, &name));
    let (purpose, ..) = PURPOSES.iter().find(shaped)?;
    value.is_some_and(|value| judge.is_unusual(*purpose, value)).then(possible).flatten()
}

/// The name of a variable in upper case if programs ignore its case. Other names in lower case are the shell's own.
fn canonical_name(name: &str) -> Option<String> {
    let name = name.trim_end_matches('+');
    let upper = name.to_ascii_uppercase();
    let ignores_case = upper.starts_with("NPM_CONFIG_") || upper.ends_with("_PROXY");
    // `BASH_FUNC_git%%` is an exported function.
    let is_function = name.starts_with("BASH_FUNC");
    if name == upper || ignores_case || is_function { Some(upper) } else { None }
}

fn switches_check_off(name: &str, value: &str) -> bool {
    CHECKS_OFF.iter().any(|row| {
        row.split_once(' ').is_some_and(|(variable, off)| variable == name && matches(off, value))
            && !value.is_empty()
            && !(row.ends_with(" *") && matches!(value, "0" | "false" | "no"))
    })
}

/// Whether a pattern, in which `*` stands for any characters and `#` for a number, matches a whole text.
fn matches(pattern: &str, text: &str) -> bool {
    if let Some(start) = pattern.strip_suffix('#') {
        return text.strip_prefix(start).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    }
    let Some((start, rest)) = pattern.split_once('*') else { return pattern.eq_ignore_ascii_case(text) };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut parts = rest.split('*').peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return text.ends_with(part);
        }
        let Some((_, behind)) = text.split_once(part) else { return false };
        text = behind;
    }
    true
}
