//! Analysis of shell text: the commands that a line would run.
//!
//! [`read`] parses the text without recursion, expands words as far as they are known without running anything, tracks
//! `cd` and assignments, and resolves programs that run other programs. Text that cannot be read with certainty is
//! reported as an [`Uncertainty`] and never skipped.

mod canonical;
mod descriptors;
mod effects;
mod eval;
mod expand;
mod inline;
mod mount;
mod options;
mod parse;
pub mod powershell;
mod state;
mod statements;
mod syntax;
mod tool_roots;
mod wrappers;

pub use canonical::{quote_word, without_global_options};
pub use effects::{Access, Act, Doing, Effects, Rights, Target, addresses, bodies, reroutes, uploads};
pub use eval::{MKTEMP_PATH, is_builtin, written_text};
pub use mount::Container;
pub use state::PossibleCwd;
pub use syntax::{Uncertainty, Unreadable};

use crate::path::AbsPath;
use crate::path::Place;
use crate::programs::code::lists;
use crate::programs::{Catalogue, CommandLine, WordUse, roles};
use crate::verdict::limits;
use crate::verdict::limits::Limit;
use compact_str::CompactString;
use mount::{ContainerKind, Mount};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

/// The argument that a process substitution expands to.
pub const PROCESS_SUBSTITUTION: &str = "/dev/fd/63";

/// Separates the words of an array in its value. It does not occur in words.
const FIELD_SEPARATOR: &str = "\u{1f}";

/// Analyses a line as bash would run it in `place`. The catalogue says what the programs do with their words.
///
/// ```
/// use rune::{path::Place, programs::Catalogue, shell};
///
/// let reading = shell::read("cd /tmp && r\\m -rf \"x y\"", &Place::default(), &Catalogue::shipped());
/// let canonical: Vec<&str> = reading.commands.iter().map(|command| command.canonical.as_str()).collect();
/// assert_eq!(canonical, ["cd /tmp", "rm -rf 'x y'"]);
/// ```
pub fn read(line: &str, place: &Place, catalogue: &Catalogue) -> Reading {
    if line.len() > limits::SHELL_BYTES.most {
        return Reading { exceeded: Some(&limits::SHELL_BYTES), ..Reading::default() };
    }
    Reading { place: place.clone(), ..eval::evaluate(line, place, catalogue) }
}

/// The result of analysing a line.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The commands that the line would run, in source order.
    pub commands: Vec<Command>,
    /// Redirections and assignments without a program.
    programless: Vec<Command>,
    /// The parts of the line that cannot be read with certainty.
    pub uncertainties: Vec<Uncertainty>,
    /// The limit that the line exceeds. What was found before it is kept.
    pub exceeded: Option<&'static Limit>,
    /// The work of the analysis, see [`Meter`](limits::Meter).
    pub steps: usize,
    /// The offset of the first `source` of a known file, which may define any function.
    pub sourced: Option<usize>,
    /// The functions that the line defines.
    pub functions: BTreeSet<String>,
    /// A function of the line is a fork bomb.
    pub fork_bomb: bool,
    /// Where the line runs.
    place: Place,
    /// What it was read with.
    catalogue: Catalogue,
}

impl Reading {
    /// The catalogue that the line was read with.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Returns the effects of the commands on files, variables and the network.
    pub fn effects(&self) -> Effects {
        effects::effects(self)
    }

    /// Returns the pipelines of two or more commands, in source order.
    pub fn pipelines(&self) -> Vec<Pipeline> {
        let fed: BTreeSet<usize> =
            self.commands.iter().filter(|command| command.stage > 0).map(|command| command.pipeline).collect();
        if fed.is_empty() {
            return Vec::new();
        }
        let mut found: BTreeMap<usize, Vec<&Command>> = BTreeMap::new();
        for command in self.commands.iter().filter(|command| fed.contains(&command.pipeline)) {
            let stages = found.entry(command.pipeline).or_default();
            // Commands that a stage runs have the same number and come after it.
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

    /// Whether all of the line was read with certainty.
    pub fn is_readable(&self) -> bool {
        self.uncertainties.is_empty() && self.exceeded.is_none()
    }
}

/// Two or more commands connected by pipes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    /// The canonical texts of the commands, joined by ` | `.
    pub canonical: String,
    /// Its byte range in the line.
    pub span: Range<usize>,
}

/// A command that would run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The name of the program. It is a path only if it is not in a standard directory.
    pub program: CompactString,
    /// Whether the program is known.
    pub known: bool,
    /// The arguments, without the program.
    pub args: Vec<Arg>,
    /// The command with single blanks between words and quotes only where they are needed.
    pub canonical: CompactString,
    /// The programs that run it, outermost first.
    pub via: Vec<String>,
    /// Its byte range in the line.
    pub span: Range<usize>,
    /// The working directory, if it is known.
    pub cwd: Option<Rc<str>>,
    /// Other possible working directories.
    pub other_cwds: Vec<PossibleCwd>,
    /// Variables that are set for the command, with their values if they are known.
    pub env: Vec<(String, Option<String>)>,
    /// Files that its redirections open.
    pub redirects: Vec<Redirect>,
    /// Its standard input.
    pub input: Input,
    /// The text of a heredoc or a here-string with unknown parts, which appear as they are written in the source.
    pub here_text: Option<String>,
    /// A filter has decoded or changed the known text of its standard input.
    pub is_decoded: bool,
    /// The shell reads its output as words: `$(find …)`, `find … | while read name`.
    pub is_captured: bool,
    /// Its standard output goes to a file or to another descriptor: `>&2`.
    pub is_diverted: bool,
    /// The number of its pipeline.
    pub pipeline: usize,
    /// Its index in the pipeline.
    pub stage: usize,
    /// It is run by an option, a setting or code in another language, so that a reader may overlook it.
    pub hidden: bool,
    /// The container that it runs in, if it is one of docker or a similar program.
    pub container: Option<Rc<Container>>,
    /// The words as its program reads them; `None` if the catalogue does not know the program.
    pub parsed: Option<Rc<CommandLine>>,
    /// Where the code comes from that it runs from a file which the line itself writes.
    pub runs: Option<Origin>,
}

/// Where the content of a file comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The line contains it, and it is judged itself.
    Shown,
    /// A command of the line computes or decodes it.
    Generated,
    /// The line downloads it.
    Fetched,
}

/// Whether a program runs others in containers, of this machine or of a cluster.
fn runs_in_containers(program: &str) -> bool {
    lists(&roles::CONTAINERS_ENGINES, program) || lists(&roles::CONTAINERS_CLUSTERS, program)
}

impl Command {
    /// Builds a command with the properties that a command run by this one inherits.
    fn inner_base(&self) -> Command {
        Command {
            span: self.span.clone(),
            cwd: self.cwd.clone(),
            other_cwds: self.other_cwds.clone(),
            env: self.env.clone(),
            input: self.input.clone(),
            is_decoded: self.is_decoded,
            is_diverted: self.is_diverted,
            pipeline: self.pipeline,
            stage: self.stage,
            hidden: self.hidden,
            container: self.container.clone(),
            ..Command::default()
        }
    }

    /// Whether a path is in the container that the command runs in and not on the host.
    pub fn is_contained(&self, path: &AbsPath) -> bool {
        self.via.iter().any(|runner| runs_in_containers(runner))
            && self.container.as_ref().is_none_or(|container| container.kind != ContainerKind::Host)
            && !mount::reaches(self.mounts(), path)
    }

    /// Whether a path is in a container that is made for this command, so that nothing there was there before.
    pub fn is_in_new_container(&self, path: &AbsPath) -> bool {
        let is_new = |container: &Rc<Container>| container.kind == ContainerKind::New;
        self.container.as_ref().is_some_and(is_new) && !mount::reaches(self.mounts(), path)
    }

    fn mounts(&self) -> &[Mount] {
        self.container.as_ref().map(|container| container.mounts.as_slice()).unwrap_or_default()
    }

    /// The word, or the part of a word, that an entry of [`CommandLine::uses`] is about.
    pub fn value(&self, used: &WordUse) -> Option<Arg> {
        let arg = self.args.get(used.word)?;
        arg.behind(arg.text.get(..used.start)?)
    }

    /// The words that are neither options nor their values nor verbs.
    fn operands(&self) -> Vec<&Arg> {
        let uses = self.parsed.iter().flat_map(|line| line.uses.iter()).filter(|used| !used.by_option);
        uses.filter_map(|used| self.args.get(used.word)).collect()
    }

    /// The values of an option by any of its names, which its entry must list.
    pub(crate) fn values(&self, names: &[&str]) -> Vec<Arg> {
        let uses = self.parsed.iter().flat_map(|line| line.uses.iter());
        let named = uses.filter(|used| used.option.is_some_and(|option| names.contains(&option)));
        named.filter_map(|used| self.value(used)).collect()
    }

    /// Whether an option without a value is given, by any of its names or the beginning of a long one.
    fn has_flag(&self, names: &[&str]) -> bool {
        let flags = self.parsed.iter().flat_map(|line| line.flags.iter());
        flags.filter_map(|flag| Some((flag, self.args.get(flag.word)?.text.as_str()))).any(|(flag, word)| {
            let given = word.get(..flag.end).unwrap_or_default();
            let begins = |name: &str| given.len() > 3 && name.starts_with(given);
            names.iter().any(|name| flag.is(name, word) || flag.start == 0 && name.starts_with("--") && begins(name))
        })
    }

    /// Whether any of its words is unknown.
    pub fn is_dynamic(&self) -> bool {
        !self.known || self.args.iter().any(|arg| !arg.is_known())
    }
}

/// One argument of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arg {
    /// The text. Unknown parts appear as they are written in the source.
    pub text: CompactString,
    /// The length of the known prefix, or `None` if all of the text is known.
    pub known: Option<usize>,
    /// It contains an unquoted pattern for file names.
    pub glob: bool,
}

impl Arg {
    /// The value behind the first equals sign.
    fn behind_equals(&self) -> Option<Arg> {
        let at = self.text.find('=')?;
        self.behind(self.text.get(..=at)?)
    }

    /// Whether all of the text is known.
    pub fn is_known(&self) -> bool {
        self.known.is_none()
    }

    /// Returns the known prefix.
    pub fn prefix(&self) -> &str {
        self.text.get(..self.known.unwrap_or(self.text.len())).unwrap_or_default()
    }

    /// Builds an argument of which nothing is known, with its text as it is written in the source.
    pub fn unknown(text: impl Into<CompactString>) -> Self {
        Arg { text: text.into(), known: Some(0), glob: false }
    }

    /// Builds a known argument.
    pub fn literal(text: impl Into<CompactString>) -> Self {
        Arg { text: text.into(), known: None, glob: false }
    }
}

/// A file that a redirection opens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// It is opened for writing.
    pub writes: bool,
    /// It is opened for reading.
    pub reads: bool,
    /// What is written is added to its content.
    pub appends: bool,
    /// The file.
    pub target: Arg,
}

/// The standard input of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Input {
    /// The standard input of the shell.
    #[default]
    Inherited,
    /// A known text.
    Text(Rc<str>),
    /// The output of the previous command in the pipeline.
    Pipe,
    /// An unknown input.
    Unknown,
}
