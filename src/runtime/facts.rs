//! The facts that judging one event needs, looked up on disk, and nothing else.

use crate::runtime::environment::{World, now};
use crate::runtime::mcp::facts as mcp_facts;
use crate::runtime::options::Options;
use crate::runtime::policy_files::{Memory, allowlist, project_servers, project_silences, read_settings, read_text};
use crate::runtime::symlinks::Links;
use crate::runtime::{receipts, session};
use rune::event::taint::Taint;
use rune::event::{Action, Event};
use rune::path::AbsPath;
use rune::path::Place;
use rune::policy::{Config, Results};
use rune::quarantine::Nonce;
use rune::quarantined::{Audit, Reason};
use rune::verdict::Phase;
use rune::verdict::failure::Failure;
use rune::verdict::limits::FILES;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Says where the event happens; comes before anything is read of it.
pub fn place(event: &mut Event<'_>, world: &World) {
    event.place.home = world.home.as_ref().map(|home| home.to_string_lossy().into_owned());
    event.place.project = world.project.as_ref().map(|project| project.to_string_lossy().into_owned());
}

/// Whether a command line does something to files.
fn touches_files(event: &Event<'_>) -> bool {
    event.shell().is_some_and(|(_, effects)| !effects.accesses.is_empty())
}

/// Looks up what judging this event needs.
pub fn look_up(event: &mut Event<'_>, config: &mut Config, options: &Options, world: &World, memory: &Memory) {
    match event.phase {
        Phase::Before => before(event, config, world, memory),
        Phase::After | Phase::Failed => after(event, config, world, memory),
        Phase::Settings => event.facts.losses = losses(event, options, world),
        Phase::Start => {
            event.facts.losses = losses(event, options, world);
            event.facts.servers = mcp_facts::news(event, config, world);
            event.facts.loosenings = receipts::loosenings(world);
        }
        Phase::End | Phase::Other => {}
    }
}

/// What the settings take away from us: those that changed, and those that we are registered in.
fn losses(event: &Event<'_>, options: &Options, world: &World) -> Vec<String> {
    let own = options.registration();
    let mut losses = Vec::new();
    let mut changed = None;
    if let (Action::Settings { file: Some(file) }, Ok(reason)) =
        (&event.action, Reason::new("a change of the settings may take the guard away"))
    {
        changed = Some(PathBuf::from(file.expose(reason, &mut Audit::new(|_| {}))));
    }
    let same = |one: &Path, other: &Path| one == other || one.canonicalize().ok() == other.canonicalize().ok();
    if let Some(file) = &options.registered_in {
        losses.extend(match read_settings(file) {
            Ok(Some(settings)) => own.losses(&settings, true),
            Ok(None) => vec!["the file that our hooks are registered in is gone".to_owned()],
            Err(_) => vec!["the client cannot read the file that our hooks are registered in".to_owned()],
        });
    }
    // What skills and other files say is no setting.
    let elsewhere = changed.filter(|file| options.registered_in.as_ref().is_none_or(|known| !same(known, file)));
    if let Some(Ok(Some(settings))) = elsewhere.filter(|file| is_settings(file)).map(|file| read_settings(&file)) {
        losses.extend(own.losses(&settings, false));
    }
    if event.phase == Phase::Start && project_silences(world, &event.place.cwd) && world.silence_wanted {
        losses.push("the project's settings set QUARANTINE_DISABLE, which is ignored".to_owned());
    }
    losses
}

fn is_settings(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "json")
}

fn before(event: &mut Event<'_>, config: &mut Config, world: &World, memory: &Memory) {
    event.facts.today = Some(now().date());
    event.facts.taint = session::seen(world, &event.header.session).unwrap_or_else(|what| {
        config.flaws.push(Failure::Config(what));
        Taint::unknown()
    });
    if matches!(event.action, Action::Mcp { .. } | Action::Resource { .. }) {
        servers(event, config, world, memory);
        event.facts.pins = mcp_facts::look_up(event, config, world);
    }
    if touches_files(event) || !event.paths().is_empty() {
        event.facts.own = world.own().iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let (links, contents) = leads(event, world);
        match links {
            Ok(links) => event.facts.real_paths = links,
            Err(failure) => event.flaw = event.flaw.take().or(Some(failure)),
        }
        event.facts.contents = contents;
    }
}

/// Where paths lead, by their names.
type ByPath = BTreeMap<String, String>;

/// Where the paths of a call really lead, and what is in the files that it edits.
fn leads(event: &Event<'_>, world: &World) -> (Result<ByPath, Failure>, Vec<(String, String)>) {
    let paths = event.paths();
    if paths.len() > FILES.most {
        return (Err(FILES.failure()), Vec::new());
    }
    let project = event.place.project.clone().unwrap_or_else(|| event.place.cwd.clone());
    let home = world.home.as_ref().map(|home| home.to_string_lossy().into_owned());
    let named = [project].into_iter().chain(home).map(|name| AbsPath::resolve(&name, &Place::default()).to_string());
    let mut links = Links::new(named);
    let real: ByPath = paths.iter().filter_map(|path| links.real(path)).collect();
    if !matches!(event.action, Action::Edit { .. }) {
        return (Ok(real), Vec::new());
    }
    let names = real.values().map(String::as_str);
    let texts = paths.iter().map(AsRef::as_ref).chain(names).filter_map(|path: &str| {
        let text = read_text(Path::new(path)).ok()??;
        Some((path.to_owned(), text))
    });
    let texts = texts.collect();
    (Ok(real), texts)
}

fn after(event: &mut Event<'_>, config: &mut Config, world: &World, memory: &Memory) {
    if config.results == Results::Wrap && event.phase == Phase::After {
        event.facts.nonce = nonce();
    }
    // Whether an agent's result is one of strangers, and how often a server was marked.
    if matches!(event.action, Action::Agent { .. } | Action::Mcp { .. } | Action::Resource { .. }) {
        event.facts.taint = session::seen(world, &event.header.session).unwrap_or_else(|_| Taint::unknown());
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
        Action::Mcp { .. } => {
            servers(event, config, world, memory);
            // Only a pin tells a trusted server from one that a project puts in its place.
            if !event.facts.project_servers.is_empty() {
                event.facts.pins = mcp_facts::look_up(event, config, world);
            }
        }
        Action::Resource { .. } => servers(event, config, world, memory),
        Action::Agent { .. } => {}
        Action::Read { path: None }
        | Action::Shell { .. }
        | Action::Edit { .. }
        | Action::Patch { .. }
        | Action::Files { .. }
        | Action::Fetch { .. }
        | Action::Search
        | Action::Settings { .. }
        | Action::Other => {}
    }
}

/// A number that nobody could have written before.
fn nonce() -> Option<Nonce> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    Some(Nonce::new(random))
}

/// Which servers the operator trusts, and which the project brings along.
fn servers(event: &mut Event<'_>, config: &mut Config, world: &World, memory: &Memory) {
    if let Err(what) = allowlist(config, world, memory) {
        config.distrust(Failure::Config(what));
    }
    match project_servers(world, &event.place.cwd) {
        Ok(servers) => event.facts.project_servers = servers,
        Err(what) => config.distrust(Failure::Config(what)),
    }
}
