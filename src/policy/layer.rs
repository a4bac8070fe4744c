//! A layer of the policy: one TOML file.

use super::{Allow, Exception, McpServer, PinPolicy, Receipts, Results};
use crate::encoding::nearest;
use crate::rules::Pattern;
use crate::verdict::Effect;
use compact_str::CompactString;
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawLayer {
    preset: Option<String>,
    #[serde(rename = "meta")]
    _meta: Table<RawMeta>,
    decision: Table<RawDecision>,
    quarantine: Table<RawQuarantine>,
    taint: Table<RawTaint>,
    executables: Table<RawExecutables>,
    secrets: Table<RawSecrets>,
    paths: Table<RawPaths>,
    mcp: Table<RawMcp>,
    rules: Table<RawRules>,
    exceptions: Vec<Table<RawException>>,
    /// Accepted for configurations of the predecessor, which had a daemon.
    daemon: Option<toml::Table>,
}

/// A TOML table. A derived `Deserialize` would also accept an array of the values in order.
#[derive(Debug, Default)]
struct Table<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TableVisitor<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for TableVisitor<T> {
            type Value = Table<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Table)
            }
        }
        deserializer.deserialize_map(TableVisitor(PhantomData))
    }
}

/// The name of an MCP server, with or without `mcp__`.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "String")]
struct RawServer(String);

impl TryFrom<String> for RawServer {
    type Error = &'static str;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let name = server_name(&name);
        let plain = |c: char| c.is_ascii_alphanumeric() || "._- :".contains(c);
        if !name.is_empty() && name.chars().all(plain) {
            Ok(RawServer(name.to_owned()))
        } else {
            Err("invalid name of a server: expected letters, digits, `.`, `_`, `-`, `:` and spaces, and no pattern")
        }
    }
}

/// Removes blanks and the prefix `mcp__` from the name of an MCP server.
pub(super) fn server_name(name: &str) -> &str {
    let name = name.trim();
    name.strip_prefix("mcp__").unwrap_or(name)
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawMeta {
    #[serde(rename = "version")]
    _version: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawDecision {
    block: Option<RawEffect>,
    suspicious: Option<RawEffect>,
    failure: Option<RawFailure>,
    always_deny: Vec<String>,
    always_ask: Vec<String>,
    allow: Option<Allow>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawEffect {
    Pass,
    Advise,
    Ask,
    Deny,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawExecutables {
    allowed: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawSecrets {
    env_vars: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawPaths {
    sensitive: Vec<String>,
    work: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawMcp {
    pins: Option<RawPins>,
    receipts: Option<Receipts>,
    servers: Vec<Table<RawMcpServer>>,
    user_servers: Option<RawUserServers>,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawUserServers {
    Known,
    Unknown,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawPins {
    Required,
    WhenPresent,
    Off,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMcpServer {
    name: RawServer,
    tools: Option<Vec<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawRules {
    disabled: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawException {
    rule: toml::Spanned<String>,
    #[serde(rename = "match")]
    pattern: Option<String>,
    reason: String,
    until: Option<toml::value::Datetime>,
    id: Option<String>,
}

/// The effect of a failure, which never passes a call.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawFailure {
    Ask,
    Deny,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawQuarantine {
    results: Option<Results>,
    longest_kb: Option<u16>,
    trusted: Vec<RawServer>,
    untrusted: Vec<RawServer>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawTaint {
    own_hosts: Vec<RawHost>,
}

/// A host by its name, or `*.` and a domain.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct RawHost(CompactString);

impl TryFrom<String> for RawHost {
    type Error = &'static str;

    fn try_from(host: String) -> Result<Self, Self::Error> {
        let host = host.to_ascii_lowercase();
        let name = host.strip_prefix("*.").unwrap_or(&host);
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte));
        // `*.com` is everybody's.
        if is_plain && !name.is_empty() && (name.contains('.') || !host.starts_with('*')) {
            Ok(RawHost(host.into()))
        } else {
            Err("invalid host: expected a name such as `git.example.com`, or `*.example.com` for all hosts of a domain")
        }
    }
}

/// One file of the policy, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// The name of its preset.
    pub preset: Option<String>,
    pub(super) failure: Option<Effect>,
    pub(super) results: Option<Results>,
    pub(super) longest_kb: Option<u16>,
    pub(super) trusted: Vec<CompactString>,
    pub(super) untrusted: Vec<CompactString>,
    pub(super) own_hosts: Vec<CompactString>,
    pub(super) block: Option<Effect>,
    pub(super) suspicious: Option<Effect>,
    pub(super) always_deny: Vec<CompactString>,
    pub(super) always_ask: Vec<CompactString>,
    pub(super) allow: Option<Allow>,
    pub(super) executables: Vec<CompactString>,
    pub(super) secrets: Vec<CompactString>,
    pub(super) sensitive: Vec<CompactString>,
    pub(super) work: Vec<CompactString>,
    pub(super) servers: Vec<McpServer>,
    pub(super) pins: Option<PinPolicy>,
    pub(super) receipts: Option<Receipts>,
    pub(super) knows_user_servers: Option<bool>,
    pub(super) disabled: Vec<CompactString>,
    pub(super) exceptions: Vec<Exception>,
    /// Remarks for the author of the file.
    pub notes: Vec<String>,
}

/// The settings of one file: `(key, values)`.
type Settings = &'static [(&'static str, &'static [&'static str])];

/// The settings of the embedded layers, which the build script reads: `(name, settings)`.
const SETTINGS: &[(&str, Settings)] = include!(concat!(env!("OUT_DIR"), "/settings.rs"));

/// A layer that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerError {
    file: String,
    line: usize,
    column: usize,
    message: String,
    help: Option<String>,
    /// The preset that the file names despite its error, so that a typo does not loosen a strict policy.
    pub preset: Option<String>,
}

/// Parses a setting with a fixed set of values.
fn keyword<T: Deserialize<'static>>(values: &[&'static str]) -> Option<T> {
    let [value] = values else { return None };
    T::deserialize(BorrowedStrDeserializer::<serde::de::value::Error>::new(value)).ok()
}

fn knows(servers: RawUserServers) -> bool {
    servers == RawUserServers::Known
}

fn compact(texts: Vec<String>) -> Vec<CompactString> {
    texts.into_iter().map(Into::into).collect()
}

impl Layer {
    /// A layer that only names a preset.
    pub fn with_preset(preset: Option<String>) -> Layer {
        Layer { preset, ..Layer::default() }
    }

    /// The layer that is added on top of all others during a pause: the preset `off`, with the `always_deny` of `gentle`.
    pub fn of_pause() -> Layer {
        let embedded = |name| Layer::embedded(name).unwrap_or_default();
        // An explicit permission for every call would also skip the client's own prompts.
        Layer { always_deny: embedded("gentle").always_deny, allow: Some(Allow::Silent), ..embedded("off") }
    }

    /// Returns an embedded layer without parsing it: `config.toml`, or a preset by its name.
    pub fn embedded(name: &str) -> Option<Layer> {
        let (_, settings) = SETTINGS.iter().find(|(known, _)| *known == name)?;
        let mut layer = Layer::default();
        for (key, values) in *settings {
            let texts = || values.iter().map(|value| CompactString::const_new(value)).collect();
            match *key {
                "meta.version" => {}
                "decision.failure" => layer.failure = Some(keyword::<RawFailure>(values)?.into()),
                "decision.block" => layer.block = Some(keyword::<RawEffect>(values)?.into()),
                "decision.suspicious" => layer.suspicious = Some(keyword::<RawEffect>(values)?.into()),
                "decision.always_deny" => layer.always_deny = texts(),
                "decision.always_ask" => layer.always_ask = texts(),
                "executables.allowed" => layer.executables = texts(),
                "secrets.env_vars" => layer.secrets = texts(),
                "paths.sensitive" => layer.sensitive = texts(),
                "rules.disabled" => layer.disabled = texts(),
                "quarantine.trusted" => layer.trusted = texts(),
                "quarantine.untrusted" => layer.untrusted = texts(),
                "quarantine.results" => layer.results = Some(keyword(values)?),
                "mcp.pins" => layer.pins = Some(keyword::<RawPins>(values)?.into()),
                "mcp.receipts" => layer.receipts = Some(keyword(values)?),
                "mcp.user_servers" => layer.knows_user_servers = Some(knows(keyword(values)?)),
                _ => return None,
            }
        }
        Some(layer)
    }

    /// The sensitive paths that the operator added. A list with at least half of the embedded paths is an edited copy of
    /// the embedded list, of this version or another; of such a list, only the other paths are returned.
    pub(super) fn operator_sensitive(&self) -> Vec<CompactString> {
        if self.sensitive.is_empty() {
            return Vec::new();
        }
        let embedded = embedded_values(super::DEFAULT.0, "paths.sensitive");
        let common = embedded.iter().filter(|path| self.sensitive.iter().any(|own| own == *path)).count();
        let is_copy = common * 2 >= embedded.len();
        self.sensitive.iter().filter(|path| !is_copy || !embedded.contains(&path.as_str())).cloned().collect()
    }

    /// Parses the text of `file`, whose name is used in errors.
    pub fn read(text: &str, file: &str) -> Result<Layer, LayerError> {
        let raw: RawLayer = toml::from_str(text).map_err(|error| LayerError::new(&error, text, file))?;
        let RawLayer {
            preset, decision, quarantine, taint, executables, secrets, paths, mcp, rules, exceptions, ..
        } = raw;
        let (decision, quarantine, mcp) = (decision.0, quarantine.0, mcp.0);
        let server_names = |servers: Vec<RawServer>| servers.into_iter().map(|server| server.0.into()).collect();
        let server = |Table(server): Table<RawMcpServer>| McpServer { name: server.name.0, tools: server.tools };
        let note = |_| format!("{file}: `[daemon]` is accepted and ignored: there is no daemon");
        Ok(Layer {
            preset,
            failure: decision.failure.map(Into::into),
            longest_kb: quarantine.longest_kb,
            results: quarantine.results,
            trusted: server_names(quarantine.trusted),
            untrusted: server_names(quarantine.untrusted),
            own_hosts: taint.0.own_hosts.into_iter().map(|host| host.0).collect(),
            block: decision.block.map(Into::into),
            suspicious: decision.suspicious.map(Into::into),
            always_deny: compact(decision.always_deny),
            always_ask: compact(decision.always_ask),
            allow: decision.allow,
            executables: compact(executables.0.allowed),
            secrets: compact(secrets.0.env_vars),
            sensitive: paths.0.sensitive.iter().map(|path| path.trim_end_matches('/').into()).collect(),
            work: paths.0.work.iter().map(|path| path.trim_end_matches('/').into()).collect(),
            servers: mcp.servers.into_iter().map(server).collect(),
            pins: mcp.pins.map(Into::into),
            receipts: mcp.receipts,
            knows_user_servers: mcp.user_servers.map(knows),
            disabled: compact(rules.0.disabled),
            exceptions: read_exceptions(exceptions.into_iter().map(|raw| raw.0), text, file)?,
            notes: raw.daemon.map(note).into_iter().collect(),
        })
    }
}

/// The values of a key in an embedded file: `config.toml`, or a preset by its name.
pub(super) fn embedded_values(file: &str, key: &str) -> &'static [&'static str] {
    let file = SETTINGS.iter().find(|(name, _)| *name == file).map(|(_, settings)| *settings);
    let list = file.unwrap_or_default().iter().find(|(known, _)| *known == key);
    list.map(|(_, values)| *values).unwrap_or_default()
}

impl From<RawEffect> for Effect {
    fn from(raw: RawEffect) -> Effect {
        match raw {
            RawEffect::Pass => Effect::Pass,
            RawEffect::Advise => Effect::Advise,
            RawEffect::Ask => Effect::Ask,
            RawEffect::Deny => Effect::Deny,
        }
    }
}

impl From<RawFailure> for Effect {
    fn from(raw: RawFailure) -> Effect {
        match raw {
            RawFailure::Ask => Effect::Ask,
            RawFailure::Deny => Effect::Deny,
        }
    }
}

impl From<RawPins> for PinPolicy {
    fn from(raw: RawPins) -> PinPolicy {
        match raw {
            RawPins::Required => PinPolicy::Required,
            RawPins::WhenPresent => PinPolicy::WhenPresent,
            RawPins::Off => PinPolicy::Off,
        }
    }
}

/// The longest id of an exception.
const MAX_ID_BYTES: usize = 32;

fn is_exception_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(is_plain)
}

/// Checks the exceptions of a file. They follow each other in it, so that its lines are counted once.
fn read_exceptions(
    raw: impl Iterator<Item = RawException>,
    text: &str,
    file: &str,
) -> Result<Vec<Exception>, LayerError> {
    let (mut read, mut position) = (0, START);
    let check = |raw: RawException| {
        let start = raw.rule.span().start;
        position = position_behind(position, text.get(read..start).unwrap_or_default());
        read = start;
        raw.check(position, file)
    };
    raw.map(check).collect()
}

impl RawException {
    fn check(self, (line, column): (usize, usize), file: &str) -> Result<Exception, LayerError> {
        let rule = self.rule.into_inner();
        let pattern = self.pattern.clone().map(Pattern::new);
        let invalid = pattern.as_ref().and_then(|pattern| pattern.check().err());
        let until = self.until.as_ref().map(|until| {
            let date = until.date.filter(|_| until.time.is_none())?;
            let month = time::Month::try_from(date.month).ok()?;
            time::Date::from_calendar_date(i32::from(date.year), month, date.day).ok()
        });
        let message = match (&invalid, until) {
            _ if rule.trim().is_empty() => "an exception without a rule".to_owned(),
            _ if self.reason.trim().is_empty() => format!("an exception from `{rule}` without a reason"),
            (Some(error), _) => format!("pattern `{}`: {}", error.pattern, error.message),
            _ if self.id.as_deref().is_some_and(|id| !is_exception_id(id)) => {
                format!("invalid value for `id`: expected at most {MAX_ID_BYTES} lower-case letters, digits and `-`")
            }
            (None, Some(None)) => "invalid value for `until`: expected a date such as 2026-12-31".to_owned(),
            (None, _) => {
                let patterns = pattern.into_iter().collect();
                let source = format!("{file}:{line}:{column}");
                return Ok(Exception {
                    rule,
                    patterns,
                    reason: self.reason,
                    until: until.flatten(),
                    id: self.id,
                    source,
                });
            }
        };
        Err(LayerError { file: file.to_owned(), line, column, message, help: None, preset: None })
    }
}

/// The line and column of the first character of a file.
const START: (usize, usize) = (1, 1);

/// The line and column behind a text that begins at a position.
fn position_behind((line, column): (usize, usize), text: &str) -> (usize, usize) {
    let last = text.rsplit('\n').next().unwrap_or_default();
    let before = if last.len() < text.len() { 1 } else { column };
    (line + text.matches('\n').count(), before + last.chars().count())
}

impl LayerError {
    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    fn new(error: &toml::de::Error, text: &str, file: &str) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let message = error.message().lines().next().unwrap_or_default().to_owned();
        // "unknown field `x`, expected one of `a`, `b`": the first name is the input, the others are the suggestions.
        let mut names = message.split('`').skip(1).step_by(2);
        let near = names.next().and_then(|wrong| nearest(wrong, names)).map(|name| format!("did you mean `{name}`?"));
        let split = message.split_once(", expected ");
        let (message, expected) = split.map_or((message.as_str(), None), |(head, tail)| (head, Some(tail)));
        let (line, column) = position_behind(START, before);
        LayerError {
            file: file.to_owned(),
            line,
            column,
            message: message.to_owned(),
            help: near.or_else(|| expected.map(|expected| format!("expected {expected}"))),
            preset: toml::from_str::<toml::Table>(text)
                .ok()
                .and_then(|table| table.get("preset")?.as_str().map(str::to_owned)),
        }
    }
}

impl fmt::Display for LayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LayerError { file, line, column, message, help, preset: _ } = self;
        write!(f, "{file}:{line}:{column}: {message}")?;
        help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/policy/layer.rs"]
mod tests;
