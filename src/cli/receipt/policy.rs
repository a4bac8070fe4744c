//! The texts that calls of MCP tools are judged by, for the policy's hash and for snapshots of it.

use crate::cli::load;
use crate::cli::options::Options;
use crate::cli::world::World;
use rune::config::{DEFAULT, DEFAULT_PRESET, PRESETS};
use rune::receipt::pack::PolicyList;
use rune::rule::Kind;
use std::path::Path;

/// What stands for a file that cannot be read: no text of a policy has these bytes.
const UNREADABLE: &[u8] = &[0xff];

/// The texts in force, by name.
#[derive(Debug, Default)]
pub struct Texts {
    preset: String,
    pub texts: Vec<(String, Vec<u8>)>,
}

impl Texts {
    /// Reads what the hook reads for a call of an MCP tool, with a project's own policy.
    pub fn read(options: &Options, world: &World, own: Option<&Path>) -> Texts {
        let named = options.preset.clone().or_else(|| load::preset(world));
        let preset = named.unwrap_or_else(|| DEFAULT_PRESET.to_owned());
        let embedded = PRESETS.iter().find(|(name, _)| *name == preset).map(|(_, text)| *text);
        let mut texts = Texts { preset: preset.clone(), texts: Vec::new() };
        let dir = world.config_dir.as_deref();
        texts.add(DEFAULT.0, dir.map(|dir| dir.join(DEFAULT.0)).as_deref(), Some(DEFAULT.1));
        texts.add("config.local.toml", dir.map(|dir| dir.join("config.local.toml")).as_deref(), None);
        let name = format!("presets/{preset}.toml");
        texts.add(&name, dir.map(|dir| dir.join(&name)).filter(|_| load::is_plain(&preset)).as_deref(), embedded);
        let base = format!("{}.rules", Kind::Mcp.name());
        let rules = dir.map(|dir| dir.join("rules"));
        texts.add(
            &format!("rules/{base}"),
            rules.as_ref().map(|dir| dir.join(&base)).as_deref(),
            Some(Kind::Mcp.embedded()),
        );
        texts.add_rules("rules", rules.as_deref(), Some(&base));
        let list = "trusted-mcp-allowlist.txt";
        let client = world.client_dir.as_ref().map(|dir| dir.join("quarantine.d").join(list));
        texts.add(list, client.as_deref(), None);
        texts.add("project/config.toml", own.map(|own| own.join("config.toml")).as_deref(), None);
        texts.add_rules("project/rules", own.map(|own| own.join("rules")).as_deref(), None);
        texts
    }

    /// The list that the policy's hash is over.
    pub fn list(&self) -> PolicyList {
        PolicyList::new(&self.preset, self.texts.iter().map(|(name, text)| (name.as_str(), text.as_slice())))
    }

    fn add(&mut self, name: &str, path: Option<&Path>, embedded: Option<&str>) {
        let found = path.map_or(Ok(None), load::read_text);
        let text = match found {
            Ok(Some(text)) => text.into_bytes(),
            Ok(None) => match embedded {
                Some(embedded) => embedded.as_bytes().to_vec(),
                None => return,
            },
            Err(_) => UNREADABLE.to_vec(),
        };
        self.texts.push((name.to_owned(), text));
    }

    /// The files of rules for MCP tools in a folder, but for one.
    fn add_rules(&mut self, folder: &str, dir: Option<&Path>, but: Option<&str>) {
        let Some(dir) = dir else { return };
        for name in load::rule_files(dir).unwrap_or_default() {
            if Kind::of_file(&name) == Some(Kind::Mcp) && Some(name.as_str()) != but {
                self.add(&format!("{folder}/{name}"), Some(&dir.join(&name)), None);
            }
        }
    }
}
