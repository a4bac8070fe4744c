//! Programs that are neither well-known, nor allowed by the policy, nor part of the project.

mod everyday;

use super::{Context, command, suspicious, suspicious_if};
use crate::decide::subject::Subject;
use crate::path::zones::Area;
use crate::path::{AbsPath, Extent, Glob, Place, globs, touches};
use crate::programs;
use crate::rules::Match;
use crate::shell::is_builtin;
use compact_str::CompactString;

/// Directories of a project into which its tools install programs.
const TOOL_DIRECTORIES: [&[&str]; 7] = [
    &["node_modules", ".bin"],
    &[".venv", "bin"],
    &["venv", "bin"],
    &["env", "bin"],
    &["vendor", "bin"],
    &[".venv", "Scripts"],
    &["target"],
];

/// Directories outside of the project in which programs are installed.
const INSTALLED: [Glob<'_>; 21] = globs([
    "~/.cargo/bin/*", "~/.local/bin/*", "~/go/bin/*", "~/.bun/bin/*", "~/.deno/bin/*", "~/.nvm/**", "~/.volta/**",
    "~/.pyenv/**", "~/.rbenv/**", "~/.asdf/**", "~/.sdkman/**", "~/.rustup/**", "~/.dotnet/**",
    "~/.local/share/mise/**", "/opt/homebrew/**", "/home/linuxbrew/**", "/usr/local/**", "/usr/lib/**",
    "/nix/store/**", "/snap/bin/*", "/opt/local/**",
]);

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let command = command(subject)?;
    let program = command.program.as_str();
    // `DynamicCode` judges programs that are only known when they run. Functions are judged by their commands.
    if !command.known
        || program.is_empty()
        || context.reading().is_some_and(|reading| reading.functions.contains(program))
    {
        return None;
    }
    if !program.contains('/') {
        if is_known(program, context) {
            return None;
        }
        // A sourced file may define it as a function.
        let sourced = context.reading().and_then(|reading| reading.sourced).is_some_and(|at| at < command.span.start);
        let defined = sourced && program.contains('_');
        return suspicious_if(!defined, "the program is not on the list of allowed ones");
    }
    // Containers and other machines have files of their own.
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
    if context.zones.area(&path) == Area::InProject {
        // `bin/rake` and the like are written by the tools themselves.
        let is_stub = ends_with(path.directories(), &["bin"]) && matches!(name, "rake" | "bundler" | "yarn");
        let is_installed = is_stub || TOOL_DIRECTORIES.iter().any(|tool| ends_with(path.directories(), tool));
        let shadows = is_allowed(name, context) && !is_installed;
        return suspicious_if(shadows, "a program in the project bears the name of a known one");
    }
    let is_installed = |glob: &Glob<'_>| touches(*glob, &path, Extent::Exact, context.zones.home.as_ref());
    suspicious_if(
        !is_known(name, context) || !INSTALLED.iter().any(is_installed),
        "the program lies outside of the project and of where programs are installed",
    )
}

/// Whether the last directories of a path are these.
fn ends_with(directories: &[CompactString], last: &[&str]) -> bool {
    let start = directories.len().checked_sub(last.len());
    start.and_then(|at| directories.get(at..)).is_some_and(|tail| tail.iter().zip(last).all(|(a, b)| a == b))
}

/// Whether the policy allows a program.
fn is_allowed(name: &str, context: &Context<'_>) -> bool {
    context.config.executables.iter().any(|allowed| allowed == name)
}

/// Whether a program is well-known or allowed, with or without a version in its name.
pub(super) fn is_known(name: &str, context: &Context<'_>) -> bool {
    // `python3.12`, `pip3.12`, `gcc-13`
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').trim_end_matches('-');
    let listed = |name: &str| {
        everyday::is_everyday(name)
            || programs::embedded(name).is_some()
            || is_builtin(name)
            || is_allowed(name, context)
    };
    listed(name) || (!plain.is_empty() && plain != name && listed(plain)) || name.starts_with("git-")
}
