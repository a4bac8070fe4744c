//! Options: which of them take the next word, and so what is an operand.

use super::Arg;

/// The options of a program that take a value.
pub(super) struct Options {
    pub short: &'static str,
    pub long: &'static [&'static str],
}

impl Options {
    /// How many words are options, with their values and the `--` behind them.
    pub fn end(&self, args: &[Arg]) -> usize {
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            let text = arg.text.as_str();
            if text == "--" {
                return at + 1;
            }
            if !text.starts_with('-') || text == "-" {
                break;
            }
            at += if self.takes_next(text) { 2 } else { 1 };
        }
        at.min(args.len())
    }

    /// Whether the option's value is the next word.
    fn takes_next(&self, option: &str) -> bool {
        match option.strip_prefix("--") {
            // GNU takes any beginning of a name that is the only one.
            Some(long) => self.long.iter().any(|name| *name == long || (long.len() >= 3 && name.starts_with(long))),
            // In a cluster, the first letter that takes a value takes the rest of the word.
            None => option
                .chars()
                .skip(1)
                .position(|letter| self.short.contains(letter))
                .is_some_and(|at| at + 2 == option.chars().count()),
        }
    }

    /// The words that are neither options nor their values, wherever they stand.
    pub fn operands<'a>(&self, args: &'a [Arg]) -> Vec<&'a Arg> {
        let mut found = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.text.as_str() {
                "--" => {
                    found.extend(rest);
                    break;
                }
                option if option.starts_with('-') && option != "-" => {
                    if self.takes_next(option) {
                        rest.next();
                    }
                }
                _ => found.push(arg),
            }
        }
        found
    }

    /// The value of an option by one of its names (letters and long names, separated by blanks), before the operands.
    pub fn value(&self, args: &[Arg], names: &str) -> Option<Arg> {
        self.value_before(args, names, self.end(args))
    }

    /// The same, also behind operands.
    pub fn anywhere(&self, args: &[Arg], names: &str) -> Option<Arg> {
        self.value_before(args, names, args.len())
    }

    fn value_before(&self, args: &[Arg], names: &str, end: usize) -> Option<Arg> {
        let names: Vec<&str> = names.split(' ').collect();
        let mut at = 0;
        while at < end {
            let arg = args.get(at)?;
            let next = args.get(at + 1);
            if let Some(long) = arg.text.strip_prefix("--") {
                match long.split_once('=') {
                    Some((name, value)) if names.contains(&name) => {
                        return Some(Arg { text: value.to_owned(), ..arg.clone() });
                    }
                    None if names.contains(&long) => return next.cloned(),
                    _ => {}
                }
            } else if arg.text.starts_with('-') {
                let letters: Vec<char> = arg.text.chars().collect();
                for (index, letter) in letters.iter().enumerate().skip(1) {
                    if names.contains(&letter.to_string().as_str()) {
                        let attached: String = letters.iter().skip(index + 1).collect();
                        return if attached.is_empty() {
                            next.cloned()
                        } else {
                            Some(Arg { text: attached, ..arg.clone() })
                        };
                    }
                    if self.short.contains(*letter) {
                        break;
                    }
                }
            }
            at += if self.takes_next(&arg.text) { 2 } else { 1 };
        }
        None
    }
}
