//! Reads of settings that tools keep in the home directory. Most command lines that log in store their token there.

use super::secret_access::shows_file_names;
use super::{Context, command_of, suspicious_if};
use crate::decide::subject::Subject;
use crate::path::protected::Class;
use crate::path::{AbsPath, Extent};
use crate::rules::Match;
use crate::shell::Act;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let access = subject.file_access().filter(|access| access.act == Act::Read && !access.unlikely)?;
    let path = access.target.path.as_ref().filter(|path| is_hidden_at_home(path, context))?;
    let is_shown = !command_of(access, context).is_some_and(shows_file_names);
    let is_settings = is_shown && Class::ToolSettings.contains(path, Extent::Exact, context.zones.home.as_ref());
    suspicious_if(is_settings, "the settings of a tool may hold a token")
}

/// Whether a path is in a hidden directory at home, or one of the settings directories of macOS; a quick check.
fn is_hidden_at_home(path: &AbsPath, context: &Context<'_>) -> bool {
    let home = context.zones.home.as_ref();
    let below = home.and_then(|home| path.components().strip_prefix(home.components()));
    let is_outside = *path != context.zones.project && !path.is_below(&context.zones.project);
    let first = below.and_then(<[_]>::first);
    is_outside && first.is_some_and(|name| name.starts_with(['.', '*', '?', '[']) || name == "Library")
}
