//! Tokens: names, strings and signs, which suffice to find calls.

mod buried;

use super::Language;
use super::lexis::{self, Reading};
use super::strings::{
    Delimiter, Escapes, Interpolation, Values, closing_of, interpolated_string, interpolation, nested_marks, pieces,
    quoted, string,
};
use std::iter::Peekable;
use std::str::CharIndices;

pub(super) use buried::{called_names, doubtful_tokens};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name with its dots and colons: `os.path.join`, `Net::HTTP`.
    Name(String),
    /// A string.
    Text(String),
    /// A string with interpolated values.
    Mixed(Vec<Piece>),
    /// A string that runs as a command: `` `ls` ``.
    Command(Vec<Piece>),
    /// A sign; a line break only outside of brackets.
    Sign(char),
}

/// A part of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    /// The code of an interpolated value.
    Code(String),
}

/// Splits a piece of code into tokens, without comments. There are no errors.
pub(super) fn tokens(language: Language, code: &str, reading: Reading) -> Vec<Token> {
    scan(language, code, reading, Extent::All, &mut Values::new(reading)).tokens
}

/// How much of a text is split.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    All,
    /// Up to the end of the statement, or to the end of the bracket around the text.
    Statement,
}

struct Scan {
    tokens: Vec<Token>,
    /// Where names and commands begin.
    starts: Vec<usize>,
    /// Whether a quote outside of strings follows a backslash.
    has_escaped_quote: bool,
    /// The end of what was split.
    end: usize,
}

/// Splits a text, or its first statement. `values` remembers whether the interpolated values before were closed.
fn scan(language: Language, code: &str, reading: Reading, extent: Extent, values: &mut Values) -> Scan {
    let mut tokens = Vec::new();
    let mut starts = Vec::new();
    let mut chars = code.char_indices().peekable();
    let mut depth = 0_usize;
    let mut has_escaped_quote = false;
    while let Some((at, c)) = chars.next() {
        if extent == Extent::Statement && depth == 0 && matches!(c, ';' | '\n' | ')' | ']' | '}') {
            return Scan { tokens: folded(tokens, language), starts, has_escaped_quote, end: at };
        }
        if c.is_alphanumeric() || matches!(c, '_' | '$' | '@' | '`' | '%') {
            starts.push(at);
        }
        let rest = code.get(at..).unwrap_or_default();
        match c {
            _ if lexis::long_string(language, rest).is_some() => {
                let Some((text, length)) = lexis::long_string(language, rest) else { continue };
                tokens.push(Token::Text(text.to_owned()));
                skip_to(&mut chars, at + length);
            }
            _ if lexis::comment(language, code, at, reading).is_some() => {
                let length = lexis::comment(language, code, at, reading);
                skip_to(&mut chars, at + length.unwrap_or_default());
            }
            _ if reading == Reading::Usual && lexis::character(language, code, at).is_some() => {
                let Some((text, length)) = lexis::character(language, code, at) else { continue };
                tokens.push(Token::Text(text.to_owned()));
                skip_to(&mut chars, at + length);
            }
            // The last index of an array: `$#x`.
            '$' if language == Language::Perl && rest.starts_with("$#") => {
                chars.next();
                tokens.push(Token::Sign('#'));
            }
            '\'' if language == Language::Lisp => tokens.push(Token::Sign(c)),
            // `foldl'` is a name.
            '\'' if language == Language::Other && lexis::follows_value(code, at) => {}
            '$' if language == Language::Sql && reading == Reading::Usual && lexis::dollar_string(rest).is_some() => {
                let Some((text, length)) = lexis::dollar_string(rest) else { continue };
                tokens.push(Token::Text(text.to_owned()));
                skip_to(&mut chars, at + length);
            }
            '\'' if language == Language::Source && !opens_string(code.get(..at).unwrap_or_default(), rest) => {}
            '"' | '\'' | '`' => {
                let long = lexis::has_triple_quotes(language) && rest.starts_with(&c.to_string().repeat(3));
                let close = if long { c.to_string().repeat(3) } else { c.to_string() };
                if long {
                    chars.nth(1);
                }
                let start = at + close.len();
                let before = code.get(..at).unwrap_or_default();
                let prefix = match tokens.last() {
                    Some(Token::Name(name)) if before.ends_with(name.as_str()) && lexis::is_prefix(name) => {
                        name.to_ascii_lowercase()
                    }
                    _ => String::new(),
                };
                let escapes = Escapes::of(language, c, prefix.contains('r'));
                let interpolation = interpolation(language, c, prefix.contains('f'));
                let marks = nested_marks(language, interpolation);
                let rest = code.get(start..).unwrap_or_default();
                let (text, length) = interpolated_string(rest, &close, escapes, marks, values);
                skip_to(&mut chars, start + length);
                if !prefix.is_empty() {
                    tokens.pop();
                }
                // Bun and zx run a template literal with the tag `$`.
                let runs = c == '`'
                    && (matches!(language, Language::Perl | Language::Ruby | Language::Php | Language::Other)
                        || matches!(tokens.last(), Some(Token::Name(name)) if name == "$" || name.ends_with(".$")));
                let pieces = pieces(text, interpolation);
                tokens.push(if runs { Token::Command(pieces) } else { quoted(pieces) });
            }
            // A slash that does not follow a value begins a regular expression.
            '/' if reading == Reading::Usual && has_patterns(language) && !tokens.last().is_some_and(is_value) => {
                let end = lexis::pattern_end(code.get(at + 1..).unwrap_or_default(), '/');
                skip_to(&mut chars, at + 1 + end);
                tokens.push(Token::Sign('/'));
                let pattern = code.get(at + 1..at + 1 + end).unwrap_or_default();
                tokens.extend(if language == Language::Perl { code_in_pattern(pattern) } else { None });
            }
            // Elixir: `~c"ls"`, `~s(ls)`
            '~' if language == Language::Elixir && lexis::sigil(rest).is_some() => {
                let Some((open, start)) = lexis::sigil(rest) else { continue };
                let rest = rest.get(start..).unwrap_or_default();
                let close = closing_of(open).to_string();
                let (text, length) = string(rest, Delimiter::quote(&close), Escapes::Of(language));
                tokens.push(quoted(pieces(text, Interpolation::Hash)));
                skip_to(&mut chars, at + start + length);
            }
            '%' if language == Language::Ruby && percent_literal(rest).is_some() => {
                let Some((kind, text, length)) = percent_literal(rest) else { continue };
                skip_to(&mut chars, at + length);
                let pieces = pieces(text, if "qwi".contains(kind) { Interpolation::None } else { Interpolation::Hash });
                match (kind, pieces.as_slice()) {
                    ('x', _) => tokens.push(Token::Command(pieces)),
                    ('w' | 'i' | 'W' | 'I', [Piece::Text(text)]) => {
                        tokens.push(Token::Sign('['));
                        tokens.extend(
                            text.split_whitespace().flat_map(|word| [Token::Text(word.to_owned()), Token::Sign(',')]),
                        );
                        tokens.push(Token::Sign(']'));
                    }
                    _ => tokens.push(quoted(pieces)),
                }
            }
            _ if c.is_alphanumeric()
                || matches!(c, '_' | '$' | '@')
                || lexis::escaped_letter(language, rest).is_some() =>
            {
                let mut name = String::new();
                let mut next = at;
                loop {
                    let rest = code.get(next..).unwrap_or_default();
                    let (letter, length) = match lexis::escaped_letter(language, rest) {
                        Some(escaped) => escaped,
                        None if next > at && begins_quoted(language, &name, rest) => break,
                        None => match rest.chars().next().filter(|c| next == at || is_name(language, *c)) {
                            Some(letter) => (letter, letter.len_utf8()),
                            None => break,
                        },
                    };
                    if language == Language::Python && !letter.is_ascii() {
                        lexis::push_plain(&mut name, letter);
                    } else {
                        name.push(letter);
                    }
                    next += length;
                }
                skip_to(&mut chars, next);
                // A range or a concatenation in Lua: `a..b`.
                let name = match name.split_once("..") {
                    Some((first, second)) => {
                        tokens.extend([Token::Name(first.to_owned()), Token::Sign('+')]);
                        second.trim_start_matches('.').to_owned()
                    }
                    None => name,
                };
                let name = name.trim_end_matches([':', '.', '!', '?']).to_owned();
                // The content of Perl's `s/a/b/`, `tr/a/b/` and `m/a/` is not code.
                if let Some(parts) = pattern_parts(language, &name)
                    && let Some((start, delimiter)) = chars.peek().copied().filter(|(_, c)| is_delimiter(*c))
                    && !code.get(start..).is_some_and(|rest| rest.starts_with("=>"))
                    && !matches!(tokens.last(), Some(Token::Sign('>' | '$' | '@' | '%')))
                {
                    let (last, end) = pattern_end(code, start, delimiter, parts);
                    skip_to(&mut chars, end);
                    // `s/a/b/e` evaluates its replacement.
                    let mut runs = 0;
                    while let Some((_, flag)) = chars.next_if(|(_, c)| c.is_ascii_alphabetic()) {
                        runs += usize::from(flag == 'e');
                    }
                    tokens.push(Token::Sign('/'));
                    tokens.extend(code_in_pattern(code.get(start..end).unwrap_or_default()));
                    let replacement = code.get(last..end).unwrap_or_default();
                    let replacement = replacement.strip_suffix(closing_of(delimiter)).unwrap_or(replacement);
                    if runs == 1 && name == "s" {
                        tokens.push(Token::Mixed(vec![Piece::Code(replacement.replace("\\/", "/"))]));
                    } else if runs > 1 && name == "s" {
                        tokens.extend([Token::Sign(';'), Token::Name("eval".to_owned()), Token::Sign(';')]);
                    }
                    continue;
                }
                let is_quote_operator = language == Language::Perl && matches!(name.as_str(), "q" | "qq" | "qw" | "qx");
                let open = chars.peek().copied().filter(|(_, open)| {
                    is_quote_operator && !open.is_alphanumeric() && !open.is_whitespace() && !",;=)".contains(*open)
                });
                let Some((start, open)) = open else {
                    tokens.push(Token::Name(name));
                    continue;
                };
                // Perl's quote operators: `qx{ls}`.
                let start = start + open.len_utf8();
                let close = closing_of(open).to_string();
                let escapes = if name == "q" || name == "qw" { Escapes::None } else { Escapes::Of(language) };
                let rest = code.get(start..).unwrap_or_default();
                let (text, length) = string(rest, Delimiter::nesting(open, &close), escapes);
                skip_to(&mut chars, start + length);
                let pieces =
                    pieces(text, if name == "q" || name == "qw" { Interpolation::None } else { Interpolation::Dollar });
                tokens.push(if name == "qx" { Token::Command(pieces) } else { quoted(pieces) });
            }
            '\n' => {
                while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
                let continues = chars.peek().is_some_and(|(_, c)| *c == '.');
                if depth == 0 && !continues {
                    tokens.push(Token::Sign('\n'));
                }
            }
            _ if c.is_whitespace() => {}
            _ => {
                match c {
                    // A block of a compiled language has lines.
                    '{' | '}' if language == Language::Source => {}
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth = depth.saturating_sub(1),
                    '\\' => has_escaped_quote |= matches!(chars.peek(), Some((_, '"' | '\'' | '`'))),
                    _ => {}
                }
                tokens.push(Token::Sign(c));
            }
        }
    }
    Scan { tokens: folded(tokens, language), starts, has_escaped_quote, end: code.len() }
}

/// Whether a single quote begins a string and not a lifetime, and is not an apostrophe.
fn opens_string(before: &str, rest: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '&' | '<');
    let close = rest.get(1..).and_then(|rest| rest.chars().find(|c| matches!(c, '\'' | '\n')));
    !before.ends_with(is_word) && close == Some('\'')
}

/// The code in a regular expression of Perl: `(?{ … })`, `(??{ … })`, `(*{ … })`.
fn code_in_pattern(pattern: &str) -> Option<Token> {
    let mut values = Values::new(Reading::Usual);
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some((before, inner)) = rest.split_once('{') {
        if !["(?", "(??", "(*"].iter().any(|mark| before.ends_with(mark)) {
            rest = inner;
            continue;
        }
        // A block whose end is not found is the rest of the pattern.
        let end = values.end(inner, &[]).unwrap_or(inner.len());
        pieces.push(Piece::Code(inner.get(..end).unwrap_or_default().replace("\\/", "/")));
        rest = inner.get(end..).unwrap_or_default();
    }
    (!pieces.is_empty()).then_some(Token::Mixed(pieces))
}

/// Whether a language has regular expressions between slashes.
fn has_patterns(language: Language) -> bool {
    matches!(language, Language::Node | Language::Perl | Language::Ruby | Language::Awk)
}

fn is_name(language: Language, c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '_' | '.' | '$')
        || language == Language::Lisp && ":-!?/*>".contains(c)
        || !matches!(language, Language::Node | Language::Python) && ":!?".contains(c)
}

/// Joins strings that the code concatenates: `"sys" + "tem"`.
fn folded(tokens: Vec<Token>, language: Language) -> Vec<Token> {
    let adjacent = matches!(language, Language::Python | Language::Ruby);
    let mut all: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let text = match &token {
            Token::Text(text) => Some(text),
            Token::Mixed(pieces) => match pieces.first() {
                Some(Piece::Text(text)) => Some(text),
                _ => None,
            },
            Token::Name(_) | Token::Command(_) | Token::Sign(_) => None,
        };
        if let Some(text) = text {
            let operators = match all.as_slice() {
                [.., Token::Sign('<'), Token::Sign('>')]
                | [.., Token::Sign('+'), Token::Sign('+')]
                | [.., Token::Sign('|'), Token::Sign('|')]
                | [.., Token::Sign('.'), Token::Sign('.')] => 2,
                [.., Token::Sign('+' | '.' | '^' | '~')] => 1,
                // Julia: `"a" * "b"`
                [.., Token::Sign('*')] if language == Language::Other => 1,
                _ => 0,
            };
            let before = all.len().checked_sub(operators + 1);
            let joins = operators > 0 || adjacent;
            if joins && let Some(Token::Text(first)) = before.and_then(|at| all.get_mut(at)) {
                first.push_str(text);
                let joined = std::mem::take(first);
                all.truncate(all.len() - operators - 1);
                all.push(if let Token::Mixed(pieces) = token {
                    let rest = pieces.into_iter().skip(1);
                    Token::Mixed([Piece::Text(joined)].into_iter().chain(rest).collect())
                } else {
                    Token::Text(joined)
                });
                continue;
            }
        }
        all.push(token);
    }
    all
}

/// `%w[a b]`, `%q(a)`, `%x(a)`: the letter, the text and the length in the source.
fn percent_literal(rest: &str) -> Option<(char, String, usize)> {
    let mut chars = rest.char_indices().skip(1);
    let (_, kind) = chars.next().filter(|(_, kind)| "qQwWixIs".contains(*kind))?;
    let (at, open) = chars.next().filter(|(_, open)| open.is_ascii_punctuation() && *open != '=')?;
    let escapes = if "qwi".contains(kind) { Escapes::None } else { Escapes::Of(Language::Ruby) };
    let close = closing_of(open).to_string();
    let (text, length) = string(rest.get(at + 1..)?, Delimiter::nesting(open, &close), escapes);
    Some((kind, text, at + 1 + length))
}

fn skip_to(chars: &mut Peekable<CharIndices<'_>>, end: usize) {
    while chars.next_if(|(index, _)| *index < end).is_some() {}
}

/// Whether a slash after this token is a division.
fn is_value(token: &Token) -> bool {
    match token {
        Token::Name(name) => !matches!(
            name.as_str(),
            "if" | "unless" | "and" | "or" | "not" | "return" | "split" | "grep" | "when" | "while" | "puts" | "print"
        ),
        Token::Text(_) | Token::Mixed(_) => true,
        Token::Sign(sign) => matches!(sign, ')' | ']'),
        Token::Command(_) => false,
    }
}

/// Returns how many delimited parts a pattern operator of this name has.
fn pattern_parts(language: Language, name: &str) -> Option<usize> {
    match name {
        _ if language != Language::Perl => None,
        "s" | "y" | "tr" => Some(2),
        "m" | "qr" => Some(1),
        _ => None,
    }
}

/// Whether the name of a quote operator of Perl is followed by a delimiter that names can also contain: `m!x!`, `s.a.b.`
fn begins_quoted(language: Language, name: &str, rest: &str) -> bool {
    language == Language::Perl
        && matches!(name, "q" | "qq" | "qw" | "qx" | "qr" | "m" | "s" | "tr" | "y")
        && rest.starts_with(['!', '?', '.', ':'])
        && !rest.starts_with("::")
}

/// Whether a character begins the content of a quote operator of Perl.
fn is_delimiter(c: char) -> bool {
    c.is_ascii_punctuation() && !",;)]}>_".contains(c)
}

/// Where the last part of a pattern operator begins and ends, for the operator whose first delimiter is at `start`.
fn pattern_end(code: &str, start: usize, delimiter: char, parts: usize) -> (usize, usize) {
    let mut open = delimiter;
    let mut last = start;
    let mut end = start + open.len_utf8();
    for part in 0..parts {
        let brackets = closing_of(delimiter) != delimiter;
        if part > 0 && brackets {
            // `s{a} (b)`: blanks between the parts, and any brackets.
            let rest = code.get(end..).unwrap_or_default();
            let gap = rest.len() - rest.trim_start().len();
            open = rest.trim_start().chars().next().unwrap_or(delimiter);
            end = (end + gap + open.len_utf8()).min(code.len());
        }
        last = end;
        let close = closing_of(open).to_string();
        end += string(code.get(end..).unwrap_or_default(), Delimiter::nesting(open, &close), Escapes::None).1;
    }
    (last, end)
}

/// Returns the index of the closing bracket for each opening one, or the number of tokens if it is not closed.
pub(super) fn closing(tokens: &[Token]) -> Vec<usize> {
    let mut closing = vec![tokens.len(); tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(' | '{' | '[') => open.push(at),
            Token::Sign(')' | '}' | ']') => {
                if let Some(place) = open.pop().and_then(|start| closing.get_mut(start)) {
                    *place = at;
                }
            }
            Token::Sign(_) | Token::Name(_) | Token::Text(_) | Token::Mixed(_) | Token::Command(_) => {}
        }
    }
    closing
}
