//! Changes of variables after their assignment, and functions that cut or change a literal path.

use super::Language;
use super::expression::{Code, last_component};
use super::token::Token;
use super::value::{Part, Value};
use super::words::is_remover;
use crate::programs::code::{self, lists};
use crate::verdict::limits::SHELL_STEPS;

impl<'a> Code<'a> {
    /// Whether a variable is assigned a list: `x = ["ls"]`, `x = %w[ls]`.
    pub(super) fn is_list(&self, name: &str) -> bool {
        self.known(name).is_some_and(|known| known.is_list)
    }

    /// What a change means for a list of words: more of them are only arguments, unless its program runs its arguments.
    pub(super) fn of_list(known: &[Value], change: Change) -> Change {
        let first = known.first().and_then(Value::text).unwrap_or_default();
        let program = first.split(['/', ' ']).find(|part| !part.is_empty()).unwrap_or_default();
        match change {
            Change::Appended(_) if !first.starts_with('/') && !lists(&code::MUTATING_RUNNERS, program) => {
                Change::Arguments
            }
            Change::Appended(_) | Change::Unknown | Change::Arguments => Change::Unknown,
        }
    }

    /// Whether a function of this name cuts or changes a literal path that it is given: `substr("x/etc/passwd", 1)`.
    pub(super) fn transforms_path(&self, name: &str, open: usize, close: usize) -> bool {
        // The text of a method is its object.
        let object = name.rsplit_once(['.', ':']).map(|(object, _)| object.trim_end_matches(':'));
        let is_function = object.is_none_or(|object| lists(&code::DECODE_TEXT_MODULES, object));
        let name = last_component(name);
        if !is_function
            || !lists(&code::DECODE_TRANSFORMS, name)
            || is_remover(name)
            || !self.has_path_text(open, close)
        {
            return false;
        }
        // The text is the third argument of functions that take a pattern and its replacement first.
        let third = lists(&code::DECODE_PATTERN_FIRST, name);
        let mut argument = 0;
        let mut is_nested = false;
        let mut at = open + 1;
        while at < close.min(self.tokens.len()) && !self.meter.exceeds(&SHELL_STEPS) {
            self.meter.charge(1);
            match self.token(at) {
                Some(Token::Sign(',')) => argument += 1,
                Some(Token::Name(name)) if self.is_sign(at + 1, '(') => {
                    is_nested |= lists(&code::DECODE_TRANSFORMS, last_component(name));
                }
                Some(Token::Text(text)) if text.contains('/') && text.len() > 3 => {
                    let is_subject = if third { argument == 2 } else { argument == 0 || self.is_sign(open + 2, ',') };
                    if is_subject || is_nested {
                        return true;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// Whether a function that is not known makes a path of a text about a home directory: `unescape("/home/u/&#46;x")`,
    /// `sorted(["/home/u", ".x"])`.
    pub(super) fn computes_home(&self, name: &str, open: usize, close: usize) -> bool {
        let name = last_component(name);
        let is_known = [
            &code::WORDS_PATHS,
            &code::WORDS_TEMPORARY,
            &code::WORDS_LISTINGS,
            &code::WORDS_NAMES,
            &code::WORDS_KEEPING,
        ];
        !is_known.iter().any(|list| lists(list, name)) && !is_remover(name) && self.says_home(open + 1, close)
    }

    /// A change of the value of a variable: `x += v`, `x.append(v)`, `x[0] = v`, `sub(/a/, "b", x)`.
    pub(super) fn mutation(&self, at: usize) -> Option<(&'a str, Change)> {
        let name = self.name(at)?;
        let sign = |back: usize, sign: char| self.is_sign(at + back, sign);
        let given = |start: usize, end: usize| self.evaluate(start, end);
        // `x += v`, `x .= v`, `x << v`, `x ..= v`
        let operator = match (self.token(at + 1), self.token(at + 2)) {
            (Some(Token::Sign('+' | '.' | '*' | '~')), Some(Token::Sign('='))) if !sign(3, '=') && !sign(3, '~') => {
                Some(3)
            }
            (Some(Token::Sign('<')), Some(Token::Sign('<'))) if self.language == Language::Ruby => Some(3),
            _ => None,
        };
        if let Some(behind) = operator.filter(|_| !self.values_of(name).is_empty()) {
            return Some((name, Change::Appended(given(at + behind, self.statement_end(at + behind)))));
        }
        // `x =~ s/a/b/`
        if sign(1, '=') && sign(2, '~') && sign(3, '/') && !self.values_of(name).is_empty() {
            return Some((name, Change::Unknown));
        }
        // `x[0] = v`, `del x[0]`; the first component may also be the name of a Perl array.
        let is_assigned = || self.is_sign(self.close(at + 1) + 1, '=') && !self.is_sign(self.close(at + 1) + 2, '=');
        let is_deleted = || at.checked_sub(1).and_then(|at| self.name(at)) == Some("del");
        if sign(1, '[') && (is_deleted() || is_assigned()) {
            return (!self.values_of(name).is_empty()).then_some((name, Change::Unknown));
        }
        let (object, method) = name.rsplit_once('.').unwrap_or(("", name));
        // `x.pop()` takes only the last word away.
        let is_last = method == "pop" && sign(2, ')');
        if !object.is_empty()
            && !self.values_of(object).is_empty()
            && lists(&code::MUTATING_METHODS, method)
            && !is_last
        {
            let change = if lists(&code::MUTATING_APPENDS, method) && sign(1, '(') {
                Change::Appended(given(at + 2, self.close(at + 1)))
            } else {
                Change::Unknown
            };
            return Some((object, change));
        }
        // `push(@x, v)`, `sub(/a/, "b", x)`, `substr($x, 1, 2) = v`: the variable is one of the arguments.
        if lists(&code::MUTATING_FUNCTIONS, method)
            && matches!(self.language, Language::Perl | Language::Php | Language::Awk)
        {
            let end = if sign(1, '(') { self.close(at + 1) } else { self.statement_end(at + 1) };
            let mut names = (at + 1..end).inspect(|_| self.meter.charge(1)).filter_map(|at| self.name(at));
            let changed = names.find(|name| !self.values_of(name).is_empty());
            return changed.map(|name| (name, Change::Unknown));
        }
        None
    }
}

/// How the value of a variable changes.
pub(super) enum Change {
    /// Something is added to its end.
    Appended(Value),
    /// More words are added to a list.
    Arguments,
    Unknown,
}

/// What is known about a variable that changes.
#[derive(Clone, Copy)]
pub(super) struct Variable {
    /// The code has loops, so that a change may happen several times.
    pub has_loops: bool,
    /// It is assigned a literal path.
    pub is_path: bool,
}

impl Change {
    pub fn length(&self) -> usize {
        if let Change::Appended(value) = self { value.length() } else { 1 }
    }
}

/// Adds the values that a variable may have after a change. A text that is appended several times is kept with all that is
/// appended to it, at `grown`.
pub(super) fn apply(values: &mut Vec<Value>, change: Change, variable: Variable, grown: &mut Option<usize>) {
    match change {
        Change::Arguments => {}
        // A path that is put together in place hides what it names.
        Change::Unknown => {
            add_once(values, if variable.is_path { Value(vec![Part::Decoded]) } else { Value::unknown() })
        }
        Change::Appended(more) => {
            let is_certain = more.is_complete() && !variable.has_loops;
            if grown.is_none()
                && let Some(last) = values.last().filter(|value| value.is_complete()).cloned()
            {
                *grown = Some(values.len());
                values.push(last);
            }
            if let Some(value) = grown.and_then(|at| values.get_mut(at)) {
                value.attach(more);
            }
            if !is_certain || grown.is_none() {
                add_once(values, Value::unknown());
            }
        }
    }
}

fn add_once(values: &mut Vec<Value>, value: Value) {
    // Values that are not known come last or first: looking at these suffices.
    if values.first() != Some(&value) && values.last() != Some(&value) {
        values.push(value);
    }
}

pub(super) fn is_loop(word: &str) -> bool {
    matches!(word, "for" | "while" | "until" | "loop" | "foreach" | "each")
}

/// Whether a text may become another path of a home directory than it shows: not the plain path of a file in one of its
/// directories.
pub(super) fn may_hide_home(text: &str) -> bool {
    let below = ["/home/", "/Users/"].iter().find_map(|start| text.strip_prefix(start));
    let below = below.and_then(|rest| rest.split_once('/')).map(|(_, rest)| rest).or_else(|| text.strip_prefix("~/"));
    let is_plain = |rest: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
        !rest.is_empty() && !rest.starts_with('.') && rest.chars().all(is_part)
    };
    is_about_home(text) && !below.is_some_and(is_plain)
}

/// Whether a text is a path that begins with a home directory, or with the first letters of one in some encoding.
pub(super) fn is_about_home(text: &str) -> bool {
    let starts = |begin: &&str| text.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin));
    text.len() > 4 && code::WORDS_HOME_BEGINNINGS.iter().any(starts)
}
