//! Tokens: names, strings and signs, which suffice to find calls.

use super::Language;
use std::iter::Peekable;
use std::str::CharIndices;

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
pub(super) fn tokens(language: Language, code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = code.char_indices().peekable();
    let mut depth = 0_usize;
    while let Some((at, c)) = chars.next() {
        let rest = code.get(at..).unwrap_or_default();
        match c {
            _ if starts_comment(language, rest, tokens.last()) => {
                if rest.starts_with("/*") {
                    skip_to(&mut chars, rest.find("*/").map_or(code.len(), |end| at + end + 2));
                } else {
                    while chars.next_if(|(_, c)| *c != '\n').is_some() {}
                }
            }
            '\'' if language == Language::Lisp => tokens.push(Token::Sign(c)),
            // `foldl'` is a name.
            '\'' if language == Language::Other
                && code.get(..at).is_some_and(|text| text.ends_with(char::is_alphanumeric)) => {}
            '$' if language == Language::Sql && rest.starts_with("$$") => {
                let length = rest.get(2..).and_then(|text| text.find("$$")).unwrap_or(rest.len().saturating_sub(2));
                tokens.push(Token::Text(rest.get(2..2 + length).unwrap_or_default().to_owned()));
                skip_to(&mut chars, at + length + 4);
            }
            '\'' if language == Language::Source && !opens_string(code.get(..at).unwrap_or_default(), rest) => {}
            '"' | '\'' | '`' => {
                let long = rest.starts_with(&c.to_string().repeat(3));
                let close = if long { c.to_string().repeat(3) } else { c.to_string() };
                if long {
                    chars.nth(1);
                }
                let start = at + close.len();
                let (text, length) = interpolated_string(language, code.get(start..).unwrap_or_default(), &close);
                skip_to(&mut chars, start + length);
                let prefix = match tokens.last() {
                    Some(Token::Name(name))
                        if matches!(name.as_str(), "r" | "b" | "f" | "rb" | "fr" | "rf" | "u" | "c" | "s") =>
                    {
                        name.clone()
                    }
                    _ => String::new(),
                };
                if !prefix.is_empty() {
                    tokens.pop();
                }
                // Bun and zx run a template literal with the tag `$`.
                let runs = c == '`'
                    && (matches!(language, Language::Perl | Language::Ruby | Language::Php | Language::Other)
                        || matches!(tokens.last(), Some(Token::Name(name)) if name == "$" || name.ends_with(".$")));
                let pieces = pieces(text, interpolation(language, c, prefix.contains('f')));
                tokens.push(if runs { Token::Command(pieces) } else { quoted(pieces) });
            }
            // A slash that does not follow a value begins a regular expression.
            '/' if has_patterns(language) && !tokens.last().is_some_and(is_value) => {
                let (_, length) = string(code.get(at + 1..).unwrap_or_default(), "/");
                skip_to(&mut chars, at + 1 + length);
                tokens.push(Token::Sign('/'));
            }
            '%' if language == Language::Ruby && percent_literal(rest).is_some() => {
                let Some((kind, text, length)) = percent_literal(rest) else { continue };
                skip_to(&mut chars, at + length);
                let pieces = pieces(text, Interpolation::None);
                tokens.push(if kind == 'x' { Token::Command(pieces) } else { quoted(pieces) });
            }
            _ if c.is_alphanumeric() || matches!(c, '_' | '$' | '@') => {
                let mut name = String::from(c);
                while let Some((_, c)) = chars.next_if(|(_, c)| is_name(language, *c)) {
                    name.push(c);
                }
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
                    && let Some((start, delimiter)) = chars.peek().copied().filter(|(_, c)| "/#|,!{".contains(*c))
                    && !matches!(tokens.last(), Some(Token::Sign('>' | '$' | '@' | '%')))
                {
                    let end = pattern_end(code, start + 1, delimiter, parts);
                    skip_to(&mut chars, end);
                    // `s/a/b/e` evaluates its replacement.
                    let mut runs = false;
                    while let Some((_, flag)) = chars.next_if(|(_, c)| c.is_ascii_alphabetic()) {
                        runs |= flag == 'e';
                    }
                    tokens.push(Token::Sign('/'));
                    let pattern = code.get(start..end).unwrap_or_default();
                    let shells =
                        ["`", "system", "exec", "qx", "unlink", "open"].iter().any(|call| pattern.contains(call));
                    if runs && name == "s" && shells {
                        tokens.extend([Token::Name("eval".to_owned()), Token::Sign('('), Token::Sign(')')]);
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
                let (text, length) = string(code.get(start..).unwrap_or_default(), &closing_of(open).to_string());
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
                    _ => {}
                }
                tokens.push(Token::Sign(c));
            }
        }
    }
    folded(tokens, language)
}

/// Whether a single quote begins a string and not a lifetime, and is not an apostrophe.
fn opens_string(before: &str, rest: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '&' | '<');
    let close = rest.get(1..).and_then(|rest| rest.chars().find(|c| matches!(c, '\'' | '\n')));
    !before.ends_with(is_word) && close == Some('\'')
}

/// Whether a comment begins here.
fn starts_comment(language: Language, rest: &str, before: Option<&Token>) -> bool {
    match language {
        Language::Python | Language::Perl | Language::Ruby | Language::Awk | Language::Elixir => rest.starts_with('#'),
        Language::Php => rest.starts_with('#') || rest.starts_with("//") || rest.starts_with("/*"),
        Language::Node => rest.starts_with("//") || rest.starts_with("/*") && !before.is_some_and(is_value),
        Language::Lua => rest.starts_with("--"),
        Language::Sql => rest.starts_with("--") || rest.starts_with("/*"),
        Language::Lisp => rest.starts_with(';'),
        Language::Other => rest.starts_with("# ") || rest.starts_with("// "),
        Language::Source => rest.starts_with("# ") || rest.starts_with("//") || rest.starts_with("/*"),
        Language::Sed => false,
    }
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
                | [.., Token::Sign('.'), Token::Sign('.')] => 2,
                [.., Token::Sign('+' | '.' | '^' | '~')] => 1,
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
    let (at, open) = chars.next().filter(|(_, open)| "([{<|!/".contains(*open))?;
    let (text, length) = string(rest.get(at + 1..)?, &closing_of(open).to_string());
    Some((kind, text, at + 1 + length))
}

fn closing_of(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        same => same,
    }
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

/// The end of the parts of a pattern operator, from behind its first delimiter.
fn pattern_end(code: &str, start: usize, delimiter: char, parts: usize) -> usize {
    let mut end = start;
    for _ in 0..parts {
        let close = if delimiter == '{' { "}".to_owned() } else { delimiter.to_string() };
        let rest = code.get(end..).unwrap_or_default();
        // `s{a} {b}`: blanks between the parts.
        let gap = if delimiter == '{' { rest.find('{') } else { None };
        let is_blank = |at: &usize| rest.get(..*at).is_some_and(|gap| gap.trim().is_empty());
        let skipped = gap.filter(is_blank).map_or(0, |at| at + 1);
        end += skipped + string(rest.get(skipped..).unwrap_or_default(), &close).1;
    }
    end
}

/// Returns the text up to `close` with simple escapes decoded, and its length in the source with `close`.
fn string(rest: &str, close: &str) -> (String, usize) {
    let mut text = String::new();
    let mut chars = rest.char_indices();
    while let Some((at, c)) = chars.next() {
        if rest.get(at..).is_some_and(|rest| rest.starts_with(close)) {
            return (text, at + close.len());
        }
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some((_, 'n')) => text.push('\n'),
            Some((_, 't')) => text.push('\t'),
            Some((_, '\n')) | None => {}
            Some((_, 'x')) => decode(&mut text, &mut chars, 2),
            Some((_, 'u')) => decode(&mut text, &mut chars, 4),
            // Swift interpolates with `\(…)`.
            Some((_, '(')) => text.push_str("\\("),
            Some((_, c)) => text.push(c),
        }
    }
    (text, rest.len())
}

/// The same for a string in which `#{…}` may contain quotes.
fn interpolated_string(language: Language, rest: &str, close: &str) -> (String, usize) {
    let mut length = 0;
    let mut text = String::new();
    let has_values = matches!(language, Language::Ruby | Language::Elixir) && close == "\"";
    loop {
        if !has_values {
            break;
        }
        let part = rest.get(length..).unwrap_or_default();
        // The next value before the end of the string.
        let starts = |at: usize| part.get(at..).is_some_and(|rest| rest.starts_with("#{"));
        let mut marks = part.match_indices(['"', '#']).map(|(at, mark)| (at, mark == "\""));
        let Some((start, _)) = marks.find(|(at, ends)| *ends || starts(*at)).filter(|(_, ends)| !ends) else { break };
        let end = part.get(start..).and_then(|value| value.find('}')).map_or(part.len(), |end| start + end + 1);
        text.push_str(part.get(..end).unwrap_or_default());
        length += end;
    }
    let (last, more) = string(rest.get(length..).unwrap_or_default(), close);
    (text + &last, length + more)
}

/// Decodes a character by its hexadecimal number.
fn decode(text: &mut String, chars: &mut CharIndices<'_>, digits: usize) {
    let hex: String = chars.clone().take(digits).map(|(_, c)| c).collect();
    if let Some(c) = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) {
        text.push(c);
        chars.nth(digits - 1);
    }
}

/// How a string marks interpolated values.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interpolation {
    None,
    /// `{x}`
    Brace,
    /// `#{x}`
    Hash,
    /// `$x`, `${x}`, `{$x}`, `$x{y}`
    Dollar,
    /// `${x}`
    DollarBrace,
}

fn interpolation(language: Language, quote: char, formatted: bool) -> Interpolation {
    let plain = quote == '\'';
    match language {
        Language::Perl | Language::Php | Language::Other if !plain => Interpolation::Dollar,
        Language::Ruby | Language::Elixir if !plain => Interpolation::Hash,
        Language::Node if quote == '`' => Interpolation::DollarBrace,
        Language::Python if formatted => Interpolation::Brace,
        Language::Perl
        | Language::Php
        | Language::Other
        | Language::Source
        | Language::Ruby
        | Language::Elixir
        | Language::Node
        | Language::Python
        | Language::Awk
        | Language::Lua
        | Language::Sed
        | Language::Lisp
        | Language::Sql => Interpolation::None,
    }
}

/// Splits a text at its interpolated values.
fn pieces(text: String, interpolation: Interpolation) -> Vec<Piece> {
    let (mark, open) = match interpolation {
        Interpolation::None => return vec![Piece::Text(text)],
        Interpolation::Brace => ("{", "{"),
        Interpolation::Hash => ("#", "#{"),
        Interpolation::DollarBrace => ("$", "${"),
        Interpolation::Dollar => ("$", ""),
    };
    if !text.contains(mark) && !text.contains("\\(") {
        return vec![Piece::Text(text)];
    }
    let mut pieces = Vec::new();
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some(c) = rest.chars().next() {
        let braced = if !open.is_empty() && rest.starts_with(open) {
            Some(open.len())
        } else if interpolation == Interpolation::Dollar {
            ["${", "{$", "$(", "\\("].iter().find(|open| rest.starts_with(**open)).map(|open| open.len())
        } else {
            None
        };
        let named = interpolation == Interpolation::Dollar
            && c == '$'
            && rest.get(1..).is_some_and(|name| name.starts_with(|c: char| c.is_alphabetic() || c == '_'));
        let (code, length) = if let Some(start) = braced {
            let inner = rest.get(start..).unwrap_or_default();
            let end = inner.find(['}', ')']).unwrap_or(inner.len());
            (inner.get(..end).unwrap_or_default(), (start + end + 1).min(rest.len()))
        } else if named {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || "_$".contains(c))).unwrap_or(rest.len());
            // `$ENV{HOME}`, `$env(HOME)`
            let close = rest.get(end..).and_then(|rest| {
                let close = rest.chars().next().filter(|open| "{[(".contains(*open)).map(closing_of)?;
                let ends = |c: char| c == close || c == '$' || c.is_whitespace();
                rest.find(ends).filter(|at| rest.get(*at..).is_some_and(|rest| rest.starts_with(close)))
            });
            let end = close.map_or(end, |close| end + close + 1);
            (rest.get(..end).unwrap_or_default(), end)
        } else {
            plain.push(c);
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            continue;
        };
        pieces.extend([Piece::Text(std::mem::take(&mut plain)), Piece::Code(code.to_owned())]);
        rest = rest.get(length..).unwrap_or_default();
    }
    pieces.push(Piece::Text(plain));
    pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    pieces
}

/// Builds the token of a string.
fn quoted(mut pieces: Vec<Piece>) -> Token {
    match pieces.as_mut_slice() {
        [] => Token::Text(String::new()),
        [Piece::Text(text)] => Token::Text(std::mem::take(text)),
        _ => Token::Mixed(pieces),
    }
}
