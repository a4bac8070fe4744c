//! Spilled results: files in which Claude Code stores results that are too large, or that arrive late.
//!
//! It uses `<config>/projects/<project>/<session>/tool-results/<file>` for large results and
//! `<temp>/claude-<uid>/<project>/<session>/tasks/<id>.output` for background commands. A project
//! may have a directory called `tasks` too, so the name alone does not suffice.

use crate::path::AbsPath;

/// Whether a file is a spilled result of the client.
pub(super) fn is_spilled(path: &AbsPath, session: &str) -> bool {
    let directories = path.directories();
    let is_output = path.components().last().is_some_and(|name| name.ends_with(".output"));
    directories.iter().zip(directories.iter().skip(1)).enumerate().any(|(at, (above, directory))| {
        let of_session = above == session || is_uuid(above);
        let of_client = |name: fn(&str) -> bool| directories.iter().take(at + 1).any(|outer| name(outer));
        match directory.as_str() {
            "tool-results" => of_session || of_client(|outer| outer == ".claude"),
            "tasks" => is_output && (of_session || of_client(is_client_temp)),
            _ => false,
        }
    })
}

/// Whether a name is `claude` or `claude-<uid>`.
fn is_client_temp(name: &str) -> bool {
    name.strip_prefix("claude").is_some_and(|rest| {
        rest.is_empty()
            || rest.strip_prefix('-').is_some_and(|uid| !uid.is_empty() && uid.bytes().all(|b| b.is_ascii_digit()))
    })
}

fn is_uuid(name: &str) -> bool {
    name.len() == 36
        && name.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}
