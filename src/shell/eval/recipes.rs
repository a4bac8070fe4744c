//! Commands in the files of task runners: recipes of a Makefile or a justfile, scripts of a package.json.

use crate::encoding::json::{Fields, Text};
use crate::shell::Command;
use std::collections::{BTreeMap, BTreeSet};

/// Whether a program runs recipes of a file that it is given.
pub(super) fn is_runner(program: &str) -> bool {
    matches!(program, "make" | "gmake" | "remake" | "bmake" | "just")
}

/// Returns the shell texts of a file that a task runner runs.
pub(super) fn texts(command: &Command, path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or_default();
    match (command.program.as_str(), name) {
        ("npm" | "pnpm" | "yarn" | "bun" | "composer" | "npx", "package.json" | "composer.json") => scripts(text),
        (_, "package.json" | "composer.json") => Vec::new(),
        ("just", _) => just(text),
        (program, _) if is_runner(program) && !name.ends_with(".py") => make(text, goals(command, name).as_deref()),
        _ => Vec::new(),
    }
}

/// The targets that a command names, if all of them are known, and the file is not included by another one.
fn goals(command: &Command, name: &str) -> Option<Vec<String>> {
    let is_included = name.ends_with(".mk") || name.ends_with(".mak");
    let words = command.operands();
    let words = words.into_iter().filter(|word| !word.text.contains('='));
    let words: Option<Vec<String>> = words.map(|word| word.is_known().then(|| word.text.to_string())).collect();
    words.filter(|_| !is_included)
}

/// A rule of a Makefile.
#[derive(Default)]
struct Rule<'a> {
    targets: Vec<&'a str>,
    prerequisites: Vec<&'a str>,
    recipes: Vec<&'a str>,
}

/// The recipes of a Makefile that its goals need, and what `$(shell …)`, `$(file …)` and `!=` run.
fn make(text: &str, goals: Option<&[String]>) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let mut variables: BTreeMap<&str, &str> = BTreeMap::new();
    let mut rules: Vec<Rule<'_>> = Vec::new();
    let mut others = Vec::new();
    for line in joined.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            if rules.is_empty() {
                rules.push(Rule::default());
            }
            rules.last_mut().into_iter().for_each(|rule| rule.recipes.push(recipe));
            continue;
        }
        if let Some((name, value)) =
            line.split_once('=').filter(|(name, _)| !name.contains([' ', '\t']) || name.trim_end().len() < name.len())
        {
            let runs = name.ends_with('!');
            let name = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']).trim();
            if runs {
                others.push(value.trim().to_owned());
            }
            variables.insert(name, value.trim());
        } else if let Some((targets, rest)) = line.split_once(':').filter(|_| !line.starts_with(['#', ' '])) {
            let (prerequisites, recipe) =
                rest.split_once(';').map_or((rest, None), |(rest, recipe)| (rest, Some(recipe)));
            rules.push(Rule {
                targets: targets.split_whitespace().collect(),
                prerequisites: prerequisites.trim_start_matches(':').split_whitespace().collect(),
                recipes: recipe.into_iter().collect(),
            });
        }
        others.extend(line.split("$(shell ").skip(1).map(|call| call.split(')').next().unwrap_or(call).to_owned()));
        others.extend(line.split("$(file >").skip(1).filter_map(|call| {
            let file = call.trim_start_matches('>').split(',').next()?;
            Some(format!("echo >> {}", expand(file, &variables)))
        }));
    }
    let needed = goals.and_then(|goals| needed(&rules, goals, &joined));
    let recipes = rules.iter().enumerate().filter(|(at, _)| needed.as_ref().is_none_or(|needed| needed.contains(at)));
    let recipes = recipes.flat_map(|(_, rule)| rule.recipes.iter());
    let run = |recipe: &&str| expand(recipe.trim_start_matches(['@', '-', '+', ' ']), &variables);
    others.into_iter().chain(recipes.map(run)).collect()
}

/// The indices of the rules that goals need; `None` if a name or a file is involved that the text does not give literally.
fn needed(rules: &[Rule<'_>], goals: &[String], text: &str) -> Option<BTreeSet<usize>> {
    let is_open = |word: &&str| word.contains(['$', '%', '*', '?', '&']);
    let lines = || text.lines().map(str::trim_start);
    let includes = lines().any(|line| {
        ["include", "-include", "sinclude", ".DEFAULT", "define", "$("].iter().any(|word| line.starts_with(word))
    });
    let calls_itself = rules
        .iter()
        .flat_map(|rule| &rule.recipes)
        .any(|recipe| recipe.contains("(MAKE)") || recipe.contains("{MAKE}"));
    if includes || calls_itself || rules.iter().any(|rule| rule.targets.iter().any(&is_open)) {
        return None;
    }
    let mut by_target: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, rule) in rules.iter().enumerate() {
        rule.targets.iter().for_each(|target| by_target.entry(target).or_default().push(at));
    }
    let first = rules.iter().flat_map(|rule| rule.targets.first()).find(|target| !target.starts_with('.'));
    let mut open: Vec<&str> = goals.iter().map(String::as_str).collect();
    if open.is_empty() {
        open.push(first?);
    }
    // A goal without a rule may be in another file, or made by a rule that make has built in.
    if open.iter().any(|goal| !by_target.contains_key(goal)) {
        return None;
    }
    let mut needed = BTreeSet::new();
    while let Some(target) = open.pop() {
        for at in by_target.get(target).into_iter().flatten() {
            let Some(rule) = rules.get(*at).filter(|_| needed.insert(*at)) else { continue };
            if rule.prerequisites.iter().any(is_open) {
                return None;
            }
            open.extend(&rule.prerequisites);
        }
    }
    Some(needed)
}

/// Replaces the variables of make; `$$` is a dollar sign for the shell.
fn expand(recipe: &str, variables: &BTreeMap<&str, &str>) -> String {
    let mut text = String::with_capacity(recipe.len());
    let mut rest = recipe;
    while let Some(at) = rest.find('$') {
        text.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        if let Some(behind) = rest.strip_prefix('$') {
            text.push('$');
            rest = behind;
            continue;
        }
        let close = match rest.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            _ => {
                text.push_str("$_value");
                rest = rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
                continue;
            }
        };
        let Some((name, behind)) = rest.get(1..).and_then(|inner| inner.split_once(close)) else { break };
        match (variables.get(name), name.strip_prefix("shell ")) {
            (Some(value), _) => text.push_str(value),
            (None, Some(call)) => text = text + "$(" + call + ")",
            (None, None) => {
                text = text
                    + "$"
                    + if name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') { name } else { "_" }
            }
        }
        rest = behind;
    }
    text + rest
}

/// The recipes of a justfile: indented lines, and backquoted commands.
fn just(text: &str) -> Vec<String> {
    let mut recipes: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with([' ', '\t']) {
            recipes.push(interpolated(line.trim_start().trim_start_matches(['@', '-'])));
        } else {
            recipes.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    recipes
}

/// Replaces what a justfile interpolates by an unknown variable.
fn interpolated(recipe: &str) -> String {
    let mut text = String::with_capacity(recipe.len());
    let mut rest = recipe;
    while let Some((before, (_, after))) =
        rest.split_once("{{").and_then(|(before, behind)| Some((before, behind.split_once("}}")?)))
    {
        text = text + before + "$_value";
        rest = after;
    }
    text + rest
}

/// The values of `scripts` in a package.json.
fn scripts(text: &str) -> Vec<String> {
    let fields = Fields::read(text.as_bytes());
    let Some(scripts) = fields.object("scripts") else { return Vec::new() };
    scripts.iter().filter_map(|(_, raw)| Text::read(raw)).map(|script| script.text).collect()
}
