//! Manifests: where each ecosystem writes down what it depends on.

use serde_json::Value;
use std::collections::BTreeSet;

/// How a manifest is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manifest {
    /// `package.json`, `composer.json`, `vcpkg.json`: fields of a JSON object.
    Json,
    /// `Cargo.toml`, `pyproject.toml`, `Pipfile`, `libs.versions.toml`: tables.
    Toml,
    /// `requirements.txt`, `conanfile.txt`: every line.
    Lines,
    /// `go.mod`, `Gemfile`, `mix.exs`, `pom.xml`, `build.gradle`, `CMakeLists.txt`, `setup.py`: lines with these words.
    Words(&'static [&'static str]),
}

/// Fields and tables that hold dependencies.
const FIELDS: [&str; 18] = [
    "dependencies", "devDependencies", "peerDependencies", "optionalDependencies", "bundleDependencies",
    "bundledDependencies", "overrides", "resolutions", "require", "require-dev", "repositories", "dev-dependencies",
    "build-dependencies", "packages", "dev-packages", "patch", "optional-dependencies", "dependency-groups",
];

impl Manifest {
    pub fn of(name: &str) -> Option<Manifest> {
        let lower = name.to_ascii_lowercase();
        match lower.as_str() {
            "package.json" | "composer.json" | "vcpkg.json" | "conanfile.json" => Some(Manifest::Json),
            "cargo.toml" | "pyproject.toml" | "pipfile" | "libs.versions.toml" => Some(Manifest::Toml),
            "conanfile.txt" => Some(Manifest::Lines),
            "go.mod" => Some(Manifest::Words(&[
                "require", "replace", "exclude", "\tgithub.com", " v0.", " v1.", " v2.", " v3.",
            ])),
            "gemfile" | "gems.rb" => Some(Manifest::Words(&["gem ", "gem(", "source ", "git_source", "gemspec"])),
            "mix.exs" => Some(Manifest::Words(&["{:", "deps"])),
            "pom.xml" => {
                Some(Manifest::Words(&["dependency", "artifactId", "groupId", "<version>", "<repository", "plugin"]))
            }
            "build.gradle" | "build.gradle.kts" => Some(Manifest::Words(&[
                "implementation", "api(", "api ", "compileOnly", "runtimeOnly", "testImplementation", "classpath",
                "kapt", "maven", "id(", "id '",
            ])),
            "cmakelists.txt" => Some(Manifest::Words(&[
                "FetchContent_Declare", "ExternalProject_Add", "CPMAddPackage", "GIT_REPOSITORY", "GIT_TAG",
            ])),
            "conanfile.py" => Some(Manifest::Words(&["requires", "build_requires"])),
            "setup.py" | "setup.cfg" => {
                Some(Manifest::Words(&["install_requires", "extras_require", "==", ">=", "~="]))
            }
            _ if lower.ends_with(".gemspec") => {
                Some(Manifest::Words(&["add_dependency", "add_runtime_dependency", "add_development_dependency"]))
            }
            _ if lower.starts_with("requirements") && (lower.ends_with(".txt") || lower.ends_with(".in")) => {
                Some(Manifest::Lines)
            }
            _ => None,
        }
    }

    /// Whether two texts of the file name different dependencies. What cannot be read may.
    pub fn differ(self, before: &str, after: &str) -> bool {
        match (self.dependencies(before), self.dependencies(after)) {
            (Some(before), Some(after)) => before != after,
            _ => before != after,
        }
    }

    /// Whether a change shows by itself that it is about dependencies.
    pub fn shows(self, old: &str, new: &str) -> bool {
        match self {
            Manifest::Lines => old.trim() != new.trim(),
            Manifest::Words(_) => self.dependencies(old) != self.dependencies(new),
            Manifest::Json => {
                let named =
                    FIELDS.iter().any(|field| [old, new].iter().any(|text| text.contains(&format!("\"{field}\""))));
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

    /// What a text depends on, in no particular order.
    fn dependencies(self, text: &str) -> Option<BTreeSet<String>> {
        match self {
            Manifest::Json if text.trim().is_empty() => Some(BTreeSet::new()),
            Manifest::Json => {
                let value: Value = serde_json::from_str(text).ok()?;
                let object = value.as_object()?;
                let fields = object.iter().filter(|(name, _)| FIELDS.contains(&name.as_str()));
                Some(
                    fields
                        .map(|(name, value)| format!("{name} {value}"))
                        .filter(|field| !field.ends_with("{}"))
                        .collect(),
                )
            }
            Manifest::Toml => {
                let mut within = false;
                let mut found = BTreeSet::new();
                for line in text.lines().map(str::trim) {
                    if line.starts_with('[') && !line.starts_with("[\"") {
                        within = is_dependency_table(line);
                    } else if match within {
                        true => !line.is_empty() && !line.starts_with('#'),
                        // A list of them may stand in any table.
                        false => ["dependencies", "dev-dependencies", "requires =", "\""]
                            .iter()
                            .any(|start| line.starts_with(start)),
                    } {
                        found.insert(line.to_owned());
                    }
                }
                Some(found)
            }
            Manifest::Lines => Some(
                text.lines()
                    .map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
                    .filter(|line| !line.is_empty())
                    .collect(),
            ),
            Manifest::Words(words) => {
                let lines =
                    text.lines().map(str::trim).filter(|line| !line.starts_with("//") && !line.starts_with('#'));
                Some(
                    lines
                        .filter(|line| words.iter().any(|word| line.contains(word.trim_start())))
                        .map(str::to_owned)
                        .collect(),
                )
            }
        }
    }
}

/// Lines that pair a name with a version, as a dependency does, but for those that say it of the project itself.
fn versions(text: &str, sign: char) -> BTreeSet<String> {
    let own =
        ["version", "edition", "rust-version", "python", "requires-python", "node", "npm", "php", "name", "target"];
    let pairs = text.lines().filter_map(|line| {
        let (name, value) = line.trim().trim_end_matches(',').split_once(sign)?;
        // A version is a string; a number is a setting.
        let value = value.trim().strip_prefix('"')?.trim_end_matches('"');
        let name = name.trim().trim_matches('"');
        let bare = value.trim_start_matches(['^', '~', '>', '=', '<', 'v']);
        let versioned = bare.starts_with(|c: char| c.is_ascii_digit()) && value.chars().all(|c| !c.is_whitespace());
        let elsewhere = ["npm:", "git", "http", "file:", "link:", "workspace:", "github:"]
            .iter()
            .any(|start| value.starts_with(start));
        let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "@/._-".contains(c)) && !name.is_empty();
        ((versioned || elsewhere) && plain && !own.contains(&name)).then(|| format!("{name} {value}"))
    });
    pairs.collect()
}

fn is_dependency_table(line: &str) -> bool {
    let Some(name) = line.strip_prefix('[') else { return false };
    let name = name.trim_start_matches('[').split(']').next().unwrap_or_default();
    name.split('.').any(|part| {
        FIELDS.contains(&part.trim().trim_matches(['"', '\'']))
            || matches!(part.trim(), "libraries" | "versions" | "plugins")
    })
}

#[cfg(test)]
#[path = "../../../../tests/unit/decide/validators/dependency_mutation/manifest.rs"]
mod tests;
