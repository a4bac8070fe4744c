//! Names of open descriptors: `/dev//fd/9`, `/proc/self/fd/0` and `/dev/stdin` are files that the shell has opened.

use super::Arg;
use crate::path::AbsPath;

/// Replaces another name of an open descriptor by `/dev/stdin` or `/dev/fd/3`.
pub(super) fn normalize(arg: &mut Arg) {
    let is_name = arg.text.starts_with("/dev/") || arg.text.starts_with("/proc/");
    if !is_name || !arg.is_known() || arg.glob {
        return;
    }
    if let Some(number) = number(&arg.text) {
        arg.text = if number == "0" { "/dev/stdin".into() } else { format!("/dev/fd/{number}").into() };
    }
}

/// The number of the descriptor that a path names.
fn number(path: &str) -> Option<String> {
    let path = AbsPath::resolve_in(path, "/", None);
    let names: Vec<&str> = path.components().iter().map(|name| name.as_str()).collect();
    let number = match names.as_slice() {
        ["dev", "stdin"] => "0",
        ["dev", "fd", number] | ["proc", _, "fd", number] | ["proc", _, "task", _, "fd", number] => number,
        _ => return None,
    };
    number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.to_owned())
}
