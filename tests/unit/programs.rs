//! Tests of the catalogue: its examples, and the option parser.

use super::*;
use crate::path::Place;
use crate::shell;

/// What the catalogue says about the first command of a line: its effect, and each use with its value.
fn describe(line: &str) -> Vec<String> {
    let reading = shell::read(line, &Place::default(), &Catalogue::shipped());
    let command = reading.commands.first().unwrap_or_else(|| panic!("no command in `{line}`"));
    let parsed = command.parsed.as_ref().unwrap_or_else(|| panic!("`{}` has no entry", command.program));
    let uses = parsed.uses.iter().filter_map(|used| {
        let value = command.value(used)?;
        Some(format!("{} {}", used.takes.map_or("unknown", Use::name), value.text))
    });
    let words: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let command = parsed.command.map(|start| format!("run {}", words[start..].join(" ")));
    let flags = [("reveals", parsed.reveals()), ("brings", parsed.brings()), ("activates", parsed.activates())];
    let flags = flags.into_iter().filter(|(_, set)| *set).map(|(name, _)| name.to_owned());
    parsed.does.map(|does| does.name().to_owned()).into_iter().chain(uses).chain(command).chain(flags).collect()
}

#[test]
fn every_example_of_the_catalogue_holds() {
    let mut wrong = Vec::new();
    for (line, expected) in embedded_examples() {
        let found = describe(line);
        let missing: Vec<&&str> = expected.iter().filter(|item| !found.iter().any(|known| known == **item)).collect();
        if !missing.is_empty() {
            wrong.push(format!("`{line}`: expected {missing:?}, found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} examples do not hold:\n{}", wrong.len(), wrong.join("\n"));
    assert!(embedded_examples().len() > 500, "examples are missing");
}

#[test]
fn options_are_read_as_programs_read_them() {
    for (line, expected) in [
        // Clusters, attached values, values in the next word.
        ("tar -cI 'rm -rf /' -f x", "run rm -rf /"),
        ("sort -ox y", "write x"),
        ("sort --output=x y", "write x"),
        ("sort --output x y", "write x"),
        // Abbreviated long options.
        ("sort --outp=x y", "write x"),
        ("sort --outp x y", "write x"),
        // Everything behind `--` is an operand.
        ("sort -- -o", "read -o"),
        // Verbs behind options with values, and nested verbs.
        ("git -C web status", "look"),
        ("kubectl -n delete get pods", "look"),
        ("docker compose -f a.yml down -v", "lose"),
        // A general verb holds beside a special one.
        ("aws dynamodb delete-table --table-name x", "destroy"),
        // A flag that is switched off.
        ("npm publish --dry-run=false", "publish"),
        // The arguments of a script are its own.
        ("go run ./x --help", "run"),
    ] {
        assert!(describe(line).iter().any(|item| item == expected), "{line}: {:?}", describe(line));
    }
}

#[test]
fn an_invalid_file_is_reported_with_the_program_and_the_key() {
    for (text, expected) in [
        ("[x]\ndoes = 'fly'", "`x`: `does`: unknown effect `fly`"),
        ("[x]\ncolour = 'red'", "`x`: `colour`: unknown key"),
        ("[x]\nread = 'file'", "`x`: `read`: `file` is not an option"),
        ("[x]\noperands = 'read* write*'", "`x`: `operands`: more than one `*`"),
        ("[x]\nverbs.look = ['a', 'a']", "`x`: `a` is listed twice"),
    ] {
        assert_eq!(schema::parse(text).unwrap_err(), expected);
    }
}
