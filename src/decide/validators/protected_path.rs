//! Writes to protected files: startup files, keys and system files.

use super::destructive_delete::is_part_of_history;
use super::secret_access::{has_name_of_key, is_listed_key};
use super::{Context, block, block_if, command_of, is_contained, suspicious};
use crate::decide::subject::{Subject, SubjectKind};
use crate::path::protected::{Class, Lookup};
use crate::path::zones::Area;
use crate::path::{AbsPath, Extent, names_overlap, touches_tree};
use crate::rules::Match;
use crate::shell::{Access, Act, Rights};

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let access = subject.file_access()?;
    let path = access.target.path.as_ref()?;
    match access.act {
        Act::Write | Act::Redirect | Act::Link => {}
        Act::Change => return judge_permissions(path, access, context),
        Act::Read | Act::Match | Act::List | Act::Remove | Act::Move | Act::Restore => return None,
    }
    let covers_below = access.act == Act::Link && access.deep;
    let reach = if access.target.open || covers_below { Extent::Tree } else { Extent::Exact };
    let home = context.zones.home.as_ref();
    let lookup = Lookup::new(path, reach, home);
    let is_in = |class: Class| lookup.is_in(class);
    let sensitive = || context.sensitive.iter().any(|place| touches_tree(*place, path, reach, home));
    if is_in(Class::Startup) {
        return block("is run whenever a shell or a session starts");
    }
    // `cp *.json /tmp/`: the pattern stands for the names of the copied files, not for a key that programs keep there.
    let is_copied = context.zones.area(path) == Area::InTemp
        && path.components().last().is_some_and(|name| name.starts_with(['*', '?', '[']));
    if !is_copied && (is_in(Class::Credentials) || is_in(Class::Keys)) || sensitive() {
        return block("holds keys or passwords");
    }
    if is_env_file(path) || is_in(Class::Secrets) {
        if is_copied_example(path, access, context) || is_made_from_example(path, access, context) {
            return None;
        }
        let reason = "holds the secrets of the project";
        return if matches!(subject.kind, SubjectKind::ToolAccess(_)) { block(reason) } else { suspicious(reason) };
    }
    if !access.target.open && is_part_of_history(path, context) {
        return suspicious("is what git keeps of the project, and would be overwritten");
    }
    let is_system = matches!(context.zones.area(path), Area::System | Area::Vital) && !access.target.open;
    block_if(is_system, "belongs to the system")
}

/// Whether a command copies an example such as `.env.example` to the file.
fn is_copied_example(path: &AbsPath, access: &Access, context: &Context<'_>) -> bool {
    let Some(effects) = context.effects() else { return false };
    let copies =
        command_of(access, context).is_some_and(|command| matches!(command.program.as_str(), "cp" | "install"));
    let is_example = |source: &AbsPath| {
        let name = source.components().last().map_or("", |name| name.as_str());
        source.directories() == path.directories() && name.starts_with(".env") && !is_env_file(source)
    };
    let mut reads = access.row.into_iter().flat_map(|row| effects.of_command(row)).filter(|read| read.act == Act::Read);
    let first = reads.next();
    let examples = |read: &Access| read.target.path.as_ref().is_some_and(is_example);
    copies && first.is_some_and(examples) && reads.all(examples)
}

/// Whether an earlier command of the same text put a copy of an example in the place of the file:
/// `cp .env.example .env && sed -i … .env`.
fn is_made_from_example(path: &AbsPath, access: &Access, context: &Context<'_>) -> bool {
    let (Some(effects), Some(reading), Some(here)) =
        (context.effects(), context.reading(), command_of(access, context))
    else {
        return false;
    };
    let replaces = |row: usize| {
        let command = reading.commands.get(row).filter(|command| command.span.start < here.span.start);
        // With `-n` and `-u`, the file may be the old one.
        command.is_some_and(|command| {
            command.args.iter().all(|arg| arg.is_known() && !(arg.text.starts_with('-') && arg.text != "-f"))
        })
    };
    let written = effects.accesses.iter().filter(|other| {
        matches!(other.act, Act::Write) && other.target.path.as_ref() == Some(path) && other.row.is_some_and(replaces)
    });
    written.into_iter().any(|other| is_copied_example(path, other, context))
}

/// Judges a change of permissions on a protected file or a directory above it: what the owner loses and others gain.
fn judge_permissions(path: &AbsPath, access: &Access, context: &Context<'_>) -> Option<Match> {
    if is_contained(access, path, context) {
        return None;
    }
    let rights = context.effects().map_or(Rights::UNKNOWN, |effects| effects.rights(access));
    let home = context.zones.home.as_ref();
    let reach = if access.target.open { Extent::Tree } else { Extent::Exact };
    let is_startup = |reach| Class::Startup.contains(path, reach, home);
    let is_key = |reach| {
        Class::Credentials.contains(path, reach, home)
            || Class::Keys.contains(path, reach, home)
            || context.sensitive.iter().any(|place| touches_tree(*place, path, reach, home))
    };
    if is_startup(reach) && rights.harms_file() {
        return block("is run whenever a shell or a session starts");
    }
    if is_key(reach) && rights.harms_file() {
        return block("holds keys or passwords");
    }
    let changed = if rights.recursive { Extent::Tree } else { reach };
    if rights.shows_file() && (is_listed_key(path, changed, context) || is_key(changed) && has_name_of_key(path)) {
        return block("holds keys or passwords, and others may read it then");
    }
    let is_above = !is_startup(reach) && !is_key(reach) && (is_startup(Extent::Tree) || is_key(Extent::Tree));
    block_if(rights.harms_directory() && is_above, "holds keys, or what is run whenever a session starts")
}

/// Whether a path is `.env` or a variant of it, but not an example such as `.env.sample`.
pub(super) fn is_env_file(path: &AbsPath) -> bool {
    let Some(name) = path.components().last().map(|name| name.trim()) else { return false };
    if !name.starts_with('.') && !name.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'[')) {
        return false;
    }
    let mut name = name.to_ascii_lowercase();
    // In a search, a wildcard matches a dot too. The pattern is about the file if it spells out most of the name.
    if name.starts_with(['*', '?', '[']) && path.components().iter().any(|part| part == "**") {
        let spells =
            |file: &str, least: usize| literal_chars(&name) >= least && names_overlap(file.as_bytes(), name.as_bytes());
        // `[.]*` stands for hidden names only.
        if spells(".env", 1) || spells(".envrc", 4) || name.starts_with("[.") && names_overlap(b".env", name.as_bytes())
        {
            return true;
        }
        name = name.trim_start_matches(['*', '?']).to_owned();
    }
    let example_suffixes = [
        "example", "sample", "template", "dist", "defaults", "default", "schema", "test", "ci", "tpl", "j2", "erb",
        "md",
    ];
    // A pattern that may match `.env`.
    if name.contains(['*', '?', '[']) && !name.starts_with(['*', '?', '[']) && names_overlap(b".env", name.as_bytes()) {
        return true;
    }
    let variant = name.strip_prefix(".env").or_else(|| name.strip_prefix(".envrc"));
    match variant {
        Some("" | "rc") => true,
        // Type declarations of the variables.
        Some(rest) if rest.ends_with(".d.ts") && !rest.contains(['*', '?', '[']) => false,
        Some(rest) if rest.starts_with(['.', '-', '_']) => {
            !rest.split(['.', '-', '_']).any(|part| example_suffixes.contains(&part))
        }
        Some(rest) => rest.contains(['*', '?', '[']),
        None => false,
    }
}

/// Counts the literal characters of a pattern. A dot does not count, and a class that is not negated counts as one.
pub(super) fn literal_chars(pattern: &str) -> usize {
    let mut parts = pattern.split('[');
    let plain = |part: &str| part.chars().filter(|c| !matches!(c, '*' | '?' | '.' | ']')).count();
    let first = parts.next().map_or(0, plain);
    let count = |part: &str| {
        let after = part.split_once(']').map_or(0, |(_, after)| plain(after));
        after + usize::from(!part.starts_with(['!', '^', '.']))
    };
    first + parts.map(count).sum::<usize>()
}

#[cfg(test)]
#[path = "../../../tests/unit/decide/validators/protected_path.rs"]
mod tests;
