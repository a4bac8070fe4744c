//! Programs that nobody has allowed: not of the everyday kind, not on the operator's list, not the project's own.

mod everyday;

use super::{Context, command, suspicious};
use crate::decide::subject::Subject;
use crate::event::{Action, Dialect};
use crate::path::Place;
use crate::path::zones::Area;
use crate::path::{AbsPath, Glob, Reach, globs, touches};
use crate::programs::Does;
use crate::rules::Match;
use crate::shell::{Command, is_builtin};
use compact_str::CompactString;

/// Directories of a project that its tools put programs into.
const TOOLED: [&[&str]; 7] = [
    &["node_modules", ".bin"],
    &[".venv", "bin"],
    &["venv", "bin"],
    &["env", "bin"],
    &["vendor", "bin"],
    &[".venv", "Scripts"],
    &["target"],
];

/// Directories of the home, and elsewhere, that people install their tools to.
const INSTALLED: [Glob<'_>; 21] = globs([
    "~/.cargo/bin/*", "~/.local/bin/*", "~/go/bin/*", "~/.bun/bin/*", "~/.deno/bin/*", "~/.nvm/**", "~/.volta/**",
    "~/.pyenv/**", "~/.rbenv/**", "~/.asdf/**", "~/.sdkman/**", "~/.rustup/**", "~/.dotnet/**",
    "~/.local/share/mise/**", "/opt/homebrew/**", "/home/linuxbrew/**", "/usr/local/**", "/usr/lib/**",
    "/nix/store/**", "/snap/bin/*", "/opt/local/**",
]);

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    let program = command.program.as_str();
    // A program that cannot be known is not unknown in this sense, and a function is what it is made of.
    if !command.known
        || program.is_empty()
        || context.reading().is_some_and(|reading| reading.functions.contains(program))
    {
        return None;
    }
    if !program.contains('/') {
        if is_known(program, context) || is_catalogued(command, context) {
            return None;
        }
        // A file that is read into the shell may define it.
        let sourced = context.reading().and_then(|reading| reading.sourced).is_some_and(|at| at < command.span.start);
        let defined = sourced && program.contains('_');
        return (!defined).then(|| suspicious("the program is not on the list of allowed ones")).flatten();
    }
    // Elsewhere there are other files.
    if command.via.iter().any(|runner| {
        matches!(runner.as_str(), "docker" | "podman" | "nerdctl" | "docker-compose" | "kubectl" | "oc" | "ssh")
    }) {
        return None;
    }
    let name = program.rsplit('/').next().unwrap_or_default();
    let place = Place {
        cwd: command.cwd.as_deref().unwrap_or_default().to_owned(),
        home: context.event.place.home.clone(),
        project: None,
    };
    if command.cwd.is_none() && !program.starts_with('/') {
        return suspicious("the directory of this program is only known when it runs");
    }
    let path = AbsPath::resolve(program, &place);
    let listed = is_known(name, context);
    if context.zones.area(&path) == Area::Inside {
        // `bin/rake` and its like are written by their own tools.
        let stub = path.directories().ends_with_parts(&["bin"]) && matches!(name, "rake" | "bundler" | "yarn");
        let tooled = stub || TOOLED.iter().any(|tool| path.directories().ends_with_parts(tool));
        let shadow = is_allowed(name, context) && !tooled;
        return shadow.then(|| suspicious("a program in the project bears the name of a known one")).flatten();
    }
    if listed && INSTALLED.iter().any(|glob| touches(*glob, &path, Reach::Itself, context.zones.home.as_ref())) {
        return None;
    }
    suspicious("the program lies outside of the project and of where programs are installed")
}

trait EndsWithParts {
    fn ends_with_parts(&self, parts: &[&str]) -> bool;
}

impl EndsWithParts for [CompactString] {
    fn ends_with_parts(&self, parts: &[&str]) -> bool {
        let start = self.len().checked_sub(parts.len());
        start.and_then(|at| self.get(at..)).is_some_and(|tail| tail.iter().zip(parts).all(|(a, b)| a == b))
    }
}

fn is_allowed(name: &str, context: &Context<'_>) -> bool {
    context.config.executables.iter().any(|allowed| allowed == name)
}

/// Whether a command of PowerShell is one that the catalogue tells does nothing beyond its files.
fn is_catalogued(command: &Command, context: &Context<'_>) -> bool {
    matches!(context.event.action, Action::Shell { dialect: Dialect::PowerShell, .. })
        && command.doing().does.is_some_and(|does| does <= Does::Run)
}

pub(super) fn is_known(name: &str, context: &Context<'_>) -> bool {
    // `python3.12`, `pip3.12`, `gcc-13`: the version is not the name.
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    let listed = |name: &str| everyday::is_everyday(name) || is_builtin(name) || is_allowed(name, context);
    listed(name) || (!plain.is_empty() && plain != name && listed(plain)) || name.starts_with("git-")
}
