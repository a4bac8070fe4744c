//! Rune judges what a coding agent is about to do, and marks what strangers have written.
//!
//! ```text
//! stdin ──> client ──> Event ─┐
//!                             ├──> decide(&Event, &Config) ──> Verdict ──> client ──> stdout, exit code
//! files ──> config ─> Config ─┘                                   └──────> telemetry ──> one line
//! (any step fails) ──> Failure ──> Verdict ──────────────────────────^
//! ```
//!
//! 1. The shell (`src/cli/hook.rs`) reads stdin into a [`quarantined::Quarantined`] and nobody else ever sees it bare.
//! 2. [`client`] turns it into an [`event::Event`], or says why that cannot be done ([`event::Unread`]).
//! 3. The shell reads the policy into a [`config::Config`] and looks up the [`event::Facts`] that this event needs.
//! 4. [`decide`] judges. It is the only entry: hook, commands and tests all come through here.
//! 5. [`client`] puts the [`verdict::Verdict`] into the client's words, [`telemetry`] into one line of the log.
//!
//! This library does no input or output, asks no clock and rolls no dice: `.clippy.toml` forbids it. What a
//! judgement needs to know is in the event or in the policy.
#![forbid(unsafe_code)]

pub mod canonical;
pub mod client;
mod command;
pub mod config;
mod docket;
pub mod escape;
pub mod event;
pub mod failure;
mod file_search;
pub mod ground;
mod hex;
pub mod json;
mod judge;
pub mod label;
pub mod limits;
mod patch;
pub mod path;
pub mod pin;
pub mod policy;
pub mod quarantine;
pub mod quarantined;
pub mod receipt;
pub mod rule;
pub mod served;
pub mod shell;
mod staying;
mod swar;
pub mod taint;
pub mod telemetry;
pub mod unit;
pub mod validator;
pub mod verdict;

use config::{Allow, Config};
use event::{Event, Phase};
use verdict::Verdict;

/// Judges one event by one policy.
///
/// What could not be read of either takes part as a finding of its own, so no failure can make an answer looser.
pub fn decide(event: &Event<'_>, config: &Config) -> Verdict {
    let mut verdict = by(event, config);
    // A project's own policy is asked apart, and the stricter word counts: it can only tighten.
    if let Some(stricter) = &config.project {
        verdict.join(by(event, stricter));
    }
    if event.phase == Phase::Before && config.allow == Allow::Explicit {
        verdict.allow_explicitly();
    }
    verdict
}

fn by(event: &Event<'_>, config: &Config) -> Verdict {
    let mut verdict = Verdict::default();
    for failure in config.flaws.iter().chain(&event.flaw) {
        verdict.add(failure.finding(Some(event.phase), config.failure));
    }
    match event.phase {
        Phase::Before => judge::judge(event, config, &mut verdict),
        Phase::After | Phase::Failed => quarantine::judge(event, config, &mut verdict),
        Phase::Settings | Phase::Start => staying::judge(event, config, &mut verdict),
        Phase::End | Phase::Other => {}
    }
    verdict
}
