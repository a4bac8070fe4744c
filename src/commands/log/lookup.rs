//! Looks up the commands of logged calls in the client's transcripts.

use crate::runtime::environment::Environment;
use crate::runtime::{agent_check, receipts, transcripts};
use rune::client::RecordedCall;
use rune::quarantined::{Audit, Reason};
use rune::receipt::ArgumentsKey;
use rune::telemetry::LogRecord;
use std::collections::{BTreeMap, BTreeSet};

/// What is known of the command of a logged call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// What the call was to do.
    Known(String),
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
    is_hidden: bool,
    key: Option<ArgumentsKey>,
}

impl<'a> Lookup<'a> {
    pub fn new(environment: &'a Environment) -> Lookup<'a> {
        let is_hidden = agent_check::refuse_agent("reading transcripts").is_err();
        Lookup { environment, is_hidden, key: receipts::key::read_arguments_key(environment).ok().flatten() }
    }

    /// The commands of these lines, in their order. Each transcript is read once.
    pub fn commands(&self, records: &[LogRecord]) -> Vec<Command> {
        let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        if !self.is_hidden {
            for record in records.iter().filter(|record| !record.call.is_empty()) {
                wanted.entry(&record.session_id).or_default().insert(&record.call);
            }
        }
        let find = |(session, ids)| (session, transcripts::find(self.environment, session, &ids));
        let found: BTreeMap<&str, _> = wanted.into_iter().map(find).collect();
        let command = |record: &LogRecord| {
            let calls = found.get(record.session_id.as_str()).and_then(|calls| calls.get(&record.call));
            match calls {
                _ if self.is_hidden => Command::Hidden,
                _ if record.call.is_empty() => Command::Unnamed,
                None => Command::Missing,
                Some(calls) => self.judged(record, calls).map_or(Command::Changed, |call| Command::Known(text(call))),
            }
        };
        records.iter().map(command).collect()
    }

    /// The recorded call whose input was judged. Without a hash in the log, it is the first.
    pub fn judged<'c>(&self, record: &LogRecord, calls: &'c [RecordedCall]) -> Option<&'c RecordedCall> {
        calls.iter().find(|call| record.input.is_none() || self.judged_input(record, call).is_some())
    }

    /// The position of the input that has the hash of the log line.
    pub fn judged_input(&self, record: &LogRecord, call: &RecordedCall) -> Option<usize> {
        let (key, hash) = (self.key.as_ref()?, record.input.as_ref()?);
        call.inputs.iter().position(|input| key.hmac(input).as_ref() == Some(hash))
    }
}

fn text(call: &RecordedCall) -> String {
    let reason = Reason::new("a person is shown what the call was to do");
    reason.map(|reason| call.text.expose(reason, &mut Audit::new(|_| {})).clone()).unwrap_or_default()
}
