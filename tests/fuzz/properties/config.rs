//! Properties of policy files, shared by the fuzzer and the test of its stored inputs.

use rune::policy::{Config, Layer};
use rune::verdict::Effect;
use rune::verdict::failure::Failure;

/// Panics if a property does not hold for a policy file with this text.
pub fn check(text: &str) {
    let base = || ["config.toml", "strict"].map(|name| Layer::embedded(name).unwrap()).into_iter();
    let strict = Config::fold(base(), Vec::new());
    match Layer::read(text, "f.toml") {
        Ok(layer) => {
            let config = Config::fold(base().chain([layer]), Vec::new());
            // Lists only grow, and a failure never passes.
            assert!(config.failure >= Effect::Ask);
            assert!(strict.sensitive.iter().all(|place| config.sensitive.contains(place)));
            assert!(strict.secrets.iter().all(|name| config.secrets.contains(name)));
            assert!(strict.always_deny.iter().all(|rule| config.always_deny.contains(rule)));
        }
        Err(error) => {
            let lines = text.split('\n').count();
            assert!((1..=lines).contains(&error.line()), "{error}");
            assert!(error.to_string().starts_with("f.toml:"), "{error}");
            let config = Config::fold(base(), vec![Failure::Config(error.to_string())]);
            assert!(config.trust.names().next().is_none(), "an invalid policy trusts no server");
        }
    }
}
