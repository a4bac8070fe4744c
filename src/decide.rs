//! The decision: a pure function from an event and a policy to a verdict.

mod after;
mod applicable;
mod before;
mod content;
mod context;
mod file_access;
pub(crate) mod file_search;
mod matching;
mod mcp_containers;
mod mcp_pins;
mod mcp_use;
mod prompt;
mod packages;
mod repeated;
pub(crate) mod settings;
pub(crate) mod shell_text;
pub mod subject;
mod typed;
pub mod validators;

pub use after::inspects_result;
pub use before::needed_kinds;
pub use context::Context;
pub use file_access::touched_paths;
pub use packages::{is_named, manifest_words, named_packages};

use crate::event::Event;
use crate::policy::{Allow, Config};
use crate::verdict::{Phase, Verdict};

/// Judges one event by one policy.
///
/// Failures to read the event or the policy become findings of the verdict, so that no failure loosens it.
pub fn decide(event: &Event<'_>, config: &Config) -> Verdict {
    let mut verdict = judge(event, config);
    // The project's policy is judged separately and only adds findings, so it can only tighten.
    if let Some(project) = &config.project {
        verdict.merge(judge(event, project));
    }
    if let Some(pause) = &config.pause {
        verdict.remark_stops(&format!(". The guard is paused {pause}; this rule holds all the same"));
    }
    if event.phase == Phase::Before && config.allow == Allow::Explicit {
        verdict.allow_explicitly();
    }
    verdict
}

fn judge(event: &Event<'_>, config: &Config) -> Verdict {
    let mut verdict = Verdict::default();
    for failure in config.failures.iter().chain(&event.failure) {
        verdict.add(failure.finding(Some(event.phase), config.failure));
    }
    match event.phase {
        Phase::Before => before::judge(event, config, &mut verdict),
        Phase::After | Phase::Failed => after::judge(event, config, &mut verdict),
        Phase::Settings | Phase::Start => settings::judge(event, config, &mut verdict),
        Phase::Prompt => prompt::judge(event, &mut verdict),
        Phase::End | Phase::Other => {}
    }
    verdict
}
