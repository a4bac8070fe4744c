//! `find -exec` and `fd -x`.

use super::super::Arg;
use super::{Inner, later, replaced};

/// Every `-exec` of a `find`, and its deletions as what they are.
pub(super) fn find(args: &[Arg]) -> Vec<Inner> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        at += 1;
        if matches!(arg.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir") {
            let command: Vec<Arg> =
                args.iter().skip(at).take_while(|arg| !matches!(arg.text.as_str(), ";" | "+")).cloned().collect();
            at += command.len();
            found.push(Inner::command(command.into_iter().map(|arg| place(arg, args)).collect()));
        }
    }
    found
}

/// `{}` stands for whatever is found, below where the search starts.
fn place(arg: Arg, args: &[Arg]) -> Arg {
    if !arg.text.contains("{}") {
        return arg;
    }
    let start = args.iter().find(|arg| !arg.text.starts_with('-')).map_or(".", |arg| arg.text.as_str());
    // By name it is that name, somewhere below.
    if let Some(name) = only_name(args) {
        return Arg { text: arg.text.replace("{}", &format!("{start}/**/{name}")), known: None, glob: true };
    }
    let found = replaced(&arg, "{}", &format!("{start}/$FOUND"));
    Arg { known: found.known.map(|at| at + start.len() + 1), ..found }
}

/// The one name that is searched for.
pub(in super::super) fn only_name(args: &[Arg]) -> Option<&str> {
    let mut names =
        args.iter().zip(args.iter().skip(1)).filter(|(test, _)| matches!(test.text.as_str(), "-name" | "-iname"));
    let (_, name) = names.next().filter(|_| names.next().is_none())?;
    let either = args.iter().any(|arg| matches!(arg.text.as_str(), "-o" | "-or" | "!" | "-not"));
    Some(name.text.as_str()).filter(|name| !either && !name.contains(['/', '$']))
}

pub(super) fn fd(args: &[Arg]) -> Vec<Inner> {
    let Some(at) = args.iter().position(|arg| matches!(arg.text.as_str(), "-x" | "-X" | "--exec" | "--exec-batch"))
    else {
        return Vec::new();
    };
    let command = args.iter().skip(at + 1).take_while(|arg| arg.text != ";");
    // What it finds lies below where it looks.
    let found = Arg { text: "./$FOUND".to_owned(), known: Some(2), glob: false };
    let elsewhere =
        args.iter().take(at).any(|arg| arg.text.starts_with(['/', '~']) || arg.text.contains("..") || !arg.is_known());
    // Without a name or a kind it is everything.
    let picks = |arg: &Arg| {
        !matches!(
            arg.text.as_str(),
            "." | "-H" | "-I" | "-u" | "--hidden" | "--no-ignore" | "-t" | "f" | "d" | "--type"
        )
    };
    let found = match (elsewhere, args.iter().take(at).any(picks)) {
        (true, _) => later("$FOUND"),
        (false, true) => found,
        (false, false) => Arg::literal("."),
    };
    let mut command: Vec<Arg> =
        command.map(|arg| if arg.text.contains('{') { found.clone() } else { arg.clone() }).collect();
    if command.iter().all(Arg::is_known) {
        command.push(found);
    }
    vec![Inner::command(command)]
}
