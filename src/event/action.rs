//! What a tool call does, in terms that are the same for every client.

use crate::quarantined::Quarantined;

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
