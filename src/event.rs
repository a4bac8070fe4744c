//! Events: one tool call or session moment, in the words of no particular client.

use crate::config::Pins;
use crate::failure::Failure;
use crate::label::Label;
use crate::pin::call::{Lookup, Standing};
use crate::quarantine::Nonce;
use crate::quarantined::Quarantined;
use crate::shell::{self, Effects, Reading};
use crate::taint::Taint;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// When, relative to a call, the client asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Before a tool call: the answer decides whether it happens.
    Before,
    /// After a tool call that gave a result.
    After,
    /// After a tool call that failed.
    Failed,
    /// The client's settings are about to change.
    Settings,
    /// A session begins.
    Start,
    /// A session ends.
    End,
    /// A moment of the client that we have no part in.
    Other,
}

impl Phase {
    /// Whether a call has already happened.
    pub fn is_after(self) -> bool {
        matches!(self, Phase::After | Phase::Failed)
    }
}

/// A field of the event that a judgement needs: `None` where it cannot be read, which only happens after a call
/// (before one, an event that lacks it is unreadable as a whole).
pub type Field = Option<Quarantined<String>>;

/// What the tool does.
#[derive(Debug)]
pub enum Action {
    /// Runs shell text.
    Shell {
        /// The text.
        command: Field,
        /// The shell that reads it.
        dialect: Dialect,
    },
    /// Changes a file.
    Edit {
        /// The file.
        path: Field,
        /// How, in order.
        changes: Vec<Change>,
    },
    /// Changes the files that a patch names.
    Patch {
        /// The patch.
        text: Field,
    },
    /// Reads a file.
    Read {
        /// The file.
        path: Field,
    },
    /// Searches files, or lists their names.
    Files {
        /// Where; the directory of the call where it does not say.
        path: Field,
        /// Patterns for the names of files, where it has any.
        patterns: Field,
        /// What it tells of them.
        shows: Shows,
    },
    /// Fetches a page.
    Fetch {
        /// Its address.
        url: Field,
    },
    /// Searches the web.
    Search,
    /// Calls a tool of an MCP server; which one is in the tool's name.
    Mcp {
        /// The server that the client names, where it does.
        server: Option<Server>,
        /// What it is called with: JSON text.
        input: Quarantined<Vec<u8>>,
    },
    /// Reads a resource of an MCP server.
    Resource {
        /// The server's name.
        server: Field,
    },
    /// Hands a task to another agent.
    Agent {
        /// The permissions that it is to have, where the call names any.
        mode: Field,
    },
    /// Changes the client's settings.
    Settings {
        /// The file.
        file: Field,
    },
    /// Anything else.
    Other,
}

/// What a tool tells of the files that it looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// Lines that hold a text.
    Lines,
    /// Which of them hold a text, or how often.
    Matches,
    /// Their names.
    Names,
}

/// One change of a file.
#[derive(Debug)]
pub enum Change {
    /// This is all of it now.
    Whole(Quarantined<String>),
    /// This in place of that.
    Replace {
        /// What is replaced.
        old: Quarantined<String>,
        /// What comes in its place.
        new: Quarantined<String>,
        /// Wherever it stands.
        all: bool,
    },
}

/// Which shell reads a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// bash, or what is close enough to it.
    Bash,
    /// PowerShell.
    PowerShell,
}

/// An MCP server as the client describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its configured name, before the client folds it into tool names.
    pub name: String,
    /// Which configuration it comes from, in the client's words.
    pub source: String,
}

/// Where the call happens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The directory that relative paths start from.
    pub cwd: String,
    /// The user's home directory, where known.
    pub home: Option<String>,
    /// The directory of the project, where it is not the one of the call.
    pub project: Option<String>,
}

/// What the shell looked up for this event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The operator has switched the notice off.
    pub silenced: bool,
    /// The untrusted content that the session has taken in before.
    pub taint: Taint,
    /// A number that nobody could have written before, where a result is to be wrapped.
    pub nonce: Option<Nonce>,
    /// The real path of the file that was read, where it differs from the name.
    pub real_path: Option<String>,
    /// Where paths of the call really lead, where that is somewhere else: as named, and in reality.
    pub real_paths: BTreeMap<String, String>,
    /// The files that an edit is about, as they are: `(path, text)`.
    pub contents: Vec<(String, String)>,
    /// Files and directories of the guard itself.
    pub own: Vec<String>,
    /// The day, for exceptions that end.
    pub today: Option<time::Date>,
    /// The MCP servers that the project itself configures.
    pub project_servers: Vec<String>,
    /// What is known of the server of an MCP call and of what was approved of it; `None` where nobody looked.
    pub pins: Option<Lookup>,
    /// Servers that are configured now and that nobody has approved, or not like that.
    pub servers: ServerNews,
    /// What the client's settings, as they are now, take away from the guard.
    pub losses: Vec<String>,
    /// What loosened the guard since the last session.
    pub loosenings: Vec<Loosened>,
}

/// A loosening of the guard, as a receipt tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loosened {
    /// The verb, as it is typed after `rune`.
    pub verb: &'static str,
    /// When, in UTC.
    pub time: String,
    /// The part and the number of its receipt.
    pub place: (u64, u64),
}

/// What a session begins with that a person may want to look at: labels of servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerNews {
    /// Nobody has approved them.
    pub unpinned: Vec<Label>,
    /// They are not configured as they were approved.
    pub changed: Vec<Label>,
}

/// What can be told of an event, readable or not: enough to answer in the right form and to write a log line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// When; `None` where neither the event nor the command line tells.
    pub phase: Option<Phase>,
    /// The client's own name for the moment.
    pub moment: Label,
    /// The tool's name.
    pub tool: Label,
    /// The session, as the client names it.
    pub session: Label,
}

/// An event that cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// What can be told of it.
    pub header: Header,
    /// What is wrong with it.
    pub failure: Failure,
}

/// One event.
#[derive(Debug)]
pub struct Event<'a> {
    /// When.
    pub phase: Phase,
    /// What a log line needs.
    pub header: Header,
    /// The tool's name as it came.
    pub tool: Quarantined<String>,
    /// What the tool does.
    pub action: Action,
    /// The tool's result as it came: JSON text, unread.
    pub result: Option<Quarantined<&'a [u8]>>,
    /// Where.
    pub place: Place,
    /// What the shell looked up.
    pub facts: Facts,
    /// What is wrong with the event although it can be told what it is about.
    pub flaw: Option<Failure>,
    /// The shell text of the call as it was read, once it was.
    pub(crate) read: OnceCell<Option<(Reading, Effects)>>,
    /// How the call stands to what a person has approved, once that was asked.
    pub(crate) stood: OnceCell<(Pins, Standing)>,
}

impl Event<'_> {
    /// The shell text of the call, read once; `None` where there is none, or none that can be read with certainty.
    pub fn shell(&self) -> Option<&(Reading, Effects)> {
        let Action::Shell { command: Some(command), dialect } = &self.action else { return None };
        // Plain words are the same in every shell.
        let plain = |c: char| c.is_ascii_alphanumeric() || " -./_:=,@".contains(c);
        let is_bash = *dialect == Dialect::Bash || command.inspect("what it would run").chars().all(plain);
        if is_bash { self.shell_as_bash() } else { None }
    }

    /// The shell text of the call as bash would read it, whatever shell it is for.
    pub(crate) fn shell_as_bash(&self) -> Option<&(Reading, Effects)> {
        let read = || {
            let Action::Shell { command: Some(command), .. } = &self.action else { return None };
            let reading = shell::read(command.inspect("what it would run"), &self.place);
            let effects = reading.effects();
            Some((reading, effects))
        };
        self.read.get_or_init(read).as_ref()
    }

    /// The files that the call names, absolute: where they really lead is a fact that a judgement needs.
    pub fn paths(&self) -> Vec<Cow<'_, str>> {
        crate::judge::paths(self)
    }
}

impl Facts {
    /// Where a path really leads, if that is somewhere else.
    pub fn real(&self, path: &str) -> Option<&str> {
        self.real_paths.get(path).map(String::as_str).filter(|real| *real != path)
    }
}
