//! `rune statusline`: the state of the guard in one line, for the status bar of a client.

use super::hooks::registered_options;
use super::log::LogFile;
use super::style::{Style, paint};
use crate::runtime::environment::Environment;
use crate::runtime::options::Options;
use crate::runtime::{log, pause, session};
use clap::Args;
use rune::encoding::label::Label;
use serde_json::Value;
use std::io::{IsTerminal, Read, Write};

/// Bytes of the client's JSON that are read.
const MAX_INPUT_BYTES: u64 = 1 << 20;

/// Bytes at the end of the log in which decisions of the session are counted.
const MAX_LOG_BYTES: u64 = 4 << 20;

/// Prints the state of the guard in one line, for the client's status bar
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  rune statusline < status.json\n  rune hooks install --statusline\n\n\
It reads the JSON that the client sends to its status line. Nothing makes it fail: where something cannot be read, it is left out.")]
pub struct StatuslineArgs {}

pub fn run(_: &StatuslineArgs) {
    let mut input = Vec::new();
    if !std::io::stdin().is_terminal() {
        std::io::stdin().take(MAX_INPUT_BYTES).read_to_end(&mut input).ok();
    }
    let status: Value = serde_json::from_slice(&input).unwrap_or_default();
    let session = status.get("session_id").and_then(Value::as_str).map(Label::new);
    // Status bars take colours although they are no terminals.
    let style =
        if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) { Style::Plain } else { Style::Colour };
    writeln!(std::io::stdout().lock(), "{}", line(session.as_ref(), style)).ok();
}

fn line(session: Option<&Label>, style: Style) -> String {
    let Ok(options) = registered_options() else { return paint(style, "1;31", "Rune: cannot read the settings") };
    let environment = options.environment();
    let mut parts = vec![state(&options, &environment, style)];
    if let Some(session) = session {
        parts.extend(taint(&environment, session, style));
        parts.extend(stops(&environment, session));
    }
    parts.join(" · ")
}

/// The preset, or why the guard stops nothing.
fn state(options: &Options, environment: &Environment, style: Style) -> String {
    if let Some(pause) = pause::read(environment) {
        return paint(style, "1;33", &format!("Rune paused {pause}"));
    }
    match options.preset.as_deref() {
        None => paint(style, "1;33", "Rune: not registered"),
        Some("off") => paint(style, "1;33", "Rune off"),
        Some(preset) => format!("Rune {preset}"),
    }
}

/// What the session has read.
fn taint(environment: &Environment, session: &Label, style: Style) -> Option<String> {
    match session::read_taint(environment, session) {
        Ok(taint) if taint.is_empty() => None,
        Ok(taint) if taint.is_hot() => Some(paint(style, "1;31", "hot")),
        Ok(_) => Some(paint(style, "33", "tainted")),
        Err(_) => Some(paint(style, "1;31", "session state unreadable")),
    }
}

/// How many calls of the session were stopped.
fn stops(environment: &Environment, session: &Label) -> Option<String> {
    let (mut denied, mut asked) = (0_usize, 0_usize);
    LogFile::near_end(&log::path(environment)?, MAX_LOG_BYTES)
        .read(|record| {
            if record.session_id == session.as_str() && record.is_stop() {
                *(if record.decision == "deny" { &mut denied } else { &mut asked }) += 1;
            }
        })
        .ok()?;
    let counts = [(denied, "denied"), (asked, "asked")];
    let shown: Vec<String> =
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!shown.is_empty()).then(|| shown.join(", "))
}
