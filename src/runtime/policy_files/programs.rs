//! Reads an operator's catalogue files, `programs/*.toml` beside `config.toml`.

use super::read::read_text;
use super::rules::files_of;
use crate::runtime::environment::Environment;
use rune::event::{Action, Event, Message};
use rune::programs::{Catalogue, Trust};
use rune::self_test;
use rune::verdict::failure::Failure;
use std::path::{Path, PathBuf};

/// The catalogue with the operator's entries, and what is wrong with their files.
pub struct OperatorCatalogue {
    catalogue: Catalogue,
    errors: Vec<String>,
}

impl OperatorCatalogue {
    /// Reads the catalogue files in the directory of the policy. The entries of a file with an error do not count.
    pub fn read(config_dir: Option<&Path>) -> OperatorCatalogue {
        let mut catalogue = Catalogue::shipped();
        let (texts, mut errors) = texts(config_dir);
        for (path, text) in texts {
            if let Err(error) = catalogue.add(&text, Trust::Guarded) {
                errors.push(format!("{}: {error}", path.display()));
            }
        }
        OperatorCatalogue { catalogue, errors }
    }

    /// Completes a message to an event. Only shell text is read with the operator's entries; what is wrong with them is a
    /// failure of the event.
    pub fn complete<'a>(&self, message: Message<'a>, environment: &Environment) -> Event<'a> {
        if !is_shell(&message) {
            return environment.locate(message, &Catalogue::shipped());
        }
        let broken = (!self.errors.is_empty()).then(|| Failure::Config(self.errors.join("\n")));
        environment.locate(Message { failure: message.failure.or(broken), ..message }, &self.catalogue)
    }
}

/// Completes a message to an event, with the catalogue files if it needs them.
pub fn into_event<'a>(message: Message<'a>, environment: &Environment) -> Event<'a> {
    let dir = environment.config_dir.as_deref().filter(|_| is_shell(&message));
    OperatorCatalogue::read(dir).complete(message, environment)
}

fn is_shell(message: &Message<'_>) -> bool {
    matches!(message.action, Action::Shell { .. })
}

/// Returns what is wrong with the operator's catalogue files, examples that do not hold included.
pub fn errors(config_dir: Option<&Path>) -> Vec<String> {
    let mut catalogue = Catalogue::shipped();
    let (texts, mut errors) = texts(config_dir);
    let mut examples = Vec::new();
    for (path, text) in texts {
        match catalogue.add(&text, Trust::AsWritten) {
            Ok(found) => examples.push((path, found)),
            Err(error) => errors.push(format!("{}: {error}", path.display())),
        }
    }
    for (path, examples) in examples {
        let failed = self_test::check_program_examples(&examples, &catalogue);
        let help = "help: correct the example or the entry; `rune explain -- COMMAND` shows what is known";
        errors.extend(failed.iter().map(|failed| format!("{}: example {failed}\n  {help}", path.display())));
    }
    errors
}

/// The texts of the catalogue files, in the order of their names, and what cannot be read.
fn texts(config_dir: Option<&Path>) -> (Vec<(PathBuf, String)>, Vec<String>) {
    let Some(directory) = config_dir.map(|dir| dir.join("programs")) else { return Default::default() };
    let names = match files_of(&directory, ".toml") {
        Ok(names) => names,
        Err(error) => return (Vec::new(), vec![error]),
    };
    let (mut texts, mut errors) = (Vec::new(), Vec::new());
    for path in names.iter().map(|name| directory.join(name)) {
        match read_text(&path) {
            Ok(text) => texts.extend(text.map(|text| (path, text))),
            Err(error) => errors.push(error),
        }
    }
    (texts, errors)
}
