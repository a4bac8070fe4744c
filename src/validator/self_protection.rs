//! What keeps the guard in place: its files and verbs, the settings that call it, and what could call others instead.

use super::unknown_executable::is_known;
use super::{Scene, block, command, is_contained};
use crate::path::{AbsPath, Glob, Reach, globs, touches, touches_tree};
use crate::rule::Found;
use crate::shell::{Access, Act, Command, Rights};
use crate::unit::{Subject, Unit};
use crate::words::Table;

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
    "**/.git/hooks/**",
    "**/.git/config",
    "**/.git/info/attributes",
    "**/.github/hooks/**",
    "**/.vscode/mcp.json",
    "/usr/local/bin/rune",
]);

/// Verbs of the guard that loosen it.
const LOOSENING: [(&str, &str); 11] = [
    ("hooks", "uninstall"),
    ("hooks", "install"),
    ("policy", "update"),
    // What it writes takes the place of the defaults of every later version.
    ("policy", "install"),
    ("mcp", "approve"),
    ("mcp", "unblock"),
    ("mcp", "import"),
    ("mcp", "probe"),
    ("mcp", "wrap"),
    ("taint", "clear"),
    ("quarantine", "clear"),
];

pub(super) fn find(unit: &Unit<'_>, scene: &Scene<'_>) -> Option<Found> {
    if let Some(command) = command(unit) {
        return by_command(command, scene).then(|| block("it would change what guards this session")).flatten();
    }
    if matches!(unit.subject, Subject::Line) {
        let set = |(name, value): &(String, Option<String>)| {
            let value = value.as_deref().unwrap_or_default().to_ascii_lowercase();
            name.starts_with("GIT_CONFIG_KEY") && value == HOOKS
                || name == "GIT_CONFIG_PARAMETERS" && value.contains(HOOKS)
        };
        let set = scene.effects()?.env.iter().any(set);
        return set.then(|| block("it would change what guards this session")).flatten();
    }
    let access = unit.touched()?;
    if !access.act.changes() {
        return None;
    }
    let path = access.target.path.as_ref()?;
    let reach = if access.target.open || access.deep { Reach::Below } else { Reach::Itself };
    let home = scene.ground.home.as_ref();
    // A repository below the project has hooks of its own, and goes with them.
    let nested = matches!(access.act, Act::Remove | Act::Move)
        && matches!(path.components(), [above @ .., git] if git == ".git" && above != scene.ground.project.components());
    if nested {
        return None;
    }
    // Whoever may not enter a directory cannot use what is in it.
    let holds_more = home.is_some_and(|home| home.components().starts_with(path.components()))
        || scene.ground.project.components().starts_with(path.components());
    let enters = access.act == Act::Change && !holds_more && !is_contained(access, path, scene);
    let above = if enters { Reach::Below } else { reach };
    let listed = FILES.iter().any(|glob| touches(*glob, path, above, home))
        || AMONG_OTHERS.iter().any(|glob| touches(*glob, path, reach, home));
    let own = scene.own.iter().any(|file| touches_tree(*file, path, above, home));
    (listed || own || locks_home(access, path, scene))
        .then(|| block("the file is part of what guards this session"))
        .flatten()
}

/// Whether a change of rights takes home, with everything in it, from its owner, or opens it to others.
fn locks_home(access: &Access, path: &AbsPath, scene: &Scene<'_>) -> bool {
    let above = scene.ground.home.as_ref().is_some_and(|home| home.components().starts_with(path.components()));
    let rights = || scene.effects().map_or(Rights::UNKNOWN, |effects| effects.rights(access));
    access.act == Act::Change
        && above
        && !is_contained(access, path, scene)
        && (rights().recursive || rights().harms_directory())
}

fn by_command(command: &Command, scene: &Scene<'_>) -> bool {
    let has = |word: &str| command.args.iter().any(|arg| arg.text.to_ascii_lowercase().contains(word));
    let name = file_name(&command.program);
    if is_loosened_by_another(name, command, scene) {
        return true;
    }
    let words = || command.args.iter().map(|arg| arg.text.as_str());
    let operands = || words().filter(|word| !word.starts_with('-'));
    let begins_with = |verbs: &[&str]| operands().take(verbs.len()).eq(verbs.iter().copied());
    let uninstalls = || words().any(|word| word == "--uninstall");
    match name {
        "rune" => loosens(&words().collect::<Vec<_>>()),
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

/// Whether a program that is not called `rune` loosens the guard: a copy of it, or one that runs or types what it is told.
fn is_loosened_by_another(name: &str, command: &Command, scene: &Scene<'_>) -> bool {
    let is_ours = |text: &str| NOUNS.holds(text) || file_name(text) == "rune";
    let typist = TYPISTS.holds(name);
    // Most commands hold none of these words.
    if DATA.holds(name) || !typist && !command.args.iter().any(|arg| is_ours(&arg.text)) {
        return false;
    }
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    is_by_another_name(&command.program, &words, scene) || is_wrapped(&words) || typist && is_typed(&words)
}

/// Whether `rune` with these arguments loosens the guard.
fn loosens(words: &[&str]) -> bool {
    let has = |part: &str| words.iter().any(|word| word.to_ascii_lowercase().contains(part));
    let begins_with = |verb: &str| words.iter().find(|word| !word.starts_with('-')) == Some(&verb);
    has_verb(words)
        // A call that nobody made, and a receipt for it.
        || begins_with("hook") && !has("--dry-run") && !has("--help")
        // Its pages may lie where a link to the settings does.
        || begins_with("man") && has("--out")
}

/// Whether the first operands are a loosening verb.
fn has_verb(words: &[&str]) -> bool {
    let mut operands = words.iter().copied().filter(|word| !word.starts_with('-'));
    let (noun, verb) = (operands.next().unwrap_or_default(), operands.next().unwrap_or_default());
    LOOSENING.contains(&(noun, verb)) || (noun, verb, operands.next()) == ("receipts", "key", Some("rotate"))
}

/// Programs that print or search words, or name files by them: what they are told is not run.
static DATA: Table = Table::of(&[
    "ag", "alias", "cat", "cd", "cp", "diff", "echo", "egrep", "fgrep", "find", "git", "grep", "head", "less", "ls",
    "man", "mkdir", "mv", "printf", "rg", "tail", "touch", "wc", "which",
]);

/// The guard's own loosening words, given to a program of any name: it may be a copy of the guard.
fn is_by_another_name(program: &str, words: &[&str], scene: &Scene<'_>) -> bool {
    // A program by its path may be anything. One by its name is what everybody knows by that name.
    let by_path = program.contains('/');
    is_unmistakable(words) && (by_path || !is_known(program, scene)) || has_own_options(words, by_path)
}

/// The nouns of the loosening verbs.
static NOUNS: Table = Table::of(&["hooks", "mcp", "policy", "quarantine", "receipts", "taint"]);

/// Whether the first operands are a loosening verb that hardly any other program has.
fn is_unmistakable(words: &[&str]) -> bool {
    let mut operands = words.iter().copied().filter(|word| !word.starts_with('-'));
    matches!(
        [operands.next(), operands.next(), operands.next()].map(Option::unwrap_or_default),
        ["hooks", "uninstall", ..]
            | ["mcp", "approve" | "unblock" | "probe", ..]
            | ["quarantine" | "taint", "clear", ..]
            | ["receipts", "key", "rotate"]
    )
}

/// Whether a loosening verb that other programs have too comes with an option that only the guard has.
fn has_own_options(words: &[&str], by_path: bool) -> bool {
    let mild = |preset: &str| matches!(preset, "off" | "gentle");
    let is_option =
        |word: &&str, name: &str| *word == name || word.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    let has = |name: &str| words.iter().any(|word| is_option(word, name));
    match words {
        ["hooks", "install", rest @ ..] => {
            let apart = rest.windows(2).any(|pair| matches!(pair, ["--preset", preset] if mild(preset)));
            apart || rest.iter().any(|word| word.strip_prefix("--preset=").is_some_and(mild))
        }
        ["mcp", "import", ..] => by_path && has("--server"),
        ["mcp", "wrap", ..] => by_path && (has("--install") || has("--uninstall")),
        ["policy", "update"] | ["policy", "update", "--yes"] => by_path,
        ["policy", "update" | "install", ..] => by_path && (has("--config-dir") || has("--data-dir")),
        _ => false,
    }
}

/// The guard, or a program by its path with the guard's loosening words, among the arguments of a program that runs others
/// and that the shell reader does not know.
fn is_wrapped(words: &[&str]) -> bool {
    let is_guard = |word: &&str| !word.starts_with('-') && file_name(word) == "rune";
    let behind = |at: usize| words.get(at + 1..).unwrap_or_default();
    // All that follows is looked at once, behind the first: this stays linear.
    let first = words.iter().position(is_guard);
    first.is_some_and(|at| loosens(behind(at)))
        || words.iter().enumerate().any(|(at, word)| {
            let by_path = word.contains('/') && !word.starts_with('-');
            is_guard(word) && has_verb(behind(at)) || by_path && is_unmistakable(behind(at))
        })
}

/// Programs that type text into a terminal.
static TYPISTS: Table = Table::of(&[
    "expect",
    "kitten",
    "kitty",
    "osascript",
    "screen",
    "wezterm",
    "wtype",
    "xdotool",
    "ydotool",
    "zellij",
]);

/// The guard's loosening words within a text that is typed into a terminal.
fn is_typed(words: &[&str]) -> bool {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '"' | '\'' | '\\' | '^');
    words.iter().any(|text| is_wrapped(&text.split(is_end).filter(|word| !word.is_empty()).collect::<Vec<_>>()))
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
