//! A layer of the policy as it is written: one TOML file.

use super::{Allow, Exception, McpServer, PinPolicy, Receipts, Results};
use crate::encoding::nearest;
use crate::rules::Pattern;
use crate::verdict::Effect;
use compact_str::CompactString;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
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
    executables: Table<RawExecutables>,
    secrets: Table<RawSecrets>,
    paths: Table<RawPaths>,
    mcp: Table<RawMcp>,
    rules: Table<RawRules>,
    exceptions: Vec<Table<RawException>>,
    /// Keys of a predecessor that had one; there is none here.
    daemon: Option<toml::Table>,
}

/// A table and nothing else: serde would also take a list of the values in order.
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
            Err("a server's name is exact: letters, digits, `.`, `_` and `-`, and no pattern")
        }
    }
}

/// The server that somebody named, in either spelling.
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
    allow: Option<RawAllow>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawEffect {
    Pass,
    Advise,
    Ask,
    Deny,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawAllow {
    Silent,
    Explicit,
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
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawMcp {
    pins: Option<RawPins>,
    receipts: Option<RawReceipts>,
    servers: Vec<Table<RawMcpServer>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawPins {
    Required,
    WhenPresent,
    Off,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawReceipts {
    Off,
    Denials,
    Mcp,
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
}

/// There is no `pass`: a failure never lets a call through.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawFailure {
    Ask,
    Deny,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RawQuarantine {
    results: Option<RawResults>,
    longest_kb: Option<u16>,
    trusted: Vec<RawServer>,
    untrusted: Vec<RawServer>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawResults {
    Notice,
    Wrap,
    Silent,
}

/// One file of the policy, checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// The preset that it names.
    pub preset: Option<String>,
    pub(super) failure: Option<Effect>,
    pub(super) results: Option<Results>,
    pub(super) longest_kb: Option<u16>,
    pub(super) trusted: Vec<CompactString>,
    pub(super) untrusted: Vec<CompactString>,
    pub(super) block: Option<Effect>,
    pub(super) suspicious: Option<Effect>,
    pub(super) always_deny: Vec<CompactString>,
    pub(super) allow: Option<Allow>,
    pub(super) executables: Vec<CompactString>,
    pub(super) secrets: Vec<CompactString>,
    pub(super) sensitive: Vec<CompactString>,
    pub(super) servers: Vec<McpServer>,
    pub(super) pins: Option<PinPolicy>,
    pub(super) receipts: Option<Receipts>,
    pub(super) disabled: Vec<CompactString>,
    pub(super) exceptions: Vec<Exception>,
    /// What a reader of the file may want to know.
    pub notes: Vec<String>,
}

/// The settings of one file.
type Settings = &'static [(&'static str, &'static [&'static str])];

/// The settings of the embedded policy, by the names of its files.
const SETTINGS: &[(&str, Settings)] = include!(concat!(env!("OUT_DIR"), "/settings.rs"));

/// Where and why a layer cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerError {
    file: String,
    line: usize,
    column: usize,
    what: String,
    help: Option<String>,
    /// The preset that the file names in spite of its error: a strict policy with a typo is still meant strictly.
    pub preset: Option<String>,
}

fn names(written: Vec<String>) -> Vec<CompactString> {
    written.into_iter().map(Into::into).collect()
}

impl Layer {
    /// A layer of which only the preset's name is known.
    pub fn naming(preset: Option<String>) -> Layer {
        Layer { preset, ..Layer::default() }
    }

    /// A file of the embedded policy, as it was read at the build: `config.toml`, or a preset by its name.
    pub fn embedded(name: &str) -> Option<Layer> {
        let (_, settings) = SETTINGS.iter().find(|(known, _)| *known == name)?;
        let mut layer = Layer::default();
        for (key, values) in *settings {
            let texts = || values.iter().map(|value| CompactString::const_new(value)).collect();
            match (*key, *values) {
                ("meta.version", _) => {}
                ("decision.failure", ["ask"]) => layer.failure = Some(Effect::Ask),
                ("decision.failure", ["deny"]) => layer.failure = Some(Effect::Deny),
                ("decision.block", [effect]) => layer.block = Some(effect_named(effect)?),
                ("decision.suspicious", [effect]) => layer.suspicious = Some(effect_named(effect)?),
                ("decision.always_deny", _) => layer.always_deny = texts(),
                ("executables.allowed", _) => layer.executables = texts(),
                ("secrets.env_vars", _) => layer.secrets = texts(),
                ("paths.sensitive", _) => layer.sensitive = texts(),
                ("rules.disabled", _) => layer.disabled = texts(),
                ("quarantine.trusted", _) => layer.trusted = texts(),
                ("quarantine.untrusted", _) => layer.untrusted = texts(),
                ("quarantine.results", ["notice"]) => layer.results = Some(Results::Notice),
                ("quarantine.results", ["wrap"]) => layer.results = Some(Results::Wrap),
                ("quarantine.results", ["silent"]) => layer.results = Some(Results::Silent),
                ("mcp.pins", ["required"]) => layer.pins = Some(PinPolicy::Required),
                ("mcp.pins", ["when-present"]) => layer.pins = Some(PinPolicy::WhenPresent),
                ("mcp.pins", ["off"]) => layer.pins = Some(PinPolicy::Off),
                ("mcp.receipts", ["off"]) => layer.receipts = Some(Receipts::Off),
                ("mcp.receipts", ["denials"]) => layer.receipts = Some(Receipts::Denials),
                ("mcp.receipts", ["mcp"]) => layer.receipts = Some(Receipts::Mcp),
                _ => return None,
            }
        }
        Some(layer)
    }

    /// The sensitive paths that the operator has listed. A list with half of the shipped one in it is an edited copy, of
    /// this version or of another: what it has beyond the shipped one is theirs.
    pub(super) fn own_sensitive(&self) -> Vec<CompactString> {
        if self.sensitive.is_empty() {
            return Vec::new();
        }
        let shipped = shipped_sensitive();
        let same = shipped.iter().filter(|path| self.sensitive.iter().any(|own| own == *path)).count();
        let copied = same * 2 >= shipped.len();
        self.sensitive.iter().filter(|path| !copied || !shipped.contains(&path.as_str())).cloned().collect()
    }

    /// Reads the text of `file`.
    pub fn read(text: &str, file: &str) -> Result<Layer, LayerError> {
        let raw: RawLayer = toml::from_str(text).map_err(|error| LayerError::new(&error, text, file))?;
        Ok(Layer {
            preset: raw.preset,
            failure: raw.decision.0.failure.map(|failure| match failure {
                RawFailure::Ask => Effect::Ask,
                RawFailure::Deny => Effect::Deny,
            }),
            longest_kb: raw.quarantine.0.longest_kb,
            results: raw.quarantine.0.results.map(|results| match results {
                RawResults::Notice => Results::Notice,
                RawResults::Wrap => Results::Wrap,
                RawResults::Silent => Results::Silent,
            }),
            trusted: raw.quarantine.0.trusted.into_iter().map(|server| server.0.into()).collect(),
            untrusted: raw.quarantine.0.untrusted.into_iter().map(|server| server.0.into()).collect(),
            block: raw.decision.0.block.map(RawEffect::check),
            suspicious: raw.decision.0.suspicious.map(RawEffect::check),
            always_deny: names(raw.decision.0.always_deny),
            allow: raw.decision.0.allow.map(|allow| match allow {
                RawAllow::Silent => Allow::Silent,
                RawAllow::Explicit => Allow::Explicit,
            }),
            executables: names(raw.executables.0.allowed),
            secrets: names(raw.secrets.0.env_vars),
            sensitive: raw.paths.0.sensitive.into_iter().map(|path| path.trim_end_matches('/').into()).collect(),
            servers: raw
                .mcp
                .0
                .servers
                .into_iter()
                .map(|server| McpServer { name: server.0.name.0, tools: server.0.tools })
                .collect(),
            pins: raw.mcp.0.pins.map(|pins| match pins {
                RawPins::Required => PinPolicy::Required,
                RawPins::WhenPresent => PinPolicy::WhenPresent,
                RawPins::Off => PinPolicy::Off,
            }),
            receipts: raw.mcp.0.receipts.map(|receipts| match receipts {
                RawReceipts::Off => Receipts::Off,
                RawReceipts::Denials => Receipts::Denials,
                RawReceipts::Mcp => Receipts::Mcp,
            }),
            disabled: names(raw.rules.0.disabled),
            exceptions: raw
                .exceptions
                .into_iter()
                .map(|exception| exception.0.check(text, file))
                .collect::<Result<_, _>>()?,
            notes: raw
                .daemon
                .map(|_| format!("{file}: `[daemon]` is accepted and ignored: there is no daemon"))
                .into_iter()
                .collect(),
        })
    }
}

/// The sensitive paths of the embedded policy.
fn shipped_sensitive() -> &'static [&'static str] {
    let file = SETTINGS.iter().find(|(name, _)| *name == super::DEFAULT.0).map(|(_, settings)| *settings);
    let list = file.unwrap_or_default().iter().find(|(key, _)| *key == "paths.sensitive");
    list.map(|(_, values)| *values).unwrap_or_default()
}

fn effect_named(name: &str) -> Option<Effect> {
    match name {
        "pass" => Some(Effect::Pass),
        "advise" => Some(Effect::Advise),
        "ask" => Some(Effect::Ask),
        "deny" => Some(Effect::Deny),
        _ => None,
    }
}

impl RawEffect {
    fn check(self) -> Effect {
        match self {
            RawEffect::Pass => Effect::Pass,
            RawEffect::Advise => Effect::Advise,
            RawEffect::Ask => Effect::Ask,
            RawEffect::Deny => Effect::Deny,
        }
    }
}

impl RawException {
    fn check(self, text: &str, file: &str) -> Result<Exception, LayerError> {
        let before = text.get(..self.rule.span().start).unwrap_or_default();
        let (line, column) = place(before);
        let rule = self.rule.into_inner();
        let pattern = self.pattern.clone().map(Pattern::new);
        let bad = pattern.as_ref().and_then(|pattern| pattern.check().err());
        let until = self.until.as_ref().map(|until| {
            let date = until.date.filter(|_| until.time.is_none())?;
            let month = time::Month::try_from(date.month).ok()?;
            time::Date::from_calendar_date(i32::from(date.year), month, date.day).ok()
        });
        let what = match (&bad, until) {
            _ if rule.trim().is_empty() => "an exception without the rule that it is from".to_owned(),
            _ if self.reason.trim().is_empty() => format!("an exception from `{rule}` without a reason"),
            (Some(error), _) => format!("pattern `{}`: {}", error.pattern, error.what),
            (None, Some(None)) => "`until` is not a date such as 2026-12-31".to_owned(),
            (None, _) => {
                let patterns = pattern.into_iter().collect();
                let source = format!("{file}:{line}:{column}");
                return Ok(Exception { rule, patterns, reason: self.reason, until: until.flatten(), source });
            }
        };
        Err(LayerError { file: file.to_owned(), line, column, what, help: None, preset: None })
    }
}

/// The line and column, from 1, behind a text.
fn place(before: &str) -> (usize, usize) {
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}

impl LayerError {
    /// The line, from one.
    pub fn line(&self) -> usize {
        self.line
    }

    fn new(error: &toml::de::Error, text: &str, file: &str) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let what = error.message().lines().next().unwrap_or_default().to_owned();
        // "unknown field `x`, expected one of `a`, `b`": the first name is theirs, the others are ours.
        let mut names = what.split('`').skip(1).step_by(2);
        let near = names.next().and_then(|wrong| nearest(wrong, names)).map(|name| format!("did you mean `{name}`?"));
        let (what, expected) = what.split_once(", expected ").map_or((what.as_str(), None), |(a, b)| (a, Some(b)));
        let (line, column) = place(before);
        LayerError {
            file: file.to_owned(),
            line,
            column,
            what: what.to_owned(),
            help: near.or_else(|| expected.map(|expected| format!("expected {expected}"))),
            preset: toml::from_str::<toml::Table>(text)
                .ok()
                .and_then(|table| table.get("preset")?.as_str().map(str::to_owned)),
        }
    }
}

impl fmt::Display for LayerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LayerError { file, line, column, what, help, preset: _ } = self;
        write!(f, "{file}:{line}:{column}: {what}")?;
        help.as_ref().map_or(Ok(()), |help| write!(f, "\n  help: {help}"))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/policy/layer.rs"]
mod tests;
