//! Shell text in arguments of MCP tools that should hold a name or a URL.

use super::inner_address::is_inner_scheme;
use super::{Context, block};
use crate::decide::subject::Subject;
use crate::encoding::address::Address;
use crate::encoding::json;
use crate::event::Action;
use crate::mcp::{FIELDS_ADDRESSES, FIELDS_NAME_ENDS, FIELDS_NAMES, FIELDS_PROGRAMS, FIELDS_PROSE};
use crate::path::zones::Area;
use crate::path::{AbsPath, Place};
use crate::programs::Catalogue;
use crate::rules::Match;
use crate::shell;

pub(super) fn find(_subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let Action::Mcp { input, .. } = &context.event.action else { return None };
    let raw = input.inspect("is there shell text in it");
    for (holds, text) in json::strings(raw).by_name(Holds::of_field) {
        let is_address = text.contains(':') && !text.trim().contains(char::is_whitespace);
        if is_address && is_internal_url(text, context) {
            return block("asks for an address that only this machine or its cloud answers");
        }
        if holds == Holds::Prose {
            continue;
        }
        if holds == Holds::Address {
            if text.contains("$(") || text.contains('`') {
                return block("gets shell text in a field that should hold an address");
            }
            if is_internal_url(text, context) {
                return block("asks for an address that only this machine or its cloud answers");
            }
            continue;
        }
        let is_prose = holds == Holds::Other && text.split_whitespace().count() > 5;
        if !is_prose && is_injection(text, holds == Holds::Name) {
            return block("");
        }
    }
    None
}

/// What a field should hold, by its name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Prose,
    Address,
    Name,
    /// Something whose field is called a name.
    NamedPart,
    Other,
}

impl Holds {
    fn of_field(field: &str) -> Holds {
        let field = field.to_ascii_lowercase().replace(['_', '-'], "");
        let single = field
            .strip_suffix("es")
            .filter(|single| FIELDS_NAMES.contains(single))
            .or_else(|| field.strip_suffix('s'))
            .unwrap_or(&field);
        let is_name = FIELDS_NAMES.contains(&field.as_str())
            || FIELDS_NAMES.contains(&single)
            || FIELDS_NAME_ENDS.iter().any(|end| field.ends_with(end));
        match () {
            () if FIELDS_PROSE.iter().any(|prose| field == *prose || (prose.len() > 3 && field.ends_with(prose))) => {
                Holds::Prose
            }
            () if FIELDS_ADDRESSES.iter().any(|name| field.ends_with(name)) => Holds::Address,
            () if is_name => Holds::Name,
            () if field.ends_with("name") => Holds::NamedPart,
            () => Holds::Other,
        }
    }
}

/// Whether a text contains shell syntax; `is_name` says that its field holds a single name.
fn is_injection(text: &str, is_name: bool) -> bool {
    if text.contains("$(") || (text.contains('`') && text.matches('`').count() > 1) || text.contains("${IFS") {
        return true;
    }
    // An environment variable, but not a file named `$id.tsx`.
    let variable = text.split('$').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()));
    if is_name
        && (variable
            || text.contains("& ") && !text.contains('/')
            || text.contains(['<', '>'])
            || text.contains(['\n', '\r', ';', '|', '`', '\0'])
            || text.contains("&&")
            || text.contains("${")
            || text.starts_with("--"))
    {
        return true;
    }
    // A display name may contain any character, so it is shell text only if a command follows an operator.
    let Some(at) = text.find([';', '|', '&', '\n', '>']) else { return false };
    let behind = text.get(at..).unwrap_or_default().trim_start_matches([';', '|', '&', '\n', '>', ' ']);
    let reading = shell::read(behind, &Place::default(), &Catalogue::shipped());
    reading.commands.first().is_some_and(|command| FIELDS_PROGRAMS.contains(&command.program.as_str()))
}

/// Whether a text is the address of a cloud's metadata service, or reaches files outside of the project or another protocol.
fn is_internal_url(text: &str, context: &Context<'_>) -> bool {
    let address = Address::parse(text);
    let in_project = || {
        let path = AbsPath::resolve(text.trim_start_matches("file://"), &context.event.place);
        matches!(context.zones.area(&path), Area::InProject | Area::ProjectRoot)
    };
    address.is_metadata() || is_inner_scheme(&address.scheme) && !(address.scheme == "file" && in_project())
}
