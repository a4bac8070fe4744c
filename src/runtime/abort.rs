//! The exit code of a process that Rust aborts: out of memory, a stack overflow, a panic within a panic.
//!
//! An abort raises `SIGABRT`, and a client takes a process that a signal has ended for "go on".

use crate::runtime::exit_code::REFUSED;
use rune::verdict::Phase;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGABRT;
use signal_hook::flag::register_conditional_shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// PolicyTexts that one call may use: beyond it an allocation fails here, before the system ends some process at its choice.
const MAX_MEMORY_BYTES: u64 = 1 << 30;

/// Which exit code an abort has.
pub struct OnAbort {
    blocks: Arc<AtomicBool>,
    passes: Arc<AtomicBool>,
}

impl OnAbort {
    /// Arms the handler for a call of this phase, as far as it is known, and bounds the memory of the process.
    ///
    /// # Errors
    ///
    /// Where the system takes no handler for the signal.
    pub fn arm(phase: Option<Phase>) -> std::io::Result<OnAbort> {
        let on_abort = OnAbort { blocks: Arc::default(), passes: Arc::default() };
        on_abort.set(phase);
        register_conditional_shutdown(SIGABRT, REFUSED.into(), Arc::clone(&on_abort.blocks))?;
        register_conditional_shutdown(SIGABRT, 0, Arc::clone(&on_abort.passes))?;
        let limit = getrlimit(Resource::As);
        let most = limit.maximum.map_or(MAX_MEMORY_BYTES, |most| most.min(MAX_MEMORY_BYTES));
        let current = limit.current.map_or(most, |current| current.min(most));
        setrlimit(Resource::As, Rlimit { current: Some(current), ..limit }).ok();
        Ok(on_abort)
    }

    /// Blocks before a call, and says nothing after one.
    pub fn set(&self, phase: Option<Phase>) {
        let after = phase.is_some_and(Phase::is_after);
        self.blocks.store(!after, Ordering::SeqCst);
        self.passes.store(after, Ordering::SeqCst);
    }
}
