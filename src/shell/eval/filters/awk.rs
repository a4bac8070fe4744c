//! `awk`: programs that only print literals and fields.

use crate::verdict::limits::Meter;

/// `awk 'BEGIN{print "a" "b"}'`, `awk -F: '{print $1}'`
pub(super) fn awk(options: &[&str], input: &str, meter: &Meter) -> Option<String> {
    let mut separator: Option<String> = None;
    let mut program = None;
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match *word {
            "-F" => separator = Some((*words.next()?).to_owned()),
            word if word.starts_with("-F") => separator = word.strip_prefix("-F").map(str::to_owned),
            word if word.starts_with('-') => return None,
            word if program.is_none() => program = Some(word),
            _ => return None,
        }
    }
    // A separator of several characters is a regular expression, and `t` is a tab.
    if separator
        .as_ref()
        .is_some_and(|separator| separator.chars().count() != 1 || matches!(separator.as_str(), "\\" | "t"))
    {
        return None;
    }
    let program = program?.trim();
    let (is_begin, body) = match program.strip_prefix("BEGIN") {
        Some(rest) => (true, rest.trim_start()),
        None => (false, program),
    };
    let body = body.strip_prefix('{')?.strip_suffix('}')?.trim().trim_end_matches(';');
    let (formats, list) = match body.strip_prefix("printf") {
        Some(list) => (true, list),
        None => (false, body.strip_prefix("print")?),
    };
    let terms = parse_terms(list.trim())?;
    if formats && !matches!(terms.as_slice(), [Term::Text(text)] if !text.contains('%')) {
        return None;
    }
    let end = if formats { "" } else { "\n" };
    if is_begin {
        return Some(print(&terms, "", &[])? + end);
    }
    meter.try_charge(input.len().saturating_mul(1 + terms.len() / 4)).then_some(())?;
    let mut output = String::new();
    for line in input.lines() {
        let fields: Vec<&str> = match &separator {
            Some(separator) if separator != " " => line.split(separator.as_str()).collect(),
            _ => line.split_whitespace().collect(),
        };
        output = output + &print(&terms, line, &fields)? + end;
    }
    Some(output)
}

/// What is printed, in order.
enum Term {
    Text(String),
    Field(usize),
    /// `$NF`
    LastField,
    /// A comma, which prints a blank.
    Comma,
}

fn parse_terms(list: &str) -> Option<Vec<Term>> {
    if list.is_empty() {
        return Some(vec![Term::Field(0)]);
    }
    let mut terms = Vec::new();
    let mut rest = list;
    while let Some(c) = rest.chars().next() {
        rest = rest.get(c.len_utf8()..)?;
        match c {
            ' ' | '\t' => {}
            ',' => terms.push(Term::Comma),
            '"' => {
                let (text, behind) = literal(rest)?;
                terms.push(Term::Text(text));
                rest = behind;
            }
            '$' => {
                if let Some(behind) = rest.strip_prefix("NF") {
                    terms.push(Term::LastField);
                    rest = behind;
                    continue;
                }
                let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                terms.push(Term::Field(rest.get(..end)?.parse().ok()?));
                rest = rest.get(end..)?;
            }
            _ => return None,
        }
    }
    Some(terms)
}

/// Reads a string up to its closing quote.
fn literal(text: &str) -> Option<(String, &str)> {
    let mut found = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((found, text.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => found.push('\n'),
                't' => found.push('\t'),
                other @ ('"' | '\\' | '/') => found.push(other),
                _ => return None,
            },
            c => found.push(c),
        }
    }
    None
}

fn print(terms: &[Term], line: &str, fields: &[&str]) -> Option<String> {
    let field = |number: usize| match number.checked_sub(1) {
        Some(at) => fields.get(at).copied().unwrap_or_default(),
        None => line,
    };
    let mut text = String::new();
    for term in terms {
        match term {
            Term::Text(literal) => text.push_str(literal),
            Term::Field(number) => text.push_str(field(*number)),
            Term::LastField => text.push_str(fields.last().copied().unwrap_or_default()),
            Term::Comma => text.push(' '),
        }
    }
    Some(text)
}
