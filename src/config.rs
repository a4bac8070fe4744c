//! The policy: layers of TOML as written, and the one policy that they mean.

mod raw;

pub use raw::{Layer, LayerError, nearest};

use crate::failure::Failure;
use crate::verdict::Effect;

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
    /// Which MCP servers are trusted.
    pub trust: Trust,
    /// What could not be read of the policy. It takes part in every verdict.
    pub flaws: Vec<Failure>,
}

/// What happens to a result from an untrusted surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    /// A notice is put beside it.
    Notice,
    /// Nothing.
    Silent,
}

/// Which MCP servers are trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Those of these names.
    Names(Vec<String>),
    /// It cannot be known, so none.
    Unknown,
}

impl Trust {
    /// The trusted names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names: &[String] = match self {
            Trust::Names(names) => names,
            Trust::Unknown => &[],
        };
        names.iter().map(String::as_str)
    }
}

impl Config {
    /// Folds layers into a policy, weakest first: scalars overwrite, lists append, `untrusted` subtracts.
    ///
    /// What no layer says has the cautious value, so an emptied file cannot loosen anything.
    pub fn fold(layers: impl IntoIterator<Item = Layer>, flaws: Vec<Failure>) -> Self {
        let mut config = Config { failure: Effect::Deny, results: Results::Notice, trust: Trust::Unknown, flaws };
        let (mut trusted, mut untrusted) = (Vec::new(), Vec::new());
        for layer in layers {
            config.failure = layer.failure.unwrap_or(config.failure);
            config.results = layer.results.unwrap_or(config.results);
            trusted.extend(layer.trusted);
            untrusted.extend(layer.untrusted);
        }
        if config.flaws.is_empty() {
            trusted.retain(|name| !untrusted.contains(name));
            config.trust = Trust::Names(trusted);
        }
        config
    }

    /// Adds the names of the operator's allowlist: one a line, `#` starts a comment, with or without `mcp__`.
    pub fn allow(&mut self, list: &str) {
        if let Trust::Names(names) = &mut self.trust {
            let lines = list.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
            names.extend(lines.map(raw::server_name).filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }

    /// Notes that part of the policy cannot be read: it counts in every verdict, and nothing is trusted by name.
    pub fn distrust(&mut self, flaw: Failure) {
        self.flaws.push(flaw);
        self.trust = Trust::Unknown;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(text: &str) -> Layer {
        Layer::read(text, "test.toml").unwrap()
    }

    #[test]
    fn every_embedded_text_is_a_layer() {
        for (name, text) in PRESETS.iter().chain([&DEFAULT]) {
            Layer::read(text, name).unwrap();
        }
    }

    #[test]
    fn scalars_overwrite_and_lists_append_and_subtract() {
        let config = Config::fold(
            [
                layer("[decision]\nfailure = 'deny'\n[quarantine]\ntrusted = ['a', 'b']"),
                layer("[decision]\nfailure = 'ask'\n[quarantine]\ntrusted = ['c']\nuntrusted = ['a']"),
            ],
            vec![],
        );
        assert_eq!(config.failure, Effect::Ask);
        assert_eq!(config.trust, Trust::Names(vec!["b".into(), "c".into()]));
    }

    #[test]
    fn what_nobody_says_is_cautious() {
        let config = Config::fold([layer("")], vec![]);
        assert_eq!((config.failure, config.results), (Effect::Deny, Results::Notice));
    }

    #[test]
    fn the_allowlist_takes_names_with_and_without_the_prefix() {
        let mut config = Config::fold([layer("")], vec![]);
        config.allow("# mine\nmcp__acme\n  desk  # support\n\n");
        assert_eq!(config.trust, Trust::Names(vec!["acme".into(), "desk".into()]));
    }

    #[test]
    fn a_flaw_ends_trust_by_name() {
        let mut config = Config::fold([layer("[quarantine]\ntrusted = ['a']")], vec![]);
        config.distrust(Failure::Config("x".into()));
        config.allow("b");
        assert_eq!(config.trust, Trust::Unknown);
        let config = Config::fold([layer("[quarantine]\ntrusted = ['a']")], vec![Failure::Bug]);
        assert_eq!(config.trust, Trust::Unknown);
    }
}
