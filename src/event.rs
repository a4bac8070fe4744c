//! Events: one tool call or session moment, in the words of no particular client.

use crate::failure::Failure;
use crate::label::Label;
use crate::quarantined::Quarantined;

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
    },
    /// Reads a file.
    Read {
        /// The file.
        path: Field,
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
    },
    /// Reads a resource of an MCP server.
    Resource {
        /// The server's name.
        server: Field,
    },
    /// Hands a task to another agent.
    Agent,
    /// Anything else.
    Other,
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
}

/// What the shell looked up for this event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The operator has switched the notice off.
    pub silenced: bool,
    /// The session has taken in untrusted content before.
    pub tainted: bool,
    /// The real path of the file that was read, where it differs from the name.
    pub real_path: Option<String>,
    /// The MCP servers that the project itself configures.
    pub project_servers: Vec<String>,
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
}
