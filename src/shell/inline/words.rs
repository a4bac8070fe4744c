//! Names of functions by their parts, and texts that are command lines.

use crate::programs::code::{self, lists};
use crate::programs::{self, Entry};

/// The words of a name: `removeDirectoryRecursive`, `remove_dir_all`, `delete-directory/files`.
pub(super) fn parts_of(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut part = String::new();
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && part.ends_with(char::is_lowercase) {
            parts.push(std::mem::take(&mut part));
        }
        if c.is_alphanumeric() {
            part.push(c);
        }
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts.iter_mut().for_each(|part| part.make_ascii_lowercase());
    parts
}

/// Whether the name of a function says that it runs something.
pub(super) fn is_runner(name: &str) -> bool {
    let parts = parts_of(name);
    let inspects = parts.first().is_some_and(|verb| lists(&code::WORDS_INSPECTING, verb));
    !inspects && parts.iter().any(|part| lists(&code::WORDS_RUNNERS, part))
}

/// Whether the name of a function says that it removes something.
pub(in crate::shell) fn is_remover(name: &str) -> bool {
    parts_of(name).iter().any(|part| lists(&code::WORDS_REMOVE, part))
}

/// Whether the name of a function says that it removes a file or a directory with what is in it.
pub(super) fn removes_trees(name: &str) -> bool {
    let parts = parts_of(name);
    let removes = |part: &String| lists(&code::WORDS_REMOVE, part);
    let is_tree = |part: &String| lists(&code::WORDS_TREES, part);
    let alone = ["rimraf", "trash", "finddepth", "deltree", "rmtree"].contains(&name);
    alone || parts.iter().any(removes) && parts.iter().any(is_tree)
}

/// The entry of a program that can do more than print.
pub(in crate::shell) fn serious_program(word: &str) -> Option<&'static Entry> {
    let program = word.rsplit('/').next().filter(|name| !name.is_empty() && !name.contains(char::is_whitespace))?;
    programs::embedded(program).filter(|entry| entry.does.is_some() && entry.does != Some(programs::Does::Look))
}

/// Whether a word is an option, a path or a verb of a program.
pub(super) fn looks_like_argument(word: &str, entry: &Entry) -> bool {
    word.starts_with('-') && word.len() > 1
        || word.starts_with(['/', '~', '$'])
        || word.contains('/') && !word.contains("//")
        || word == "*"
        || entry.verbs.iter().any(|verb| verb.names().any(|name| name == word))
}

/// Whether a text is a command line of a program that can do more than print.
pub(in crate::shell) fn is_command_line(text: &str) -> bool {
    let text = text.trim().trim_start_matches('|').trim();
    let mut words = text.split_whitespace().skip_while(|word| word.contains('=') && !word.starts_with('-'));
    let Some(entry) = words.next().and_then(serious_program) else { return false };
    let first_line = text.lines().next().unwrap_or_default();
    first_line == text && words.any(|word| looks_like_argument(word, entry))
}

/// Whether a text is a single word without a path.
pub(super) fn is_plain_word(text: &str) -> bool {
    !text.trim().contains(|c: char| !c.is_ascii_alphanumeric())
}

/// Whether a function of a compiled language works on text.
pub(super) fn prints(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    lists(&code::WORDS_PRINTING, &name) || lists(&code::WORDS_TEXT, &name)
}

/// Whether the name of a function says that it takes the path of a file.
pub(super) fn opens_files(name: &str) -> bool {
    let verbs =
        ["open", "read", "write", "file", "files", "path", "load", "create", "append", "stream", "copy", "paths"];
    parts_of(name).iter().any(|part| verbs.contains(&part.as_str()))
}
