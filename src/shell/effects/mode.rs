//! Modes, owners and attributes: which files `chmod` and its like change, and what rights they leave.

use super::super::{Arg, Command};
use super::{Act, Noted};
use crate::programs::code::lists;
use crate::programs::roles;

/// The rights on a file behind a change of its mode, owner or attributes, as far as the command tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// What its owner may surely do: read 4, write 2, execute 1.
    pub owner: u8,
    /// What its group and others may have gained.
    pub others: u8,
    /// The same goes for everything below.
    pub recursive: bool,
}

const READ: u8 = 4;
const WRITE: u8 = 2;
const EXECUTE: u8 = 1;
const ALL: u8 = READ | WRITE | EXECUTE;

impl Rights {
    /// Rights of which nothing is known: the owner may have lost all of them, and others may have gained all.
    pub const UNKNOWN: Rights = Rights { owner: 0, others: ALL, recursive: true };

    /// Whether the owner of a file may no longer read it, or others may write it.
    pub fn harms_file(self) -> bool {
        self.owner & READ == 0 || self.others & WRITE != 0
    }

    /// Whether others may have come to read a file.
    pub fn shows_file(self) -> bool {
        self.others & READ != 0
    }

    /// Whether the owner of a directory may no longer use it, or others may change what is in it.
    pub fn harms_directory(self) -> bool {
        self.owner != ALL || self.others & WRITE != 0
    }
}

/// Takes down the files whose rights a command changes.
pub(super) fn note(noted: &mut Noted<'_>, operands: &[&Arg]) {
    let command = noted.command;
    let files: Vec<&Arg> = match command.program.as_str() {
        "setfacl" => operands.to_vec(),
        // Attributes begin with a sign, and those that are taken away look like an option.
        "chattr" => operands.iter().copied().filter(|word| !word.text.starts_with(['+', '='])).collect(),
        _ => operands.iter().copied().skip(usize::from(names_rights(command))).collect(),
    };
    change(noted, &files);
}

/// Takes down that the rights on these files are changed. What is left of them is the same for all.
pub(super) fn change(noted: &mut Noted<'_>, files: &[&Arg]) {
    if let Some((row, rights)) = noted.row.zip(rights(noted.command)) {
        noted.effects.rights.insert(row, rights);
    }
    // A directory of a container may hold a mount, however far below.
    let recursive = rights(noted.command).is_none_or(|rights| rights.recursive);
    let deep = recursive && !noted.command.mounts().is_empty();
    files.iter().for_each(|file| noted.take_down(Act::Change, file, deep));
}

/// Whether the first operand says what the rights are to be.
fn names_rights(command: &Command) -> bool {
    command.values(&["--reference"]).is_empty() && !command.args.iter().any(|arg| is_mode(&arg.text))
}

/// `-x`, `-rwx`, `-w,o+x`: a mode that looks like an option.
fn is_mode(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|mode| !mode.is_empty() && mode.chars().all(|c| "rwxXstugo,+-=".contains(c)))
}

/// What a command leaves of the rights on its files; `None` where it does not change rights.
fn rights(command: &Command) -> Option<Rights> {
    let program = command.program.as_str();
    let mode = match program {
        "chmod" | "gchmod" => {
            let words = command.args.iter().filter(|arg| !arg.text.starts_with('-') || is_mode(&arg.text));
            words.into_iter().next().filter(|_| command.values(&["--reference"]).is_empty()).cloned()
        }
        "install" => Some(command.values(&["-m", "--mode"]).pop().unwrap_or_else(|| Arg::literal("755"))),
        _ if lists(&roles::FILES_RIGHTS, program) => None,
        _ => return None,
    };
    let rights = mode.filter(Arg::is_known).and_then(|mode| of_mode(&mode.text)).unwrap_or(Rights::UNKNOWN);
    Some(Rights { recursive: command.has_flag(&["-R", "--recursive"]), ..rights })
}

/// What a mode leaves where the owner had all rights before; `None` where it is no mode.
fn of_mode(mode: &str) -> Option<Rights> {
    if mode.starts_with(|c: char| c.is_ascii_digit()) {
        let bits = u16::from_str_radix(mode, 8).ok()?;
        let of = |shift: u16| u8::try_from((bits >> shift) & 7).unwrap_or(ALL);
        return Some(Rights { owner: of(6), others: of(3) | of(0), recursive: false });
    }
    let mut rights = Rights { owner: ALL, others: 0, recursive: false };
    for clause in mode.split(',') {
        let end = clause.find(['+', '-', '='])?;
        let (who, mut actions) = clause.split_at_checked(end)?;
        if !who.chars().all(|c| "ugoa".contains(c)) {
            return None;
        }
        let everybody = who.is_empty() || who.contains('a');
        // `u=rw+x`: several actions on the same.
        while let Some(sign) = actions.chars().next() {
            let rest = actions.get(1..).unwrap_or_default();
            let end = rest.find(['+', '-', '=']).unwrap_or(rest.len());
            let (letters, more) = rest.split_at_checked(end)?;
            actions = more;
            let named = bits_of(letters)?;
            if everybody || who.contains('u') {
                rights.owner = match sign {
                    '+' => rights.owner | named.surely,
                    '-' => rights.owner & !named.perhaps,
                    _ => named.surely,
                };
            }
            if (everybody || who.contains(['g', 'o'])) && sign != '-' {
                rights.others |= named.perhaps;
            }
        }
    }
    Some(rights)
}

/// The bits that the letters of a mode stand for.
struct Bits {
    surely: u8,
    perhaps: u8,
}

fn bits_of(letters: &str) -> Option<Bits> {
    let mut bits = Bits { surely: 0, perhaps: 0 };
    for letter in letters.chars() {
        let (surely, perhaps) = match letter {
            'r' => (READ, READ),
            'w' => (WRITE, WRITE),
            'x' | 'X' => (EXECUTE, EXECUTE),
            's' | 't' => (0, 0),
            // The rights of the owner, the group or others, which are not known.
            'u' | 'g' | 'o' => (0, ALL),
            _ => return None,
        };
        bits = Bits { surely: bits.surely | surely, perhaps: bits.perhaps | perhaps };
    }
    Some(bits)
}

#[cfg(test)]
#[path = "../../../tests/unit/shell/effects/mode.rs"]
mod tests;
