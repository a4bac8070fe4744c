//! `read` and `mapfile`: variables that are set from standard input.

use super::super::state::Value;
use super::super::{Arg, Command, FIELD_SEPARATOR, Input, expand};
use super::execution::Execution;
use std::rc::Rc;

/// The options of `read` that take a value.
const READ_VALUED: &str = "adinNptu";

/// The options of `mapfile` that take a value.
const MAPFILE_VALUED: &str = "cCdnOsu";

/// The maximum of combinations of the fields that a loop reads; with more, the values are unknown.
const MAX_COMBINATIONS: usize = 64;

impl Execution {
    /// Sets the variables of `read` or `mapfile`, which may be names of protected files.
    pub(super) fn read_names(&mut self, command: &Command) {
        let names = self.names_read(command);
        self.read_input(command);
        if names.is_empty() {
            return;
        }
        let default = if command.program == "read" { "REPLY" } else { "MAPFILE" };
        let words = command.args.iter().map(|arg| arg.text.as_str()).filter(|word| !word.starts_with('-'));
        for variable in words.chain([default]) {
            self.add_names(variable, &names);
            self.add_names(&format!("{variable}[0]"), &names);
            // The first word may be any one: `"${x[@]}"` may run any program.
            let all = Value::Words([expand::unknown_arg()].into_iter().chain(names.iter().cloned()).collect());
            let is_array = command.program != "read" || command.args.iter().any(|arg| arg.text.contains('a'));
            if is_array {
                Rc::make_mut(&mut self.state).variables.insert(format!("{variable}[@]"), all);
            }
        }
    }

    /// Sets the variables of `read` or `mapfile` to what is known of the input.
    fn read_input(&mut self, command: &Command) {
        let mut names: Vec<&str> = Vec::new();
        let mut array = None;
        let mut has_options = false;
        let mut words = command.args.iter();
        let takes_value = if command.program == "read" { READ_VALUED } else { MAPFILE_VALUED };
        while let Some(word) = words.next() {
            let Some(letters) = word.text.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
                names.push(word.text.as_str());
                continue;
            };
            // A letter that takes a value takes the rest of the word, or the next word.
            let valued = letters.char_indices().find(|(_, letter)| takes_value.contains(*letter));
            if let Some((at, letter)) = valued {
                let rest = letters.get(at + 1..).filter(|rest| !rest.is_empty());
                let value = rest.or_else(|| words.next().map(|word| word.text.as_str()));
                if letter == 'a' && command.program == "read" {
                    array = value;
                } else {
                    has_options |= !matches!(letter, 'p' | 't' | 'i');
                }
            }
        }
        let is_raw = command.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('r'));
        let text = match &command.input {
            Input::Text(text) if !has_options && (is_raw || !text.contains('\\')) => Some(text.as_ref()),
            Input::Text(_) | Input::Inherited | Input::Pipe | Input::Unknown => None,
        };
        if command.program != "read" {
            let name = names.first().copied().unwrap_or("MAPFILE");
            let trims = command.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('t'));
            return self.set_words(name, text.filter(|_| trims).map(|text| text.lines().map(str::to_owned).collect()));
        }
        self.set("REPLY", Value::Unknown);
        let separators = match (command.env.iter().find(|(name, _)| name == "IFS"), self.state.value("IFS")) {
            (Some((_, value)), _) => value.clone(),
            (None, Some(Value::Known(value))) => Some(value.clone()),
            (None, Some(_)) => None,
            (None, None) => Some(" \t\n".to_owned()),
        };
        // In a loop, each line is read in turn.
        let lines: Option<Vec<&str>> = text.zip(separators.as_ref()).map(|(text, _)| {
            let count = if self.lists.iter().any(|list| list.input.is_some()) { usize::MAX } else { 1 };
            text.lines().take(count).collect()
        });
        let separators = separators.unwrap_or_default();
        if let Some(name) = array {
            let split = |line: &&str| fields(line, &separators, usize::MAX);
            let one = lines.filter(|lines| lines.len() == 1).and_then(|lines| lines.first().map(split));
            return self.set_words(name, one);
        }
        if names.is_empty() {
            names.push("REPLY");
        }
        let count = names.len();
        // The columns of one line belong together; all combinations of many would be too many.
        let is_small = |lines: &Vec<&str>| {
            let exponent = u32::try_from(count).unwrap_or(u32::MAX);
            count == 1 || lines.len().checked_pow(exponent).is_some_and(|product| product <= MAX_COMBINATIONS)
        };
        let lines = lines.filter(is_small);
        let rows: Option<Vec<Vec<String>>> =
            lines.map(|lines| lines.into_iter().map(|line| fields(line, &separators, count)).collect());
        for (at, name) in names.into_iter().enumerate() {
            let column = rows.as_ref().map(|rows| {
                rows.iter().map(|row| Arg::literal(row.get(at).map_or("", String::as_str))).collect::<Vec<Arg>>()
            });
            let value = column.map_or(Value::Unknown, |column| Value::from_args(&column));
            self.state.meter.charge(value.size());
            self.set(name, value);
        }
    }

    /// Sets an array to these words, or makes it unknown.
    fn set_words(&mut self, name: &str, words: Option<Vec<String>>) {
        let first = words.as_ref().and_then(|words| words.first().cloned());
        self.set(name, first.map_or(Value::Unknown, Value::Known));
        let all = words.as_ref().map_or(Value::Unknown, |words| Value::Known(words.join(FIELD_SEPARATOR)));
        self.state.meter.charge(2 * all.size());
        let variables = &mut Rc::make_mut(&mut self.state).variables;
        variables.insert(format!("{name}[@]"), all);
        for (at, word) in words.into_iter().flatten().enumerate() {
            variables.insert(format!("{name}[{at}]"), Value::Known(word));
        }
    }
}

/// Splits a line into at most `count` fields; the last one is the rest of the line.
fn fields(line: &str, separators: &str, count: usize) -> Vec<String> {
    let blanks: Vec<char> = separators.chars().filter(|c| c.is_whitespace()).collect();
    let mut found = Vec::new();
    let mut rest = line.trim_matches(blanks.as_slice());
    while found.len() + 1 < count && !rest.is_empty() {
        let Some(end) = rest.find(|c| separators.contains(c)) else { break };
        let (field, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
        found.push(field.to_owned());
        let behind = behind.trim_start_matches(blanks.as_slice());
        // One separator that is not blank ends a field, with the blanks around it.
        let other = behind.chars().next().filter(|c| separators.contains(*c) && !blanks.contains(c));
        let behind = other.and_then(|c| behind.get(c.len_utf8()..)).unwrap_or(behind);
        rest = behind.trim_start_matches(blanks.as_slice());
    }
    if !rest.is_empty() {
        found.push(rest.to_owned());
    }
    found
}
