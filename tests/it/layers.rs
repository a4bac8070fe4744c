//! The layers of the source tree: a module imports only from modules that `lib.rs` lists before it.

use crate::support::sandbox::files_below;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// An import between two top-level modules.
#[derive(Debug)]
struct Import {
    file: PathBuf,
    from: String,
    to: String,
}

fn source_files(folder: &Path) -> Vec<PathBuf> {
    files_below(folder).into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The text of a file before its unit tests, which may use any layer.
fn product_code(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    text.split("#[cfg(test)]").next().unwrap_or_default().to_owned()
}

/// The names after `crate::` in a text, also in grouped imports.
fn imported(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for rest in text.split("crate::").skip(1) {
        let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        match rest.strip_prefix('{').and_then(|group| group.split_once('}')) {
            Some((group, _)) => names.extend(group.split(',').map(|item| word(item.trim()))),
            None => drop(names.insert(word(rest))),
        }
    }
    names.retain(|name| name.starts_with(|c: char| c.is_ascii_lowercase()));
    names
}

/// The modules that a file declares, in order.
fn declared(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let names = text.lines().filter_map(|line| {
        let line = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub ")).unwrap_or(line);
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    names.map(str::to_owned).collect()
}

fn imports() -> Vec<Import> {
    let root = source();
    let mut imports = Vec::new();
    for file in source_files(&root) {
        let relative = file.strip_prefix(&root).unwrap().to_owned();
        let from = relative.iter().next().unwrap().to_string_lossy().trim_end_matches(".rs").to_owned();
        let is_test = relative.to_string_lossy().ends_with("tests.rs");
        if from != "main" && from != "lib" && !is_test {
            let to = imported(&product_code(&file)).into_iter().filter(|to| *to != from);
            imports.extend(to.map(|to| Import { file: relative.clone(), from: from.clone(), to }));
        }
    }
    imports
}

#[test]
fn a_module_imports_only_from_layers_above_it() {
    let library = declared(&source().join("lib.rs"));
    let binary = vec!["runtime".to_owned(), "commands".to_owned()];
    assert!(library.len() > 10, "{library:?}");
    let rank = |name: &str| {
        let at = |list: &[String]| list.iter().position(|known| known == name);
        at(&library).or_else(|| at(&binary))
    };
    let imports = imports();
    assert!(imports.len() > 100, "{}", imports.len());
    let wrong: Vec<String> = imports
        .iter()
        .filter(|import| match (rank(&import.from), rank(&import.to)) {
            (Some(from), Some(to)) => to >= from,
            _ => false,
        })
        .map(|import| format!("{}: `{}` imports `{}`", import.file.display(), import.from, import.to))
        .collect();
    assert!(wrong.is_empty(), "imports against the order of the layers:\n{}", wrong.join("\n"));
}
