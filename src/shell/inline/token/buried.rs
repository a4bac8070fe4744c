//! Calls in what a reading takes for the content of a string, a comment or a pattern.
//!
//! Where a string ends can depend on more than the tokens show: here-documents, nested quotes, quotes that are no quotes. If
//! its end is mistaken, code and strings change places in the rest of the text. So in a text in which that can happen, every
//! name that is followed by an argument is the beginning of a call, unless a reading has a name there anyway.

use super::{Extent, Reading, Scan, Token, Values, closing_of, scan};
use crate::programs::code::effect_of;
use crate::shell::inline::Language;
use crate::shell::inline::lexis;
use crate::verdict::limits::{Meter, SHELL_STEPS};
use std::collections::HashSet;

/// The tokens of the second reading of a text, behind those of the calls that neither this one nor the first one shows.
pub(in crate::shell::inline) fn doubtful_tokens(language: Language, code: &str, meter: &Meter) -> Vec<Token> {
    let flat = scan(language, code, Reading::Flat, Extent::All, &mut Values::new(Reading::Flat));
    let mut seen: HashSet<usize> = flat.starts.iter().copied().collect();
    let mut candidates = candidates(language, code);
    candidates.retain(|at| !seen.contains(at));
    if candidates.is_empty() {
        return flat.tokens;
    }
    meter.charge(code.len());
    seen.extend(scan(language, code, Reading::Usual, Extent::All, &mut Values::new(Reading::Usual)).starts);
    // Once a value is not closed before the end of the text, the statements behind it are not searched for such an end.
    let mut values = Values::new(Reading::Usual);
    let mut tokens = Vec::new();
    for at in candidates {
        if seen.contains(&at) {
            continue;
        }
        let Scan { tokens: found, starts, has_escaped_quote, end } =
            scan(language, code.get(at..).unwrap_or_default(), Reading::Usual, Extent::Statement, &mut values);
        // Strings in which there are calls are read once for each string around them.
        meter.charge(8 + end);
        if meter.exceeds(&SHELL_STEPS) {
            break;
        }
        // An escaped quote is in a string of the program, and this is the content of that string.
        if has_escaped_quote && language != Language::Perl && language.is_searched() {
            continue;
        }
        seen.extend(starts.into_iter().map(|start| at + start));
        tokens.extend(object_before(code.get(..at).unwrap_or_default()));
        let open = unclosed(&found);
        tokens.extend(found);
        tokens.extend(open.into_iter().rev().map(Token::Sign));
        tokens.push(Token::Sign(';'));
    }
    tokens.extend(flat.tokens);
    tokens
}

/// The signs that make a name the method of something: `x.exec("y")`, `$x->exec("y")`.
fn object_before(before: &str) -> Vec<Token> {
    let length = if before.ends_with("->") || before.ends_with('.') { 2 } else { 0 };
    let mut signs: Vec<Token> = before.chars().rev().take(length).map(Token::Sign).collect();
    signs.reverse();
    signs
}

/// The signs that close the brackets that are open behind some tokens.
fn unclosed(tokens: &[Token]) -> Vec<char> {
    let mut open = Vec::new();
    for token in tokens {
        match token {
            Token::Sign(sign @ ('(' | '[' | '{')) => open.push(closing_of(*sign)),
            Token::Sign(')' | ']' | '}') => {
                open.pop();
            }
            Token::Name(_) | Token::Text(_) | Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => {}
        }
    }
    open
}

/// The words of a text that are followed by an argument: where they begin, and what follows.
pub(in crate::shell::inline) fn called_names(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut next = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(next..)?;
            let start = next + rest.find(is_name)?;
            let word = text.get(start..)?;
            let (name, behind) = word.split_at(word.find(|c: char| !is_name(c)).unwrap_or(word.len()));
            next = start + name.len();
            let argument = behind.trim_start();
            if argument.starts_with(['(', '"', '\'', '`']) || behind.starts_with("[[") || begins_literal(argument) {
                return Some((start, name, behind));
            }
        }
    })
}

/// Whether a text begins with a quote operator of Perl or Ruby: `qw(a)`, `%w[a]`.
fn begins_literal(text: &str) -> bool {
    let operators = ["qq", "qw", "q", "%w", "%W", "%q", "%Q"];
    operators
        .iter()
        .filter_map(|operator| text.strip_prefix(operator))
        .any(|rest| rest.starts_with(|c: char| c.is_ascii_punctuation() && !"_,;=)]}>".contains(c)))
}

/// Whether the arguments of a call begin with a string whose quotes are escaped: such a call is in a string.
fn is_quoted(behind: &str) -> bool {
    let first = behind.trim_start().trim_start_matches('(').trim_start();
    ["\\\"", "\\'", "\\`"].iter().any(|quote| first.starts_with(quote))
}

/// Where a call may begin that runs, deletes, reads or writes something, in the order of the text.
fn candidates(language: Language, code: &str) -> Vec<usize> {
    let mut all = Vec::new();
    let mut offset = 0;
    for line in code.split_inclusive('\n') {
        let hidden = commented(language, line);
        let mut starts: Vec<usize> = called_names(line)
            .filter(|(_, name, behind)| {
                if language.is_searched() {
                    effect_of(name).is_some() && !is_quoted(behind)
                } else {
                    // Where calls are not known by name, what counts is the literal.
                    behind.trim_start().trim_start_matches('(').starts_with(['"', '\''])
                }
            })
            .map(|(start, _, _)| begin_of_chain(line, start))
            .collect();
        starts.extend(operators(language, line));
        starts.sort_unstable();
        all.extend(starts.into_iter().filter(|start| *start >= hidden).map(|start| offset + start));
        offset += line.len();
    }
    all.dedup();
    all
}

/// The length of the part of a line that is a comment in every reading: the characters that begin a comment, and the plain
/// words behind them.
fn commented(language: Language, line: &str) -> usize {
    let blank = line.len() - line.trim_start().len();
    if lexis::comment(language, line, blank, Reading::Flat).is_none() {
        return 0;
    }
    let closes = |c: char| !(c.is_alphanumeric() || c.is_whitespace() || "#/-;.,:_(".contains(c));
    let is_argument = |at: usize| line.get(..at).is_some_and(|text| text.ends_with('('));
    line.find(closes).filter(|at| !is_argument(*at)).unwrap_or(line.len())
}

/// Where the objects begin whose method a name is: `os.remove`, `File::delete`.
fn begin_of_chain(line: &str, start: usize) -> usize {
    let before = line.get(..start).unwrap_or_default();
    let chain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '$' | '@');
    let begin = before.trim_end_matches(chain).len();
    begin + before.get(begin..).map_or(0, |chain| chain.len() - chain.trim_start_matches(['.', ':']).len())
}

/// Where operators begin that run their content: `qx{ls}`, `%x(ls)`, `` `ls` ``.
fn operators(language: Language, line: &str) -> Vec<usize> {
    if !matches!(language, Language::Perl | Language::Ruby | Language::Php) {
        return Vec::new();
    }
    let by_name = |mark: &'static str| line.match_indices(mark).map(|(at, _)| at);
    let mut all: Vec<usize> = Vec::new();
    if language == Language::Perl {
        all.extend(by_name("qx"));
    } else if language == Language::Ruby {
        all.extend(by_name("%x"));
    }
    // A backquote begins a command where it follows an operator or a word that prints or returns a value. Other ones end a
    // command, or stand in prose.
    all.extend(by_name("`").filter(|at| {
        let before = line.get(..*at).unwrap_or_default().trim_end();
        before.ends_with(['=', ';', '(', '{', '|', '&'])
            || ["print", "puts", "echo", "return"].iter().any(|word| before.ends_with(word))
    }));
    all
}
