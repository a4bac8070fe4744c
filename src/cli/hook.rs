//! The hook: one event in, one answer out, one line in the log.

use super::deadline::{Progress, arm, attempt, stand_aside};
use super::load::{Memory, Wanted};
use super::options::Options;
use super::receipt::{self, Due};
use super::world::{World, now};
use super::{input, load, log, session};
use rune::client::Answer;
use rune::config::{Config, Receipts};
use rune::event::{Event, Header, Phase};
use rune::failure::Failure;
use rune::quarantine::Surface;
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rune::receipt::Decision;
use rune::telemetry::Line;
use rune::verdict::{Effect, Verdict};
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The client gives up after ten seconds and lets the call run; we answer before.
const DEADLINE: Duration = Duration::from_secs(5);

/// How long the log may take once the deadline is past.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// Bytes of an event that are kept. The rest is drained, so that the client is never left with a broken pipe.
const LARGEST_EVENT: usize = 16 << 20;

const TOO_LARGE: &str = "over 16 MB";

type Decide = fn(&Event<'_>, &Config) -> Verdict;

/// Answers one event.
pub fn run(words: &[OsString], started: Instant) -> u8 {
    // A panic is answered like any failure; its message could quote the payload.
    std::panic::set_hook(Box::new(|_| {}));
    let options = Options::parse(words);
    let world = World::look(&options.dirs);
    let call = Call { options, world, started };
    let progress = Arc::new(Progress::new());
    match read_event() {
        Some((input, whole)) => call.answer(&input, whole, &progress, rune::decide),
        None => call.answer_late(&progress),
    }
    progress.exit()
}

#[derive(Clone)]
struct Call {
    options: Options,
    world: World,
    started: Instant,
}

impl Call {
    /// The straight line: read, judge, answer, log.
    fn answer(&self, input: &Quarantined<Vec<u8>>, whole: bool, progress: &Arc<Progress>, decide: Decide) {
        let (header, verdict, due) = self.judge(input, whole, progress, decide);
        // Should the log hang, what was objected to is still objected to.
        if verdict.effect() > Effect::Advise {
            self.watch(progress);
        }
        let spoken = self.speak(progress, &header, &verdict, |line| {
            if !self.options.dry_run
                && let Err(what) = log::append(&self.world, line)
            {
                complain(&what);
            }
        });
        if !spoken {
            stand_aside();
        }
        if self.options.dry_run {
            return;
        }
        if header.phase == Some(Phase::End) {
            self.seal(&header, progress);
            session::forget_old(&self.world);
        }
        if let Some(due) = due {
            // Somebody else may hold the file.
            self.watch(progress);
            if let Err(what) = due.write(&self.options, &self.world, &header.session) {
                complain(&what);
            }
        }
        if let Some(surface) = verdict.surface().filter(|surface| surface.taints)
            && let Err(what) = session::taint(&self.world, &header.session, surface)
        {
            complain(&what);
        }
    }

    /// Seals the receipts of a session that has ended.
    fn seal(&self, header: &Header, progress: &Arc<Progress>) {
        self.watch(progress);
        if let Err(what) = receipt::seal(&self.options, &self.world, &header.session) {
            complain(&what);
        }
    }

    /// Judges, whatever happens: a panic in the library is a verdict too.
    fn judge(
        &self,
        input: &Quarantined<Vec<u8>>,
        whole: bool,
        progress: &Arc<Progress>,
        decide: Decide,
    ) -> (Header, Verdict, Option<Due>) {
        let judged = catch_unwind(AssertUnwindSafe(|| self.judge_or_panic(input, whole, progress, decide)));
        judged.unwrap_or_else(|_| {
            let (header, verdict) = self.failed(progress, &Failure::Bug);
            let due = self.due(&header, load::receipts(&self.options), &verdict);
            (header, verdict, due)
        })
    }

    /// The receipt for an event that was not judged.
    fn due(&self, header: &Header, wanted: Receipts, verdict: &Verdict) -> Option<Due> {
        let decision = Decision::of_failure(header, wanted, verdict)?;
        Some(Due { decision, own: None, memory: Memory::default() })
    }

    fn judge_or_panic(
        &self,
        input: &Quarantined<Vec<u8>>,
        whole: bool,
        progress: &Arc<Progress>,
        decide: Decide,
    ) -> (Header, Verdict, Option<Due>) {
        match self.options.client.read(input) {
            Ok(mut event) => {
                if !whole {
                    event.flaw = Some(Failure::Limit(TOO_LARGE.to_owned()));
                }
                progress.note(&event.header, Verdict::default());
                if event.phase.is_after() {
                    // Should the policy hang, the result is still marked by what no policy says.
                    progress.note(&event.header, decide(&event, &Config::fold([], Vec::new())));
                }
                let project = self.world.project_of(&event.place.cwd);
                load::place(&mut event, &self.world);
                let own = project.as_deref().and_then(load::policy_of);
                // Files that others may have put there can hang; only somebody else can then answer.
                if own.is_some() || load::looks_around(&event, &self.world) {
                    self.watch(progress);
                }
                let wanted = Wanted::of(&event);
                let mut config = load::config(&self.options, &self.world, &wanted, own.as_deref());
                let watch = || self.watch(progress);
                load::look_up(&mut event, &mut config, &self.options, &self.world, &wanted.memory, &watch);
                load::content_rules(&event, &mut config, &self.world, own.as_deref());
                let verdict = decide(&event, &config);
                let memory = wanted.memory;
                let due = Decision::of(&event, &config, &verdict).map(|decision| Due { decision, own, memory });
                let header = event.header.clone();
                // The process ends in a moment, and the answer need not wait until thousands of rows are taken apart.
                std::mem::forget((event, config));
                (header, verdict, due)
            }
            Err(unread) => {
                let header = self.header(unread.header);
                let failure = if whole { unread.failure } else { Failure::Limit(TOO_LARGE.to_owned()) };
                let policy = load::config(&self.options, &self.world, &Wanted::all(&[]), None);
                let verdict = Verdict::of(failure.finding(header.phase, policy.failure));
                let due = self.due(&header, policy.receipts, &verdict);
                (header, verdict, due)
            }
        }
    }

    /// Has somebody else answer, should the straight line get stuck.
    fn watch(&self, progress: &Arc<Progress>) {
        if !progress.be_watched() {
            return;
        }
        let watcher = self.clone();
        let left = DEADLINE.saturating_sub(self.started.elapsed());
        arm(left, progress, move |progress| watcher.answer_late(progress));
    }

    /// Somebody has to answer, and the straight line is stuck.
    fn answer_late(&self, progress: &Progress) {
        let (header, verdict) = self.failed(progress, &Failure::Timeout);
        let spoken = self.speak(progress, &header, &verdict, |line| {
            let (world, line) = (self.world.clone(), line.clone());
            if self.options.dry_run {
                return;
            }
            // The disk may be what hangs: it gets a moment, not a veto.
            attempt(LAST_WORDS, move || drop(log::append(&world, &line)));
        });
        if !spoken {
            // The answer is out; what hangs is what comes behind it.
            complain("something of this call's log or receipt was not written in time");
        } else if let Some(due) =
            self.due(&header, load::receipts(&self.options), &verdict).filter(|_| !self.options.dry_run)
        {
            let (call, session) = (self.clone(), header.session.clone());
            attempt(LAST_WORDS, move || drop(due.write(&call.options, &call.world, &session)));
        }
        // Whatever took so long has been read all the same.
        let taints = |surface: &&Surface| spoken && surface.taints && !self.options.dry_run;
        if let Some(surface) = verdict.surface().filter(taints).cloned() {
            let (world, session) = (self.world.clone(), header.session);
            attempt(LAST_WORDS, move || drop(session::taint(&world, &session, &surface)));
        }
    }

    /// The verdict on an event that was not judged.
    fn failed(&self, progress: &Progress, failure: &Failure) -> (Header, Verdict) {
        let (header, mut verdict) =
            progress.known().unwrap_or_else(|| (self.header(Header::default()), Verdict::default()));
        verdict.add(failure.finding(header.phase, load::failure_effect(&self.options)));
        (header, verdict)
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
        let after = header.phase.is_some_and(Phase::is_after);
        let mut answer = self.options.client.answer(header, verdict);
        // Until the answer is out, ending the process has to block the call.
        if !progress.claim(if after { 0 } else { Answer::BLOCKED }) {
            return false;
        }
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

/// Reads stdin to its end; the flag tells whether all of it was kept. `None` where it does not end in time.
fn read_event() -> Option<(Quarantined<Vec<u8>>, bool)> {
    if rustix::stdio::stdin().is_terminal() {
        complain("hook: an event is read from stdin, as JSON; see `rune hook --help`");
        return Some((seal(Vec::new()), true));
    }
    let input = input::read(LARGEST_EVENT, DEADLINE)?;
    Some((seal(input.bytes), input.whole))
}

fn seal(bytes: Vec<u8>) -> Quarantined<Vec<u8>> {
    Quarantined::new(bytes, Origin::new(ContentSource::ToolOutput, "stdin", now()))
}

/// One write, complete, checked.
fn write_answer(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(format!("{text}\n").as_bytes())?;
    stdout.flush()
}

/// Says something to whoever reads stderr; nobody has to.
fn complain(what: &str) {
    writeln!(std::io::stderr().lock(), "rune: {what}").ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_too_long_has_been_read_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let world = World { state_dir: Some(folder.path().to_owned()), ..World::default() };
        let call = Call { options: Options::parse(&[]), world, started: Instant::now() };
        let input = seal(include_bytes!("../../tests/fixtures/posttooluse-webfetch.json").to_vec());
        let progress = Arc::new(Progress::new());
        let event = call.options.client.read(&input).unwrap();
        progress.note(&event.header, rune::decide(&event, &Config::fold([], Vec::new())));
        call.answer_late(&progress);
        assert!(!session::seen(&call.world, &event.header.session).is_empty());
    }

    #[test]
    fn a_panic_in_the_library_is_answered_like_any_failure() {
        let before = seal(include_bytes!("../../tests/fixtures/pretooluse-bash.json").to_vec());
        let after = seal(include_bytes!("../../tests/fixtures/posttooluse-webfetch.json").to_vec());
        for (preset, input, effect, exit) in [
            ("gentle", &before, Effect::Ask, 0),
            ("strict", &before, Effect::Deny, 0),
            ("strict", &after, Effect::Pass, 0),
        ] {
            let options = Options::parse(&["--preset".into(), preset.into()]);
            let call = Call { options, world: World::default(), started: Instant::now() };
            let progress = Arc::new(Progress::new());
            let (header, verdict, _) = call.judge(input, true, &progress, |_, _| panic!("injected"));
            assert_eq!(verdict.effect(), effect, "{preset}");
            assert_eq!(verdict.findings().iter().map(|found| found.rule().as_str()).collect::<Vec<_>>(), ["rune/bug"]);
            assert_eq!(call.options.client.answer(&header, &verdict).exit, exit);
        }
    }
}
