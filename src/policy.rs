//! The policy: layers of TOML as written, and the one policy that they mean.

mod layer;
pub mod update;

pub use layer::{Layer, LayerError};

use crate::mcp::PinPolicy;
use crate::rules::{self, Owner, Pattern, Rule, RuleKind, Tier};
use crate::verdict::Effect;
use crate::verdict::failure::Failure;
use compact_str::CompactString;

/// The policy that is embedded in the binary: `(file name, text)`.
pub const DEFAULT: (&str, &str) = ("config.toml", include_str!("../config/config.toml"));

/// The presets that are embedded in the binary: `(name, text)`.
pub const PRESETS: [(&str, &str); 3] = [
    ("gentle", include_str!("../presets/gentle.toml")),
    ("strict", include_str!("../presets/strict.toml")),
    ("off", include_str!("../presets/off.toml")),
];

/// The preset of those who name none.
pub const DEFAULT_PRESET: &str = "gentle";

/// The policy in force for one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// What a failure before a call does.
    pub failure: Effect,
    /// What happens to results from untrusted surfaces.
    pub results: Results,
    /// Kilobytes of one wrapped text that are passed whole.
    pub longest_kb: u16,
    /// Which MCP servers are trusted.
    pub trust: Trust,
    /// What a match of a block rule does.
    pub block: Effect,
    /// What a match of a suspicious rule does.
    pub suspicious: Effect,
    /// Rules whose match is denied whatever their tier.
    pub always_deny: Vec<CompactString>,
    /// What to say where nothing matched.
    pub allow: Allow,
    /// Programs that the operator allows.
    pub executables: Vec<CompactString>,
    /// Variables that hold secrets.
    pub secrets: Vec<CompactString>,
    /// Files and directories that are neither written nor read on the way.
    pub sensitive: Vec<CompactString>,
    /// Those of them that the operator has listed: no built-in exemption holds for them.
    pub sensitive_own: Vec<CompactString>,
    /// MCP servers that the operator has registered.
    pub servers: Vec<McpServer>,
    /// What pins are for.
    pub pins: PinPolicy,
    /// Which decisions leave a receipt.
    pub receipts: Receipts,
    /// Cases that the operator has carved out.
    pub exceptions: Vec<Exception>,
    /// The rules, in the order of their files.
    pub rules: Vec<Rule>,
    /// Names of rules that are not asked.
    pub disabled: Vec<CompactString>,
    /// The same policy with the project's own on top. Its word counts where it is the stricter one.
    pub project: Option<Box<Config>>,
    /// What could not be read of the policy. It takes part in every verdict.
    pub flaws: Vec<Failure>,
}

/// What happens to a result from an untrusted surface, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Results {
    /// Nothing.
    Silent,
    /// A notice is put beside it.
    Notice,
    /// The same, and its texts are put between marks that they cannot know.
    Wrap,
}

/// What to say where nothing matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allow {
    /// Nothing: the client goes on as without us.
    Silent,
    /// That the call is allowed, which skips the client's own question.
    Explicit,
}

/// Which decisions about MCP tools leave a receipt, fewest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Receipts {
    /// None.
    Off,
    /// Those that object.
    Denials,
    /// All.
    Mcp,
}

impl Receipts {
    /// Whether a decision of this effect leaves one.
    pub fn wants(self, effect: Effect) -> bool {
        match self {
            Receipts::Off => false,
            Receipts::Denials => effect >= Effect::Ask,
            Receipts::Mcp => true,
        }
    }
}

/// An MCP server that the operator has registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// Its exact name.
    pub name: String,
    /// Its tools that may be called; all where none are named.
    pub tools: Option<Vec<String>>,
}

/// A case that an operator has carved out of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The rule.
    pub rule: String,
    /// What it does not count for; everything where there is none.
    pub patterns: Vec<Pattern>,
    /// Why.
    pub reason: String,
    /// The last day that it holds.
    pub until: Option<time::Date>,
    /// Where it is written: file, line and column.
    pub source: String,
}

/// Why an exception excepts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Its last day is past.
    Expired,
    /// Its rule is not asked.
    Disabled,
    /// There is no such rule.
    Unknown,
}

impl Exception {
    /// Whether its last day is past; where the day is not known, it is.
    pub fn is_past(&self, today: Option<time::Date>) -> bool {
        self.until.is_some_and(|until| today.is_none_or(|today| today > until))
    }
}

/// Which MCP servers are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those of these names.
    Names(Vec<CompactString>),
    /// It cannot be known, so none.
    Unknown,
}

impl Trust {
    /// The trusted names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names: &[CompactString] = match self {
            Trust::Names(names) => names,
            Trust::Unknown => &[],
        };
        names.iter().map(CompactString::as_str)
    }
}

/// Kilobytes of one text that are passed whole where nothing else is said: the client itself puts longer results aside.
const LONGEST_KB: u16 = 256;

impl Config {
    /// Folds layers into a policy, weakest first: scalars overwrite, lists append, `untrusted` subtracts.
    ///
    /// What no layer says has the cautious value, so an emptied file cannot loosen anything.
    pub fn fold(layers: impl IntoIterator<Item = Layer>, flaws: Vec<Failure>) -> Self {
        let mut config = Config {
            failure: Effect::Deny,
            results: Results::Notice,
            longest_kb: LONGEST_KB,
            trust: Trust::Unknown,
            block: Effect::Deny,
            suspicious: Effect::Ask,
            always_deny: Vec::new(),
            allow: Allow::Silent,
            executables: Vec::new(),
            secrets: Vec::new(),
            sensitive: Vec::new(),
            sensitive_own: Vec::new(),
            servers: Vec::new(),
            pins: PinPolicy::Required,
            receipts: Receipts::Mcp,
            exceptions: Vec::new(),
            rules: Vec::new(),
            disabled: Vec::new(),
            project: None,
            flaws,
        };
        let (mut trusted, mut untrusted) = (Vec::new(), Vec::new());
        for layer in layers {
            config.sensitive_own.extend(layer.own_sensitive());
            config.failure = layer.failure.unwrap_or(config.failure);
            config.results = layer.results.unwrap_or(config.results);
            config.longest_kb = layer.longest_kb.unwrap_or(config.longest_kb);
            trusted.extend(layer.trusted);
            untrusted.extend(layer.untrusted);
            config.block = layer.block.unwrap_or(config.block);
            config.suspicious = layer.suspicious.unwrap_or(config.suspicious);
            config.always_deny.extend(layer.always_deny);
            config.allow = layer.allow.unwrap_or(config.allow);
            config.executables.extend(layer.executables);
            config.secrets.extend(layer.secrets);
            config.sensitive.extend(layer.sensitive);
            config.register(layer.servers);
            config.pins = layer.pins.unwrap_or(config.pins);
            config.receipts = layer.receipts.unwrap_or(config.receipts);
            config.exceptions.extend(layer.exceptions);
            config.disabled.extend(layer.disabled);
        }
        if config.flaws.is_empty() {
            trusted.retain(|name| !untrusted.contains(name));
            config.trust = Trust::Names(trusted);
        }
        config
    }

    /// Servers of the same name are one server, with the tools of both.
    fn register(&mut self, servers: Vec<McpServer>) {
        for server in servers {
            match self.servers.iter_mut().find(|known| known.name == server.name) {
                Some(known) => match (&mut known.tools, server.tools) {
                    (Some(tools), Some(more)) => tools.extend(more),
                    (tools, _) => *tools = None,
                },
                None => self.servers.push(server),
            }
        }
    }

    /// Adds rules behind those that are there, but for the disabled ones.
    pub fn add_rules(&mut self, rules: Vec<Rule>) {
        let disabled = &self.disabled;
        // A project cannot be disarmed by a name that the operator has switched off.
        let kept = |rule: &Rule| rule.owner == Owner::Project || !disabled.iter().any(|id| id == rule.id.as_str());
        if self.rules.is_empty() {
            self.rules = rules;
            self.rules.retain(kept);
        } else {
            self.rules.reserve_exact(rules.len());
            self.rules.extend(rules.into_iter().filter(kept));
        }
    }

    /// The rules that are embedded in the binary, for calls of these kinds.
    pub fn with_default_rules(mut self, kinds: &[RuleKind]) -> Self {
        for kind in kinds {
            let (rules, errors) =
                rules::parse(kind.embedded(), &format!("{}.rules", kind.name()), *kind, Owner::Operator);
            self.flaws.extend(errors.iter().map(|error| Failure::Config(error.to_string())));
            self.add_rules(rules);
        }
        self
    }

    /// What a match of a rule does to the call.
    pub fn effect(&self, rule: &Rule) -> Effect {
        let effect = match rule.tier {
            Tier::Block => self.block,
            Tier::Suspicious => self.suspicious,
        };
        let always = rule.tier == Tier::Block && self.always_deny.iter().any(|id| id == rule.id.as_str());
        if always { Effect::Deny } else { effect }
    }

    /// Whether anything that another policy stops or marks would be treated more mildly, as far as its keys go.
    pub fn is_looser_than(&self, other: &Config) -> bool {
        let rank = |config: &Config| [config.block, config.suspicious, config.failure];
        let milder = rank(self).iter().zip(rank(other)).any(|(mine, theirs)| *mine < theirs);
        let denied =
            |config: &Config, id: &CompactString| config.block == Effect::Deny || config.always_deny.contains(id);
        let unpinned = self.pins != other.pins && (self.pins == PinPolicy::Off || other.pins == PinPolicy::Required);
        milder
            || unpinned
            || self.results < other.results
            || self.receipts < other.receipts
            || (self.allow == Allow::Explicit && other.allow != Allow::Explicit)
            || other.always_deny.iter().any(|id| !denied(self, id))
            || lacks(&self.secrets, &other.secrets)
            || lacks(&self.sensitive, &other.sensitive)
            || lacks(&self.sensitive_own, &other.sensitive_own)
            || lacks(&other.executables, &self.executables)
            || lacks(&other.disabled, &self.disabled)
            || lacks(&other.servers, &self.servers)
            || lacks(&other.exceptions, &self.exceptions)
            || self.trust.names().any(|name| !other.trust.names().any(|other| other == name))
    }

    /// The rules of another policy that this one lacks or takes less seriously.
    pub fn milder_rules<'a>(&self, other: &'a Config) -> Vec<&'a str> {
        let kept = |rule: &Rule| {
            let same = self.rules.iter().filter(|mine| mine.kind == rule.kind && mine.id == rule.id);
            same.map(|mine| self.effect(mine)).max() >= Some(other.effect(rule))
        };
        other.rules.iter().filter(|rule| !kept(rule)).map(|rule| rule.id.as_str()).collect()
    }

    /// Why an exception excepts nothing, where it does; all rules have to be there.
    pub fn idle(&self, exception: &Exception, today: time::Date) -> Option<Idle> {
        let is = |id: &str| id == exception.rule;
        if self.rules.iter().any(|rule| is(rule.id.as_str())) {
            return exception.is_past(Some(today)).then_some(Idle::Expired);
        }
        Some(if self.disabled.iter().any(|id| is(id)) { Idle::Disabled } else { Idle::Unknown })
    }

    /// Adds the names of the operator's allowlist: one a line, `#` starts a comment, with or without `mcp__`.
    pub fn allow(&mut self, list: &str) {
        if let Trust::Names(names) = &mut self.trust {
            let lines = list.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            names.extend(lines.map(layer::server_name).filter(|name| !name.is_empty()).map(CompactString::from));
        }
    }

    /// The policy where something that a judgement needs cannot be read: the failures count in every verdict, and
    /// nothing is trusted by name.
    #[must_use]
    pub fn with_failures(mut self, failures: Vec<Failure>) -> Config {
        if !failures.is_empty() {
            self.flaws.extend(failures);
            self.trust = Trust::Unknown;
        }
        self
    }
}

/// Whether something of `wanted` is not in `list`.
fn lacks<T: PartialEq>(list: &[T], wanted: &[T]) -> bool {
    wanted.iter().any(|item| !list.contains(item))
}

#[cfg(test)]
#[path = "../tests/unit/policy.rs"]
mod tests;
