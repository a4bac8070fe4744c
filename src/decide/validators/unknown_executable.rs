//! Programs that are neither well-known, nor allowed by the policy, nor part of the project.

use super::{Context, command, misplaced_program, suspicious_if};
use crate::decide::subject::Subject;
use crate::rules::Match;
use crate::shell::is_builtin;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    let program = command.program.as_str();
    // `DynamicCode` judges programs that are only known when they run. Functions are judged by their commands.
    let is_function = context.reading().is_some_and(|reading| reading.functions.contains(program));
    let is_placed = program.contains('/') && !misplaced_program::is_unknown_elsewhere(command, context);
    // `tmux new 'npm run dev'`: a word with blanks is judged as shell text too.
    let is_line = program.contains(' ') && !command.via.is_empty();
    // In a container it is a program of the image.
    let is_foreign = command.runs_in_container();
    if is_foreign
        || !command.known
        || is_line
        || program.is_empty()
        || is_placed
        || is_function
        || is_known(program, context)
    {
        return None;
    }
    let was_asked = context.event.facts.asked_programs.iter().any(|asked| asked == program);
    // A sourced file may define it as a function.
    let sourced = context.reading().and_then(|reading| reading.sourced).is_some_and(|at| at < command.span.start);
    let defined = sourced && program.contains('_');
    suspicious_if(!defined && !was_asked, "")
}

/// Whether the policy allows a program.
pub(super) fn is_allowed(name: &str, context: &Context<'_>) -> bool {
    context.config.executables.iter().any(|allowed| allowed == name)
}

/// Whether a program is well-known or allowed, with or without a version in its name.
pub(super) fn is_known(name: &str, context: &Context<'_>) -> bool {
    // `python3.12`, `pip3.12`, `gcc-13`
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    let listed = |name: &str| context.entry(name).is_some() || is_builtin(name) || is_allowed(name, context);
    listed(name) || (!plain.is_empty() && plain != name && listed(plain)) || name.starts_with("git-")
}
