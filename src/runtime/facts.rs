//! The facts that judging one event needs, looked up on disk, and nothing else.

use crate::runtime::environment::{Environment, now};
use crate::runtime::mcp::facts as mcp_facts;
use crate::runtime::options::Options;
use crate::runtime::policy_files::{project_disables_quarantine, project_servers, read_settings, read_text};
use crate::runtime::symlinks::Links;
use crate::runtime::{receipts, session};
use rune::event::Nonce;
use rune::event::taint::Taint;
use rune::event::{Action, Event, Facts};
use rune::path::AbsPath;
use rune::path::Place;
use rune::policy::{Config, Results};
use rune::quarantined::{Audit, Reason};
use rune::verdict::Phase;
use rune::verdict::failure::Failure;
use rune::verdict::limits::FILES;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Whether a command line does something to files.
fn touches_files(event: &Event<'_>) -> bool {
    event.shell().is_some_and(|shell| !shell.effects.accesses.is_empty())
}

/// What was looked up for one event, and what could not be.
#[derive(Debug, Default)]
pub struct CollectedFacts {
    /// The facts.
    pub facts: Facts,
    /// What could not be read. It counts in the verdict.
    pub failures: Vec<Failure>,
}

/// Looks up what judging this event needs.
pub fn collect(event: &Event<'_>, config: &Config, options: &Options, environment: &Environment) -> CollectedFacts {
    match event.phase {
        Phase::Before => before(event, config, environment),
        Phase::After | Phase::Failed => after(event, config, environment),
        Phase::Settings => {
            CollectedFacts::of(Facts { losses: losses(event, options, environment), ..Facts::default() })
        }
        Phase::Start => CollectedFacts::of(Facts {
            losses: losses(event, options, environment),
            unapproved_servers: mcp_facts::unapproved_servers(event, config, environment),
            loosenings: receipts::unreported_loosenings(environment),
            ..Facts::default()
        }),
        Phase::End | Phase::Other => CollectedFacts::default(),
    }
}

impl CollectedFacts {
    fn of(facts: Facts) -> Self {
        CollectedFacts { facts, failures: Vec::new() }
    }

    /// The value, or a cautious one where it cannot be read.
    fn or<T>(&mut self, read: Result<T, Failure>, cautious: T) -> T {
        read.unwrap_or_else(|failure| {
            self.failures.push(failure);
            cautious
        })
    }
}

/// What the settings take away from us: those that changed, and those that we are registered in.
fn losses(event: &Event<'_>, options: &Options, environment: &Environment) -> Vec<String> {
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
    if event.phase == Phase::Start
        && project_disables_quarantine(environment, &event.place.cwd)
        && environment.quarantine_disabled
    {
        losses.push("the project's settings set QUARANTINE_DISABLE, which is ignored".to_owned());
    }
    losses
}

fn is_settings(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "json")
}

fn before(event: &Event<'_>, config: &Config, environment: &Environment) -> CollectedFacts {
    let mut collected = CollectedFacts::default();
    let taint = session::read_taint(environment, &event.header.session).map_err(Failure::Config);
    let taint = collected.or(taint, Taint::unknown());
    let mut facts = Facts { today: Some(now().date()), taint, ..Facts::default() };
    if matches!(event.action, Action::Mcp { .. } | Action::Resource { .. }) {
        let servers = project_servers(environment, &event.place.cwd).map_err(Failure::Config);
        facts.project_servers = collected.or(servers, Vec::new());
        facts.pins = mcp_facts::look_up(event, config, environment);
    }
    let paths = rune::decide::paths(event);
    if touches_files(event) || !paths.is_empty() {
        facts.guard_paths = environment.guard_paths().iter().map(|path| path.to_string_lossy().into_owned()).collect();
        facts.real_paths = collected.or(real_paths(&paths, event, environment), BTreeMap::new());
        if matches!(event.action, Action::Edit { .. }) {
            facts.contents = contents(&paths, &facts.real_paths);
        }
    }
    CollectedFacts { facts, ..collected }
}

/// Where paths lead, by their names.
type ByPath = BTreeMap<String, String>;

/// Where the paths of a call really lead.
fn real_paths(paths: &[Cow<'_, str>], event: &Event<'_>, environment: &Environment) -> Result<ByPath, Failure> {
    if paths.len() > FILES.most {
        return Err(FILES.failure());
    }
    let project = event.place.project.clone().unwrap_or_else(|| event.place.cwd.clone());
    let home = environment.home.as_ref().map(|home| home.to_string_lossy().into_owned());
    let named = [project].into_iter().chain(home).map(|name| AbsPath::resolve(&name, &Place::default()).to_string());
    let mut links = Links::new(named);
    Ok(paths.iter().filter_map(|path| links.real(path)).collect())
}

/// The text of the files that an edit is about, by the names that they are called by and by those that they really have.
fn contents(paths: &[Cow<'_, str>], real: &ByPath) -> Vec<(String, String)> {
    let names = paths.iter().map(AsRef::as_ref).chain(real.values().map(String::as_str));
    names
        .filter_map(|path: &str| {
            let text = read_text(Path::new(path)).ok()??;
            Some((path.to_owned(), text))
        })
        .collect()
}

fn after(event: &Event<'_>, config: &Config, environment: &Environment) -> CollectedFacts {
    let mut collected = CollectedFacts::default();
    let mut facts = Facts {
        silenced: environment.quarantine_disabled && !project_disables_quarantine(environment, &event.place.cwd),
        ..Facts::default()
    };
    if config.results == Results::Wrap && event.phase == Phase::After {
        facts.nonce = nonce();
    }
    // Whether an agent's result is one of strangers, and how often a server was marked.
    if matches!(event.action, Action::Agent { .. } | Action::Mcp { .. } | Action::Resource { .. }) {
        facts.taint = session::read_taint(environment, &event.header.session).unwrap_or_else(|_| Taint::unknown());
    }
    if matches!(event.action, Action::Mcp { .. } | Action::Resource { .. }) {
        let servers = project_servers(environment, &event.place.cwd).map_err(Failure::Config);
        facts.project_servers = collected.or(servers, Vec::new());
    }
    if let Action::Read { path: Some(path) } = &event.action {
        let reason = Reason::new("a link may lead to where strangers write");
        let real = reason.ok().and_then(|reason| {
            let path = path.expose(reason, &mut Audit::new(|_| {}));
            std::fs::canonicalize(Path::new(&event.place.cwd).join(path)).ok()
        });
        facts.real_path = real.map(|real| real.to_string_lossy().into_owned());
    }
    // Only a pin tells a trusted server from one that a project puts in its place.
    if matches!(event.action, Action::Mcp { .. }) && !facts.project_servers.is_empty() {
        facts.pins = mcp_facts::look_up(event, config, environment);
    }
    CollectedFacts { facts, ..collected }
}

/// A number that nobody could have written before.
fn nonce() -> Option<Nonce> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    Some(Nonce::new(random))
}
