//! Subjects: the parts of a call to which rules are applied one by one.

use super::context::Context;
use super::validators;
use crate::encoding::escape;
use crate::encoding::label::Label;
use crate::event::Action;
use crate::path::zones::Zones;
use crate::quarantine::content::{Passage, Sentences};
use crate::rules::{Groups, Match, NamedEffect, RuleKind, ValidatorId};
use crate::shell::{Access, Act, Command, Doing, Pipeline, without_global_options};
use std::borrow::Cow;
use std::cell::Cell;

/// The longest value of a variable that a reason or a nudge shows.
const MAX_VALUE_CHARS: usize = 200;

/// The longest command or file with which a reason begins.
pub(super) const MAX_SHOWN_CHARS: usize = 120;

/// What a subject is.
#[derive(Clone, Debug)]
pub enum SubjectKind<'a> {
    /// A command of the shell text, and its index.
    Command(&'a Command, usize),
    /// A pipeline of the shell text.
    Pipeline(&'a Pipeline),
    /// The whole shell text.
    Line,
    /// A file that a command reads or changes.
    CommandAccess(&'a Access),
    /// A file that a tool reads or changes.
    ToolAccess(Access),
    /// A web page, by its URL.
    Page(String),
    /// What the web is searched for, or the address of a resource.
    Query(String),
    /// An MCP tool.
    McpTool,
    /// Another agent.
    Agent,
    /// Some sentences of a result, and their bounds.
    Passage(Sentences),
}

/// One part of a call.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// What it is.
    pub kind: SubjectKind<'a>,
    rule_kind: RuleKind,
    /// The texts that patterns are matched with, and the literals of the prefilter in each.
    texts: Vec<(Cow<'a, str>, Groups)>,
    /// What a command does beyond the files that it names.
    doing: Doing,
    /// The validators that found nothing, one bit each.
    cleared: Cell<u32>,
}

impl<'a> Subject<'a> {
    fn new(rule_kind: RuleKind, texts: impl IntoIterator<Item = Cow<'a, str>>, kind: SubjectKind<'a>) -> Self {
        let with_groups = |text: Cow<'a, str>| {
            let groups = Groups::find_in_call(&text);
            (text, groups)
        };
        let texts = texts.into_iter().map(with_groups).collect();
        Subject { kind, rule_kind, texts, doing: Doing::default(), cleared: Cell::new(0) }
    }

    /// A command. Patterns are matched with its canonical form, and with that form without global options.
    pub fn command(command: &'a Command, at: usize) -> Self {
        let texts = [Some(Cow::Borrowed(command.canonical.as_str())), without_global_options(command).map(Cow::Owned)];
        let subject = Subject::new(RuleKind::Bash, texts.into_iter().flatten(), SubjectKind::Command(command, at));
        Subject { doing: command.doing(), ..subject }
    }

    /// A pipeline.
    pub fn pipeline(pipeline: &'a Pipeline) -> Self {
        Subject::new(RuleKind::Bash, [Cow::Borrowed(pipeline.canonical.as_str())], SubjectKind::Pipeline(pipeline))
    }

    /// The whole shell text, for validators that look at more than one command.
    pub fn line() -> Self {
        Subject::new(RuleKind::Bash, [], SubjectKind::Line)
    }

    /// A deletion, for the rules about commands.
    pub fn deletion(access: &'a Access) -> Self {
        Subject::new(RuleKind::Bash, [], SubjectKind::CommandAccess(access))
    }

    /// A file that a command reads or changes.
    pub fn command_access(access: &'a Access, zones: &Zones) -> Self {
        // Patterns are about the content of files, which other acts neither show nor change.
        let by_pattern = matches!(access.act, Act::Read | Act::Write | Act::Redirect);
        let text = by_pattern.then(|| Cow::Owned(access_text(access, zones)));
        Subject::new(access_rule_kind(access), text, SubjectKind::CommandAccess(access))
    }

    /// A file that a tool reads or changes.
    pub fn tool_access(access: Access, zones: &Zones) -> Self {
        let text = Cow::Owned(access_text(&access, zones));
        Subject::new(access_rule_kind(&access), [text], SubjectKind::ToolAccess(access))
    }

    /// A web page that is fetched.
    pub fn page(url: &str) -> Self {
        Subject::new(RuleKind::Read, [Cow::Owned(url.to_owned())], SubjectKind::Page(url.to_owned()))
    }

    /// What the web is searched for, for validators.
    pub fn query(text: String) -> Self {
        Subject::new(RuleKind::Read, [], SubjectKind::Query(text))
    }

    /// A call of an MCP tool.
    pub fn mcp(tool: &str) -> Self {
        Subject::new(RuleKind::Mcp, [Cow::Owned(tool.to_owned())], SubjectKind::McpTool)
    }

    /// Another agent with this permission mode.
    pub fn agent(mode: &str) -> Self {
        Subject::new(RuleKind::Agent, [Cow::Owned(mode.to_owned())], SubjectKind::Agent)
    }

    /// Some sentences of a result. The caller has searched them for the literals of the prefilter.
    pub(crate) fn passage(passage: Passage<'a>, groups: Groups) -> Self {
        let texts = vec![(Cow::Borrowed(passage.text), groups)];
        let kind = SubjectKind::Passage(passage.sentences());
        Subject { kind, rule_kind: RuleKind::Post, texts, doing: Doing::default(), cleared: Cell::new(0) }
    }

    /// Whether it is a command with one of these effects.
    pub(super) fn has_effect(&self, effects: &[NamedEffect]) -> bool {
        effects.iter().any(|effect| match effect {
            NamedEffect::Does(does) => self.doing.does == Some(*does),
            NamedEffect::Reveals => self.doing.reveals,
        })
    }

    /// Whether it is a command of the catalogue that only asks for the help or the version of its program.
    pub(super) fn only_helps(&self) -> bool {
        let SubjectKind::Command(command, _) = self.kind else { return false };
        let only_helps = command.parsed.as_ref().is_some_and(|line| line.only_helps);
        only_helps && !command.is_dynamic() && !command.hidden
    }

    /// The kind of the rules that apply to it.
    pub fn rule_kind(&self) -> RuleKind {
        self.rule_kind
    }

    /// The texts that patterns are matched with, and the literals of the prefilter in each.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &Groups)> {
        self.texts.iter().map(|(text, groups)| (text.as_ref(), groups))
    }

    /// Runs a validator, unless it found nothing before: several rules may share one.
    pub(crate) fn run_validator(&self, validator: ValidatorId, context: &Context<'_>) -> Option<Match> {
        let (cleared, bit) = (self.cleared.get(), 1 << validator.index());
        if cleared & bit != 0 {
            return None;
        }
        let matched = validators::find(validator, self, context);
        if matched.is_none() {
            self.cleared.set(cleared | bit);
        }
        matched
    }

    /// The file access, if the subject is one.
    pub fn file_access(&self) -> Option<&Access> {
        if let SubjectKind::CommandAccess(access) = self.kind {
            return Some(access);
        }
        if let SubjectKind::ToolAccess(access) = &self.kind { Some(access) } else { None }
    }

    /// The command, file, address or tool in backticks, as the first words of a reason. A result has none.
    pub fn shown(&self, context: &Context<'_>) -> Option<String> {
        let event = context.event;
        let line = || {
            if let Action::Shell { command: Some(field), .. } | Action::Edit { path: Some(field), .. } = &event.action {
                Cow::Borrowed(field.inspect("a reason names the command or the file").as_str())
            } else {
                Cow::Owned(event.header.tool.to_string())
            }
        };
        let text: Cow<'_, str> = match (&self.kind, self.file_access()) {
            (SubjectKind::Passage(_), _) => return None,
            (_, Some(access)) => Cow::Owned(access_text(access, &context.zones)),
            (SubjectKind::Line, _) => line(),
            (SubjectKind::Command(command, _), _) if stands_for_code(command) => line(),
            (SubjectKind::Query(text), _) => Cow::Borrowed(text),
            _ => self.texts().next().map_or(Cow::Borrowed(""), |(text, _)| Cow::Borrowed(text)),
        };
        let text = if text == "~/" { "~" } else { text.trim() };
        let shown = escape::one_line(text, MAX_SHOWN_CHARS);
        (!shown.is_empty()).then(|| format!("`{shown}`"))
    }

    /// Replaces the variables of a reason or a nudge by their values, each in backticks unless the text quotes it itself.
    pub fn render(&self, template: &str, tool: &Label, server: &Label) -> String {
        const QUOTES: [char; 3] = ['`', '\'', '"'];
        let mut text = String::new();
        let mut rest = template;
        while let Some((before, behind)) = rest.split_once('{') {
            text.push_str(before);
            let variable =
                behind.split_once('}').and_then(|(name, after)| Some((self.variable(name, tool, server)?, after)));
            let Some((value, after)) = variable else {
                text.push('{');
                rest = behind;
                continue;
            };
            let quoted = before.ends_with(QUOTES) && after.starts_with(QUOTES);
            let mark = if quoted || value.is_empty() { "" } else { "`" };
            text.extend([mark, value.as_str(), mark]);
            rest = after;
        }
        text + rest
    }

    /// The value of a variable: a label, or text of the call, which is escaped to one line.
    fn variable(&self, name: &str, tool: &Label, server: &Label) -> Option<String> {
        let text = self.texts().next().map_or("", |(text, _)| text);
        let raw = match (name, &self.kind) {
            ("tool_name", _) => return Some(tool.to_string()),
            ("server_name", _) => return Some(server.to_string()),
            ("base_command", SubjectKind::Command(command, _)) => command.program.as_str(),
            ("command", SubjectKind::Command(..) | SubjectKind::Pipeline(_)) => text,
            ("file_path", SubjectKind::CommandAccess(_) | SubjectKind::ToolAccess(_)) => text,
            ("base_command" | "command" | "file_path", _) => "",
            _ => return None,
        };
        Some(escape::one_line(raw, MAX_VALUE_CHARS).into_owned())
    }
}

/// Names that the evaluator gives to programs and code that the shell text does not have.
const UNKNOWN_CODE: [&str; 5] = ["$ARGS", "$SCRIPT", "code-environment", "code-file", "code-path"];

/// Whether the program of a command is a name for code, which the shell text does not have.
fn stands_for_code(command: &Command) -> bool {
    UNKNOWN_CODE.contains(&command.program.as_str())
}

fn access_rule_kind(access: &Access) -> RuleKind {
    if access.act.changes() { RuleKind::Edit } else { RuleKind::Read }
}

/// The text of a file access for patterns: the path as the zones write it or, if it is not known, the word as written.
fn access_text(access: &Access, zones: &Zones) -> String {
    let known = access.target.path.as_ref().filter(|_| !access.target.open);
    known.map_or_else(|| access.target.text.clone(), |path| zones.text(path))
}
