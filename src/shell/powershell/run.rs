//! Commands: a cmdlet becomes the program that the rules know, and any other command stays what it is.

use super::cmdlets::{Bound, Call, Item, below, path, pattern};
use super::methods::split_program;
use super::table::{CMDLETS, Cmdlet, UNIX, has};
use super::{Reader, literal, quoted, unknown, word};
use crate::programs;
use crate::shell::syntax::{Direction, Part, Redirect, Target, Word};

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

    pub(super) fn run_program(&mut self, mut items: Vec<Item>, redirects: Vec<Redirect>, call: &Call) {
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
        let items: Vec<Item> = program.into_iter().map(|word| Item::Words(vec![word])).chain(items).collect();
        let Some(name) = literal(&first).filter(|name| !name.is_empty()) else {
            return self.native(path(first), items, redirects, call);
        };
        // `Module\Name` is the cmdlet of that name.
        let (module, plain) = name.rsplit_once('\\').unwrap_or(("", &name));
        let is_module = module.starts_with(|c: char| c.is_ascii_alphabetic()) && !module.contains([':', '/']);
        let lower = if is_module { plain } else { &name }.to_lowercase();
        let qualified = is_module && programs::embedded(&lower).is_some();
        let first = if qualified { word(quoted(&lower)) } else { first };
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
            // `% Delete` calls the method of each.
            (_, "foreach-object" | "foreach" | "%") if items.iter().any(names_delete) => {
                let fed = call.fed.clone().unwrap_or_default();
                self.method(None, &fed, "delete", Vec::new(), call.start);
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
                item @ (Item::Parameter { .. } | Item::Words(_) | Item::Block) => {
                    words.extend(item.into_words().into_iter().map(path))
                }
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
        let mut words: Vec<Word> = words.map(path).collect();
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
                let files = ["redirectstandardoutput", "redirectstandarderror"].iter().flat_map(|name| bound.of(name));
                let redirects = files.map(|file| Redirect {
                    aside: false,
                    direction: Direction::To,
                    target: Target::Word(path(file)),
                });
                return self.start_process(&bound, redirects.collect(), call);
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

    fn start_process(&mut self, bound: &Bound<'_>, redirects: Vec<Redirect>, call: &Call) {
        let elevates = |verb: &Word| literal(verb).is_some_and(|verb| verb.eq_ignore_ascii_case("runas"));
        let mut before: Vec<Word> =
            bound.of("verb").first().filter(|verb| elevates(verb)).map(|_| word(quoted("sudo"))).into_iter().collect();
        if let Some(directory) = bound.of("workingdirectory").into_iter().next() {
            before.extend([word(quoted("env")), word(quoted("-C")), path(directory)]);
        }
        let items = split_program([bound.of("filepath"), bound.of("argumentlist"), bound.rest.clone()].concat());
        if before.is_empty() {
            return self.nested(|reader| reader.run_program(items, redirects, call));
        }
        let words = before.into_iter().chain(items.into_iter().flat_map(Item::into_words)).collect();
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
    pub(super) fn evaluate(&mut self, words: Vec<Word>, call: &Call) {
        if words.is_empty() && call.stage > 0 {
            return self.emit(vec![word(quoted("sh"))], Vec::new(), call.start);
        }
        match words.as_slice() {
            [only] if literal(only).is_some() => {
                let text = literal(only).unwrap_or_default();
                let within = self.within.clone().unwrap_or(call.start..self.at);
                let out = std::mem::take(&mut self.out);
                let depth = self.depth;
                let mut inner = Reader { text: &text, at: 0, out, depth, within: Some(within), feed: None };
                let value = inner.nested(|reader| reader.script(None));
                value.into_iter().for_each(|value| inner.echo(value));
                self.out = inner.out;
            }
            _ => {
                let words = std::iter::once(word(quoted("eval"))).chain(words).collect();
                self.emit(words, Vec::new(), call.start);
            }
        }
    }
}

fn names_delete(item: &Item) -> bool {
    let is_delete = |word: &Word| literal(word).is_some_and(|text| text.eq_ignore_ascii_case("delete"));
    matches!(item, Item::Words(words) if words.iter().any(is_delete))
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
