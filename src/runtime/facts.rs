//! Collects the facts that judging one event needs from disk.

use crate::runtime::environment::{Environment, now};
use crate::runtime::mcp::facts as mcp_facts;
use crate::runtime::options::Options;
use crate::runtime::policy_files::{
    self, LoadedPolicy, project_disables_quarantine, project_servers, read_settings_text, read_text,
};
use crate::runtime::receipts;
use crate::runtime::session::SessionState;
use crate::runtime::symlinks::SymlinkResolver;
use rune::client::settings::Scope;
use rune::event::memory::Memory;
use rune::event::taint::Taint;
use rune::event::{Action, Answers, Event, Facts, Nonce};
use rune::path::{AbsPath, Place, protected};
use rune::policy::{Config, Results};
use rune::quarantined::{Audit, Quarantined, Reason};
use rune::shell::Command;
use rune::verdict::Phase;
use rune::verdict::failure::Failure;
use rune::verdict::limits::FILES;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Default)]
pub struct CollectedFacts {
    pub facts: Facts,
    /// What could not be read. Each failure counts in the verdict.
    pub failures: Vec<Failure>,
}

/// Adds the facts to the event, and to the policy what could not be read and the content rules.
pub fn add<'a>(
    event: Event<'a>,
    policy: LoadedPolicy,
    options: &Options,
    environment: &Environment,
    state: &dyn SessionState,
) -> (Event<'a>, LoadedPolicy) {
    let LoadedPolicy { config, project_policy, texts } = policy;
    let CollectedFacts { facts, failures } = collect(&event, &config, options, environment, state);
    let event = event.with_facts(facts);
    let config = config.with_failures(failures);
    let config = policy_files::with_content_rules(config, &event, environment, project_policy.as_deref());
    (event, LoadedPolicy { config, project_policy, texts })
}

/// Collects the facts that judging this event needs.
pub fn collect(
    event: &Event<'_>,
    config: &Config,
    options: &Options,
    environment: &Environment,
    state: &dyn SessionState,
) -> CollectedFacts {
    match event.phase {
        Phase::Before => before(event, config, environment, state),
        Phase::After | Phase::Failed => after(event, config, environment, state),
        Phase::Settings => Facts { losses: losses(event, options, environment), ..Facts::default() }.into(),
        Phase::Start => Facts {
            losses: losses(event, options, environment),
            unapproved_servers: mcp_facts::unapproved_servers(event, config, environment),
            loosenings: receipts::unreported_loosenings(environment),
            new_servers: mcp_facts::new_servers(event, environment, state),
            ..Facts::default()
        }
        .into(),
        Phase::Prompt => prompt(event, state),
        Phase::End | Phase::Other => CollectedFacts::default(),
    }
}

impl From<Facts> for CollectedFacts {
    fn from(facts: Facts) -> Self {
        CollectedFacts { facts, failures: Vec::new() }
    }
}

impl CollectedFacts {
    /// The value; if it cannot be read, `cautious`, and the failure is recorded.
    fn value_or<T>(&mut self, read: Result<T, Failure>, cautious: T) -> T {
        read.unwrap_or_else(|failure| {
            self.failures.push(failure);
            cautious
        })
    }
}

/// How the changed settings, and the settings in which the hook is registered, disable the hook.
fn losses(event: &Event<'_>, options: &Options, environment: &Environment) -> Vec<String> {
    let (client, registration) = (environment.client, options.registration());
    let mut losses = Vec::new();
    let changed = match (&event.action, Reason::new("a change of the settings may disable the guard")) {
        (Action::Settings { file: Some(file) }, Ok(reason)) => {
            Some(PathBuf::from(file.expose(reason, &mut Audit::new(|_| {}))))
        }
        _ => None,
    };
    let is_same = |one: &Path, other: &Path| one == other || one.canonicalize().ok() == other.canonicalize().ok();
    if let Some(file) = &options.registered_in {
        losses.extend(
            match read_settings_text(file).map(|text| text.map(|text| client.losses(&registration, &text))) {
                Ok(Some(Ok(losses))) => losses,
                Ok(None) => vec!["the settings file in which the hooks are registered is gone".to_owned()],
                Ok(Some(Err(_))) | Err(_) => {
                    vec!["the client cannot read the settings file in which the hooks are registered".to_owned()]
                }
            },
        );
    }
    let other = changed.filter(|file| options.registered_in.as_ref().is_none_or(|known| !is_same(known, file)));
    // Skills and other files that the client reports as changed contain no settings.
    let other = other.filter(|file| file.extension().is_some_and(|extension| extension == "json"));
    if let Some(Ok(Some(text))) = other.map(|file| read_settings_text(&file))
        && client.read_settings(&text).is_ok_and(|settings| settings.disables_hooks())
    {
        losses.push("it switches all hooks off".to_owned());
    }
    if event.phase == Phase::Start
        && project_disables_quarantine(environment, &event.place.cwd)
        && environment.quarantine_disabled
    {
        losses.push("the project's settings set QUARANTINE_DISABLE, which is ignored".to_owned());
    }
    losses
}

fn before(event: &Event<'_>, config: &Config, environment: &Environment, state: &dyn SessionState) -> CollectedFacts {
    let mut collected = CollectedFacts::default();
    let taint = state.taint(&event.header.session).map_err(Failure::Config);
    let taint = collected.value_or(taint, Taint::unknown());
    let answers = event.facts.answers;
    let mut facts = Facts { today: Some(now().date()), taint, answers, ..Facts::default() };
    if matches!(event.action, Action::Mcp { .. } | Action::Resource { .. }) {
        let servers = project_servers(environment, &event.place.cwd).map_err(Failure::Config);
        facts.project_servers = collected.value_or(servers, Vec::new());
        facts.pins = mcp_facts::look_up(event, config, environment);
        let (provider, new) = mcp_facts::provider(event, &facts.taint, config, environment, state);
        (facts.server_provider, facts.new_servers) = (provider, new.into_iter().collect());
        if !facts.taint.is_empty() {
            facts.answers = answers_here(event, environment);
        }
    }
    let has_destinations = matches!(
        event.action,
        Action::Mcp { .. } | Action::Resource { .. } | Action::Fetch { .. } | Action::Shell { .. }
    );
    if has_destinations && !facts.taint.is_empty() {
        let memory = state.memory(&event.header.session).map_err(Failure::Config);
        facts.memory = collected.value_or(memory, Memory::default());
        facts.known_packages = known_packages(event);
    }
    if event.shell().is_some_and(|shell| shell.reading.commands.iter().any(is_unknown)) {
        facts.asked_programs = state.asked_programs(&event.header.session);
    }
    let paths = rune::decide::touched_paths(event);
    let accesses_files = event.shell().is_some_and(|shell| !shell.effects.accesses.is_empty());
    if accesses_files || !paths.is_empty() {
        facts.guard_paths = environment.guard_paths().iter().map(|path| path.to_string_lossy().into_owned()).collect();
        facts.worktrees = worktrees(event);
        let count = if paths.len() > FILES.most { Err(FILES.failure()) } else { Ok(()) };
        collected.value_or(count, ());
        facts.real_paths = real_paths(&paths, event, environment);
        if matches!(event.action, Action::Edit { .. }) {
            facts.contents = contents(&paths, &facts.real_paths);
        }
    }
    CollectedFacts { facts, ..collected }
}

/// Of the packages that the call downloads by their names, those that a manifest names or that are installed in the project.
fn known_packages(event: &Event<'_>) -> BTreeSet<String> {
    let names = rune::decide::named_packages(event);
    if names.is_empty() {
        return BTreeSet::new();
    }
    let directories = [event.place.project.as_deref(), Some(event.place.cwd.as_str())].into_iter().flatten();
    let directories: BTreeSet<&Path> = directories.map(Path::new).collect();
    let is_manifest = |name: &str| {
        let is = |pattern: &&str| match pattern.split_once('*') {
            Some((start, end)) => name.len() >= pattern.len() - 1 && name.starts_with(start) && name.ends_with(end),
            None => name == *pattern,
        };
        MANIFESTS.iter().any(is)
    };
    let files = directories.iter().filter_map(|directory| std::fs::read_dir(directory).ok()).flatten().flatten();
    let manifests = files.filter(|file| file.file_name().to_str().is_some_and(is_manifest));
    let texts = manifests.filter_map(|file| read_text(&file.path()).ok()?);
    let words: BTreeSet<String> =
        texts.flat_map(|text| rune::decide::manifest_words(&text).collect::<Vec<_>>()).collect();
    let is_installed = |name: &str| {
        let is_in = |directory: &&Path| directory.join("node_modules/.bin").join(name).exists();
        !name.contains('/') && directories.iter().any(is_in)
    };
    let is_known = |name: &String| is_installed(name) || rune::decide::is_named(name, &words);
    names.into_iter().filter(is_known).collect()
}

/// Files in which a project names its packages.
const MANIFESTS: [&str; 25] = [
    "package.json", "requirements*.txt", "constraints*.txt", "pyproject.toml", "Pipfile", "setup.py", "setup.cfg",
    "environment.yml", "environment.yaml", "Cargo.toml", "go.mod", "Gemfile", "*.gemspec", "composer.json", "mix.exs",
    "deno.json", "deno.jsonc", "pubspec.yaml", "*.csproj", "*.fsproj", "Directory.Packages.props", "Brewfile",
    "*.cabal", "stack.yaml", "*.rockspec",
];

/// Whether the catalogue does not know the program of a command.
fn is_unknown(command: &Command) -> bool {
    command.parsed.is_none()
}

/// How many worktrees are read. To leave one out is stricter, because files in it are then outside of the project.
const MAX_WORKTREES: usize = 256;

/// The worktrees of the project's repository, from git's own records, if the call touches files outside of the project.
fn worktrees(event: &Event<'_>) -> Vec<String> {
    let project = event.place.project.as_deref().unwrap_or(&event.place.cwd);
    let records = std::fs::read_dir(Path::new(project).join(".git").join("worktrees"));
    let names =
        records.into_iter().flatten().flatten().filter_map(|entry| read_text(&entry.path().join("gitdir")).ok()?);
    names.filter_map(|text| Some(text.trim().strip_suffix("/.git")?.to_owned())).take(MAX_WORKTREES).collect()
}

/// The protected file that a path is another hard link to.
fn protected_hard_link(path: &str, environment: &Environment) -> Option<String> {
    let found = std::fs::symlink_metadata(path).ok().filter(|found| found.is_file() && found.nlink() > 1)?;
    let home = environment.home.as_ref()?.to_string_lossy().into_owned();
    let is_same = |file: &String| {
        let other = std::fs::metadata(file).ok();
        other.is_some_and(|other| (other.dev(), other.ino()) == (found.dev(), found.ino())) && file != path
    };
    protected::fixed_files(&home).find(is_same)
}

/// How many paths are resolved. More than [`FILES`] are a failure, but those of the last commands still count.
const MAX_REAL_PATHS: usize = 2 * FILES.most;

/// Resolves the symlinks in the paths of a call. Contains only paths that lead elsewhere than their name says.
fn real_paths(paths: &[Cow<'_, str>], event: &Event<'_>, environment: &Environment) -> BTreeMap<String, String> {
    let project = event.place.project.clone().unwrap_or_else(|| event.place.cwd.clone());
    let home = environment.home.as_ref().map(|home| home.to_string_lossy().into_owned());
    let named = [project].into_iter().chain(home).map(|name| AbsPath::resolve(&name, &Place::default()).to_string());
    let mut resolver = SymlinkResolver::new(named);
    let resolve = |path: &Cow<'_, str>| {
        let real = resolver.resolve(path).or_else(|| protected_hard_link(path, environment))?;
        Some((path.to_string(), real))
    };
    paths.iter().take(MAX_REAL_PATHS).filter_map(resolve).collect()
}

/// The text of the files that an edit changes, by their names and by their real paths.
fn contents(paths: &[Cow<'_, str>], real: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let names = paths.iter().map(AsRef::as_ref).chain(real.values().map(String::as_str));
    names.filter_map(|path: &str| Some((path.to_owned(), read_text(Path::new(path)).ok()??))).collect()
}

fn after(event: &Event<'_>, config: &Config, environment: &Environment, state: &dyn SessionState) -> CollectedFacts {
    let mut collected = CollectedFacts::default();
    let mut facts = Facts {
        silenced: environment.quarantine_disabled && !project_disables_quarantine(environment, &event.place.cwd),
        ..Facts::default()
    };
    if config.results == Results::Wrap && event.phase == Phase::After {
        facts.nonce = nonce();
    }
    // Taint decides whether an agent's result is untrusted, and counts the notices for a server.
    if matches!(event.action, Action::Agent { .. } | Action::Mcp { .. } | Action::Resource { .. }) {
        facts.taint = state.taint(&event.header.session).unwrap_or_else(|_| Taint::unknown());
        // Without the memory, asks are repeated and nothing goes back to where it came from.
        facts.memory = state.memory(&event.header.session).unwrap_or_default();
        facts.answers = answers_here(event, environment);
    }
    if matches!(event.action, Action::Mcp { .. } | Action::Resource { .. }) {
        let servers = project_servers(environment, &event.place.cwd).map_err(Failure::Config);
        facts.project_servers = collected.value_or(servers, Vec::new());
    }
    if let Action::Read { paths } = &event.action {
        let real = |path: &Quarantined<String>| {
            let reason = Reason::new("a symlink may lead to an untrusted directory").ok()?;
            let name = path.expose(reason, &mut Audit::new(|_| {}));
            Some(std::fs::canonicalize(Path::new(&event.place.cwd).join(name)).ok()?.to_string_lossy().into_owned())
        };
        facts.read_paths = paths.iter().filter_map(real).collect();
    }
    // Only a pin distinguishes a trusted server from a project's server of the same name.
    if matches!(event.action, Action::Mcp { .. }) && !facts.project_servers.is_empty() {
        facts.pins = mcp_facts::look_up(event, config, environment);
    }
    CollectedFacts { facts, ..collected }
}

/// Facts for a prompt: the words that are known.
fn prompt(event: &Event<'_>, state: &dyn SessionState) -> CollectedFacts {
    let memory = state.memory(&event.header.session);
    Facts { memory: memory.unwrap_or_default(), ..Facts::default() }.into()
}

/// Who answers an ask: a person, unless the client runs headless or a foreign hook answers permission requests.
fn answers_here(event: &Event<'_>, environment: &Environment) -> Answers {
    if event.facts.answers == Answers::Other || environment.unattended {
        return Answers::Other;
    }
    let project = environment.project_for(&event.place.cwd).unwrap_or_default();
    let dirs = environment.settings_dirs(&project);
    let files = Scope::NAMED.into_iter().filter_map(|scope| environment.client.settings_file(scope, &dirs));
    let fragments = std::fs::read_dir(dirs.managed.join(environment.client.locations().managed_fragments));
    let mut files = files.chain(fragments.into_iter().flatten().flatten().map(|entry| entry.path()));
    let may_answer = |file: PathBuf| match read_settings_text(&file) {
        Ok(None) => false,
        Ok(Some(text)) => environment.client.read_settings(&text).map_or(true, |settings| settings.answers_prompts()),
        Err(_) => true,
    };
    let by_plugin = || {
        let mut read = |file: &Path| read_settings_text(file).ok().flatten();
        environment.client.plugins_answer_prompts(&dirs, Path::new(&event.place.cwd), &mut read)
    };
    if files.any(may_answer) || by_plugin() { Answers::Other } else { event.facts.answers }
}

/// A random number that a result cannot contain.
fn nonce() -> Option<Nonce> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    Some(Nonce::new(random))
}
