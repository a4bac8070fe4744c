//! Agents that are started without permission checks, or with input that is only known when the command runs.

use super::{Context, block, command, suspicious, suspicious_if};
use crate::decide::subject::Subject;
use crate::programs::code::lists;
use crate::programs::roles;
use crate::rules::Match;
use crate::shell::{Command, Input};

/// Whether a program of this name is a coding agent.
pub fn is_agent_program(name: &str) -> bool {
    lists(&roles::AGENTS_PROGRAMS, name)
}

/// The name of a program without its directory and the version of its package: `@anthropic-ai/claude-code@latest` is
/// the program `claude-code`.
fn program_name(command: &Command) -> &str {
    command.program.rsplit('/').next().unwrap_or_default().split('@').next().unwrap_or_default()
}

fn is_claude(command: &Command) -> bool {
    let program = program_name(command);
    let is_script = command.args.first().is_some_and(|arg| arg.text.contains("claude-code"))
        && matches!(program, "node" | "bun" | "deno");
    program == "claude" || is_script || command.program.contains("claude-code")
}

/// Whether the program is the package of an agent: `@openai/codex`, `@google/gemini-cli`, but not the script
/// `dispatch-codex.sh`.
fn is_package(command: &Command) -> bool {
    command.program.starts_with('@') && program_name(command).split('-').any(is_agent_program)
}

/// Whether the program is a coding agent.
pub(super) fn is_agent(command: &Command) -> bool {
    is_claude(command) || is_agent_program(program_name(command)) || is_package(command)
}

pub(super) fn find(subject: &Subject<'_>, _context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    if !is_agent(command) {
        return None;
    }
    let (program, is_claude, is_package) = (program_name(command), is_claude(command), is_package(command));
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
    if has_unchecked_value || is_gemini_yes || words.iter().any(|word| lists(&roles::AGENTS_UNCHECKED, word)) {
        return block("");
    }
    if is_package || command.program.starts_with('@') {
        return suspicious("starts another agent");
    }
    let is_headless = words.iter().any(|word| matches!(*word, "-p" | "--print" | "exec" | "--prompt" | "run" | "chat"));
    let fed = matches!(command.input, Input::Pipe | Input::Unknown);
    let dynamic = command.args.iter().any(|arg| !arg.is_known());
    let is_headless =
        is_headless || words.iter().any(|word| matches!(*word, "-m" | "--message" | "--yes" | "-t" | "--text"));
    if !is_headless || !fed && !dynamic {
        return suspicious_if(is_headless, "starts another agent");
    }
    let reason = "passes text to an agent that nobody has read";
    if is_claude { block(reason) } else { suspicious(reason) }
}
