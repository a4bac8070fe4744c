//! The deadline: an answer is given in time, whoever gives it.

use rune::event::Header;
use rune::verdict::Verdict;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// How far the work has come, shared between the worker and whoever waits for it.
#[derive(Debug)]
pub struct Progress {
    /// `UNANSWERED`, or the exit code of the answer that was given.
    exit: AtomicU8,
    known: Mutex<Option<(Header, Verdict)>>,
    watched: AtomicBool,
    /// The answer is out.
    settled: (Mutex<bool>, Condvar),
}

const UNANSWERED: u8 = u8::MAX;

/// How long whoever has begun to answer may take for it once the deadline is past.
const LAST_BYTES: Duration = Duration::from_secs(3);

impl Progress {
    pub fn new() -> Self {
        Progress {
            exit: AtomicU8::new(UNANSWERED),
            known: Mutex::new(None),
            watched: AtomicBool::new(false),
            settled: (Mutex::new(false), Condvar::new()),
        }
    }

    /// Takes the right to answer; only the first to ask gets it.
    pub fn claim(&self, exit: u8) -> bool {
        self.exit.compare_exchange(UNANSWERED, exit, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Tells whether somebody has yet to be found who watches.
    pub fn be_watched(&self) -> bool {
        !self.watched.swap(true, Ordering::SeqCst)
    }

    /// The answer that was claimed is out, with this exit code.
    pub fn settle(&self, exit: u8) {
        self.exit.store(exit, Ordering::SeqCst);
        *self.settled.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.settled.1.notify_all();
    }

    /// Waits until the answer is out, or will not be.
    fn wait(&self) {
        let settled = self.settled.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.settled.1.wait_timeout_while(settled, LAST_BYTES, |settled| !*settled));
    }

    /// The exit code of the answer that was given.
    pub fn exit(&self) -> u8 {
        self.exit.load(Ordering::SeqCst)
    }

    /// Notes what is known of the event, for an answer that has to be given without its judgement.
    pub fn note(&self, header: &Header, verdict: Verdict) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((header.clone(), verdict));
    }

    /// What is known of the event.
    pub fn known(&self) -> Option<(Header, Verdict)> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Has `late` run and the process end with its exit code if the process is still there after `limit`.
///
/// The work itself stays on the main thread: waiting costs a thread that touches nothing, working on another one would
/// cost a heap of its own. Where no thread can be had, there is no deadline.
#[expect(clippy::exit, reason = "the main thread hangs; nobody else can end the process")]
pub fn arm(limit: Duration, progress: &Arc<Progress>, late: impl FnOnce(&Progress) + Send + 'static) {
    let progress = Arc::clone(progress);
    let watch = move || {
        std::thread::sleep(limit);
        late(&progress);
        // Somebody else may be about to answer.
        progress.wait();
        std::process::exit(i32::from(progress.exit()));
    };
    std::thread::Builder::new().stack_size(256 << 10).spawn(watch).ok();
}

/// Runs `work` beside us and waits for it no longer than `limit`.
pub fn attempt(limit: Duration, work: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::sync_channel(1);
    let started = std::thread::Builder::new().spawn(move || {
        work();
        done.send(()).ok();
    });
    if started.is_ok() {
        wait.recv_timeout(limit).ok();
    }
}

/// Leaves the end of the process to whoever has claimed the answer.
pub fn stand_aside() -> ! {
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_begun_to_answer_is_waited_for() {
        let progress = Arc::new(Progress::new());
        assert!(progress.claim(2) && !progress.claim(0));
        let other = Arc::clone(&progress);
        let answering = std::thread::spawn(move || other.settle(0));
        progress.wait();
        assert_eq!(progress.exit(), 0);
        answering.join().unwrap();
    }
}
