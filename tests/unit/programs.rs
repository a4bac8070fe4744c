//! Tests of the catalogue: its examples, and the option parser.

use super::*;
use crate::path::Place;
use crate::{self_test, shell};

fn describe(line: &str) -> Vec<String> {
    let reading = shell::read(line, &Place::default(), &Catalogue::shipped());
    reading.commands.first().map(self_test::describe).unwrap_or_default()
}

#[test]
fn every_example_of_the_catalogue_holds() {
    let example = |(command, expected): &(&str, &[&str])| schema::Example {
        command: (*command).to_owned(),
        expected: expected.iter().map(|item| (*item).to_owned()).collect(),
    };
    let examples: Vec<schema::Example> = embedded_examples().iter().map(example).collect();
    let wrong = self_test::check_program_examples(&examples, &Catalogue::shipped());
    assert!(wrong.is_empty(), "{} examples do not hold:\n{}", wrong.len(), wrong.join("\n"));
    assert!(examples.len() > 500, "examples are missing");
}

#[test]
fn every_entry_can_be_decoded() {
    assert!(ENDS.len() > 10_000, "entries are missing");
    let broken: Vec<usize> = (0..ENDS.len()).filter(|number| decode(*number).is_none()).collect();
    assert!(broken.is_empty(), "{broken:?}");
}

#[test]
fn the_letters_of_a_verb_hide_none_of_its_names() {
    for verb in (0..ENDS.len()).filter_map(decode).flat_map(|entry| entry.verbs) {
        for word in verb.names().map(|name| name.replace('*', "x")) {
            assert!(verb.may_fit(entry::letter_bit(&word)), "{word}");
        }
    }
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
        // The longest pattern holds, in whatever order the file lists them.
        ("az storage blob delete-batch -s x", "destroy"),
        ("az vm list-sizes -l x", "look"),
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
        ("[x]\noperands = 'run* text'", "`x`: `operands`: nothing can follow a command"),
        ("[x]\ndoes = 'run'", "`x`: `x` has the effect `run`, but neither says what it runs nor has `finds`"),
        (
            "[x]\ndoes = 'work'\nverbs.run = ['y']",
            "`x`: `y` has the effect `run`, but neither says what it runs nor has `finds`",
        ),
    ] {
        assert_eq!(schema::parse(text).unwrap_err(), expected);
    }
}

#[test]
fn an_operators_entry_is_joined_with_the_shipped_one_and_wins() {
    let mut catalogue = Catalogue::shipped();
    let text = "
        [kubectl.verb]
        ctx.does = 'look'
        get.does = 'change'
        [deploy]
        aliases = 'dep'
        does = 'work'
        text = '--env'
        write = '--report'
        operands = 'text read*'";
    catalogue.add(text, Trust::Guarded).unwrap();
    let describe = |line: &str| {
        let reading = shell::read(line, &Place::default(), &catalogue);
        self_test::describe(reading.commands.first().unwrap()).join(", ")
    };
    assert_eq!(describe("kubectl ctx"), "look");
    assert_eq!(describe("kubectl get"), "change");
    assert!(describe("kubectl -n x delete pod y").starts_with("destroy"));
    // A harmless use does not take a protected file out of its protection.
    assert_eq!(describe("dep --env a --report b c d"), "work, unknown a, write b, unknown c, read d");
}

#[test]
fn an_operators_entry_cannot_take_the_name_of_another_program() {
    for (text, expected) in [
        (
            "[x]\naliases = 'cat'",
            "`aliases`: `cat` is a program that Rune knows\n  help: give `cat` a table of its own",
        ),
        ("[x]\n[y]\naliases = 'x'", "`x`: described twice\n  help: keep one of the tables"),
    ] {
        assert_eq!(Catalogue::shipped().add(text, Trust::Guarded).unwrap_err(), expected);
    }
}
