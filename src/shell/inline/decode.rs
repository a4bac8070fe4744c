//! Expressions that decode, reverse or join literals: `b64decode("…")`, `chr(46) + "env"`, `"vne."[::-1]`.

use super::Language;
use super::expression::{Code, NAME_STEPS, last_component};
use super::token::Token;
use super::value::Value;
use crate::encoding::base64;
use crate::programs::code::{self, lists};
use crate::verdict::limits::SHELL_STEPS;

/// The nesting up to which expressions are folded. What is nested deeper counts as unknown.
const MAX_DEPTH: usize = 24;

/// What a function of a constant expression does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decoder {
    Base64,
    Hex,
    Rot13,
    Percent,
    Reverse,
    /// Returns the characters with these numbers.
    Chars,
    /// Returns or joins what it is given.
    Join,
    Replace,
    Format,
}

impl Decoder {
    /// The function of this name.
    pub fn of(name: &str) -> Option<Decoder> {
        let last = last_component(name);
        Some(match last {
            _ if lists(&code::DECODE_BASE64, last) => Decoder::Base64,
            _ if lists(&code::DECODE_HEX, last) => Decoder::Hex,
            _ if lists(&code::DECODE_ROT13, last) => Decoder::Rot13,
            _ if lists(&code::DECODE_PERCENT, last) => Decoder::Percent,
            _ if lists(&code::DECODE_REVERSE, last) => Decoder::Reverse,
            _ if lists(&code::DECODE_CHARS, last) => Decoder::Chars,
            _ if lists(&code::DECODE_JOIN, last) => Decoder::Join,
            _ if lists(&code::DECODE_REPLACE, last) => Decoder::Replace,
            _ if lists(&code::DECODE_FORMAT, last) => Decoder::Format,
            _ => return None,
        })
    }

    /// The encoding of this name, as an argument: `decode("…", "hex")`.
    fn of_encoding(name: &str) -> Option<Decoder> {
        Some(match name {
            _ if lists(&code::DECODE_BASE64_NAMES, name) => Decoder::Base64,
            _ if lists(&code::DECODE_HEX_NAMES, name) => Decoder::Hex,
            _ if lists(&code::DECODE_ROT13_NAMES, name) => Decoder::Rot13,
            _ if lists(&code::DECODE_CHARS_NAMES, name) => Decoder::Chars,
            _ if lists(&code::DECODE_PLAIN_NAMES, name) => Decoder::Join,
            _ => return None,
        })
    }

    /// Whether the result says nothing about what is given: a reader of the code cannot see the text.
    pub fn hides(self) -> bool {
        matches!(self, Decoder::Base64 | Decoder::Hex | Decoder::Rot13 | Decoder::Chars)
    }
}

/// A part of a constant expression.
#[derive(Clone, Debug)]
enum Folded {
    Value(Value),
    Number(u32),
    List(Vec<Folded>),
    Function(Decoder),
}

impl Folded {
    fn text(text: &str) -> Folded {
        Folded::Value(Value::of_text(text))
    }

    /// The value, if it is one string.
    fn value(self) -> Option<Value> {
        match self {
            Folded::Value(value) => Some(value),
            Folded::Number(number) => Some(Value::of_text(&number.to_string())),
            Folded::List(items) => match items.as_slice() {
                [Folded::Value(only)] => Some(only.clone()),
                _ => chars(&items).map(|text| Value::of_text(&text)),
            },
            Folded::Function(_) => None,
        }
    }

    fn known(self) -> Option<String> {
        self.value()?.text()
    }
}

/// The text of a list of character numbers.
fn chars(items: &[Folded]) -> Option<String> {
    let numbers = items.iter().map(|item| match item {
        Folded::Number(number) => char::from_u32(*number),
        Folded::List(inner) => chars(inner).and_then(|text| text.chars().next()),
        Folded::Value(_) | Folded::Function(_) => None,
    });
    let text: Option<String> = numbers.collect();
    text.filter(|text| !text.is_empty())
}

fn number(name: &str) -> Option<u32> {
    match name.strip_prefix("0x").or_else(|| name.strip_prefix("16#")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => name.parse().ok(),
    }
}

fn from_hex(text: &str) -> Option<String> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let digits = digits?;
    let (pairs, []) = digits.as_chunks::<2>() else { return None };
    String::from_utf8(pairs.iter().map(|[high, low]| high << 4 | low).collect()).ok()
}

fn from_percent(text: &str) -> Option<String> {
    // Python's `html.unescape` has the same name.
    if !text.contains('%') && text.contains('&') && text.contains(';') {
        return None;
    }
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('%') {
        bytes.extend(before.bytes());
        bytes.push(u8::from_str_radix(behind.get(..2)?, 16).ok()?);
        rest = behind.get(2..)?;
    }
    bytes.extend(rest.bytes());
    String::from_utf8(bytes).ok()
}

fn rot13(text: &str) -> String {
    let turn = |c: char| match c {
        'a'..='m' | 'A'..='M' => char::from_u32(u32::from(c) + 13).unwrap_or(c),
        'n'..='z' | 'N'..='Z' => char::from_u32(u32::from(c) - 13).unwrap_or(c),
        c => c,
    };
    text.chars().map(turn).collect()
}

/// Applies a function to its receiver and arguments.
fn apply(decoder: Decoder, receiver: Option<Folded>, arguments: Vec<Folded>, separator: &str) -> Option<Folded> {
    let is_method = receiver.is_some();
    let mut encoding = None;
    let mut functions = Vec::new();
    let mut inputs: Vec<Folded> = receiver.into_iter().collect();
    for argument in arguments {
        let named = match &argument {
            Folded::Value(value) => value.text().and_then(|text| Decoder::of_encoding(&text)),
            Folded::Function(function) => {
                functions.push(*function);
                continue;
            }
            Folded::Number(_) | Folded::List(_) => None,
        };
        match named {
            Some(named) if !matches!(decoder, Decoder::Replace | Decoder::Format) => encoding = Some(named),
            _ => inputs.push(argument),
        }
    }
    let decoder = encoding.filter(|encoding| *encoding != Decoder::Join).unwrap_or(decoder);
    // `map(chr, […])`
    for function in functions {
        inputs = vec![apply(function, None, inputs, "")?];
    }
    let joined = |inputs: Vec<Folded>| -> Option<String> {
        let texts: Option<Vec<String>> = inputs.into_iter().map(Folded::known).collect();
        texts.map(|texts| texts.concat())
    };
    Some(match decoder {
        Decoder::Base64 => Folded::text(&String::from_utf8(base64::decode(&joined(inputs)?)?).ok()?),
        Decoder::Hex => Folded::text(&from_hex(&joined(inputs)?)?),
        Decoder::Rot13 => Folded::text(&rot13(&joined(inputs)?)),
        Decoder::Percent => Folded::text(&from_percent(&joined(inputs)?)?),
        Decoder::Reverse => match inputs.pop()? {
            Folded::List(mut items) => {
                items.reverse();
                Folded::List(items)
            }
            other @ (Folded::Value(_) | Folded::Number(_) | Folded::Function(_)) => {
                Folded::text(&other.known()?.chars().rev().collect::<String>())
            }
        },
        Decoder::Chars => {
            let is_text = |input: &Folded| matches!(input, Folded::Value(_));
            if inputs.iter().all(is_text) { Folded::text(&joined(inputs)?) } else { Folded::text(&chars(&inputs)?) }
        }
        Decoder::Join => join(inputs, is_method, separator)?,
        Decoder::Replace => {
            let [first, second, third] = <[Folded; 3]>::try_from(inputs).ok()?.map(Folded::known);
            let (text, from, to) = if is_method { (first?, second?, third?) } else { (third?, first?, second?) };
            Folded::text(&text.replace(&from, &to))
        }
        Decoder::Format => {
            let mut inputs = inputs.into_iter();
            let format = inputs.next()?.known()?;
            format_text(&format, inputs)?
        }
    })
}

/// Joins strings: `"".join([…])`, `[…].join("")`, `concat("a", "b")`, `bytes([…]).decode()`.
fn join(inputs: Vec<Folded>, is_method: bool, separator: &str) -> Option<Folded> {
    let (items, separator) = match <[Folded; 2]>::try_from(inputs) {
        Ok([Folded::Value(by), Folded::List(items)] | [Folded::List(items), Folded::Value(by)]) => (items, by.text()?),
        Ok(both) => (Vec::from(both), separator.to_owned()),
        Err(inputs) => (inputs, separator.to_owned()),
    };
    if let [only] = items.as_slice() {
        return Some(only.clone());
    }
    if items.iter().all(|item| matches!(item, Folded::Number(_))) && !is_method {
        return Some(Folded::List(items));
    }
    let mut all = Value::default();
    for (at, item) in items.into_iter().enumerate() {
        let value = item.value()?;
        if at > 0 && !separator.is_empty() {
            all.attach(Value::of_text(&separator));
        }
        all.attach(value);
    }
    Some(Folded::Value(all))
}

/// The text with a value in place of each placeholder of a format: `%s`, `{}`.
fn format_text(format: &str, mut values: impl Iterator<Item = Folded>) -> Option<Folded> {
    let mut value = Value::default();
    let mut rest = format;
    while let Some(at) = rest.find(['%', '{']) {
        value.attach(Value::of_text(rest.get(..at)?));
        let mark = rest.get(at..)?;
        if let Some(behind) = mark.strip_prefix("%c") {
            value.attach(Value::of_text(&match values.next()? {
                Folded::Number(number) => char::from_u32(number)?.to_string(),
                other @ (Folded::Value(_) | Folded::List(_) | Folded::Function(_)) => other.known()?,
            }));
            rest = behind;
        } else if let Some(behind) = ["%s", "%d", "{}", "%b"].iter().find_map(|sign| mark.strip_prefix(sign)) {
            value.attach(values.next()?.value()?);
            rest = behind;
        } else {
            return None;
        }
    }
    value.attach(Value::of_text(rest));
    Some(Folded::Value(value))
}

impl<'a> Code<'a> {
    /// The value of an expression that consists of literals and of functions that decode or join them.
    pub(super) fn fold(&self, start: usize, end: usize) -> Option<Value> {
        let mut at = start;
        let folded = self.sum(&mut at, end, 0)?;
        (at >= end).then_some(())?;
        folded.value().filter(Value::is_complete)
    }

    /// The words of a list that consists of such expressions: `["r" + "m", "-rf"]`.
    pub(super) fn fold_list(&self, start: usize, end: usize) -> Option<Vec<Value>> {
        let mut at = start;
        match self.sum(&mut at, end, 0)? {
            Folded::List(items) if at >= end && items.len() > 1 && chars(&items).is_none() => {
                items.into_iter().map(Folded::value).collect()
            }
            Folded::Value(_) | Folded::Number(_) | Folded::List(_) | Folded::Function(_) => None,
        }
    }

    /// Operands with signs between them that join strings.
    fn sum(&self, at: &mut usize, end: usize, depth: usize) -> Option<Folded> {
        let mut sum = self.part(at, end, depth)?;
        while *at < end {
            match self.token(*at)? {
                Token::Sign('%') => {
                    *at += 1;
                    let values = match self.part(at, end, depth)? {
                        Folded::List(items) => items,
                        only @ (Folded::Value(_) | Folded::Number(_) | Folded::Function(_)) => vec![only],
                    };
                    sum = format_text(&sum.known()?, values.into_iter())?;
                }
                Token::Sign('+' | '.' | '~' | '^' | '*' | '&' | '<' | '>' | '|') => *at += 1,
                Token::Sign(',' | ';' | ')' | ']' | '}' | '\n') if !matches!(sum, Folded::Function(_)) => {
                    return Some(sum);
                }
                Token::Sign(')' | ']' | '}' | ';' | '\n') => return Some(sum),
                Token::Sign(',') => *at += 1,
                // `x["a"]` is a part of `x`.
                Token::Sign('(' | '[') if !matches!(sum, Folded::Function(_)) => return None,
                Token::Name(_) | Token::Text(_) | Token::Mixed(_) | Token::Sign('(' | '[' | '\\' | '\'') => {
                    let next = self.part(at, end, depth)?;
                    sum = match sum {
                        // A function without brackets: `reverse "x"`, `map toEnum […]`.
                        Folded::Function(function) => {
                            let mut arguments = vec![next];
                            while self.is_sign(*at, ',') && *at < end {
                                *at += 1;
                                arguments.push(self.part(at, end, depth)?);
                            }
                            apply(function, None, arguments, "")?
                        }
                        first @ (Folded::Value(_) | Folded::Number(_) | Folded::List(_)) => {
                            let mut value = first.value()?;
                            value.attach(next.value()?);
                            Folded::Value(value)
                        }
                    };
                }
                Token::Command(_) | Token::Sign(_) => return None,
            }
        }
        Some(sum)
    }

    /// An operand with the methods that are called on it.
    fn part(&self, at: &mut usize, end: usize, depth: usize) -> Option<Folded> {
        self.meter.charge(NAME_STEPS);
        if depth > MAX_DEPTH || *at >= end || self.meter.exceeds(&SHELL_STEPS) {
            return None;
        }
        let start = *at;
        *at += 1;
        let mut part = match self.token(start)? {
            Token::Text(text) => Folded::text(text),
            token @ Token::Mixed(_) => Folded::Value(self.string(token)?),
            Token::Sign('(') if self.language == Language::Lisp => {
                let close = self.close(start);
                let (head, arguments) = match self.name(start + 1) {
                    Some(name) => (name, self.items(start + 2, close, depth)?),
                    None => return None,
                };
                *at = close + 1;
                self.called(head, arguments)?
            }
            Token::Sign('(' | '[') => {
                let close = self.close(start);
                let mut items = self.items(start + 1, close, depth)?;
                *at = close + 1;
                if items.len() == 1 && self.is_sign(start, '(') { items.pop()? } else { Folded::List(items) }
            }
            Token::Sign('\\' | '\'' | '@' | '#' | '$' | '&') => self.part(at, end, depth + 1)?,
            Token::Name(name) => self.named_part(name, at, end, depth)?,
            Token::Command(_) | Token::Sign(_) => return None,
        };
        loop {
            // `"vne."[::-1]`
            let slice = self.tokens.get(*at..*at + 6).unwrap_or_default();
            if is_reversal(slice) && *at < end {
                part = apply(Decoder::Reverse, None, vec![part], "")?;
                *at += 6;
                continue;
            }
            let joins = matches!(self.language, Language::Php | Language::Perl);
            let is_dot = self.is_sign(*at, '.') && !joins || self.is_sign(*at, ':');
            let Some(methods) = self.name(*at + 1).filter(|_| is_dot && *at + 1 < end) else { return Some(part) };
            let open = *at + 2;
            let has_arguments = self.is_sign(open, '(') && open < end;
            let arguments = if has_arguments { self.items(open + 1, self.close(open), depth)? } else { Vec::new() };
            *at = if has_arguments { self.close(open) + 1 } else { open };
            part = self.methods(part, methods, arguments)?;
        }
    }

    /// Methods that are called one after the other; the last one is given the arguments.
    fn methods(&self, object: Folded, names: &str, arguments: Vec<Folded>) -> Option<Folded> {
        let mut object = object;
        let mut arguments = Some(arguments);
        let mut names = names.split('.').peekable();
        while let Some(name) = names.next() {
            let given = if names.peek().is_none() { arguments.take().unwrap_or_default() } else { Vec::new() };
            let decoder = Decoder::of(name)?;
            // `path.join("a")`; a separator has a list behind it.
            let is_path =
                name == "join" && !given.is_empty() && !given.iter().any(|item| matches!(item, Folded::List(_)));
            let is_path = is_path && matches!(object, Folded::Value(_));
            object = apply(decoder, Some(object), given, if is_path { "/" } else { "" })?;
        }
        Some(object)
    }

    fn named_part(&self, name: &str, at: &mut usize, end: usize, depth: usize) -> Option<Folded> {
        if let Some(number) = number(name) {
            return Some(Folded::Number(number));
        }
        if let Some((value, behind)) = self.home_at(*at - 1).filter(|(_, behind)| *behind <= end) {
            *at = behind;
            return Some(Folded::Value(value));
        }
        if matches!(name, "new" | "await" | "return" | "my" | "let" | "const" | "var" | "quote") {
            return self.part(at, end, depth + 1);
        }
        let bracket = *at < end && matches!(self.token(*at), Some(Token::Sign('(' | '[')));
        if let [only] = self.values_of(name) {
            return Some(Folded::Value(only.clone()));
        }
        if !bracket {
            // `x.reverse`
            if let Some((object, method)) = name.rsplit_once('.')
                && let [only] = self.values_of(object)
            {
                return self.methods(Folded::Value(only.clone()), method, Vec::new());
            }
            return Decoder::of(name).map(Folded::Function);
        }
        let close = self.close(*at);
        let arguments = self.items(*at + 1, close, depth)?;
        *at = close + 1;
        self.called(name, arguments)
    }

    /// The result of a function.
    fn called(&self, name: &str, arguments: Vec<Folded>) -> Option<Folded> {
        if let Some((object, method)) = name.rsplit_once('.')
            && let [only] = self.values_of(object)
        {
            return self.methods(Folded::Value(only.clone()), method, arguments);
        }
        let last = last_component(name);
        let is_path = lists(&code::WORDS_PATHS, last)
            && (name.to_ascii_lowercase().contains("path")
                || name.contains("ile")
                || name.contains("URI")
                || name == "join" && matches!(self.language, Language::Node | Language::Python));
        match Decoder::of(name) {
            Some(decoder) => apply(decoder, None, arguments, if is_path { "/" } else { "" }),
            None if is_path => join(arguments, false, "/"),
            None => None,
        }
    }

    /// The parts of a list or of the arguments of a call.
    fn items(&self, start: usize, end: usize, depth: usize) -> Option<Vec<Folded>> {
        let mut items = Vec::new();
        let mut at = start;
        let end = end.min(self.tokens.len());
        while at < end {
            match self.token(at)? {
                Token::Sign(',' | ';') => at += 1,
                // `[..."text"]`
                Token::Sign('.') if self.is_sign(at + 1, '.') && self.is_sign(at + 2, '.') => {
                    at += 3;
                    let text = self.part(&mut at, end, depth + 1)?.known()?;
                    items.extend(text.chars().map(|c| Folded::text(&c.to_string())));
                }
                // The name of an argument: `text = "x"`.
                Token::Name(_) if self.is_sign(at + 1, '=') => at += 2,
                Token::Name(_) | Token::Text(_) | Token::Mixed(_) | Token::Command(_) | Token::Sign(_) => {
                    let is_lisp = self.language == Language::Lisp;
                    let item =
                        if is_lisp { self.part(&mut at, end, depth + 1) } else { self.sum(&mut at, end, depth + 1) };
                    items.push(item?);
                }
            }
        }
        Some(items)
    }
}

/// `[::-1]`
pub(super) fn is_reversal(tokens: &[Token]) -> bool {
    matches!(tokens, [Token::Sign('['), Token::Sign(':'), Token::Sign(':'), Token::Sign('-'), Token::Name(one), Token::Sign(']'), ..] if one == "1")
}
