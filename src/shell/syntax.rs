//! What a shell text is made of, as it is written: words, commands, and the steps in which they run.

use crate::verdict::limits::Limit;
use compact_str::CompactString;
use smallvec::SmallVec;
use std::ops::Range;

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Characters outside quotes.
    Plain(CompactString),
    /// Characters that stand for themselves.
    Quoted(CompactString),
    /// The value of a variable.
    Variable(Box<Variable>),
    /// What the substitution of this number prints.
    Output { number: usize, quoted: bool },
    /// The words of an array.
    List(Vec<Word>),
    /// What only a running shell can know: an arithmetic value, the name of a pipe.
    Unknown { quoted: bool },
}

/// The parts of a word. Most words have one part, which is stored inline.
pub(super) type Parts = SmallVec<[Part; 1]>;

/// A variable, as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub name: String,
    /// `${x%y}`, `${x:-y}` and the like: not the value as it is.
    pub altered: bool,
    /// `${x%y}`: what is cut off.
    pub trim: Option<Trim>,
    /// `y` in `${x:-y}`, where it is written out: the value, should there be none.
    pub default: Option<String>,
    pub quoted: bool,
}

impl Variable {
    /// The value as it is.
    pub fn plain(name: String, quoted: bool) -> Part {
        Part::Variable(Box::new(Variable { name, altered: false, trim: None, default: None, quoted }))
    }
}

/// What `${x%y}`, `${x%%y}`, `${x#y}` and `${x##y}` cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trim {
    /// From the end, not from the start.
    pub end: bool,
    /// As much as matches, not as little.
    pub greedy: bool,
    /// The pattern, where it is written out.
    pub pattern: Option<String>,
}

/// A word before any expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub parts: Parts,
    pub span: Range<usize>,
}

impl Word {
    /// The word, if it has neither quotes nor expansions: only such a word can be a keyword or an operator.
    pub fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Plain(text)] => Some(text),
            _ => None,
        }
    }
}

/// How a redirection opens its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// `<`
    From,
    /// `>`, `>>`, `>|`, `&>`, `&>>`
    To,
    /// `<>`
    Both,
    /// `>&` with a descriptor
    Copy,
    /// `<&` with a descriptor
    CopyFrom,
    /// `<<<`
    String,
    /// `<<`, `<<-`; `strip` drops leading tabs
    Heredoc { strip: bool },
}

/// What a redirection names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Word(Word),
    /// The heredoc of this number.
    Heredoc(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Redirect {
    /// It is about another descriptor than a program reads from or prints to.
    pub aside: bool,
    pub direction: Direction,
    pub target: Target,
}

/// `name=value` before a command or alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    pub name: String,
    /// `None` for arrays and `+=`: the value is not what is written.
    pub value: Option<Word>,
    /// The words of an array.
    pub list: Option<Vec<Word>>,
    /// They come behind those that are there.
    pub appends: bool,
}

/// A command without structure of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
    pub redirects: Vec<Redirect>,
    pub span: Range<usize>,
}

impl Simple {
    pub fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.words.is_empty() && self.redirects.is_empty()
    }
}

/// What a nested list of commands is to the shell that runs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Runs in the same shell.
    Group,
    /// Runs in the same shell, perhaps.
    Branch,
    /// Runs in the same shell, perhaps often.
    Loop,
    /// Runs in a shell of its own.
    Subshell,
    /// Runs in a shell of its own, and reads what is written to it.
    Sink,
    /// Runs in a shell of its own, and its output becomes part of a word. Each has a number.
    Substitution(usize),
    /// Runs when it is called.
    Function(Box<str>),
}

/// What happens, in the order in which it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Simple(Box<Simple>),
    /// Redirections of the scope that was just closed.
    Redirects(Box<Simple>),
    Open(Scope),
    Close,
    /// `|`: what came before feeds what comes next.
    Pipe,
    /// `&&`: what comes next runs if what came before went well.
    Then,
    /// `||`: what comes next runs if it did not.
    Else,
    /// `;` or a line end.
    End,
    /// `&`: what came before runs in a shell of its own.
    Background,
    Loop(Box<Loop>),
    Backquoted(Box<Backquoted>),
}

/// `for name in words`; without words the variable has whatever value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loop {
    pub name: String,
    pub words: Option<Vec<Word>>,
}

/// Text in backquotes, its escapes removed: a script of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Backquoted {
    pub text: String,
    pub span: Range<usize>,
    /// The number of its output.
    pub number: usize,
}

/// The body of a heredoc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Heredoc {
    pub parts: Parts,
}

/// Why a text cannot be read with certainty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// A quote, substitution or compound command does not end.
    Unterminated(&'static str),
    /// The grammar does not allow what stands here.
    Syntax(String),
    /// Shells disagree about it.
    Unclear(&'static str),
    /// A zero byte ends the text for some readers and not for others.
    Nul,
    /// A program's name holds characters that cannot be seen or that look like others.
    Lookalike,
}

/// A flaw, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncertainty {
    /// What is wrong.
    pub flaw: Unreadable,
    /// Where in the line.
    pub at: usize,
    /// It is not the line itself that cannot be read, but a text that it runs.
    pub inner: bool,
}

/// A text as it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    pub steps: Vec<Step>,
    pub heredocs: Vec<Heredoc>,
    pub flaws: Vec<(Unreadable, usize)>,
    /// The limit that it exceeds; what was found before still counts.
    pub exceeded: Option<&'static Limit>,
}
