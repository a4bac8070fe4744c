//! The two records of a server as text: strict JSON with a version, laid out so that a call reads little of it.
//!
//! ```text
//! {"head":{"version":1,"server":"demo",…,"tools":{"echo":"sha256/v1:…"}},
//! …
//! "tools":{
//! "echo":{…the whole object…}
//! }}
//! ```
//!
//! The first line has every hash. A call whose hashes agree needs that line of both records, and the line of its tool.
//! INVARIANT: a whole record is read only if its head is the one that its body has.

use super::record::Approved;
use super::{Hash, Identity, Instructions, InvalidTool, Observed, Pin, Source, Subject, Tool};
use crate::encoding::canonical::Value;
use crate::encoding::json::Fields;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The version of both records.
const VERSION: u32 = 1;

/// Bytes of a record; one beyond this is not ours.
pub const LARGEST: u64 = 64 << 20;

/// The name of a server's file in the folder of its kind. A name that is not plain becomes a number, so that none can
/// leave the folder and no two are the same file where capitals do not count.
pub fn file_name(server: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    if (1..=64).contains(&server.len()) && server.bytes().all(plain) {
        return format!("{server}.json");
    }
    let number = Hash::of(Subject::Identity, &Value::String(server.to_owned())).to_string();
    format!("={}.json", number.rsplit(':').next().unwrap_or_default())
}

/// A record that cannot be relied upon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid(String);

impl Invalid {
    fn new(what: impl fmt::Display) -> Invalid {
        Invalid(what.to_string())
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Invalid {}

/// What a head says of one tool or text: its hash, or why it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(pub Result<Hash, InvalidTool>);

const UNPINNABLE: &str = "unpinnable/";

impl Serialize for Mark {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Ok(hash) => hash.serialize(serializer),
            Err(flaw) => serializer.collect_str(&format_args!("{UNPINNABLE}{}", flaw.word())),
        }
    }
}

/// A text of a head, which need not be copied: there may be hundreds, and a call asks for one.
#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Mark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Borrowed(text) = Borrowed::deserialize(deserializer)?;
        let flaw = text.strip_prefix(UNPINNABLE).and_then(InvalidTool::named);
        let mark = flaw.map(Err).or_else(|| Hash::parse(&text).map(Ok));
        mark.map(Mark).ok_or_else(|| D::Error::custom("a hash of a version that this program does not know"))
    }
}

/// The tools of a head by name, each once and in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks<'a>(Vec<(Cow<'a, str>, Mark)>);

impl Marks<'_> {
    /// The tools that are called by this name, as names stand in calls.
    pub(crate) fn called<'m>(&'m self, folded: &'m str) -> impl Iterator<Item = (&'m str, Result<Hash, InvalidTool>)> {
        self.iter().filter(move |(name, _)| same_when_folded(name, folded))
    }

    /// The names and what is said of each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Result<Hash, InvalidTool>)> {
        self.0.iter().map(|(name, mark)| (name.as_ref(), mark.0))
    }
}

/// Whether a name is called like this, without writing it down.
fn same_when_folded(name: &str, folded: &str) -> bool {
    let mut chars = folded.chars();
    name.chars().all(|c| {
        let plain = c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        chars.next() == Some(if plain { c } else { '_' })
    }) && chars.next().is_none()
}

impl Serialize for Marks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, mark)| (name, mark)))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Marks<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MarksVisitor;
        impl<'de> Visitor<'de> for MarksVisitor {
            type Value = Marks<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("tools by name")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Marks<'de>, A::Error> {
                let mut marks: Vec<(Cow<'de, str>, Mark)> = Vec::new();
                while let Some((Borrowed(name), mark)) = map.next_entry()? {
                    if marks.last().is_some_and(|(last, _)| *last >= name) {
                        return Err(A::Error::custom("a tool is named twice or out of order"));
                    }
                    marks.push((name, mark));
                }
                Ok(Marks(marks))
            }
        }
        deserializer.deserialize_map(MarksVisitor)
    }
}

/// The first line of an observed record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedHead<'a> {
    version: u32,
    /// The server's configured name.
    pub server: String,
    /// How we know.
    pub source: Source,
    /// When it was seen.
    pub at: String,
    /// How the client starts or reaches it.
    pub identity: Option<Identity>,
    /// Its instructions.
    pub instructions: Option<Mark>,
    /// Its tools.
    #[serde(borrow)]
    pub tools: Marks<'a>,
}

/// The first line of a pin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinHead<'a> {
    version: u32,
    /// The server's configured name.
    pub server: String,
    /// Whether the whole server is blocked.
    pub blocked: bool,
    /// What was approved of the server itself.
    pub approved: Option<ApprovedHead>,
    /// The tools that are blocked.
    pub blocked_tools: BTreeSet<String>,
    /// The approved tools.
    #[serde(borrow)]
    pub tools: Marks<'a>,
}

/// What was approved of a server itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovedHead {
    /// When.
    pub at: String,
    /// How the client starts or reaches it.
    pub identity: Option<Identity>,
    /// Its instructions.
    pub instructions: Option<Hash>,
}

/// What a record of any version tells.
#[derive(Deserialize)]
struct AnyVersion {
    version: u32,
}

/// The first line of a record, typed.
fn head<'a, T: Deserialize<'a>>(raw: &'a [u8]) -> Result<T, Invalid> {
    // Once for all its texts, and not for each.
    let text = std::str::from_utf8(raw).map_err(|_| Invalid::new("its head is not UTF-8"))?;
    serde_json::from_str(text).map_err(|error| match serde_json::from_str::<AnyVersion>(text) {
        Ok(AnyVersion { version }) if version != VERSION => {
            Invalid::new(format_args!("its version is {version}, and this program knows version {VERSION}"))
        }
        // The place is told, and nothing of what stands there: a server may have written it.
        _ => Invalid::new(format_args!("its head is not as this program writes it, at column {}", error.column())),
    })
}

fn versioned<T>(version: u32, head: T) -> Result<T, Invalid> {
    if version == VERSION {
        return Ok(head);
    }
    Err(Invalid::new(format_args!("its version is {version}, and this program knows version {VERSION}")))
}

/// Where the first line ends, if it does.
fn line_end(text: &[u8]) -> Option<usize> {
    text.iter().position(|byte| *byte == b'\n')
}

/// The raw head of a record in our layout; `None` where it is laid out in another way, and has to be read whole.
pub(super) fn first_line(text: &[u8]) -> Option<&[u8]> {
    let line = text.get(..line_end(text)?)?;
    line.strip_prefix(b"{\"head\":")?.strip_suffix(b",")
}

/// What a call asks for of a pin in our layout, as it is read piece by piece: the first line, and those that may hold
/// the tool.
pub struct Skim<'t> {
    tool: &'t str,
    kept: Vec<u8>,
    /// Whether the line that a piece ended in is kept.
    keeps: Option<bool>,
}

impl<'t> Skim<'t> {
    /// For the tool that is called by this name.
    pub fn new(folded: &'t str) -> Self {
        Skim { tool: folded, kept: Vec::new(), keeps: Some(true) }
    }

    /// Goes on with the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while !rest.is_empty() {
            let end = line_end(rest).map(|at| at + 1);
            let (line, more) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or_default();
            let keeps = self.keeps.unwrap_or_else(|| may_hold(line, self.tool));
            if keeps {
                self.kept.extend_from_slice(line);
            }
            self.keeps = if end.is_some() { None } else { Some(keeps) };
            rest = more;
        }
    }

    /// What was kept.
    pub fn finish(self) -> Vec<u8> {
        self.kept
    }
}

/// Whether a line may hold the tool of this name: one of which the name is cut off, or spelled with escapes, may.
fn may_hold(line: &[u8], folded: &str) -> bool {
    let Some(rest) = line.strip_prefix(b"\"") else { return line.is_empty() };
    let name = rest.iter().position(|byte| *byte == b'"').and_then(|end| std::str::from_utf8(rest.get(..end)?).ok());
    name.is_none_or(|name| name.contains('\\') || same_when_folded(name, folded))
}

/// The approved object of a tool in a pin of our layout, without reading the others.
pub(crate) fn tool_line<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let key = Value::String(name.to_owned()).to_string();
    let mut found = None;
    let mut rest = text;
    while let Some(at) = line_end(rest) {
        rest = rest.get(at + 1..)?;
        if let Some(body) = rest.strip_prefix(key.as_bytes()).and_then(|line| line.strip_prefix(b":{")) {
            // A second one is for the strict reader.
            if found.is_some() || key == "\"tools\"" {
                return None;
            }
            let end = line_end(body)?;
            let start = text.len() - body.len() - 1;
            let line = text.get(start..start + 1 + end)?;
            found = Some(line.strip_suffix(b",").unwrap_or(line));
        }
    }
    found
}

fn whole<'a>(text: &'a [u8], names: &[&str]) -> Result<Fields<'a>, Invalid> {
    let fields = Fields::read(text);
    match fields.error() {
        Some(flaw) => Err(Invalid::new(flaw)),
        None if !fields.names().eq(names.iter().copied()) => Err(Invalid::new("its fields are not those of a record")),
        None => Ok(fields),
    }
}

fn value(fields: &Fields<'_>, name: &str) -> Result<Value, Invalid> {
    Value::read(fields.get(name).unwrap_or_default()).map_err(|fault| Invalid::new(format_args!("`{name}`: {fault}")))
}

/// Text, or nothing.
fn text(fields: &Fields<'_>, name: &str) -> Result<Option<String>, Invalid> {
    match value(fields, name)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(Invalid::new(format_args!("`{name}` is not text")))
        }
    }
}

/// The tools of a body: names and raw values.
fn tools<'a>(fields: &Fields<'a>) -> Result<Fields<'a>, Invalid> {
    let tools = fields.object("tools").ok_or_else(|| Invalid::new("`tools` is not an object"))?;
    tools.error().map_or(Ok(()), |flaw| Err(Invalid::new(format_args!("`tools`: {flaw}"))))?;
    Ok(tools)
}

fn time(text: &str) -> Result<OffsetDateTime, Invalid> {
    OffsetDateTime::parse(text, &Rfc3339).map_err(|_| Invalid::new("its time is not one"))
}

fn stamp(at: OffsetDateTime) -> String {
    // A year beyond 9999 has no such text, and nobody lives in it.
    at.format(&Rfc3339).unwrap_or_else(|_| "1970-01-01T00:00:00Z".to_owned())
}

/// Lines of a body: one for each tool.
fn lines<'a>(tools: impl Iterator<Item = (&'a str, String)>) -> String {
    let quoted = |name: &str| Value::String(name.to_owned());
    let lines: Vec<String> = tools.map(|(name, body)| format!("{}:{body}", quoted(name))).collect();
    lines.join(",\n")
}

/// Whatever may be missing.
fn or_null(value: Option<&Value>) -> String {
    value.map_or_else(|| "null".to_owned(), ToString::to_string)
}

fn json(head: &impl Serialize) -> String {
    // A head has texts and numbers only, and these can always be written.
    serde_json::to_string(head).unwrap_or_default()
}

const OBSERVED: [&str; 7] = ["head", "instructions", "protocol", "info", "capabilities", "prompts", "tools"];

impl<'a> ObservedHead<'a> {
    /// Reads the head of an observed record; `None` where the record is not in our layout.
    pub fn read(text: &'a [u8]) -> Option<Result<Self, Invalid>> {
        let read = |raw| head::<ObservedHead<'a>>(raw).and_then(|head| versioned(head.version, head));
        first_line(text).map(read)
    }
}

impl Observed {
    /// What a call needs to know of it.
    pub fn head(&self) -> ObservedHead<'_> {
        let instructions = self.instructions.hash().map_err(InvalidTool::Form).transpose().map(Mark);
        ObservedHead {
            version: VERSION,
            server: self.server.clone(),
            source: self.source,
            at: stamp(self.at),
            identity: self.identity.clone(),
            instructions,
            tools: Marks(self.tools.iter().map(|tool| (tool.name().into(), Mark(tool.hash()))).collect()),
        }
    }

    /// Reads a whole record.
    pub fn read(raw: &[u8]) -> Result<Observed, Invalid> {
        let fields = whole(raw, &OBSERVED)?;
        let known: ObservedHead<'_> = head(fields.get("head").unwrap_or_default())?;
        let known = versioned(known.version, known)?;
        let instructions = match (text(&fields, "instructions")?, known.instructions) {
            (None, Some(Mark(Err(InvalidTool::Form(fault))))) => Instructions::Unreadable(fault),
            (None, _) => Instructions::None,
            (Some(text), _) => Instructions::Text(text),
        };
        let bodies = tools(&fields)?;
        let flaw = |name: &str| known.tools.iter().find(|(known, _)| *known == name).and_then(|(_, mark)| mark.err());
        let mut observed = Observed {
            server: known.server.clone(),
            source: known.source,
            at: time(&known.at)?,
            identity: known.identity.clone(),
            instructions,
            info: Some(value(&fields, "info")?).filter(|value| *value != Value::Null),
            protocol: text(&fields, "protocol")?,
            capabilities: Some(value(&fields, "capabilities")?).filter(|value| *value != Value::Null),
            tools: Vec::new(),
            prompts: value(&fields, "prompts")?.items().to_vec(),
        };
        for (name, raw) in bodies.iter() {
            let body = Value::read(raw).map_err(|fault| Invalid::new(format_args!("a tool: {fault}")))?;
            let tool = match (body, flaw(name)) {
                (Value::String(raw), Some(flaw)) => Tool::recorded(name.to_owned(), Err(flaw), raw),
                (body, None) if body.get("name").and_then(Value::text) == Some(name) => {
                    Tool::recorded(name.to_owned(), Ok(body), String::new())
                }
                _ => return Err(Invalid::new("a tool is not what its name says")),
            };
            observed.tools.push(tool);
        }
        if observed.head() == known { Ok(observed) } else { Err(Invalid::new("its hashes are not those of its tools")) }
    }

    /// The record as text.
    pub fn write(&self) -> String {
        let instructions = match &self.instructions {
            Instructions::Text(text) => Value::String(text.clone()),
            Instructions::None | Instructions::Unreadable(_) => Value::Null,
        };
        let protocol = self.protocol.clone().map_or(Value::Null, Value::String);
        let body = |tool: &Tool| match tool.body() {
            Ok(body) => body.to_string(),
            Err(_) => Value::String(tool.raw().to_owned()).to_string(),
        };
        format!(
            "{{\"head\":{},\n\"instructions\":{instructions},\n\"protocol\":{protocol},\n\"info\":{},\n\"capabilities\":{},\n\"prompts\":{},\n\"tools\":{{\n{}\n}}}}\n",
            json(&self.head()),
            or_null(self.info.as_ref()),
            or_null(self.capabilities.as_ref()),
            Value::Array(self.prompts.clone()),
            lines(self.tools.iter().map(|tool| (tool.name(), body(tool)))),
        )
    }
}

const PIN: [&str; 3] = ["head", "instructions", "tools"];

impl<'a> PinHead<'a> {
    /// Reads the head of a pin; `None` where it is not in our layout.
    pub fn read(text: &'a [u8]) -> Option<Result<Self, Invalid>> {
        let read = |raw| head::<PinHead<'a>>(raw).and_then(|head| versioned(head.version, head));
        first_line(text).map(read)
    }
}

impl Pin {
    /// What a call needs to know of it.
    pub fn head(&self) -> PinHead<'_> {
        let approved = self.approved.as_ref().map(|approved| ApprovedHead {
            at: stamp(approved.at),
            identity: approved.identity.clone(),
            instructions: self.instructions_hash(),
        });
        let mark = |body: &Value| Mark(Ok(Hash::of(Subject::Tool, body)));
        PinHead {
            version: VERSION,
            server: self.server.clone(),
            blocked: self.blocked,
            approved,
            blocked_tools: self.blocked_tools.clone(),
            tools: Marks(self.tools.iter().map(|(name, body)| (name.into(), mark(body))).collect()),
        }
    }

    /// Reads a whole pin.
    pub fn read(raw: &[u8]) -> Result<Pin, Invalid> {
        let fields = whole(raw, &PIN)?;
        let known: PinHead<'_> = head(fields.get("head").unwrap_or_default())?;
        let known = versioned(known.version, known)?;
        let instructions = text(&fields, "instructions")?;
        let approved = match &known.approved {
            None => None,
            Some(known) => Some(Approved { at: time(&known.at)?, identity: known.identity.clone(), instructions }),
        };
        let mut bodies = BTreeMap::new();
        for (name, raw) in tools(&fields)?.iter() {
            let body = Value::read(raw).map_err(|fault| Invalid::new(format_args!("a tool: {fault}")))?;
            if body.get("name").and_then(Value::text) != Some(name) {
                return Err(Invalid::new("a tool is not what its name says"));
            }
            bodies.insert(name.to_owned(), body);
        }
        let pin = Pin {
            server: known.server.clone(),
            approved,
            blocked: known.blocked,
            tools: bodies,
            blocked_tools: known.blocked_tools.clone(),
        };
        if pin.head() == known { Ok(pin) } else { Err(Invalid::new("its hashes are not those of its tools")) }
    }

    /// The pin as text.
    pub fn write(&self) -> String {
        let instructions = self.instructions().map_or(Value::Null, |text| Value::String(text.to_owned()));
        format!(
            "{{\"head\":{},\n\"instructions\":{instructions},\n\"tools\":{{\n{}\n}}}}\n",
            json(&self.head()),
            lines(self.tools().map(|(name, body)| (name, body.to_string()))),
        )
    }
}
