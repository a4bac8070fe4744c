//! Looks up the commands of logged calls in the client's transcripts.

use super::again::{expose, judge_again};
use crate::runtime::environment::Environment;
use crate::runtime::options::Options;
use crate::runtime::{agent_check, receipts, transcripts};
use rune::client::RecordedCall;
use rune::quarantined::Quarantined;
use rune::receipt::ArgumentsKey;
use rune::telemetry::LogRecord;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the command of a logged call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// What the call was to do, and the reason of the rule of the log line if the call is judged by the same rule now.
    Known { text: String, reason: Option<String> },
    /// No transcript has the call.
    Missing,
    /// The transcript has the call with another input than the one that was judged.
    Changed,
    /// The log line names no call.
    Unnamed,
    /// An agent runs this.
    Hidden,
}

pub struct Lookup<'a> {
    environment: &'a Environment,
    options: &'a Options,
    is_hidden: bool,
    key: Option<ArgumentsKey>,
}

impl<'a> Lookup<'a> {
    pub fn new(environment: &'a Environment, options: &'a Options) -> Lookup<'a> {
        let is_hidden = agent_check::refuse_agent("reading transcripts").is_err();
        Lookup { environment, options, is_hidden, key: receipts::key::read_arguments_key(environment).ok().flatten() }
    }

    /// The commands of these lines, in their order. Each transcript is read once.
    pub fn commands(&self, records: &[LogRecord]) -> Vec<Command> {
        let wanted = records.iter().filter(|record| !self.is_hidden && is_traceable(record));
        let found = find_all(self.environment, wanted);
        let command = |record: &LogRecord| {
            let calls = found.get(record.session_id.as_str()).and_then(|calls| calls.get(&record.call));
            match calls {
                _ if self.is_hidden => Command::Hidden,
                _ if !is_traceable(record) => Command::Unnamed,
                None => Command::Missing,
                // The client gives calls no id: only the hash of the input tells which one it is.
                Some(calls) if record.call.is_empty() => {
                    self.judged(record, calls).map_or(Command::Missing, |call| self.describe(record, call))
                }
                Some(calls) => self.judged(record, calls).map_or(Command::Changed, |call| self.describe(record, call)),
            }
        };
        records.iter().map(command).collect()
    }

    /// The recorded call whose input was judged. Without a hash in the log, it is the first.
    fn judged<'c>(&self, record: &LogRecord, calls: &'c [RecordedCall]) -> Option<&'c RecordedCall> {
        calls.iter().find(|call| record.input.is_none() || self.judged_input(record, call).is_some())
    }

    /// The input that has the hash of the log line.
    pub fn judged_input<'c>(&self, record: &LogRecord, call: &'c RecordedCall) -> Option<&'c Quarantined<Vec<u8>>> {
        let (key, hash) = (self.key.as_ref()?, record.input.as_ref()?);
        call.inputs.iter().find(|input| key.hmac(input).as_ref() == Some(hash))
    }

    fn describe(&self, record: &LogRecord, call: &RecordedCall) -> Command {
        // The log does not hold the reason, because it quotes the call.
        let verdict = self
            .judged_input(record, call)
            .and_then(|input| judge_again((record, call, input), self.options, self.environment, |policy| policy).ok());
        let findings = verdict.iter().flat_map(|verdict| verdict.findings());
        let reason = findings.filter(|finding| finding.rule().as_str() == record.rule).map(|finding| finding.reason());
        let reason = reason.map(str::to_owned).next();
        Command::Known { text: expose(&call.text).cloned().unwrap_or_default(), reason }
    }
}

/// Whether the call of a log line can be found in a transcript: by its id, or by the hash of its input.
pub fn is_traceable(record: &LogRecord) -> bool {
    !record.call.is_empty() || record.input.is_some()
}

/// The recorded calls of log lines, by session and id, each transcript of the client that the line names.
pub fn find_all<'r>(
    environment: &Environment,
    records: impl Iterator<Item = &'r LogRecord>,
) -> BTreeMap<String, BTreeMap<String, Vec<RecordedCall>>> {
    let mut wanted: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for record in records {
        wanted.entry((&record.session_id, &record.client)).or_default().insert(&record.call);
    }
    let mut found: BTreeMap<String, BTreeMap<String, Vec<RecordedCall>>> = BTreeMap::new();
    for ((session, client), ids) in wanted {
        let calls = transcripts::find(&environment.of_logged(client), session, &ids);
        found.entry(session.to_owned()).or_default().extend(calls);
    }
    found
}
