//! Parses the hook's options without clap, which is faster; an invalid option is a failure with a verdict.

use super::environment::Environment;
use rune::client::registration::{REGISTERED_IN, Registration};
use rune::client::{self, Client};
use rune::encoding::nearest;
use rune::verdict::Phase;
use rune::verdict::failure::Failure;
use std::ffi::OsString;
use std::path::PathBuf;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The command line of the hook.
#[derive(Clone, Debug)]
pub struct Options {
    pub phase: Option<Phase>,
    pub client: &'static dyn Client,
    /// Whether the command line names the client.
    pub names_client: bool,
    pub preset: Option<String>,
    pub dirs: Dirs,
    /// The settings file that this call is registered in.
    pub registered_in: Option<PathBuf>,
    /// The time for receipts instead of the clock's, so that proofs are reproducible.
    pub at: Option<OffsetDateTime>,
    /// Whether to judge and answer without writing anything to disk.
    pub dry_run: bool,
    words: Vec<String>,
    /// What is wrong with the command line. Each failure counts in the verdict.
    pub failures: Vec<Failure>,
}

/// Directories from the command line. They take precedence over the environment.
#[derive(Clone, Debug, Default)]
pub struct Dirs {
    pub config: Option<PathBuf>,
    pub state: Option<PathBuf>,
    pub data: Option<PathBuf>,
    pub client: Option<PathBuf>,
}

const FLAGS: [&str; 8] =
    ["--client", "--preset", "--config-dir", "--state-dir", "--data-dir", "--client-dir", REGISTERED_IN, "--at"];

impl Options {
    pub fn parse(words: &[OsString]) -> Options {
        let mut options = Options {
            phase: None,
            client: client::DEFAULT,
            names_client: false,
            preset: None,
            dirs: Dirs::default(),
            registered_in: None,
            at: None,
            dry_run: false,
            words: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            failures: Vec::new(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("pre") => options.phase(Phase::Before),
                Some("post") => options.phase(Phase::After),
                // Names of tools, accepted for compatibility with an older hook. The event names the tool.
                Some("bash" | "edit" | "mcp" | "check") => {}
                Some("--dry-run") => options.dry_run = true,
                Some(word) if word.starts_with("--") => {
                    let (flag, value) = match word.split_once('=') {
                        Some((flag, value)) => (flag, Some(OsString::from(value))),
                        None => (word, None),
                    };
                    let known = FLAGS.contains(&flag);
                    let value = value.or_else(|| if known { words.next().cloned() } else { None });
                    options.set(flag, value);
                }
                _ => options.fail(format!("unexpected argument `{}`", word.to_string_lossy())),
            }
        }
        options
    }

    /// The options of a hook with this registration.
    pub fn of(registration: &Registration) -> Options {
        Options::parse(&registration.words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    /// The same options for another client, which has another directory.
    pub fn for_client(&self, client: &'static dyn Client) -> Options {
        if client.name() == self.client.name() {
            return self.clone();
        }
        Options { client, dirs: Dirs { client: None, ..self.dirs.clone() }, ..self.clone() }
    }

    /// The environment of the hook.
    pub fn environment(&self) -> Environment {
        Environment::of(self.client, &self.dirs)
    }

    /// The entry in the client's settings by which this process was started.
    pub fn registration(&self) -> Registration {
        let named = std::env::args_os().next().map(PathBuf::from).filter(|name| name.is_absolute());
        let program = named.or_else(|| std::env::current_exe().ok()).unwrap_or_default();
        let file = self.registered_in.as_ref().map(|file| file.to_string_lossy().into_owned());
        Registration { program: program.to_string_lossy().into_owned(), words: self.words.clone(), file }
    }

    fn phase(&mut self, phase: Phase) {
        if self.phase.replace(phase).is_some_and(|earlier| earlier != phase) {
            self.phase = Some(Phase::Before);
            self.fail("both `pre` and `post` are given".to_owned());
        }
    }

    fn set(&mut self, flag: &str, value: Option<OsString>) {
        let Some(value) = value.filter(|value| !value.is_empty()) else {
            let help = nearest(flag, FLAGS.into_iter()).filter(|near| *near != flag);
            return self.fail(match help {
                Some(near) => format!("unknown option `{flag}`\n  help: did you mean `{near}`?"),
                None if FLAGS.contains(&flag) => format!("`{flag}` needs a value"),
                None => format!("unknown option `{flag}`"),
            });
        };
        match flag {
            "--client" => match client::named(&value.to_string_lossy()) {
                Some(client) => (self.client, self.names_client) = (client, true),
                None => self.fail(format!("unknown client `{}`", value.to_string_lossy())),
            },
            "--preset" => self.preset = Some(value.to_string_lossy().into_owned()),
            "--config-dir" => self.dirs.config = self.directory(flag, value),
            "--state-dir" => self.dirs.state = self.directory(flag, value),
            "--client-dir" => self.dirs.client = self.directory(flag, value),
            "--data-dir" => self.dirs.data = self.directory(flag, value),
            "--at" => match OffsetDateTime::parse(&value.to_string_lossy(), &Rfc3339) {
                Ok(at) => self.at = Some(at),
                Err(_) => self.fail("`--at` needs a time such as 2026-06-09T00:00:00Z".to_owned()),
            },
            REGISTERED_IN => self.registered_in = self.directory(flag, value),
            _ => self.fail(format!("unknown option `{flag}`")),
        }
    }

    fn directory(&mut self, flag: &str, value: OsString) -> Option<PathBuf> {
        let path = PathBuf::from(value);
        if path.is_absolute() {
            return Some(path);
        }
        self.fail(format!("`{flag}` needs an absolute path\n  help: `~` is not expanded where no shell runs"));
        None
    }

    fn fail(&mut self, what: String) {
        self.failures.push(Failure::Config(format!("rune hook: {what}")));
    }
}

#[cfg(test)]
#[path = "../../tests/unit/runtime/options.rs"]
mod tests;
