//! What code may do in ways that its known calls do not show, in any language.
//!
//! A string that is a command line, a list of strings that are its words, an SQL statement that loses data and a composed
//! path to a protected file count as used in the worst way, unless the call around them only works on text or looks only
//! at names, or is judged by itself.

use super::expression::{Code, is_home, last_component};
use super::paths::{begins_path, is_short, only_names, paths_in, removal, removals};
use super::sql::sql_loss;
use super::token::Token;
use super::words::{
    is_command_line, is_runner, looks_like_argument, opens_files, parts_of, prints, removes_trees, serious_program,
};
use super::{Call, Language, Word, carried, other};
use crate::encoding::address::is_remote_code;
use crate::programs::code::{self, lists};
use crate::verdict::limits::SHELL_STEPS;

/// The program whose operands are paths that code composes; the catalogue tells nothing about their use.
const PATH_IN_CODE: &str = "code-path";

/// What is known about a piece of code before its literals are looked at.
pub(super) struct Judged<'a> {
    /// For each token, whether it is the name of a call that is judged by itself.
    pub judged: &'a [bool],
    /// The code runs something that is not known.
    pub runs_unknown: bool,
    /// The code imports a module whose functions remove files.
    pub removes: bool,
}

/// What the call around a literal does with it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Around {
    /// There is no call.
    Nothing,
    /// A call that works on text, or looks only at the name of a file.
    Text,
    /// A call that stores or sends what it is given.
    Stored,
    /// A call that is judged by itself.
    Judged,
    /// A call that is not named like one that runs something.
    Foreign,
    /// Any other call.
    Unknown,
}

/// A call around a literal.
#[derive(Clone, Copy)]
struct Enclosing<'a> {
    around: Around,
    name: &'a str,
    /// Where its bracket ends.
    end: usize,
}

/// Whether a function runs the code at an address.
fn loads(name: &str) -> bool {
    lists(&code::WORDS_LOADERS, last_component(name))
}

/// What the literals of a piece of code may do.
pub(super) struct Loose {
    pub calls: Vec<Call>,
    /// Strings that look like code, and are given to a function that may evaluate them.
    pub quoted: Vec<String>,
}

/// Finds what the literals of a piece of code may do.
pub(super) fn loose(code: &Code<'_>, known: &Judged<'_>) -> Loose {
    let mut finder = Finder {
        code,
        known,
        is_searched: code.language.is_searched(),
        runs_sql: (0..code.tokens.len())
            .filter_map(|at| code.name(at))
            .any(|name| lists(&code::WORDS_SQL_CALLS, last_component(name))),
        uses_cloud: code.tokens.iter().any(|token| match token {
            Token::Name(text) | Token::Text(text) => {
                lists(&code::WORDS_CLOUDS, text.split(['.', '/', ':']).next().unwrap_or_default())
            }
            Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => false,
        }),
        open: Vec::new(),
        statement: Enclosing { around: Around::Nothing, name: "", end: code.tokens.len() },
        begins: true,
        open_loaders: 0,
        next_path: 0,
        found: Vec::new(),
        quoted: Vec::new(),
    };
    for at in 0..code.tokens.len() {
        finder.token(at);
    }
    let (mut found, quoted) = (finder.found, finder.quoted);
    if !matches!(code.language, Language::Sql) && (known.removes || !code.language.is_searched()) {
        found.extend(removals(code));
    }
    Loose { calls: found, quoted }
}

struct Finder<'a> {
    code: &'a Code<'a>,
    known: &'a Judged<'a>,
    /// Whether calls of the language are known by name.
    is_searched: bool,
    /// Whether the code calls something that runs SQL.
    runs_sql: bool,
    /// Whether the code uses a library for a cloud.
    uses_cloud: bool,
    open: Vec<Enclosing<'a>>,
    /// The call at the beginning of the statement, without brackets: `print "x"`.
    statement: Enclosing<'a>,
    begins: bool,
    /// How many of the open brackets are those of a function that runs the code at an address.
    open_loaders: usize,
    /// Behind the last path expression.
    next_path: usize,
    found: Vec<Call>,
    quoted: Vec<String>,
}

impl<'a> Finder<'a> {
    fn token(&mut self, at: usize) {
        let Some(token) = self.code.token(at) else { return };
        if at >= self.next_path {
            self.path(at);
        }
        match token {
            Token::Sign('(' | '[' | '{') => {
                let enclosing = self.enclosing(at);
                self.open_loaders += usize::from(loads(enclosing.name));
                self.open.push(enclosing);
                self.begins |= self.code.is_sign(at, '{');
            }
            Token::Sign(')' | ']' | '}') => {
                let closed = self.open.pop();
                self.open_loaders -= closed.map_or(0, |closed| usize::from(loads(closed.name)));
            }
            Token::Sign(';' | '\n') => {
                self.begins = true;
                self.statement = Enclosing { around: Around::Nothing, name: "", end: self.code.tokens.len() };
            }
            Token::Name(name) => {
                if std::mem::take(&mut self.begins) {
                    self.statement = self.named(name, at);
                    if matches!(self.statement.around, Around::Unknown | Around::Foreign) {
                        self.statement.around = Around::Nothing;
                    }
                }
                self.function(name, at);
            }
            Token::Text(text) => self.literal(text, at),
            Token::Mixed(_) => {
                if let Some(value) = self.code.string(token) {
                    self.literal(&value.shell_text(), at);
                }
            }
            Token::Command(_) if !self.is_searched => {
                let text = self.code.string(token).map(|value| value.shell_text());
                self.found.extend(text.map(Call::Text));
            }
            Token::Command(_) | Token::Sign(_) => {}
        }
    }

    fn named(&self, name: &'a str, at: usize) -> Enclosing<'a> {
        let last = last_component(name);
        let around = if self.known.judged.get(at) == Some(&true) {
            Around::Judged
        } else if lists(&code::WORDS_TEXT, last)
            || lists(&code::WORDS_NAMES, last)
            || lists(&code::WORDS_TEXT, name)
            || self.code.language == Language::Source && prints(last)
        {
            Around::Text
        } else if lists(&code::WORDS_STORES, last) {
            Around::Stored
        } else if !self.is_searched
            || is_runner(last) && !self.is_arrow_method(last, at)
            || !self.code.values_of(name).is_empty() && !self.code.defines(name)
        {
            Around::Unknown
        } else {
            Around::Foreign
        };
        Enclosing { around, name, end: self.code.tokens.len() }
    }

    /// `$db->exec()` is a method of something.
    fn is_arrow_method(&self, last: &str, at: usize) -> bool {
        let is_arrow =
            at.checked_sub(2).is_some_and(|start| self.code.is_sign(start, '-') && self.code.is_sign(start + 1, '>'));
        is_arrow && matches!(last, "exec" | "system" | "query")
    }

    fn enclosing(&self, at: usize) -> Enclosing<'a> {
        let outer = self.open.last().copied().unwrap_or(self.statement);
        let end = self.code.close(at);
        let name = if self.code.language == Language::Lisp { at + 1 } else { at.wrapping_sub(1) };
        let before = at.checked_sub(1).and_then(|at| self.code.token(at));
        match self.code.name(name) {
            Some(word) if self.code.is_sign(at, '(') && !is_keyword(word) => {
                Enclosing { end, ..self.named(word, name) }
            }
            // `x["system"]("…")`, `f()("…")`
            None if self.code.is_sign(at, '(') && matches!(before, Some(Token::Sign(')' | ']' | '}' | '>'))) => {
                let judged = at.checked_sub(1).and_then(|close| self.code.open(close));
                let judged = judged.is_some_and(|open| self.known.judged.get(open) == Some(&true));
                Enclosing { around: if judged { Around::Judged } else { Around::Unknown }, name: "", end }
            }
            _ => Enclosing { end, ..outer },
        }
    }

    /// The call around a literal, and whether its use is unknown.
    fn around(&self, at: usize) -> Enclosing<'a> {
        let code = self.code;
        let before = |back: usize| at.checked_sub(back).and_then(|at| code.token(at));
        // `"x" in s`, `s == "x"`, `"x": …`
        let compared = matches!(code.name(at + 1), Some("in" | "not" | "eq" | "ne"))
            || matches!(before(1), Some(Token::Sign('=' | '~'))) && matches!(before(2), Some(Token::Sign('=' | '!')))
            || code.is_sign(at + 1, '=') && code.is_sign(at + 2, '=')
            || matches!(before(1), Some(Token::Name(word)) if matches!(word.as_str(), "eq" | "ne" | "in"));
        let mut enclosing = self.open.last().copied().unwrap_or(self.statement);
        if let (Around::Nothing | Around::Foreign, Some(name)) =
            (enclosing.around, at.checked_sub(1).and_then(|at| code.name(at)))
            && !is_keyword(name)
        {
            enclosing = Enclosing { end: enclosing.end, ..self.named(name, at - 1) };
        }
        // `"x".execute()`
        if enclosing.around == Around::Nothing
            && code.is_sign(at + 1, '.')
            && let Some(method) = code.name(at + 2)
        {
            enclosing = Enclosing { end: enclosing.end, ..self.named(method, at + 2) };
        } else if matches!(enclosing.around, Around::Unknown | Around::Foreign)
            && code.is_sign(at + 1, '.')
            && code
                .name(at + 2)
                .is_some_and(|method| lists(&code::WORDS_TEXT, last_component(method)) && method != "format")
        {
            enclosing.around = Around::Text;
        }
        if compared {
            enclosing.around = Around::Text;
        }
        enclosing
    }

    fn literal(&mut self, text: &str, at: usize) {
        if text.len() < 2 {
            return;
        }
        let enclosing = self.around(at);
        let is_used = match enclosing.around {
            Around::Text | Around::Stored | Around::Judged | Around::Foreign => false,
            Around::Unknown => true,
            // Compiled sources hold tables of texts that nothing runs.
            Around::Nothing if self.code.language == Language::Source => false,
            Around::Nothing => !self.is_searched || self.known.runs_unknown,
        };
        let is_compiled = enclosing.name == "compile";
        if (is_compiled || matches!(enclosing.around, Around::Unknown | Around::Foreign))
            && super::mentioned::looks_like_code(text)
        {
            self.quoted.push(text.to_owned());
        }
        if self.code.language == Language::Sql {
            // `program '…'`, `program E'…'`, `program U&'…'`
            let is_program = (1..=3).any(|back| {
                let word = at.checked_sub(back).and_then(|at| self.code.name(at));
                word.is_some_and(|word| word.eq_ignore_ascii_case("program"))
            });
            if is_program || lists(&code::WORDS_SQL_RUNS, &enclosing.name.to_ascii_lowercase()) {
                self.found.push(Call::Text(text.to_owned()));
            }
            return;
        }
        if is_used && is_command_line(text) {
            // The rest of the command may follow: `"rm -rf " ^ x`.
            let goes_on =
                matches!(self.code.token(at + 1), Some(Token::Sign('^' | '+' | '.' | ',' | '*' | '<' | '~' | '%')));
            let more = if goes_on && !text.trim().ends_with(';') { " $1" } else { "" };
            self.found.push(Call::Loose(format!("{}{more}", text.trim().trim_matches('|'))));
        } else if is_used {
            // `Command::new("rm").args(["-rf"])`
            let is_source = self.code.language == Language::Source;
            let end = if is_source { self.code.tokens.len() } else { enclosing.end };
            if !is_source || enclosing.around == Around::Unknown {
                self.found.extend(self.word_list(text, at, end));
            }
        }
        // A path that is joined with an operator that `token::folded` does not know: `"/home/me/" & ".netrc"`.
        let may_open = if self.code.language == Language::Source {
            enclosing.around == Around::Unknown && opens_files(enclosing.name)
        } else {
            !matches!(enclosing.around, Around::Text | Around::Judged | Around::Stored)
        };
        if may_open && text.starts_with(['/', '~']) && text.contains("/.") && !text.contains([' ', '\n', '*']) {
            self.found.push(Call::same(&[PATH_IN_CODE, text]));
        }
        let is_foreign = enclosing.around == Around::Foreign;
        if is_used || is_foreign || enclosing.around == Around::Nothing && self.runs_sql {
            self.found.extend(sql_loss(text));
        }
        let before = |back: usize| at.checked_sub(back).and_then(|at| self.code.name(at));
        let imports = matches!(before(1), Some("from" | "import")) || before(2) == Some("import");
        if is_remote_code(text) && (imports || loads(enclosing.name) || self.open_loaders > 0) {
            self.found.push(Call::fetched_code(text));
        }
        let sends = lists(&code::WORDS_SENDING, last_component(enclosing.name));
        if (is_used || is_foreign) && sends && (text.starts_with("http://") || text.starts_with("https://")) {
            let deletes = last_component(enclosing.name) == "delete";
            self.found.push(Call::same(&if deletes {
                ["curl", "-X", "DELETE", text]
            } else {
                ["curl", "--data", "@-", text]
            }));
        }
        // `open(F, "cmd |")` by another name.
        if text.trim_end().ends_with('|')
            && is_command_line(text.trim().trim_matches('|'))
            && enclosing.around != Around::Text
        {
            self.found.push(Call::Loose(text.trim().trim_matches('|').to_owned()));
        }
    }

    /// A command whose words are literals: `"rm", "-rf", "/x"`.
    fn word_list(&self, text: &str, at: usize, end: usize) -> Option<Call> {
        let entry = serious_program(text)?;
        let rest = self.code.tokens.get(at + 1..end).unwrap_or_default();
        let mut words = vec![Word::known(text)];
        let mut depth = 0_usize;
        for (index, token) in rest.iter().enumerate() {
            // Nested lists are read once for each list around them.
            self.code.meter.charge(8);
            if self.code.meter.exceeds(&SHELL_STEPS) {
                break;
            }
            let behind = self.code.token(at + 2 + index);
            match token {
                Token::Text(_) | Token::Mixed(_) if matches!(behind, Some(Token::Sign(':' | '='))) => {}
                // `os.Getenv("HOME")`
                Token::Text(key) if lists(&code::WORDS_HOME_KEYS, key) && key.len() > 2 => {
                    words.push(Word::known("~/"))
                }
                // `execlp("rm", "rm", "-rf", "/x")`
                Token::Text(again) if words.len() == 1 && again == text => {}
                Token::Text(_) | Token::Mixed(_) => words.extend(self.code.string(token).map(|value| value.word())),
                Token::Name(name) if is_home(name) => words.push(Word::known("~/")),
                Token::Name(name) if !matches!(behind, Some(Token::Sign('(' | ':' | '=' | '['))) && name != "nil" => {
                    words.push(Word::unknown());
                }
                Token::Sign(';' | '\n') if depth == 0 && end == self.code.tokens.len() => break,
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}')
                    if depth == 0
                        && self.code.language == Language::Source
                        && !matches!(behind, Some(Token::Sign('.'))) =>
                {
                    break;
                }
                Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
                Token::Name(_) | Token::Sign(_) | Token::Command(_) => {}
            }
        }
        let second = words.iter().skip(1).find(|word| !word.is_unknown())?;
        looks_like_argument(&second.text, entry).then_some(Call::Same(words))
    }

    /// A function that removes files, or that is named like a program: `sh.rm("-rf", "/x")`.
    fn function(&mut self, name: &'a str, at: usize) {
        let code = self.code;
        if !self.is_searched || !code.is_sign(at + 1, '(') || self.known.judged.get(at) == Some(&true) {
            return;
        }
        let end = code.close(at + 1);
        let last = last_component(name);
        if let Some(Token::Text(first)) = code.token(at + 2)
            && first.starts_with('-')
            && !lists(&code::WORDS_TEXT, last)
            && serious_program(last).is_some()
        {
            let words = code.tokens.get(at + 2..end).unwrap_or_default().iter();
            let words = words.filter_map(|token| code.string(token)).map(|value| value.word());
            self.found.push(Call::Same([Word::known(last)].into_iter().chain(words).collect()));
        }
        // `boto3.client("ec2").terminate_instances(…)` is `aws ec2 terminate-instances`.
        let parts = if self.uses_cloud { parts_of(last) } else { Vec::new() };
        let verb = parts.first().map_or("", String::as_str);
        if parts.len() > 1 && matches!(verb, "delete" | "terminate" | "destroy" | "purge" | "deregister") {
            self.found.push(Call::same(&["aws", "of-code", &parts.join("-")]));
        }
        if removes_trees(last) {
            self.found.extend(paths_in(code, at + 2, end).into_iter().filter(is_short).map(removal));
        }
    }

    /// A path expression that begins here and is composed of several parts.
    fn path(&mut self, at: usize) {
        if !begins_path(self.code, at) || self.code.language == Language::Sql {
            return;
        }
        let end = self.code.expression_end(at, self.code.tokens.len());
        self.next_path = end.max(at + 1);
        let value = self.code.evaluate(at, end);
        let enclosing = self.around(at);
        let is_listed = self.code.is_sign(end, '.') && self.code.name(end + 1).is_some_and(only_names);
        let ends_listed = (at..end).rev().find_map(|at| self.code.name(at)).is_some_and(only_names);
        if value.is_composed()
            && !matches!(enclosing.around, Around::Text | Around::Judged)
            && !is_listed
            && !ends_listed
        {
            let word = value.word();
            let known = word.text.get(..word.known.unwrap_or(word.text.len())).unwrap_or_default();
            if known.len() > 3 && known.contains('/') && !known.contains(['\n', ' ']) {
                self.found.push(Call::Same(vec![Word::known(PATH_IN_CODE), word]));
            }
        }
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "if" | "for"
            | "while"
            | "in"
            | "of"
            | "and"
            | "or"
            | "not"
            | "return"
            | "elif"
            | "unless"
            | "switch"
            | "await"
            | "new"
            | "yield"
            | "else"
            | "then"
            | "do"
            | "case"
            | "when"
            | "const"
            | "let"
            | "var"
            | "my"
            | "import"
            | "from"
    )
}

/// Gnuplot: `plot "< cmd"`
fn gnuplot_pipes(code: &Code<'_>) -> Vec<Call> {
    let is_reader = |name: &str| matches!(name, "plot" | "splot" | "stats" | "load" | "fit" | "replot" | "call");
    let piped = |at: usize| match (at.checked_sub(1).and_then(|at| code.token(at)), code.token(at)) {
        (Some(Token::Name(name)), Some(Token::Text(text))) if is_reader(name) => text.trim_start().strip_prefix('<'),
        (Some(Token::Sign(',')), Some(Token::Text(text))) => {
            text.trim_start().strip_prefix('<').filter(|text| is_command_line(text))
        }
        _ => None,
    };
    (0..code.tokens.len()).filter_map(piped).map(|text| Call::Text(text.to_owned())).collect()
}

/// Finds what code runs and removes in a language whose calls are not known by name.
pub(super) fn calls(code: &Code<'_>) -> Vec<Call> {
    let loose = loose(code, &Judged { judged: &[], runs_unknown: false, removes: false });
    let mut found = loose.calls;
    // Code of a language that this one evaluates: `luaeval("os.execute(…)")`.
    for text in loose.quoted.iter().filter(|_| code.language == Language::Other) {
        found.extend(
            super::call::calls(Language::Lua, text, code.meter).into_iter().filter(super::mentioned::is_definite),
        );
    }
    found.extend(super::mentioned::values(code));
    found.extend(super::mentioned::cut_path(code));
    found.extend(super::mentioned::removed_above(code));
    found.extend(gnuplot_pipes(code));
    if code.language == Language::Sql {
        found.extend(super::mentioned::sql_files(code));
    } else {
        found.extend(other::calls(code));
        found.extend(carried::sent(code));
    }
    found
}
