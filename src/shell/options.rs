//! Options: which of them take the next word, and so what is an operand.

use super::Arg;

/// Words among others; most commands have few.
pub(super) type Operands<'a> = Vec<&'a Arg>;

/// The options of a program that take a value.
pub(super) struct Options {
    pub short: &'static str,
    pub long: &'static [&'static str],
}

/// Options without a value whose names begin the name of one with a value: `curl --head` is no `--header`.
const FLAGS: [&str; 8] = ["crlf", "detach", "head", "http", "index", "netrc", "parallel", "wait"];

impl Options {
    /// No option takes a value.
    pub const NONE: Options = Options { short: "", long: &[] };

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

    /// The words behind the options.
    pub fn behind<'a>(&self, args: &'a [Arg]) -> &'a [Arg] {
        args.get(self.end(args)..).unwrap_or_default()
    }

    /// The long option that a name means: GNU takes any beginning of one, and a whole name is itself.
    pub fn meant<'a>(&self, name: &'a str) -> &'a str {
        let whole = name.is_empty() || self.long.contains(&name) || FLAGS.contains(&name);
        let begun = self.long.iter().copied().find(|long| !whole && long.starts_with(name));
        begun.unwrap_or(name)
    }

    /// Whether the option's value is the next word.
    fn takes_next(&self, option: &str) -> bool {
        match option.strip_prefix("--") {
            Some(long) => self.long.contains(&self.meant(long)),
            None if !option.starts_with('-') => false,
            // In a cluster, the first letter that takes a value takes the rest of the word.
            None => option
                .chars()
                .skip(1)
                .position(|letter| self.short.contains(letter))
                .is_some_and(|at| at + 2 == option.chars().count()),
        }
    }

    /// The words that are neither options nor their values, wherever they stand.
    pub fn operands<'a>(&self, args: &'a [Arg]) -> Operands<'a> {
        let mut found = Operands::new();
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
        self.values_before(args, names, self.end(args)).into_iter().next()
    }

    /// The same, also behind operands.
    pub fn anywhere(&self, args: &[Arg], names: &str) -> Option<Arg> {
        self.values(args, names).into_iter().next()
    }

    /// All values of it, wherever they stand.
    pub fn values(&self, args: &[Arg], names: &str) -> Vec<Arg> {
        let end = args.iter().position(|arg| arg.text == "--").unwrap_or(args.len());
        self.values_before(args, names, end)
    }

    fn values_before(&self, args: &[Arg], names: &str, end: usize) -> Vec<Arg> {
        let named = |name: &str| names.split(' ').any(|known| known == name);
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(arg) = args.get(at).filter(|_| at < end) {
            let next = args.get(at + 1);
            if let Some(long) = arg.text.strip_prefix("--") {
                match long.split_once('=') {
                    Some((name, _)) if named(self.meant(name)) => {
                        found.extend(arg.behind(&format!("--{name}=")));
                    }
                    None if named(self.meant(long)) => found.extend(next.cloned()),
                    _ => {}
                }
            } else if let Some(cluster) = arg.text.strip_prefix('-') {
                for (index, letter) in cluster.char_indices() {
                    if named(letter.encode_utf8(&mut [0; 4])) {
                        let attached =
                            arg.text.get(..index + 1 + letter.len_utf8()).and_then(|start| arg.behind(start));
                        found.extend(attached.filter(|value| !value.text.is_empty()).or_else(|| next.cloned()));
                        break;
                    }
                    if self.short.contains(letter) {
                        break;
                    }
                }
            }
            at += if self.takes_next(&arg.text) { 2 } else { 1 };
        }
        found
    }
}

impl Arg {
    /// The word without its beginning.
    pub(crate) fn behind(&self, start: &str) -> Option<Arg> {
        let text = self.text.strip_prefix(start)?.into();
        Some(Arg { text, known: self.known.map(|known| known.saturating_sub(start.len())), glob: self.glob })
    }
}
