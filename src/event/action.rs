//! Actions: what a tool call does, in terms that are the same for every client.

use crate::quarantined::Quarantined;

/// A field of the event; `None` if it is missing. Required fields are missing only after a call: before one, an event
/// without them cannot be parsed.
pub type Field = Option<Quarantined<String>>;

/// What a tool does.
#[derive(Debug)]
pub enum Action {
    /// Runs shell text.
    Shell {
        /// The text.
        command: Field,
        /// The shell that runs it.
        dialect: Dialect,
    },
    /// Changes a file.
    Edit {
        /// The file.
        path: Field,
        /// The changes, in order.
        changes: Vec<Change>,
    },
    /// Changes the files that a patch names.
    Patch {
        /// The patch.
        text: Field,
    },
    /// Reads files.
    Read {
        /// The files; empty if they are missing.
        paths: Vec<Quarantined<String>>,
    },
    /// Searches files, or lists their names.
    Files {
        /// The directories; none means the working directory.
        paths: Vec<Quarantined<String>>,
        /// Patterns for file names.
        patterns: Field,
        /// The text that is searched for.
        text: Field,
        /// What the result shows of the files.
        shows: Shows,
    },
    /// Fetches web pages.
    Fetch {
        /// The addresses; empty if they are missing.
        urls: Vec<Quarantined<String>>,
    },
    /// Searches the web.
    Search {
        /// The query, the domains and whatever else is sent: JSON text.
        input: Quarantined<Vec<u8>>,
    },
    /// Calls a tool of an MCP server. The name of the tool identifies both.
    Mcp {
        /// The server, if the client names it.
        server: Option<Server>,
        /// The arguments: JSON text.
        input: Quarantined<Vec<u8>>,
    },
    /// Reads a resource of an MCP server.
    Resource {
        /// The name of the server.
        server: Field,
        /// The address of the resource.
        uri: Field,
    },
    /// Starts another agent.
    Agent {
        /// The permission mode of the agent, if the call names one.
        mode: Field,
    },
    /// Changes the client's settings.
    Settings {
        /// The file.
        file: Field,
    },
    /// The person sends a prompt.
    Prompt {
        /// The text.
        text: Field,
    },
    /// Anything else.
    Other,
}

/// How a client takes a text in place of a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replaces {
    /// As a value of the shape that the tool's results have.
    #[default]
    InShape,
    /// As a text.
    AsText,
    /// Not at all.
    Never,
}

/// What a search shows of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The lines that match.
    Lines,
    /// Which files match, or how often.
    Matches,
    /// The names of files.
    Names,
}

/// One change of a file.
#[derive(Debug)]
pub enum Change {
    /// The new content of the whole file.
    Whole(Quarantined<String>),
    /// Replaces a text.
    Replace {
        /// The text to replace.
        old: Quarantined<String>,
        /// The new text.
        new: Quarantined<String>,
        /// Whether all occurrences are replaced.
        all: bool,
    },
}

/// The language of a shell text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// bash, or a compatible shell.
    Bash,
    /// PowerShell.
    PowerShell,
}

/// An MCP server as the client describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name in the configuration, before the client adapts it for tool names.
    pub name: String,
    /// The client's name for the configuration that contains it.
    pub source: String,
}
