//! The deadline: an answer is given in time, whoever gives it.

use rune::event::Header;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

/// How far the work has come, shared between the worker and whoever waits for it.
#[derive(Debug)]
pub struct Progress {
    /// `UNANSWERED`, or the exit code of the answer that was given.
    exit: AtomicU8,
    header: Mutex<Option<Header>>,
}

const UNANSWERED: u8 = u8::MAX;

impl Progress {
    pub fn new() -> Self {
        Progress { exit: AtomicU8::new(UNANSWERED), header: Mutex::new(None) }
    }

    /// Takes the right to answer; only the first to ask gets it.
    pub fn claim(&self, exit: u8) -> bool {
        self.exit.compare_exchange(UNANSWERED, exit, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Changes the exit code of the answer that was claimed.
    pub fn settle(&self, exit: u8) {
        self.exit.store(exit, Ordering::SeqCst);
    }

    /// The exit code of the answer that was given.
    pub fn exit(&self) -> u8 {
        self.exit.load(Ordering::SeqCst)
    }

    /// Notes what is known of the event, for an answer that has to be given without its judgement.
    pub fn note(&self, header: &Header) {
        *self.header.lock().unwrap_or_else(PoisonError::into_inner) = Some(header.clone());
    }

    /// What is known of the event.
    pub fn header(&self) -> Option<Header> {
        self.header.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What became of the work.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was done in time.
    Done,
    /// It is still at it.
    Late,
    /// It died.
    Died,
}

/// Runs `work` for at most `limit`. Work that is late goes on in the background until the process ends.
pub fn within(limit: Duration, work: impl FnOnce(&Progress) + Send + 'static) -> (Outcome, Arc<Progress>) {
    let progress = Arc::new(Progress::new());
    let shared = Arc::clone(&progress);
    let (done, wait) = mpsc::sync_channel(1);
    let started = std::thread::Builder::new().spawn(move || {
        work(&shared);
        done.send(()).ok();
    });
    let outcome = match (started, wait.recv_timeout(limit)) {
        (Ok(_), Ok(())) => Outcome::Done,
        (Ok(_), Err(mpsc::RecvTimeoutError::Timeout)) => Outcome::Late,
        (Ok(_), Err(mpsc::RecvTimeoutError::Disconnected)) | (Err(_), _) => Outcome::Died,
    };
    (outcome, progress)
}
