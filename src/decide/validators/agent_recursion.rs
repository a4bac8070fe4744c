//! Agents that are started without permission checks, or with input that is only known when the command runs.

use super::{Context, block, command, suspicious, suspicious_if};
use crate::decide::subject::Subject;
use crate::programs::words;
use crate::rules::Match;
use crate::shell::Input;

pub(super) fn find(subject: &Subject<'_>, _context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    // `@anthropic-ai/claude-code@latest` is the program `claude-code`.
    let program = command.program.rsplit('/').next().unwrap_or_default().split('@').next().unwrap_or_default();
    let is_script = command.args.first().is_some_and(|arg| arg.text.contains("claude-code"))
        && matches!(program, "node" | "bun" | "deno");
    let is_claude = program == "claude" || is_script || command.program.contains("claude-code");
    // `@openai/codex`, `@google/gemini-cli`, but not the script `dispatch-codex.sh`.
    let is_package =
        command.program.starts_with('@') && program.split('-').any(|word| words::AGENTS_PROGRAMS.contains(&word));
    if !is_claude && !words::AGENTS_PROGRAMS.contains(&program) && !is_package {
        return None;
    }
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let has_unchecked_value = words.iter().zip(words.iter().skip(1)).any(|(option, value)| {
        matches!(
            (*option, *value),
            ("--permission-mode", "bypassPermissions" | "dontAsk")
                | ("--approval-mode", "yolo")
                | ("-a" | "--ask-for-approval", "never")
                | ("--sandbox" | "-s", "danger-full-access")
        )
    });
    let is_gemini_yes = program.contains("gemini") && words.contains(&"-y");
    if has_unchecked_value || is_gemini_yes || words.iter().any(|word| words::AGENTS_UNCHECKED.contains(word)) {
        return block("it starts an agent that asks nobody");
    }
    if is_package || command.program.starts_with('@') {
        return suspicious("it starts another agent");
    }
    let is_headless = words.iter().any(|word| matches!(*word, "-p" | "--print" | "exec" | "--prompt" | "run" | "chat"));
    let fed = matches!(command.input, Input::Pipe | Input::Unknown);
    let dynamic = command.args.iter().any(|arg| !arg.is_known());
    let is_headless =
        is_headless || words.iter().any(|word| matches!(*word, "-m" | "--message" | "--yes" | "-t" | "--text"));
    if !is_headless || !fed && !dynamic {
        return suspicious_if(is_headless, "it starts another agent");
    }
    let reason = "it hands an agent text that nobody has read";
    if is_claude { block(reason) } else { suspicious(reason) }
}
