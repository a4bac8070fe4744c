//! Files that nobody should write on the way: one table for every tool and every command that writes.

use super::secret_access::{has_name_of_key, is_listed_key};
use super::{Context, block, is_contained, suspicious};
use crate::decide::subject::{Subject, SubjectKind};
use crate::path::zones::Area;
use crate::path::{AbsPath, Extent, Glob, globs, touches, touches_tree};
use crate::rules::Match;
use crate::shell::{Access, Act, Rights};

/// What shells run when they start, and what the system runs by itself.
const STARTED: [Glob<'_>; 22] = globs([
    "**/.bashrc", "**/.bash_profile", "**/.bash_login", "**/.bash_logout", "**/.bash_aliases", "**/.profile",
    "**/.zshrc", "**/.zshenv", "**/.zprofile", "**/.zlogin", "**/.kshrc", "**/.cshrc", "~/.config/fish/**",
    "~/.inputrc", "~/.gitconfig", "~/.config/git/**", "~/.config/autostart/**", "~/.config/systemd/**",
    "~/Library/LaunchAgents/**", "~/.vimrc", "~/.pythonrc", "~/.xprofile",
]);

/// Keys and passwords.
const KEYS: [Glob<'_>; 16] = globs([
    "~/.ssh/**", "~/.aws/**", "~/.config/gcloud/**", "~/.azure/**", "~/.kube/**", "~/.gnupg/**",
    "~/.docker/config.json", "~/.netrc", "~/.npmrc", "~/.pypirc", "~/.git-credentials", "~/.config/gh/**",
    "~/.cargo/credentials*", "~/.gem/credentials", "~/.password-store/**", "~/.local/share/keyrings/**",
]);

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let access = subject.touched()?;
    let path = access.target.path.as_ref()?;
    match access.act {
        Act::Write | Act::Redirect | Act::Link => {}
        Act::Change => return rights_of(path, access, context),
        Act::Read | Act::Match | Act::List | Act::Remove | Act::Move | Act::Restore => return None,
    }
    let links = access.act == Act::Link && access.deep;
    let reach = if access.target.open || links { Extent::Tree } else { Extent::Exact };
    let touches = |glob: &Glob<'_>| touches(*glob, path, reach, context.zones.home.as_ref());
    let sensitive =
        || context.sensitive.iter().any(|place| touches_tree(*place, path, reach, context.zones.home.as_ref()));
    if STARTED.iter().any(touches) {
        return block("the file is run whenever a shell or a session starts");
    }
    if KEYS.iter().any(touches) || sensitive() {
        return block("the file holds keys or passwords");
    }
    if is_secret_settings(path) {
        let what = "the file holds the secrets of the project";
        return if matches!(subject.subject, SubjectKind::File(_)) { block(what) } else { suspicious(what) };
    }
    match context.zones.area(path) {
        Area::System | Area::Vital if !access.target.open => block("the file belongs to the system"),
        Area::System
        | Area::Vital
        | Area::ProjectRoot
        | Area::InProject
        | Area::TempRoot
        | Area::InTemp
        | Area::Device
        | Area::Other => None,
    }
}

/// Judges a change of rights on a file or on a directory above it: by what the owner loses and what others gain.
fn rights_of(path: &AbsPath, access: &Access, context: &Context<'_>) -> Option<Match> {
    if is_contained(access, path, context) {
        return None;
    }
    let rights = context.effects().map_or(Rights::UNKNOWN, |effects| effects.rights(access));
    let home = context.zones.home.as_ref();
    let reach = if access.target.open { Extent::Tree } else { Extent::Exact };
    let started = |reach| STARTED.iter().any(|glob| touches(*glob, path, reach, home));
    let key = |reach| {
        KEYS.iter().any(|glob| touches(*glob, path, reach, home))
            || context.sensitive.iter().any(|place| touches_tree(*place, path, reach, home))
    };
    if started(reach) && rights.harms_file() {
        return block("the file is run whenever a shell or a session starts");
    }
    if key(reach) && rights.harms_file() {
        return block("the file holds keys or passwords");
    }
    let given = if rights.recursive { Extent::Tree } else { reach };
    if rights.shows_file() && (is_listed_key(path, given, context) || key(given) && has_name_of_key(path)) {
        return block("others may read keys or passwords");
    }
    let above = rights.harms_directory() && !started(reach) && !key(reach);
    if above && (started(Extent::Tree) || key(Extent::Tree)) {
        return block("the directory holds keys, or what is run whenever a session starts");
    }
    None
}

/// `.env` and its variants, but not the examples that are made to be shared.
pub(super) fn is_secret_settings(path: &AbsPath) -> bool {
    let Some(name) = path.components().last().map(|name| name.trim()) else { return false };
    if !name.starts_with('.') && !name.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[')) {
        return false;
    }
    let mut name = name.to_ascii_lowercase();
    // A search meets a dot by a wildcard, and is about the file if it says most of its name.
    if name.starts_with(['*', '?', '[']) && path.components().iter().any(|part| part == "**") {
        let says = |file: &str, least: usize| {
            letters_of(&name) >= least && crate::path::names_overlap(file.as_bytes(), name.as_bytes())
        };
        if says(".env", 2) || says(".envrc", 4) {
            return true;
        }
        name = name.trim_start_matches(['*', '?']).to_owned();
    }
    let shared = [
        "example", "sample", "template", "dist", "defaults", "default", "schema", "test", "ci", "tpl", "j2", "erb",
        "md",
    ];
    // A pattern that could be it.
    if name.contains(['*', '?', '['])
        && !name.starts_with(['*', '?', '['])
        && crate::path::names_overlap(b".env", name.as_bytes())
    {
        return true;
    }
    let variant = name.strip_prefix(".env").or_else(|| name.strip_prefix(".envrc"));
    match variant {
        Some("" | "rc") => true,
        Some(rest) if rest.starts_with(['.', '-', '_']) => {
            !rest.split(['.', '-', '_']).any(|part| shared.contains(&part))
        }
        Some(rest) => rest.contains(['*', '?', '[']),
        None => false,
    }
}

/// How many characters of a name a pattern says; a dot is none, and a class is one where it picks.
pub(super) fn letters_of(pattern: &str) -> usize {
    let mut parts = pattern.split('[');
    let plain = |part: &str| part.chars().filter(|c| !matches!(c, '*' | '?' | '.' | ']')).count();
    let first = parts.next().map_or(0, plain);
    let of_class = |part: &str| {
        let behind = part.split_once(']').map_or(0, |(_, behind)| plain(behind));
        behind + usize::from(!part.starts_with(['!', '^', '.']))
    };
    first + parts.map(of_class).sum::<usize>()
}

#[cfg(test)]
#[path = "../../../tests/unit/decide/validators/protected_path.rs"]
mod tests;
