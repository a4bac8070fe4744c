//! Samples: events played through the registered commands, and compared with what we would answer ourselves.

use super::finding::Finding;
use crate::commands::explain::{Judgement, preview, preview_by};
use crate::commands::hooks::{Wired, first_preset};
use crate::runtime::environment::Environment;
use crate::runtime::policy_files;
use rune::client::claude::settings::Hook;
use rune::policy::Config;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long a command may take; the client waits as long.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long its last words may take once it has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How often we look whether it has ended.
const GLANCE: Duration = Duration::from_millis(2);

/// What a guard that is set up as it should be does with a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    /// Nobody is troubled by it, or at most told that it is fine.
    Passes,
    /// It does not happen by itself.
    Stopped,
    /// The model is told whose words they are.
    Marked,
    /// At least what the preset of that name does as it ships.
    AsShipped,
}

struct Sample {
    what: &'static str,
    event: &'static str,
    fields: Value,
    wish: Wish,
}

fn samples(settings: &Path) -> [Sample; 6] {
    let before = |what, tool, input: Value, wish| Sample {
        what,
        event: "PreToolUse",
        fields: json!({"tool_name": tool, "tool_input": input}),
        wish,
    };
    [
        before("`git status`", "Bash", json!({"command": "git status"}), Wish::Passes),
        before("`rm -rf ~`", "Bash", json!({"command": "rm -rf ~"}), Wish::Stopped),
        before(
            "a change of the settings that our hooks stand in",
            "Write",
            json!({"file_path": settings.to_string_lossy(), "content": "{}"}),
            Wish::Stopped,
        ),
        // One for each tier of rules.
        before("`git push --force`", "Bash", json!({"command": "git push --force origin main"}), Wish::AsShipped),
        before("`git clean -fd`", "Bash", json!({"command": "git clean -fd"}), Wish::AsShipped),
        Sample {
            what: "a page from the web",
            event: "PostToolUse",
            fields: json!({"tool_name": "WebFetch", "tool_input": {"url": "https://pages.example/", "prompt": "sum up"},
                "tool_response": {"result": "some text"}}),
            wish: Wish::Marked,
        },
    ]
}

/// Plays the samples through the commands of one settings file.
pub fn check(wired: &Wired<'_>, environment: &Environment, project: &Path) -> anyhow::Result<Vec<Finding>> {
    // What cannot be started is found elsewhere.
    if wired.flaw.is_some() {
        return Ok(Vec::new());
    }
    let environment = environment.told(&wired.options.dirs);
    let hooks = wired.settings.hooks();
    let mut findings = Vec::new();
    for sample in samples(&wired.layer.path) {
        let Some(hook) = hooks.iter().find(|hook| hook.is_ours() && hook.event == sample.event) else { continue };
        let event = sample.event(project);
        let judged = preview(&event, &wired.options, &environment)?;
        let ours = said(&judged, wired);
        let place = wired.layer.place(&hook.pointer());
        findings.extend(disarmed(&sample, ours).map(|finding| finding.at(&place)));
        if sample.wish == Wish::AsShipped {
            findings.extend(looser(&sample, ours, wired, &environment, project)?.map(|finding| finding.at(&place)));
        }
        let Some((program, words)) = hook.call() else { continue };
        // Another program than that of the other entries is found elsewhere, and not ours to start.
        if program != wired.registration.program {
            continue;
        }
        let (theirs, over) = match play(&program, &words, &event, project) {
            Ok(said) if said == ours => continue,
            Ok(said) => (format!("the registered command {}", said.words()), false),
            Err(what) => (what, true),
        };
        let what = format!("{}: {theirs}, and should have {}", sample.what, ours.past());
        findings.push(Finding::new("sample-differs", what, retry(hook)).at(place));
        // Nor will it take the next one.
        if over {
            break;
        }
    }
    Ok(findings)
}

fn said(judged: &Judgement, wired: &Wired<'_>) -> Said {
    let answer = wired.options.client.answer(&judged.header, &judged.verdict);
    Said::read(answer.stdout.as_deref().unwrap_or_default(), Some(i32::from(answer.exit)))
}

/// A policy by which more passes than by its preset as it ships; a preset of the operator's own has nothing to differ from.
fn looser(
    sample: &Sample,
    ours: Said,
    wired: &Wired<'_>,
    environment: &Environment,
    project: &Path,
) -> anyhow::Result<Option<Finding>> {
    let preset = wired.options.preset.clone().unwrap_or_else(|| first_preset(environment));
    if policy_files::shipped(&preset, &[]).is_none() {
        return Ok(None);
    }
    let policy = |wanted: &policy_files::RuleSelection, _: Option<&Path>| {
        policy_files::shipped(&preset, &wanted.kinds).unwrap_or_else(|| Config::fold([], Vec::new()))
    };
    let judged = preview_by(&sample.event(project), &wired.options, environment, policy)?;
    let shipped = said(&judged, wired);
    let what =
        format!("{}: the policy {}, and the preset {preset} as it ships {}", sample.what, ours.past(), shipped.past());
    let advice = "you may have meant it: `[decision]`, `rules.disabled`, `[[exceptions]]` or your own rules say so; `rune explain` shows why";
    Ok((ours < shipped).then(|| Finding::new("policy-looser", what, advice)))
}

fn retry(hook: &Hook<'_>) -> String {
    let program = hook.call().map(|(program, _)| rune::shell::quote_word(&program)).unwrap_or_default();
    format!("is `{program}` the guard that you have installed? `rune hooks install` registers this program")
}

/// A policy by which even this passes.
fn disarmed(sample: &Sample, said: Said) -> Option<Finding> {
    let advice =
        "the preset, `rules.disabled`, `[[exceptions]]` or QUARANTINE_DISABLE say so; `rune explain` shows why";
    let what = match (sample.wish, said) {
        (Wish::Stopped, Said::Nothing | Said::Told | Said::Allowed) => format!("{} would not be stopped", sample.what),
        (Wish::Marked, Said::Nothing | Said::Allowed) => format!("{} would not be marked", sample.what),
        (Wish::Passes | Wish::Stopped | Wish::Marked | Wish::AsShipped, _) => return None,
    };
    Some(Finding::new("guard-disarmed", what, advice))
}

impl Sample {
    fn event(&self, project: &Path) -> String {
        let mut event = json!({"session_id": "rune-doctor", "transcript_path": "/dev/null", "cwd": project.to_string_lossy(),
            "hook_event_name": self.event});
        if let (Some(event), Some(fields)) = (event.as_object_mut(), self.fields.as_object()) {
            event.extend(fields.clone());
        }
        event.to_string()
    }
}

/// What an answer comes to, mildest first; its words may differ between versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Said {
    /// Not even the client asks.
    Allowed,
    Nothing,
    Told,
    Asked,
    Denied,
    /// It is no answer.
    Nonsense,
}

impl Said {
    fn read(stdout: &str, exit: Option<i32>) -> Said {
        let answer = match (stdout.trim(), exit) {
            (_, Some(2)) => return Said::Denied,
            ("", Some(0)) => return Said::Nothing,
            (text, Some(0)) => serde_json::from_str::<Value>(text).unwrap_or_default(),
            _ => return Said::Nonsense,
        };
        let field = |name: &str| answer.pointer(&format!("/hookSpecificOutput/{name}")).and_then(Value::as_str);
        match (field("permissionDecision"), field("additionalContext")) {
            (Some("deny"), _) => Said::Denied,
            (Some("ask"), _) => Said::Asked,
            (Some("allow"), _) => Said::Allowed,
            (None, Some(_)) => Said::Told,
            _ => Said::Nonsense,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Said::Nothing => "said nothing",
            Said::Nonsense => "gave no answer that the client understands",
            Said::Told | Said::Allowed | Said::Asked | Said::Denied => self.past(),
        }
    }

    fn past(self) -> &'static str {
        match self {
            Said::Nothing => "said nothing",
            Said::Told => "told the model something",
            Said::Allowed => "allowed it",
            Said::Asked => "asked",
            Said::Denied => "denied it",
            Said::Nonsense => "failed",
        }
    }
}

/// Runs a command as the client would, but without log or state.
fn play(program: &str, words: &[String], event: &str, project: &Path) -> Result<Said, String> {
    let mut command = Command::new(program);
    // In front, where no flag can take it for its value.
    let (verb, rest) = words.split_at(words.iter().take_while(|word| *word == "hook").count().min(1));
    command.args(verb).arg("--dry-run").args(rest).env("CLAUDE_PROJECT_DIR", project);
    // A project that is not there yet has no directory to start in.
    if project.is_dir() {
        command.current_dir(project);
    }
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().map_err(|error| format!("{program} cannot be started ({error})"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // Whoever does not read it has answered already.
        stdin.write_all(event.as_bytes()).ok();
    }
    let (send, received) = mpsc::channel();
    let stdout = child.stdout.take();
    std::thread::spawn(move || {
        let mut text = String::new();
        stdout.map(|stdout| stdout.take(1 << 20).read_to_string(&mut text));
        send.send(text).ok();
    });
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() < PATIENCE => std::thread::sleep(GLANCE),
            Ok(None) | Err(_) => {
                child.kill().ok();
                child.wait().ok();
                return Err(format!("{program} did not end within {} s", PATIENCE.as_secs()));
            }
        }
    };
    let text = received.recv_timeout(LAST_WORDS).map_err(|_| format!("{program} left its answer open"))?;
    Ok(Said::read(&text, status.code()))
}
