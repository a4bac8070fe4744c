//! Syntax of a shell text: words, simple commands, and the flat list of instructions that the parser produces.

use crate::verdict::limits::Limit;
use compact_str::CompactString;
use smallvec::SmallVec;
use std::ops::Range;

/// One part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordPart {
    /// Characters outside quotes.
    Plain(CompactString),
    /// Quoted or escaped characters.
    Quoted(CompactString),
    /// The value of a variable.
    Variable(Box<Variable>),
    /// The output of the command substitution with this number.
    Output { number: usize, quoted: bool },
    /// The words of an array.
    List(Vec<Word>),
    /// The result of an arithmetic expression without substitutions.
    Arithmetic { expression: CompactString, quoted: bool },
    /// A value that is known only at run time.
    Unknown { quoted: bool },
}

/// The parts of a word. Most words have one part, which is stored inline.
pub(super) type WordParts = SmallVec<[WordPart; 1]>;

/// A parameter expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Variable {
    pub name: String,
    /// The subscript of an array's element, as it is written. Plain numbers and `@` are part of the name.
    pub subscript: Option<String>,
    /// The operator that changes the value and its operand, as they are written: `%y`, `:1:2`.
    pub operator: Option<String>,
    /// `y` of `${x:-y}` or `${x:=y}`, if it is literal text.
    pub default: Option<String>,
    pub quoted: bool,
    /// It is written as `$name` and an unquoted brace follows: `$x{a,b}` is `$xa $xb`.
    pub meets_brace: bool,
}

impl Variable {
    /// Builds the part for `$name` or `${name}`.
    pub fn plain(name: String, quoted: bool) -> WordPart {
        WordPart::Variable(Box::new(Variable { name, quoted, ..Variable::default() }))
    }

    /// Whether it is the value of a variable as it is.
    pub fn is_plain(&self) -> bool {
        self.operator.is_none() && self.subscript.is_none()
    }
}

/// A word before expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    pub parts: WordParts,
    pub span: Range<usize>,
}

impl Word {
    /// Returns the text if the word has neither quotes nor expansions. Only such a word can be a keyword or an operator.
    pub fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [WordPart::Plain(text)] => Some(text),
            _ => None,
        }
    }
}

/// The operator of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectOperator {
    /// `<`
    Input,
    /// `>`, `>|`, `&>`
    Output,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    InputOutput,
    /// `>&` with a descriptor
    DuplicateOutput,
    /// `<&` with a descriptor
    DuplicateInput,
    /// `<<<`
    HereString,
    /// `<<`, or `<<-`, which strips leading tabs
    Heredoc { strip: bool },
}

impl RedirectOperator {
    /// Whether it may set the standard input.
    pub fn reads(self) -> bool {
        !matches!(self, RedirectOperator::Output | RedirectOperator::Append | RedirectOperator::DuplicateOutput)
    }
}

/// The operand of a redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RedirectTarget {
    Word(Word),
    /// The heredoc with this index in [`Script::heredocs`].
    Heredoc(usize),
}

/// A redirection before expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParsedRedirect {
    /// It applies to another descriptor than standard input or standard output.
    pub other_descriptor: bool,
    pub operator: RedirectOperator,
    pub target: RedirectTarget,
}

/// `name=value` before a command or alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assignment {
    pub name: String,
    /// The subscript of the element that is set, if it is literal text.
    pub subscript: Option<CompactString>,
    /// `None` for arrays, and for elements of arrays whose subscript is not literal.
    pub value: Option<Word>,
    /// The words of an array.
    pub array: Option<Vec<Word>>,
    /// `+=`: the value or the array is extended.
    pub appends: bool,
}

/// A simple command in the sense of POSIX 2.9.1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub assignments: Vec<Assignment>,
    pub words: Vec<Word>,
    pub redirects: Vec<ParsedRedirect>,
    pub span: Range<usize>,
}

impl SimpleCommand {
    pub fn is_empty(&self) -> bool {
        self.assignments.is_empty() && self.words.is_empty() && self.redirects.is_empty()
    }
}

/// How a nested list of commands relates to the shell around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Runs in the same shell.
    Group,
    /// May run, in the same shell.
    Branch,
    /// May run any number of times, in the same shell.
    Loop,
    /// Runs in a subshell.
    Subshell,
    /// `<(…)`: runs in a subshell, and its output is read as a file.
    InputProcess,
    /// `>(…)`: runs in a subshell and reads what is written to it.
    OutputProcess,
    /// Runs in a subshell; the output is part of a word and has this number.
    Substitution(usize),
    /// The body of the function of this name, which runs when it is called.
    Function(Box<str>),
}

/// One instruction of a parsed text. Nesting is expressed by pairs of `Open` and `Close`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    Simple(Box<SimpleCommand>),
    /// Redirections of the scope that was just closed.
    Redirects(Box<SimpleCommand>),
    Open(Scope),
    Close,
    /// `|`
    Pipe,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;` or a line end
    End,
    /// `&`
    Background,
    LoopVariable(Box<LoopVariable>),
    /// An arithmetic expression, which may assign to variables.
    Arithmetic(Box<str>),
    Backquoted(Box<Backquoted>),
}

/// `for name in words`. Without words the value is unknown, which also represents `${name:=value}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoopVariable {
    pub name: String,
    pub words: Option<Vec<Word>>,
}

/// The text between backquotes without its escapes. It is parsed when it is evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Backquoted {
    pub text: String,
    pub span: Range<usize>,
    /// The number of its output.
    pub number: usize,
}

/// Why a text cannot be read with certainty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// A quote, substitution or compound command is not closed.
    Unterminated(&'static str),
    /// A syntax error, with the token that was not expected.
    Syntax(String),
    /// A construct that shells interpret differently.
    Ambiguous(&'static str),
    /// A NUL byte, at which some programs end the text.
    Nul,
    /// A program name with invisible characters or letters of another alphabet.
    Lookalike,
}

/// A position at which the analysis is not certain, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncertainty {
    /// Why the text cannot be read with certainty.
    pub reason: Unreadable,
    /// Byte offset in the line.
    pub at: usize,
    /// The reason is in a text that the line runs, such as the operand of `sh -c`, not in the line itself.
    pub inner: bool,
}

/// The language of a text that a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptLanguage {
    Bash,
    PowerShell,
}

/// A parsed text.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    pub instructions: Vec<Instruction>,
    /// The bodies of heredocs.
    pub heredocs: Vec<WordParts>,
    /// Errors with their byte offsets.
    pub errors: Vec<(Unreadable, usize)>,
    /// The limit that parsing it exceeded, where the parser has no meter.
    pub exceeded: Option<&'static Limit>,
}
