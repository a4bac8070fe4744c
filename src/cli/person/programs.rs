//! Names of programs and variables that tell an agent from a terminal.

use super::processes::Process;
use rune::client::AGENTS;

/// Variables that agents set for the commands that they run; the name alone counts.
const MARKERS: [&str; 22] = [
    "AI_AGENT",
    "AUGMENT_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLINE_ACTIVE",
    "CODEX_CI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_THREAD_ID",
    "CONTINUE_PROJECT_DIR",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "CURSOR_PROJECT_DIR",
    "FACTORY_PROJECT_DIR",
    "GEMINI_CLI",
    "GEMINI_SESSION_ID",
    "GOOSE_TERMINAL",
    "GROK_WORKSPACE_ROOT",
    "OPENCODE",
    "QWEN_CODE",
    "QWEN_PROJECT_DIR",
];

/// Packages of agents, as they follow `node_modules/` in the path of a script.
const PACKAGES: [&str; 11] = [
    "@anthropic-ai/claude-code",
    "@augmentcode/auggie",
    "@charmland/crush",
    "@github/copilot",
    "@google/gemini-cli",
    "@openai/codex",
    "@qwen-code/qwen-code",
    "@sourcegraph/amp",
    "@vibe-kit/grok-cli",
    "cline",
    "opencode-ai",
];

/// Interpreters: the script that they run says what the process is.
const INTERPRETERS: [&str; 9] = ["bun", "deno", "java", "node", "nodejs", "perl", "python", "ruby", "tsx"];

/// Programs that let people in from outside. They count only where they, or their parents, run as root.
const LOGINS: [&str; 18] = [
    "SessionLeader",
    "agetty",
    "cockpit-bridge",
    "dropbear",
    "etserver",
    "getty",
    "in.telnetd",
    "kmscon",
    "login",
    "shellinaboxd",
    "ssm-session-worker",
    "sshd",
    "sshd-session",
    "sulogin",
    "tailscaled",
    "teleport",
    "telnetd",
    "vshd",
];

/// Terminal emulators, multiplexers, and programs with a terminal in a window, as the process is named.
const TERMINALS: [&str; 101] = [
    "Alacritty",
    "Eterm",
    "Hyper",
    "SCREEN",
    "Tabby",
    "Terminal",
    "Warp",
    "WezTerm",
    "abduco",
    "alacritty",
    "aterm",
    "black-box",
    "blackbox",
    "clion",
    "code",
    "code-insiders",
    "code-oss",
    "code-server",
    "code-tunnel",
    "coder",
    "codium",
    "conmon",
    "contour",
    "cool-retro-term",
    "cosmic-term",
    "cursor",
    "datagrip",
    "deepin-terminal",
    "dolphin",
    "dtach",
    "dvtm",
    "eclipse",
    "etterminal",
    "foot",
    "footclient",
    "ghostty",
    "gnome-builder",
    "gnome-terminal-server",
    "goland",
    "gotty",
    "guake",
    "hyper",
    "iTerm2",
    "idea",
    "io.elementary.terminal",
    "jupyter-lab",
    "jupyter-labhub",
    "jupyter-notebook",
    "jupyterhub-singleuser",
    "kate",
    "kdevelop",
    "kgx",
    "kitty",
    "konsole",
    "lxterminal",
    "mate-terminal",
    "mlterm",
    "mosh-server",
    "mtm",
    "phpstorm",
    "positron",
    "pterm",
    "ptyxis",
    "ptyxis-agent",
    "pycharm",
    "qterminal",
    "rider",
    "rio",
    "roxterm",
    "rsession",
    "rubymine",
    "rustrover",
    "rxvt",
    "sakura",
    "screen",
    "shpool",
    "st",
    "studio",
    "tabby",
    "terminator",
    "terminology",
    "termite",
    "termux",
    "theia",
    "tilda",
    "tilix",
    "tmate",
    "ttyd",
    "urxvt",
    "urxvtd",
    "warp",
    "warp-terminal",
    "webstorm",
    "wezterm-gui",
    "wezterm-mux-server",
    "windsurf",
    "xfce4-terminal",
    "xterm",
    "yakuake",
    "zed-editor",
    "zellij",
];

/// Beginnings of names that carry a version, a state or a role behind them.
const TERMINAL_PREFIXES: [&str; 6] = ["Code Helper", "Cursor Helper", "emacs", "iTermServer", "tmux", "zed"];

/// The process that holds the terminals of VS Code and the editors made from it, whatever it is called.
const PTY_HOST: &str = "--type=ptyHost";

/// Main class of the IDEs of JetBrains where they run as `java`.
const JETBRAINS: &str = "com.intellij.idea.Main";

/// Linux keeps this many bytes of a process's name.
const NAME_BYTES: usize = 15;

/// The first variable of a process that an agent sets.
pub fn marker(process: &Process) -> Option<&'static str> {
    MARKERS.into_iter().find(|marker| process.variables.iter().any(|name| name == marker))
}

/// The agent that a process is, by its name or by the script that it interprets.
pub fn agent(process: &Process) -> Option<String> {
    if let Some(name) = names(process).find(|name| AGENTS.contains(name)) {
        return Some(name.to_owned());
    }
    // The native build of Claude Code lies in a file named by its version.
    if process.argv.first().is_some_and(|program| program.contains("/claude/versions/")) {
        return Some("claude".to_owned());
    }
    let (_, package) = script(process)?.rsplit_once("node_modules/")?;
    let is_in = |name: &&str| package.strip_prefix(*name).is_some_and(|rest| rest.starts_with('/'));
    PACKAGES.into_iter().find(is_in).map(str::to_owned)
}

/// Whether a process is known to hold the terminals that people sit at; `parent` is the process above it.
pub fn is_terminal(process: &Process, parent: Option<&Process>) -> bool {
    if names(process).any(is_terminal_name) || process.argv.iter().any(|word| word == PTY_HOST || word == JETBRAINS) {
        return true;
    }
    let is_login = |name: &str| LOGINS.contains(&name) || name.starts_with("Relay(");
    names(process).any(is_login) && (process.uid == 0 || parent.is_some_and(|parent| parent.uid == 0))
}

fn is_terminal_name(name: &str) -> bool {
    let is_cut = |known: &&str| known.len() > NAME_BYTES && known.get(..NAME_BYTES) == Some(name);
    TERMINALS.contains(&name)
        || TERMINALS.iter().any(is_cut)
        || TERMINAL_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// What a process may be called: its name, the program that it was started as, and the script that it interprets.
fn names(process: &Process) -> impl Iterator<Item = &str> {
    // `sshd: dev@pts/3` and `tmux: server` say more behind the colon.
    let plain = |text| file_name(str::split(text, ": ").next().unwrap_or_default());
    let program = process.argv.first().map(|program| plain(program));
    [Some(plain(&process.name)), program, script(process).map(file_name)].into_iter().flatten()
}

/// The script that an interpreter runs: its first operand.
fn script(process: &Process) -> Option<&str> {
    let (program, rest) = process.argv.split_first()?;
    let name = file_name(program).trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !INTERPRETERS.contains(&name) {
        return None;
    }
    rest.iter().map(String::as_str).find(|word| !word.starts_with('-') && *word != "run")
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default().trim_start_matches('-')
}
