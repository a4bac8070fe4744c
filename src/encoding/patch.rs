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

#[cfg(test)]
#[path = "../../tests/unit/encoding/patch.rs"]
mod tests;
