//! The two record files of a server, the pin and the observed record: strict JSON with a version.
//!
//! ```text
//! {"head":{"version":1,"server":"demo",…,"tools":{"echo":"sha256/v1:…"}},
//! …
//! "tools":{
//! "echo":{…the whole object…}
//! }}
//! ```
//!
//! The head holds every hash. [`PinFile`] and [`ObservedFile`] parse the head and keep the rest as raw JSON, which is
//! what a hook call needs. [`Pin::read`] and [`Observed::read`] parse everything.
//! INVARIANT: they accept a record only if its head is the one that is computed from its body.

use super::pin::Approved;
use super::{Hash, HashSubject, Identity, Instructions, InvalidTool, Observed, Pin, Source, Tool};
use crate::encoding::canonical::Value;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::marker::PhantomData;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The name of a server's file in the directory of its kind. A name with characters other than `a-z`, `0-9`, `-` and
/// `_` is replaced by its hash, so that no name can leave the directory and no two names share a file on a
/// case-insensitive file system.
pub fn file_name(server: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    if (1..=64).contains(&server.len()) && server.bytes().all(is_plain) {
        return format!("{server}.json");
    }
    let hash = Hash::of(HashSubject::Identity, &Value::String(server.to_owned())).to_string();
    format!("={}.json", hash.rsplit(':').next().unwrap_or_default())
}

/// Why a record is rejected. It never quotes the record, because parts of it were written by a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidRecord(String);

impl InvalidRecord {
    fn new(what: impl fmt::Display) -> InvalidRecord {
        InvalidRecord(what.to_string())
    }
}

impl fmt::Display for InvalidRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidRecord {}

/// The version of both records.
const VERSION: u32 = 1;

/// Reads a version; another one than [`VERSION`] is an error.
fn version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    u32::deserialize(deserializer).and_then(|version| match version {
        VERSION => Ok(version),
        _ => Err(D::Error::custom("unsupported version")),
    })
}

/// The hash of a tool or of instructions in a head, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolHash(pub Result<Hash, InvalidTool>);

const UNPINNABLE: &str = "unpinnable/";

impl From<ToolHash> for String {
    fn from(hash: ToolHash) -> String {
        match hash.0 {
            Ok(hash) => hash.to_string(),
            Err(invalid) => format!("{UNPINNABLE}{}", invalid.as_str()),
        }
    }
}

impl TryFrom<String> for ToolHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<ToolHash, Self::Error> {
        match text.strip_prefix(UNPINNABLE).and_then(InvalidTool::from_name) {
            Some(invalid) => Ok(ToolHash(Err(invalid))),
            None => Hash::try_from(text).map(|hash| ToolHash(Ok(hash))),
        }
    }
}

/// A JSON object whose names are unique: an object that repeats a name does not deserialize.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct UniqueMap<V>(pub BTreeMap<String, V>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for UniqueMap<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct UniqueVisitor<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for UniqueVisitor<V> {
            type Value = UniqueMap<V>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<UniqueMap<V>, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = map.next_entry()? {
                    if members.insert(name, value).is_some() {
                        return Err(A::Error::custom("a name occurs twice"));
                    }
                }
                Ok(UniqueMap(members))
            }
        }
        deserializer.deserialize_map(UniqueVisitor(PhantomData))
    }
}

/// The head of an observed record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedHead {
    #[serde(deserialize_with = "version")]
    version: u32,
    /// The server's configured name.
    pub server: String,
    /// How the observation was made.
    pub source: Source,
    /// When the server was observed.
    pub at: String,
    /// How the client starts or reaches the server.
    pub identity: Option<Identity>,
    /// The hash of its instructions.
    pub instructions: Option<ToolHash>,
    /// The hashes of its tools.
    pub tools: UniqueMap<ToolHash>,
}

/// The head of a pin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinHead {
    #[serde(deserialize_with = "version")]
    version: u32,
    /// The server's configured name.
    pub server: String,
    /// Whether the whole server is blocked.
    pub blocked: bool,
    /// What was approved of the server itself.
    pub approved: Option<ApprovedHead>,
    /// The blocked tools.
    pub blocked_tools: BTreeSet<String>,
    /// The hashes of the approved tools.
    pub tools: UniqueMap<ToolHash>,
}

/// What was approved of a server itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApprovedHead {
    /// When it was approved.
    pub at: String,
    /// How the client starts or reaches the server.
    pub identity: Option<Identity>,
    /// The hash of its instructions.
    pub instructions: Option<Hash>,
}

/// A pin whose head is parsed and whose body is raw.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinFile<'a> {
    /// The head. It is not yet compared with the body.
    pub head: PinHead,
    #[serde(borrow)]
    instructions: &'a RawValue,
    #[serde(borrow)]
    tools: UniqueMap<&'a RawValue>,
}

/// An observed record whose head is parsed and whose body is raw.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedFile<'a> {
    /// The head. It is not yet compared with the body.
    pub head: ObservedHead,
    #[serde(borrow)]
    instructions: &'a RawValue,
    #[serde(borrow)]
    protocol: &'a RawValue,
    #[serde(borrow)]
    info: &'a RawValue,
    #[serde(borrow)]
    capabilities: &'a RawValue,
    #[serde(borrow)]
    prompts: &'a RawValue,
    #[serde(borrow)]
    tools: UniqueMap<&'a RawValue>,
}

impl<'a> PinFile<'a> {
    /// Parses a pin without its body.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, InvalidRecord> {
        parse(bytes)
    }

    /// The approved object of a tool, if it has this hash.
    pub(super) fn tool(&self, name: &str, hash: Hash) -> Option<serde_json::Value> {
        let raw = self.tools.0.get(name)?.get();
        let body = Value::read(raw.as_bytes()).ok()?;
        let is_approved = Hash::of(HashSubject::Tool, &body) == hash;
        if is_approved { serde_json::from_str(raw).ok() } else { None }
    }
}

impl<'a> ObservedFile<'a> {
    /// Parses an observed record without its body.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, InvalidRecord> {
        parse(bytes)
    }
}

fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, InvalidRecord> {
    #[derive(Deserialize)]
    struct AnyHead {
        version: u32,
    }
    #[derive(Deserialize)]
    struct AnyRecord {
        head: AnyHead,
    }
    let text = std::str::from_utf8(bytes).map_err(|_| InvalidRecord::new("not UTF-8"))?;
    // serde would also read a struct from an array.
    if !text.starts_with('{') {
        return Err(InvalidRecord::new("not a JSON object"));
    }
    serde_json::from_str(text).map_err(|error| match serde_json::from_str::<AnyRecord>(text) {
        Ok(AnyRecord { head: AnyHead { version } }) if version != VERSION => {
            InvalidRecord::new(format_args!("unsupported version {version}, expected {VERSION}"))
        }
        _ => InvalidRecord::new(format_args!(
            "not a record of this program, at line {} column {}",
            error.line(),
            error.column()
        )),
    })
}

fn value(raw: &RawValue, name: &str) -> Result<Value, InvalidRecord> {
    Value::read(raw.get().as_bytes()).map_err(|fault| InvalidRecord::new(format_args!("`{name}`: {fault}")))
}

/// A string, or `None` for `null`.
fn optional_text(raw: &RawValue, name: &str) -> Result<Option<String>, InvalidRecord> {
    match value(raw, name)? {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(InvalidRecord::new(format_args!("`{name}` is not a string")))
        }
    }
}

fn parse_time(text: &str) -> Result<OffsetDateTime, InvalidRecord> {
    OffsetDateTime::parse(text, &Rfc3339).map_err(|_| InvalidRecord::new("invalid time"))
}

fn format_time(at: OffsetDateTime) -> String {
    // RFC 3339 has no form for years beyond 9999.
    at.format(&Rfc3339).unwrap_or_else(|_| "1970-01-01T00:00:00Z".to_owned())
}

const WRONG_NAME: &str = "a tool has another name than its key";
const WRONG_HASHES: &str = "the hashes in its head do not match its body";

/// The tools of a body, one per line.
fn tool_lines<'a>(tools: impl Iterator<Item = (&'a str, String)>) -> String {
    let lines: Vec<String> = tools.map(|(name, body)| format!("{}:{body}", Value::String(name.to_owned()))).collect();
    lines.join(",\n")
}

fn or_null(value: Option<&Value>) -> String {
    value.map_or_else(|| "null".to_owned(), ToString::to_string)
}

fn json(head: &impl Serialize) -> String {
    // A head consists of strings and numbers, so it always serializes.
    serde_json::to_string(head).unwrap_or_default()
}

impl Observed {
    /// The head of the record.
    pub fn head(&self) -> ObservedHead {
        let hash = |tool: &Tool| (tool.name().to_owned(), ToolHash(tool.hash()));
        ObservedHead {
            version: VERSION,
            server: self.server.clone(),
            source: self.source,
            at: format_time(self.at),
            identity: self.identity.clone(),
            instructions: self.instructions.hash().transpose().map(ToolHash),
            tools: UniqueMap(self.tools.iter().map(hash).collect()),
        }
    }

    /// Reads a whole record and compares its head with its body.
    pub fn read(bytes: &[u8]) -> Result<Observed, InvalidRecord> {
        let file = ObservedFile::parse(bytes)?;
        let instructions = match (optional_text(file.instructions, "instructions")?, file.head.instructions) {
            (None, Some(ToolHash(Err(fault)))) => Instructions::Unreadable(fault),
            (None, _) => Instructions::None,
            (Some(text), _) => Instructions::Text(text),
        };
        let mut tools = Vec::new();
        for (name, raw) in &file.tools.0 {
            let invalid = file.head.tools.0.get(name).and_then(|hash| hash.0.err());
            let tool = match (value(raw, "tools")?, invalid) {
                (Value::String(raw), Some(invalid)) => Tool::recorded(name.clone(), Err(invalid), raw),
                (body, None) if body.get("name").and_then(Value::text) == Some(name) => {
                    Tool::recorded(name.clone(), Ok(body), String::new())
                }
                _ => return Err(InvalidRecord::new(WRONG_NAME)),
            };
            tools.push(tool);
        }
        let observed = Observed {
            server: file.head.server.clone(),
            source: file.head.source,
            at: parse_time(&file.head.at)?,
            identity: file.head.identity.clone(),
            instructions,
            info: Some(value(file.info, "info")?).filter(|value| *value != Value::Null),
            protocol: optional_text(file.protocol, "protocol")?,
            capabilities: Some(value(file.capabilities, "capabilities")?).filter(|value| *value != Value::Null),
            tools,
            prompts: value(file.prompts, "prompts")?.items().to_vec(),
        };
        if observed.head() == file.head { Ok(observed) } else { Err(InvalidRecord::new(WRONG_HASHES)) }
    }

    /// The text of the record file.
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
            tool_lines(self.tools.iter().map(|tool| (tool.name(), body(tool)))),
        )
    }
}

impl Pin {
    /// The head of the pin.
    pub fn head(&self) -> PinHead {
        let approved = self.approved.as_ref().map(|approved| ApprovedHead {
            at: format_time(approved.at),
            identity: approved.identity.clone(),
            instructions: self.instructions_hash(),
        });
        let hash = |(name, body): (&str, &Value)| (name.to_owned(), ToolHash(Ok(Hash::of(HashSubject::Tool, body))));
        PinHead {
            version: VERSION,
            server: self.server.clone(),
            blocked: self.blocked,
            approved,
            blocked_tools: self.blocked_tools.clone(),
            tools: UniqueMap(self.tools().map(hash).collect()),
        }
    }

    /// Reads a whole pin and compares its head with its body.
    pub fn read(bytes: &[u8]) -> Result<Pin, InvalidRecord> {
        let file = PinFile::parse(bytes)?;
        let instructions = optional_text(file.instructions, "instructions")?;
        let approved = match &file.head.approved {
            None => None,
            Some(head) => Some(Approved { at: parse_time(&head.at)?, identity: head.identity.clone(), instructions }),
        };
        let mut tools = BTreeMap::new();
        for (name, raw) in &file.tools.0 {
            let body = value(raw, "tools")?;
            if body.get("name").and_then(Value::text) != Some(name) {
                return Err(InvalidRecord::new(WRONG_NAME));
            }
            tools.insert(name.clone(), body);
        }
        let pin = Pin {
            server: file.head.server.clone(),
            approved,
            blocked: file.head.blocked,
            tools,
            blocked_tools: file.head.blocked_tools.clone(),
        };
        if pin.head() == file.head { Ok(pin) } else { Err(InvalidRecord::new(WRONG_HASHES)) }
    }

    /// The text of the pin file.
    pub fn write(&self) -> String {
        let instructions = self.instructions().map_or(Value::Null, |text| Value::String(text.to_owned()));
        format!(
            "{{\"head\":{},\n\"instructions\":{instructions},\n\"tools\":{{\n{}\n}}}}\n",
            json(&self.head()),
            tool_lines(self.tools().map(|(name, body)| (name, body.to_string()))),
        )
    }
}
