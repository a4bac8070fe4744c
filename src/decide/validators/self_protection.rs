//! What keeps the guard in place: its files and verbs, the settings that call it, and what could call others instead.

mod loosening;

use super::{Context, block, command, is_contained};
use crate::decide::subject::{Subject, SubjectKind};
use crate::path::{AbsPath, Extent, Glob, globs, touches, touches_tree};
use crate::rules::Match;
use crate::shell::{Access, Act, Command, Rights};
use loosening::{is_loosened_by_another, is_loosened_by_guard};

/// The setting of git that says where its hooks are.
const HOOKS: &str = "core.hookspath";

/// Settings of agents, tool servers and hooks, and the guard's own files.
const FILES: [Glob<'_>; 27] = globs([
    "**/.claude/settings*.json",
    "**/.claude/hooks/**",
    "**/.claude/plugins/**",
    "**/.claude/quarantine.d/**",
    "~/.claude/telemetry.jsonl",
    "~/.claude.json",
    "/etc/claude-code/**",
    "/Library/Application Support/ClaudeCode/**",
    "**/.mcp.json",
    "~/.gitconfig",
    "~/.config/git/**",
    "**/.rune/**",
    "~/.config/rune/**",
    "~/.local/state/rune/**",
    "~/.local/share/rune/**",
    "~/.local/bin/rune",
    "~/.local/bin/quarantine",
    "~/.local/bin/security-hook",
    "~/.cargo/bin/rune",
    "**/.cursor/mcp.json",
    "**/.cursor/hooks.json",
    "**/.codex/config.toml",
    "**/.codex/hooks.json",
    "**/.gemini/settings.json",
    "**/.windsurf/hooks.json",
    "**/.opencode/opencode.json",
    "**/.factory/settings.json",
]);

/// The same in directories that hold much else: rights on the directories are not theirs.
const AMONG_OTHERS: [Glob<'_>; 6] = globs([
    "**/.git/hooks/**", "**/.git/config", "**/.git/info/attributes", "**/.github/hooks/**", "**/.vscode/mcp.json",
    "/usr/local/bin/rune",
]);

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    if let Some(command) = command(subject) {
        return by_command(command, context).then(|| block("it would change what guards this session")).flatten();
    }
    if matches!(subject.subject, SubjectKind::Line) {
        let set = |(name, value): &(String, Option<String>)| {
            let value = value.as_deref().unwrap_or_default().to_ascii_lowercase();
            name.starts_with("GIT_CONFIG_KEY") && value == HOOKS
                || name == "GIT_CONFIG_PARAMETERS" && value.contains(HOOKS)
        };
        let set = context.effects()?.env.iter().any(set);
        return set.then(|| block("it would change what guards this session")).flatten();
    }
    let access = subject.touched()?;
    if !access.act.changes() {
        return None;
    }
    let path = access.target.path.as_ref()?;
    let reach = if access.target.open || access.deep { Extent::Tree } else { Extent::Exact };
    let home = context.zones.home.as_ref();
    // A repository below the project has hooks of its own, and goes with them.
    let nested = matches!(access.act, Act::Remove | Act::Move)
        && matches!(path.components(), [above @ .., git] if git == ".git" && above != context.zones.project.components());
    if nested {
        return None;
    }
    // Whoever may not enter a directory cannot use what is in it.
    let holds_more = home.is_some_and(|home| home.components().starts_with(path.components()))
        || context.zones.project.components().starts_with(path.components());
    let enters = access.act == Act::Change && !holds_more && !is_contained(access, path, context);
    let above = if enters { Extent::Tree } else { reach };
    let listed = FILES.iter().any(|glob| touches(*glob, path, above, home))
        || AMONG_OTHERS.iter().any(|glob| touches(*glob, path, reach, home));
    let own = context.own.iter().any(|file| touches_tree(*file, path, above, home));
    (listed || own || locks_home(access, path, context))
        .then(|| block("the file is part of what guards this session"))
        .flatten()
}

/// Whether a change of rights takes home, with everything in it, from its owner, or opens it to others.
fn locks_home(access: &Access, path: &AbsPath, context: &Context<'_>) -> bool {
    let above = context.zones.home.as_ref().is_some_and(|home| home.components().starts_with(path.components()));
    let rights = || context.effects().map_or(Rights::UNKNOWN, |effects| effects.rights(access));
    access.act == Act::Change
        && above
        && !is_contained(access, path, context)
        && (rights().recursive || rights().harms_directory())
}

fn by_command(command: &Command, context: &Context<'_>) -> bool {
    let has = |word: &str| command.args.iter().any(|arg| arg.text.to_ascii_lowercase().contains(word));
    let name = file_name(&command.program);
    if name == "rune" {
        return is_loosened_by_guard(command);
    }
    if is_loosened_by_another(name, command, context) {
        return true;
    }
    let words = || command.args.iter().map(|arg| arg.text.as_str());
    let operands = || words().filter(|word| !word.starts_with('-'));
    let begins_with = |verbs: &[&str]| operands().take(verbs.len()).eq(verbs.iter().copied());
    let uninstalls = || words().any(|word| word == "--uninstall");
    match name {
        "security-hook" => !has("--dry-run") && !has("--help"),
        "install.sh" => uninstalls(),
        "bash" | "sh" | "dash" | "zsh" | "ksh" | "source" | "." => {
            uninstalls() && operands().any(|script| script.rsplit('/').next() == Some("install.sh"))
        }
        "quarantine" => begins_with(&["clear"]),
        "git" => command.sets_key(HOOKS) || configures_hooks(command),
        "pkill" | "killall" => {
            operands().any(|name| name == "rune" || name.contains("security-hook") || name.contains("rune hook"))
        }
        "claude" => {
            has("disableallhooks")
                || has("--safe-mode")
                || has("--bare")
                || begins_with(&["config", "set"]) && has("hook")
        }
        "apt" | "apt-get" | "brew" | "cargo" => {
            operands().any(|word| matches!(word, "uninstall" | "remove" | "purge"))
                && operands().any(|word| word == "rune")
        }
        _ => false,
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// `git config` that sets or unsets where the hooks are. A word alone is a question.
fn configures_hooks(command: &Command) -> bool {
    let words: Vec<&str> = command.behind_global().iter().map(|arg| arg.text.as_str()).collect();
    let Some((&"config", rest)) = words.split_first() else { return false };
    let operands: Vec<&str> = rest.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let is_hooks = |word: &&str| word.eq_ignore_ascii_case(HOOKS);
    let Some(at) = operands.iter().position(is_hooks) else {
        // A section goes with everything in it.
        let section = rest.iter().any(|word| word.ends_with("-section"));
        return section && operands.iter().any(|word| word.eq_ignore_ascii_case("core"));
    };
    let changes =
        rest.iter().any(|word| ["--unset", "--unset-all", "--add", "--replace-all", "set", "unset"].contains(word));
    let asks =
        rest.iter().any(|word| ["--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list"].contains(word));
    changes || (!asks && operands.len() > at + 1)
}
