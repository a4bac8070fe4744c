//! The stages of the hook. Tests inject a panic, a hang or an abort into each of them; in the product, entering one does nothing.

/// A stage of the pipeline, in order.
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

/// Enters a stage.
#[cfg(not(test))]
pub fn enter(_: Stage) {}

#[cfg(test)]
pub use tests::enter;

#[cfg(test)]
#[path = "../../tests/unit/runtime/stage.rs"]
mod tests;
