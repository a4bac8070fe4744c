//! The watchdog thread: answers when the deadline passes, whatever the main thread is stuck in.

use rune::event::Header;
use rune::verdict::Verdict;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// How far the call has come, shared between the main thread and the watchdog.
#[derive(Debug)]
pub struct Progress {
    /// [`UNANSWERED`], or the exit code of the answer.
    exit: AtomicU8,
    known: Mutex<Option<(Header, Verdict)>>,
    /// Whether the answer is written.
    settled: (Mutex<bool>, Condvar),
}

const UNANSWERED: u8 = u8::MAX;

/// Stack of the watchdog thread, in bytes.
const STACK_BYTES: usize = 256 << 10;

/// Bounds the late answer: it may hang like the work that it replaces.
const LATE_ANSWER: Duration = Duration::from_secs(1);

/// Bounds the wait for an answer that the main thread has begun to write.
const LAST_BYTES: Duration = Duration::from_millis(900);

impl Progress {
    pub fn new() -> Self {
        Progress {
            exit: AtomicU8::new(UNANSWERED),
            known: Mutex::new(None),
            settled: (Mutex::new(false), Condvar::new()),
        }
    }

    /// Takes the right to answer. Only the first caller gets it; `exit` holds until the answer is written.
    pub fn claim(&self, exit: u8) -> bool {
        self.exit.compare_exchange(UNANSWERED, exit, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    fn is_claimed(&self) -> bool {
        self.exit.load(Ordering::SeqCst) != UNANSWERED
    }

    /// Records that the claimed answer is written, with its exit code.
    pub fn settle(&self, exit: u8) {
        self.exit.store(exit, Ordering::SeqCst);
        *self.settled.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.settled.1.notify_all();
    }

    /// Waits until the claimed answer is written, for a bounded time.
    fn wait(&self) {
        let settled = self.settled.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.settled.1.wait_timeout_while(settled, LAST_BYTES, |settled| !*settled));
    }

    /// The exit code of the answer, or `otherwise` where nobody has begun one.
    pub fn exit(&self, otherwise: u8) -> u8 {
        match self.exit.load(Ordering::SeqCst) {
            UNANSWERED => otherwise,
            exit => exit,
        }
    }

    /// Notes what is known of the event, for an answer without its judgement.
    pub fn note(&self, header: &Header, verdict: Verdict) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((header.clone(), verdict));
    }

    /// What is known of the event.
    pub fn known(&self) -> Option<(Header, Verdict)> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Starts the watchdog thread. After `limit` it runs `late` and ends the process with the exit code of the answer, or
/// with `otherwise` where even `late` panics or hangs.
///
/// The work stays on the main thread: waiting costs a thread that touches nothing, working on another one would cost a
/// heap of its own.
///
/// # Errors
///
/// Where the system has no thread to give.
#[expect(clippy::exit, reason = "the main thread hangs; nobody else can end the process")]
pub fn arm(
    limit: Duration,
    progress: &Arc<Progress>,
    late: impl FnOnce(&Progress) + Send + 'static,
    otherwise: impl Fn(&Progress) -> u8 + Send + 'static,
) -> std::io::Result<()> {
    let progress = Arc::clone(progress);
    let watch = move || {
        std::thread::sleep(limit);
        let answering = Arc::clone(&progress);
        attempt(LATE_ANSWER, move || late(&answering));
        let exit = catch_unwind(AssertUnwindSafe(|| {
            if progress.is_claimed() {
                progress.wait();
            }
            progress.exit(otherwise(&progress))
        }));
        std::process::exit(exit.unwrap_or(crate::runtime::exit_code::REFUSED).into());
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(watch).map(drop)
}

/// Runs `work` on another thread and waits for it no longer than `limit`. A panic in it ends the wait.
pub fn attempt(limit: Duration, work: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::sync_channel::<()>(1);
    let started = std::thread::Builder::new().spawn(move || {
        // Dropped on the way out, also by a panic.
        let _done = done;
        work();
    });
    if started.is_ok() {
        wait.recv_timeout(limit).ok();
    }
}

/// Leaves the end of the process to the thread that has claimed the answer.
pub fn stand_aside() -> ! {
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
#[path = "../../tests/unit/runtime/watchdog.rs"]
mod tests;
