//! Runs the pipeline so that every run ends in an answer: after a panic, after a hang, and without a watchdog thread.

use super::{Call, tainting_surface};
use crate::runtime::environment::now;
use crate::runtime::receipts::PendingReceipt;
use crate::runtime::stage::{self, Stage};
use crate::runtime::stderr::warn;
use crate::runtime::watchdog::{self, Progress, run_with_timeout};
use crate::runtime::{log, policy_files, session, stdout};
use rune::client::Answer;
use rune::event::Header;
use rune::telemetry::LogLine;
use rune::verdict::failure::Failure;
use rune::verdict::{Phase, Verdict};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// When the watchdog answers, after the start of the process. The client gives up after ten seconds and lets the call run.
const DEADLINE: Duration = Duration::from_secs(4);

/// Bounds each write that follows a failure: the disk may be what hangs.
const WRITE_TIMEOUT: Duration = Duration::from_millis(300);

/// Arms the watchdog, runs `pipeline`, answers with a failure if it panics, and returns the exit code.
pub(super) fn run(call: &Arc<Call>, pipeline: impl Fn(&Call, &Progress)) -> u8 {
    let progress = Arc::new(Progress::new());
    let catch = |work: &dyn Fn()| catch_unwind(AssertUnwindSafe(work)).is_ok();
    let answered = match arm_watchdog(call, &progress) {
        Ok(()) => catch(&|| pipeline(call, &progress)),
        // Nothing is judged without a watchdog, because judging could hang.
        Err(error) => catch(&|| {
            warn(&format!("no watchdog thread: {error}"));
            answer_failure(call, &progress, &Failure::Timeout);
        }),
    };
    if !answered && !catch(&|| answer_failure(call, &progress, &Failure::Bug)) {
        warn("the guard broke and could not answer; this is a bug in rune, not in the call");
    }
    progress.exit_code(exit_without_answer(call, &progress))
}

fn arm_watchdog(call: &Arc<Call>, progress: &Arc<Progress>) -> std::io::Result<()> {
    let remaining = DEADLINE.saturating_sub(call.started.elapsed());
    let (late, last) = (Arc::clone(call), Arc::clone(call));
    let answer_late = move |progress: &Progress| {
        stage::enter(Stage::Watchdog);
        answer_failure(&late, progress, &Failure::Timeout);
    };
    watchdog::arm(remaining, progress, answer_late, move |progress| exit_without_answer(&last, progress))
}

/// Answers with a failure and the provisional verdict, unless an answer has begun. Every write is bounded in time.
fn answer_failure(call: &Arc<Call>, progress: &Progress, failure: &Failure) {
    let (header, mut verdict) =
        progress.provisional().unwrap_or_else(|| (header_of_unreadable(call, Header::default()), Verdict::default()));
    let policy = policy_files::embedded_preset(call.options());
    verdict.add(failure.finding(header.phase, policy.failure));
    // Taint the session even after a failure: the model sees the result all the same.
    if let Some(surface) = tainting_surface(call, &verdict).cloned() {
        let (environment, session, tool) = (call.environment().clone(), header.session.clone(), header.tool.clone());
        let heat = verdict.heat();
        run_with_timeout(WRITE_TIMEOUT, move || {
            drop(session::add_taint(&environment, &session, &surface, &tool, heat))
        });
    }
    let Some(line) = write_answer(call, progress, &header, &verdict) else {
        return warn("the log or a receipt of this call was not written in time");
    };
    if call.options().dry_run {
        return;
    }
    let environment = call.environment().clone();
    run_with_timeout(WRITE_TIMEOUT, move || drop(log::append(&environment, &line)));
    if let Some(receipt) = PendingReceipt::for_failure(&header, policy.receipts, &verdict) {
        let (call, session) = (Arc::clone(call), header.session);
        run_with_timeout(WRITE_TIMEOUT, move || drop(receipt.write(call.options(), call.environment(), &session)));
    }
}

/// Writes the answer and returns the log line of the call. Returns `None` if another thread has begun an answer.
///
/// INVARIANT: until the answer is written, the exit code of the process blocks the call.
pub(super) fn write_answer(call: &Call, progress: &Progress, header: &Header, verdict: &Verdict) -> Option<LogLine> {
    stage::enter(Stage::Answer);
    let mut answer = call.options().client.answer(header, verdict);
    if !progress.claim(blocking_exit(header.phase)) {
        return None;
    }
    stage::enter(Stage::Write);
    if let Err(error) = answer.stdout.as_deref().map_or(Ok(()), stdout::write_line) {
        warn(&format!("stdout: {error}"));
        let is_after = header.phase.is_some_and(Phase::is_after);
        answer = if is_after { Answer::default() } else { Answer::blocked(verdict) };
    }
    progress.settle(answer.exit);
    if let Some(text) = &answer.stderr {
        warn(text);
    }
    let micros = u64::try_from(call.started.elapsed().as_micros()).unwrap_or(u64::MAX);
    Some(LogLine::new(header, verdict, now(), micros).of_client(call.options().client.name()))
}

/// The exit code of a process that ends without an answer: it blocks before a call and is 0 after one.
fn exit_without_answer(call: &Call, progress: &Progress) -> u8 {
    let known = progress.provisional().and_then(|(header, _)| header.phase);
    blocking_exit(known.or(call.options().phase))
}

fn blocking_exit(phase: Option<Phase>) -> u8 {
    let is_harmless = |phase: Phase| phase.is_after() || phase == Phase::Prompt;
    if phase.is_some_and(is_harmless) { 0 } else { Answer::BLOCKED }
}

/// Completes the header of an event that cannot be parsed.
///
/// A phase before the call is taken from the event, because it leads to a denial. Otherwise the phase of the command line
/// comes first.
pub(super) fn header_of_unreadable(call: &Call, parsed: Header) -> Header {
    let given = call.options().phase;
    let phase = match parsed.phase {
        Some(Phase::Before) => Some(Phase::Before),
        Some(Phase::Other) | None => given,
        Some(Phase::After | Phase::Failed | Phase::Prompt | Phase::Settings | Phase::Start | Phase::End) => {
            given.or(parsed.phase)
        }
    };
    Header { tool: parsed.tool, session: parsed.session, call: parsed.call, ..call.options().client.header(phase) }
}
