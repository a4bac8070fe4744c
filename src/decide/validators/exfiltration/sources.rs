//! The commands of a shell text whose output other commands may send.

use super::super::secret_access::{is_secret_file, names_secret};
use super::super::self_protection::ProcessSearches;
use super::exports::shows_variable;
use super::{prints_environment, prints_whole_file, read_paths, sending};
use crate::decide::context::Context;
use crate::programs::code::lists;
use crate::programs::{Does, Use, roles};
use crate::shell::{Act, Arg, Command, Target};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Commands of the shell text whose output other commands may send. They are found once, when they are first needed.
#[derive(Debug, Default)]
pub(crate) struct DataSources {
    reading_secrets: OnceCell<CommandSet>,
    describing: OnceCell<CommandSet>,
    encoding: OnceCell<CommandSet>,
    printing: OnceCell<CommandSet>,
    /// Where the first command begins that takes variables from a file with secrets.
    first_load: OnceCell<Option<usize>>,
    /// What commands that look for processes find.
    process_searches: OnceCell<ProcessSearches>,
    /// Whether the shell text sets a proxy.
    pub(super) sets_proxy: OnceCell<bool>,
    /// The variables that hold what is read.
    read_variables: OnceCell<BTreeSet<String>>,
    /// The start of each `export`, in order, with the greatest end of it and all before it.
    exports: OnceCell<Vec<(usize, usize)>>,
    /// All commands.
    all: OnceCell<CommandSet>,
}

impl DataSources {
    /// Commands that read or print secrets.
    pub(super) fn reading_secrets(&self, context: &Context<'_>) -> &CommandSet {
        self.reading_secrets.get_or_init(|| {
            let is_secret = |index: usize, command: &Command| {
                prints_environment(command)
                    || command.args.iter().any(|arg| names_secret(arg, context))
                    || read_paths(index, context).any(|path| is_secret_file(path, context))
            };
            // `$(< .env)` is read by the shell itself.
            let shell_reads_secret = context.effects().is_some_and(|effects| {
                let mut reads = effects.of_command(usize::MAX).iter().filter(|access| access.act == Act::Read);
                reads.any(|access| access.target.path.as_ref().is_some_and(|path| is_secret_file(path, context)))
            });
            CommandSet { shell_reads_secret, ..CommandSet::of(context, is_secret) }
        })
    }

    /// What the commands of the shell text that look for processes find.
    pub(crate) fn process_searches(&self, context: &Context<'_>) -> &ProcessSearches {
        let commands = || context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
        self.process_searches.get_or_init(|| ProcessSearches::of(commands()))
    }

    /// Whether a variable holds text that `read` or `mapfile` reads, or that a command prints.
    pub(in super::super) fn is_read_variable(&self, name: &str, context: &Context<'_>) -> bool {
        self.read_variables.get_or_init(|| read_variables(context)).contains(name)
    }

    /// Whether the shell has taken variables from a file with secrets before a command: `set -a; . ./.env; printenv`.
    pub(in super::super) fn loads_secrets(&self, here: &Command, context: &Context<'_>) -> bool {
        let first = self.first_load.get_or_init(|| {
            let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
            let reading = self.reading_secrets(context).spans.iter().filter_map(|(_, _, index)| commands.get(*index));
            let exported = reading.filter(|command| self.is_exported(command, context));
            let is_secret = |command: &&Command| {
                // In an unknown directory, the file may be that of the directory of the event.
                let cwd = command.cwd.as_deref().unwrap_or(context.event.place.cwd.as_str());
                let target = command.args.first().map(|file| Target::of(file, Some(cwd)));
                target.and_then(|target| target.path).is_some_and(|path| is_secret_file(&path, context))
            };
            let sourced = commands.iter().filter(|command| matches!(command.program.as_str(), "." | "source"));
            let sourced = sourced.filter(is_secret);
            exported.chain(sourced).map(|command| command.span.start).min()
        });
        first.is_some_and(|first| first < here.span.start)
    }

    /// Whether what a command prints becomes variables: `export $(grep -v '^#' .env)`.
    pub(crate) fn is_exported(&self, command: &Command, context: &Context<'_>) -> bool {
        let exports = self.exports.get_or_init(|| {
            let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
            let is_export = |command: &&Command| {
                command.program == "export" && !command.args.iter().any(|arg| arg.text.starts_with("-p"))
            };
            // The variables that are set to all of the output.
            let words = commands.iter().filter(|command| command.program == "export").flat_map(|export| &export.args);
            let whole = words.filter_map(|arg| arg.text.split_once('=')).filter(|(_, value)| value.contains("$()"));
            let whole: BTreeSet<&str> = whole.map(|(name, _)| name).collect();
            let mut starts: Vec<usize> = commands.iter().map(|command| command.span.start).collect();
            starts.sort_unstable();
            let has_inner = |command: &Command| {
                let next = starts.partition_point(|start| *start <= command.span.start);
                starts.get(next).is_some_and(|start| *start < command.span.end)
            };
            // A variable that holds output stands in a word as `$X`, or as `$()` without a command in it.
            let shows_whole = |arg: &Arg, command: &Command| {
                let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let names = arg.text.split('$').skip(1).map(|rest| rest.trim_start_matches('{'));
                !arg.is_known()
                    && (arg.text.contains("$()") && !has_inner(command)
                        || names
                            .into_iter()
                            .any(|rest| whole.contains(rest.split(|c| !is_name(c)).next().unwrap_or_default())))
            };
            // Whether a command copies the output elsewhere, or prints a variable that holds all of it.
            let shows = |command: &Command| {
                let here_text = command.here_text.as_ref().map(Arg::unknown);
                command.program == "tee"
                    || !whole.is_empty()
                        && printed_words(command).chain(here_text).any(|arg| shows_whole(&arg, command))
            };
            if commands.iter().any(shows) || !whole.is_empty() && shows_variable(&whole, context) {
                return Vec::new();
            }
            let mut spans: Vec<(usize, usize)> =
                commands.iter().filter(is_export).map(|export| (export.span.start, export.span.end)).collect();
            spans.sort_unstable();
            let mut last = 0;
            spans.iter_mut().for_each(|(_, end)| {
                last = last.max(*end);
                *end = last;
            });
            // In `export X=$(cat file >&2)`, the output does not become a variable.
            let is_diverted = |command: &Command| command.is_diverted && is_within(&spans, command);
            if commands.iter().any(is_diverted) { Vec::new() } else { spans }
        });
        is_within(exports, command)
    }

    /// The commands in a span that begin behind its start.
    pub(in super::super) fn inside<'a>(
        &self,
        span: &Range<usize>,
        context: &Context<'a>,
    ) -> impl Iterator<Item = &'a Command> {
        let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
        let all = &self.all.get_or_init(|| CommandSet::of(context, |_, _| true)).spans;
        let first = all.partition_point(|(start, ..)| *start <= span.start);
        let last = all.partition_point(|(start, ..)| *start <= span.end);
        let end = span.end;
        let rows = all.get(first..last).unwrap_or_default().iter().filter(move |(_, inner, _)| *inner <= end);
        rows.filter_map(|(.., row)| commands.get(*row))
    }

    /// Commands that describe this machine, or encode their input.
    pub(super) fn describing(&self, context: &Context<'_>) -> &CommandSet {
        self.describing.get_or_init(|| {
            let escaped = self.escaped(context);
            CommandSet::of(context, |at, command| {
                lists(&roles::OUTPUT_DESCRIBING, &command.program)
                    || prints_whole_file(command, at, context)
                    || escaped.contains(&command.pipeline) && sending::prints_more(command, at, context)
                    || sending::escapes_file(command, at, context)
            })
        })
    }

    /// The pipelines whose last stages make an address of any text: `… | jq -sRr @uri`.
    fn escaped(&self, context: &Context<'_>) -> BTreeSet<usize> {
        let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
        commands.iter().filter(|command| sending::escapes(command)).map(|command| command.pipeline).collect()
    }

    /// Commands that print content of the project, its history, processes or databases.
    pub(super) fn printing(&self, context: &Context<'_>) -> &CommandSet {
        self.printing.get_or_init(|| {
            let last_reduced = reduced(context);
            let is_reduced =
                |command: &Command| last_reduced.get(&command.pipeline).is_some_and(|last| command.stage < *last);
            let prints = |at, command: &Command| !is_reduced(command) && sending::prints_content(command, at, context);
            CommandSet::of(context, prints)
        })
    }

    /// Commands that encode what they read.
    pub(super) fn encoding(&self, context: &Context<'_>) -> &CommandSet {
        let encodes = |_: usize, command: &Command| lists(&roles::OUTPUT_ENCODING, &command.program);
        self.encoding.get_or_init(|| CommandSet::of(context, encodes))
    }
}

/// The last stage of each pipeline that is one command that prints only a number or one value of what it is given.
fn reduced(context: &Context<'_>) -> BTreeMap<usize, usize> {
    let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
    let mut counts: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    commands.iter().for_each(|command| *counts.entry((command.pipeline, command.stage)).or_default() += 1);
    let is_only = |command: &&Command| counts.get(&(command.pipeline, command.stage)) == Some(&1);
    let mut last = BTreeMap::new();
    for command in commands.iter().filter(|command| sending::reduces(command)).filter(is_only) {
        let stage: &mut usize = last.entry(command.pipeline).or_default();
        *stage = (*stage).max(command.stage);
    }
    last
}

/// Whether a command is in one of these spans and begins behind its start. Each has the greatest end of it and all before it.
fn is_within(spans: &[(usize, usize)], command: &Command) -> bool {
    let before = spans.partition_point(|(start, _)| *start < command.span.start);
    let nearest = before.checked_sub(1).and_then(|at| spans.get(at));
    nearest.is_some_and(|(_, end)| command.span.end <= *end)
}

/// The words of a command that it may print: all of them if it is made to print, else the code that it runs.
fn printed_words(command: &Command) -> impl Iterator<Item = Arg> {
    let program = command.program.as_str();
    let tests = matches!(program, "[" | "[[" | "test");
    let prints = !tests
        && (lists(&roles::OUTPUT_ECHOING, program)
            || matches!(program, "declare" | "typeset")
            || command.doing().does == Some(Does::Look));
    let uses = command.parsed.iter().flat_map(|line| line.uses.iter());
    let code = uses.filter(|used| used.takes == Some(Use::Code)).filter_map(|used| command.value(used));
    let words = command.args.iter().filter(move |_| prints).cloned();
    words.chain(code)
}

fn read_variables(context: &Context<'_>) -> BTreeSet<String> {
    let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
    let is_reader = |command: &&Command| matches!(command.program.as_str(), "read" | "mapfile" | "readarray");
    let words = commands.iter().filter(is_reader).flat_map(|reader| reader.args.iter().map(|arg| arg.text.to_string()));
    let mut names: BTreeSet<String> = words.filter(|word| !word.is_empty()).collect();
    if commands.iter().any(|command| is_reader(&command)) {
        names.extend(["REPLY", "MAPFILE"].map(str::to_owned));
    }
    let set = context.effects().map(|effects| effects.env.as_slice()).unwrap_or_default();
    let is_output = |value: Option<&str>| value.is_none_or(|value| value.contains("$()"));
    names.extend(set.iter().filter(|(_, value)| is_output(value.as_deref())).map(|(name, _)| name.clone()));
    names
}

/// Some of the commands of the shell text, indexed by position and by pipeline.
#[derive(Debug, Default)]
pub(super) struct CommandSet {
    /// Start, end and index of each command, in order of the start.
    spans: Vec<(usize, usize, usize)>,
    /// The first two of them in each pipeline: stage and index. Two suffice to find one that is not a given command.
    stages: BTreeMap<usize, Vec<(usize, usize)>>,
    /// Whether a redirection without a command reads a secret.
    pub(super) shell_reads_secret: bool,
}

impl CommandSet {
    fn of(context: &Context<'_>, is_member: impl Fn(usize, &Command) -> bool) -> Self {
        let mut set = CommandSet::default();
        let commands = context.reading().map(|reading| reading.commands.as_slice()).unwrap_or_default();
        for (index, command) in commands.iter().enumerate().filter(|(index, command)| is_member(*index, command)) {
            set.spans.push((command.span.start, command.span.end, index));
            let stages = set.stages.entry(command.pipeline).or_default();
            stages.push((command.stage, index));
            stages.sort_unstable();
            stages.truncate(2);
        }
        set.spans.sort_unstable();
        set
    }

    /// Whether a command of the set, other than the one at index `at`, starts at or after `from` and ends within the span.
    pub(super) fn within(&self, span: &Range<usize>, at: usize, from: usize) -> bool {
        let first = self.spans.partition_point(|(start, ..)| *start < from);
        let rest = self.spans.get(first..).unwrap_or_default().iter();
        rest.take_while(|(start, ..)| *start <= span.end).any(|(_, end, index)| *end <= span.end && *index != at)
    }

    /// Whether no command is in the set.
    pub(super) fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Whether a command of the set is at an earlier stage of the pipeline.
    pub(super) fn before(&self, command: &Command, at: usize) -> bool {
        let stages = self.stages.get(&command.pipeline).map(Vec::as_slice).unwrap_or_default();
        stages.iter().any(|(stage, index)| *stage < command.stage && *index != at)
    }
}
