//! Judges a recorded call again.

use crate::commands::explain;
use crate::runtime::environment::Environment;
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use anyhow::{Context, anyhow};
use rune::client::{self, RecordedCall, SampleEvent};
use rune::policy::Config;
use rune::quarantined::{Audit, Quarantined, Reason};
use rune::telemetry::LogRecord;
use rune::verdict::{Phase, Verdict};

/// The session that a call is judged in again: one that has read nothing and was asked nothing.
const SESSION: &str = "rune-again";

/// Judges the call of a log line with an input of its own, by the policy as it is now and without a pause. `change` may
/// change the policy.
pub fn judge_again(
    (record, call, input): (&LogRecord, &RecordedCall, &Quarantined<Vec<u8>>),
    options: &Options,
    environment: &Environment,
    change: impl FnOnce(Config) -> Config,
) -> anyhow::Result<Verdict> {
    let options = &options.for_client(client::named(&record.client).unwrap_or(options.client));
    let environment = &environment.of_logged(&record.client);
    let project = environment.project.as_ref().map(|project| project.to_string_lossy().into_owned());
    let sample = SampleEvent {
        session: SESSION,
        // Not every transcript says the directory.
        cwd: Some(&call.cwd).filter(|cwd| !cwd.is_empty()).or(project.as_ref()).map_or("", String::as_str),
        phase: Phase::Before,
        tool: &call.tool,
        input: serde_json::from_slice(expose(input)?).context("the recorded input cannot be read")?,
        result: None,
    };
    let event = options.client.sample_event(&sample);
    let preview = explain::preview_with_policy(&event, options, environment, |wanted, project| {
        change(policy_files::config(options, environment, wanted, project))
    })?;
    Ok(preview.verdict)
}

/// The content of a transcript, for people.
pub fn expose<T>(content: &Quarantined<T>) -> anyhow::Result<&T> {
    let reason = Reason::new("a person looks at a recorded call").map_err(|_| anyhow!("no reason"))?;
    Ok(content.expose(reason, &mut Audit::new(|_| {})))
}
