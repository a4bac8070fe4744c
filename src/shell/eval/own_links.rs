//! Symbolic links that the line makes: `..` behind one leads to the directory above its target, not above its name.

use super::Evaluator;
use crate::path::{AbsPath, Place};
use crate::shell::effects::links_made;
use crate::shell::{Arg, Command};

impl Evaluator<'_> {
    /// Notes the links that a command makes.
    pub(super) fn note_links(&mut self, command: &Command) {
        for (link, target) in links_made(command) {
            self.links.insert(link.to_string(), target.to_string());
        }
    }

    /// Replaces such a name with `..` behind it in the words of a command. `cd` without `-P` removes both itself.
    pub(super) fn follow_own_links(&self, program: &str, args: &mut [Arg]) {
        if self.links.is_empty() || program == "cd" && !args.iter().any(|arg| arg.text == "-P") {
            return;
        }
        let Some(cwd) = self.executions.last().and_then(|execution| execution.state.cwd.clone()) else { return };
        let place = Place { cwd: cwd.to_string(), ..Place::default() };
        for arg in args.iter_mut().filter(|arg| arg.is_known() && arg.text.contains("/..")) {
            let text = arg.text.to_string();
            for (at, _) in text.match_indices("/..") {
                if !self.meter.try_charge(text.len()) {
                    return;
                }
                let (name, rest) = text.split_at(at);
                let path = AbsPath::resolve(name, &place).to_string();
                if let Some(target) = self.links.get(&path) {
                    arg.text = format!("{target}{rest}").into();
                    break;
                }
            }
        }
    }
}
