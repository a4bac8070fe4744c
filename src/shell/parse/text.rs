//! Quotes, escapes and expansions: what stands within words.

use super::super::syntax::{Backquoted, Instruction, LoopVariable, Scope, Trim, Unreadable, Variable, WordPart};
use super::list::ListEnd;
use super::{ArithForm, FrameKind, Parser, ansi};
use crate::verdict::limits::SHELL_DEPTH;

impl Parser<'_> {
    /// `\x` outside quotes.
    pub(super) fn parse_backslash(&mut self) {
        let mut ahead = self.rest().chars().skip(1);
        match ahead.next() {
            // POSIX 2.2.1: a backslash before a line end joins the lines, also inside a word.
            Some('\n') => self.at += 2,
            Some(c) => {
                self.push(&c.to_string(), true);
                self.at += 1 + c.len_utf8();
            }
            None => {
                self.push("\\", true);
                self.at += 1;
            }
        }
    }

    /// `'…'`
    pub(super) fn parse_single_quotes(&mut self) {
        let inner = self.rest().get(1..).unwrap_or_default();
        let length = inner.find('\'');
        let text = inner.get(..length.unwrap_or(inner.len())).unwrap_or_default();
        if length.is_none() {
            let at = self.at;
            self.report(Unreadable::Unterminated("'"), at);
        }
        self.push(text, true);
        self.at = (self.at + text.len() + 2).min(self.end);
    }

    pub(super) fn open_double(&mut self) {
        self.begin_word();
        self.at += 1;
        self.open(FrameKind::Double);
    }

    /// One byte within `"…"`.
    pub(super) fn parse_double_quoted_byte(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.at += 1;
                let Some(frame) = self.frames.pop() else { return };
                self.push("", true);
                for part in frame.parts {
                    match part {
                        WordPart::Quoted(text) | WordPart::Plain(text) => self.push(&text, true),
                        WordPart::Variable(_)
                        | WordPart::Output { .. }
                        | WordPart::List(_)
                        | WordPart::Unknown { .. } => self.add(part),
                    }
                }
            }
            b'\\' => self.parse_escape("$`\"\\"),
            b'$' => self.parse_dollar(true),
            b'`' => self.parse_backquotes(true),
            _ => self.push_until("\"\\$`"),
        }
    }

    /// A backslash where it escapes only some characters.
    pub(super) fn parse_escape(&mut self, escapable: &str) {
        match self.rest().chars().nth(1) {
            Some('\n') => self.at += 2,
            Some(c) if escapable.contains(c) => {
                self.push(&c.to_string(), true);
                self.at += 2;
            }
            _ => {
                self.push("\\", true);
                self.at += 1;
            }
        }
    }

    /// Characters up to the next special one, as they are.
    pub(super) fn push_until(&mut self, special: &str) {
        let rest = self.rest();
        let length = rest.find(|c| special.contains(c)).unwrap_or(rest.len());
        self.push(rest.get(..length).unwrap_or_default(), true);
        self.at += length.max(1);
    }

    /// One byte within `name[ … ]`.
    pub(super) fn parse_subscript_byte(&mut self, byte: u8) {
        let FrameKind::Subscript { depth } = self.top().kind else { return };
        let nest = |parser: &mut Self, depth: usize, sign: &str| {
            parser.top().kind = FrameKind::Subscript { depth };
            parser.push(sign, true);
            parser.at += 1;
        };
        match byte {
            b']' if depth == 0 => {
                self.at += 1;
                let Some(frame) = self.frames.pop() else { return };
                self.top().parts.extend(frame.parts);
                self.top().parts.push(WordPart::Plain("]".into()));
            }
            b']' => nest(self, depth - 1, "]"),
            b'[' => nest(self, depth + 1, "["),
            b'\\' => self.parse_backslash(),
            b'\'' => {
                self.check_evaluated_quotes();
                self.parse_single_quotes();
            }
            b'"' => self.open_double(),
            b'$' => self.parse_dollar(true),
            b'`' => self.parse_backquotes(true),
            _ => self.push_until("[]\\'\"$`"),
        }
    }

    /// In a subscript, and in `"${x:-…}"`, single quotes do not keep an expansion from being run.
    fn check_evaluated_quotes(&mut self) {
        let inner = self.rest().get(1..).unwrap_or_default().split('\'').next().unwrap_or_default();
        if inner.contains("$(") || inner.contains('`') || inner.contains("<(") {
            let at = self.at;
            self.report(Unreadable::Ambiguous("an expansion in quotes that are only characters here"), at);
        }
    }

    /// `$…`, in a word or in quotes.
    pub(super) fn parse_dollar(&mut self, quoted: bool) {
        if self.looking_at("$\\\n") {
            let at = self.at;
            self.report(Unreadable::Ambiguous("a line end between `$` and what it expands"), at);
        }
        match self.peek(1) {
            Some(b'(') if self.peek(2) == Some(b'(') && self.is_arith(self.at + 3) => {
                self.begin_word();
                self.at += 3;
                self.open(FrameKind::Arith { form: ArithForm::Word { quoted }, depth: 0 });
            }
            Some(b'(') => {
                self.begin_word();
                self.at += 2;
                self.substitutions += 1;
                let number = self.substitutions;
                self.open_list(ListEnd::Substitution { number, quoted }, Scope::Substitution(number));
            }
            Some(b'[') => {
                self.begin_word();
                self.at += 2;
                self.open(FrameKind::Arith { form: ArithForm::Bracket { quoted }, depth: 0 });
            }
            Some(b'{') => self.parse_param(quoted),
            Some(b'\'') if !quoted => self.parse_ansi_c_quotes(),
            Some(b'"') if !quoted => {
                self.at += 1;
                self.open_double();
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let rest = self.rest().get(1..).unwrap_or_default();
                let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let name = rest.get(..length).unwrap_or_default().to_owned();
                self.add(Variable::plain(name, quoted));
                self.at += 1 + length;
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                let name = char::from(byte).to_string();
                self.add(Variable::plain(name, quoted));
                self.at += 2;
            }
            _ => {
                self.push("$", quoted);
                self.at += 1;
            }
        }
    }

    /// `${…`: the name, and a frame for what follows it.
    fn parse_param(&mut self, quoted: bool) {
        self.begin_word();
        let inner = self.rest().get(2..).unwrap_or_default();
        // `${#x}` is a length and `${!x}` the value of another variable; `${#}` and `${!}` are names themselves.
        let prefix =
            inner.starts_with(['#', '!']) && !inner.get(1..).unwrap_or_default().starts_with(['}', ':', '-', '=', '+']);
        let named = inner.get(usize::from(prefix)..).unwrap_or_default();
        let length = match named.chars().next() {
            Some(c) if c.is_ascii_alphanumeric() || c == '_' => {
                named.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(named.len())
            }
            Some(c) if "@*#?-$!".contains(c) => 1,
            _ => 0,
        };
        // What is not the value itself has a name of its own.
        let sign = if prefix { inner.get(..1).unwrap_or_default() } else { "" };
        let name = format!("{sign}{}", named.get(..length).unwrap_or_default());
        let rest = named.get(length..).unwrap_or_default();
        let whole = rest.starts_with('}') && !prefix && !name.is_empty();
        self.at += 2 + usize::from(prefix) + length;
        if whole {
            self.at += 1;
            self.add(Variable::plain(name, quoted));
        } else {
            self.open(FrameKind::Param { name, quoted });
        }
    }

    /// One byte within `${…}`.
    pub(super) fn parse_param_byte(&mut self, byte: u8) {
        let FrameKind::Param { quoted: in_quotes, .. } = self.top().kind else { return };
        match byte {
            b'}' => {
                self.at += 1;
                if let Some(super::Frame { kind: FrameKind::Param { name, quoted, .. }, parts, opened, .. }) =
                    self.frames.pop()
                {
                    // `${x:=y}` sets the variable.
                    if matches!(parts.first(), Some(WordPart::Quoted(text)) if text.starts_with('=') || text.starts_with(":="))
                    {
                        self.emit(Instruction::LoopVariable(Box::new(LoopVariable {
                            name: name.clone(),
                            words: None,
                        })));
                    }
                    if matches!(parts.first(), Some(WordPart::Quoted(text)) if text.starts_with("@P")) {
                        let at = self.at;
                        self.report(Unreadable::Ambiguous("an expansion that runs what is in a value"), at);
                    }
                    // `${x[@]}`, `${x[0]}`: the elements have names of their own.
                    if let [WordPart::Quoted(text)] = parts.as_slice()
                        && let Some(index) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'))
                        && (index == "@" || index == "*" || index.bytes().all(|byte| byte.is_ascii_digit()))
                    {
                        let index = if index == "*" { "@" } else { index };
                        let name = format!("{name}[{index}]");
                        return self.add(Variable::plain(name, quoted));
                    }
                    // `${x:?y}` is the value, or nothing goes on.
                    if matches!(parts.first(), Some(WordPart::Quoted(text)) if text.starts_with('?') || text.starts_with(":?"))
                    {
                        return self.add(Variable::plain(name, quoted));
                    }
                    // `${x:+y}` only tells whether it is set.
                    if matches!(parts.first(), Some(WordPart::Quoted(text)) if text.starts_with('+') || text.starts_with(":+"))
                    {
                        return self.add(WordPart::Unknown { quoted });
                    }
                    let trim = trim(self.slice(opened, self.at - 1));
                    let default = match parts.as_slice() {
                        [WordPart::Quoted(text)] => {
                            text.strip_prefix(":-").or_else(|| text.strip_prefix(":=")).map(str::to_owned)
                        }
                        _ => None,
                    };
                    self.add(WordPart::Variable(Box::new(Variable { name, altered: true, trim, default, quoted })));
                }
            }
            b'\\' => self.parse_backslash(),
            b'<' | b'>' if !in_quotes && self.peek(1) == Some(b'(') => {
                self.at += 2;
                self.open_list(ListEnd::Process, if byte == b'>' { Scope::OutputProcess } else { Scope::Subshell });
            }
            b'<' | b'>' => {
                self.push(if byte == b'<' { "<" } else { ">" }, true);
                self.at += 1;
            }
            // Also within double quotes bash looks for the end of one before that of the brace. In a heredoc a single quote is only a character, also here.
            b'\''
                if self
                    .frames
                    .iter()
                    .rev()
                    .nth(1)
                    .is_some_and(|below| matches!(below.kind, FrameKind::Body { .. })) =>
            {
                self.push("'", true);
                self.at += 1;
            }
            b'\'' => {
                let subscript =
                    matches!(self.top().parts.first(), Some(WordPart::Quoted(text)) if text.starts_with('['));
                if subscript || in_quotes {
                    self.check_evaluated_quotes();
                }
                self.parse_single_quotes();
            }
            b'"' => self.open_double(),
            b'$' => self.parse_dollar(in_quotes),
            b'`' => self.parse_backquotes(in_quotes),
            _ => self.push_until("}\\'\"$`<>"),
        }
    }

    /// Whether the parenthesis before `from` is closed by one that another follows: then it is arithmetic.
    pub(super) fn is_arith(&self, from: usize) -> bool {
        let bytes = self.slice(from, self.end).as_bytes();
        let mut depth = 1_usize;
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'\'' | b'"' => {
                    let quoted = bytes.iter().skip(at + 1).take_while(|other| *other != byte).count();
                    at += quoted + 1;
                }
                b'(' => depth += 1,
                b')' => {
                    depth -= 1;
                    if depth == 0 {
                        return bytes.get(at + 1) == Some(&b')');
                    }
                }
                _ => {}
            }
            at += 1;
        }
        false
    }

    /// One byte within `(( … ))` or `$[ … ]`.
    pub(super) fn parse_arith_byte(&mut self, byte: u8) {
        let FrameKind::Arith { form, depth } = self.top().kind else { return };
        let bracket = matches!(form, ArithForm::Bracket { .. });
        let nest = |parser: &mut Self, by: usize| {
            if let FrameKind::Arith { depth, .. } = &mut parser.top().kind {
                *depth = by;
            }
            parser.at += 1;
        };
        if depth > SHELL_DEPTH.most {
            self.script.exceeded.get_or_insert(&SHELL_DEPTH);
        }
        match byte {
            b'(' if !bracket => nest(self, depth + 1),
            b'[' if bracket => nest(self, depth + 1),
            b')' if !bracket && depth > 0 => nest(self, depth - 1),
            b']' if bracket && depth > 0 => nest(self, depth - 1),
            b')' if !bracket && self.peek(1) == Some(b')') => {
                self.at += 2;
                self.close_arith(form);
            }
            b']' if bracket => {
                self.at += 1;
                self.close_arith(form);
            }
            b'\\' => self.parse_backslash(),
            b'"' => self.open_double(),
            b'$' => self.parse_dollar(true),
            b'`' => self.parse_backquotes(true),
            _ => self.push_until("()[]\\\"$`"),
        }
    }

    fn close_arith(&mut self, form: ArithForm) {
        self.frames.pop();
        match form {
            ArithForm::Word { quoted } | ArithForm::Bracket { quoted } => self.add(WordPart::Unknown { quoted }),
            ArithForm::Command => self.mark_compound_done(),
            ArithForm::For => self.finish_for_arith(),
        }
    }

    /// `` `…` ``: read to its end, its own escapes removed, and left for a reading of its own.
    pub(super) fn parse_backquotes(&mut self, quoted: bool) {
        self.begin_word();
        let start = self.at + 1;
        let mut text = String::new();
        let mut chars = self.slice(start, self.end).char_indices();
        let escapable = if quoted { "`\\$\"" } else { "`\\$" };
        let mut length = None;
        while let Some((at, c)) = chars.next() {
            match c {
                '`' => {
                    length = Some(at);
                    break;
                }
                '\\' => match chars.next() {
                    Some((_, next)) if escapable.contains(next) => text.push(next),
                    Some((_, next)) => text.extend(['\\', next]),
                    None => text.push('\\'),
                },
                c => text.push(c),
            }
        }
        if length.is_none() {
            let at = self.at;
            self.report(Unreadable::Unterminated("`"), at);
        }
        let end = length.map_or(self.end, |length| start + length);
        self.substitutions += 1;
        let number = self.substitutions;
        self.emit(Instruction::Backquoted(Box::new(Backquoted { text, span: start..end, number })));
        self.at = (end + 1).min(self.end);
        self.add(WordPart::Output { number, quoted });
    }

    /// `$'…'`
    fn parse_ansi_c_quotes(&mut self) {
        let inner = self.rest().get(2..).unwrap_or_default();
        let (text, end) = ansi::decode(inner);
        let length = end.map_or(inner.len(), |end| end + 1);
        if end.is_none() {
            let at = self.at;
            self.report(Unreadable::Unterminated("$'"), at);
        }
        self.push(&text, true);
        self.at += 2 + length;
    }
}

/// What the text behind a name cuts off its value.
fn trim(text: &str) -> Option<Trim> {
    let sign = text.chars().next().filter(|sign| matches!(sign, '%' | '#'))?;
    let rest = text.strip_prefix(sign)?;
    let (greedy, pattern) = rest.strip_prefix(sign).map_or((false, rest), |rest| (true, rest));
    let plain = !pattern.contains(['[', '(', '\\', '\'', '"', '$', '`']);
    Some(Trim { from_end: sign == '%', greedy, pattern: plain.then(|| pattern.to_owned()) })
}
