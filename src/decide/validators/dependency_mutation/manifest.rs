//! Manifests: the files in which a package ecosystem declares dependencies.

use serde_json::Value;
use std::collections::BTreeSet;

/// The format of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manifest {
    /// JSON, dependencies in some fields: `package.json`, `composer.json`, `vcpkg.json`.
    Json,
    /// TOML, dependencies in some tables: `Cargo.toml`, `pyproject.toml`, `Pipfile`, `libs.versions.toml`.
    Toml,
    /// One dependency per line: `requirements.txt`, `conanfile.txt`.
    Lines,
    /// Dependencies in lines with one of these words, between `|`: `go.mod`, `Gemfile`, `mix.exs`, `pom.xml`, `setup.py`.
    Words(&'static str),
}

// The lists of `rules/manifests.toml`.
include!(concat!(env!("OUT_DIR"), "/manifests.rs"));

impl Manifest {
    /// The format of the manifest with this file name; `None` if the file is not a manifest.
    pub fn of(name: &str) -> Option<Manifest> {
        let lower = name.to_ascii_lowercase();
        let file = lower.as_str();
        let fits = |name: &str| name == file || name.strip_prefix('*').is_some_and(|end| file.ends_with(end));
        let mut rows = FILES_WORDS.iter().filter_map(|row| row.split_once('|'));
        match file {
            _ if FILES_JSON.contains(&file) => Some(Manifest::Json),
            _ if FILES_TOML.contains(&file) => Some(Manifest::Toml),
            _ if FILES_LINES.contains(&file) => Some(Manifest::Lines),
            _ if file.starts_with("requirements") && (file.ends_with(".txt") || file.ends_with(".in")) => {
                Some(Manifest::Lines)
            }
            _ => rows.find(|(names, _)| names.split(',').any(fits)).map(|(_, words)| Manifest::Words(words)),
        }
    }

    /// Whether two versions of the file have different dependencies, or differ at all if one cannot be parsed.
    pub fn has_changed(self, before: &str, after: &str) -> bool {
        match (self.dependencies(before), self.dependencies(after)) {
            (Some(before), Some(after)) => before != after,
            _ => before != after,
        }
    }

    /// Whether the replacement of a part of the file changes dependencies.
    pub fn shows_change(self, old: &str, new: &str) -> bool {
        match self {
            Manifest::Lines => old.trim() != new.trim(),
            Manifest::Words(_) => self.dependencies(old) != self.dependencies(new),
            Manifest::Json => {
                let named = FIELDS_DEPENDENCIES
                    .iter()
                    .any(|field| [old, new].iter().any(|text| text.contains(&format!("\"{field}\""))));
                (named && old != new) || versions(old, ':') != versions(new, ':')
            }
            Manifest::Toml => {
                let header = |text: &str| {
                    text.lines().map(str::trim).any(|line| {
                        is_dependency_table(line) || line.starts_with("dependencies") || line.starts_with("requires =")
                    })
                };
                ((header(old) || header(new)) && old != new) || versions(old, '=') != versions(new, '=')
            }
        }
    }

    /// The dependencies in a text; `None` if it cannot be parsed.
    fn dependencies(self, text: &str) -> Option<BTreeSet<String>> {
        match self {
            Manifest::Json if text.trim().is_empty() => Some(BTreeSet::new()),
            Manifest::Json => {
                let value: Value = serde_json::from_str(text).ok()?;
                let object = value.as_object()?;
                let fields = object.iter().filter(|(name, _)| FIELDS_DEPENDENCIES.contains(&name.as_str()));
                let texts = fields.map(|(name, value)| format!("{name} {value}"));
                Some(texts.filter(|field| !field.ends_with("{}")).collect())
            }
            Manifest::Toml => {
                let mut in_table = false;
                let mut dependencies = BTreeSet::new();
                for line in text.lines().map(str::trim) {
                    // Arrays of dependencies may be in any table.
                    let starts = ["dependencies", "dev-dependencies", "requires =", "\""];
                    if line.starts_with('[') && !line.starts_with("[\"") {
                        in_table = is_dependency_table(line);
                    } else if in_table && !line.is_empty() && !line.starts_with('#')
                        || !in_table && starts.iter().any(|start| line.starts_with(start))
                    {
                        dependencies.insert(line.to_owned());
                    }
                }
                Some(dependencies)
            }
            Manifest::Lines => {
                let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
                Some(lines.filter(|line| !line.is_empty()).map(str::to_owned).collect())
            }
            Manifest::Words(words) => {
                let lines =
                    text.lines().map(str::trim).filter(|line| !line.starts_with("//") && !line.starts_with('#'));
                // A declaration may go on in the lines below: `install_requires =`, `require (`.
                let mut is_open = false;
                let declares = |line: &&str| {
                    let declares = words.split('|').any(|word| line.contains(word.trim_start()));
                    let goes_on = is_open && !line.is_empty() && !line.starts_with([']', ')', '}', '[']);
                    is_open = goes_on || declares && line.ends_with(['=', '[', '(', '{']);
                    declares || goes_on
                };
                Some(lines.filter(declares).map(str::to_owned).collect())
            }
        }
    }
}

/// Lines that assign a version to a name, except for those about the package itself.
fn versions(text: &str, sign: char) -> BTreeSet<String> {
    let pairs = text.lines().filter_map(|line| {
        let (name, value) = line.trim().trim_end_matches(',').split_once(sign)?;
        // A version is a string; a number is some other setting.
        let value = value.trim().strip_prefix('"')?.trim_end_matches('"');
        let name = name.trim().trim_matches('"');
        let bare = value.trim_start_matches(['^', '~', '>', '=', '<', 'v']);
        let is_version = bare.starts_with(|c: char| c.is_ascii_digit()) && value.chars().all(|c| !c.is_whitespace());
        let is_location = ["npm:", "git", "http", "file:", "link:", "workspace:", "github:"]
            .iter()
            .any(|start| value.starts_with(start));
        let is_package_name =
            name.chars().all(|c| c.is_ascii_alphanumeric() || "@/._-".contains(c)) && !name.is_empty();
        ((is_version || is_location) && is_package_name && !FIELDS_PACKAGE.contains(&name))
            .then(|| format!("{name} {value}"))
    });
    pairs.collect()
}

fn is_dependency_table(line: &str) -> bool {
    let Some(name) = line.strip_prefix('[') else { return false };
    let name = name.trim_start_matches('[').split(']').next().unwrap_or_default();
    name.split('.').any(|part| {
        FIELDS_DEPENDENCIES.contains(&part.trim().trim_matches(['"', '\'']))
            || matches!(part.trim(), "libraries" | "versions" | "plugins")
    })
}

#[cfg(test)]
#[path = "../../../../tests/unit/decide/validators/dependency_mutation/manifest.rs"]
mod tests;
