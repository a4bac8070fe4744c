//! What runs in the place of a command: an alias of its name, or the handler for commands that do not exist.

use super::deferred::{Deferred, DeferredText, extend_via};
use super::{Evaluator, is_builtin};
use crate::shell::syntax::ScriptLanguage;
use crate::shell::wrappers::quoted;
use crate::shell::{Arg, Command};

/// The functions that shells call for a command that does not exist.
const HANDLERS: [&str; 2] = ["command_not_found_handle", "command_not_found_handler"];

impl Evaluator<'_> {
    /// Adds what runs in the place of a command, and notes the aliases that it makes.
    pub(super) fn add_substitutes(&mut self, command: &Command, deferred: &mut Deferred) {
        for handler in HANDLERS {
            let is_found = is_builtin(&command.program) || self.bodies.contains_key(command.program.as_str());
            if is_found || !self.bodies.contains_key(handler) {
                continue;
            }
            let args = std::iter::once(Arg::literal(command.program.clone())).chain(command.args.iter().cloned());
            let call = Command { program: handler.into(), args: args.collect(), ..command.clone() };
            let followed = self.followed_call(&call);
            deferred.calls.extend(followed);
        }
        self.add_aliased(command, deferred);
        if command.program == "alias" {
            self.note_aliases(command);
        }
    }

    /// Adds the texts of the aliases of a command's name. The alias of a name does not apply within its own text.
    fn add_aliased(&mut self, command: &Command, deferred: &mut Deferred) {
        let Some(texts) = self.aliases.get(command.program.as_str()) else { return };
        let name = command.program.as_str();
        if self.executions.iter().any(|execution| execution.alias.as_deref() == Some(name)) {
            return;
        }
        let word = |arg: &Arg| if arg.is_known() && !arg.glob { quoted(&arg.text) } else { arg.text.to_string() };
        let words: Vec<String> = command.args.iter().map(word).collect();
        let words = words.join(" ");
        for text in texts {
            if !self.meter.try_charge(text.len() + words.len()) {
                return;
            }
            let mut context = command.inner_base();
            context.input = command.input.clone();
            context.via = extend_via(command.via.clone(), "alias");
            deferred.texts.push(DeferredText {
                text: format!("{text} {words}"),
                language: ScriptLanguage::Bash,
                in_shell: true,
                context,
                parameters: None,
                alias: Some(name.to_owned()),
            });
        }
    }

    /// Notes aliases: `alias name=text`, and `alias name words` in csh and fish.
    fn note_aliases(&mut self, command: &Command) {
        for arg in command.args.iter().filter(|arg| arg.is_known()) {
            if let Some((name, text)) = arg.text.split_once('=') {
                self.aliases.entry(name.to_owned()).or_default().insert(text.to_owned());
            }
        }
        if let Some((name, [_, ..])) = command.args.split_first().filter(|(name, _)| !name.text.contains(['=', '-'])) {
            let words: Vec<&str> = command.args.iter().skip(1).map(|arg| arg.text.as_str()).collect();
            self.aliases.entry(name.text.to_string()).or_default().insert(words.join(" "));
        }
    }
}
