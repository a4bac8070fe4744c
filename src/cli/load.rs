//! Loading: the policy and the facts, from disk, for one event.

use super::options::Options;
use super::session;
use super::world::World;
use rune::config::{Config, DEFAULT, DEFAULT_PRESET, Layer, PRESETS};
use rune::event::{Action, Event};
use rune::failure::Failure;
use rune::json::Fields;
use rune::quarantined::{Audit, Reason};
use rune::verdict::Effect;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// A policy file beyond this is not one.
const LARGEST_FILE: u64 = 1 << 20;

/// The policy in force. It never fails: what cannot be read is a flaw of the policy and counts in every verdict.
pub fn config(options: &Options, world: &World) -> Config {
    let mut flaws = options.flaws.clone();
    if world.config_dir.is_none() {
        let help = "help: set it, or name the directory with `--config-dir`";
        flaws.push(Failure::Config(format!("HOME is not an absolute directory\n  {help}")));
    }
    // A file with an error still is a file, and still names its preset.
    let mut layer = |name: &str, embedded: &str| {
        let dir = world.config_dir.as_ref()?;
        read_layer(&dir.join(name), embedded).unwrap_or_else(|(layer, what)| {
            flaws.push(Failure::Config(what));
            Some(layer)
        })
    };
    let main = layer(DEFAULT.0, DEFAULT.1).unwrap_or_default();
    let local = layer("config.local.toml", "").unwrap_or_default();
    let preset = options.preset.as_ref().or(local.preset.as_ref()).or(main.preset.as_ref());
    let preset = preset.map_or(DEFAULT_PRESET, String::as_str).to_owned();
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
    let embedded =
        [DEFAULT.1, embedded.unwrap_or_default()].map(|text| Layer::read(text, "embedded").unwrap_or_default());
    Config::fold(embedded.into_iter().chain([tuned, main, local]), flaws)
}

/// What a failure does where the policy itself may be what hangs: the embedded word of the named preset.
pub fn failure_effect(options: &Options) -> Effect {
    let name = options.preset.as_deref().unwrap_or(DEFAULT_PRESET);
    let preset = PRESETS.iter().find(|(preset, _)| *preset == name).map(|(_, text)| *text);
    Config::fold(preset.map(|text| Layer::read(text, name).unwrap_or_default()), Vec::new()).failure
}

/// Looks up what judging this event needs, and nothing else.
pub fn facts(event: &mut Event<'_>, config: &mut Config, world: &World) {
    event.place.home = world.home.as_ref().map(|home| home.to_string_lossy().into_owned());
    if !event.phase.is_after() {
        return;
    }
    event.facts.silenced = world.silence_wanted && !project_silences(world, &event.place.cwd);
    match &event.action {
        Action::Read { path: Some(path) } => {
            let reason = Reason::new("a link may lead to where strangers write");
            let real = reason.ok().and_then(|reason| {
                let path = path.expose(reason, &mut Audit::new(|_| {}));
                std::fs::canonicalize(Path::new(&event.place.cwd).join(path)).ok()
            });
            event.facts.real_path = real.map(|real| real.to_string_lossy().into_owned());
        }
        Action::Mcp { .. } | Action::Resource { .. } => {
            if let Err(what) = allowlist(config, world) {
                config.distrust(Failure::Config(what));
            }
            match project_servers(world, &event.place.cwd) {
                Ok(servers) => event.facts.project_servers = servers,
                Err(what) => config.distrust(Failure::Config(what)),
            }
        }
        Action::Agent => event.facts.tainted = session::is_tainted(world, &event.header.session),
        Action::Read { path: None }
        | Action::Shell { .. }
        | Action::Edit { .. }
        | Action::Fetch { .. }
        | Action::Search
        | Action::Other => {}
    }
}

/// One file of the policy, `None` where there is none; on an error, what can be told of it and what is wrong.
fn read_layer(path: &Path, embedded: &str) -> Result<Option<Layer>, (Layer, String)> {
    match read_text(path).map_err(|what| (Layer::default(), what))? {
        None => Ok(None),
        // An installed copy of a default need not be parsed twice.
        Some(text) if text == embedded => Ok(Some(Layer::default())),
        Some(text) => Layer::read(&text, &path.display().to_string())
            .map(Some)
            .map_err(|error| (Layer::naming(error.preset.clone()), error.to_string())),
    }
}

fn allowlist(config: &mut Config, world: &World) -> Result<(), String> {
    let Some(dir) = &world.client_dir else { return Ok(()) };
    let list = read_regular(&dir.join("quarantine.d/trusted-mcp-allowlist.txt"))?;
    config.allow(&list.unwrap_or_default());
    Ok(())
}

/// The servers in the `.mcp.json` files that the client may have read.
fn project_servers(world: &World, cwd: &str) -> Result<Vec<String>, String> {
    let mut servers = Vec::new();
    for dir in world.project_dirs(cwd) {
        let path = dir.join(".mcp.json");
        let Some(text) = read_regular(&path)? else { continue };
        let fields = Fields::read(text.as_bytes());
        let named = fields.object("mcpServers").unwrap_or_default();
        if let Some(flaw) = fields.flaw().or(named.flaw()) {
            return Err(format!("{}: {flaw}", path.display()));
        }
        servers.extend(named.names().map(str::to_owned));
    }
    Ok(servers)
}

/// Whether settings that come with the project, and not the operator, ask for silence. What cannot be read may.
fn project_silences(world: &World, cwd: &str) -> bool {
    // A client directory that only the environment names may be the project's own.
    let given = world.client_dir.clone().filter(|_| world.client_dir_given);
    let own = [given, world.home.as_ref().map(|home| home.join(".claude"))];
    world
        .project_dirs(cwd)
        .into_iter()
        .map(|dir| dir.join(".claude"))
        .filter(|dir| !own.contains(&Some(dir.clone())))
        .flat_map(|dir| ["settings.json", "settings.local.json"].map(|name| dir.join(name)))
        .any(|path| match read_regular(&path) {
            Ok(None) => false,
            Ok(Some(text)) => {
                let fields = Fields::read(text.as_bytes());
                let env = fields.object("env").unwrap_or_default();
                fields.flaw().is_some() || env.flaw().is_some() || env.get("QUARANTINE_DISABLE").is_some()
            }
            Err(_) => true,
        })
}

/// The text of a file, `None` where there is none. The error names the file.
fn read_text(path: &Path) -> Result<Option<String>, String> {
    let mut text = String::new();
    match File::open(path).and_then(|file| file.take(LARGEST_FILE + 1).read_to_string(&mut text)) {
        Ok(length) if length as u64 > LARGEST_FILE => Err(format!("{}: larger than 1 MB", path.display())),
        Ok(_) => Ok(Some(text)),
        // A link to nowhere is a policy that went missing, not one that never was.
        Err(error) if error.kind() == ErrorKind::NotFound && !path.ancestors().take(2).any(is_dangling) => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// The same for files that others may place: a pipe there would hold us until the deadline.
fn read_regular(path: &Path) -> Result<Option<String>, String> {
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(format!("{}: not a regular file", path.display())),
        _ => read_text(path),
    }
}

fn is_dangling(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) && std::fs::metadata(path).is_err()
}

/// A name that can only be a file of the folder it is looked for in.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}
