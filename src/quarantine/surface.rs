//! Surfaces: the untrusted source of a result.

use super::Namespace;
use super::fetched::{self, ForeignFile};
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
        Action::Resource { server, .. } => {
            let name = server.as_ref().map_or("", |name| name.inspect("a resource belongs to a server").as_str());
            Some(server_surface(Namespace::of_server(name), true, event, config))
        }
        Action::Fetch { urls } if urls.is_empty() => untrusted("quarantine-webfetch", Label::of("webfetch", "")),
        Action::Fetch { urls } => {
            let foreign = urls.iter().find(|url| !config.owns_host(url.inspect("is the host the operator's own")))?;
            untrusted("quarantine-webfetch", Label::host("webfetch", foreign))
        }
        Action::Search { .. } => untrusted("quarantine-websearch", Label::new("websearch")),
        // An unreadable path may name an upload.
        Action::Read { paths } if paths.is_empty() => untrusted("quarantine-upload", Label::of("upload", "")),
        Action::Read { paths } => {
            let lexical = paths.iter().map(|name| (name, name.inspect("is it below uploads").as_str()));
            let real = event.facts.read_paths.iter().filter_map(|real| Some((paths.first()?, real.as_str())));
            lexical.chain(real).find_map(|(name, path)| {
                let path = AbsPath::resolve(path, &event.place);
                if let Some(foreign) = ForeignFile::of(&path) {
                    untrusted(foreign.rule(), Label::file(foreign.kind(), name))
                } else if (event.is_spilled)(&path, event.header.session.as_str()) {
                    untrusted("quarantine-spill", Label::file("spill", name))
                } else {
                    None
                }
            })
        }
        Action::Shell { command, .. } => match command {
            None => untrusted("quarantine-shell", Label::of("shell", "")),
            Some(command) => untrusted("quarantine-shell", fetched::source(command, event, config)?),
        },
        Action::Files { paths, patterns, .. } => {
            let searched = paths.iter().chain(patterns).map(|text| text.inspect("does it search uploads"));
            let mut names = searched.flat_map(|text| text.split(['/', ',', ' ', '{', '}']));
            names.any(fetched::is_uploads).then(|| untrusted("quarantine-upload", Label::of("upload", "")))?
        }
        Action::Agent { .. } if !event.facts.taint.is_empty() => untrusted("quarantine-agent", Label::new("agent")),
        Action::Agent { .. }
        | Action::Edit { .. }
        | Action::Patch { .. }
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
