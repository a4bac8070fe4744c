//! `tar`: what is put into an archive, from which directory, and where one is unpacked to.

use super::super::Arg;
use super::{Act, Noted, Target};
use crate::programs::Entry;
use crate::verdict::limits::PATH_BYTES;
use std::rc::Rc;

/// One word of the line, as `tar` takes it.
enum Part {
    Letter(char),
    Directory(Arg),
    File(Arg),
    Operand(Arg),
}

pub(super) fn tar(noted: &mut Noted<'_>) {
    let Some(entry) = noted.command.parsed.as_ref().and_then(|line| line.program()) else { return };
    let parts = parts(&noted.command.args, entry);
    let has = |names: &[&str]| noted.command.has_flag(names);
    let is = |letter: char| parts.iter().any(|part| matches!(part, Part::Letter(found) if *found == letter));
    // With absolute names, the archive says where its files go.
    if (is('x') || has(&["--extract", "--get"])) && is('P') {
        noted.take_down(Act::Write, &Arg::literal("/"), true);
    }
    let unpacks = is('x') || has(&["--extract", "--get"]);
    let packs = ['c', 'r', 'u'].iter().any(|letter| is(*letter)) || has(&["--create", "--append", "--update"]);
    let removes = has(&["--remove-files"]);
    // Each operand is looked for in the directory that was named last.
    let mut cwd = noted.command.cwd.clone();
    for part in parts {
        match part {
            Part::Letter(_) => {}
            Part::File(file) if unpacks => noted.note(Act::Read, &file),
            Part::File(file) if packs && file.text != "-" => noted.note(Act::Write, &file),
            Part::File(_) => {}
            Part::Directory(directory) => {
                let target = Target::of(&directory, cwd.as_deref());
                if unpacks {
                    noted.take_down(Act::Write, &directory, true);
                }
                if target.path.as_ref().is_some_and(|path| path.bytes() > PATH_BYTES.most) {
                    noted.effects.exceeded.get_or_insert(&PATH_BYTES);
                    return;
                }
                cwd = target.path.filter(|_| !target.open).map(|path| Rc::from(path.to_string()));
            }
            Part::Operand(operand) if packs => {
                noted.take_down_in(cwd.as_deref(), Act::Read, &operand, true);
                if removes {
                    noted.take_down_in(cwd.as_deref(), Act::Remove, &operand, true);
                }
            }
            Part::Operand(_) => {}
        }
    }
}

/// Whether an option takes a value.
fn takes_value(entry: &Entry, name: &str) -> bool {
    entry.options.iter().any(|option| option.name == name)
}

/// The long option that a word means: any beginning of a name, if it is not a name itself.
fn meant<'a>(entry: &'a Entry, given: &'a str) -> &'a str {
    let mut names = entry.options.iter().map(|option| option.name.as_str());
    let begun = names.find(|name| given.len() > 3 && name.starts_with(given));
    if takes_value(entry, given) { given } else { begun.unwrap_or(given) }
}

fn parts(args: &[Arg], entry: &Entry) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = args.iter();
    let mut at = 0;
    while let Some(arg) = rest.next() {
        at += 1;
        let text = arg.text.as_str();
        if text.starts_with("--") {
            let (name, value) = match text.split_once('=') {
                Some((name, _)) => (meant(entry, name), arg.behind(name).and_then(|rest| rest.behind("="))),
                None => (meant(entry, text), None),
            };
            let value = match value {
                None if takes_value(entry, name) => rest.next().cloned(),
                value => value,
            };
            match name {
                "--directory" => parts.extend(value.map(Part::Directory)),
                "--file" => parts.extend(value.map(Part::File)),
                // Without a value it is named after the archive.
                "--one-top-level" => parts.extend(value.map(Part::Directory)),
                _ if ["--absolute-names", "--absolute-paths"].iter().any(|flag| flag.starts_with(name))
                    && name.len() > 4 =>
                {
                    parts.push(Part::Letter('P'));
                }
                _ => {}
            }
            continue;
        }
        // `tar cfC x.tar dir`: without a dash the values follow in the order of their letters.
        let bundled = at == 1 && !text.starts_with('-');
        let Some(letters) = text.strip_prefix('-').or(bundled.then_some(text)).filter(|letters| !letters.is_empty())
        else {
            parts.push(Part::Operand(arg.clone()));
            continue;
        };
        for (index, letter) in letters.char_indices() {
            parts.push(Part::Letter(letter));
            if !takes_value(entry, &format!("-{letter}")) {
                continue;
            }
            let start = text.len() - letters.len() + index + letter.len_utf8();
            let attached = text.get(..start).and_then(|start| arg.behind(start));
            let attached = attached.filter(|value| !bundled && !value.text.is_empty());
            let taken = attached.is_some();
            let value = attached.or_else(|| rest.next().cloned());
            match letter {
                'C' => parts.extend(value.map(Part::Directory)),
                'f' => parts.extend(value.map(Part::File)),
                _ => {}
            }
            if taken || !bundled {
                break;
            }
        }
    }
    parts
}
