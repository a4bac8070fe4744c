//! Builds policies and events, and calls `decide`.

use rune::client::Client as _;
use rune::client::claude::Claude;
use rune::event::{Event, Message};
use rune::policy::{Config, DEFAULT, Layer, PRESETS};
use rune::programs::Catalogue;
use rune::quarantined::{ContentSource, Origin, Quarantined};
use rune::rules::RuleKind;
use rune::verdict::Verdict;

/// The layers of the embedded configuration and a preset.
pub fn layers(preset: &str) -> Vec<Layer> {
    let preset = PRESETS.iter().find(|(name, _)| *name == preset).unwrap();
    [DEFAULT, *preset].map(|(name, text)| Layer::read(text, name).unwrap()).to_vec()
}

/// The shipped policy without its rules.
pub fn policy_without_rules(preset: &str) -> Config {
    Config::fold(layers(preset), vec![])
}

/// The shipped policy.
pub fn policy(preset: &str) -> Config {
    with_default_rules(policy_without_rules(preset))
}

/// The shipped policy with a further layer, as in `config.local.toml`.
pub fn policy_with(preset: &str, text: &str) -> Config {
    let layer = Layer::read(text, "config.local.toml").unwrap();
    with_default_rules(Config::fold(layers(preset).into_iter().chain([layer]), vec![]))
}

fn with_default_rules(config: Config) -> Config {
    config.with_default_rules(&RuleKind::all())
}

/// Bytes in a container, as the hook reads them from stdin.
pub fn quarantined(bytes: impl AsRef<[u8]>) -> Quarantined<Vec<u8>> {
    let origin = Origin::new(ContentSource::ToolOutput, "test", time::OffsetDateTime::UNIX_EPOCH);
    Quarantined::new(bytes.as_ref().to_vec(), origin)
}

/// The home and the project directory of an event.
#[derive(Clone, Copy, Default)]
pub struct Directories<'a> {
    pub home: Option<&'a str>,
    pub project: Option<&'a str>,
}

impl<'a> Directories<'a> {
    pub fn new(home: &'a str, project: &'a str) -> Self {
        Directories { home: Some(home), project: Some(project) }
    }

    /// Completes a message of a client.
    pub fn locate<'m>(self, message: Message<'m>) -> Event<'m> {
        message.into_event(self.home.map(str::to_owned), self.project.map(str::to_owned), &Catalogue::shipped())
    }
}

/// Parses an event of Claude Code, adds facts with `complete`, and judges it.
pub fn judge(
    event: impl AsRef<[u8]>,
    config: &Config,
    directories: Directories<'_>,
    complete: impl FnOnce(&mut Event<'_>),
) -> Verdict {
    let payload = quarantined(event);
    let mut event = directories.locate(Claude.parse(&payload).unwrap());
    complete(&mut event);
    rune::decide(&event, config)
}
