//! Changes to the guard itself: its files, its commands, and the settings of clients and git that run hooks.

mod loosening;
mod processes;

use super::agent_recursion::is_agent;
use super::{Context, block_if, command, command_of, is_contained};
use crate::decide::subject::{Subject, SubjectKind};
use crate::path::protected::Class;
use crate::path::zones::Area;
use crate::path::{AbsPath, Extent, touches_tree};
use crate::rules::Match;
use crate::shell::{Access, Act, Command, Rights};
use loosening::{is_loosening, is_loosening_through};
pub(super) use processes::ProcessSearches;

/// The setting of git for the directory of its hooks.
const HOOKS_PATH: &str = "core.hookspath";

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    if let Some(command) = command(subject) {
        return block_if(loosens_guard(command, context), "");
    }
    if matches!(subject.kind, SubjectKind::Line) {
        let sets_hooks_path = |(name, value): &(String, Option<String>)| {
            let value = value.as_deref().unwrap_or_default().to_ascii_lowercase();
            name.starts_with("GIT_CONFIG_KEY") && value == HOOKS_PATH
                || name == "GIT_CONFIG_PARAMETERS" && value.contains(HOOKS_PATH)
        };
        let set = context.effects()?.env.iter().any(sets_hooks_path);
        return block_if(set, "");
    }
    let access = subject.file_access()?;
    if !access.act.changes() {
        return None;
    }
    let path = access.target.path.as_ref()?;
    if command_of(access, context).is_some_and(|command| command.is_in_new_container(path)) {
        return None;
    }
    let reach = if access.target.open || access.deep { Extent::Tree } else { Extent::Exact };
    let home = context.zones.home.as_ref();
    // A repository below the project may be deleted with its hooks.
    let is_nested_repository = matches!(access.act, Act::Remove | Act::Move)
        && matches!(path.components(), [above @ .., git] if git == ".git" && above != context.zones.project.components());
    if is_nested_repository {
        return None;
    }
    // Permissions of a directory apply to the files below it. Directories above home or the project are exempt here.
    let is_above = home.is_some_and(|home| home.components().starts_with(path.components()))
        || context.zones.project.components().starts_with(path.components());
    let covers_below = access.act == Act::Change && !is_above && !is_contained(access, path, context);
    let covered = if covers_below { Extent::Tree } else { reach };
    // `.github` and `.vscode` hold much else. What is deleted with them guards nothing.
    let holds_more = matches!(access.act, Act::Remove | Act::Move)
        && path.components().last().is_some_and(|name| matches!(name.as_str(), ".github" | ".vscode"));
    // A tree that is copied to a temporary directory guards nothing there, unless the file itself is named.
    let is_copy = access.act == Act::Write && access.deep && context.zones.area(path) == Area::InTemp;
    let reach = if is_copy && !access.target.open { Extent::Exact } else { reach };
    let of_repository = !holds_more && Class::Repository.contains(path, reach, home);
    let listed = Class::Guard.contains(path, covered, home) || of_repository;
    let is_guard_file = context.guard_files.iter().any(|file| touches_tree(*file, path, covered, home));
    let harms = listed || is_guard_file || locks_home(access, path, context);
    block_if(harms, "")
}

/// Whether a change of permissions takes the home directory from its owner, or opens it to others.
fn locks_home(access: &Access, path: &AbsPath, context: &Context<'_>) -> bool {
    let above = context.zones.home.as_ref().is_some_and(|home| home.components().starts_with(path.components()));
    let rights = || context.effects().map_or(Rights::UNKNOWN, |effects| effects.rights(access));
    access.act == Act::Change
        && above
        && !is_contained(access, path, context)
        && (rights().recursive || rights().harms_directory())
}

/// Whether a command loosens or removes the guard.
fn loosens_guard(command: &Command, context: &Context<'_>) -> bool {
    let has = |word: &str| command.args.iter().any(|arg| arg.text.to_ascii_lowercase().contains(word));
    let name = file_name(&command.program);
    if name == "rune" {
        return is_loosening(command);
    }
    if is_loosening_through(name, command, context) || processes::ends_guard(command, context) {
        return true;
    }
    let words = || command.args.iter().map(|arg| arg.text.as_str());
    let operands = || words().filter(|word| !word.starts_with('-'));
    let begins_with = |verbs: &[&str]| operands().take(verbs.len()).eq(verbs.iter().copied());
    if is_agent(command) && adds_server(command) {
        return true;
    }
    let uninstalls = || words().any(|word| word == "--uninstall");
    match name {
        "security-hook" => !has("--dry-run") && !has("--help"),
        "install.sh" => uninstalls(),
        "bash" | "sh" | "dash" | "zsh" | "ksh" | "source" | "." => {
            uninstalls() && operands().any(|script| script.rsplit('/').next() == Some("install.sh"))
        }
        "quarantine" => begins_with(&["clear"]),
        "git" => command.sets_key(HOOKS_PATH) || configures_hooks(command),
        "claude" => {
            has("disableallhooks")
                || has("--safe-mode")
                || has("--bare")
                || has("--setting-sources")
                || begins_with(&["config", "set"]) && has("hook")
        }
        "apt" | "apt-get" | "brew" | "cargo" => {
            operands().any(|word| matches!(word, "uninstall" | "remove" | "purge"))
                && operands().any(|word| word == "rune")
        }
        _ => false,
    }
}

/// Whether a command of an agent adds an MCP server to its configuration: `claude mcp add`, `codex mcp add`.
fn adds_server(command: &Command) -> bool {
    let words = || command.args.iter().filter(|arg| !arg.text.starts_with('-'));
    let adds = |verb: &str| verb.starts_with("add") || matches!(verb, "import" | "install");
    words().zip(words().skip(1)).any(|(noun, verb)| noun.text == "mcp" && (!verb.is_known() || adds(&verb.text)))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// Whether `git config` sets or unsets the hooks path. With the key alone, it prints the value.
fn configures_hooks(command: &Command) -> bool {
    let words: Vec<&str> = command.behind_global().iter().map(|arg| arg.text.as_str()).collect();
    let Some((&"config", rest)) = words.split_first() else { return false };
    let operands: Vec<&str> = rest.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let is_hooks_path = |word: &&str| word.eq_ignore_ascii_case(HOOKS_PATH);
    let Some(at) = operands.iter().position(is_hooks_path) else {
        // Removing or renaming the section `core` removes the key.
        let section = rest.iter().any(|word| word.ends_with("-section"));
        return section && operands.iter().any(|word| word.eq_ignore_ascii_case("core"));
    };
    let changes =
        rest.iter().any(|word| ["--unset", "--unset-all", "--add", "--replace-all", "set", "unset"].contains(word));
    let prints =
        rest.iter().any(|word| ["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"].contains(word));
    changes || (!prints && operands.len() > at + 1)
}
