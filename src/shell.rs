//! Shell text has one reader: every command that a line would run, and nothing that it would not.
//!
//! [`read`] parses the text without recursion, expands words as far as they can be known without running anything,
//! follows `cd` and assignments, and unwraps what runs its argument. What cannot be read is said, never skipped.

mod canonical;
mod effects;
mod eval;
mod expand;
mod inline;
mod mount;
mod options;
mod parse;
pub mod powershell;
mod state;
mod syntax;
mod wrappers;

pub use canonical::{plain, typed};
pub use effects::{Access, Act, Doing, Effects, Rights, Target, addresses, bodies, reroutes, uploads};
pub use eval::{MADE, is_builtin};
pub use mount::Mount;
pub use state::Elsewhere;
pub use syntax::{Uncertainty, Unreadable};

use crate::path::AbsPath;
use crate::path::Place;
use crate::verdict::limits;
use crate::verdict::limits::Limit;
use compact_str::CompactString;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

/// What a process substitution is to the command that is given it: the end of a pipe.
pub const PROCESS: &str = "/dev/fd/63";

/// What stands between the words of a list in its value: no word holds it.
const APART: &str = "\u{1f}";

/// Reads a line as bash would run it from `place`.
///
/// ```
/// use rune::{path::Place, shell};
///
/// let reading = shell::read("cd /tmp && r\\m -rf \"x y\"", &Place::default());
/// let canonical: Vec<&str> = reading.commands.iter().map(|command| command.canonical.as_str()).collect();
/// assert_eq!(canonical, ["cd /tmp", "rm -rf 'x y'"]);
/// ```
pub fn read(line: &str, place: &Place) -> Reading {
    if line.len() > limits::SHELL_BYTES.most {
        return Reading { exceeded: Some(&limits::SHELL_BYTES), ..Reading::default() };
    }
    Reading { place: place.clone(), ..eval::walk(line, place) }
}

/// What a line would do.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The commands that it would run, in the order in which they are written.
    pub commands: Vec<Command>,
    /// Redirections without a command of their own.
    loose: Vec<Command>,
    /// Why part of it cannot be read with certainty.
    pub doubts: Vec<Uncertainty>,
    /// The limit that it exceeds; what was found before still counts.
    pub exceeded: Option<&'static Limit>,
    /// The work that reading it took.
    pub steps: usize,
    /// Where the first `source` of a known file stands: it may define any function.
    pub sourced: Option<usize>,
    /// The functions that it defines.
    pub functions: BTreeSet<String>,
    /// One of them starts itself without end.
    pub bomb: bool,
    /// Where it runs.
    place: Place,
}

impl Reading {
    /// What the commands would do to files, variables and the network.
    pub fn effects(&self) -> Effects {
        effects::effects(self)
    }

    /// The pipelines of two or more commands, in the order in which they begin.
    pub fn pipelines(&self) -> Vec<Pipeline> {
        // Most commands feed none.
        let fed: BTreeSet<usize> =
            self.commands.iter().filter(|command| command.stage > 0).map(|command| command.pipeline).collect();
        if fed.is_empty() {
            return Vec::new();
        }
        let mut found: BTreeMap<usize, Vec<&Command>> = BTreeMap::new();
        for command in self.commands.iter().filter(|command| fed.contains(&command.pipeline)) {
            let stages = found.entry(command.pipeline).or_default();
            // What a stage runs in turn has its number too; the stage itself comes first.
            if stages.last().is_none_or(|last| last.stage < command.stage) {
                stages.push(command);
            }
        }
        let piped = found.into_values().filter(|stages| stages.len() > 1);
        let pipeline = |stages: Vec<&Command>| Pipeline {
            canonical: stages.iter().map(|command| command.canonical.as_str()).collect::<Vec<_>>().join(" | "),
            span: stages.iter().map(|command| command.span.start).min().unwrap_or_default()
                ..stages.iter().map(|command| command.span.end).max().unwrap_or_default(),
        };
        piped.map(pipeline).collect()
    }

    /// Whether all of the text could be read.
    pub fn is_readable(&self) -> bool {
        self.doubts.is_empty() && self.exceeded.is_none()
    }
}

/// Commands of which each feeds the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// The canonical text of its commands, joined with ` | `.
    pub canonical: String,
    /// Where it stands in the line.
    pub span: Range<usize>,
}

/// One command that would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program after quote removal; a path only where it is not in a standard directory.
    pub program: CompactString,
    /// Whether the program is known.
    pub known: bool,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// The command with one blank between words, quoted where it has to be.
    pub canonical: CompactString,
    /// The programs that run it, outermost first.
    pub via: Vec<String>,
    /// Where it stands in the line.
    pub span: Range<usize>,
    /// The directory that it runs in, where that is known.
    pub cwd: Option<Rc<str>>,
    /// Where else it may run.
    pub elsewhere: Vec<Elsewhere>,
    /// Variables that are set for it, with their values where they are known.
    pub env: Vec<(String, Option<String>)>,
    /// Its redirections to and from files.
    pub redirects: Vec<Redirect>,
    /// What it reads from its standard input.
    pub input: Input,
    /// The pipeline that it is part of.
    pub pipeline: usize,
    /// Its place in the pipeline.
    pub stage: usize,
    /// It runs by an option, a setting or a line of code, and not because somebody asked for it to run.
    pub hidden: bool,
    /// Directories of the host that its container sees, where it runs in one.
    pub mounts: Option<Rc<[Mount]>>,
}

impl Command {
    /// What a command that this one runs has in common with it.
    fn around(&self) -> Command {
        Command {
            span: self.span.clone(),
            cwd: self.cwd.clone(),
            elsewhere: self.elsewhere.clone(),
            env: self.env.clone(),
            input: self.input.clone(),
            pipeline: self.pipeline,
            stage: self.stage,
            hidden: self.hidden,
            mounts: self.mounts.clone(),
            ..Command::default()
        }
    }

    /// Whether a path that it touches belongs to the container that it runs in.
    pub fn is_contained(&self, path: &AbsPath) -> bool {
        let containers = ["docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc"];
        self.via.iter().any(|runner| containers.contains(&runner.as_str())) && !mount::reach(self.mounts(), path)
    }

    fn mounts(&self) -> &[Mount] {
        self.mounts.as_deref().unwrap_or_default()
    }

    /// Whether any of its words cannot be known.
    pub fn is_dynamic(&self) -> bool {
        !self.known || self.args.iter().any(|arg| !arg.is_known())
    }
}

/// One word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arg {
    /// Its text; what cannot be known stands in it as it is written.
    pub text: CompactString,
    /// How much of the text is known, where not all is.
    pub known: Option<usize>,
    /// It is a pattern for file names.
    pub glob: bool,
}

impl Arg {
    /// Whether all of it is known.
    pub fn is_known(&self) -> bool {
        self.known.is_none()
    }

    /// The part before the first unknown character.
    pub fn prefix(&self) -> &str {
        self.text.get(..self.known.unwrap_or(self.text.len())).unwrap_or_default()
    }

    /// A known word.
    pub fn literal(text: impl Into<CompactString>) -> Self {
        Arg { text: text.into(), known: None, glob: false }
    }
}

/// A file that a command opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// It may be written.
    pub writes: bool,
    /// It may be read.
    pub reads: bool,
    /// The file.
    pub target: Arg,
}

/// What a command reads from its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Input {
    /// Whatever the shell itself reads.
    #[default]
    Inherited,
    /// This text.
    Text(String),
    /// The output of the commands before it in the pipeline.
    Pipe,
    /// Something that cannot be known.
    Unknown,
}
