//! Methods of .NET that write, delete, run or download.

use super::arguments::{Argument, Invocation, join_path, to_path};
use super::{Instruction, PowerShellParser, Scope, literal_text, quoted, unknown, word};
use crate::programs::code::{self, lists};
use crate::shell::syntax::{Word, WordPart, WordParts};

impl PowerShellParser<'_> {
    /// Whether a word is an absolute path or begins with the home directory.
    fn is_path(&mut self, path: &Word) -> bool {
        let text = literal_text(path);
        let home = self.variable_parts("home");
        text.is_some_and(|text| text.contains(['/', '\\', '~'])) || path.parts == home
    }

    /// Appends the equivalent of a method that writes, deletes, runs or downloads. Returns the value of the call.
    pub(super) fn push_method_call(
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
            of_value.or(args.first()).cloned().map_or_else(|| word(unknown()), to_path)
        };
        let command = |text: &str, words: &[Word]| {
            let start = text.split(' ').map(|text| word(quoted(text)));
            start.chain(words.iter().cloned().map(to_path)).collect::<Vec<_>>()
        };
        let words = match name {
            "writealltext" | "writealllines" | "writeallbytes" | "appendalltext" | "appendalllines" | "createtext"
            | "openwrite" | "appendtext" => command("tee", &[target()]),
            "create" if on_files => command("tee", &[target()]),
            "createdirectory" => command("mkdir -p", &[target()]),
            "delete" if of_type.is_none() || on_files => command("rm -r -f", &[target()]),
            "deletedirectory" | "deletefile" => command("rm -r -f", &[target()]),
            // The providers of the engine: `$ExecutionContext.InvokeProvider.Item.Remove(path, recurse)`
            "remove" if args.len() > 1 && args.first().is_some_and(|path| self.is_path(path)) => {
                command("rm -r -f", args.get(..1).unwrap_or_default())
            }
            "getreader" if args.len() == 1 => command("cat", &args),
            "getwriter" if args.len() == 1 => command("tee", &args),
            // A method or a command that is looked up by its name, and called later.
            "getmethod" | "invokemember" | "addcommand" if args.first().is_some_and(is_serious_member) => {
                command("eval", &[word(unknown())])
            }
            "readalltext" | "readalllines" | "readallbytes" | "openread" | "opentext" | "readlines" => {
                command("cat", &[target()])
            }
            "copy" if on_files => command("cp", &args),
            "move" | "replace" if on_files => command("mv", &args),
            "copyto" => command("cp", &[receiver, args.as_slice()].concat()),
            "moveto" => command("mv", &[receiver, args.as_slice()].concat()),
            "start" if of.ends_with("process") => {
                let call = Invocation { start, stage: 0, fed: None, dotted: false, ran_block: false };
                self.parse_nested(|parser| parser.invoke_program(split_program(args), Vec::new(), &call));
                return vec![word(unknown())];
            }
            "new" if of.ends_with("streamwriter") || of.ends_with("filestream") => command("tee", &[target()]),
            "run" | "exec" | "shellexecute" => command("eval", &args),
            "create" | "invokescript" | "addscript" if name != "create" || of.ends_with("scriptblock") => {
                let call = Invocation { start, stage: 0, fed: None, dotted: false, ran_block: false };
                self.parse_code(args, &call);
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
                let name = args.first().and_then(literal_text).unwrap_or_else(|| "UNKNOWN".to_owned());
                let value = args.get(1).map_or_else(unknown, |word| word.parts.clone());
                self.push_export(&name, value, start);
                return vec![word(unknown())];
            }
            "getenvironmentvariable" => {
                let known = args
                    .first()
                    .and_then(literal_text)
                    .map(|name| self.variable_parts(&format!("env:{name}").to_lowercase()));
                return vec![word(known.unwrap_or_else(unknown))];
            }
            "getfolderpath" => {
                let asked = args.first().and_then(literal_text).unwrap_or_default().to_lowercase();
                return vec![word(if asked == "userprofile" { self.variable_parts("home") } else { unknown() })];
            }
            "combine" if of.ends_with("path") => return vec![join_path(args.into_iter())],
            _ => return vec![word(unknown())],
        };
        self.out.substitutions += 1;
        let number = self.out.substitutions;
        self.push_instruction(Instruction::Open(Scope::Substitution(number)));
        self.push_command(words, Vec::new(), start);
        self.push_instruction(Instruction::Close);
        vec![word(WordParts::from_iter([WordPart::Output { number, quoted: true }]))]
    }
}

/// Whether the name of a method or a command says that it runs, reads, writes or removes something, or is not known.
fn is_serious_member(name: &Word) -> bool {
    let Some(name) = literal_text(name).map(|name| name.to_lowercase()) else { return true };
    let is_command = name.contains('-') && !name.starts_with("get-") && !name.starts_with("write-");
    is_command || lists(&code::MENTIONED_METHODS, &name)
}

/// Splits the arguments of a program, each of which may be several words in one text.
pub(super) fn split_program(args: Vec<Word>) -> Vec<Argument> {
    let mut args = args.into_iter();
    let program = args.next().map_or_else(|| word(unknown()), to_path);
    let mut items = vec![Argument::Words(vec![program])];
    for arg in args {
        let Some(text) = literal_text(&arg) else {
            items.push(Argument::Words(vec![to_path(arg)]));
            continue;
        };
        let (mut quote, mut current) = (None, String::new());
        for c in text.chars().chain([' ']) {
            match quote {
                None if c.is_whitespace() => items.extend(to_argument(&std::mem::take(&mut current))),
                None if c == '"' || c == '\'' => quote = Some(c),
                Some(open) if c == open => quote = None,
                _ => current.push(c),
            }
        }
        items.extend(to_argument(&current));
    }
    items
}

/// Converts a word of a command line to an argument.
fn to_argument(text: &str) -> Option<Argument> {
    let name = text.strip_prefix('-').filter(|name| name.chars().all(|c| c.is_ascii_alphabetic()) && !name.is_empty());
    match name {
        Some(name) => Some(Argument::Parameter { name: name.to_owned(), value: None }),
        None => (!text.is_empty()).then(|| Argument::Words(vec![word(quoted(text))])),
    }
}
