//! Reads of settings that tools keep in the home directory. Most command lines that log in store their token there.

use super::secret_access::lists_files;
use super::{Context, suspicious_if};
use crate::decide::subject::Subject;
use crate::path::protected::Class;
use crate::path::{AbsPath, Extent};
use crate::rules::Match;
use crate::shell::Act;

pub(super) fn find(subject: &Subject<'_>, context: &Context<'_>) -> Option<Match> {
    let access = subject.file_access().filter(|access| access.act == Act::Read && !access.astray)?;
    let path = access.target.path.as_ref().filter(|path| is_hidden_at_home(path, context))?;
    let is_shown = !lists_files(access, context);
    let is_settings = is_shown && Class::ToolSettings.contains(path, Extent::Exact, context.zones.home.as_ref());
    suspicious_if(is_settings, "")
}

/// Whether a path is in a hidden directory at home, or one of the settings directories of macOS; a quick check.
fn is_hidden_at_home(path: &AbsPath, context: &Context<'_>) -> bool {
    let home = context.zones.home.as_ref();
    let below = home.and_then(|home| path.components().strip_prefix(home.components()));
    let is_outside = *path != context.zones.project && !path.is_below(&context.zones.project);
    let first = below.and_then(<[_]>::first);
    is_outside && first.is_some_and(|name| name.starts_with(['.', '*', '?', '[']) || name == "Library")
}
