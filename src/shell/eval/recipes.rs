//! Commands in the files of task runners: recipes of a Makefile or a justfile, scripts of a package.json.

use crate::encoding::json::{Fields, Text};
use std::collections::BTreeMap;

/// Whether a program runs recipes of a file that it is given.
pub(super) fn is_runner(program: &str) -> bool {
    matches!(program, "make" | "gmake" | "remake" | "bmake" | "just")
}

/// Returns the shell texts of a file that a task runner runs.
pub(super) fn texts(program: &str, path: &str, text: &str) -> Vec<String> {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name {
        "package.json" | "composer.json" => scripts(text),
        _ if program == "just" => just(text),
        _ if is_runner(program) && !name.ends_with(".py") => make(text),
        _ => Vec::new(),
    }
}

/// The recipes of a Makefile, and what `$(shell …)` and `!=` run.
fn make(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let mut variables: BTreeMap<&str, &str> = BTreeMap::new();
    let mut recipes = Vec::new();
    let mut others = Vec::new();
    for line in joined.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            recipes.push(recipe);
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
        } else if let Some((_, recipe)) = line.split_once(':').and_then(|(_, rest)| rest.split_once(';')) {
            recipes.push(recipe);
        }
        others.extend(line.split("$(shell ").skip(1).map(|call| call.split(')').next().unwrap_or(call).to_owned()));
    }
    let run = |recipe: &&str| expand(recipe.trim_start_matches(['@', '-', '+', ' ']), &variables);
    others.into_iter().chain(recipes.iter().map(run)).collect()
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
                text.push_str("$_");
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
            recipes.push(line.trim_start().trim_start_matches(['@', '-']).to_owned());
        } else {
            recipes.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
        }
    }
    recipes
}

/// The values of `scripts` in a package.json.
fn scripts(text: &str) -> Vec<String> {
    let fields = Fields::read(text.as_bytes());
    let Some(scripts) = fields.object("scripts") else { return Vec::new() };
    scripts.iter().filter_map(|(_, raw)| Text::read(raw)).map(|script| script.text).collect()
}
