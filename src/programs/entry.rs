//! An entry of the catalogue: what a program, or a verb of it, does with its options and operands.
//!
//! The build script compiles this file too, so it uses nothing of the crate.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

/// What a command does to the world beyond the files that it names, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Does {
    /// Prints, and changes nothing.
    Look,
    /// Builds, tests, formats, starts local services, installs what the project's manifests name.
    Work,
    /// Executes an argument, a file or fetched code.
    Run,
    /// Makes a release, package or image available to others.
    Publish,
    /// Changes a shared or production system.
    Change,
    /// Loses local work that cannot be restored.
    Lose,
    /// Removes remote resources, databases, volumes or history that cannot be restored.
    Destroy,
}

/// What a program does with an option value or an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Use {
    /// A number, a name, a pattern, a message: not a file.
    Text,
    /// Looks only at the name and the metadata of a file.
    List,
    /// Tells whether a file contains a text.
    Match,
    /// Reads a file without showing its content: a configuration, a key to log in with.
    Load,
    /// Reads a file; its content may be shown or copied.
    Read,
    /// Sends the content of a file to another machine.
    Send,
    /// Writes or replaces a file, or files in a directory.
    Write,
    /// Writes its standard input to a file, as a redirection does.
    Redirect,
    /// Reads a file, and puts the result in its place.
    Replace,
    /// Changes the mode, the owner or the attributes of a file.
    Rights,
    /// Writes files of unknown names into a directory.
    Into,
    /// Removes what a directory contains before writing into it.
    Empty,
    /// Removes a file or a directory.
    Remove,
    /// Executes a file: a program, a script or a plug-in.
    Execute,
    /// Shell text, or a program with its arguments.
    Run,
    /// Code in the language of the entry.
    Code,
    /// An address that data is sent to.
    To,
    /// An address that is only read from.
    From,
    /// `NAME=VALUE`, a variable for the program that is started.
    Variable,
    /// The directory that the command works in.
    Directory,
    /// A value of which it is not known what it is used for.
    Unknown,
}

/// How a program writes its options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Style {
    /// `-abc`, `-ofile`, `--long`, `--long=value`, abbreviated long names.
    #[default]
    Gnu,
    /// `-long value`, `-long=value`, `--long`: no clusters (Go, Java, Terraform).
    Single,
    /// `name=value` operands are options (dd).
    Assignments,
}

/// What the change is about that a program makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scope {
    /// What others use too.
    #[default]
    Shared,
    /// The machine that it runs on: a package manager. In a container it changes nothing else.
    Machine,
    /// Whatever the command changes that it runs elsewhere: `kubectl exec`.
    Command,
}

/// An option that takes a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValueOption {
    /// The option with its dashes. `-o:key`: only for values that begin with `key`, in any case, and `=`, `:` or a blank.
    pub name: CompactString,
    /// What its value is used for.
    pub takes: Use,
}

/// How a command is written that the last operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tail {
    /// `run*`: a program with its arguments.
    Command,
    /// `shell*`: words that are joined with blanks and read by a shell.
    Shell,
    /// `package*`: a package, perhaps with a version, whose program is run with the other words.
    Package,
    /// `script*`: a script of the project, or else a program with its arguments.
    Script,
    /// `again*`: words of the program itself, or of the one that `runs_as` names.
    Again,
}

/// What the operands are used for, by position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operands {
    /// The first operands.
    pub first: Vec<Use>,
    /// All operands between the first and the last ones. `None`: their use is unknown.
    pub rest: Option<Use>,
    /// The last operands.
    pub last: Vec<Use>,
    /// The command that follows the first operands.
    pub tail: Option<Tail>,
    /// The command stands only behind `--`.
    pub dashes: bool,
    /// `NAME=VALUE` words may stand before the command.
    pub variables: bool,
    /// A version may stand before the command.
    pub version: bool,
}

/// A verb of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verb {
    /// A verb that a file describes.
    Told(Box<Entry>),
    /// A verb that is compiled in. Its entry is decoded when a command uses it.
    Shipped {
        /// Its names, separated by blanks.
        names: CompactString,
        /// The first letters of its names, see `first_letters`.
        letters: u32,
        /// The number of its entry.
        number: u32,
    },
}

impl Verb {
    /// Its name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let (told, shipped) = match self {
            Verb::Told(entry) => (entry.names.as_slice(), None),
            Verb::Shipped { names, .. } => (&[][..], Some(names.split(' '))),
        };
        told.iter().map(CompactString::as_str).chain(shipped.into_iter().flatten())
    }

    /// The first letters of some names, as bits; all bits if one of them begins with a wildcard.
    pub fn first_letters<'n>(names: impl Iterator<Item = &'n str>) -> u32 {
        let bits = |name: &str| if name.starts_with('*') { u32::MAX } else { letter_bit(name) };
        names.fold(0, |all, name| all | bits(name))
    }

    /// Whether the verb is an option: `python -m`.
    pub fn is_option(&self) -> bool {
        self.names().next().is_some_and(|name| name.starts_with('-'))
    }
}

/// The bit of the first letter of a name.
pub(super) fn letter_bit(name: &str) -> u32 {
    name.bytes().next().map_or(0, |letter| 1 << (letter & 31))
}

/// A program or a verb.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The name and its aliases. `*` in a name stands for any characters.
    pub names: Vec<CompactString>,
    /// What it does. Of a program with verbs: what a verb that is not listed does.
    pub does: Option<Does>,
    /// Its verbs.
    pub verbs: Vec<Verb>,
    /// Its options that take a value. Those of the entries above hold too.
    pub options: Vec<ValueOption>,
    /// Options behind which the rest of the line is a command.
    pub command: Vec<CompactString>,
    /// Its operands. `None`: those of the entry above hold.
    pub operands: Option<Operands>,
    /// Flags that change what it does.
    pub flags: Vec<(CompactString, Does)>,
    /// Flags with which nothing is changed.
    pub dry: Vec<CompactString>,
    /// Flags and option values with which only this machine is changed. `--context=kind-*` is an option with such a value,
    /// `--endpoint=nearby` one with an address of this machine, `nearby` an operand with one. The list of the deepest entry
    /// that has one holds.
    pub local: Vec<CompactString>,
    /// Flags that change nothing of what the entry tells.
    pub plain: Vec<CompactString>,
    /// Flags with which what is done to a directory holds for everything below; `*`: always.
    pub recursive: Vec<CompactString>,
    /// Options that take a value only if it is attached to them: `-i.bak`.
    pub attached: Vec<CompactString>,
    /// Options with two values, of which the second has the use that is listed: `--rawfile NAME FILE`.
    pub pairs: Vec<CompactString>,
    /// Options that stand for the first operand: `grep -e PATTERN`.
    pub first: Vec<CompactString>,
    /// Flags that change the uses of options and operands, and these uses. `-d=skip` is an option with that value.
    pub with: Vec<(Vec<CompactString>, Entry)>,
    /// It runs only what it finds by itself, such as the tasks of a configuration file.
    pub finds: bool,
    /// It obeys no file of the project: it works on the files that it is given, on other machines, or on processes.
    pub standalone: bool,
    /// The program that reads the operands of an `again*` tail, if not this one.
    pub runs_as: Option<CompactString>,
    /// The language of its `code` options and of the files that it executes.
    pub language: Option<CompactString>,
    /// Prints credentials.
    pub reveals: bool,
    /// Prints the settings of a workload, and so the credentials in them, unless an option selects other parts.
    pub describes: bool,
    /// Top-level options by which another machine does the work, with the values that are this machine: `-H=nearby`. Then
    /// `work` counts as `change`, and `lose` as `destroy`.
    pub remote: Vec<CompactString>,
    /// A client of a hosted service: the words of verbs that are known only by a pattern say whether they print credentials.
    pub hosted: bool,
    /// Gives secrets to the command that it runs, in variables and files.
    pub injects: bool,
    /// Prints text that strangers wrote.
    pub brings: bool,
    /// Downloads packages that its operands name, and installs or runs them.
    pub installs: bool,
    /// Prints shell text that sets up the program itself, made to be evaluated.
    pub activates: bool,
    /// What a change is about.
    pub scope: Scope,
    /// How it writes its options.
    pub style: Style,
}
