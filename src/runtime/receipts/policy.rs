//! A snapshot of the policy files by which calls of MCP tools are judged, and its hash.

use crate::runtime::environment::Environment;
use crate::runtime::options::Options;
use crate::runtime::policy_files::{self, PolicyTexts};
use rune::policy::{DEFAULT, DEFAULT_PRESET, PRESETS};
use rune::receipt::pack::PolicyList;
use rune::rules::RuleKind;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Replaces the content of a file that cannot be read. These bytes are not UTF-8, so no policy file has them.
const UNREADABLE: &[u8] = &[0xff];

/// The policy files in force.
#[derive(Debug)]
pub struct PolicySnapshot<'a> {
    cache: &'a PolicyTexts,
    preset: String,
    /// The name and the content of each file.
    pub texts: Vec<(String, Cow<'static, [u8]>)>,
}

impl<'a> PolicySnapshot<'a> {
    /// Takes the snapshot, with the project's policy in `project`. Files that are not in the cache are read.
    pub fn read(options: &Options, environment: &Environment, project: Option<&Path>, cache: &'a PolicyTexts) -> Self {
        let named =
            cache.preset.get().or(options.preset.as_ref()).cloned().or_else(|| policy_files::preset(environment));
        let preset = named.unwrap_or_else(|| DEFAULT_PRESET.to_owned());
        let embedded = PRESETS.iter().find(|(name, _)| *name == preset).map(|(_, text)| *text);
        let mut texts = PolicySnapshot { cache, preset: preset.clone(), texts: Vec::new() };
        let dir = cache.directory(environment);
        let in_dir = |name: &str| dir.map(|dir| dir.join(name));
        texts.add(DEFAULT.0, in_dir(DEFAULT.0), Some(DEFAULT.1));
        texts.add("config.local.toml", in_dir("config.local.toml"), None);
        let name = format!("presets/{preset}.toml");
        texts.add(&name, in_dir(&name).filter(|_| policy_files::is_plain_name(&preset)), embedded);
        let base = format!("{}.rules", RuleKind::Mcp.name());
        let rules = format!("rules/{base}");
        texts.add(&rules, in_dir(&rules), Some(RuleKind::Mcp.embedded()));
        texts.add_rules("rules", in_dir("rules"), Some(&base));
        texts.add("trusted-mcp-allowlist.txt", policy_files::allowlist_path(environment), None);
        texts.add("project/config.toml", project.map(|dir| dir.join("config.toml")), None);
        texts.add_rules("project/rules", project.map(|dir| dir.join("rules")), None);
        texts
    }

    /// The list of files over which the policy is hashed.
    pub fn list(&self) -> PolicyList {
        PolicyList::new(&self.preset, self.texts.iter().map(|(name, text)| (name.as_str(), text.as_ref())))
    }

    fn add(&mut self, name: &str, path: Option<PathBuf>, embedded: Option<&'static str>) {
        let found = path.map_or(Ok(None), |path| self.cache.text(&path, embedded));
        let text = match found.map(|text| text.or(embedded.map(Cow::Borrowed))) {
            Ok(Some(Cow::Borrowed(text))) => Cow::Borrowed(text.as_bytes()),
            Ok(Some(Cow::Owned(text))) => Cow::Owned(text.into_bytes()),
            Ok(None) => return,
            Err(_) => Cow::Borrowed(UNREADABLE),
        };
        self.texts.push((name.to_owned(), text));
    }

    /// Adds the rule files for MCP tools of a directory, except for one.
    fn add_rules(&mut self, folder: &str, dir: Option<PathBuf>, except: Option<&str>) {
        let Some(dir) = dir else { return };
        for name in self.cache.mcp_rule_files(&dir).iter().filter(|name| Some(name.as_str()) != except) {
            self.add(&format!("{folder}/{name}"), Some(dir.join(name)), None);
        }
    }
}
