//! Agents that are started without their guard, or with what strangers wrote.

use super::{Context, block, command, suspicious};
use crate::decide::subject::Subject;
use crate::rules::Match;
use crate::shell::Input;

/// Programs that are agents: none may loosen the guard, and one that starts another is asked about.
pub const AGENTS: [&str; 16] = [
    "aider", "amp", "auggie", "claude", "codex", "copilot", "crush", "cursor-agent", "droid", "gemini", "goose",
    "grok", "kiro", "kiro-cli", "opencode", "qwen",
];

/// Options that take the brakes off, of all agents.
const UNLEASHED: [&str; 12] = [
    "--dangerously-skip-permissions",
    "--allow-dangerously-skip-permissions",
    "--dangerously-bypass-approvals-and-sandbox",
    "--yolo",
    "--full-auto",
    "--yes-always",
    "--dangerously-allow-all-tools",
    "--allow-all-tools",
    "--dangerously-allow-all",
    "--approval-mode=yolo",
    "--permission-mode=bypassPermissions",
    "--permission-mode=dontAsk",
];

pub(super) fn find(subject: &Subject<'_>, _context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    let program = command.program.rsplit('/').next().unwrap_or_default().split('@').next().unwrap_or_default();
    let script = command.args.first().is_some_and(|arg| arg.text.contains("claude-code"))
        && matches!(program, "node" | "bun" | "deno");
    let claude = program == "claude" || script || command.program.contains("claude-code");
    if !claude
        && !AGENTS.contains(&program)
        && !command.program.contains("codex")
        && !command.program.contains("gemini-cli")
    {
        return None;
    }
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let pairs = words.iter().zip(words.iter().skip(1)).any(|(option, value)| {
        matches!(
            (*option, *value),
            ("--permission-mode", "bypassPermissions" | "dontAsk")
                | ("--approval-mode", "yolo")
                | ("-a" | "--ask-for-approval", "never")
                | ("--sandbox" | "-s", "danger-full-access")
        )
    });
    let hasty = program.contains("gemini") && words.contains(&"-y");
    if pairs || hasty || words.iter().any(|word| UNLEASHED.contains(word)) {
        return block("it starts an agent that asks nobody");
    }
    let prints = words.iter().any(|word| matches!(*word, "-p" | "--print" | "exec" | "--prompt" | "run"));
    let fed = matches!(command.input, Input::Pipe | Input::Unknown);
    let dynamic = command.args.iter().any(|arg| !arg.is_known());
    if claude && prints && (fed || dynamic) {
        return block("it hands an agent text that nobody has read");
    }
    (prints && (fed || dynamic)).then(|| suspicious("it hands an agent text that nobody has read")).flatten()
}
