//! Cmdlets, their aliases and .NET methods as the programs that the rules know.

use super::{Reader, literal, quoted, unknown, word};
use crate::programs;
use crate::shell::syntax::{Direction, Part, Parts, Redirect, Target, Variable, Word};

/// An argument of a command.
pub(super) enum Item {
    /// `-Name`, `-Name:value`
    Parameter { name: String, value: Option<Vec<Word>> },
    /// A value; several words where it is a list.
    Words(Vec<Word>),
    /// A script block, whose commands have been read.
    Block,
}

impl Item {
    /// The words that a program is given.
    pub(super) fn into_words(self) -> Vec<Word> {
        match self {
            Item::Words(words) => words,
            Item::Block => Vec::new(),
            Item::Parameter { name, value: None } => vec![word(quoted(&format!("-{name}")))],
            Item::Parameter { name, value: Some(words) } => {
                let mut parts = quoted(&format!("-{name}:"));
                parts.extend(words.into_iter().flat_map(|word| word.parts));
                vec![word(parts)]
            }
        }
    }
}

/// How a command is called.
pub(super) struct Call {
    pub start: usize,
    pub stage: usize,
    /// The files or values that the command before it hands on, where they are known.
    pub fed: Option<Vec<Word>>,
    /// `. file`
    pub dotted: bool,
    /// One of its arguments is a script block.
    pub ran_block: bool,
}

/// A cmdlet: its names, its parameters by position, and the words that it becomes. `name` stands for the values of a
/// parameter, `name:-x` for an option with them, `name?-x` for an option where the switch is given. The last field
/// lists parameters whose value is dropped.
struct Cmdlet {
    names: &'static str,
    positions: &'static str,
    becomes: &'static str,
    dropped: &'static str,
}

const fn cmdlet(names: &'static str, positions: &'static str, becomes: &'static str, dropped: &'static str) -> Cmdlet {
    Cmdlet { names, positions, becomes, dropped }
}

#[rustfmt::skip]
const CMDLETS: &[Cmdlet] = &[
    cmdlet("remove-item ri rm del erase rd rmdir", "path", "rm recurse?-r force?-f path literalpath", "filter include exclude stream credential"),
    cmdlet("set-content add-content ac sc out-file clear-content clc export-csv epcsv export-clixml", "path value", "> path literalpath filepath value inputobject", "encoding width delimiter stream filter include exclude credential"),
    cmdlet("tee-object tee", "filepath", "tee append?-a filepath literalpath", "variable encoding inputobject"),
    cmdlet("copy-item cp copy cpi", "path destination", "cp recurse?-r force?-f path literalpath destination", "filter include exclude credential tosession fromsession"),
    cmdlet("move-item mv move mi", "path destination", "mv force?-f path literalpath destination", "filter include exclude credential"),
    cmdlet("rename-item ren rni", "path newname", "mv force?-f path literalpath newname", "credential"),
    cmdlet("new-item ni", "path", "new-item path name itemtype value target", "credential"),
    cmdlet("mkdir md", "path", "mkdir -p path name", ""),
    cmdlet("get-content gc cat type import-csv ipcsv import-clixml", "path", "cat path literalpath", "tail head first last totalcount readcount delimiter encoding stream filter include exclude header"),
    cmdlet("get-childitem gci ls dir", "path filter", "ls recurse?-R force?-a path literalpath", "filter include exclude depth attributes"),
    cmdlet("get-item gi get-itemproperty gp get-itempropertyvalue gpv get-acl test-path split-path get-filehash", "path", "ls -d path literalpath", "name pathtype filter include exclude algorithm stream"),
    cmdlet("resolve-path rvpa convert-path", "path", "realpath path literalpath", ""),
    cmdlet("select-string sls", "pattern path", "grep pattern:-e path literalpath", "context encoding include exclude culture inputobject"),
    cmdlet("invoke-webrequest iwr invoke-restmethod irm curl wget", "uri", "curl method:-X custommethod:-X body:-d headers:-H infile:-T outfile:-o form:-F useragent:-A proxy:-x skipcertificatecheck?-k uri", "contenttype credential token authentication sessionvariable websession timeoutsec maximumredirection maximumretrycount retryintervalsec transferencoding httpversion statuscodevariable responseheadersvariable proxycredential certificate certificatethumbprint sslprotocol"),
    cmdlet("start-bitstransfer", "source destination", "curl destination:-o source", "displayname priority description credential"),
    cmdlet("invoke-expression iex", "command", "eval command", ""),
    cmdlet("start-process saps start", "filepath argumentlist", "start-process filepath argumentlist verb workingdirectory redirectstandardoutput redirectstandarderror", "windowstyle credential redirectstandardinput environment"),
    cmdlet("stop-process kill spps", "id", "kill force?-9 id name inputobject", ""),
    cmdlet("get-process ps gps", "name", "ps", "id computername module"),
    cmdlet("set-location cd sl chdir", "path", "cd path literalpath", "stackname"),
    cmdlet("push-location pushd", "path", "pushd path literalpath", "stackname"),
    cmdlet("pop-location popd", "", "popd", "stackname"),
    cmdlet("get-location gl pwd", "", "pwd", "psdrive psprovider stack stackname"),
    cmdlet("write-output echo write write-host write-verbose write-warning write-error write-information write-debug", "inputobject", "echo inputobject object message messagedata", "foregroundcolor backgroundcolor separator category errorid tags"),
    cmdlet("start-sleep sleep", "seconds", "sleep seconds", "milliseconds duration"),
    cmdlet("stop-computer", "", "shutdown -h now", "computername credential"),
    cmdlet("restart-computer", "", "shutdown -r now", "computername credential"),
    cmdlet("format-volume clear-disk remove-partition initialize-disk diskpart", "driveletter", "wipefs driveletter number disknumber path", "filesystem newfilesystemlabel partitionstyle"),
    cmdlet("set-item si", "path value", "> path literalpath value", "options"),
    cmdlet("set-variable sv new-variable nv", "name value", "set-variable name value", "scope option description visibility"),
    cmdlet("join-path", "path childpath", "join-path path childpath additionalchildpath", "resolve"),
    cmdlet("set-itemproperty sp new-itemproperty clear-itemproperty remove-itemproperty rp", "path name value", "> path literalpath value", "name propertytype type"),
];

/// Parameters of every cmdlet that take a value.
const COMMON: &str = "erroraction ea warningaction wa informationaction errorvariable ev outvariable ov warningvariable \
                      outbuffer pipelinevariable progressaction";

/// Names of programs on other systems than Windows that are aliases there.
const UNIX: &str = "rm rmdir cp mv cat ls dir curl wget kill ps tee echo sleep sort diff mkdir";

fn has(list: &str, name: &str) -> bool {
    list.split(' ').any(|known| known == name)
}

/// The arguments of a cmdlet, bound to its parameters.
struct Bound<'c> {
    row: &'c Cmdlet,
    values: Vec<(&'c str, Vec<Word>)>,
    switches: Vec<&'c str>,
    /// What no parameter takes.
    rest: Vec<Word>,
}

impl Bound<'_> {
    fn of(&self, name: &str) -> Vec<Word> {
        self.values.iter().filter(|(known, _)| *known == name).flat_map(|(_, words)| words.clone()).collect()
    }
}

impl Cmdlet {
    /// The parameter that a name or its beginning means, and whether it is a switch.
    fn parameter(&self, given: &str) -> Option<(&'static str, bool)> {
        let given = given.to_ascii_lowercase();
        let rendered = self.becomes.split(' ').skip(1).filter(|token| !token.starts_with('-'));
        let named = rendered.map(|token| match token.split_once('?') {
            Some((name, _)) => (name, true),
            None => (token.split(':').next().unwrap_or_default(), false),
        });
        let others = self.positions.split(' ').chain(self.dropped.split(' ')).chain(COMMON.split_whitespace());
        let mut all = named.chain(others.map(|name| (name, false))).filter(|(name, _)| !name.is_empty());
        let exact = all.clone().find(|(name, _)| *name == given);
        exact.or_else(|| all.find(|(name, _)| name.starts_with(given.as_str())))
    }

    /// Binds arguments to parameters.
    fn bind(&self, items: Vec<Item>) -> Bound<'_> {
        let mut bound = Bound { row: self, values: Vec::new(), switches: Vec::new(), rest: Vec::new() };
        let mut positional = Vec::new();
        let mut awaiting: Option<&str> = None;
        for item in items {
            match item {
                Item::Words(words) => match awaiting.take() {
                    Some(name) => bound.values.push((name, words)),
                    None => positional.push(words),
                },
                Item::Block => awaiting = None,
                Item::Parameter { name, value } => {
                    awaiting = None;
                    match (self.parameter(&name), value) {
                        (Some((name, true)), _) => bound.switches.push(name),
                        (Some((name, false)), Some(words)) => bound.values.push((name, words)),
                        (Some((name, false)), None) => awaiting = Some(name),
                        // A flag of a program, or a switch without a meaning here.
                        (None, value) if name.len() <= 2 => {
                            bound.rest.extend(Item::Parameter { name, value }.into_words());
                        }
                        (None, _) => {}
                    }
                }
            }
        }
        let mut free = self.positions.split(' ').filter(|name| !name.is_empty());
        for words in positional {
            let taken = |name: &&str| !bound.values.iter().any(|(known, _)| known == name);
            match free.by_ref().find(taken) {
                Some(name) => bound.values.push((name, words)),
                None => bound.rest.extend(words),
            }
        }
        bound
    }
}

/// A word that names a file: `\` separates, `~` is the home, and wildcards count in quotes too.
pub(super) fn path(given: Word) -> Word {
    let mut parts = Parts::new();
    let strange = |part: &Part| match part {
        Part::Plain(text) | Part::Quoted(text) => text.contains(['\n', '"', '\'', '|', ';', '<', '>', '{']),
        Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => false,
    };
    if given.parts.iter().any(strange) {
        return given;
    }
    for (index, part) in given.parts.into_iter().enumerate() {
        match part {
            Part::Plain(text) | Part::Quoted(text) if index == 0 => {
                let text = text.strip_prefix("\\\\?\\").unwrap_or(&text);
                let lower = text.to_ascii_lowercase();
                let text = lower.find("filesystem::").and_then(|at| text.get(at + 12..)).unwrap_or(text);
                match text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\'])) {
                    Some(rest) => {
                        parts.push(Variable::plain("HOME".to_owned(), true));
                        parts.push(Part::Quoted(rest.replace('\\', "/").into()));
                    }
                    None => parts.push(Part::Quoted(text.replace('\\', "/").into())),
                }
            }
            Part::Quoted(text) => parts.push(Part::Quoted(text.replace('\\', "/").into())),
            Part::Plain(_) | Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => {
                parts.push(part);
            }
        }
    }
    Word { parts, span: given.span }
}

/// A path of these parts.
fn below(words: impl Iterator<Item = Word>) -> Word {
    let mut parts = Parts::new();
    for word in words {
        if !parts.is_empty() {
            parts.push(Part::Quoted("/".into()));
        }
        parts.extend(path(word).parts);
    }
    word(parts)
}

/// The same with wildcards.
fn pattern(given: Word) -> Word {
    let given = path(given);
    let mut parts = Parts::new();
    for part in given.parts {
        match part {
            Part::Quoted(text) if text.contains(['*', '?']) => {
                for piece in text.split_inclusive(['*', '?']) {
                    let plain = piece.trim_end_matches(['*', '?']);
                    parts.push(Part::Quoted(plain.into()));
                    if let Some(wild) = piece.get(plain.len()..).filter(|wild| !wild.is_empty()) {
                        parts.push(Part::Plain(wild.into()));
                    }
                }
            }
            Part::Plain(_)
            | Part::Quoted(_)
            | Part::Variable(_)
            | Part::Output { .. }
            | Part::List(_)
            | Part::Unknown { .. } => parts.push(part),
        }
    }
    Word { parts, span: given.span }
}

impl Reader<'_> {
    /// Emits what a command runs. The value of a cmdlet that only names files, for which nothing is emitted.
    pub(super) fn run(&mut self, items: Vec<Item>, redirects: Vec<Redirect>, call: &Call) -> Option<Vec<Word>> {
        self.feed = None;
        let name = match items.first() {
            Some(Item::Words(words)) => words.first().and_then(literal).unwrap_or_default().to_lowercase(),
            _ => String::new(),
        };
        if has("join-path resolve-path rvpa convert-path get-item gi", &name)
            && let Some(row) = CMDLETS.iter().find(|row| has(row.names, &name)).filter(|_| redirects.is_empty())
        {
            let bound = row.bind(items.into_iter().skip(1).collect());
            let files = [bound.of("path"), bound.of("literalpath")].concat();
            if name != "join-path" {
                return Some(files.into_iter().chain(bound.rest).map(pattern).collect());
            }
            let more = [bound.of("childpath"), bound.of("additionalchildpath"), bound.rest].concat();
            return Some(vec![below(files.into_iter().chain(more))]);
        }
        self.run_program(items, redirects, call);
        None
    }

    fn run_program(&mut self, mut items: Vec<Item>, redirects: Vec<Redirect>, call: &Call) {
        let redirects: Vec<Redirect> = redirects
            .into_iter()
            .map(|redirect| match redirect.target {
                Target::Word(word) => Redirect { target: Target::Word(path(word)), ..redirect },
                Target::Heredoc(_) => redirect,
            })
            .collect();
        if items.is_empty() || matches!(items.first(), Some(Item::Block)) {
            if !redirects.is_empty() {
                self.emit(vec![word(quoted("echo"))], redirects, call.start);
            }
            return;
        }
        let mut program = items.remove(0).into_words();
        if call.dotted {
            program.insert(0, word(quoted("source")));
        }
        let first = program.remove(0);
        program.into_iter().rev().for_each(|word| items.insert(0, Item::Words(vec![word])));
        let Some(name) = literal(&first).filter(|name| !name.is_empty()) else {
            return self.native(path(first), items, redirects, call);
        };
        let lower = name.to_lowercase();
        let row = CMDLETS.iter().find(|row| has(row.names, &lower));
        let foreign = has(UNIX, &lower)
            && !items.iter().any(|item| match item {
                Item::Parameter { name, .. } => name.len() > 2 && row.is_some_and(|row| row.parameter(name).is_some()),
                Item::Words(_) | Item::Block => false,
            });
        // What is chosen of a list is in the list.
        if has("where-object where ? sort-object select-object select get-unique gu tee-object", &lower) {
            self.feed = call.fed.clone();
        }
        match (row, lower.as_str()) {
            (_, "pwsh" | "powershell" | "pwsh.exe" | "powershell.exe") => self.shell(first, items, redirects, call),
            (Some(row), _) if !foreign => self.cmdlet(row, items, redirects, call),
            (_, "foreach-object" | "foreach" | "%" | "where-object" | "where" | "?") if call.ran_block => {
                if !redirects.is_empty() {
                    self.emit(vec![word(quoted("echo"))], redirects, call.start);
                }
            }
            (_, "wsl" | "wsl.exe") => self.wsl(items, redirects, call),
            (_, "cmd" | "cmd.exe") => {
                let words = items
                    .into_iter()
                    .flat_map(Item::into_words)
                    .skip_while(|word| literal(word).is_some_and(|text| text.starts_with('/') && text.len() < 4));
                let words = std::iter::once(word(quoted("eval"))).chain(words.map(path));
                self.emit(words.collect(), redirects, call.start);
            }
            _ => self.native(path(first), items, redirects, call),
        }
    }

    /// A program, a function, or a cmdlet that the catalogue knows.
    fn native(&mut self, program: Word, items: Vec<Item>, redirects: Vec<Redirect>, call: &Call) {
        let program = match literal(&program).filter(|name| !name.contains('/')) {
            Some(name) => {
                let lower = name.to_lowercase();
                let plain = lower.strip_suffix(".exe").or_else(|| lower.strip_suffix(".cmd")).unwrap_or(&lower);
                let kept = programs::embedded(&name).is_some();
                word(quoted(if kept { &name } else { plain }))
            }
            None => program,
        };
        let entry = literal(&program).and_then(|name| programs::embedded(&name));
        let entry = entry.filter(|entry| entry.names.first().is_some_and(|name| name.contains('-')));
        let mut words = vec![program];
        for item in items {
            match item {
                // The catalogue knows parameters by their whole names.
                Item::Parameter { name, value } if entry.is_some() => {
                    let lower = format!("-{}", name.to_lowercase());
                    let known = entry.iter().flat_map(|entry| entry.options.iter());
                    let known = known.map(|option| option.name.as_ref()).find(|known| known.starts_with(&lower));
                    words.push(word(quoted(known.unwrap_or(&lower))));
                    words.extend(value.into_iter().flatten().map(path));
                }
                item => words.extend(item.into_words().into_iter().map(path)),
            }
        }
        self.emit(words, redirects, call.start);
    }

    /// `wsl -d name -- command`
    fn wsl(&mut self, items: Vec<Item>, redirects: Vec<Redirect>, call: &Call) {
        let mut words = items.into_iter().flat_map(Item::into_words).peekable();
        while let Some(option) = words.peek().and_then(literal).filter(|option| option.starts_with('-')) {
            words.next();
            if matches!(option.as_str(), "-d" | "-u" | "--distribution" | "--user" | "--cd") {
                words.next();
            }
        }
        let mut words: Vec<Word> = words.collect();
        match words.as_slice() {
            [] => words.push(word(quoted("sh"))),
            // It names the same file.
            [program, .., file] if literal(program).as_deref() == Some("wslpath") => {
                words = vec![word(quoted("echo")), path(file.clone())];
            }
            _ => {}
        }
        self.emit(words, redirects, call.start);
    }

    fn cmdlet(&mut self, row: &Cmdlet, items: Vec<Item>, redirects: Vec<Redirect>, call: &Call) {
        // `-WhatIf` only prints.
        let dry = items
            .iter()
            .any(|item| matches!(item, Item::Parameter { name, value: None } if name.eq_ignore_ascii_case("whatif")));
        let mut bound = row.bind(items);
        let has_files = bound.values.iter().any(|(name, _)| matches!(*name, "path" | "literalpath" | "uri"));
        if call.stage > 0 && !has_files && !row.becomes.starts_with("> ") {
            self.take_fed(&mut bound, call);
        }
        let files: Vec<Word> = ["path", "literalpath", "filepath"].iter().flat_map(|name| bound.of(name)).collect();
        let becomes = row.becomes.split(' ').next().unwrap_or_default();
        if let Some((drive, name)) = files.first().and_then(drive) {
            return self.on_drive(becomes, &drive, &name, &bound, call.start);
        }
        let values = || [bound.of("value"), bound.of("inputobject")].concat();
        let mut words = match becomes {
            _ if dry => vec![word(quoted("echo"))],
            ">" => {
                let all = redirects.into_iter().chain(files.into_iter().map(|file| Redirect {
                    aside: false,
                    direction: Direction::To,
                    target: Target::Word(pattern(file)),
                }));
                let values = [values(), bound.rest].concat();
                // What comes through the pipe is written.
                if values.is_empty() && call.stage > 0 {
                    let target = |redirect: Redirect| match redirect.target {
                        Target::Word(word) => Some(word),
                        Target::Heredoc(_) => None,
                    };
                    let words = std::iter::once(word(quoted("tee"))).chain(all.filter_map(target)).collect();
                    return self.emit(words, Vec::new(), call.start);
                }
                let words = std::iter::once(word(quoted("echo"))).chain(values).collect();
                return self.emit(words, all.collect(), call.start);
            }
            "new-item" => new_item(&bound),
            "start-process" => {
                let started = start_process(&bound);
                let files = ["redirectstandardoutput", "redirectstandarderror"].iter().flat_map(|name| bound.of(name));
                let redirects = files.map(|file| Redirect {
                    aside: false,
                    direction: Direction::To,
                    target: Target::Word(path(file)),
                });
                return self.emit(started, redirects.collect(), call.start);
            }
            "eval" => return self.evaluate([bound.of("command"), bound.rest].concat(), call),
            "set-variable" => {
                let name = bound.of("name").first().and_then(literal);
                return name.into_iter().for_each(|name| self.assign(name.to_lowercase(), Some(bound.of("value"))));
            }
            _ => rendered(&bound),
        };
        if becomes == "ls" && !row.becomes.contains("-d") {
            self.feed = Some(listed(&bound));
        }
        let is_text = matches!(becomes, "echo" | "eval");
        if !is_text && becomes != "grep" {
            words = words.into_iter().map(pattern).collect();
        }
        self.emit(words, redirects, call.start);
    }

    /// Binds what comes through the pipe to the parameter that names files.
    fn take_fed(&mut self, bound: &mut Bound<'_>, call: &Call) {
        let becomes = bound.row.becomes.split(' ').next().unwrap_or_default();
        let name = if becomes == "curl" { "uri" } else { "path" };
        let fed = match becomes {
            "rm" | "cp" | "mv" | "curl" | "cat" => call.fed.clone().unwrap_or_else(|| vec![word(unknown())]),
            "grep" => call.fed.clone().unwrap_or_default(),
            _ => return,
        };
        // A new name is in the directory of the old one.
        if bound.row.becomes.ends_with("newname") && !bound.values.iter().any(|(name, _)| *name == "newname") {
            bound.values.push(("newname", fed.clone()));
        }
        bound.values.push((name, fed));
    }

    /// PowerShell within PowerShell.
    fn shell(&mut self, program: Word, items: Vec<Item>, redirects: Vec<Redirect>, call: &Call) {
        let (mut encoded, mut code, mut words) = (false, None::<Vec<Word>>, Vec::new());
        for item in items {
            let name = match &item {
                Item::Parameter { name, .. } => name.to_lowercase(),
                Item::Words(_) | Item::Block => String::new(),
            };
            encoded |= name == "ec" || name.starts_with('e') && "encodedcommand".starts_with(&name);
            let begins = name.starts_with('c') && "command".starts_with(&name);
            let given = item.into_words();
            let text = |word: &Word| literal(word).is_none_or(|text| text.contains(char::is_whitespace));
            match &mut code {
                Some(code) => code.extend(given),
                None if begins => code = Some(Vec::new()),
                None if words.is_empty() && given.iter().any(text) => code = Some(given),
                None => words.extend(given),
            }
        }
        match code {
            Some(code) if code.is_empty() => {}
            Some(code) => {
                let texts: Option<Vec<String>> = code.iter().map(literal).collect();
                let code = texts.map_or(code, |texts| vec![word(quoted(&texts.join(" ")))]);
                self.evaluate(code, call);
            }
            None if encoded => self.emit(vec![word(quoted("eval")), word(unknown())], redirects, call.start),
            None => {
                let items = words.into_iter().map(|word| Item::Words(vec![word])).collect();
                self.native(path(program), items, redirects, call);
            }
        }
    }

    /// What cmdlets do to variables and the registry.
    fn on_drive(&mut self, becomes: &str, drive: &str, name: &str, bound: &Bound<'_>, start: usize) {
        let value = || bound.of("value").first().map_or_else(unknown, |word| word.parts.clone());
        let words: Vec<&str> = match (drive, becomes) {
            ("env", ">") => return self.export(name, value(), start),
            ("env", "rm") => vec!["unset", name],
            ("env", "cat") => vec!["printenv", name],
            ("env", "ls") if name.is_empty() => vec!["printenv"],
            ("variable", ">") => return self.assign(name.to_lowercase(), Some(vec![word(value())])),
            ("function" | "alias", ">" | "new-item" | "cp" | "mv") => {
                return self.emit(vec![word(quoted("eval")), word(unknown())], Vec::new(), start);
            }
            ("hklm" | "hkcu" | "hkcr" | "hku" | "hkcc" | "registry", "rm") => vec!["reg", "delete", name],
            ("hklm" | "hkcu" | "hkcr" | "hku" | "hkcc" | "registry", ">" | "new-item" | "cp" | "mv") => {
                vec!["reg", "add", name]
            }
            _ => vec!["true"],
        };
        self.emit(words.into_iter().map(|text| word(quoted(text))).collect(), Vec::new(), start);
    }

    /// Text that is run: read here where it is written out.
    fn evaluate(&mut self, words: Vec<Word>, call: &Call) {
        if words.is_empty() && call.stage > 0 {
            return self.emit(vec![word(quoted("sh"))], Vec::new(), call.start);
        }
        match words.as_slice() {
            [only] if literal(only).is_some() => {
                let text = literal(only).unwrap_or_default();
                let within = self.within.clone().unwrap_or(call.start..self.at);
                let out = std::mem::take(&mut self.out);
                let depth = self.depth + 1;
                let mut inner = Reader { text: &text, at: 0, out, depth, within: Some(within), feed: None };
                let value = inner.script(None);
                value.into_iter().for_each(|value| inner.echo(value));
                self.out = inner.out;
            }
            _ => {
                let words = std::iter::once(word(quoted("eval"))).chain(words).collect();
                self.emit(words, Vec::new(), call.start);
            }
        }
    }

    /// Emits what a method does that writes, deletes, runs or downloads; the value of the call.
    pub(super) fn method(
        &mut self,
        of_type: Option<&str>,
        receiver: &[Word],
        name: &str,
        args: Vec<Word>,
        start: usize,
    ) -> Vec<Word> {
        let of = of_type.unwrap_or_default();
        let on_files = of.ends_with("file") || of.ends_with("directory");
        let target = || {
            let of_value = if of_type.is_some() { None } else { receiver.first() };
            of_value.or(args.first()).cloned().map_or_else(|| word(unknown()), path)
        };
        let command = |text: &str, words: &[Word]| {
            let start = text.split(' ').map(|text| word(quoted(text)));
            start.chain(words.iter().cloned().map(path)).collect::<Vec<_>>()
        };
        let words = match name {
            "writealltext" | "writealllines" | "writeallbytes" | "appendalltext" | "appendalllines" | "createtext"
            | "openwrite" | "appendtext" => command("tee", &[target()]),
            "create" if on_files => command("tee", &[target()]),
            "createdirectory" => command("mkdir -p", &[target()]),
            "delete" if of_type.is_none() || on_files => command("rm -r -f", &[target()]),
            "readalltext" | "readalllines" | "readallbytes" | "openread" | "opentext" | "readlines" => {
                command("cat", &[target()])
            }
            "copy" if on_files => command("cp", &args),
            "move" | "replace" if on_files => command("mv", &args),
            "copyto" => command("cp", &[receiver, args.as_slice()].concat()),
            "moveto" => command("mv", &[receiver, args.as_slice()].concat()),
            "start" if of.ends_with("process") => split_program(args),
            "new" if of.ends_with("streamwriter") || of.ends_with("filestream") => command("tee", &[target()]),
            "run" | "exec" | "shellexecute" => command("eval", &args),
            "create" | "invokescript" | "addscript" if name != "create" || of.ends_with("scriptblock") => {
                let call = Call { start, stage: 0, fed: None, dotted: false, ran_block: false };
                self.evaluate(args, &call);
                return vec![word(unknown())];
            }
            "load" | "loadfrom" | "loadfile" | "unsafeloadfrom" if of.ends_with("assembly") => {
                command("eval", &[word(unknown())])
            }
            "downloadstring" | "downloaddata" | "getstringasync" | "getasync" | "getbytearrayasync"
            | "getstreamasync" => command("curl", args.get(..1).unwrap_or_default()),
            "downloadfile" => {
                let option = args.get(1).map(|file| command("curl -o", std::slice::from_ref(file)));
                let words = option.unwrap_or_else(|| command("curl", &[]));
                words.into_iter().chain(args.first().cloned()).collect()
            }
            "uploadstring" | "uploaddata" | "uploadvalues" | "postasync" | "putasync" => {
                command("curl -d", &args.iter().rev().cloned().collect::<Vec<_>>())
            }
            "uploadfile" => command("curl -T", &args.iter().rev().cloned().collect::<Vec<_>>()),
            "setenvironmentvariable" => {
                let name = args.first().and_then(literal).unwrap_or_else(|| "UNKNOWN".to_owned());
                let value = args.get(1).map_or_else(unknown, |word| word.parts.clone());
                self.export(&name, value, start);
                return vec![word(unknown())];
            }
            "getenvironmentvariable" => {
                let known = args
                    .first()
                    .and_then(literal)
                    .map(|name| super::expression::value_of(&format!("env:{name}").to_lowercase()));
                return vec![word(known.unwrap_or_else(unknown))];
            }
            "getfolderpath" => {
                let asked = args.first().and_then(literal).unwrap_or_default().to_lowercase();
                return vec![word(if asked == "userprofile" {
                    super::expression::value_of("home")
                } else {
                    unknown()
                })];
            }
            "combine" if of.ends_with("path") => return vec![below(args.into_iter())],
            _ => return vec![word(unknown())],
        };
        self.out.substitutions += 1;
        let number = self.out.substitutions;
        self.step(super::Step::Open(super::Scope::Substitution(number)));
        self.emit(words, Vec::new(), start);
        self.step(super::Step::Close);
        vec![word(Parts::from_iter([Part::Output { number, quoted: true }]))]
    }
}

/// The drive and the name behind it, for `env:x`, `HKLM:\x` and their like.
fn drive(given: &Word) -> Option<(String, String)> {
    let start = match given.parts.first() {
        Some(Part::Plain(text) | Part::Quoted(text)) => text.to_string(),
        _ => return None,
    };
    let (drive, name) = start.split_once(':')?;
    let drive = drive.to_ascii_lowercase();
    let listed = "env variable function alias cert wsman hklm hkcu hkcr hku hkcc registry";
    has(listed, &drive).then(|| (drive, name.trim_start_matches([':', '\\', '/']).replace('\\', "/")))
}

/// The files that a listing finds.
fn listed(bound: &Bound<'_>) -> Vec<Word> {
    let mut paths = [bound.of("path"), bound.of("literalpath"), bound.rest.clone()].concat();
    if paths.is_empty() {
        paths.push(word(quoted(".")));
    }
    let filter = bound.of("filter").into_iter().next().filter(|_| !bound.switches.contains(&"recurse"));
    let name = filter.map_or_else(unknown, |filter| filter.parts);
    let is_wild = |given: &Word| literal(given).is_some_and(|text| text.contains(['*', '?']));
    let found = |given: Word| if is_wild(&given) { given } else { below([given, word(name.clone())].into_iter()) };
    paths.into_iter().map(found).map(pattern).collect()
}

/// The words that a cmdlet becomes.
fn rendered(bound: &Bound<'_>) -> Vec<Word> {
    let mut words = Vec::new();
    for token in bound.row.becomes.split(' ') {
        if let Some((name, flag)) = token.split_once('?') {
            words.extend(bound.switches.contains(&name).then(|| word(quoted(flag))));
        } else if let Some((name, option)) = token.split_once(':') {
            for value in bound.of(name) {
                words.extend([word(quoted(option)), value]);
            }
        } else if words.is_empty() || token.starts_with('-') || matches!(token, "now") {
            words.push(word(quoted(token)));
        } else {
            words.extend(bound.of(token));
        }
    }
    words.extend(bound.rest.iter().cloned());
    words
}

fn new_item(bound: &Bound<'_>) -> Vec<Word> {
    let kind = bound.of("itemtype").first().and_then(literal).unwrap_or_default().to_lowercase();
    let mut files = [bound.of("path"), bound.rest.clone()].concat();
    if let Some(name) = bound.of("name").into_iter().next() {
        let mut parts = files.first().map(|word| word.parts.clone()).unwrap_or_default();
        if !parts.is_empty() {
            parts.push(Part::Quoted("/".into()));
        }
        parts.extend(name.parts);
        files = vec![word(parts)];
    }
    let targets = [bound.of("target"), bound.of("value")].concat();
    let start: Vec<Word> = match kind.as_str() {
        "directory" => vec![word(quoted("mkdir")), word(quoted("-p"))],
        "symboliclink" | "junction" => [vec![word(quoted("ln")), word(quoted("-s"))], targets].concat(),
        "hardlink" => [vec![word(quoted("ln"))], targets].concat(),
        _ => vec![word(quoted("tee"))],
    };
    [start, files].concat()
}

fn start_process(bound: &Bound<'_>) -> Vec<Word> {
    let elevated = bound.of("verb").first().and_then(literal).is_some_and(|verb| verb.eq_ignore_ascii_case("runas"));
    let mut words: Vec<Word> = elevated.then(|| word(quoted("sudo"))).into_iter().collect();
    if let Some(directory) = bound.of("workingdirectory").into_iter().next() {
        words.extend([word(quoted("env")), word(quoted("-C")), path(directory)]);
    }
    let command = [bound.of("filepath"), bound.of("argumentlist"), bound.rest.clone()].concat();
    words.extend(split_program(command));
    words
}

/// A program and its arguments, of which each may be several words in one text.
fn split_program(args: Vec<Word>) -> Vec<Word> {
    let mut args = args.into_iter().map(path);
    let mut words: Vec<Word> = args.next().into_iter().collect();
    for arg in args {
        match literal(&arg).filter(|text| !text.contains(['"', '\''])) {
            Some(text) => words.extend(text.split_whitespace().map(|text| word(quoted(text)))),
            None => words.push(arg),
        }
    }
    if words.is_empty() { vec![word(unknown())] } else { words }
}
