//! `rune explain`: how a call is parsed and what the hook would answer, by the hook's own `decide`.

use super::allow;
use super::hooks::{NamedPreset, options_with_preset, project};
use super::log::refuse_unknown;
use super::style::{COLUMNS, Style, effect_colour, paint, wrap};
use crate::commands::current_dir;
use crate::runtime::agent_check;
use crate::runtime::environment::{Environment, now};
use crate::runtime::facts;
use crate::runtime::mcp::names;
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use anyhow::{Context, bail, ensure};
use clap::Args;
use rune::client::SampleEvent;
use rune::encoding::escape;
use rune::event::Header;
use rune::path::Place;
use rune::policy::{Config, Pause};
use rune::programs::Catalogue;
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rune::shell::{self, Command, Effects, Reading};
use rune::verdict::{Effect, ExceptionUse, Finding, Phase, Remedy, Verdict};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Shows what a call would do and what the hook would answer; writes nothing, runs nothing
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rune explain -- 'cd /tmp && sudo rm -rf \"$DIR\"/cache'\n  rune explain --preset strict --post event.json"
)]
pub struct ExplainArgs {
    /// Explain the newest call of this project that was stopped
    #[arg(long, conflicts_with_all = ["line", "tool", "cwd", "project", "post"])]
    pub last: bool,
    /// Tool of the call
    #[arg(long, value_name = "NAME", default_value = "Bash")]
    pub tool: String,
    /// Print JSON instead of a tree
    #[arg(long)]
    pub json: bool,
    /// Preset to decide by [default: the registered one]
    #[arg(long, value_name = "NAME")]
    pub preset: Option<String>,
    /// Working directory of the call
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Project of the call
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Explain the result in this event, as the client sends it after a call; `-` for stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["line", "tool", "cwd", "project"])]
    pub post: Option<PathBuf>,
    /// Command line, or another input of the tool; several words are joined with blanks
    #[arg(required_unless_present_any = ["post", "last"], last = true, value_name = "LINE")]
    pub line: Vec<String>,
}

/// The output of `--json`.
#[derive(Serialize)]
struct Explanation<'a> {
    tool: &'a str,
    preset: &'a NamedPreset,
    readable: bool,
    commands: Vec<ExplainedCommand<'a>>,
    effects: ExplainedEffects<'a>,
    effect: &'static str,
    findings: Vec<ExplainedFinding<'a>>,
    exceptions: Vec<ExplainedException<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<String>,
}

/// An exception that was used.
#[derive(Serialize)]
struct ExplainedException<'a> {
    rule: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    reason: &'a str,
    source: &'a str,
}

#[derive(Serialize)]
struct ExplainedCommand<'a> {
    program: &'a str,
    args: Vec<&'a str>,
    canonical: &'a str,
    via: &'a [String],
    dynamic: bool,
}

#[derive(Serialize)]
struct ExplainedEffects<'a> {
    writes: Vec<String>,
    removes: Vec<String>,
    reads: Vec<String>,
    env: Vec<String>,
    network: &'a [String],
}

#[derive(Serialize)]
struct ExplainedFinding<'a> {
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
        return explain_result(file, args);
    }
    let (options, preset) = options_with_preset(args.preset.as_deref(), None)?;
    let call = if args.last { ExplainedCall::last(&options)? } else { ExplainedCall::of(args, &options)? };
    let Preview { verdict, place, catalogue, pause, .. } = call.preview(&options)?;
    let line = call.line.as_str();
    let reading = if is_shell(&call.tool) { shell::read(line, &place, &catalogue) } else { Reading::default() };
    let effects = reading.effects();
    let mut out = std::io::stdout().lock();
    if args.json {
        let explanation = build_explanation(&call.tool, &preset, &reading, &effects, &verdict, pause);
        writeln!(out, "{}", crate::commands::to_json(&explanation)?)?;
    } else {
        let style = Style::of(&out);
        let answer = Answer { effect: verdict.effect(), preset: &preset, pause, style };
        out.write_all(render_tree(line, &reading, &effects, &verdict, &answer).as_bytes())?;
    }
    Ok(())
}

/// Prints what the hook would do to a result.
fn explain_result(file: &Path, args: &ExplainArgs) -> anyhow::Result<()> {
    let event = if file == Path::new("-") {
        std::io::read_to_string(std::io::stdin()).context("cannot read stdin")?
    } else {
        std::fs::read_to_string(file).with_context(|| file.display().to_string())?
    };
    let (options, preset) = options_with_preset(args.preset.as_deref(), None)?;
    let previewed = preview(&event, &options, &options.environment())?;
    ensure!(
        previewed.header.phase.is_some_and(Phase::is_after),
        "{}: not an event after a call\n  help: expected the JSON that the client sends to `rune hook post`",
        file.display()
    );
    let answer = options.client.answer(&previewed.header, &previewed.verdict).stdout.unwrap_or_else(|| "{}".to_owned());
    let mut out = std::io::stdout().lock();
    if args.json {
        return Ok(writeln!(out, "{answer}")?);
    }
    let answer = options.client.read_answer(&answer, Some(0));
    let mut text = match previewed.verdict.surface() {
        None => "the result does not come from an untrusted surface\n".to_owned(),
        Some(surface) if surface.trusted => format!("source: {}, trusted by your policy\n", surface.source),
        Some(surface) => format!("source: {} ({})\n", surface.source, surface.rule),
    };
    if previewed.verdict.surface().is_some_and(|surface| surface.taints) {
        text.push_str("the session would be tainted\n");
    }
    writeln!(text, "{preset}")?;
    if let Some(context) = answer.context {
        write!(text, "\nadded to the result:\n{context}\n")?;
    }
    if let Some(result) = answer.replacement {
        write!(text, "\nreplaces the result:\n{}\n", serde_json::to_string_pretty(&result)?)?;
    }
    Ok(out.write_all(text.as_bytes())?)
}

fn is_shell(tool: &str) -> bool {
    tool.eq_ignore_ascii_case("bash") || tool.eq_ignore_ascii_case("monitor")
}

/// Builds the input of a tool: `line` itself if it is a JSON object, else an object with `line` in its main field.
fn tool_input(tool: &str, line: &str) -> anyhow::Result<serde_json::Value> {
    if line.trim_start().starts_with('{') {
        let object = serde_json::from_str(line).context("the input starts with `{` but is not JSON");
        // A command group of the shell starts with `{` too.
        if object.is_ok() || !is_shell(tool) {
            return object;
        }
    }
    let name: String = tool.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    Ok(match name.as_str() {
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

/// A call to be explained.
struct ExplainedCall {
    tool: String,
    /// The command, or what the tool is to do.
    line: String,
    input: serde_json::Value,
    cwd: PathBuf,
    project: Option<PathBuf>,
}

impl ExplainedCall {
    fn of(args: &ExplainArgs, options: &Options) -> anyhow::Result<ExplainedCall> {
        let known = options.client.tools();
        let is_known = |name: &&&str| name.eq_ignore_ascii_case(&args.tool);
        if !args.tool.starts_with("mcp__") && !known.iter().any(|name| is_known(&name)) {
            let tools = known.iter().copied().collect();
            refuse_unknown(
                "tool",
                &args.tool,
                &tools,
                &format!("there are {}, and `mcp__server__tool`", known.join(", ")),
            )?;
        }
        let line = args.line.join(" ");
        Ok(ExplainedCall {
            tool: args.tool.clone(),
            input: tool_input(&args.tool, &line)?,
            line,
            cwd: args.cwd.clone().map_or_else(current_dir, Ok)?,
            project: args.project.clone(),
        })
    }

    /// The newest stop of the current project, from the client's transcript.
    fn last(options: &Options) -> anyhow::Result<ExplainedCall> {
        agent_check::refuse_agent("reading transcripts")?;
        let environment = options.environment();
        let project = project(environment.client, &current_dir()?);
        let environment = Environment { project: Some(project.clone()), ..environment };
        let call = allow::newest_stop(options, &environment)?;
        Ok(ExplainedCall {
            tool: call.tool,
            line: call.text,
            input: serde_json::from_slice(&call.input).context("the recorded input cannot be read")?,
            cwd: call.cwd.into(),
            project: Some(project),
        })
    }

    fn preview(&self, options: &Options) -> anyhow::Result<Preview> {
        let mut environment = options.environment();
        environment.project = self.project.clone().or(environment.project);
        let sample = SampleEvent {
            session: "explain",
            cwd: &self.cwd.to_string_lossy(),
            phase: Phase::Before,
            tool: &self.tool,
            input: self.input.clone(),
            result: None,
        };
        let event = options.client.sample_event(&sample);
        // A pause counts: the answer is that of the hook.
        preview_with_policy(&event, options, &environment, |wanted, project| {
            policy_files::config_now(options, &environment, wanted, project)
        })
    }
}

/// An event, and the verdict that the hook would return for it.
pub struct Preview {
    pub header: Header,
    pub place: Place,
    /// What its shell text was read with.
    pub catalogue: Catalogue,
    pub verdict: Verdict,
    /// The pause of the policy that it was judged by.
    pub pause: Option<Pause>,
}

/// Runs an event through the steps of the hook, without log, receipts or session state.
pub fn preview(event: &str, options: &Options, environment: &Environment) -> anyhow::Result<Preview> {
    preview_with_policy(event, options, environment, |wanted, project| {
        policy_files::config(options, environment, wanted, project)
    })
}

/// Like [`preview`], with a policy built by `policy` from the rules that the event needs and the project's policy file.
pub fn preview_with_policy(
    event: &str,
    options: &Options,
    environment: &Environment,
    policy: impl FnOnce(&policy_files::RuleSelection, Option<&Path>) -> Config,
) -> anyhow::Result<Preview> {
    let origin = Origin::new(ContentSource::UserInput, "preview", now());
    let input = Quarantined::new(event.as_bytes().to_vec(), origin);
    let message = match options.client.parse(&input) {
        Ok(message) => message,
        Err(unread) => bail!(unread.failure.reason()),
    };
    let message = names::resolve(message, options, environment);
    let event = policy_files::programs::into_event(message, environment);
    let policy = policy_files::load_with(&event, environment, policy);
    let (event, policy) = facts::add(event, policy, options, environment, environment);
    let verdict = rune::decide(&event, &policy.config);
    let catalogue = event.shell().map(|shell| shell.reading.catalogue().clone()).unwrap_or_default();
    Ok(Preview { header: event.header, place: event.place, catalogue, verdict, pause: policy.config.pause })
}

fn build_explanation<'a>(
    tool: &'a str,
    preset: &'a NamedPreset,
    reading: &'a Reading,
    effects: &'a Effects,
    verdict: &'a Verdict,
    pause: Option<Pause>,
) -> Explanation<'a> {
    let command = |command: &'a Command| ExplainedCommand {
        program: &command.program,
        args: command.args.iter().map(|arg| arg.text.as_str()).collect(),
        canonical: &command.canonical,
        via: &command.via,
        dynamic: command.is_dynamic(),
    };
    let finding = |finding: &'a Finding| ExplainedFinding {
        rule: finding.rule().as_str(),
        effect: effect_name(finding.effect()),
        reason: finding.reason(),
        nudge: finding.nudge(),
        source: finding.source(),
        change: way_to_allow(finding),
    };
    let exception = |used: &'a ExceptionUse| ExplainedException {
        rule: used.rule.as_str(),
        id: used.id.as_deref(),
        reason: &used.reason,
        source: &used.source,
    };
    Explanation {
        tool,
        preset,
        readable: reading.is_readable(),
        commands: reading.commands.iter().map(command).collect(),
        effects: ExplainedEffects {
            writes: effects.writes(),
            removes: effects.removes(),
            reads: effects.reads(),
            env: effects.variables(),
            network: &effects.network,
        },
        effect: effect_name(verdict.effect()),
        findings: verdict.distinct().into_iter().map(finding).collect(),
        exceptions: verdict.exceptions().iter().map(exception).collect(),
        paused: pause.map(|pause| pause.to_string()),
    }
}

/// The name of an effect in this command's output, which says `pass` where logs and receipts say `allow`.
pub fn effect_name(effect: Effect) -> &'static str {
    if effect == Effect::Pass { "pass" } else { effect.name() }
}

/// What the answer says besides the findings.
struct Answer<'a> {
    effect: Effect,
    preset: &'a NamedPreset,
    pause: Option<Pause>,
    style: Style,
}

/// Renders each command below the one that runs it, its place in the line underlined, then effects and findings.
fn render_tree(line: &str, reading: &Reading, effects: &Effects, verdict: &Verdict, answer: &Answer<'_>) -> String {
    let mut text = String::new();
    for command in &reading.commands {
        let depth = command.via.len();
        let mark = if depth == 0 { String::new() } else { format!("{}└ ", "  ".repeat(depth - 1)) };
        let unknown = if command.is_dynamic() { "   (parts of it are only known when it runs)" } else { "" };
        writeln!(text, "{mark}{}{unknown}", replace_control_characters(&command.canonical)).ok();
        if depth == 0 {
            text.push_str(&underline(line, command));
        }
    }
    for (what, items) in [
        ("writes", effects.writes()),
        ("removes", effects.removes()),
        ("reads", effects.reads()),
        ("sets", effects.variables()),
        ("connects to", effects.network.clone()),
    ] {
        if !items.is_empty() {
            writeln!(text, "{what}: {}", replace_control_characters(&items.join(", "))).ok();
        }
    }
    if !reading.is_readable() {
        writeln!(text, "parts of it cannot be parsed").ok();
    }
    let effect = effect_name(answer.effect);
    writeln!(text, "answer: {}\n{}", paint(answer.style, effect_colour(effect), effect), answer.preset).ok();
    if let Some(pause) = answer.pause {
        writeln!(text, "the guard is paused {pause}; `rune resume` ends the pause").ok();
    }
    for used in verdict.exceptions() {
        let id = used.id.as_ref().map(|id| format!(" `{id}`")).unwrap_or_default();
        let reason = escape::one_line(&used.reason, 300);
        writeln!(text, "  {}: the exception{id} covers it: {reason}\n    it is at {}", used.rule, used.source).ok();
    }
    for finding in verdict.distinct() {
        let reason = replace_control_characters(finding.reason());
        let mut add = |indent: &str, line: &str| {
            for (nth, line) in wrap(line, COLUMNS - "    ".len()).into_iter().enumerate() {
                writeln!(text, "{}{line}", if nth == 0 { indent } else { "    " }).ok();
            }
        };
        add("  ", &format!("{} ({}): {reason}", finding.rule(), effect_name(finding.effect())));
        if let Some(nudge) = finding.nudge() {
            add("    ", &format!("safer: {}", replace_control_characters(nudge)));
        }
        if let Some(source) = finding.source() {
            add("    ", &format!("rule: {source}"));
        }
        if let Some(way) = way_to_allow(finding) {
            // Not broken into lines, so that it can be copied.
            writeln!(text, "    to allow it: {}", replace_control_characters(&way)).ok();
        }
    }
    text
}

/// The command by which a person lets such a call pass; `None` if nothing should.
fn way_to_allow(finding: &Finding) -> Option<String> {
    if let Remedy::Command(command) = finding.remedy()? {
        return Some(command.to_owned());
    }
    let what = match (finding.program(), finding.subject()) {
        (Some(program), _) => format!("--program {}", shell::quote_word(program)),
        (None, Some(subject)) => {
            let pattern = format!("^{}$", regex_lite::escape(subject));
            format!("{} --match {}", shell::quote_word(finding.rule().as_str()), shell::quote_word(&pattern))
        }
        (None, None) => return None,
    };
    Some(format!("rune allow {what} --reason '…'"))
}

/// The row of `line` that a command starts in, with the command underlined in the row below.
fn underline(line: &str, command: &Command) -> String {
    let start = command.span.start.min(line.len());
    let row_start = line.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    let row = line.get(row_start..).unwrap_or_default().lines().next().unwrap_or_default();
    let before = line.get(row_start..start).unwrap_or_default().chars().count();
    let marked = line.get(start..command.span.end.min(line.len())).unwrap_or_default();
    let width = marked.lines().next().unwrap_or_default().trim_end().chars().count().max(1);
    let row: String = replace_control_characters(row).chars().take(200).collect();
    format!("    {row}\n    {}{}\n", " ".repeat(before.min(200)), "~".repeat(width.min(200)))
}

/// Replaces characters that could move the cursor of a terminal.
fn replace_control_characters(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
