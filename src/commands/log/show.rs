//! One decision as text or JSON.

use super::Command;
use crate::commands::style::{COLUMNS, Style, effect_colour, paint, wrap};
use rune::encoding::escape::one_line;
use rune::telemetry::LogRecord;
use serde::Serialize;
use std::collections::BTreeMap;

/// Characters of a command that are shown as text.
const MAX_COMMAND_CHARS: usize = 400;

const INDENT: &str = "    ";

/// The output of `--json`.
#[derive(Serialize)]
struct Decision<'a> {
    time: &'a str,
    client: &'a str,
    session: &'a str,
    call: &'a str,
    event: &'a str,
    tool: &'a str,
    decision: &'a str,
    rules: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    source: &'a str,
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_command: Option<&'static str>,
    us: Option<u64>,
}

impl Command {
    /// Why there is no command.
    fn why_not(&self) -> Option<&'static str> {
        match self {
            Command::Known { .. } => None,
            Command::Missing => Some("no transcript has the call"),
            Command::Changed => Some("the transcript has another input than the one that was judged"),
            Command::Unnamed => Some("the log names no call"),
            Command::Hidden => Some("not shown to agents"),
        }
    }
}

pub fn json(record: &LogRecord, command: &Command, reasons: &BTreeMap<String, String>) -> anyhow::Result<String> {
    let decision = Decision {
        time: &record.ts,
        client: &record.client,
        session: &record.session_id,
        call: &record.call,
        event: &record.event,
        tool: &record.tool,
        decision: &record.decision,
        rules: record.rules(),
        reason: reason(record, command, reasons),
        source: &record.source,
        command: if let Command::Known { text, .. } = command { Some(text) } else { None },
        no_command: command.why_not(),
        us: record.us,
    };
    Ok(crate::commands::to_json(&decision)? + "\n")
}

/// A line with time, decision, rule and tool, one with client and session, then the command and the reason.
pub fn text(record: &LogRecord, command: &Command, reasons: &BTreeMap<String, String>, style: Style) -> String {
    let time: String = record.ts.chars().take(19).map(|c| if c == 'T' { ' ' } else { c }).collect();
    let code = effect_colour(&record.decision);
    let decision = format!("{:<6}", one_line(&record.decision, 10));
    // Further rules are in the JSON.
    let rules = record.rules();
    let more = if rules.len() > 1 { format!(" and {} more", rules.len() - 1) } else { String::new() };
    let what = rules.first().map_or_else(|| one_line(&record.tool, 50), |rule| one_line(rule, 40 - more.len()));
    let mut lines = vec![format!("{} {} {what}{more}", one_line(&time, 19), paint(style, code, &decision))];
    let client =
        Some(one_line(&record.client, 10)).filter(|client| !client.is_empty()).unwrap_or("unknown client".into());
    let session = Some(one_line(&record.session_id, 40)).filter(|session| !session.is_empty());
    let session = session.map_or("no session".into(), |session| format!("session {session}"));
    let width = COLUMNS - INDENT.len();
    let mut add = |text: &str| lines.extend(wrap(text, width).into_iter().map(|line| format!("{INDENT}{line}")));
    add(&format!("{client}, {session}"));
    match command {
        Command::Known { text, .. } => add(&format!("{}: {}", one_line(&record.tool, 50), escaped(text))),
        Command::Missing | Command::Changed | Command::Unnamed | Command::Hidden => {
            add(&format!("{} ({})", one_line(&record.tool, 50), command.why_not().unwrap_or_default()));
        }
    }
    if !record.source.is_empty() {
        add(&format!("source: {}", one_line(&record.source, 80)));
    }
    if let Some(reason) = reason(record, command, reasons) {
        add(&escaped(&reason));
    }
    lines.join("\n") + "\n"
}

/// Escapes a text to one line. Backticks are ordinary in commands, and nothing quotes them here.
fn escaped(text: &str) -> String {
    let shown: String = text.chars().take(MAX_COMMAND_CHARS).collect();
    let end = if shown.len() < text.len() { "…" } else { "" };
    let parts: Vec<_> = shown.split('`').map(|part| one_line(part, usize::MAX)).collect();
    parts.join("`") + end
}

/// Why the first rule stopped the call. If the call is not known, it is what the rule says, without values of the call.
fn reason(record: &LogRecord, command: &Command, reasons: &BTreeMap<String, String>) -> Option<String> {
    if let Command::Known { reason: Some(reason), .. } = command {
        return Some(reason.clone());
    }
    let rule = record.rules().first().copied()?;
    let nudge = reasons.get(rule).or_else(|| reasons.get(&rule.replace('_', " ")))?;
    let variables = [
        ("command", "the command"),
        ("base_command", "the program"),
        ("file_path", "the file"),
        ("server_name", "the server"),
    ];
    let plain = variables.iter().fold(nudge.replace("{tool_name}", &record.tool), |text, (name, value)| {
        ["`", "'", "\"", ""].iter().fold(text, |text, quote| text.replace(&format!("{quote}{{{name}}}{quote}"), value))
    });
    Some(plain).filter(|text| !text.trim().is_empty())
}
