//! The tables by which a client is described: its payloads, its tools, and its names of MCP tools.

use crate::event::Shows;

/// Where a payload has things. `a/b` is the field `b` of the object `a`; an empty name is a thing that the client does
/// not send.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// The name of the event.
    pub event: &'static str,
    /// The session.
    pub session: &'static str,
    /// The id of the call.
    pub call: &'static str,
    /// The name of the tool.
    pub tool: &'static str,
    /// The input of the tool: an object, or its JSON text as a string.
    pub input: &'static str,
    /// The part of the result that the model is shown.
    pub result: &'static str,
    /// What a failed call has in place of a result.
    pub error: &'static str,
    /// The working directory.
    pub cwd: &'static str,
    /// What the person typed: a string, or a list of parts.
    pub prompt: &'static str,
}

impl Names {
    /// The names that most clients have taken over from Claude Code.
    pub const COMMON: Names = Names {
        event: "hook_event_name",
        session: "session_id",
        call: "tool_use_id",
        tool: "tool_name",
        input: "tool_input",
        result: "tool_response",
        error: "error",
        cwd: "cwd",
        prompt: "prompt",
    };
}

/// What a tool does, and the keys of its input. `a[]` is a list of strings and `a[].b` one of objects; in their place,
/// one string may stand. An empty key is one that the tool does not have.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// Runs shell text: one, or a list of texts that run one after the other.
    Shell {
        /// The text.
        command: &'static str,
        /// The directory to run it in.
        dir: &'static str,
    },
    /// Writes a whole file.
    Write {
        /// The file.
        path: &'static str,
        /// Its new content.
        content: &'static str,
    },
    /// Changes a file; without `old`, the whole of it.
    Edit {
        /// The file.
        path: &'static str,
        /// The text to replace.
        old: &'static str,
        /// The new text.
        new: &'static str,
    },
    /// Changes the files that a patch names.
    Patch(&'static str),
    /// Reads files.
    Read(&'static str),
    /// Searches or lists files. All keys are optional.
    Search {
        /// The directory.
        path: &'static str,
        /// Patterns for file names.
        names: &'static str,
        /// What is shown of the files.
        shows: Shows,
    },
    /// Fetches web pages.
    Fetch(&'static str),
    /// Fetches the web pages whose addresses a text contains.
    FetchFrom(&'static str),
    /// Searches the web.
    WebSearch,
    /// Reads, or lists, resources of an MCP server. Both keys are optional.
    Resource {
        /// The name of the server.
        server: &'static str,
        /// The address of the resource.
        uri: &'static str,
    },
    /// Starts another agent, or shows what one has done.
    Agent,
    /// Nothing that the guard judges.
    Nothing,
}

/// The names that a client gives to the tools of MCP servers: prefix, server, joint, tool.
#[derive(Clone, Copy, Debug)]
pub struct McpNames {
    /// What every name begins with. If it is empty, a name is one if it has the joint and no tool of the client has it.
    pub prefix: &'static str,
    /// What stands between the server and the tool.
    pub joint: &'static str,
    /// The object of the payload that names both, if there is one.
    pub context: &'static str,
    /// Servers that the client brings itself.
    pub own: &'static [&'static str],
}

impl McpNames {
    /// `mcp__server__tool`.
    pub const COMMON: McpNames = McpNames { prefix: "mcp__", joint: "__", context: "", own: &[] };
}
