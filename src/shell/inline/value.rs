//! Values of expressions: strings, the home directory, and what is composed of them.

use super::Word;

/// The expansion that stands in shell text for a value that is not known.
const UNKNOWN: &str = "$1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Home,
    Unknown,
    /// A text that the code decodes from something that is not known.
    Decoded,
    /// A name in the listing of a directory: its known end, and patterns for the hidden names among them.
    Listed {
        end: String,
        hidden: Vec<String>,
    },
}

/// The value of an expression, as far as it can be known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Value(pub(super) Vec<Part>);

impl Value {
    pub fn unknown() -> Value {
        Value(vec![Part::Unknown])
    }

    pub fn of_text(text: &str) -> Value {
        Value(vec![Part::Text(text.to_owned())])
    }

    /// A name in the listing of a directory.
    pub fn listed(end: &str, hidden: Vec<String>) -> Value {
        Value(vec![Part::Listed { end: end.to_owned(), hidden }])
    }

    pub fn home() -> Value {
        Value(vec![Part::Home])
    }

    /// Whether nothing of it is known.
    pub fn is_unknown(&self) -> bool {
        let is_known = |part: &Part| match part {
            Part::Text(text) => !text.is_empty(),
            Part::Home | Part::Listed { .. } => true,
            Part::Unknown | Part::Decoded => false,
        };
        !self.0.iter().any(is_known)
    }

    /// Whether all of it is known, but for the home directory.
    pub fn is_complete(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|part| matches!(part, Part::Text(_) | Part::Home))
    }

    /// Whether it is a literal of more than three bytes with a slash, which may be a path.
    pub fn is_path_text(&self) -> bool {
        matches!(self.0.as_slice(), [Part::Text(text)] if text.contains('/') && text.len() > 3)
    }

    /// Whether the code decodes it from something that is not known.
    pub fn is_decoded(&self) -> bool {
        self.0.contains(&Part::Decoded)
    }

    /// The same names of a listing, of which the end and those of hidden files are known.
    pub fn narrowed(mut self, ending: &str, names: Vec<String>) -> Value {
        if let Some(Part::Listed { end, hidden }) = self.0.last_mut() {
            ending.clone_into(end);
            *hidden = names;
        }
        self
    }

    /// Whether it ends with a name in the listing of a directory.
    pub fn is_listed(&self) -> bool {
        matches!(self.0.last(), Some(Part::Listed { .. }))
    }

    /// The hidden files among the names in a listing of the working directory, the one above it or the home directory.
    pub fn hidden_words(&self) -> Vec<Word> {
        let Some((Part::Listed { hidden, .. }, before)) = self.0.split_last() else { return Vec::new() };
        let is_top = match before {
            [] | [Part::Home] => true,
            [Part::Home, Part::Text(base)] => base.chars().all(|c| matches!(c, '/' | '*')),
            [Part::Text(base)] => base.chars().all(|c| matches!(c, '.' | '/' | '*')),
            _ => false,
        };
        let names = hidden.iter().filter(|_| is_top);
        names.map(|name| Value([before, &[Part::Text(name.clone())]].concat()).word()).collect()
    }

    /// Adds a text behind it.
    pub fn attach(&mut self, value: Value) {
        self.extend(value, &mut Joint::Text);
    }

    /// The text, if all of it is known.
    pub fn text(&self) -> Option<String> {
        self.0.iter().map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None }).collect()
    }

    /// The path of a file below it.
    pub fn joined(mut self, below: &str) -> Value {
        self.push(Part::Text(below.to_owned()), &mut Joint::Path);
        self
    }

    pub fn length(&self) -> usize {
        self.0.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 1 }).sum()
    }

    /// Whether it begins with the home directory.
    pub fn is_at_home(&self) -> bool {
        self.0.first() == Some(&Part::Home)
    }

    /// Whether it is more than one string.
    pub fn is_composed(&self) -> bool {
        self.0.len() > 1
    }

    /// The value as a path or a word.
    pub fn word(&self) -> Word {
        let mut word = Word { text: String::new(), known: None };
        for (index, part) in self.0.iter().enumerate() {
            match part {
                Part::Text(text) if index == 1 && word.text == "~/" => word.text.push_str(text.trim_start_matches('/')),
                Part::Text(text) => word.text.push_str(text),
                Part::Home if index == 0 => word.text.push_str("~/"),
                Part::Listed { end, .. } => word.text.extend(["*", end]),
                Part::Home | Part::Unknown | Part::Decoded => {
                    word.known = word.known.or(Some(word.text.len()));
                    word.text.push_str("$()");
                }
            }
        }
        word
    }

    /// The value as shell text.
    pub fn shell_text(&self) -> String {
        let mut shell = String::new();
        let (mut in_single, mut in_double) = (false, false);
        for part in &self.0 {
            let expansion = match part {
                Part::Text(text) => {
                    for c in text.chars() {
                        match c {
                            '\'' if !in_double => in_single = !in_single,
                            '"' if !in_single => in_double = !in_double,
                            _ => {}
                        }
                    }
                    shell.push_str(text);
                    continue;
                }
                Part::Home => "${HOME}",
                Part::Listed { .. } => "*",
                Part::Unknown | Part::Decoded => UNKNOWN,
            };
            if in_single {
                shell.extend(["'\"", expansion, "\"'"]);
            } else {
                shell.push_str(expansion);
            }
        }
        shell
    }

    pub fn push(&mut self, part: Part, joint: &mut Joint) {
        if *joint == Joint::Path && !self.0.is_empty() {
            let ends = matches!(self.0.last(), Some(Part::Text(text)) if text.ends_with('/'));
            let starts = matches!(&part, Part::Text(text) if text.starts_with('/'));
            if !ends && !starts {
                self.append("/");
            }
        }
        *joint = Joint::Text;
        match part {
            Part::Text(text) => self.append(&text),
            part @ (Part::Home | Part::Unknown | Part::Decoded | Part::Listed { .. }) => self.0.push(part),
        }
    }

    pub fn append(&mut self, text: &str) {
        match self.0.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.0.push(Part::Text(text.to_owned())),
        }
    }

    pub fn extend(&mut self, value: Value, joint: &mut Joint) {
        value.0.into_iter().for_each(|part| self.push(part, joint));
    }

    /// The value with a part in place of each placeholder of a format: `%s`, `{}`.
    pub fn formatted(self, begin: char, end: &[char]) -> Value {
        let mut value = Value::default();
        for part in self.0 {
            let Part::Text(text) = part else {
                value.0.push(part);
                continue;
            };
            let mut rest = text.as_str();
            while let Some((before, behind)) = rest.split_once(begin) {
                value.append(before);
                value.0.push(Part::Unknown);
                rest = behind.find(end).and_then(|at| behind.get(at + 1..)).unwrap_or_default();
            }
            value.append(rest);
        }
        value
    }
}

/// How the next part is joined to those before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    Text,
    Path,
}
