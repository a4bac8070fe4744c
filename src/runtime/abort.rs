//! The exit code of a process that aborts: out of memory, a stack overflow, a panic within a panic.
//!
//! An abort raises `SIGABRT`, and clients let the call run if a signal has ended the hook.

use crate::runtime::exit_code::REFUSED;
use rune::verdict::Phase;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::SIGABRT;
use signal_hook::flag::register_conditional_shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Memory that one call may use. Beyond it an allocation fails in this process, before the kernel kills some process.
const MAX_MEMORY_BYTES: u64 = 1 << 30;

/// Handles `SIGABRT` with an exit code that depends on the phase of the call.
pub struct AbortHandler {
    blocks: Arc<AtomicBool>,
    passes: Arc<AtomicBool>,
}

impl AbortHandler {
    /// Installs the handler for a call of this phase, and bounds the memory of the process.
    ///
    /// # Errors
    ///
    /// If the handler cannot be installed.
    pub fn arm(phase: Option<Phase>) -> std::io::Result<AbortHandler> {
        let handler = AbortHandler { blocks: Arc::default(), passes: Arc::default() };
        handler.set_phase(phase);
        register_conditional_shutdown(SIGABRT, REFUSED.into(), Arc::clone(&handler.blocks))?;
        register_conditional_shutdown(SIGABRT, 0, Arc::clone(&handler.passes))?;
        let limit = getrlimit(Resource::As);
        let bytes = [limit.maximum, limit.current].into_iter().flatten().fold(MAX_MEMORY_BYTES, u64::min);
        setrlimit(Resource::As, Rlimit { current: Some(bytes), ..limit }).ok();
        Ok(handler)
    }

    /// Sets the phase: an abort exits with 0 after a call, and with the code that blocks the call otherwise.
    pub fn set_phase(&self, phase: Option<Phase>) {
        let after = phase.is_some_and(Phase::is_after);
        self.blocks.store(!after, Ordering::SeqCst);
        self.passes.store(after, Ordering::SeqCst);
    }
}
