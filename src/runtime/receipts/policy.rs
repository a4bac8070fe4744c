//! The texts that calls of MCP tools are judged by, for the policy's hash and for snapshots of it.

use crate::runtime::environment::Environment;
use crate::runtime::options::Options;
use crate::runtime::policy_files;
use crate::runtime::policy_files::PolicyTexts;
use rune::policy::{DEFAULT, DEFAULT_PRESET, PRESETS};
use rune::receipt::pack::PolicyList;
use rune::rules::RuleKind;
use std::borrow::Cow;
use std::path::Path;

/// What stands for a file that cannot be read: no text of a policy has these bytes.
const UNREADABLE: &[u8] = &[0xff];

/// The texts in force, by name.
#[derive(Debug)]
pub struct Texts<'a> {
    memory: &'a PolicyTexts,
    preset: String,
    pub texts: Vec<(String, Cow<'static, [u8]>)>,
}

impl<'a> Texts<'a> {
    /// What the hook reads for a call of an MCP tool, with a project's own policy; what is not remembered is read.
    pub fn read(options: &Options, environment: &Environment, own: Option<&Path>, memory: &'a PolicyTexts) -> Self {
        let named =
            memory.preset.get().or(options.preset.as_ref()).cloned().or_else(|| policy_files::preset(environment));
        let preset = named.unwrap_or_else(|| DEFAULT_PRESET.to_owned());
        let embedded = PRESETS.iter().find(|(name, _)| *name == preset).map(|(_, text)| *text);
        let mut texts = Texts { memory, preset: preset.clone(), texts: Vec::new() };
        let dir = memory.directory(environment);
        texts.add(DEFAULT.0, dir.map(|dir| dir.join(DEFAULT.0)).as_deref(), Some(DEFAULT.1));
        texts.add("config.local.toml", dir.map(|dir| dir.join("config.local.toml")).as_deref(), None);
        let name = format!("presets/{preset}.toml");
        texts.add(
            &name,
            dir.map(|dir| dir.join(&name)).filter(|_| policy_files::is_plain(&preset)).as_deref(),
            embedded,
        );
        let base = format!("{}.rules", RuleKind::Mcp.name());
        let rules = dir.map(|dir| dir.join("rules"));
        texts.add(
            &format!("rules/{base}"),
            rules.as_ref().map(|dir| dir.join(&base)).as_deref(),
            Some(RuleKind::Mcp.embedded()),
        );
        texts.add_rules("rules", rules.as_deref(), Some(&base));
        texts.add("trusted-mcp-allowlist.txt", policy_files::allowlist_path(environment).as_deref(), None);
        texts.add("project/config.toml", own.map(|own| own.join("config.toml")).as_deref(), None);
        texts.add_rules("project/rules", own.map(|own| own.join("rules")).as_deref(), None);
        texts
    }

    /// The list that the policy's hash is over.
    pub fn list(&self) -> PolicyList {
        PolicyList::new(&self.preset, self.texts.iter().map(|(name, text)| (name.as_str(), text.as_ref())))
    }

    fn add(&mut self, name: &str, path: Option<&Path>, embedded: Option<&'static str>) {
        let found = path.map_or(Ok(None), |path| self.memory.text(path, embedded));
        let text = match found.map(|text| text.or(embedded.map(Cow::Borrowed))) {
            Ok(Some(Cow::Borrowed(text))) => Cow::Borrowed(text.as_bytes()),
            Ok(Some(Cow::Owned(text))) => Cow::Owned(text.into_bytes()),
            Ok(None) => return,
            Err(_) => Cow::Borrowed(UNREADABLE),
        };
        self.texts.push((name.to_owned(), text));
    }

    /// The files of rules for MCP tools in a folder, but for one.
    fn add_rules(&mut self, folder: &str, dir: Option<&Path>, but: Option<&str>) {
        let Some(dir) = dir else { return };
        for name in self.memory.mcp_rules(dir).iter().filter(|name| Some(name.as_str()) != but) {
            self.add(&format!("{folder}/{name}"), Some(&dir.join(name)), None);
        }
    }
}
