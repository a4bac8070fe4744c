//! Expansions within words: `$x`, `${x}`, `$(…)`, arithmetic and subscripts.

use super::super::syntax::{Instruction, LoopVariable, Scope, Unreadable, Variable, WordPart};
use super::heredoc::SEARCHED_BYTES_PER_STEP;
use super::list::ListEnd;
use super::{ArithForm, Frame, FrameKind, Parser};
use crate::verdict::limits::{SHELL_DEPTH, SHELL_STEPS};

/// How often the lookahead at `((` may read each byte on average.
const LOOKAHEADS: usize = 16;

/// How many bytes the lookahead may read in a short text.
const MIN_LOOKAHEAD: usize = 64 << 10;

impl Parser<'_> {
    /// Parses `$…`, in a word or in double quotes.
    pub(super) fn parse_dollar(&mut self, quoted: bool) {
        if self.looking_at("$\\\n") {
            self.report(Unreadable::Ambiguous("a line end between `$` and what it expands"));
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
            Some(b'{') => self.open_param(quoted),
            Some(b'\'') if !quoted => self.parse_ansi_c_quotes(),
            Some(b'"') if !quoted => {
                self.at += 1;
                self.open_double();
            }
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                let rest = self.rest().get(1..).unwrap_or_default();
                let name = rest.get(..name_length(rest)).unwrap_or_default();
                self.at += 1 + name.len();
                let meets_brace = !quoted && self.peek(0) == Some(b'{');
                let variable = Variable { name: name.to_owned(), quoted, meets_brace, ..Variable::default() };
                self.at -= 1 + name.len();
                self.add(WordPart::Variable(Box::new(variable)));
                self.at += 1 + name.len();
            }
            // `"$*"` is one word.
            Some(b'*') => {
                let operator = quoted.then(|| "*".to_owned());
                let all = Variable { name: "@".to_owned(), operator, quoted, ..Variable::default() };
                self.add(WordPart::Variable(Box::new(all)));
                self.at += 2;
            }
            Some(byte) if byte.is_ascii_digit() || b"@#?-$!".contains(&byte) => {
                self.add(Variable::plain(char::from(byte).to_string(), quoted));
                self.at += 2;
            }
            _ => {
                self.push("$", quoted);
                self.at += 1;
            }
        }
    }

    /// Parses `${name}` completely, or `${name` and opens a frame for what follows the name.
    fn open_param(&mut self, quoted: bool) {
        self.begin_word();
        let inner = self.rest().get(2..).unwrap_or_default();
        // `${#x}` is a length and `${!x}` the value of another variable; `${#}` and `${!}` are names themselves.
        let has_prefix =
            inner.starts_with(['#', '!']) && !inner.get(1..).unwrap_or_default().starts_with(['}', ':', '-', '=', '+']);
        let named = inner.get(usize::from(has_prefix)..).unwrap_or_default();
        let length = match named.chars().next() {
            Some(c) if "@*#?-$!".contains(c) => 1,
            _ => name_length(named),
        };
        let end = usize::from(has_prefix) + length;
        let name = inner.get(..end).unwrap_or_default().to_owned();
        let is_complete =
            !has_prefix && !name.is_empty() && named.get(length..).is_some_and(|rest| rest.starts_with('}'));
        self.at += 2 + end;
        if is_complete {
            self.at += 1;
            self.add(Variable::plain(name, quoted));
        } else {
            self.open(FrameKind::Param { name, quoted });
        }
    }

    /// Parses from a byte within `${…}`.
    pub(super) fn parse_param_byte(&mut self, byte: u8) {
        let FrameKind::Param { quoted, .. } = self.top().kind else { return };
        match byte {
            b'}' => {
                self.at += 1;
                self.close_param();
            }
            b'\\' => self.parse_backslash(),
            b'<' | b'>' if !quoted && self.peek(1) == Some(b'(') => self.open_process_substitution(byte),
            b'<' | b'>' => {
                self.push(if byte == b'<' { "<" } else { ">" }, true);
                self.at += 1;
            }
            // In a heredoc a single quote is an ordinary character, also here.
            b'\'' if self.kind_below().is_some_and(|below| matches!(below, FrameKind::Body { .. })) => {
                self.push("'", true);
                self.at += 1;
            }
            // Also within double quotes, bash looks for the closing quote before the closing brace.
            b'\'' => {
                if quoted || begins_with(&self.top().parts, &["["]) {
                    self.check_evaluated_quotes();
                }
                self.parse_single_quotes();
            }
            b'"' => self.open_double(),
            b'$' => self.parse_dollar(quoted),
            b'`' => self.parse_backquotes(quoted),
            _ => self.push_until("}\\'\"$`<>"),
        }
    }

    fn close_param(&mut self) {
        let Some(Frame { kind: FrameKind::Param { name, quoted }, parts, opened, .. }) = self.pop() else {
            return;
        };
        // `${x:=y}` sets the variable.
        if begins_with(&parts, &["=", ":="]) {
            self.emit(Instruction::LoopVariable(Box::new(LoopVariable { name: name.clone(), words: None })));
        }
        let text = self.slice(opened, self.at - 1);
        // `${x:i=1}` and `${x[i++]}` evaluate expressions.
        let evaluates =
            text.starts_with('[') || text.starts_with(':') && !begins_with(&parts, &[":-", ":=", ":+", ":?"]);
        if evaluates {
            self.emit_assignments(text);
        }
        // zsh: `${(e)x}` expands the value again.
        let flags = text.strip_prefix('(').and_then(|text| text.split(')').next());
        if begins_with(&parts, &["@P"]) || name.is_empty() && flags.is_some_and(|flags| flags.contains('e')) {
            self.report(Unreadable::Ambiguous("an expansion that runs what is in a value"));
        }
        let (subscript, operator) = split_subscript(text);
        // `"${x[*]}"` is one word.
        let operator = if quoted && subscript == Some("*") && operator.is_empty() { "*" } else { operator };
        let subscript = subscript.map(|index| if index == "*" { "@" } else { index });
        let is_index =
            |index: &str| index == "@" || !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
        // Elements with a plain index are stored under names of their own.
        let (name, subscript) = match subscript {
            Some(index) if is_index(index) => (format!("{name}[{index}]"), None),
            other => (name, other.map(str::to_owned)),
        };
        let is_prefixed = name.starts_with(['#', '!']);
        // `${x:?y}` is the value, or the shell exits.
        let operator = if operator.starts_with('?') || operator.starts_with(":?") { "" } else { operator };
        // A long operand makes the value unknown.
        let operator = if operator.len() > MAX_EXPRESSION_BYTES * 8 { "@" } else { operator };
        let operator = (!operator.is_empty() || is_prefixed).then(|| operator.to_owned());
        let default = match parts.as_slice() {
            [WordPart::Quoted(text)] => text.strip_prefix(":-").or_else(|| text.strip_prefix(":=")).map(str::to_owned),
            _ => None,
        };
        self.add(WordPart::Variable(Box::new(Variable {
            name,
            subscript,
            operator,
            default,
            quoted,
            ..Variable::default()
        })));
    }

    /// Parses from a byte within `name[ … ]`.
    pub(super) fn parse_subscript_byte(&mut self, byte: u8) {
        let FrameKind::Subscript { depth } = self.top().kind else { return };
        let nest = |parser: &mut Self, depth: usize, bracket: &str| {
            parser.top().kind = FrameKind::Subscript { depth };
            parser.push(bracket, true);
            parser.at += 1;
        };
        match byte {
            b']' if depth == 0 => {
                let end = self.at;
                self.at += 1;
                let Some(frame) = self.pop() else { return };
                let subscript = self.slice(frame.opened, end);
                self.emit_assignments(subscript);
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

    /// Whether the parenthesis before `from` is closed by `))`, which makes it an arithmetic expression.
    ///
    /// The lookahead may reach the end of the text. To keep the time linear, the sum of all lookaheads is bounded. Beyond
    /// that, the content of the parentheses is read as commands and the limit is reported.
    pub(super) fn is_arith(&mut self, from: usize) -> bool {
        if self.lookahead > LOOKAHEADS * self.text.len() + MIN_LOOKAHEAD {
            self.meter.report(&SHELL_STEPS);
            return false;
        }
        let bytes = self.slice(from, self.end).as_bytes();
        let closing = find_closing(bytes);
        let length = closing.unwrap_or(bytes.len());
        self.lookahead += length;
        // The parentheses of patterns are not paired.
        if bytes.get(..length).unwrap_or_default().windows(4).any(|window| window == b"esac") {
            self.report_at(Unreadable::Ambiguous("a `case` behind `((`"), from);
        }
        closing.is_some_and(|at| bytes.get(at + 1) == Some(&b')'))
    }

    /// Parses from a byte within `(( … ))` or `$[ … ]`.
    pub(super) fn parse_arith_byte(&mut self, byte: u8) {
        let FrameKind::Arith { form, depth } = self.top().kind else { return };
        let bracket = matches!(form, ArithForm::Bracket { .. });
        let nest = |parser: &mut Self, depth: usize| {
            parser.top().kind = FrameKind::Arith { form, depth };
            parser.at += 1;
        };
        if depth > SHELL_DEPTH.most {
            self.meter.report(&SHELL_DEPTH);
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

    /// Emits what an expression within an expansion assigns. Expansions may be nested, so the text is read several times.
    fn emit_assignments(&mut self, expression: &str) {
        if self.meter.try_charge(expression.len() / SEARCHED_BYTES_PER_STEP) && may_assign_variable(expression) {
            self.emit_arithmetic(expression);
        }
    }

    /// Emits what an arithmetic expression does to variables. Without a name it does nothing.
    pub(super) fn emit_arithmetic(&mut self, expression: &str) {
        if expression.contains(|c: char| c.is_ascii_alphabetic() || c == '_') {
            self.emit(Instruction::Arithmetic(expression.into()));
        }
    }

    fn close_arith(&mut self, form: ArithForm) {
        let end = self.at;
        let frame = self.pop();
        let closing = if matches!(form, ArithForm::Bracket { .. }) { 1 } else { 2 };
        let expression = frame.map(|frame| self.slice(frame.opened, end - closing)).unwrap_or_default();
        self.emit_arithmetic(expression);
        match form {
            ArithForm::Word { quoted } | ArithForm::Bracket { quoted } => {
                let is_plain = expression.len() <= MAX_EXPRESSION_BYTES
                    && !expression.contains("$(")
                    && !expression.contains(['`', '"', '\'', '\\']);
                self.add(match is_plain {
                    true => WordPart::Arithmetic { expression: expression.into(), quoted },
                    false => WordPart::Unknown { quoted },
                });
            }
            ArithForm::Command => self.mark_compound_done(),
            ArithForm::For => self.finish_for_arith(),
        }
    }
}

/// Returns the position of the parenthesis that closes the one before a text.
fn find_closing(bytes: &[u8]) -> Option<usize> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Open {
        Parenthesis,
        DoubleQuote,
    }
    let mut open = vec![Open::Parenthesis];
    let mut at = 0;
    while let (Some(byte), Some(within)) = (bytes.get(at), open.last().copied()) {
        match (byte, within) {
            (b'\\', _) => at += 1,
            (b'"', Open::DoubleQuote) => drop(open.pop()),
            (b'"', Open::Parenthesis) => open.push(Open::DoubleQuote),
            (b'\'', Open::Parenthesis) => {
                at += 1 + bytes.iter().skip(at + 1).take_while(|other| **other != b'\'').count();
            }
            // Within double quotes, only those of substitutions count.
            (b'(', Open::DoubleQuote) if at.checked_sub(1).and_then(|before| bytes.get(before)) != Some(&b'$') => {}
            (b'(', _) => open.push(Open::Parenthesis),
            (b')', Open::Parenthesis) => {
                open.pop();
                if open.is_empty() {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Whether evaluating a text as arithmetic may assign to a variable.
pub(super) fn may_assign_variable(text: &str) -> bool {
    text.contains('=') || text.contains("++") || text.contains("--")
}

/// Longer arithmetic expressions are not evaluated.
const MAX_EXPRESSION_BYTES: usize = 128;

/// Splits the text after the name in `${…}` into a subscript and an operator.
fn split_subscript(text: &str) -> (Option<&str>, &str) {
    let Some(inner) = text.strip_prefix('[') else { return (None, text) };
    let mut depth = 0_usize;
    for (at, c) in inner.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return (inner.get(..at), inner.get(at + 1..).unwrap_or_default()),
            ']' => depth -= 1,
            _ => {}
        }
    }
    (None, text)
}

fn name_length(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// Whether the text after the name in `${…}` begins with one of these operators.
fn begins_with(parts: &[WordPart], operators: &[&str]) -> bool {
    matches!(parts.first(), Some(WordPart::Quoted(text)) if operators.iter().any(|operator| text.starts_with(operator)))
}
