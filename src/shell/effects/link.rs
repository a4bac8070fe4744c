//! Links that the line itself makes: what is done by way of one is done to where it leads.

use super::super::{Arg, Command, Reading, mount};
use super::{Access, Act, Effects, MAX_ACCESSES, Target};
use crate::path::AbsPath;
use crate::path::Place;
use crate::verdict::limits::FILES;
use compact_str::CompactString;
use std::collections::{BTreeMap, BTreeSet};

/// Links that lead to links: a system follows no more of them for one path.
const DEEPEST: usize = 40;

/// A name and where it leads.
type Link = (AbsPath, AbsPath);

/// All links of a line, by their names.
#[derive(Default)]
struct Links {
    by_name: BTreeMap<Vec<CompactString>, Vec<AbsPath>>,
    /// How many components their names have.
    lengths: BTreeSet<usize>,
}

impl Links {
    fn add(&mut self, (link, leads): Link) {
        self.lengths.insert(link.components().len());
        self.by_name.entry(link.components().to_vec()).or_default().push(leads);
    }

    fn named(&self, name: &[CompactString]) -> &[AbsPath] {
        self.by_name.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

pub(super) fn follow(effects: &mut Effects, reading: &Reading) {
    let mut links = Links::default();
    let mut makes: Vec<bool> = Vec::with_capacity(reading.commands.len());
    for command in &reading.commands {
        let found = made(command);
        makes.push(!found.is_empty());
        // A link that is moved leads to the same place.
        let moves = matches!(command.program.as_str(), "mv" | "gmv");
        for (link, from) in found {
            let leads = if moves { links.named(from.components()).to_vec() } else { vec![from] };
            leads.into_iter().for_each(|leads| links.add((link.clone(), leads)));
        }
    }
    if links.by_name.is_empty() {
        return;
    }
    let by_link = |access: &Access| access.row.and_then(|row| makes.get(row)) != Some(&true);
    let key = |access: &Access| {
        let Access { act, target, deep, astray, row } = access;
        (*row, *act, *deep, *astray, target.open, target.text.clone())
    };
    let mut seen: BTreeSet<_> = effects.accesses.iter().map(key).collect();
    let mut next: Vec<Access> = effects.accesses.iter().filter(|access| by_link(access)).cloned().collect();
    for _ in 0..DEEPEST {
        let mut led = Vec::new();
        for access in &next {
            led.extend(through(access, &links).into_iter().filter(|access| seen.insert(key(access))));
            if effects.accesses.len() + led.len() > MAX_ACCESSES {
                effects.exceeded.get_or_insert(&FILES);
                return effects.accesses.extend(led);
            }
        }
        if led.is_empty() {
            break;
        }
        effects.accesses.extend(led.iter().cloned());
        next = led;
    }
}

/// The symbolic links that a command makes, and where they lead.
pub(in super::super) fn links_made(command: &Command) -> Vec<Link> {
    let is_symbolic = command.has_flag(&["-s", "--symbolic", "--symbolic-link"]);
    if is_symbolic { made(command) } else { Vec::new() }
}

/// The links that a command makes. Whether the last word is a directory is only known when it runs: then the link lies
/// in it, else it is the link.
fn made(command: &Command) -> Vec<Link> {
    let symbolic = match command.program.as_str() {
        "ln" | "gln" => command.has_flag(&["-s", "--symbolic"]) && !command.has_flag(&["-r", "--relative"]),
        "link" => false,
        "cp" | "gcp" if command.has_flag(&["-s", "--symbolic-link"]) => true,
        "cp" | "gcp" if command.has_flag(&["-l", "--link"]) => false,
        "mv" | "gmv" => false,
        _ => return Vec::new(),
    };
    let operands = command.operands();
    let named = command.values(&["-t", "--target-directory"]);
    let here = Arg::literal(".");
    let (place, targets) = match (named.first(), operands.split_last()) {
        (Some(directory), _) => (directory, operands.as_slice()),
        (None, Some((_, []))) => (&here, operands.as_slice()),
        (None, Some((place, targets))) => (*place, targets),
        (None, None) => return Vec::new(),
    };
    let at = |word: &Arg, cwd: Option<&str>| {
        let target = Target::of(word, cwd);
        mount::map_to_host(command.mounts(), &target, false).targets.into_iter().next().unwrap_or(target).path
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
fn through(access: &Access, links: &Links) -> Vec<Access> {
    let Some(path) = access.target.path.as_ref().map(AbsPath::components) else { return Vec::new() };
    let mut found = Vec::new();
    for length in links.lengths.range(..=path.len()) {
        let Some((name, rest)) = path.split_at_checked(*length) else { continue };
        // Taking the link itself away leaves what it leads to.
        if rest.is_empty() && matches!(access.act, Act::Remove | Act::Move) {
            continue;
        }
        for target in links.named(name) {
            let whole = target.components().iter().chain(rest).map(CompactString::as_str).collect::<Vec<_>>().join("/");
            let path = AbsPath::resolve(&format!("/{whole}"), &Place::default());
            let target = Target { text: path.to_string(), path: Some(path), open: access.target.open };
            found.push(Access { target, ..access.clone() });
        }
    }
    found
}
