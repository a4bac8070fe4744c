//! The watchdog thread: answers when the deadline passes, whatever blocks the main thread.

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
    exit_code: AtomicU8,
    provisional: Mutex<Option<(Header, Verdict)>>,
    /// Whether the answer is written.
    settled: (Mutex<bool>, Condvar),
}

const UNANSWERED: u8 = u8::MAX;

const STACK_BYTES: usize = 256 << 10;

/// Bounds the late answer: it may hang like the work that it replaces.
const LATE_ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// Bounds the wait for an answer that the main thread has begun to write.
const SETTLE_TIMEOUT: Duration = Duration::from_millis(900);

impl Progress {
    pub fn new() -> Self {
        Progress {
            exit_code: AtomicU8::new(UNANSWERED),
            provisional: Mutex::new(None),
            settled: (Mutex::new(false), Condvar::new()),
        }
    }

    /// Claims the answer; only the first caller gets it. `exit_code` counts until the answer is written.
    pub fn claim(&self, exit_code: u8) -> bool {
        self.exit_code.compare_exchange(UNANSWERED, exit_code, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    fn is_claimed(&self) -> bool {
        self.exit_code.load(Ordering::SeqCst) != UNANSWERED
    }

    /// Records that the claimed answer is written, with its exit code.
    pub fn settle(&self, exit_code: u8) {
        self.exit_code.store(exit_code, Ordering::SeqCst);
        *self.settled.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.settled.1.notify_all();
    }

    /// Waits until the claimed answer is written, for a bounded time.
    fn wait_until_settled(&self) {
        let settled = self.settled.0.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.settled.1.wait_timeout_while(settled, SETTLE_TIMEOUT, |settled| !*settled));
    }

    /// The exit code of the answer, or `unanswered` if no thread has claimed it.
    pub fn exit_code(&self, unanswered: u8) -> u8 {
        match self.exit_code.load(Ordering::SeqCst) {
            UNANSWERED => unanswered,
            exit_code => exit_code,
        }
    }

    /// Sets what the answer is based on if the judgement does not finish.
    pub fn set_provisional(&self, header: &Header, verdict: Verdict) {
        *self.provisional.lock().unwrap_or_else(PoisonError::into_inner) = Some((header.clone(), verdict));
    }

    pub fn provisional(&self) -> Option<(Header, Verdict)> {
        self.provisional.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Starts the watchdog thread. After `timeout` it runs `answer_late` and ends the process with the exit code of the
/// answer, or with `unanswered` if `answer_late` panics or hangs.
///
/// The work stays on the main thread: a second thread that allocates would get a heap of its own.
///
/// # Errors
///
/// If the system cannot start a thread.
#[expect(clippy::exit, reason = "the main thread may hang, so the watchdog has to end the process")]
pub fn arm(
    timeout: Duration,
    progress: &Arc<Progress>,
    answer_late: impl FnOnce(&Progress) + Send + 'static,
    unanswered: impl Fn(&Progress) -> u8 + Send + 'static,
) -> std::io::Result<()> {
    let progress = Arc::clone(progress);
    let watch = move || {
        std::thread::sleep(timeout);
        let answering = Arc::clone(&progress);
        run_with_timeout(LATE_ANSWER_TIMEOUT, move || answer_late(&answering));
        let exit_code = catch_unwind(AssertUnwindSafe(|| {
            if progress.is_claimed() {
                progress.wait_until_settled();
            }
            progress.exit_code(unanswered(&progress))
        }));
        std::process::exit(exit_code.unwrap_or(crate::runtime::exit_code::REFUSED).into());
    };
    std::thread::Builder::new().stack_size(STACK_BYTES).spawn(watch).map(drop)
}

/// Runs `work` on another thread and waits for it at most `timeout`. A panic in it ends the wait.
pub fn run_with_timeout(timeout: Duration, work: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::sync_channel::<()>(1);
    let started = std::thread::Builder::new().spawn(move || {
        // Dropped when `work` returns or panics, which ends the wait.
        let _done = done;
        work();
    });
    if started.is_ok() {
        wait.recv_timeout(timeout).ok();
    }
}

/// Blocks the thread until another thread ends the process.
pub fn park_forever() -> ! {
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
#[path = "../../tests/unit/runtime/watchdog.rs"]
mod tests;
