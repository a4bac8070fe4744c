//! Samples: events that the registered commands are run on. Their answers are compared with those of this program.

use super::Problem;
use crate::commands::explain::{Preview, preview, preview_with_policy};
use crate::commands::hooks::{RegisteredLayer, default_preset};
use crate::runtime::environment::Environment;
use crate::runtime::policy_files;
use rune::client::settings::HookCommand;
use rune::client::{Client, Response, SampleEvent};
use rune::policy::Config;
use rune::verdict::Phase;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// The time limit of a command; the client waits as long.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(10);

/// The time limit for reading the rest of the output of a command that has ended.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(1);

/// The interval at which a command is checked for its end.
const POLL_INTERVAL: Duration = Duration::from_millis(2);

/// The answer of a guard with a working policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expectation {
    /// No objection.
    Pass,
    /// An ask or a denial.
    Stop,
    /// A notice to the model.
    Mark,
    /// At least the answer of the preset as it ships.
    AsShipped,
}

/// A tool call to test.
struct Sample {
    /// A description.
    what: &'static str,
    tool: &'static str,
    input: Value,
    /// The result, for an event after the call.
    result: Option<Value>,
    expected: Expectation,
}

fn samples(settings: &Path) -> [Sample; 6] {
    let before = |what, tool, input: Value, expected| Sample { what, tool, input, result: None, expected };
    let shell = |what, command: &str, expected| before(what, "Bash", json!({"command": command}), expected);
    [
        shell("`git status`", "git status", Expectation::Pass),
        shell("`rm -rf ~`", "rm -rf ~", Expectation::Stop),
        before(
            "a change of the settings that our hooks stand in",
            "Write",
            json!({"file_path": settings.to_string_lossy(), "content": "{}"}),
            Expectation::Stop,
        ),
        // One for each tier of rules.
        shell("`git push --force`", "git push --force origin main", Expectation::AsShipped),
        shell("`git clean -fd`", "git clean -fd", Expectation::AsShipped),
        Sample {
            what: "a page from the web",
            tool: "WebFetch",
            input: json!({"url": "https://pages.example/", "prompt": "sum up"}),
            result: Some(json!({"result": "some text"})),
            expected: Expectation::Mark,
        },
    ]
}

impl Sample {
    fn phase(&self) -> Phase {
        if self.result.is_some() { Phase::After } else { Phase::Before }
    }

    fn event(&self, client: &dyn Client, project: &Path) -> String {
        client.sample_event(&SampleEvent {
            session: "rune-doctor",
            cwd: &project.to_string_lossy(),
            phase: self.phase(),
            tool: self.tool,
            input: self.input.clone(),
            result: self.result.clone(),
        })
    }
}

/// Runs the commands of one settings file on the samples.
pub fn check(
    registered: &RegisteredLayer<'_>,
    environment: &Environment,
    project: &Path,
) -> anyhow::Result<Vec<Problem>> {
    // That the program cannot be started is a problem of its own.
    if registered.program_error.is_some() {
        return Ok(Vec::new());
    }
    let environment = environment.with_dirs(&registered.options.dirs);
    let mut problems = Vec::new();
    for sample in samples(&registered.layer.path) {
        if !environment.client.has_sample(sample.phase(), sample.tool) {
            continue;
        }
        let mut hooks = registered.settings.guard_hooks().filter(|hook| hook.phase == Some(sample.phase()));
        let Some(hook) = hooks.next() else { continue };
        let event = sample.event(environment.client, project);
        let own = response(&preview(&event, &registered.options, &environment)?, registered);
        let place = registered.layer.place(&hook.pointer);
        problems.extend(disarmed(&sample, own).map(|problem| problem.at(&place)));
        if sample.expected == Expectation::AsShipped {
            let looser = looser_policy(&sample, own, registered, &environment, project)?;
            problems.extend(looser.map(|problem| problem.at(&place)));
        }
        let Some(command) = &hook.command else { continue };
        // An entry with another program than the others is a problem of its own, and that program is not started.
        if command.program != registered.registration.program {
            continue;
        }
        let answer = run(command, &event, environment.client, project);
        let what = match &answer {
            Ok(response) if *response == own => continue,
            Ok(response) => format!("the registered command {}", describe(*response)),
            Err(what) => what.clone(),
        };
        let what = format!("{}: {what}, and should have {}", sample.what, verb_phrase(own));
        let program = rune::shell::quote_word(&command.program);
        let advice =
            format!("is `{program}` the guard that you have installed? `rune hooks install` registers this program");
        problems.push(Problem::new("sample-differs", what, advice).at(place));
        // A program that cannot be run would fail on the other samples too.
        if answer.is_err() {
            break;
        }
    }
    Ok(problems)
}

/// The response of the client to the answer of this program.
fn response(judged: &Preview, registered: &RegisteredLayer<'_>) -> Response {
    let client = registered.options.client;
    let answer = client.answer(&judged.header, &judged.verdict);
    client.read_answer(answer.stdout.as_deref().unwrap_or_default(), Some(i32::from(answer.exit))).response
}

/// A policy that is looser on a sample than its preset as it ships. A preset that does not ship is not compared.
fn looser_policy(
    sample: &Sample,
    own: Response,
    registered: &RegisteredLayer<'_>,
    environment: &Environment,
    project: &Path,
) -> anyhow::Result<Option<Problem>> {
    let preset = registered.options.preset.clone().unwrap_or_else(|| default_preset(environment));
    if policy_files::shipped(&preset, &[]).is_none() {
        return Ok(None);
    }
    let policy = |wanted: &policy_files::RuleSelection, _: Option<&Path>| {
        policy_files::shipped(&preset, &wanted.kinds).unwrap_or_else(|| Config::fold([], Vec::new()))
    };
    let event = sample.event(environment.client, project);
    let shipped = response(&preview_with_policy(&event, &registered.options, environment, policy)?, registered);
    let (own_words, shipped_words) = (verb_phrase(own), verb_phrase(shipped));
    let what = format!("{}: the policy {own_words}, and the preset {preset} as it ships {shipped_words}", sample.what);
    let advice = "you may have meant it: `[decision]`, `rules.disabled`, `[[exceptions]]` or your own rules say so; `rune explain` shows why";
    Ok((own < shipped).then(|| Problem::new("policy-looser", what, advice)))
}

/// A policy that does not stop or mark a sample that every policy should.
fn disarmed(sample: &Sample, own: Response) -> Option<Problem> {
    let advice =
        "the preset, `rules.disabled`, `[[exceptions]]` or QUARANTINE_DISABLE say so; `rune explain` shows why";
    let what = match (sample.expected, own) {
        (Expectation::Stop, Response::Nothing | Response::Advise | Response::Allow) => "would not be stopped",
        (Expectation::Mark, Response::Nothing | Response::Allow) => "would not be marked",
        (Expectation::Pass | Expectation::Stop | Expectation::Mark | Expectation::AsShipped, _) => return None,
    };
    Some(Problem::new("guard-disarmed", format!("{} {what}", sample.what), advice))
}

fn describe(response: Response) -> &'static str {
    if response == Response::Invalid { "gave no answer that the client understands" } else { verb_phrase(response) }
}

fn verb_phrase(response: Response) -> &'static str {
    match response {
        Response::Nothing => "said nothing",
        Response::Advise => "told the model something",
        Response::Allow => "allowed it",
        Response::Ask => "asked",
        Response::Deny => "denied it",
        Response::Invalid => "failed",
    }
}

/// Runs a command as the client does, but without log or state.
fn run(hook: &HookCommand, event: &str, client: &dyn Client, project: &Path) -> Result<Response, String> {
    let program = &hook.program;
    let mut command = Command::new(program);
    // `--dry-run` goes to the front, where no flag can take it for its value.
    let (verb, rest) = hook.args.split_at(hook.args.iter().take_while(|word| *word == "hook").count().min(1));
    command.args(verb).arg("--dry-run").args(rest);
    command.envs(client.locations().project_variable.map(|name| (name, project)));
    if project.is_dir() {
        command.current_dir(project);
    }
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().map_err(|error| format!("{program} cannot be started ({error})"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program may answer without reading the event.
        stdin.write_all(event.as_bytes()).ok();
    }
    let (sender, receiver) = mpsc::channel();
    let stdout = child.stdout.take();
    std::thread::spawn(move || {
        let mut text = String::new();
        stdout.map(|stdout| stdout.take(1 << 20).read_to_string(&mut text));
        sender.send(text).ok();
    });
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if started.elapsed() < COMMAND_TIMEOUT => std::thread::sleep(POLL_INTERVAL),
            Ok(None) | Err(_) => {
                child.kill().ok();
                child.wait().ok();
                return Err(format!("{program} did not end within {} s", COMMAND_TIMEOUT.as_secs()));
            }
        }
    };
    let text = receiver.recv_timeout(OUTPUT_TIMEOUT).map_err(|_| format!("{program} left its answer open"))?;
    Ok(client.read_answer(&text, status.code()).response)
}
