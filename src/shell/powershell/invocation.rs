//! Invocations of commands. A cmdlet is replaced by the equivalent program; any other command is kept.

use super::arguments::{Argument, BoundArguments, Invocation, join_path, to_path, to_pattern};
use super::cmdlets::{CMDLETS, Cmdlet, UNIX, has_word};
use super::methods::split_program;
use super::{PowerShellParser, literal_text, quoted, unknown, word};
use crate::programs;
use crate::shell::syntax::{ParsedRedirect, RedirectOperator, RedirectTarget, Word, WordPart};

impl PowerShellParser<'_> {
    /// Appends what a command runs. A cmdlet that only names files appends nothing and returns these files.
    pub(super) fn invoke(
        &mut self,
        items: Vec<Argument>,
        redirects: Vec<ParsedRedirect>,
        call: &Invocation,
    ) -> Option<Vec<Word>> {
        self.feed = None;
        let name = match items.first() {
            Some(Argument::Words(words)) => words.first().and_then(literal_text).unwrap_or_default().to_lowercase(),
            _ => String::new(),
        };
        if has_word("join-path resolve-path rvpa convert-path get-item gi", &name)
            && let Some(row) = CMDLETS.iter().find(|row| has_word(row.names, &name)).filter(|_| redirects.is_empty())
        {
            let bound = row.bind(items.into_iter().skip(1).collect());
            let files = [bound.of("path"), bound.of("literalpath")].concat();
            if name != "join-path" {
                return Some(files.into_iter().chain(bound.rest).map(to_pattern).collect());
            }
            let more = [bound.of("childpath"), bound.of("additionalchildpath"), bound.rest].concat();
            return Some(vec![join_path(files.into_iter().chain(more))]);
        }
        self.invoke_program(items, redirects, call);
        None
    }

    pub(super) fn invoke_program(
        &mut self,
        mut items: Vec<Argument>,
        redirects: Vec<ParsedRedirect>,
        call: &Invocation,
    ) {
        let redirects: Vec<ParsedRedirect> = redirects
            .into_iter()
            .map(|redirect| match redirect.target {
                RedirectTarget::Word(word) => {
                    ParsedRedirect { target: RedirectTarget::Word(to_path(word)), ..redirect }
                }
                RedirectTarget::Heredoc(_) => redirect,
            })
            .collect();
        if items.is_empty() || matches!(items.first(), Some(Argument::Block)) {
            if !redirects.is_empty() {
                self.push_command(vec![word(quoted("echo"))], redirects, call.start);
            }
            return;
        }
        let source = call.dotted.then(|| word(quoted("source")));
        let mut program = source.into_iter().chain(items.remove(0).into_words());
        let first = program.next().unwrap_or_else(|| word(unknown()));
        let items: Vec<Argument> = program.map(|word| Argument::Words(vec![word])).chain(items).collect();
        let Some(name) = literal_text(&first).filter(|name| !name.is_empty()) else {
            return self.invoke_native(to_path(first), items, redirects, call);
        };
        // `Module\Name` is the cmdlet of that name.
        let (module, plain) = name.rsplit_once('\\').unwrap_or(("", &name));
        let is_module = module.starts_with(|c: char| c.is_ascii_alphabetic()) && !module.contains([':', '/']);
        let lower = if is_module { plain } else { &name }.to_lowercase();
        let alias = self.out.aliases.get(&lower).cloned();
        let is_renamed = alias.is_some() || is_module && programs::embedded(&lower).is_some();
        let lower = alias.unwrap_or(lower);
        let first = if is_renamed { word(quoted(&lower)) } else { first };
        let row = CMDLETS.iter().find(|row| has_word(row.names, &lower));
        let foreign = has_word(UNIX, &lower)
            && !items.iter().any(|item| match item {
                Argument::Parameter { name, .. } => {
                    name.len() > 2 && row.is_some_and(|row| row.find_parameter(name).is_some())
                }
                Argument::Words(_) | Argument::Block => false,
            });
        // The output of a filter is a part of its input.
        if has_word("where-object where ? sort-object select-object select get-unique gu tee-object", &lower) {
            self.feed = call.fed.clone();
        }
        match (row, lower.as_str()) {
            (_, "pwsh" | "powershell" | "pwsh.exe" | "powershell.exe") => {
                self.invoke_powershell(first, items, redirects, call)
            }
            (Some(row), _) if !foreign => self.invoke_cmdlet(row, items, redirects, call),
            (_, "foreach-object" | "foreach" | "%" | "where-object" | "where" | "?") if call.ran_block => {
                if !redirects.is_empty() {
                    self.push_command(vec![word(quoted("echo"))], redirects, call.start);
                }
            }
            // `% Delete` calls the method of each element.
            (_, "foreach-object" | "foreach" | "%") if items.iter().any(names_delete) => {
                let fed = call.fed.clone().unwrap_or_default();
                self.push_method_call(None, &fed, "delete", Vec::new(), call.start);
            }
            (_, "wsl" | "wsl.exe") => self.invoke_wsl(items, redirects, call),
            _ => self.invoke_native(to_path(first), items, redirects, call),
        }
    }

    /// Appends a program, a function, or a cmdlet of the catalogue.
    fn invoke_native(
        &mut self,
        program: Word,
        items: Vec<Argument>,
        redirects: Vec<ParsedRedirect>,
        call: &Invocation,
    ) {
        let program = match literal_text(&program).filter(|name| !name.contains('/')) {
            Some(name) => {
                let lower = name.to_lowercase();
                let plain = lower.strip_suffix(".exe").or_else(|| lower.strip_suffix(".cmd")).unwrap_or(&lower);
                // Aliases that are names of other programs in the catalogue.
                let plain = match plain {
                    "where" => "where-object",
                    "gm" => "get-member",
                    plain => plain,
                };
                let kept = programs::embedded(&name).is_some() && plain != "where-object" && plain != "get-member";
                word(quoted(if kept { &name } else { plain }))
            }
            None => program,
        };
        let entry = literal_text(&program).and_then(|name| programs::embedded(&name));
        let entry = entry.filter(|entry| entry.names.first().is_some_and(|name| name.contains('-')));
        let mut words = vec![program];
        for item in items {
            match item {
                // The catalogue has the full names of parameters.
                Argument::Parameter { name, value } if entry.is_some() => {
                    let lower = format!("-{}", name.to_lowercase());
                    let known = entry.iter().flat_map(|entry| entry.options.iter());
                    let known = known.map(|option| option.name.as_str()).find(|known| known.starts_with(&lower));
                    words.push(word(quoted(known.unwrap_or(&lower))));
                    words.extend(value.into_iter().flatten().map(to_path));
                }
                item @ (Argument::Parameter { .. } | Argument::Words(_) | Argument::Block) => {
                    words.extend(item.into_words().into_iter().map(to_path))
                }
            }
        }
        self.push_command(words, redirects, call.start);
    }

    /// Appends the command of `wsl -d name -- command`.
    fn invoke_wsl(&mut self, items: Vec<Argument>, redirects: Vec<ParsedRedirect>, call: &Invocation) {
        let mut words = items.into_iter().flat_map(Argument::into_words).peekable();
        while let Some(option) = words.peek().and_then(literal_text).filter(|option| option.starts_with('-')) {
            words.next();
            if matches!(option.as_str(), "-d" | "-u" | "--distribution" | "--user" | "--cd") {
                words.next();
            }
        }
        let mut words: Vec<Word> = words.map(to_path).collect();
        match words.as_slice() {
            [] => words.push(word(quoted("sh"))),
            // `wslpath` prints another name of the same file.
            [program, .., file] if literal_text(program).as_deref() == Some("wslpath") => {
                words = vec![word(quoted("echo")), to_path(file.clone())];
            }
            _ => {}
        }
        self.push_command(words, redirects, call.start);
    }

    fn invoke_cmdlet(&mut self, row: &Cmdlet, items: Vec<Argument>, redirects: Vec<ParsedRedirect>, call: &Invocation) {
        // `-WhatIf` only prints.
        let dry = items.iter().any(
            |item| matches!(item, Argument::Parameter { name, value: None } if name.eq_ignore_ascii_case("whatif")),
        );
        let mut bound = row.bind(items);
        let has_files = bound.values.iter().any(|(name, _)| matches!(*name, "path" | "literalpath" | "uri"));
        if call.stage > 0 && !has_files && !row.becomes.starts_with("> ") {
            self.bind_piped(&mut bound, call);
        }
        let files: Vec<Word> = ["path", "literalpath", "filepath"].iter().flat_map(|name| bound.of(name)).collect();
        let becomes = row.becomes.split(' ').next().unwrap_or_default();
        if let Some((drive, name)) = files.first().and_then(split_drive) {
            return self.push_drive_access(becomes, &drive, &name, &bound, call.start);
        }
        let values = || [bound.of("value"), bound.of("inputobject")].concat();
        let mut words = match becomes {
            _ if dry => vec![word(quoted("echo"))],
            ">" => {
                let all = redirects.into_iter().chain(files.into_iter().map(|file| ParsedRedirect {
                    other_descriptor: false,
                    operator: RedirectOperator::Output,
                    target: RedirectTarget::Word(to_pattern(file)),
                }));
                let values = [values(), bound.rest].concat();
                // The input from the pipe is written.
                if values.is_empty() && call.stage > 0 {
                    let target = |redirect: ParsedRedirect| match redirect.target {
                        RedirectTarget::Word(word) => Some(word),
                        RedirectTarget::Heredoc(_) => None,
                    };
                    let words = std::iter::once(word(quoted("tee"))).chain(all.filter_map(target)).collect();
                    return self.push_command(words, Vec::new(), call.start);
                }
                let words = std::iter::once(word(quoted("echo"))).chain(values).collect();
                return self.push_command(words, all.collect(), call.start);
            }
            "new-item" => render_new_item(&bound),
            "start-process" => {
                let files = ["redirectstandardoutput", "redirectstandarderror"].iter().flat_map(|name| bound.of(name));
                let redirects = files.map(|file| ParsedRedirect {
                    other_descriptor: false,
                    operator: RedirectOperator::Output,
                    target: RedirectTarget::Word(to_path(file)),
                });
                return self.invoke_start_process(&bound, redirects.collect(), call);
            }
            "eval" => return self.parse_code([bound.of("command"), bound.rest].concat(), call),
            "set-alias" => return self.define_alias(&bound, call),
            "set-variable" => {
                let name = bound.of("name").first().and_then(literal_text);
                return name
                    .into_iter()
                    .for_each(|name| self.push_assignment(name.to_lowercase(), Some(bound.of("value"))));
            }
            _ => render(&bound),
        };
        if becomes == "ls" && !row.becomes.contains("-d") {
            self.feed = Some(listed_files(&bound));
        }
        let is_text = matches!(becomes, "echo" | "eval");
        if !is_text && becomes != "grep" {
            words = words.into_iter().map(to_pattern).collect();
        }
        self.push_command(words, redirects, call.start);
    }

    /// Records an alias. One with an unknown name or value may stand for any command.
    fn define_alias(&mut self, bound: &BoundArguments<'_>, call: &Invocation) {
        let lower = |name: &str| bound.of(name).first().and_then(literal_text).map(|text| text.to_lowercase());
        match (lower("name"), lower("value")) {
            (Some(name), Some(value)) => {
                let value = self.out.aliases.get(&value).cloned().unwrap_or(value);
                self.out.aliases.insert(name, value);
            }
            _ => self.push_command(vec![word(quoted("eval")), word(unknown())], Vec::new(), call.start),
        }
    }

    fn invoke_start_process(&mut self, bound: &BoundArguments<'_>, redirects: Vec<ParsedRedirect>, call: &Invocation) {
        let elevates = |verb: &Word| literal_text(verb).is_some_and(|verb| verb.eq_ignore_ascii_case("runas"));
        let mut before: Vec<Word> =
            bound.of("verb").first().filter(|verb| elevates(verb)).map(|_| word(quoted("sudo"))).into_iter().collect();
        if let Some(directory) = bound.of("workingdirectory").into_iter().next() {
            before.extend([word(quoted("env")), word(quoted("-C")), to_path(directory)]);
        }
        let items = split_program([bound.of("filepath"), bound.of("argumentlist"), bound.rest.clone()].concat());
        if before.is_empty() {
            return self.parse_nested(|parser| parser.invoke_program(items, redirects, call));
        }
        let words = before.into_iter().chain(items.into_iter().flat_map(Argument::into_words)).collect();
        self.push_command(words, redirects, call.start);
    }

    /// Binds the input from the pipe to the parameter for files.
    fn bind_piped(&mut self, bound: &mut BoundArguments<'_>, call: &Invocation) {
        let becomes = bound.row.becomes.split(' ').next().unwrap_or_default();
        let name = if becomes == "curl" { "uri" } else { "path" };
        let fed = match becomes {
            "rm" | "cp" | "mv" | "curl" | "cat" => call.fed.clone().unwrap_or_else(|| vec![word(unknown())]),
            "grep" => call.fed.clone().unwrap_or_default(),
            _ => return,
        };
        // The new name is relative to the directory of the old one.
        if bound.row.becomes.ends_with("newname") && !bound.values.iter().any(|(name, _)| *name == "newname") {
            bound.values.push(("newname", fed.clone()));
        }
        bound.values.push((name, fed));
    }

    /// Parses the code of a nested `pwsh -Command`.
    fn invoke_powershell(
        &mut self,
        program: Word,
        items: Vec<Argument>,
        redirects: Vec<ParsedRedirect>,
        call: &Invocation,
    ) {
        let (mut encoded, mut code, mut words) = (false, None::<Vec<Word>>, Vec::new());
        for item in items {
            let name = match &item {
                Argument::Parameter { name, .. } => name.to_lowercase(),
                Argument::Words(_) | Argument::Block => String::new(),
            };
            encoded |= name == "ec" || name.starts_with('e') && "encodedcommand".starts_with(&name);
            let begins = name.starts_with('c') && "command".starts_with(&name);
            let given = item.into_words();
            let text = |word: &Word| literal_text(word).is_none_or(|text| text.contains(char::is_whitespace));
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
                let texts: Option<Vec<String>> = code.iter().map(literal_text).collect();
                let code = texts.map_or(code, |texts| vec![word(quoted(&texts.join(" ")))]);
                self.parse_code(code, call);
            }
            None if encoded => self.push_command(vec![word(quoted("eval")), word(unknown())], redirects, call.start),
            None => {
                let items = words.into_iter().map(|word| Argument::Words(vec![word])).collect();
                self.invoke_native(to_path(program), items, redirects, call);
            }
        }
    }

    /// Appends an access to a drive of variables, functions, aliases or the registry.
    fn push_drive_access(&mut self, becomes: &str, drive: &str, name: &str, bound: &BoundArguments<'_>, start: usize) {
        let value = || bound.of("value").first().map_or_else(unknown, |word| word.parts.clone());
        let words: Vec<&str> = match (drive, becomes) {
            ("env", ">") => return self.push_export(name, value(), start),
            ("env", "rm") => vec!["unset", name],
            ("env", "cat") => vec!["printenv", name],
            ("env", "ls") if name.is_empty() => vec!["printenv"],
            ("variable", ">") => return self.push_assignment(name.to_lowercase(), Some(vec![word(value())])),
            ("function" | "alias", ">" | "new-item" | "cp" | "mv") => {
                return self.push_command(vec![word(quoted("eval")), word(unknown())], Vec::new(), start);
            }
            ("hklm" | "hkcu" | "hkcr" | "hku" | "hkcc" | "registry", "rm") => vec!["reg", "delete", name],
            ("hklm" | "hkcu" | "hkcr" | "hku" | "hkcc" | "registry", ">" | "new-item" | "cp" | "mv") => {
                vec!["reg", "add", name]
            }
            _ => vec!["true"],
        };
        self.push_command(words.into_iter().map(|text| word(quoted(text))).collect(), Vec::new(), start);
    }

    /// Parses code that the command runs, if it is literal. Otherwise appends `eval` with unknown text.
    pub(super) fn parse_code(&mut self, words: Vec<Word>, call: &Invocation) {
        if words.is_empty() && call.stage > 0 {
            return self.push_command(vec![word(quoted("sh"))], Vec::new(), call.start);
        }
        match words.as_slice() {
            [only] if literal_text(only).is_some() => {
                let text = literal_text(only).unwrap_or_default();
                let within = self.within.clone().unwrap_or(call.start..self.at);
                let out = std::mem::take(&mut self.out);
                let depth = self.depth;
                let mut inner = PowerShellParser { text: &text, at: 0, out, depth, within: Some(within), feed: None };
                let value = inner.parse_nested(|parser| parser.parse_statements(None));
                value.into_iter().for_each(|value| inner.push_echo(value));
                self.out = inner.out;
            }
            _ => {
                let words = std::iter::once(word(quoted("eval"))).chain(words).collect();
                self.push_command(words, Vec::new(), call.start);
            }
        }
    }
}

fn names_delete(item: &Argument) -> bool {
    let is_delete = |word: &Word| literal_text(word).is_some_and(|text| text.eq_ignore_ascii_case("delete"));
    matches!(item, Argument::Words(words) if words.iter().any(is_delete))
}

/// Splits a path such as `env:x` or `HKLM:\x` into the drive and the name.
fn split_drive(given: &Word) -> Option<(String, String)> {
    let start = given.parts.first()?.literal()?;
    let (drive, name) = start.split_once(':')?;
    let drive = drive.to_ascii_lowercase();
    let listed = "env variable function alias cert wsman hklm hkcu hkcr hku hkcc registry";
    has_word(listed, &drive).then(|| (drive, name.trim_start_matches([':', '\\', '/']).replace('\\', "/")))
}

/// Returns patterns for the files that `Get-ChildItem` lists.
fn listed_files(bound: &BoundArguments<'_>) -> Vec<Word> {
    let mut paths = [bound.of("path"), bound.of("literalpath"), bound.rest.clone()].concat();
    if paths.is_empty() {
        paths.push(word(quoted(".")));
    }
    let filter = bound.of("filter").into_iter().next().filter(|_| !bound.switches.contains(&"recurse"));
    let name = filter.map_or_else(unknown, |filter| filter.parts);
    let is_wild = |given: &Word| literal_text(given).is_some_and(|text| text.contains(['*', '?']));
    let found = |given: Word| if is_wild(&given) { given } else { join_path([given, word(name.clone())].into_iter()) };
    paths.into_iter().map(found).map(to_pattern).collect()
}

/// Returns the words of the equivalent program.
fn render(bound: &BoundArguments<'_>) -> Vec<Word> {
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

fn render_new_item(bound: &BoundArguments<'_>) -> Vec<Word> {
    let kind = bound.of("itemtype").first().and_then(literal_text).unwrap_or_default().to_lowercase();
    let mut files = [bound.of("path"), bound.rest.clone()].concat();
    if let Some(name) = bound.of("name").into_iter().next() {
        let mut parts = files.first().map(|word| word.parts.clone()).unwrap_or_default();
        if !parts.is_empty() {
            parts.push(WordPart::Quoted("/".into()));
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
