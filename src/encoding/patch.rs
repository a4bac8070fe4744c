//! Finds the files that a patch changes.

use std::collections::BTreeSet;

/// Prefixes of lines that name a file, in the two formats that agents write.
const PREFIXES: [&str; 10] = [
    "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ", "rename from ",
    "rename to ", "copy to ", "diff --git ",
];

/// The paths in a patch, each once.
pub fn paths(patch: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for line in patch.lines() {
        let Some((prefix, name)) = PREFIXES.iter().find_map(|prefix| Some((*prefix, line.strip_prefix(prefix)?)))
        else {
            continue;
        };
        let names: Vec<&str> = match prefix {
            "diff --git " => name.split(' ').collect(),
            // A date may follow a tab.
            _ => vec![name.split('\t').next().unwrap_or_default()],
        };
        for name in names {
            let name = name.trim().trim_matches('"');
            let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).filter(|_| !prefix.starts_with('*'));
            // `a/x` means `x` to most programs and `a/x` to some.
            for name in [Some(name), bare].into_iter().flatten() {
                if !name.is_empty() && name != "/dev/null" && seen.insert(name) {
                    found.push(name.to_owned());
                }
            }
        }
    }
    found
}

/// The targets of the symlinks that a patch makes: the line added behind `new file mode 120000`.
pub fn link_targets(patch: &str) -> Vec<&str> {
    let mut is_link = false;
    let mut targets = Vec::new();
    for line in patch.lines() {
        if line.starts_with("diff --git ") {
            is_link = false;
        } else if line.ends_with(" 120000") && !line.starts_with(['+', '-', ' ']) {
            is_link = true;
        } else if let Some(target) = line.strip_prefix('+').filter(|rest| is_link && !rest.starts_with("++ ")) {
            targets.push(target);
        }
    }
    targets
}

/// What a patch adds to one file.
pub struct AddedText<'a> {
    /// The names that the file may have: `a/x` means `x` to most programs and `a/x` to some.
    pub names: Vec<&'a str>,
    /// The added lines.
    pub text: String,
}

/// The lines that a patch adds, by file.
pub fn added(patch: &str) -> Vec<AddedText<'_>> {
    let mut found: Vec<AddedText<'_>> = Vec::new();
    for line in patch.lines() {
        let named = ["+++ ", "*** Add File: ", "*** Update File: ", "*** Move to: "];
        if let Some(name) = named.iter().find_map(|prefix| line.strip_prefix(prefix)) {
            let name = name.split('\t').next().unwrap_or_default().trim().trim_matches('"');
            let bare = name.split_once('/').map(|(_, rest)| rest).filter(|_| line.starts_with('+'));
            let names = || std::iter::once(name).chain(bare);
            match found.last_mut() {
                Some(last) if line.starts_with("*** Move") => last.names.extend(names()),
                _ => found.push(AddedText { names: names().collect(), text: String::new() }),
            }
        } else if let (Some(line), Some(last)) = (line.strip_prefix('+'), found.last_mut()) {
            last.text.push_str(line);
            last.text.push('\n');
        }
    }
    found
}

#[cfg(test)]
#[path = "../../tests/unit/encoding/patch.rs"]
mod tests;
