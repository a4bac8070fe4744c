//! Methods of .NET that write, delete, run or download.

use super::cmdlets::{Call, Item, below, path};
use super::{Reader, Scope, Step, literal, quoted, unknown, word};
use crate::shell::syntax::{Part, Parts, Word};

impl Reader<'_> {
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
            "start" if of.ends_with("process") => {
                let call = Call { start, stage: 0, fed: None, dotted: false, ran_block: false };
                self.nested(|reader| reader.run_program(split_program(args), Vec::new(), &call));
                return vec![word(unknown())];
            }
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
                let known =
                    args.first().and_then(literal).map(|name| self.value_of(&format!("env:{name}").to_lowercase()));
                return vec![word(known.unwrap_or_else(unknown))];
            }
            "getfolderpath" => {
                let asked = args.first().and_then(literal).unwrap_or_default().to_lowercase();
                return vec![word(if asked == "userprofile" { self.value_of("home") } else { unknown() })];
            }
            "combine" if of.ends_with("path") => return vec![below(args.into_iter())],
            _ => return vec![word(unknown())],
        };
        self.out.substitutions += 1;
        let number = self.out.substitutions;
        self.step(Step::Open(Scope::Substitution(number)));
        self.emit(words, Vec::new(), start);
        self.step(Step::Close);
        vec![word(Parts::from_iter([Part::Output { number, quoted: true }]))]
    }
}

/// A program and its arguments, of which each may be several words in one text.
pub(super) fn split_program(args: Vec<Word>) -> Vec<Item> {
    let mut args = args.into_iter();
    let program = args.next().map_or_else(|| word(unknown()), path);
    let mut items = vec![Item::Words(vec![program])];
    for arg in args {
        let Some(text) = literal(&arg) else {
            items.push(Item::Words(vec![path(arg)]));
            continue;
        };
        let (mut quote, mut current) = (None, String::new());
        for c in text.chars().chain([' ']) {
            match quote {
                None if c.is_whitespace() => items.extend(item(&std::mem::take(&mut current))),
                None if c == '"' || c == '\'' => quote = Some(c),
                Some(open) if c == open => quote = None,
                _ => current.push(c),
            }
        }
        items.extend(item(&current));
    }
    items
}

/// A word of a command line as an argument.
fn item(text: &str) -> Option<Item> {
    let name = text.strip_prefix('-').filter(|name| name.chars().all(|c| c.is_ascii_alphabetic()) && !name.is_empty());
    match name {
        Some(name) => Some(Item::Parameter { name: name.to_owned(), value: None }),
        None => (!text.is_empty()).then(|| Item::Words(vec![word(quoted(text))])),
    }
}
