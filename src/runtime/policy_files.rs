//! Reads policy files and client settings from disk.

pub mod read;
pub mod programs;
mod rules;
mod texts;

pub use read::{is_missing, open, open_with, read_bytes, read_settings_text, read_text};
pub use rules::RuleSelection;
pub use texts::PolicyTexts;

use super::options::Options;
use super::pause;
use crate::runtime::environment::Environment;
use rune::client::settings::Scope;
use rune::encoding::nearest;
use rune::event::{Action, Event};
use rune::policy::{Config, DEFAULT, DEFAULT_PRESET, Layer, PRESETS, Pause};
use rune::rules::RuleKind;
use rune::verdict::failure::Failure;
use rustix::fs::lstat;
use std::path::{Path, PathBuf};

/// The directory of a project's policy, if it has one.
pub fn project_policy_dir(project: &Path) -> Option<PathBuf> {
    Some(project.join(".rune")).filter(|dir| lstat(dir).is_ok())
}

/// Reads the policy with the selected rules, and the project's policy from `project_policy`. It never fails: a file that
/// cannot be read adds a failure to the policy, which counts in every verdict.
pub fn config(
    options: &Options,
    environment: &Environment,
    selection: &RuleSelection,
    project_policy: Option<&Path>,
) -> Config {
    config_with_pause(options, environment, selection, project_policy, None)
}

/// The policy in force now: during a pause it is loosened. It serves to judge calls; the policy itself is that of [`config`].
pub fn config_now(
    options: &Options,
    environment: &Environment,
    selection: &RuleSelection,
    project_policy: Option<&Path>,
) -> Config {
    config_with_pause(options, environment, selection, project_policy, pause::read(environment))
}

fn config_with_pause(
    options: &Options,
    environment: &Environment,
    selection: &RuleSelection,
    project_policy: Option<&Path>,
    pause: Option<Pause>,
) -> Config {
    let dir = selection.texts.directory(environment);
    let (mut layers, failures) = layers(options, environment, dir, &selection.texts);
    layers.extend(pause.map(|_| Layer::of_pause()));
    let project = project_policy.map(|dir| (dir, layers.clone()));
    let mut config = Config { pause, ..Config::fold(layers, failures) };
    rules::add_operator_rules(&mut config, dir.map(|dir| dir.join("rules")).as_deref(), selection);
    config.project = project.map(|(dir, layers)| Box::new(with_project(&config, layers, dir, selection)));
    config
}

/// Reads the operator's policy without rules.
pub fn settings(options: &Options, environment: &Environment) -> Config {
    config(options, environment, &RuleSelection::all(&[]), None)
}

/// The policy that one event is judged by, and the files that it was read from.
pub struct LoadedPolicy {
    /// The policy, without content rules.
    pub config: Config,
    /// The directory of the project's policy, if it has one.
    pub project_policy: Option<PathBuf>,
    /// The policy files that were read.
    pub texts: PolicyTexts,
}

pub fn load(event: &Event<'_>, options: &Options, environment: &Environment) -> LoadedPolicy {
    load_with(event, environment, |selection, project| config_now(options, environment, selection, project))
}

/// Loads the policy that `policy` builds from the selected rules and the directory of the project's policy.
pub fn load_with(
    event: &Event<'_>,
    environment: &Environment,
    policy: impl FnOnce(&RuleSelection, Option<&Path>) -> Config,
) -> LoadedPolicy {
    let project_policy = environment.project_for(&event.place.cwd).as_deref().and_then(project_policy_dir);
    let selection = RuleSelection::of(event);
    let mut config = policy(&selection, project_policy.as_deref());
    if matches!(event.action, Action::Mcp { .. } | Action::Resource { .. })
        && let Err(what) = add_allowlist(&mut config, environment, &selection.texts)
    {
        config = config.with_failures(vec![Failure::Config(what)]);
    }
    LoadedPolicy { config, project_policy, texts: selection.texts }
}

/// Adds the content rules to the policy if the event has a result that they apply to.
pub fn with_content_rules(
    mut config: Config,
    event: &Event<'_>,
    environment: &Environment,
    project_policy: Option<&Path>,
) -> Config {
    if rune::decide::inspects_result(event, &config) {
        let rules_dir = |dir: &Path| dir.join("rules");
        let operator = environment.config_dir.as_deref().map(rules_dir);
        rules::add_content_rules(&mut config, operator.as_deref(), project_policy.map(rules_dir).as_deref());
    }
    config
}

/// The operator's policy with the project's policy in `dir` on top.
fn with_project(operator: &Config, layers: Vec<Layer>, dir: &Path, selection: &RuleSelection) -> Config {
    let broken = |line: usize| {
        Failure::Config(format!("the project's own policy cannot be read: .rune/config.toml, line {line}"))
    };
    let (layer, failure) = match selection.texts.text(&dir.join("config.toml"), None) {
        Ok(None) => (Layer::default(), None),
        Ok(Some(text)) => match Layer::read(&text, ".rune/config.toml") {
            Ok(layer) => (layer, None),
            Err(error) => (Layer::default(), Some(broken(error.line()))),
        },
        Err(_) => (Layer::default(), Some(broken(1))),
    };
    let preset = PRESETS.iter().find(|(name, _)| Some(*name) == layer.preset.as_deref());
    let preset = preset.and_then(|(name, _)| Layer::embedded(name));
    let failures = operator.failures.iter().cloned().chain(failure).collect();
    let mut config = Config::fold(layers.into_iter().chain(preset).chain([layer]), failures);
    config.add_rules(operator.rules.clone());
    rules::add_project_rules(&mut config, &dir.join("rules"), selection);
    config
}

/// Reads the layers of the operator's policy from `dir`, weakest first, and what is wrong with them.
fn layers(
    options: &Options,
    environment: &Environment,
    dir: Option<&Path>,
    texts: &PolicyTexts,
) -> (Vec<Layer>, Vec<Failure>) {
    let mut failures = options.failures.clone();
    if environment.config_dir.is_none() {
        let help = "help: set it, or name the directory with `--config-dir`";
        failures.push(Failure::Config(format!("HOME is not an absolute directory\n  {help}")));
    }
    // The preset of a file with an error still counts.
    let mut layer = |name: &str, embedded: &'static str| {
        read_layer(&dir?.join(name), embedded, texts).unwrap_or_else(|(preset, what)| {
            failures.push(Failure::Config(what));
            Some(Layer::with_preset(preset))
        })
    };
    let main = layer(DEFAULT.0, DEFAULT.1).unwrap_or_default();
    let local = layer("config.local.toml", "").unwrap_or_default();
    let preset = options.preset.as_ref().or(local.preset.as_ref()).or(main.preset.as_ref());
    let preset = preset.map_or(DEFAULT_PRESET, String::as_str).to_owned();
    texts.preset.set(preset.clone()).ok();
    let embedded = PRESETS.iter().find(|(name, _)| *name == preset).map(|(_, text)| *text);
    let file = format!("presets/{preset}.toml");
    let tuned = if is_plain_name(&preset) { layer(&file, embedded.unwrap_or_default()) } else { None };
    if embedded.is_none() && tuned.is_none() {
        let known = PRESETS.map(|(name, _)| name).join(", ");
        let help = format!("help: there are {known}, and the files in presets/ beside your config.toml");
        failures.push(Failure::Config(format!("unknown preset `{preset}`\n  {help}")));
    }
    let tuned = tuned.unwrap_or_default();
    if tuned.preset.is_some() {
        failures.push(Failure::Config(format!("{file}: a preset cannot name a preset")));
    }
    let embedded = [DEFAULT.0, &preset].map(|name| Layer::embedded(name).unwrap_or_default());
    (embedded.into_iter().chain([tuned, main, local]).collect(), failures)
}

/// The embedded policy under an embedded preset.
pub fn shipped(preset: &str, kinds: &[RuleKind]) -> Option<Config> {
    let layers = [Layer::embedded(DEFAULT.0)?, Layer::embedded(preset)?];
    Some(Config::fold(layers, Vec::new()).with_default_rules(kinds))
}

/// The preset that the operator's files name.
pub fn preset(environment: &Environment) -> Option<String> {
    let dir = environment.config_dir.as_ref()?;
    // The preset of a file with an error still counts.
    let named = |(name, embedded)| match read_layer(&dir.join(name), embedded, &PolicyTexts::default()) {
        Ok(layer) => layer?.preset,
        Err((preset, _)) => preset,
    };
    named(("config.local.toml", "")).or_else(|| named(DEFAULT))
}

/// Remarks about the operator's files that are not errors.
pub fn notes(options: &Options, environment: &Environment) -> Vec<String> {
    layers(options, environment, environment.config_dir.as_deref(), &PolicyTexts::default())
        .0
        .into_iter()
        .flat_map(|layer| layer.notes)
        .collect()
}

/// Names in the operator's files that no rule has: each with its file, line and column, and the nearest rule name.
pub fn unknown_rules(options: &Options, environment: &Environment) -> Vec<(String, String, Option<String>)> {
    let Some(dir) = &environment.config_dir else { return Vec::new() };
    let config = Config::fold(layers(options, environment, Some(dir), &PolicyTexts::default()).0, Vec::new());
    let known = rules::all_rule_names(Some(&dir.join("rules")));
    let preset = options.preset.clone().or_else(|| preset(environment)).unwrap_or_else(|| DEFAULT_PRESET.to_owned());
    let files = ["config.local.toml", DEFAULT.0, &format!("presets/{preset}.toml")].map(|name| dir.join(name));
    let mut unknown: Vec<String> =
        config.disabled.into_iter().chain(config.always_deny).chain(config.always_ask).map(Into::into).collect();
    unknown.retain(|name| !known.contains(name));
    let locate = |name: String| {
        let position = files.iter().find_map(|file| position_of(&name, file))?;
        let near = nearest(&name, known.iter().map(String::as_str)).map(str::to_owned);
        Some((name, position, near))
    };
    unknown.into_iter().filter_map(locate).collect()
}

/// The file, line and column of a name in quotes.
fn position_of(name: &str, file: &Path) -> Option<String> {
    let text = read_text(file).ok()??;
    let column = |line: &str| ['"', '\''].iter().find_map(|quote| line.find(&format!("{quote}{name}{quote}")));
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
    let (line, column) = lines.into_iter().find_map(|(nth, line)| Some((nth + 1, column(line)? + 1)))?;
    Some(format!("{}:{line}:{column}", file.display()))
}

/// The embedded preset alone, for when reading the policy may be what hangs.
pub fn embedded_preset(options: &Options) -> Config {
    Config::fold(Layer::embedded(options.preset.as_deref().unwrap_or(DEFAULT_PRESET)), Vec::new())
}

/// Reads one policy file; `None` if it does not exist. The error carries the preset that the file names, and a message.
fn read_layer(
    path: &Path,
    embedded: &'static str,
    texts: &PolicyTexts,
) -> Result<Option<Layer>, (Option<String>, String)> {
    match texts.text(path, Some(embedded)).map_err(|what| (None, what))? {
        None => Ok(None),
        // A copy of the embedded file adds nothing to it, and neither do comments.
        Some(text) if text == embedded || has_only_comments(&text) => Ok(Some(Layer::default())),
        Some(text) => Layer::read(&text, &path.display().to_string())
            .map(Some)
            .map_err(|error| (error.preset.clone(), error.to_string())),
    }
}

fn has_only_comments(text: &str) -> bool {
    text.lines().all(|line| line.is_empty() || line.starts_with('#'))
}

/// Adds the servers of the operator's allowlist.
pub fn add_allowlist(config: &mut Config, environment: &Environment, texts: &PolicyTexts) -> Result<(), String> {
    if let Some(list) = allowlist_path(environment).map_or(Ok(None), |path| texts.text(&path, None))? {
        config.trust_servers(&list);
    }
    Ok(())
}

/// The path of the operator's allowlist of servers.
pub fn allowlist_path(environment: &Environment) -> Option<PathBuf> {
    environment.client_dir.as_ref().map(|dir| dir.join("quarantine.d/trusted-mcp-allowlist.txt"))
}

/// The names of the servers that the projects' files name and the client may have read.
pub fn project_servers(environment: &Environment, cwd: &str) -> Result<Vec<String>, String> {
    let mut servers = Vec::new();
    let user = environment.user_server_file();
    for dir in environment.project_dirs(cwd) {
        let path = dir.join(environment.client.locations().project_servers);
        // In the home directory, the file of a project may be that of the user.
        if user.as_ref() == Some(&path) {
            continue;
        }
        let Some(text) = read_text(&path)? else { continue };
        let file = environment.client.servers(&text, &[]);
        if let Some(error) = file.errors.first() {
            return Err(error.describe(&path));
        }
        servers.extend(file.all.into_iter().map(|server| server.name));
    }
    Ok(servers)
}

/// Whether the project's settings set `QUARANTINE_DISABLE`. Settings that cannot be read count as if they did.
pub fn project_disables_quarantine(environment: &Environment, cwd: &str) -> bool {
    let client = environment.client;
    // A client directory from the environment may have been set by the project.
    let given = environment.client_dir.clone().filter(|_| environment.client_dir_given);
    let operator = [given, environment.home.as_ref().map(|home| home.join(client.locations().default_dir))];
    let files = environment.project_dirs(cwd).into_iter().flat_map(|dir| {
        let dirs = environment.settings_dirs(&dir);
        [Scope::Project, Scope::Local].map(|scope| client.settings_file(scope, &dirs))
    });
    let is_operators = |file: &PathBuf| operator.iter().flatten().any(|dir| file.parent() == Some(dir));
    files.flatten().filter(|file| !is_operators(file)).any(|file| match read_text(&file) {
        Ok(text) => text.is_some_and(|text| client.may_set_variable(&text, "QUARANTINE_DISABLE")),
        Err(_) => true,
    })
}

/// Whether a name has letters, digits and `-` only, so that it cannot lead out of a directory.
pub fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
