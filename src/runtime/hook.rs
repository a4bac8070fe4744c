//! The hook: one event in, one answer out, one line in the log.
//!
//! Read stdin, parse the event, load the policy, collect facts, decide, record taint, answer, log, write receipts. The
//! watchdog is armed before the first of these. A panic or a hang in any of them ends in a denial before a call and in
//! exit code 0 after one.

use super::abort::OnAbort;
use super::log;
use super::options::Options;
use super::session;
use super::stage::{self, Stage};
use super::watchdog::{Progress, arm, attempt, stand_aside};
use crate::runtime::environment::{Environment, now};
use crate::runtime::facts::CollectedFacts;
use crate::runtime::policy_files::{LoadedPolicy, PolicyTexts, RuleSelection};
use crate::runtime::receipts;
use crate::runtime::receipts::PendingReceipt;
use crate::runtime::{facts, policy_files, stdin};
use rune::client::Answer;
use rune::event::{Header, Loosened, Message};
use rune::policy::{Config, Receipts};
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rune::receipt::Decision;
use rune::telemetry::Line;
use rune::verdict::Phase;
use rune::verdict::Surface;
use rune::verdict::failure::Failure;
use rune::verdict::limits::EVENT_BYTES;
use rune::verdict::{Effect, Verdict};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The client gives up after ten seconds and lets the call run; the watchdog answers before.
const DEADLINE: Duration = Duration::from_secs(4);

/// Bounds each write of the watchdog: the disk may be what hangs.
const LAST_WRITE: Duration = Duration::from_millis(300);

/// Answers one event and returns the exit code.
pub fn run(words: &[OsString], started: Instant) -> u8 {
    // A panic is answered like any failure; its message could quote the payload.
    std::panic::set_hook(Box::new(|_| {}));
    let options = Options::parse(words);
    let environment = Environment::look(&options.dirs);
    let on_abort =
        OnAbort::arm(options.phase).map(Arc::new).inspect_err(|error| complain(&format!("SIGABRT: {error}")));
    let call = Arc::new(Call { options, environment, started, on_abort: on_abort.ok() });
    let progress = Arc::new(Progress::new());
    let guarded = |work: &dyn Fn()| catch_unwind(AssertUnwindSafe(work)).is_ok();
    let watched = call.arm(&progress);
    let answered = match watched {
        Ok(()) => guarded(&|| call.answer(&progress)),
        Err(error) => guarded(&|| call.answer_unwatched(&progress, &error)),
    };
    if !answered && !guarded(&|| call.answer_failure(&progress, &Failure::Bug)) {
        complain("the guard broke and could not answer; this is a bug in rune, not in the call");
    }
    progress.exit(call.blocking_exit(&progress))
}

#[derive(Clone)]
struct Call {
    options: Options,
    environment: Environment,
    started: Instant,
    on_abort: Option<Arc<OnAbort>>,
}

/// The judgement of an event, and what follows from it.
struct Judgement {
    header: Header,
    verdict: Verdict,
    due: Option<PendingReceipt>,
    /// The loosenings of the guard that the answer tells of.
    told: Vec<Loosened>,
}

impl Call {
    /// The whole pipeline.
    fn answer(&self, progress: &Arc<Progress>) {
        let (input, whole) = read_event();
        let Judgement { header, verdict, due, told } = self.judge(&input, whole, progress);
        self.record(&header, &verdict);
        let spoken = self.speak(progress, &header, &verdict, |line| {
            stage::enter(Stage::Log);
            if !self.options.dry_run
                && let Err(what) = log::append(&self.environment, line)
            {
                complain(&what);
            }
        });
        if !spoken {
            stand_aside();
        }
        if !self.options.dry_run {
            receipts::mark_told(&self.environment, &told).ok();
            self.write_receipts(&header, due);
        }
    }

    /// Judges an event, readable or not.
    fn judge(&self, input: &Quarantined<Vec<u8>>, whole: bool, progress: &Progress) -> Judgement {
        stage::enter(Stage::Parse);
        let too_large = || EVENT_BYTES.failure();
        let message = match self.options.client.parse(input) {
            Ok(message) if whole => message,
            Ok(message) => Message { flaw: Some(too_large()), ..message },
            Err(unread) => {
                let header = self.header(unread.header);
                progress.note(&header, Verdict::default());
                let failure = if whole { unread.failure } else { too_large() };
                let policy = policy_files::config(&self.options, &self.environment, &RuleSelection::all(&[]), None);
                let verdict = Verdict::of(failure.finding(header.phase, policy.failure));
                let due = self.due(&header, policy.receipts, &verdict);
                return Judgement { header, verdict, due, told: Vec::new() };
            }
        };
        progress.note(&message.header, Verdict::default());
        if let Some(on_abort) = &self.on_abort {
            on_abort.set(Some(message.phase));
        }
        let event = self.environment.locate(message);
        if event.phase.is_after() {
            // Should the policy hang, the result is still marked by what no policy says.
            progress.note(&event.header, rune::decide(&event, &Config::fold([], Vec::new())));
        }
        stage::enter(Stage::Policy);
        let LoadedPolicy { config, own, memory } = policy_files::load(&event, &self.options, &self.environment);
        stage::enter(Stage::Facts);
        let CollectedFacts { facts, failures } = facts::collect(&event, &config, &self.options, &self.environment);
        let event = event.with_facts(facts);
        let config = config.with_failures(failures);
        let config = policy_files::with_content_rules(config, &event, &self.environment, own.as_deref());
        stage::enter(Stage::Decide);
        // A project's own policy may be slow on purpose: what the operator's finds holds even if time runs out.
        let mut config = config;
        if let Some(project) = config.project.take() {
            progress.note(&event.header, rune::decide(&event, &config));
            config.project = Some(project);
        }
        let verdict = rune::decide(&event, &config);
        let due = Decision::of(&event, &config, &verdict).map(|decision| PendingReceipt { decision, own, memory });
        let told = if config.block > Effect::Pass { event.facts.loosenings } else { Vec::new() };
        // The process ends soon, and freeing every rule would take longer than the rest of the call.
        std::mem::forget(config);
        Judgement { header: event.header, verdict, due, told }
    }

    /// Records the state that later calls are judged by. This comes before the answer, so that a process that is killed
    /// after its answer has recorded taint. Where writing fails, the next call fails too, see [`session::seen`].
    fn record(&self, header: &Header, verdict: &Verdict) {
        stage::enter(Stage::Record);
        if let Some(surface) = self.tainting(verdict)
            && let Err(what) = session::taint(&self.environment, &header.session, surface)
        {
            complain(&what);
        }
    }

    /// The surface that taints the session.
    fn tainting<'v>(&self, verdict: &'v Verdict) -> Option<&'v Surface> {
        verdict.surface().filter(|surface| surface.taints && !self.options.dry_run)
    }

    /// Writes the receipt of the call, and seals those of a session that has ended.
    fn write_receipts(&self, header: &Header, due: Option<PendingReceipt>) {
        stage::enter(Stage::Receipts);
        if header.phase == Some(Phase::End) {
            if let Err(what) = receipts::seal(&self.options, &self.environment, &header.session) {
                complain(&what);
            }
            session::forget_old(&self.environment);
        }
        if let Some(Err(what)) = due.map(|due| due.write(&self.options, &self.environment, &header.session)) {
            complain(&what);
        }
    }

    /// The receipt for an event that was not judged.
    fn due(&self, header: &Header, wanted: Receipts, verdict: &Verdict) -> Option<PendingReceipt> {
        let decision = Decision::of_failure(header, wanted, verdict)?;
        Some(PendingReceipt { decision, own: None, memory: PolicyTexts::default() })
    }

    /// Arms the watchdog.
    fn arm(self: &Arc<Self>, progress: &Arc<Progress>) -> std::io::Result<()> {
        let (late, otherwise) = (Arc::clone(self), Arc::clone(self));
        let left = DEADLINE.saturating_sub(self.started.elapsed());
        let answer_late = move |progress: &Progress| {
            stage::enter(Stage::Watchdog);
            late.answer_failure(progress, &Failure::Timeout);
        };
        arm(left, progress, answer_late, move |progress| otherwise.blocking_exit(progress))
    }

    /// Answers without a watchdog, which the system has no thread for. Nothing is judged: it could hang.
    fn answer_unwatched(&self, progress: &Progress, error: &std::io::Error) {
        complain(&format!("no watchdog thread: {error}"));
        self.answer_failure(progress, &Failure::Timeout);
    }

    /// Answers with a failure and what is known of the event, unless an answer has begun.
    fn answer_failure(&self, progress: &Progress, failure: &Failure) {
        let (header, mut verdict) =
            progress.known().unwrap_or_else(|| (self.header(Header::default()), Verdict::default()));
        verdict.add(failure.finding(header.phase, policy_files::failure_effect(&self.options)));
        // The model sees the result of a call whatever became of its judgement.
        if let Some(surface) = self.tainting(&verdict).cloned() {
            let (environment, session) = (self.environment.clone(), header.session.clone());
            attempt(LAST_WRITE, move || drop(session::taint(&environment, &session, &surface)));
        }
        let spoken = self.speak(progress, &header, &verdict, |line| {
            let (environment, line) = (self.environment.clone(), line.clone());
            if !self.options.dry_run {
                attempt(LAST_WRITE, move || drop(log::append(&environment, &line)));
            }
        });
        if !spoken {
            complain("the log or a receipt of this call was not written in time");
            return;
        }
        let due = self.due(&header, policy_files::receipts(&self.options), &verdict);
        if let Some(due) = due.filter(|_| !self.options.dry_run) {
            let (call, session) = (self.clone(), header.session);
            attempt(LAST_WRITE, move || drop(due.write(&call.options, &call.environment, &session)));
        }
    }

    /// The exit code where no answer was given: it blocks before a call, and says nothing after one.
    fn blocking_exit(&self, progress: &Progress) -> u8 {
        let known = progress.known().and_then(|(header, _)| header.phase);
        exit_without_answer(known.or(self.options.phase))
    }

    /// What can be told of an event that cannot be read. That it comes before a call is believed, for then it is
    /// denied; anything else it says of its moment yields to the command line.
    fn header(&self, told: Header) -> Header {
        let given = self.options.phase;
        let phase = match told.phase {
            Some(Phase::Before) => Some(Phase::Before),
            Some(Phase::Other) | None => given,
            Some(Phase::After | Phase::Failed | Phase::Settings | Phase::Start | Phase::End) => given.or(told.phase),
        };
        Header { tool: told.tool, session: told.session, ..self.options.client.header(phase) }
    }

    /// Answers and logs, unless somebody else already has; tells whether it did.
    fn speak(&self, progress: &Progress, header: &Header, verdict: &Verdict, log: impl FnOnce(&Line)) -> bool {
        stage::enter(Stage::Answer);
        let after = header.phase.is_some_and(Phase::is_after);
        let mut answer = self.options.client.answer(header, verdict);
        // Until the answer is written, ending the process has to block the call.
        if !progress.claim(exit_without_answer(header.phase)) {
            return false;
        }
        stage::enter(Stage::Write);
        if let Err(error) = answer.stdout.as_deref().map_or(Ok(()), write_answer) {
            complain(&format!("stdout: {error}"));
            answer = if after { Answer::default() } else { Answer::blocked(verdict) };
        }
        progress.settle(answer.exit);
        if let Some(text) = &answer.stderr {
            complain(text);
        }
        let us = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        log(&Line::new(header, verdict, now(), us));
        true
    }
}

/// The exit code that ends the process without an answer.
fn exit_without_answer(phase: Option<Phase>) -> u8 {
    if phase.is_some_and(Phase::is_after) { 0 } else { Answer::BLOCKED }
}

/// Reads stdin to its end; the flag tells whether all of it was kept.
fn read_event() -> (Quarantined<Vec<u8>>, bool) {
    stage::enter(Stage::Input);
    if rustix::stdio::stdin().is_terminal() {
        complain("hook: an event is read from stdin, as JSON; see `rune hook --help`");
        return (seal(Vec::new()), true);
    }
    let input = stdin::read(EVENT_BYTES.most);
    (seal(input.bytes), input.whole)
}

fn seal(bytes: Vec<u8>) -> Quarantined<Vec<u8>> {
    Quarantined::new(bytes, Origin::new(ContentSource::ToolOutput, "stdin", now()))
}

/// Writes the answer in one piece.
fn write_answer(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(format!("{text}\n").as_bytes())?;
    stdout.flush()
}

/// Writes a diagnostic to stderr, best effort.
fn complain(what: &str) {
    writeln!(std::io::stderr().lock(), "rune: {what}").ok();
}
