//! Judges one recorded session: each step as the event that the hook got, by the hook's own steps.

use super::Preset;
use super::tally::{Example, Stopped, Tally};
use crate::runtime::environment::{Environment, now};
use crate::runtime::facts::{self, CollectedFacts};
use crate::runtime::options::Options;
use crate::runtime::policy_files::programs::OperatorCatalogue;
use crate::runtime::policy_files::{self, RuleSelection};
use crate::runtime::session::{self, RecordedSession};
use crate::runtime::transcripts::SessionFiles;
use rune::client::{Outcome, RecordedCall, RecordedEvent, RecordedPlace, RecordedStep, SampleEvent};
use rune::decide::{inspects_result, needed_kinds};
use rune::event::{Action, Event, EventError, Facts, Message};
use rune::policy::Config;
use rune::quarantined::{Audit, ContentSource, Origin, Quarantined, Reason};
use rune::verdict::failure::Failure;
use rune::verdict::limits::EVENT_BYTES;
use rune::verdict::{Effect, Phase, Verdict};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;

/// Characters of the text of a call that are kept as an example.
const MAX_TEXT_CHARS: usize = 2_000;

/// What is the same for all sessions.
pub struct Settings {
    /// Calls before this time are judged and not counted.
    pub since: Option<String>,
    /// The preset whose interruptions are kept.
    pub chosen: usize,
    /// Whether texts of calls are kept.
    pub keeps_text: bool,
    /// Whether the effect on each call is kept.
    pub keeps_calls: bool,
    /// The servers that the hook has seen.
    pub seen_servers: BTreeSet<String>,
}

/// What the policy for an event depends on, while the files do not change.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PolicyKey {
    preset: usize,
    kinds: Vec<&'static str>,
    project_policy: Option<PathBuf>,
    has_allowlist: bool,
    has_content_rules: bool,
}

pub struct Judge<'a> {
    presets: &'a [Preset],
    settings: &'a Settings,
    environment: Environment,
    catalogue: OperatorCatalogue,
    policies: BTreeMap<PolicyKey, Rc<Config>>,
}

/// A session while it is judged.
struct Session<'s> {
    name: &'s str,
    cwd: String,
    mode: String,
    /// What each preset remembers.
    states: Vec<RecordedSession>,
}

impl<'a> Judge<'a> {
    pub fn new(presets: &'a [Preset], environment: &Environment, settings: &'a Settings) -> Judge<'a> {
        // A panic is a verdict. Its message is dropped, because it could quote the payload.
        std::panic::set_hook(Box::new(|_| {}));
        // The client runs the hook in the directory of the call and, as far as is recorded, attended.
        let environment = Environment { current_dir: None, unattended: false, ..environment.clone() };
        let catalogue = OperatorCatalogue::read(environment.config_dir.as_deref());
        Judge { presets, settings, environment, catalogue, policies: BTreeMap::new() }
    }

    pub fn session(&mut self, files: &SessionFiles) -> Tally {
        let mut tally = Tally::new(self.presets.iter().map(|preset| preset.name.as_str()));
        let (mut lines, missing) = files.open(&self.environment);
        tally.unreadable_files = missing;
        let states = self.presets.iter().map(|_| RecordedSession::new(self.settings.seen_servers.clone())).collect();
        let mut session = Session { name: &files.session, cwd: String::new(), mode: "default".to_owned(), states };
        let mut waiting: BTreeMap<String, RecordedCall> = BTreeMap::new();
        let mut judged: BTreeSet<String> = BTreeSet::new();
        let mut project = None;
        for line in &mut lines {
            if line.is_copy {
                continue;
            }
            session.states.iter().for_each(|state| state.set_time(&line.time));
            session.cwd.clone_from(&line.cwd);
            if !line.mode.is_empty() {
                session.mode.clone_from(&line.mode);
            }
            if project.is_none() {
                project = Some(line.cwd.clone());
                self.environment.project = Some(PathBuf::from(&line.cwd)).filter(|project| project.is_absolute());
                self.start(&session);
            }
            for step in line.steps {
                match step {
                    RecordedStep::Prompt(prompt) => drop(self.step(&session, RecordedEvent::Prompt(&prompt))),
                    RecordedStep::Call(call) => {
                        if !judged.insert(call.id.clone()) {
                            continue;
                        }
                        let verdicts = self.step(&session, RecordedEvent::Before(&call));
                        if self.settings.since.as_ref().is_none_or(|since| line.time >= *since) {
                            self.count(&mut tally, &session, &line.time, &call, &verdicts);
                        }
                        waiting.insert(call.id.clone(), call);
                    }
                    RecordedStep::Result(result) => {
                        let Some(call) = waiting.remove(&result.call) else { continue };
                        if result.outcome != Outcome::Refused {
                            let verdicts = self.step(&session, RecordedEvent::After(&call, &result));
                            tally.count_results(&verdicts);
                        }
                    }
                }
            }
        }
        tally.skipped_lines = lines.skipped();
        tally.end_session(session.states.iter().any(RecordedSession::is_tainted));
        tally
    }

    /// Records which MCP servers are there before the session has read anything.
    fn start(&mut self, session: &Session<'_>) {
        let sample = SampleEvent {
            session: session.name,
            cwd: &session.cwd,
            phase: Phase::Start,
            tool: "",
            input: serde_json::Value::Null,
            result: None,
        };
        let event = self.environment.client.sample_event(&sample).into_bytes();
        let origin = Origin::new(ContentSource::UserInput, "start", now());
        self.judge(session, &Quarantined::new(event, origin));
    }

    /// Judges a step by each preset, and returns the verdicts in the order of the presets.
    fn step(&mut self, session: &Session<'_>, step: RecordedEvent<'_>) -> Vec<Verdict> {
        let place = RecordedPlace { session: session.name, cwd: &session.cwd, mode: &session.mode };
        let event = self.environment.client.recorded_event(&place, step);
        self.judge(session, &event)
    }

    fn judge(&mut self, session: &Session<'_>, event: &Quarantined<Vec<u8>>) -> Vec<Verdict> {
        let judged = catch_unwind(AssertUnwindSafe(|| self.judge_event(session, event)));
        judged.unwrap_or_else(|_| {
            let verdict = |preset: &Preset| {
                let policy = policy_files::embedded_preset(&preset.options);
                Verdict::of(Failure::Bug.finding(Some(Phase::Before), policy.failure))
            };
            self.presets.iter().map(verdict).collect()
        })
    }

    /// The steps of the hook for each preset. The event is parsed once.
    fn judge_event(&mut self, session: &Session<'_>, event: &Quarantined<Vec<u8>>) -> Vec<Verdict> {
        let presets = self.presets;
        let size = Reason::new("an event is as large as the hook reads");
        let bytes = size.map(|reason| event.expose(reason, &mut Audit::new(|_| {}))).map_or(&[][..], Vec::as_slice);
        let too_large = (bytes.len() > EVENT_BYTES.most).then(|| EVENT_BYTES.failure());
        let cut = bytes.get(..EVENT_BYTES.most).map(|bytes| {
            let origin = Origin::new(ContentSource::ModelOutput, "transcript", now());
            Quarantined::new(bytes.to_vec(), origin)
        });
        let message = match self.environment.client.parse(cut.as_ref().unwrap_or(event)) {
            Ok(message) => Message { failure: too_large.or(message.failure), ..message },
            Err(EventError { header, failure }) => {
                let failure = too_large.unwrap_or(failure);
                let verdict = |preset: &Preset| {
                    let policy = policy_files::settings(&preset.options, &self.environment);
                    Verdict::of(failure.finding(header.phase, policy.failure))
                };
                return presets.iter().map(verdict).collect();
            }
        };
        let mut event = self.catalogue.complete(message, &self.environment);
        let answers = event.facts.answers;
        let mut verdicts = Vec::new();
        for ((at, preset), state) in presets.iter().enumerate().zip(&session.states) {
            event = event.with_facts(Facts { answers, ..Facts::default() });
            let (judged, verdict) = self.decide(event, at, &preset.options, state);
            event = judged;
            let salt = event.facts.memory.salt_line();
            // What cannot be recorded in memory would be a damaged note of the verdict itself.
            session::record(state, &event.header, &verdict, &salt, &event.facts.new_servers);
            verdicts.push(verdict);
        }
        verdicts
    }

    fn decide<'e>(
        &mut self,
        event: Event<'e>,
        preset: usize,
        options: &Options,
        state: &RecordedSession,
    ) -> (Event<'e>, Verdict) {
        let config = self.policy(&event, preset, options, false);
        let CollectedFacts { facts, failures } = facts::collect(&event, &config, options, &self.environment, state);
        let event = event.with_facts(facts);
        let has_content_rules = inspects_result(&event, &config);
        let config = if has_content_rules { self.policy(&event, preset, options, true) } else { config };
        let verdict = match failures.as_slice() {
            [] => rune::decide(&event, &config),
            _ => rune::decide(&event, &Config::clone(&config).with_failures(failures)),
        };
        (event, verdict)
    }

    /// The policy for an event. It is read once for all events that need the same.
    fn policy(&mut self, event: &Event<'_>, preset: usize, options: &Options, has_content_rules: bool) -> Rc<Config> {
        let environment = &self.environment;
        let project = environment.project_for(&event.place.cwd);
        let key = PolicyKey {
            preset,
            kinds: needed_kinds(event).into_iter().map(rune::rules::RuleKind::name).collect(),
            project_policy: project.as_deref().and_then(policy_files::project_policy_dir),
            has_allowlist: matches!(event.action, Action::Mcp { .. } | Action::Resource { .. }),
            has_content_rules,
        };
        let read = || {
            // A pause ends by itself, so it says nothing about recorded calls.
            let policy = |selection: &RuleSelection, project: Option<&std::path::Path>| {
                policy_files::config(options, environment, selection, project)
            };
            let loaded = policy_files::load_with(event, environment, policy);
            let directory = loaded.project_policy.as_deref();
            let config = if has_content_rules {
                policy_files::with_content_rules(loaded.config, event, environment, directory)
            } else {
                loaded.config
            };
            Rc::new(config)
        };
        Rc::clone(self.policies.entry(key).or_insert_with(read))
    }

    fn count(&self, tally: &mut Tally, session: &Session<'_>, time: &str, call: &RecordedCall, verdicts: &[Verdict]) {
        let text = || {
            let reason = Reason::new("a person is shown what the call was to do").ok()?;
            let text = call.text.expose(reason, &mut Audit::new(|_| {}));
            let shown: String = text.chars().take(MAX_TEXT_CHARS).collect();
            Some(if shown.len() < text.len() { shown + "…" } else { shown })
        };
        let example = Example {
            time: time.to_owned(),
            session: session.name.to_owned(),
            tool: call.tool.clone(),
            text: if self.settings.keeps_text { text() } else { None },
        };
        tally.count_call(&example, verdicts);
        if let Some(verdict) = verdicts.get(self.settings.chosen).filter(|verdict| verdict.effect() >= Effect::Ask) {
            tally.count_stop(Stopped::of(verdict));
        }
        if self.settings.keeps_calls {
            tally.add_calls(session.name, &call.id, verdicts);
        }
    }
}
