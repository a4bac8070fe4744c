//! Shell text: which commands a line runs, with which words.
//!
//! This reading serves the quarantine notice, where a wrong guess costs one superfluous or missing line. It knows
//! quotes, lists, pipelines, substitutions, comments, heredocs and the common prefixes, in one pass without recursion.

/// One command of a line: its words after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    words: Vec<String>,
}

impl Command {
    /// The program's base name.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", |word| word.rsplit('/').next().unwrap_or_default())
    }

    /// The arguments that are neither options nor the values of `valued` short options.
    pub fn operands(&self, valued: &str) -> impl Iterator<Item = &str> {
        let mut value = false;
        self.words.iter().skip(1).map(String::as_str).filter(move |word| {
            let option = word.starts_with('-') && word.len() > 1;
            let operand = !option && !value;
            value = option && !word.starts_with("--") && word.chars().last().is_some_and(|last| valued.contains(last));
            operand
        })
    }

    /// Whether one of these words is an argument.
    pub fn has_any(&self, words: &[&str]) -> bool {
        self.words.iter().skip(1).any(|word| words.contains(&word.as_str()))
    }
}

/// Every command that the line would run, in the order in which they end.
pub fn commands(line: &str) -> Vec<Command> {
    Reader::default().read(line)
}

/// A list of commands that is being read: the line itself or a substitution in it.
#[derive(Debug, Default)]
struct Frame {
    words: Vec<String>,
    word: Option<String>,
    /// The next word is where output goes.
    to_file: bool,
    /// The double-quoted string that the list stands in goes on behind it.
    quoted: bool,
    close: Option<char>,
}

#[derive(Debug, Default)]
struct Reader {
    done: Vec<Command>,
    outer: Vec<Frame>,
    frame: Frame,
    heredocs: Vec<String>,
}

impl Reader {
    fn read(mut self, line: &str) -> Vec<Command> {
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            let ahead = chars.peek().copied();
            if Some(c) == self.frame.close && !self.frame.quoted {
                self.leave();
                continue;
            }
            match (c, ahead) {
                ('$', Some('(')) => {
                    chars.next();
                    self.enter(')');
                }
                ('`', _) => self.enter('`'),
                ('\\', _) => {
                    if let Some(next) = chars.next().filter(|next| *next != '\n') {
                        self.push(next);
                    }
                }
                ('"', _) => self.toggle_quotes(),
                _ if self.frame.quoted => self.push(c),
                ('\'', _) => {
                    self.frame.word.get_or_insert_default();
                    chars.by_ref().take_while(|c| *c != '\'').for_each(|c| self.push(c));
                }
                ('#', _) if self.frame.word.is_none() => while chars.next_if(|c| *c != '\n').is_some() {},
                ('<', Some('<')) => {
                    chars.next();
                    if chars.next_if_eq(&'<').is_none() {
                        chars.next_if_eq(&'-');
                        self.heredocs.push(delimiter(&mut chars));
                    }
                    self.end_word();
                }
                ('>', _) => {
                    while chars.next_if(|c| matches!(c, '>' | '&' | '|')).is_some() {}
                    // `2>&1`: the digits before are a descriptor, not a word.
                    if self.frame.word.as_ref().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit())) {
                        self.frame.word = None;
                    }
                    self.end_word();
                    self.frame.to_file = true;
                }
                ('\n', _) => {
                    self.end_command();
                    for delimiter in std::mem::take(&mut self.heredocs) {
                        skip_body(&mut chars, &delimiter);
                    }
                }
                (';' | '&' | '|' | '(' | ')', _) => self.end_command(),
                (' ' | '\t' | '<', _) => self.end_word(),
                _ => self.push(c),
            }
        }
        while !self.outer.is_empty() {
            self.leave();
        }
        self.end_command();
        self.done
    }

    fn push(&mut self, c: char) {
        self.frame.word.get_or_insert_default().push(c);
    }

    fn toggle_quotes(&mut self) {
        self.frame.quoted = !self.frame.quoted;
        self.frame.word.get_or_insert_default();
    }

    fn enter(&mut self, close: char) {
        self.frame.word.get_or_insert_default();
        let inner = Frame { close: Some(close), ..Frame::default() };
        self.outer.push(std::mem::replace(&mut self.frame, inner));
    }

    fn leave(&mut self) {
        self.end_command();
        self.frame = self.outer.pop().unwrap_or_default();
    }

    fn end_word(&mut self) {
        if let Some(word) = self.frame.word.take()
            && !std::mem::take(&mut self.frame.to_file)
        {
            self.frame.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.frame.to_file = false;
        let mut words = std::mem::take(&mut self.frame.words);
        // `command -v curl` asks where it is.
        if let [.., asks, how, _] = words.as_slice()
            && asks == "command"
            && matches!(how.as_str(), "-v" | "-V")
        {
            words.clear();
        }
        words.drain(..prefix(&words));
        if !words.is_empty() {
            self.done.push(Command { words });
        }
    }
}

/// How many words stand before the program: assignments, keywords, and programs that run their arguments.
fn prefix(words: &[String]) -> usize {
    const KEYWORDS: [&str; 9] = ["if", "then", "else", "elif", "do", "while", "until", "!", "{"];
    const RUNNERS: [&str; 12] =
        ["builtin", "command", "doas", "env", "exec", "nice", "nohup", "stdbuf", "sudo", "time", "timeout", "xargs"];
    let mut behind_runner = false;
    let program = words.iter().position(|word| {
        let assignment = word
            .split_once('=')
            .is_some_and(|(name, _)| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'));
        let runner = RUNNERS.contains(&word.as_str());
        let of_runner = behind_runner && (word.starts_with('-') || word.starts_with(|c: char| c.is_ascii_digit()));
        behind_runner |= runner;
        !(assignment || runner || of_runner || KEYWORDS.contains(&word.as_str()))
    });
    program.unwrap_or(words.len())
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The word behind `<<`, without its quotes.
fn delimiter(chars: &mut Chars<'_>) -> String {
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    let mut word = String::new();
    while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !";&|<>()".contains(*c)) {
        if !matches!(c, '\'' | '"' | '\\') {
            word.push(c);
        }
    }
    word
}

/// Passes over a heredoc's body and the line that ends it.
fn skip_body(chars: &mut Chars<'_>, delimiter: &str) {
    while chars.peek().is_some() {
        let line: String = chars.by_ref().take_while(|c| *c != '\n').collect();
        if line.trim_start_matches('\t') == delimiter {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn programs(line: &str) -> Vec<String> {
        commands(line).iter().map(|command| command.program().to_owned()).collect()
    }

    #[test]
    fn commands_are_found_where_they_run() {
        for (line, expected) in [
            ("curl -s https://e.example/ | jq .", vec!["curl", "jq"]),
            ("cd x && FOO=1 /usr/bin/curl x", vec!["cd", "curl"]),
            ("echo \"got $(curl e.example)\"", vec!["curl", "echo"]),
            ("sudo -n timeout 5 wget x", vec!["wget"]),
            ("if curl x; then echo; fi", vec!["curl", "echo", "fi"]),
            ("make 2>&1 | tee log", vec!["make", "tee"]),
            ("c'ur'l x # not a comment: curl", vec!["curl"]),
            ("echo \"$(echo \"a)b\"; curl x)\"", vec!["echo", "curl", "echo"]),
        ] {
            assert_eq!(programs(line), expected, "{line}");
        }
    }

    #[test]
    fn data_is_no_command() {
        for line in [
            "git commit -m 'then; curl x'",
            "git commit -m \"run; curl x\"",
            "git commit -m \"$(cat <<'EOF'\ncurl x\nEOF\n)\"",
            "cat > notes.md <<EOF\ncurl x | sh\nEOF",
            "echo hi # ; curl x",
            "echo x > curl",
        ] {
            assert!(!programs(line).contains(&"curl".to_owned()), "{line}");
        }
    }
}
