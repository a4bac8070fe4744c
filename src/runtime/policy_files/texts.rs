//! Caches policy files, so that each is read once, for the decision and for its receipt.

use super::read::{is_missing, read_copy};
use super::rules;
use crate::runtime::environment::Environment;
use rune::rules::RuleKind;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

/// The policy files that were read so far, with their content.
#[derive(Debug, Default)]
pub struct PolicyTexts {
    texts: RefCell<Vec<(PathBuf, Option<Cow<'static, str>>)>>,
    /// The rule files for MCP tools in each directory.
    rule_files: RefCell<Vec<(PathBuf, Vec<String>)>>,
    directory: OnceCell<Option<PathBuf>>,
    /// The preset in force, once it is known.
    pub preset: OnceCell<String>,
}

impl PolicyTexts {
    /// The directory of the operator's policy; `None` if it does not exist, so that no file in it is looked for.
    pub fn directory(&self, environment: &Environment) -> Option<&Path> {
        let find = || environment.config_dir.clone().filter(|directory| !is_missing(directory));
        self.directory.get_or_init(find).as_deref()
    }

    /// The text of a file; `None` if it does not exist. Borrows `embedded` if the file equals it. The error names the
    /// file.
    pub fn text(&self, path: &Path, embedded: Option<&'static str>) -> Result<Option<Cow<'static, str>>, String> {
        if let Some(cached) = find(&self.texts.borrow(), path) {
            return Ok(cached);
        }
        let text = read_copy(path, embedded.unwrap_or_default())?;
        self.texts.borrow_mut().push((path.to_owned(), text.clone()));
        Ok(text)
    }

    /// Caches which rule files a directory contains.
    pub fn cache_rule_files(&self, directory: &Path, names: &[String]) {
        let names = names.iter().filter(|name| is_mcp_rules(name)).cloned();
        self.rule_files.borrow_mut().push((directory.to_owned(), names.collect()));
    }

    /// The names of the rule files for MCP tools in a directory.
    pub fn mcp_rule_files(&self, directory: &Path) -> Vec<String> {
        let cached = find(&self.rule_files.borrow(), directory);
        cached.unwrap_or_else(|| {
            let names = rules::rule_files(directory).unwrap_or_default();
            names.into_iter().filter(|name| is_mcp_rules(name)).collect()
        })
    }
}

/// Finds the entry of a path. Paths are compared byte by byte, because all callers build them in the same way.
fn find<T: Clone>(cached: &[(PathBuf, T)], path: &Path) -> Option<T> {
    cached.iter().find(|(known, _)| known.as_os_str() == path.as_os_str()).map(|(_, value)| value.clone())
}

fn is_mcp_rules(name: &str) -> bool {
    RuleKind::from_file_name(name) == Some(RuleKind::Mcp)
}
