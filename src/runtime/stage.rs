//! The stages of the hook, into which tests inject panics, hangs and aborts.

/// The stages of the pipeline, in order, and the watchdog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    Input,
    Parse,
    Policy,
    Facts,
    Decide,
    Record,
    Answer,
    Write,
    Log,
    Receipts,
    Watchdog,
}

/// Marks the start of a stage. Does nothing outside of tests.
#[cfg(not(test))]
pub fn enter(_: Stage) {}

#[cfg(test)]
pub use tests::enter;

#[cfg(test)]
#[path = "../../tests/unit/runtime/stage.rs"]
mod tests;
