//! Registration: how a client is told to call the guard.

use std::fmt;

/// The option that tells a hook which file it is registered in.
pub const REGISTERED_IN: &str = "--registered-in";

/// Seconds within which the guard always answers, with a margin: a client must wait at least as long.
pub const MIN_TIMEOUT_SECONDS: f64 = 6.0;

/// How the guard is to be called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The program, absolute.
    pub program: String,
    /// The words after `hook pre`: preset and directories.
    pub words: Vec<String>,
    /// The settings file that holds the entries, if one does.
    pub file: Option<String>,
}

impl Registration {
    /// The preset that it names.
    pub fn preset(&self) -> Option<&str> {
        preset_and_rest(&self.words).0
    }
}

/// The preset among the words of a hook, and the words that name directories.
pub(super) fn preset_and_rest(words: &[String]) -> (Option<&str>, Vec<&str>) {
    let mut preset = None;
    let mut rest = Vec::new();
    let mut words = words.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "hook" | "pre" | "post" => {}
            "--preset" => preset = words.next(),
            REGISTERED_IN => drop(words.next()),
            _ => match word.split_once('=') {
                Some(("--preset", name)) => preset = Some(name),
                Some((REGISTERED_IN, _)) => {}
                _ => rest.push(word),
            },
        }
    }
    (preset, rest)
}

/// One difference between a settings file and the entries that the guard would write.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// The client's name of the event.
    pub event: String,
    /// The place of the entry in the file, as a JSON pointer, if there is an entry.
    pub pointer: Option<String>,
    /// The difference.
    pub difference: Difference,
}

/// How an entry differs.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// There is no entry for the event.
    Missing,
    /// There are several entries for the event.
    Repeated(usize),
    /// The guard does not handle the event.
    Needless,
    /// Fields have other values.
    Fields {
        /// The names of the fields.
        names: Vec<String>,
        /// What follows from that, if it disables the guard.
        defect: Option<EntryDefect>,
    },
}

/// A fault of an entry that disables the guard, at least sometimes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EntryDefect {
    /// The client stops waiting after so many seconds, before the guard must have answered.
    ShortTimeout(f64),
    /// The client cannot read for which tools the hook is, and never runs it.
    NeverRuns,
    /// The client runs the call when the hook fails.
    FailsOpen,
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = &self.event;
        match &self.difference {
            Difference::Missing => write!(f, "{event}: not registered"),
            Difference::Repeated(times) => write!(f, "{event}: registered {times} times"),
            Difference::Needless => write!(f, "{event}: registered without need"),
            Difference::Fields { names, .. } => write!(f, "{event}: differs in {}", names.join(", ")),
        }
    }
}

/// The files of a plugin that registers the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginFiles {
    /// The path of the manifest, relative to the plugin's directory.
    pub manifest: &'static str,
    /// All files: the relative path, and the text.
    pub files: Vec<(&'static str, String)>,
    /// The words that start the client with the plugin, before the plugin's directory.
    pub start_command: &'static str,
}
