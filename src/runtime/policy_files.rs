//! Loading: the policy and the facts, from disk, for one event.

mod memory;
mod rules;

pub use memory::PolicyTexts;
pub use rules::RuleSelection;

use super::options::Options;
use crate::runtime::environment::Environment;
use rune::client::settings::Scope;
use rune::encoding::nearest;
use rune::event::{Action, Event};
use rune::policy::{Config, DEFAULT, DEFAULT_PRESET, Layer, PRESETS, Receipts};
use rune::rules::RuleKind;
use rune::verdict::Effect;
use rune::verdict::failure::Failure;
use rustix::buffer::spare_capacity;
use rustix::fs::{OFlags, lstat};
use rustix::io::{Errno, read, retry_on_intr};
use std::borrow::Cow;
use std::fs::File;
use std::io::{Error, ErrorKind, Read};
use std::mem::MaybeUninit;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// A policy file beyond this is not one.
const LARGEST_FILE: u64 = 1 << 20;

/// A settings file beyond this is not one.
const LARGEST_SETTINGS: u64 = 64 << 20;

/// The project's own policy, where it has one.
pub fn policy_of(project: &Path) -> Option<PathBuf> {
    Some(project.join(".rune")).filter(|own| lstat(own).is_ok())
}

/// The policy in force, with the rules that are wanted and a project's own on top. It never fails: what cannot be read
/// is a flaw of the policy and counts in every verdict.
pub fn config(options: &Options, environment: &Environment, wanted: &RuleSelection, own: Option<&Path>) -> Config {
    let there = wanted.memory.directory(environment);
    let (layers, flaws) = layers(options, environment, there, &wanted.memory);
    let directory = there.map(|directory| directory.join("rules"));
    let own = own.map(|own| (own, layers.clone()));
    let mut config = Config::fold(layers, flaws);
    rules::of_operator(&mut config, directory.as_deref(), wanted);
    config.project = own.map(|(own, layers)| Box::new(with_project(&config, layers, own, wanted)));
    config
}

/// The policy that one event is judged by, and the files that it was read from.
pub struct LoadedPolicy {
    /// The policy, without content rules.
    pub config: Config,
    /// The directory of the project's own policy, where it has one.
    pub own: Option<PathBuf>,
    /// The texts of the files.
    pub memory: PolicyTexts,
}

/// Loads the policy for an event.
pub fn load(event: &Event<'_>, options: &Options, environment: &Environment) -> LoadedPolicy {
    load_by(event, environment, |wanted, own| config(options, environment, wanted, own))
}

/// Loads another policy than the one in force for an event. `policy` gets the rules that the event needs, and the
/// directory of the project's own policy.
pub fn load_by(
    event: &Event<'_>,
    environment: &Environment,
    policy: impl FnOnce(&RuleSelection, Option<&Path>) -> Config,
) -> LoadedPolicy {
    let own = environment.project_of(&event.place.cwd).as_deref().and_then(policy_of);
    let wanted = RuleSelection::of(event);
    let mut config = policy(&wanted, own.as_deref());
    if matches!(event.action, Action::Mcp { .. } | Action::Resource { .. })
        && let Err(what) = allowlist(&mut config, environment, &wanted.memory)
    {
        config = config.with_failures(vec![Failure::Config(what)]);
    }
    LoadedPolicy { config, own, memory: wanted.memory }
}

/// The policy with the content rules, where the event has a result that they are about.
pub fn with_content_rules(
    mut config: Config,
    event: &Event<'_>,
    environment: &Environment,
    own: Option<&Path>,
) -> Config {
    if rune::decide::is_looked_at(event, &config) {
        let directory = environment.config_dir.as_deref().map(|directory| directory.join("rules"));
        rules::about_content(&mut config, directory.as_deref(), own.map(|own| own.join("rules")).as_deref());
    }
    config
}

/// The same policy with the project's own on top.
fn with_project(operator: &Config, layers: Vec<Layer>, own: &Path, wanted: &RuleSelection) -> Config {
    let broken = |line: usize| {
        Failure::Config(format!("the project's own policy cannot be read: .rune/config.toml, line {line}"))
    };
    let (layer, flaw) = match wanted.memory.text(&own.join("config.toml"), None) {
        Ok(None) => (Layer::default(), None),
        Ok(Some(text)) => match Layer::read(&text, ".rune/config.toml") {
            Ok(layer) => (layer, None),
            Err(error) => (Layer::default(), Some(broken(error.line()))),
        },
        Err(_) => (Layer::default(), Some(broken(1))),
    };
    let preset = PRESETS.iter().find(|(name, _)| Some(*name) == layer.preset.as_deref());
    let preset = preset.and_then(|(name, _)| Layer::embedded(name));
    let flaws = operator.flaws.iter().cloned().chain(flaw).collect();
    let mut config = Config::fold(layers.into_iter().chain(preset).chain([layer]), flaws);
    config.add_rules(operator.rules.clone());
    rules::of_project(&mut config, &own.join("rules"), wanted);
    config
}

/// The layers of the operator's policy, of which the files are `there`, weakest first, and what is wrong with them.
fn layers(
    options: &Options,
    environment: &Environment,
    there: Option<&Path>,
    memory: &PolicyTexts,
) -> (Vec<Layer>, Vec<Failure>) {
    let mut flaws = options.flaws.clone();
    if environment.config_dir.is_none() {
        let help = "help: set it, or name the directory with `--config-dir`";
        flaws.push(Failure::Config(format!("HOME is not an absolute directory\n  {help}")));
    }
    // A file with an error still is a file, and still names its preset.
    let mut layer = |name: &str, embedded: &'static str| {
        let dir = there?;
        read_layer(&dir.join(name), embedded, memory).unwrap_or_else(|(preset, what)| {
            flaws.push(Failure::Config(what));
            Some(Layer::naming(preset))
        })
    };
    let main = layer(DEFAULT.0, DEFAULT.1).unwrap_or_default();
    let local = layer("config.local.toml", "").unwrap_or_default();
    let preset = options.preset.as_ref().or(local.preset.as_ref()).or(main.preset.as_ref());
    let preset = preset.map_or(DEFAULT_PRESET, String::as_str).to_owned();
    memory.preset.set(preset.clone()).ok();
    let embedded = PRESETS.iter().find(|(name, _)| *name == preset).map(|(_, text)| *text);
    let file = format!("presets/{preset}.toml");
    let tuned = if is_plain(&preset) { layer(&file, embedded.unwrap_or_default()) } else { None };
    if embedded.is_none() && tuned.is_none() {
        let known = PRESETS.map(|(name, _)| name).join(", ");
        let help = format!("help: there are {known}, and the files in presets/ beside your config.toml");
        flaws.push(Failure::Config(format!("unknown preset `{preset}`\n  {help}")));
    }
    let tuned = tuned.unwrap_or_default();
    if tuned.preset.is_some() {
        flaws.push(Failure::Config(format!("{file}: a preset cannot name a preset")));
    }
    let embedded = [DEFAULT.0, &preset].map(|name| Layer::embedded(name).unwrap_or_default());
    (embedded.into_iter().chain([tuned, main, local]).collect(), flaws)
}

/// The policy that ships with the binary, under a preset that does.
pub fn shipped(preset: &str, kinds: &[RuleKind]) -> Option<Config> {
    let layers = [Layer::embedded(DEFAULT.0)?, Layer::embedded(preset)?];
    Some(Config::fold(layers, Vec::new()).with_default_rules(kinds))
}

/// The preset that the policy's own files name.
pub fn preset(environment: &Environment) -> Option<String> {
    let dir = environment.config_dir.as_ref()?;
    // A file with an error still names its preset.
    let named = |(name, embedded)| match read_layer(&dir.join(name), embedded, &PolicyTexts::default()) {
        Ok(layer) => layer?.preset,
        Err((preset, _)) => preset,
    };
    named(("config.local.toml", "")).or_else(|| named(DEFAULT))
}

/// What the operator may want to know of the policy's files, though nothing is wrong with them.
pub fn notes(options: &Options, environment: &Environment) -> Vec<String> {
    layers(options, environment, environment.config_dir.as_deref(), &PolicyTexts::default())
        .0
        .into_iter()
        .flat_map(|layer| layer.notes)
        .collect()
}

/// Names of rules in the policy's files that are no rules: the name, its file, line and column, and a near one.
pub fn unknown_rules(options: &Options, environment: &Environment) -> Vec<(String, String, Option<String>)> {
    let Some(dir) = &environment.config_dir else { return Vec::new() };
    let config = Config::fold(layers(options, environment, Some(dir), &PolicyTexts::default()).0, Vec::new());
    let known = rules::names_of_all(Some(&dir.join("rules")));
    let preset = options.preset.clone().or_else(|| preset(environment)).unwrap_or_else(|| DEFAULT_PRESET.to_owned());
    let files = ["config.local.toml", DEFAULT.0, &format!("presets/{preset}.toml")].map(|name| dir.join(name));
    let mut unknown: Vec<String> = config.disabled.into_iter().chain(config.always_deny).map(Into::into).collect();
    unknown.retain(|name| !known.contains(name));
    let place = |name: &String| files.iter().find_map(|file| place_of(name, file));
    let row = |name: String| {
        let near = nearest(&name, known.iter().map(String::as_str)).map(str::to_owned);
        Some((name.clone(), place(&name)?, near))
    };
    unknown.into_iter().filter_map(row).collect()
}

/// Where a name stands in quotes in a file.
fn place_of(name: &str, file: &Path) -> Option<String> {
    let text = read_text(file).ok()??;
    let column = |line: &str| ['"', '\''].iter().find_map(|quote| line.find(&format!("{quote}{name}{quote}")));
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
    let (line, column) = lines.into_iter().find_map(|(nth, line)| Some((nth + 1, column(line)? + 1)))?;
    Some(format!("{}:{line}:{column}", file.display()))
}

/// What a failure does where the policy itself may be what hangs: the embedded word of the named preset.
pub fn failure_effect(options: &Options) -> Effect {
    let name = options.preset.as_deref().unwrap_or(DEFAULT_PRESET);
    Config::fold(Layer::embedded(name), Vec::new()).failure
}

/// Which decisions leave a receipt where the policy itself may be what hangs: the embedded word of the named preset.
pub fn receipts(options: &Options) -> Receipts {
    let name = options.preset.as_deref().unwrap_or(DEFAULT_PRESET);
    Config::fold(Layer::embedded(name), Vec::new()).receipts
}

/// One file of the policy, `None` where there is none; on an error, what can be told of it and what is wrong.
fn read_layer(
    path: &Path,
    embedded: &'static str,
    memory: &PolicyTexts,
) -> Result<Option<Layer>, (Option<String>, String)> {
    match memory.text(path, Some(embedded)).map_err(|what| (None, what))? {
        None => Ok(None),
        // An installed copy of a default need not be parsed twice, nor one that only tells what could be written.
        Some(text) if text == embedded || says_nothing(&text) => Ok(Some(Layer::default())),
        Some(text) => Layer::read(&text, &path.display().to_string())
            .map(Some)
            .map_err(|error| (error.preset.clone(), error.to_string())),
    }
}

/// Whether a text has comments only.
fn says_nothing(text: &str) -> bool {
    text.lines().all(|line| line.is_empty() || line.starts_with('#'))
}

/// Adds the servers that the operator's list trusts.
pub fn allowlist(config: &mut Config, environment: &Environment, memory: &PolicyTexts) -> Result<(), String> {
    if let Some(list) = allowlist_path(environment).map_or(Ok(None), |path| memory.text(&path, None))? {
        config.allow(&list);
    }
    Ok(())
}

/// Where the operator's list of trusted servers is.
pub fn allowlist_path(environment: &Environment) -> Option<PathBuf> {
    environment.client_dir.as_ref().map(|dir| dir.join("quarantine.d/trusted-mcp-allowlist.txt"))
}

/// The servers that the projects' files name and the client may have read.
pub fn project_servers(environment: &Environment, cwd: &str) -> Result<Vec<String>, String> {
    let mut servers = Vec::new();
    for dir in environment.project_dirs(cwd) {
        let path = dir.join(environment.client.locations().project_servers);
        let Some(text) = read_text(&path)? else { continue };
        let raw = environment.client.raw_servers(&text, &[]);
        if let Some(flaw) = raw.flaw {
            return Err(format!("{}: {flaw}", path.display()));
        }
        servers.extend(raw.all.into_iter().map(|(name, _)| name));
    }
    Ok(servers)
}

/// Whether settings that come with the project, and not the operator, ask for silence. What cannot be read may.
pub fn project_silences(environment: &Environment, cwd: &str) -> bool {
    let client = environment.client;
    // A client directory that only the environment names may be the project's own.
    let given = environment.client_dir.clone().filter(|_| environment.client_dir_given);
    let own = [given, environment.home.as_ref().map(|home| home.join(client.locations().default_dir))];
    let files = environment.project_dirs(cwd).into_iter().flat_map(|dir| {
        let dirs = environment.settings_dirs(&dir);
        [Scope::Project, Scope::Local].map(|scope| client.settings_file(scope, &dirs))
    });
    let is_own = |file: &PathBuf| own.iter().flatten().any(|dir| file.parent() == Some(dir));
    files.flatten().filter(|file| !is_own(file)).any(|file| match read_text(&file) {
        Ok(text) => text.is_some_and(|text| client.may_set_variable(&text, "QUARANTINE_DISABLE")),
        Err(_) => true,
    })
}

/// The text of a file of the client's, which may be large.
pub fn read_settings_text(path: &Path) -> Result<Option<String>, String> {
    read_up_to(LARGEST_SETTINGS, path)
}

/// The text of a file, `None` where there is none. The error names the file.
pub fn read_text(path: &Path) -> Result<Option<String>, String> {
    read_up_to(LARGEST_FILE, path)
}

/// The text of a file that is most often a copy of this one, `None` where there is none.
fn read_copy(path: &Path, of: &'static str) -> Result<Option<Cow<'static, str>>, String> {
    read_like(of, LARGEST_FILE, path)
}

fn read_up_to(most: u64, path: &Path) -> Result<Option<String>, String> {
    read_like("", most, path).map(|text| text.map(Cow::into_owned))
}

fn read_like(like: &'static str, most: u64, path: &Path) -> Result<Option<Cow<'static, str>>, String> {
    match open(path).and_then(|(file, length)| read_all(&file, length, most, like)) {
        Ok(text) if text.len() as u64 > most => Err(format!("{}: larger than {} MB", path.display(), most >> 20)),
        Ok(text) => Ok(Some(text)),
        // A link to nowhere is a policy that went missing, not one that never was.
        Err(error) if error.kind() == ErrorKind::NotFound && !path.ancestors().take(2).any(is_dangling) => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Opens a regular file for reading, and tells its length.
///
/// The type is checked on the opened file: a check by name before could be undone by exchanging the file in between.
/// Without `O_NONBLOCK`, a pipe without a writer would block until the deadline.
pub fn open(path: &Path) -> std::io::Result<(File, u64)> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let found = file.metadata()?;
    let other = || Error::new(ErrorKind::InvalidInput, "not a regular file");
    if found.is_file() { Ok((file, found.len())) } else { Err(other()) }
}

/// Reads a regular file whole.
pub fn read_bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let (mut file, length) = open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of a file of this length; of one that is too long, enough to tell. What is like this text is compared with
/// it and not kept.
fn read_all(file: &File, length: u64, most: u64, like: &'static str) -> std::io::Result<Cow<'static, str>> {
    let mut bytes = Vec::new();
    if !like.is_empty() && length == like.len() as u64 && reads_like(file, like, &mut bytes)? {
        return Ok(Cow::Borrowed(like));
    }
    let expected = usize::try_from(length.min(most) + 1).unwrap_or(1);
    bytes.reserve(expected.saturating_sub(bytes.len()));
    // What fits is all; a file that grew meanwhile is read to its end.
    while bytes.len() as u64 <= most {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len());
        }
        if retry_on_intr(|| read(file, spare_capacity(&mut bytes)))? == 0 || bytes.len() as u64 == length {
            break;
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8"))?;
    Ok(Cow::Owned(text))
}

/// Whether a file reads like a text. If not, what was read of it is in `bytes`.
fn reads_like(file: &File, like: &str, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    // On the stack, which has been deeper before: fresh room would cost more than the comparison.
    let mut room = [MaybeUninit::uninit(); 8 << 10];
    let mut rest = like.as_bytes();
    while !rest.is_empty() {
        let (piece, _) = loop {
            match read(file, &mut room) {
                Err(Errno::INTR) => {}
                read => break read?,
            }
        };
        match rest.strip_prefix(&*piece) {
            Some(more) if !piece.is_empty() => rest = more,
            _ => {
                bytes.extend(like.as_bytes().iter().take(like.len() - rest.len()).chain(&*piece));
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Whether there is nothing of this name, not even a link to nowhere.
pub fn is_missing(path: &Path) -> bool {
    matches!(lstat(path), Err(Errno::NOENT))
}

fn is_dangling(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) && std::fs::metadata(path).is_err()
}

/// A name that can only be a file of the folder it is looked for in.
pub fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

#[cfg(test)]
#[path = "../../tests/unit/runtime/policy_files.rs"]
pub mod tests;
