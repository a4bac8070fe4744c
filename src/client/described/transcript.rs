//! Transcripts of described clients: JSON lines, some of which have calls.

use super::event::at;
use crate::client::RecordedCall;
use crate::encoding::json::{self, Fields, Text};
use crate::quarantined::{ContentSource, Quarantined};

/// Returns the input as the hook gets it, from the tool and the recorded input.
pub type AsSent = fn(&str, &[u8]) -> Option<Vec<u8>>;

/// Where a line of a transcript has calls. `a/b` is the field `b` of the object `a`.
#[derive(Clone, Copy, Debug)]
pub struct Transcript {
    /// The call, or with `[]` at the end the list of calls.
    pub calls: &'static str,
    /// The id, in a call.
    pub id: &'static str,
    /// The name of the tool.
    pub tool: &'static str,
    /// The input: an object, or its JSON text as a string.
    pub input: &'static str,
    /// Another field for inputs that are a text.
    pub other_input: &'static str,
    /// For clients whose hooks get another input than the one that is recorded.
    pub as_sent: Option<AsSent>,
}

/// The fields that say what a call does, most telling first.
const MAIN_FIELDS: [&str; 8] = ["command", "commands", "file_path", "path", "filePath", "url", "query", "pattern"];

impl Transcript {
    pub(super) fn calls(self, line: &Quarantined<Vec<u8>>) -> Vec<RecordedCall> {
        let fields = Fields::read(line.inspect("a transcript is searched for calls"));
        let (path, is_list) = self.calls.strip_suffix("[]").map_or((self.calls, false), |path| (path, true));
        let Some(raw) = at(&fields, path) else { return Vec::new() };
        let calls = if is_list { json::items(raw) } else { vec![raw] };
        calls.into_iter().filter_map(|call| self.call(&Fields::read(call), line)).collect()
    }

    fn call(self, call: &Fields<'_>, line: &Quarantined<Vec<u8>>) -> Option<RecordedCall> {
        let text = |path: &str| at(call, path).and_then(Text::read).map(|text| text.text);
        let tool = text(self.tool)?;
        let raw = at(call, self.input).or_else(|| at(call, self.other_input))?;
        let recorded = match Text::read(raw) {
            Some(text) => text.text.into_bytes(),
            None => raw.to_vec(),
        };
        let input = self.as_sent.and_then(|as_sent| as_sent(&tool, &recorded)).unwrap_or(recorded);
        let fields = Fields::read(&input);
        let main = MAIN_FIELDS.iter().find_map(|name| Some(json::strings(fields.get(name)?)));
        let main = main.map(|texts| texts.into_texts().collect::<Vec<_>>().join("\n"));
        let shown = main.unwrap_or_else(|| String::from_utf8_lossy(&input).into_owned());
        Some(RecordedCall {
            id: text(self.id)?,
            text: line.derive(shown, ContentSource::ModelOutput),
            inputs: vec![line.derive(input, ContentSource::ModelOutput)],
            // Most transcripts do not say it at the call.
            cwd: String::new(),
            tool,
        })
    }
}
