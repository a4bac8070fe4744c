//! Tokens: names, strings and signs, which suffice to find calls.

use super::Language;
use std::iter::Peekable;
use std::str::CharIndices;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name with its dots and colons: `os.path.join`, `Net::HTTP`.
    Name(String),
    /// A string, or `None` if it has interpolated values.
    Text(Option<String>),
    /// A string that runs as a command: `` `ls` ``.
    Command(String),
    Sign(char),
}

/// Splits a piece of code into tokens, without comments. There are no errors.
pub(super) fn tokens(language: Language, code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = code.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '#' if matches!(
                language,
                Language::Python | Language::Perl | Language::Ruby | Language::Php | Language::Awk | Language::Elixir
            ) =>
            {
                while chars.next_if(|(_, c)| *c != '\n').is_some() {}
            }
            '"' | '\'' | '`' => {
                let long = code.get(at..).is_some_and(|rest| rest.starts_with(&c.to_string().repeat(3)));
                let close = if long { c.to_string().repeat(3) } else { c.to_string() };
                if long {
                    chars.nth(1);
                }
                let start = at + close.len();
                let (text, length) = string(code.get(start..).unwrap_or_default(), &close);
                let end = start + length;
                skip_to(&mut chars, end);
                let prefix = matches!(tokens.last(), Some(Token::Name(name)) if matches!(name.as_str(), "r" | "b" | "f" | "rb" | "u"));
                let formatted = matches!(tokens.last(), Some(Token::Name(name)) if name == "f");
                if prefix {
                    tokens.pop();
                }
                // Bun and zx run a template literal with the tag `$`.
                let runs = c == '`'
                    && language == Language::Node
                    && matches!(tokens.last(), Some(Token::Name(name)) if name == "$" || name.ends_with(".$"));
                tokens.push(if runs { Token::Command(text) } else { quoted(language, c, text, formatted) });
            }
            // A slash that does not follow a value begins a regular expression.
            '/' if language != Language::Python && !tokens.last().is_some_and(is_value) => {
                let (_, length) = string(code.get(at + 1..).unwrap_or_default(), "/");
                let end = at + 1 + length;
                skip_to(&mut chars, end);
                tokens.push(Token::Sign('/'));
            }
            _ if c.is_alphanumeric() || matches!(c, '_' | '$' | '@') => {
                let mut name = String::from(c);
                while let Some((_, c)) =
                    chars.next_if(|(_, c)| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '!' | '?'))
                {
                    name.push(c);
                }
                let name = name.trim_end_matches([':', '.', '!', '?']).to_owned();
                // The content of Perl's `s/a/b/`, `tr/a/b/` and `m/a/` is not code.
                if let Some(parts) = pattern_parts(language, &name)
                    && let Some((start, delimiter)) = chars.peek().copied().filter(|(_, c)| "/#|,!{".contains(*c))
                    && !matches!(tokens.last(), Some(Token::Sign('>' | '$' | '@' | '%')))
                {
                    let mut end = start + 1;
                    for _ in 0..parts {
                        let close = if delimiter == '{' { "}".to_owned() } else { delimiter.to_string() };
                        let rest = code.get(end..).unwrap_or_default();
                        // `s{a} {b}`: blanks between the parts.
                        let gap = if delimiter == '{' { rest.find('{') } else { None };
                        let is_blank = |at: &usize| rest.get(..*at).is_some_and(|gap| gap.trim().is_empty());
                        let skipped = gap.filter(is_blank).map_or(0, |at| at + 1);
                        end += skipped + string(rest.get(skipped..).unwrap_or_default(), &close).1;
                    }
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
                let is_quote_operator = language == Language::Perl && matches!(name.as_str(), "q" | "qq" | "qw" | "qx")
                    || language == Language::Ruby && name == "x" && tokens.last() == Some(&Token::Sign('%'));
                let open = chars
                    .peek()
                    .map(|(_, open)| *open)
                    .filter(|open| is_quote_operator && !open.is_alphanumeric() && !",;=)".contains(*open));
                let Some(open) = open else {
                    tokens.push(Token::Name(name));
                    continue;
                };
                // Perl's quote operators: `qx{ls}`.
                let close = match open {
                    '(' => ')',
                    '[' => ']',
                    '{' => '}',
                    '<' => '>',
                    same => same,
                };
                let start = chars.next().map_or(code.len(), |(index, open)| index + open.len_utf8());
                let (text, length) = string(code.get(start..).unwrap_or_default(), &close.to_string());
                let end = start + length;
                skip_to(&mut chars, end);
                tokens.push(match name.as_str() {
                    "qx" | "x" => Token::Command(text),
                    _ => Token::Text(Some(text)),
                });
            }
            _ if c.is_whitespace() => {}
            _ => tokens.push(Token::Sign(c)),
        }
    }
    tokens
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
        Token::Text(_) => true,
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
            Some((_, 'x')) => {
                let hex: String = chars.clone().take(2).map(|(_, c)| c).collect();
                if let Some(c) = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32) {
                    text.push(c);
                    chars.nth(1);
                }
            }
            Some((_, c)) => text.push(c),
        }
    }
    (text, rest.len())
}

/// Builds the token of a quoted string.
fn quoted(language: Language, quote: char, text: String, formatted: bool) -> Token {
    let interpolates = match language {
        Language::Perl | Language::Php => quote != '\'' && text.contains('$'),
        Language::Ruby | Language::Elixir => quote != '\'' && text.contains("#{"),
        Language::Node => quote == '`' && text.contains("${"),
        Language::Python => formatted && text.contains('{'),
        Language::Awk | Language::Sed | Language::Lua | Language::Other => false,
    };
    match (language, quote) {
        (Language::Perl | Language::Ruby | Language::Php, '`') => Token::Command(text),
        _ => Token::Text((!interpolates).then_some(text)),
    }
}
