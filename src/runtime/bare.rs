//! A start without arguments by a client that is too old: it does not know the field `args` of a registered entry.

use super::exit_code::REFUSED;
use super::stderr::warn;
use super::stdout;
use rune::client;
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rune::verdict::Phase;
use std::io::{IsTerminal, Read};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// How long stdin may take.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Bytes of the event that are read: its phase is at its beginning or in its small fields.
const MAX_BYTES: u64 = 16 << 20;

/// Answers an event on stdin, and returns the exit code; `None` if there is none.
///
/// A call is denied, because it cannot be judged without knowing the preset. Every other event passes, with a sentence
/// for the person at the start of a session.
pub fn answer_event() -> Option<u8> {
    let event = read()?;
    let client = client::DEFAULT;
    let origin = Origin::new(ContentSource::ToolOutput, "stdin", super::environment::now());
    let phase = match client.parse(&Quarantined::new(event, origin)) {
        Ok(message) => message.header.phase,
        Err(unread) => unread.header.phase,
    };
    let version = client.locations().minimum_version.map(|part| part.to_string()).join(".");
    let what = format!(
        "Rune was started without arguments. {} before {version} does that: it does not know `args` in the entry of a hook. \
         Update it; until then every call is blocked",
        client.title()
    );
    match phase? {
        Phase::Before => {
            warn(&what);
            Some(REFUSED)
        }
        Phase::Start => {
            stdout::write_line(&serde_json::json!({"systemMessage": what}).to_string()).ok();
            Some(0)
        }
        Phase::After | Phase::Failed | Phase::Settings | Phase::Prompt | Phase::End | Phase::Other => Some(0),
    }
}

/// What a pipe at stdin holds; `None` if nothing comes.
fn read() -> Option<Vec<u8>> {
    if std::io::stdin().is_terminal() {
        return None;
    }
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut event = Vec::new();
        std::io::stdin().take(MAX_BYTES).read_to_end(&mut event).ok();
        sender.send(event).ok();
    });
    receiver.recv_timeout(TIMEOUT).ok().filter(|event| event.trim_ascii().starts_with(b"{"))
}
