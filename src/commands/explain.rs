//! `rune explain`: what was read of a call, and what we would answer. The same `decide` as the hook's.

mod result;

use crate::runtime::environment::{Environment, now};
use crate::runtime::facts::{self, CollectedFacts};
use crate::runtime::options::Options;
use crate::runtime::policy_files::{self, LoadedPolicy};
use anyhow::{Context, bail};
use clap::Args;
use rune::event::Header;
use rune::path::Place;
use rune::policy::Config;
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rune::shell::{self, Command, Effects, Reading};
use rune::verdict::{Effect, Verdict};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::path::PathBuf;

/// Shows what a call would do and what we would answer; writes nothing, runs nothing
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune explain -- 'cd /tmp && sudo rm -rf \"$DIR\"/cache'\n  rune explain --preset strict --post event.json"
)]
pub struct ExplainArgs {
    /// The tool that would be called
    #[arg(long, value_name = "NAME", default_value = "Bash")]
    pub tool: String,
    /// JSON instead of a tree
    #[arg(long)]
    pub json: bool,
    /// The preset to answer by
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// The directory that the call would be made in
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The project that the call would be part of
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// What would be done to the result in an event after a call, as the client sends it; `-` for stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["line", "tool", "cwd", "project"])]
    pub post: Option<PathBuf>,
    /// The command line; several words are joined with blanks
    #[arg(required_unless_present = "post", last = true, value_name = "LINE")]
    pub line: Vec<String>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Explanation<'a> {
    tool: &'a str,
    readable: bool,
    commands: Vec<Row<'a>>,
    effects: EffectRows<'a>,
    effect: &'static str,
    findings: Vec<FindingRow<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    program: &'a str,
    args: Vec<&'a str>,
    canonical: &'a str,
    via: &'a [String],
    dynamic: bool,
}

#[derive(Serialize)]
struct EffectRows<'a> {
    writes: Vec<String>,
    removes: Vec<String>,
    reads: Vec<String>,
    env: Vec<String>,
    network: &'a [String],
}

#[derive(Serialize)]
struct FindingRow<'a> {
    rule: &'a str,
    effect: &'static str,
    reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    nudge: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
}

pub fn run(args: &ExplainArgs) -> anyhow::Result<()> {
    if let Some(file) = &args.post {
        return result::run(file, args);
    }
    let line = args.line.join(" ");
    let cwd = match &args.cwd {
        Some(cwd) => cwd.clone(),
        None => std::env::current_dir()?,
    };
    let (verdict, place) = judge(args, &line, &cwd.to_string_lossy())?;
    let reading = if is_shell(&args.tool) { shell::read(&line, &place) } else { Reading::default() };
    let mut out = std::io::stdout().lock();
    if args.json {
        writeln!(out, "{}", serde_json::to_string(&explanation(&args.tool, &reading, &reading.effects(), &verdict))?)?;
    } else {
        out.write_all(tree(&line, &reading, &verdict).as_bytes())?;
    }
    Ok(())
}

fn is_shell(tool: &str) -> bool {
    tool.eq_ignore_ascii_case("bash") || tool.eq_ignore_ascii_case("monitor")
}

/// What the tool would be given: an object as it stands, else the one field that matters.
fn input(tool: &str, line: &str) -> anyhow::Result<serde_json::Value> {
    if line.trim_start().starts_with('{') {
        let object = serde_json::from_str(line).context("the input looks like JSON");
        // A shell's group begins with the same sign.
        if object.is_ok() || !is_shell(tool) {
            return object;
        }
    }
    let plain: String = tool.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    Ok(match plain.as_str() {
        "edit" => serde_json::json!({"file_path": line, "old_string": "", "new_string": ""}),
        "write" | "multiedit" => serde_json::json!({"file_path": line, "content": ""}),
        "notebookedit" => serde_json::json!({"notebook_path": line, "new_source": ""}),
        "read" => serde_json::json!({"file_path": line}),
        "webfetch" => serde_json::json!({"url": line, "prompt": ""}),
        "agent" | "task" => serde_json::json!({"prompt": "", "mode": line}),
        "applypatch" => serde_json::json!({"input": line}),
        _ => serde_json::json!({"command": line}),
    })
}

fn judge(args: &ExplainArgs, line: &str, cwd: &str) -> anyhow::Result<(Verdict, Place)> {
    let words: Vec<_> = args.preset.iter().flat_map(|preset| ["--preset".into(), preset.into()]).collect();
    let options = Options::parse(&words);
    let mut environment = Environment::read(&options.dirs);
    environment.project = args.project.clone().or(environment.project);
    let event = serde_json::json!({"session_id": "explain", "cwd": cwd, "hook_event_name": "PreToolUse", "tool_name": args.tool,
        "tool_input": input(&args.tool, line)?});
    let judged = preview(&event.to_string(), &options, &environment)?;
    Ok((judged.verdict, judged.place))
}

/// An event and what we would answer.
pub struct Judgement {
    pub header: Header,
    pub place: Place,
    pub verdict: Verdict,
}

/// Sends an event through the hook's own line, without log or state.
pub fn preview(event: &str, options: &Options, environment: &Environment) -> anyhow::Result<Judgement> {
    preview_by(event, options, environment, |wanted, project| {
        policy_files::config(options, environment, wanted, project)
    })
}

/// The same by another policy, which is made for the rules that the event is asked about, with the project's own.
pub fn preview_by(
    event: &str,
    options: &Options,
    environment: &Environment,
    policy: impl FnOnce(&policy_files::RuleSelection, Option<&Path>) -> Config,
) -> anyhow::Result<Judgement> {
    let origin = Origin::new(ContentSource::UserInput, "preview", now());
    let input = Quarantined::new(event.as_bytes().to_vec(), origin);
    let message = match options.client.parse(&input) {
        Ok(message) => message,
        Err(unread) => bail!(unread.failure.reason()),
    };
    let event = environment.locate(message);
    let LoadedPolicy { config, project_policy: own, .. } = policy_files::load_with(&event, environment, policy);
    let CollectedFacts { facts, failures } = facts::collect(&event, &config, options, environment);
    let event = event.with_facts(facts);
    let config = config.with_failures(failures);
    let config = policy_files::with_content_rules(config, &event, environment, own.as_deref());
    let verdict = rune::decide(&event, &config);
    Ok(Judgement { header: event.header, place: event.place, verdict })
}

fn explanation<'a>(tool: &'a str, reading: &'a Reading, effects: &'a Effects, verdict: &'a Verdict) -> Explanation<'a> {
    let row = |command: &'a Command| Row {
        program: &command.program,
        args: command.args.iter().map(|arg| arg.text.as_str()).collect(),
        canonical: &command.canonical,
        via: &command.via,
        dynamic: command.is_dynamic(),
    };
    let finding = |finding: &'a rune::verdict::Finding| FindingRow {
        rule: finding.rule().as_str(),
        effect: name(finding.effect()),
        reason: finding.reason(),
        nudge: finding.nudge(),
        source: finding.source(),
        change: finding.source().map(|_| change(finding)),
    };
    Explanation {
        tool,
        readable: reading.is_readable(),
        commands: reading.commands.iter().map(row).collect(),
        effects: EffectRows {
            writes: effects.writes(),
            removes: effects.removes(),
            reads: effects.reads(),
            env: effects.variables(),
            network: &effects.network,
        },
        effect: name(verdict.effect()),
        findings: verdict.distinct().into_iter().map(finding).collect(),
    }
}

pub fn name(effect: Effect) -> &'static str {
    match effect {
        Effect::Pass => "pass",
        Effect::Advise => "advise",
        Effect::Ask => "ask",
        Effect::Deny => "deny",
    }
}

/// The reading as a tree: each command under what runs it, with its place in the line underlined.
fn tree(line: &str, reading: &Reading, verdict: &Verdict) -> String {
    let mut text = String::new();
    for command in &reading.commands {
        let depth = command.via.len();
        let mark = if depth == 0 { String::new() } else { format!("{}└ ", "  ".repeat(depth - 1)) };
        let unknown = if command.is_dynamic() { "   (not all of it can be known)" } else { "" };
        writeln!(text, "{mark}{}{unknown}", shown(&command.canonical)).ok();
        if depth == 0 {
            text.push_str(&underlined(line, command));
        }
    }
    let effects = reading.effects();
    let rows = [
        ("writes", effects.writes()),
        ("removes", effects.removes()),
        ("reads", effects.reads()),
        ("sets", effects.variables()),
        ("talks to", effects.network.clone()),
    ];
    for (what, items) in rows.into_iter().filter(|(_, items)| !items.is_empty()) {
        let items: Vec<String> = items.iter().map(|item| shown(item)).collect();
        writeln!(text, "{what}: {}", items.join(", ")).ok();
    }
    if !reading.is_readable() {
        writeln!(text, "not all of it can be read").ok();
    }
    writeln!(text, "answer: {}", name(verdict.effect())).ok();
    for finding in verdict.distinct() {
        writeln!(text, "  {} ({}): {}", finding.rule(), name(finding.effect()), shown(finding.reason())).ok();
        if let Some(source) = finding.source() {
            writeln!(text, "    the rule is at {source}").ok();
            writeln!(text, "    {}", change(finding)).ok();
        }
    }
    text
}

/// What would change the answer.
fn change(finding: &rune::verdict::Finding) -> String {
    let rule = finding.rule();
    if rule.as_str() == "unknown-executable" {
        return "it would pass with the program in `executables.allowed` in config.local.toml".to_owned();
    }
    if rule.as_str() == "mcp-unregistered" {
        return "it would pass with the server under `[[mcp.servers]]` in config.local.toml".to_owned();
    }
    // A backslash stands for itself in a TOML literal.
    let quote = if rule.as_str().contains('\\') { '\'' } else { '"' };
    format!(
        "it would pass with `[[exceptions]]`, `rule = {quote}{rule}{quote}`, a `match` and a `reason` in config.local.toml"
    )
}

/// The line that the command stands on, with the command underlined.
fn underlined(line: &str, command: &Command) -> String {
    let start = command.span.start.min(line.len());
    let row_start = line.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let row = line.get(row_start..).unwrap_or_default().lines().next().unwrap_or_default();
    let before = line.get(row_start..start).unwrap_or_default().chars().count();
    let marked = line.get(start..command.span.end.min(line.len())).unwrap_or_default();
    let width = marked.lines().next().unwrap_or_default().trim_end().chars().count().max(1);
    let row: String = shown(row).chars().take(200).collect();
    format!("    {row}\n    {}{}\n", " ".repeat(before.min(200)), "~".repeat(width.min(200)))
}

/// Characters that could move the cursor are made visible.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
