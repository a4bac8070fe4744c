//! The policy: layers of TOML, and the configuration that they fold into.

mod layer;
mod merge;
mod no_exception;
mod pause;
pub mod update;

pub use layer::{Layer, LayerError};
pub use no_exception::NoException;
pub use pause::Pause;

use crate::mcp::PinPolicy;
use crate::rules::{self, Owner, Pattern, Rule, RuleKind, Tier};
use crate::verdict::Effect;
use crate::verdict::failure::Failure;
use compact_str::CompactString;
use serde::Deserialize;

/// The embedded default layer: `(file name, text)`.
pub const DEFAULT: (&str, &str) = ("config.toml", include_str!("../config/config.toml"));

/// The embedded presets: `(name, text)`.
pub const PRESETS: [(&str, &str); 3] = [
    ("gentle", include_str!("../presets/gentle.toml")),
    ("strict", include_str!("../presets/strict.toml")),
    ("off", include_str!("../presets/off.toml")),
];

/// The preset of a policy that names none.
pub const DEFAULT_PRESET: &str = "gentle";

/// The policy in force for one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The effect of a failure before a call.
    pub failure: Effect,
    /// How results from untrusted surfaces are marked.
    pub results: Results,
    /// The size up to which a wrapped text is passed on in full.
    pub longest_kb: u16,
    /// The trusted MCP servers.
    pub trust: Trust,
    /// Hosts whose content does not taint a session.
    pub own_hosts: Vec<CompactString>,
    /// The effect of a rule of tier `block`.
    pub block: Effect,
    /// The effect of a rule of tier `suspicious`.
    pub suspicious: Effect,
    /// Rules of tier `block` that deny, whatever the effect of the tier.
    pub always_deny: Vec<CompactString>,
    /// Rules of tier `suspicious` that ask, whatever the effect of the tier.
    pub always_ask: Vec<CompactString>,
    /// The answer if there are no findings.
    pub allow: Allow,
    /// Programs that the rules know besides the built-in list.
    pub executables: Vec<CompactString>,
    /// Environment variables that hold secrets.
    pub secrets: Vec<CompactString>,
    /// Files and directories that hold secrets.
    pub sensitive: Vec<CompactString>,
    /// The sensitive paths that are not in the embedded list. Built-in exemptions do not apply to them.
    pub operator_sensitive: Vec<CompactString>,
    /// Directories outside of the project that are worked in like the project.
    pub work: Vec<CompactString>,
    /// Registered MCP servers.
    pub servers: Vec<McpServer>,
    /// Whether MCP tools must be pinned.
    pub pins: PinPolicy,
    /// Whether the MCP servers that the user has configured for all projects are known.
    pub knows_user_servers: bool,
    /// The decisions for which a receipt is written.
    pub receipts: Receipts,
    /// Exceptions from rules.
    pub exceptions: Vec<Exception>,
    /// The rules, in the order of their files.
    pub rules: Vec<Rule>,
    /// Ids of disabled rules.
    pub disabled: Vec<CompactString>,
    /// The same policy with the layer of the project on top. It can only tighten the verdict.
    pub project: Option<Box<Config>>,
    /// Failures to read the policy. They are findings of every verdict.
    pub failures: Vec<Failure>,
    /// The pause that loosens the policy.
    pub pause: Option<Pause>,
}

/// How results from untrusted surfaces are marked, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Results {
    /// Not at all.
    Silent,
    /// By a notice to the model.
    Notice,
    /// By a notice, and by wrapping their texts between marks with a nonce.
    Wrap,
}

/// The answer to a call without findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Allow {
    /// None: the permissions of the client apply.
    Silent,
    /// An explicit permission, so that the client does not ask the user.
    Explicit,
}

/// The decisions about MCP tools for which a receipt is written, fewest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Receipts {
    /// None.
    Off,
    /// Those that ask or deny.
    Denials,
    /// All.
    Mcp,
}

impl Receipts {
    /// Whether a receipt is written for a decision with this effect.
    pub fn includes(self, effect: Effect) -> bool {
        match self {
            Receipts::Off => false,
            Receipts::Denials => effect >= Effect::Ask,
            Receipts::Mcp => true,
        }
    }
}

/// A registered MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServer {
    /// The exact name.
    pub name: String,
    /// The tools that may be called; `None` for all.
    pub tools: Option<Vec<String>>,
}

/// An exception from a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// The id of the rule.
    pub rule: String,
    /// The subjects that are excepted; empty for all.
    pub patterns: Vec<Pattern>,
    /// Why the operator made it.
    pub reason: String,
    /// The last day on which it applies.
    pub until: Option<time::Date>,
    /// By what the log and `rune allow` name it.
    pub id: Option<String>,
    /// Where it is written: file, line and column.
    pub source: String,
}

/// Why an exception has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaleReason {
    /// Its last day is past.
    Expired,
    /// Its rule is disabled.
    RuleDisabled,
    /// No rule has this id.
    RuleUnknown,
}

impl Exception {
    /// Whether its last day is past. If the current day is not known, an exception with a last day has expired.
    pub fn is_expired(&self, today: Option<time::Date>) -> bool {
        self.until.is_some_and(|until| today.is_none_or(|today| today > until))
    }
}

/// The trusted MCP servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The servers with these names.
    Names(Vec<CompactString>),
    /// None, because the policy could not be read completely.
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

/// The default of `longest_kb`. Claude Code itself moves longer results to files.
const DEFAULT_LONGEST_KB: u16 = 256;

impl Config {
    /// Folds layers, lowest precedence first: scalars overwrite, lists append, `untrusted` subtracts from `trusted`.
    ///
    /// A key that no layer sets has its strictest value, so that an emptied file does not loosen the policy.
    pub fn fold(layers: impl IntoIterator<Item = Layer>, failures: Vec<Failure>) -> Self {
        let mut config = Config {
            failure: Effect::Deny,
            results: Results::Notice,
            longest_kb: DEFAULT_LONGEST_KB,
            trust: Trust::Unknown,
            own_hosts: Vec::new(),
            block: Effect::Deny,
            suspicious: Effect::Ask,
            always_deny: Vec::new(),
            always_ask: Vec::new(),
            allow: Allow::Silent,
            executables: Vec::new(),
            secrets: Vec::new(),
            sensitive: Vec::new(),
            operator_sensitive: Vec::new(),
            work: Vec::new(),
            servers: Vec::new(),
            pins: PinPolicy::Required,
            knows_user_servers: false,
            receipts: Receipts::Mcp,
            exceptions: Vec::new(),
            rules: Vec::new(),
            disabled: Vec::new(),
            project: None,
            failures,
            pause: None,
        };
        let (mut trusted, mut untrusted) = (Vec::new(), Vec::new());
        for layer in layers {
            config.operator_sensitive.extend(layer.operator_sensitive());
            config.failure = layer.failure.unwrap_or(config.failure);
            config.results = layer.results.unwrap_or(config.results);
            config.longest_kb = layer.longest_kb.unwrap_or(config.longest_kb);
            trusted.extend(layer.trusted);
            untrusted.extend(layer.untrusted);
            config.own_hosts.extend(layer.own_hosts);
            config.block = layer.block.unwrap_or(config.block);
            config.suspicious = layer.suspicious.unwrap_or(config.suspicious);
            config.always_deny.extend(layer.always_deny);
            config.always_ask.extend(layer.always_ask);
            config.allow = layer.allow.unwrap_or(config.allow);
            config.executables.extend(layer.executables);
            config.secrets.extend(layer.secrets);
            config.sensitive.extend(layer.sensitive);
            config.work.extend(layer.work);
            config.register_servers(layer.servers);
            config.pins = layer.pins.unwrap_or(config.pins);
            config.receipts = layer.receipts.unwrap_or(config.receipts);
            config.knows_user_servers = layer.knows_user_servers.unwrap_or(config.knows_user_servers);
            config.exceptions.extend(layer.exceptions);
            config.disabled.extend(layer.disabled);
        }
        if config.failures.is_empty() {
            trusted.retain(|name| !untrusted.contains(name));
            config.trust = Trust::Names(trusted);
        }
        config
    }

    /// Adds servers. Those with the same name are merged into one with the tools of both.
    fn register_servers(&mut self, servers: Vec<McpServer>) {
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

    /// Appends rules, except for the disabled ones.
    pub fn add_rules(&mut self, mut rules: Vec<Rule>) {
        let disabled = &self.disabled;
        // `disabled` names rules of the operator; a project may use the same name for its own.
        let kept = |rule: &Rule| rule.owner == Owner::Project || !disabled.iter().any(|id| id == rule.id.as_str());
        rules.retain(kept);
        if self.rules.is_empty() {
            self.rules = rules;
        } else {
            self.rules.append(&mut rules);
        }
    }

    /// Appends the embedded rules of these kinds.
    pub fn with_default_rules(mut self, kinds: &[RuleKind]) -> Self {
        for kind in kinds {
            let (rules, errors) =
                rules::parse(kind.embedded(), &format!("{}.rules", kind.name()), *kind, Owner::Operator);
            self.failures.extend(errors.iter().map(|error| Failure::Config(error.to_string())));
            self.add_rules(rules);
        }
        self
    }

    /// The effect of a rule that matches.
    pub fn effect(&self, rule: &Rule) -> Effect {
        let effect = match rule.tier {
            Tier::Block => self.block,
            Tier::Suspicious => self.suspicious,
        };
        let rule_id = rule.id.as_str();
        let listed = |ids: &[CompactString]| ids.iter().any(|id| id.as_str() == rule_id);
        match rule.tier {
            Tier::Block if listed(&self.always_deny) => Effect::Deny,
            Tier::Suspicious if effect > Effect::Pass && listed(&self.always_ask) => effect.max(Effect::Ask),
            Tier::Block | Tier::Suspicious => effect,
        }
    }

    /// Whether the guard protects itself: under a policy that lets everything pass it does so only during a pause.
    pub fn guards_itself(&self) -> bool {
        self.block > Effect::Pass || self.pause.is_some()
    }

    /// Whether a key of this policy is looser than in the other one. Rules are not compared.
    pub fn is_looser_than(&self, other: &Config) -> bool {
        let rank = |config: &Config| [config.block, config.suspicious, config.failure];
        let milder = rank(self).iter().zip(rank(other)).any(|(one, other)| *one < other);
        let denied =
            |config: &Config, id: &CompactString| config.block == Effect::Deny || config.always_deny.contains(id);
        let unpinned = self.pins != other.pins && (self.pins == PinPolicy::Off || other.pins == PinPolicy::Required);
        milder
            || unpinned
            || self.results < other.results
            || self.receipts < other.receipts
            || self.knows_user_servers && !other.knows_user_servers
            || (self.allow == Allow::Explicit && other.allow != Allow::Explicit)
            || other.always_deny.iter().any(|id| !denied(self, id))
            || self.suspicious < Effect::Ask && lacks(&self.always_ask, &other.always_ask)
            || lacks(&other.work, &self.work)
            || lacks(&other.own_hosts, &self.own_hosts)
            || lacks(&self.secrets, &other.secrets)
            || lacks(&self.sensitive, &other.sensitive)
            || lacks(&self.operator_sensitive, &other.operator_sensitive)
            || lacks(&other.executables, &self.executables)
            || lacks(&other.disabled, &self.disabled)
            || lacks(&other.servers, &self.servers)
            || lacks(&other.exceptions, &self.exceptions)
            || self.trust.names().any(|name| !other.trust.names().any(|other| other == name))
    }

    /// The ids of the rules of the other policy that this one lacks or has with a weaker effect.
    pub fn weakened_rules<'a>(&self, other: &'a Config) -> Vec<&'a str> {
        let kept = |rule: &Rule| {
            let same = self.rules.iter().filter(|own| own.kind == rule.kind && own.id == rule.id);
            same.map(|own| self.effect(own)).max() >= Some(other.effect(rule))
        };
        other.rules.iter().filter(|rule| !kept(rule)).map(|rule| rule.id.as_str()).collect()
    }

    /// Returns why an exception has no effect, if it has none. The rules of all kinds must be loaded.
    pub fn stale_reason(&self, exception: &Exception, today: time::Date) -> Option<StaleReason> {
        let is = |id: &str| id == exception.rule;
        if self.rules.iter().any(|rule| is(rule.id.as_str())) {
            return exception.is_expired(Some(today)).then_some(StaleReason::Expired);
        }
        Some(if self.disabled.iter().any(|id| is(id)) { StaleReason::RuleDisabled } else { StaleReason::RuleUnknown })
    }

    /// Trusts the servers of the operator's allow-list: one name per line, with or without `mcp__`; `#` starts a comment.
    pub fn trust_servers(&mut self, list: &str) {
        if let Trust::Names(names) = &mut self.trust {
            let lines = list.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            names.extend(lines.map(layer::server_name).filter(|name| !name.is_empty()).map(CompactString::from));
        }
    }

    /// Adds failures to the policy. If there are any, no server is trusted.
    #[must_use]
    pub fn with_failures(mut self, failures: Vec<Failure>) -> Config {
        if !failures.is_empty() {
            self.failures.extend(failures);
            self.trust = Trust::Unknown;
        }
        self
    }
}

/// Whether an item of `wanted` is not in `list`.
fn lacks<T: PartialEq>(list: &[T], wanted: &[T]) -> bool {
    wanted.iter().any(|item| !list.contains(item))
}

#[cfg(test)]
#[path = "../tests/unit/policy.rs"]
mod tests;
