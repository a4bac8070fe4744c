//! Patches: which files they change.

use std::collections::BTreeSet;

/// Beginnings of lines that name a file, in the two forms that agents write.
const MARKS: [&str; 10] = [
    "*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ", "+++ ", "--- ", "rename from ",
    "rename to ", "copy to ", "diff --git ",
];

/// The files that a patch names.
pub fn paths(patch: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for line in patch.lines() {
        let Some((mark, name)) = MARKS.iter().find_map(|mark| line.strip_prefix(mark).map(|rest| (*mark, rest))) else {
            continue;
        };
        let names: Vec<&str> = match mark {
            "diff --git " => name.split(' ').collect(),
            // A date may stand behind a tab.
            _ => vec![name.split('\t').next().unwrap_or_default()],
        };
        for name in names {
            let name = name.trim().trim_matches('"');
            let bare = name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).filter(|_| !mark.starts_with('*'));
            // `a/x` is `x` to most readers and itself to some.
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
