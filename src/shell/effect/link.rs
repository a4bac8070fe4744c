//! Links that the line itself makes: what is done by way of one is done to where it leads.

use super::super::{Arg, Command, Reading, mount};
use super::program::{flag, option, options};
use super::{Access, Act, Effects, Target};
use crate::event::Place;
use crate::path::AbsPath;
use compact_str::CompactString;

/// Links to links to links: nobody needs more.
const DEEPEST: usize = 8;

/// A name and where it leads.
type Link = (AbsPath, AbsPath);

pub(super) fn follow(effects: &mut Effects, reading: &Reading) {
    let mut links: Vec<Link> = Vec::new();
    for command in &reading.commands {
        let found = made(command);
        // A link that is moved leads to the same place.
        let moves = matches!(command.program.as_str(), "mv" | "gmv");
        let known = |name: &AbsPath| links.iter().find(|(link, _)| link == name).map(|(_, leads)| leads.clone());
        let found: Vec<Link> = match moves {
            true => found.into_iter().filter_map(|(link, from)| known(&from).map(|leads| (link, leads))).collect(),
            false => found,
        };
        links.extend(found);
    }
    if links.is_empty() {
        return;
    }
    let mut next: Vec<Access> = effects.accesses.clone();
    for _ in 0..DEEPEST {
        next = next.iter().flat_map(|access| through(access, &links, reading)).collect();
        next.retain(|access| !effects.accesses.contains(access));
        if next.is_empty() {
            break;
        }
        effects.accesses.extend(next.iter().cloned());
    }
}

/// The links that a command makes. Whether the last word is a directory is only known when it runs: then the link lies
/// in it, else it is the link.
fn made(command: &Command) -> Vec<Link> {
    let symbolic = match command.program.as_str() {
        "ln" | "gln" => {
            let has = |letter, long| options(&command.program).has(&command.args, letter, long);
            has('s', "symbolic") && !has('r', "relative")
        }
        "link" => false,
        "cp" | "gcp" if flag(command, "s", "symbolic-link") => true,
        "cp" | "gcp" if flag(command, "l", "link") => false,
        "mv" | "gmv" => false,
        _ => return Vec::new(),
    };
    let operands = options(&command.program).operands(&command.args);
    let named = option(command, &["-t", "--target-directory"]);
    let here = Arg::literal(".");
    let (place, targets) = match (named.first(), operands.split_last()) {
        (Some(directory), _) => (directory, operands.as_slice()),
        (None, Some((_, []))) => (&here, operands.as_slice()),
        (None, Some((place, targets))) => (*place, targets),
        (None, None) => return Vec::new(),
    };
    let at = |word: &Arg, cwd: Option<&str>| {
        let target = Target::of(word, cwd);
        mount::on_host(command.mounts(), &target, false).targets.into_iter().next().unwrap_or(target).path
    };
    let cwd = command.cwd.as_deref();
    let mut links = Vec::new();
    for target in targets {
        let name = target.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let within = Arg::literal(format!("{}/{name}", place.text.trim_end_matches('/')));
        let whole = (*target, place);
        for (target, link) in [whole, (*target, &within)] {
            let Some(link) = at(link, cwd) else { continue };
            // A symbolic link is read from where it lies.
            let from = format!("/{}", link.directories().join("/"));
            let leads = if symbolic { at(target, Some(&from)) } else { at(target, cwd) };
            links.extend(leads.filter(|leads| *leads != link).map(|leads| (link, leads)));
        }
    }
    links
}

/// What an access is done to, by way of each link that its path passes.
fn through(access: &Access, links: &[Link], reading: &Reading) -> Vec<Access> {
    let Some(path) = access.target.path.as_ref() else { return Vec::new() };
    let maker = access.row.and_then(|row| reading.commands.get(row));
    if maker.is_some_and(|command| !made(command).is_empty()) {
        return Vec::new();
    }
    let leads = links.iter().filter_map(|(link, target)| {
        let rest = path.components().strip_prefix(link.components())?;
        // Taking the link itself away leaves what it leads to.
        if rest.is_empty() && matches!(access.act, Act::Remove | Act::Move) {
            return None;
        }
        let whole = target.components().iter().chain(rest).map(CompactString::as_str).collect::<Vec<_>>().join("/");
        let path = AbsPath::resolve(&format!("/{whole}"), &Place::default());
        let target = Target { text: path.to_string(), path: Some(path), open: access.target.open };
        Some(Access { target, ..access.clone() })
    });
    leads.collect()
}
