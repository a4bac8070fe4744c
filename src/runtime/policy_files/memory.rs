//! What was read of a policy: each file once, for who judges by it and for who writes down what was decided.

use super::{is_missing, read_copy, rules};
use crate::runtime::environment::Environment;
use rune::rules::RuleKind;
use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};

/// The texts of a policy, as far as they were read.
#[derive(Debug, Default)]
pub struct PolicyTexts {
    texts: RefCell<Vec<(PathBuf, Option<Cow<'static, str>>)>>,
    folders: RefCell<Vec<(PathBuf, Vec<String>)>>,
    directory: OnceCell<Option<PathBuf>>,
    /// The preset in force.
    pub preset: OnceCell<String>,
}

impl PolicyTexts {
    /// The directory of the policy, where it is there: without one there is nothing to ask for file by file.
    pub fn directory(&self, environment: &Environment) -> Option<&Path> {
        let there = || environment.config_dir.clone().filter(|directory| !is_missing(directory));
        self.directory.get_or_init(there).as_deref()
    }

    /// The text of a file, `None` where there is none; of one that is like its embedded default, that. The error names
    /// the file.
    pub fn text(&self, path: &Path, embedded: Option<&'static str>) -> Result<Option<Cow<'static, str>>, String> {
        if let Some(known) = find(&self.texts.borrow(), path) {
            return Ok(known);
        }
        let text = read_copy(path, embedded.unwrap_or_default())?;
        self.texts.borrow_mut().push((path.to_owned(), text.clone()));
        Ok(text)
    }

    /// Notes which files of rules are in a folder.
    pub fn note(&self, folder: &Path, names: &[String]) {
        let names = names.iter().filter(|name| is_about_mcp(name)).cloned();
        self.folders.borrow_mut().push((folder.to_owned(), names.collect()));
    }

    /// The files of rules for MCP tools in a folder.
    pub fn mcp_rules(&self, folder: &Path) -> Vec<String> {
        let known = find(&self.folders.borrow(), folder);
        known.unwrap_or_else(|| {
            let names = rules::names(folder).unwrap_or_default();
            names.into_iter().filter(|name| is_about_mcp(name)).collect()
        })
    }
}

/// What is known of a path, letter by letter: whoever asks makes it in the same way.
fn find<T: Clone>(known: &[(PathBuf, T)], path: &Path) -> Option<T> {
    known.iter().find(|(known, _)| known.as_os_str() == path.as_os_str()).map(|(_, what)| what.clone())
}

fn is_about_mcp(name: &str) -> bool {
    RuleKind::from_file_name(name) == Some(RuleKind::Mcp)
}
