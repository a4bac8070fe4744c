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

/// The targets of the symlinks that a patch makes: the lines added behind `new file mode 120000`.
pub fn link_targets(patch: &str) -> Vec<&str> {
    let mut is_link = false;
    let mut targets = Vec::new();
    for line in patch.lines() {
        if line.starts_with("diff --git ") {
            is_link = false;
        } else if ["new ", "old ", "index "].iter().any(|start| line.starts_with(start)) {
            is_link |= line.split_whitespace().any(is_link_mode);
        } else if let Some(target) = line.strip_prefix('+').filter(|rest| is_link && !rest.starts_with("++ ")) {
            targets.push(target);
        }
    }
    targets
}

/// Whether a word is the mode of a symlink. git reads it as an octal number and keeps the low bits (`parse_mode_line`).
fn is_link_mode(word: &str) -> bool {
    u64::from_str_radix(word, 8).is_ok_and(|mode| mode & FILE_TYPE == LINK)
}

/// The bits of a mode that hold the type of a file, and their value for a symlink.
const FILE_TYPE: u64 = 0o170_000;
const LINK: u64 = 0o120_000;

/// The parts of a patch about one file each: the names of the file, what its lines were, and what they become.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part<'a> {
    /// The names in the headers.
    pub names: Vec<&'a str>,
    /// The lines that stay and those that are removed.
    pub before: String,
    /// The lines that stay and those that are added.
    pub after: String,
    /// The lines that are added.
    pub added: String,
}

impl<'a> Part<'a> {
    /// The paths that the file may have: `a/x` means `x` to most programs and `a/x` to some.
    pub fn paths(&self) -> impl Iterator<Item = &'a str> {
        let bare = |name: &'a str| name.strip_prefix("a/").or_else(|| name.strip_prefix("b/"));
        self.names.iter().flat_map(move |name| std::iter::once(*name).chain(bare(name)))
    }
}

/// The parts of a patch, in both formats.
pub fn parts(patch: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut in_header = false;
    // The lines of the hunk that are still to come, before and after the change. They are no headers.
    let mut hunk = (0, 0);
    for line in patch.lines() {
        let header = PREFIXES.iter().find_map(|prefix| line.strip_prefix(prefix)).filter(|_| hunk == (0, 0));
        if let Some(names) = header {
            // `--- a` begins another file unless other headers precede it.
            if !in_header || parts.is_empty() {
                parts.push(Part::default());
            }
            in_header = true;
            let names = names.split(['\t', ' ']).map(|name| name.trim_matches('"')).filter(|name| !name.is_empty());
            parts.last_mut().into_iter().for_each(|part| part.names.extend(names.clone()));
            continue;
        }
        let Some(part) = parts.last_mut() else { continue };
        if let Some(lengths) = hunk_lengths(line).filter(|_| hunk == (0, 0)) {
            (in_header, hunk) = (false, lengths);
            continue;
        }
        let (sign, text) = line.split_at_checked(1).unwrap_or_default();
        in_header &= !matches!(sign, "@" | "+" | "-" | " ");
        // An empty line is one of the context.
        let (removes, adds) = (matches!(sign, "-" | " " | ""), matches!(sign, "+" | " " | ""));
        hunk = (hunk.0.saturating_sub(usize::from(removes)), hunk.1.saturating_sub(usize::from(adds)));
        if removes {
            part.before.extend([text, "\n"]);
        }
        if adds {
            part.after.extend([text, "\n"]);
        }
        if sign == "+" {
            part.added.extend([text, "\n"]);
        }
    }
    parts
}

/// The numbers of lines in a hunk: `@@ -1,2 +3 @@`.
fn hunk_lengths(line: &str) -> Option<(usize, usize)> {
    let mut ranges = line.strip_prefix("@@ -")?.split(" @@").next()?.split(" +");
    let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    Some((length(ranges.next()?)?, length(ranges.next()?)?))
}

#[cfg(test)]
#[path = "../../tests/unit/encoding/patch.rs"]
mod tests;
