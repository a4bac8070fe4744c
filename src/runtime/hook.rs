//! The hook: one event in, one answer out, one log line.
//!
//! [`answer`] is the pipeline; the functions below it are its steps, in order. [`failsafe::run`] runs it: the watchdog is
//! armed before stdin is read, and a panic or a hang in any step ends in a denial before a call and in exit code 0 after
//! one.

mod failsafe;

use super::abort::AbortHandler;
use super::environment::Environment;
use super::facts;
use super::mcp::names;
use super::options::Options;
use super::policy_files::{self, LoadedPolicy};
use super::receipts::{self, PendingReceipt};
use super::stage::{self, Stage};
use super::stderr::warn;
use super::stdin::Input;
use super::watchdog::{Progress, park_forever};
use super::{log, session, stdin};
use rune::client::{self, Payload};
use rune::event::{Event, EventError, Header, LooseningRecord, Message};
use rune::policy::Config;
use rune::receipt::Decision;
use rune::telemetry::LogLine;
use rune::verdict::limits::EVENT_BYTES;
use rune::verdict::{Effect, Phase, Surface, Verdict};
use std::ffi::OsString;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// What is the same for every step of one run of the hook.
struct Call {
    /// As the command line says.
    registered: Caller,
    /// As the payload says, where it says another client.
    recognised: OnceLock<Caller>,
    started: Instant,
    /// `None` where the signal handler could not be installed.
    abort_handler: Option<AbortHandler>,
}

/// The client that runs the hook, and the directories that follow from it.
struct Caller {
    options: Options,
    environment: Environment,
}

impl Caller {
    fn of(options: Options) -> Caller {
        Caller { environment: options.environment(), options }
    }
}

impl Call {
    fn caller(&self) -> &Caller {
        self.recognised.get().unwrap_or(&self.registered)
    }

    fn options(&self) -> &Options {
        &self.caller().options
    }

    fn environment(&self) -> &Environment {
        &self.caller().environment
    }

    /// Sets who runs the hook: a mark of the payload overrides the command line, because several clients read the settings
    /// of others.
    fn recognise(&self, payload: &Payload<'_>) {
        let Caller { options, .. } = &self.registered;
        let client = match client::recognise(payload) {
            client::Caller::Known(client) => client,
            client::Caller::Foreign => &client::UNKNOWN,
            // An event without a mark blocks in every client, unless it is known to come after a call.
            client::Caller::Unmarked if options.names_client || options.phase.is_some_and(Phase::is_after) => return,
            client::Caller::Unmarked => &client::UNKNOWN,
        };
        if client.name() != options.client.name() {
            self.recognised.set(Caller::of(options.for_client(client))).ok();
        }
    }
}

/// The verdict on one event, and what the later steps need of the event.
struct Judgement {
    header: Header,
    verdict: Verdict,
    receipt: Option<PendingReceipt>,
    /// The first line of a new file for the notes of the verdict.
    salt: String,
    /// The loosenings of the guard that the answer reports.
    reported: Vec<LooseningRecord>,
    /// Servers that are seen for the first time.
    new_servers: Vec<String>,
}

/// Answers one event and returns the exit code.
pub fn run(words: &[OsString], started: Instant) -> u8 {
    // A panic is answered as a failure. Its message is dropped, because it could quote the payload.
    std::panic::set_hook(Box::new(|_| {}));
    let options = Options::parse(words);
    let abort_handler = AbortHandler::arm(options.phase).inspect_err(|error| warn(&format!("SIGABRT: {error}")));
    let (registered, recognised) = (Caller::of(options), OnceLock::new());
    let call = Arc::new(Call { registered, recognised, started, abort_handler: abort_handler.ok() });
    failsafe::run(&call, answer)
}

/// The pipeline, from stdin to the answer and its log line.
fn answer(call: &Call, progress: &Progress) {
    let input = read_stdin();
    let judgement = match parse_event(call, &input, progress) {
        Ok(event) => {
            let policy = load_policy(call, &event);
            let (event, policy) = collect_facts(call, event, policy);
            decide(event, policy, progress)
        }
        Err(error) => judge_unreadable(call, error, progress),
    };
    record_state(call, &judgement);
    // The watchdog thread has answered and is about to end the process.
    let Some(line) = failsafe::write_answer(call, progress, &judgement.header, &judgement.verdict) else {
        park_forever()
    };
    append_log(call, line.with_input(hash_input(call, &input, &judgement)));
    write_receipts(call, judgement);
}

fn read_stdin() -> Input {
    stage::enter(Stage::Input);
    stdin::read_event(EVENT_BYTES.most)
}

/// Parses the event, resolves its directories, and parses its shell text.
fn parse_event<'a>(call: &Call, input: &'a Input, progress: &Progress) -> Result<Event<'a>, EventError> {
    stage::enter(Stage::Parse);
    let too_large = (!input.is_complete).then(|| EVENT_BYTES.failure());
    let payload = Payload::read(&input.bytes);
    call.recognise(&payload);
    let message = match call.options().client.parse_payload(&payload) {
        Ok(message) => {
            let header = Header { is_attended: !call.environment().unattended, ..message.header };
            Message { header, failure: too_large.or(message.failure), ..message }
        }
        Err(EventError { header, failure }) => {
            let header = Box::new(failsafe::header_of_unreadable(call, *header));
            return Err(EventError { header, failure: too_large.unwrap_or(failure) });
        }
    };
    progress.set_provisional(&message.header, Verdict::default());
    if let Some(handler) = &call.abort_handler {
        handler.set_phase(Some(message.phase));
    }
    let message = names::resolve(message, call.options(), call.environment());
    let event = policy_files::programs::into_event(message, call.environment());
    if event.phase.is_after() {
        // If loading the policy hangs, the result is still marked as the built-in defaults say.
        progress.set_provisional(&event.header, rune::decide(&event, &Config::fold([], Vec::new())));
    }
    Ok(event)
}

fn load_policy(call: &Call, event: &Event<'_>) -> LoadedPolicy {
    stage::enter(Stage::Policy);
    policy_files::load(event, call.options(), call.environment())
}

fn collect_facts<'a>(call: &Call, event: Event<'a>, policy: LoadedPolicy) -> (Event<'a>, LoadedPolicy) {
    stage::enter(Stage::Facts);
    facts::add(event, policy, call.options(), call.environment(), call.environment())
}

fn decide(event: Event<'_>, policy: LoadedPolicy, progress: &Progress) -> Judgement {
    stage::enter(Stage::Decide);
    let LoadedPolicy { mut config, project_policy, texts } = policy;
    // A project's policy may be slow on purpose. The findings of the operator's policy hold even after a timeout.
    if let Some(project) = config.project.take() {
        progress.set_provisional(&event.header, rune::decide(&event, &config));
        config.project = Some(project);
    }
    let verdict = rune::decide(&event, &config);
    let decision = Decision::of(&event, &config, &verdict);
    let receipt = decision.map(|decision| PendingReceipt { decision, project_policy, texts });
    let reported = if config.guards_itself() { event.facts.loosenings } else { Vec::new() };
    let salt = event.facts.memory.salt_line();
    let new_servers = event.facts.new_servers;
    Judgement { header: event.header, verdict, receipt, salt, reported, new_servers }
}

/// Judges an event that cannot be parsed: the failure is the only finding.
fn judge_unreadable(call: &Call, error: EventError, progress: &Progress) -> Judgement {
    let EventError { header, failure } = error;
    let header = *header;
    progress.set_provisional(&header, Verdict::default());
    let config = policy_files::settings(call.options(), call.environment());
    let verdict = Verdict::of(failure.finding(header.phase, config.failure));
    let receipt = PendingReceipt::for_failure(&header, config.receipts, &verdict);
    Judgement { header, verdict, receipt, salt: String::new(), reported: Vec::new(), new_servers: Vec::new() }
}

/// Records the taint, the notes and the asked programs by which later calls are judged.
///
/// INVARIANT: this comes before the answer, so that a process that is killed after its answer has recorded taint. If the
/// write fails, the next call fails as well, see [`session::read_taint`].
fn record_state(call: &Call, judgement: &Judgement) {
    stage::enter(Stage::Record);
    if call.options().dry_run {
        return;
    }
    let Judgement { header, verdict, salt, new_servers, .. } = judgement;
    for error in session::record(call.environment(), header, verdict, salt, new_servers) {
        warn(&error);
    }
}

/// The surface that taints the session; none in a dry run.
fn tainting_surface<'v>(call: &Call, verdict: &'v Verdict) -> Option<&'v Surface> {
    verdict.surface().filter(|surface| surface.taints && !call.options().dry_run)
}

/// The HMAC of the input of a call that is not passed silently. Other calls do not read the key.
fn hash_input(call: &Call, input: &Input, judgement: &Judgement) -> Option<String> {
    let is_logged = judgement.header.phase == Some(Phase::Before) && judgement.verdict.effect() > Effect::Pass;
    let input = call.options().client.tool_input(&input.bytes).filter(|_| is_logged && !call.options().dry_run)?;
    let key = receipts::key::read_or_create_arguments_key(call.environment()).inspect_err(|error| warn(error)).ok()?;
    key.hmac(&input)
}

fn append_log(call: &Call, line: LogLine) {
    stage::enter(Stage::Log);
    if !call.options().dry_run
        && let Err(error) = log::append(call.environment(), &line)
    {
        warn(&error);
    }
}

/// Writes the receipt of the call, and seals the receipts of a session that has ended.
fn write_receipts(call: &Call, judgement: Judgement) {
    let Caller { options, environment } = call.caller();
    if options.dry_run {
        return;
    }
    let Judgement { header, receipt, reported, .. } = judgement;
    receipts::mark_reported(environment, &reported).ok();
    stage::enter(Stage::Receipts);
    if header.phase == Some(Phase::End) {
        if let Err(error) = receipts::seal(options, environment, &header.session) {
            warn(&error);
        }
        session::remove_expired(environment);
    }
    if let Some(Err(error)) = receipt.map(|receipt| receipt.write(options, environment, &header.session)) {
        warn(&error);
    }
}
