//! Surfaces: the untrusted source of a result.

use super::{Namespace, fetched};
use crate::encoding::label::Label;
use crate::event::{Action, Event};
use crate::path::AbsPath;
use crate::policy::Config;
use crate::verdict::{RuleId, Surface};

/// The surface of an event's result; `None` for ordinary work.
pub fn surface(event: &Event<'_>, config: &Config) -> Option<Surface> {
    let untrusted = |rule, source| Some(Surface { source, rule: RuleId::known(rule), trusted: false, taints: true });
    match &event.action {
        Action::Mcp { server, .. } => {
            let tool = event.tool.inspect("the namespace is in the tool's name");
            let namespace = Namespace::of_tool(tool, server.as_ref(), event, config);
            let third_party = returns_third_party_text(tool.get(5 + namespace.as_str().len()..).unwrap_or_default());
            Some(server_surface(namespace, third_party, event, config))
        }
        Action::Resource { server } => {
            let name = server.as_ref().map_or("", |name| name.inspect("a resource belongs to a server").as_str());
            Some(server_surface(Namespace::of_server(name), true, event, config))
        }
        Action::Fetch { url } => untrusted(
            "quarantine-webfetch",
            url.as_ref().map_or(Label::of("webfetch", ""), |url| Label::host("webfetch", url)),
        ),
        Action::Search { .. } => untrusted("quarantine-websearch", Label::new("websearch")),
        Action::Read { path } => {
            // An unreadable path may name an upload.
            let Some(name) = path else { return untrusted("quarantine-upload", Label::of("upload", "")) };
            let lexical = AbsPath::resolve(name.inspect("is it below uploads"), &event.place);
            let real = event.facts.real_path.as_deref().map(|real| AbsPath::resolve(real, &event.place));
            let matches = |test: fn(&AbsPath, &str) -> bool| {
                let session = event.header.session.as_str();
                test(&lexical, session) || real.as_ref().is_some_and(|real| test(real, session))
            };
            if matches(|path, _| is_upload(path)) {
                untrusted("quarantine-upload", Label::file("upload", name))
            } else if matches(event.is_spilled) {
                untrusted("quarantine-spill", Label::file("spill", name))
            } else {
                None
            }
        }
        Action::Shell { command, .. } => match command {
            None => untrusted("quarantine-shell", Label::of("shell", "")),
            Some(command) => untrusted("quarantine-shell", fetched::source(command, event)?),
        },
        Action::Agent { .. } if !event.facts.taint.is_empty() => untrusted("quarantine-agent", Label::new("agent")),
        Action::Agent { .. }
        | Action::Edit { .. }
        | Action::Patch { .. }
        | Action::Files { .. }
        | Action::Settings { .. }
        | Action::Prompt { .. }
        | Action::Other => None,
    }
}

fn server_surface(namespace: Namespace, third_party: bool, event: &Event<'_>, config: &Config) -> Surface {
    let trusted = namespace.is_trusted(event, config);
    let source = namespace.source(event);
    Surface { source, rule: RuleId::known("quarantine-mcp"), trusted, taints: !trusted || third_party }
}

/// Words in the names of tools that return text of third parties, also on a trusted server: contributors write files,
/// commits, logs and releases.
const THIRD_PARTY_WORDS: [&str; 33] = [
    "article", "attachment", "blob", "comment", "commit", "content", "conversation", "diff", "discussion", "doc",
    "download", "feed", "fetch", "gist", "issue", "logs", "mail", "message", "note", "notification", "page", "post",
    "pullrequest", "readfile", "readme", "release", "review", "search", "thread", "ticket", "transcript", "web",
    "wiki",
];

fn returns_third_party_text(tool: &str) -> bool {
    let letters = tool.chars().filter(char::is_ascii_alphanumeric);
    let tool: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    THIRD_PARTY_WORDS.iter().any(|word| tool.contains(word))
}

/// Whether a file is below a directory called `uploads`.
pub(super) fn is_upload(path: &AbsPath) -> bool {
    path.directories().iter().any(|directory| directory == "uploads")
}
