//! Random commands in random spellings and constructs are parsed as what they are.

use super::{Selection, properties, read, words};
use proptest::prelude::*;

/// A literal word and its spelling with quotes and escapes.
#[derive(Clone, Debug)]
struct SpelledWord {
    text: String,
    written: String,
}

fn spelled_word() -> impl Strategy<Value = SpelledWord> {
    let text = "[a-z][a-z0-9 ./;|&<>()$*'\"#~-]{0,8}|-[a-z]{1,3}";
    (text, proptest::collection::vec(0..5_u8, 12)).prop_map(|(text, ways)| {
        let written = text.chars().zip(ways.iter().cycle()).map(|(c, way)| match way {
            0 if c.is_ascii_alphanumeric() => c.to_string(),
            1 if c != '\'' => format!("'{c}'"),
            2 if !matches!(c, '"' | '$' | '`' | '\\') => format!("\"{c}\""),
            3 => format!("$'\\x{:02x}'", u32::from(c)),
            4 if c.is_ascii_alphanumeric() => format!("{c}\\\n"),
            _ => format!("\\{c}"),
        });
        // Only a quoted keyword is an ordinary word.
        let keyword =
            ["do", "done", "elif", "else", "esac", "fi", "for", "if", "in", "then", "time", "case", "until", "while"];
        let written = if keyword.contains(&text.as_str()) { format!("'{text}'") } else { written.collect() };
        SpelledWord { written, text }
    })
}

fn simple() -> impl Strategy<Value = Vec<SpelledWord>> {
    proptest::collection::vec(spelled_word(), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn commands_in_any_spelling_are_found(tree in proptest::collection::vec((simple(), 0..13_usize), 1..5)) {
        let mut line = String::new();
        let mut expected = Vec::new();
        for (words, around) in &tree {
            let written = words.iter().map(|word| word.written.as_str()).collect::<Vec<_>>().join(" \\\n ");
            // Programs that run others may hand a single word with blanks to a shell, so that is read as a line too.
            let is_line = matches!(words.as_slice(), [only] if only.text.contains(' '));
            line += &match around {
                7 | 8 | 10 if is_line => format!("{written};"),
                0 => format!("{written};"),
                1 => format!("{written} &&\n"),
                2 => format!("({written})\n"),
                3 => format!("{{ {written}; }}\n"),
                4 => format!("if {written}; then true; fi\n"),
                5 => format!("true \"$({written})\"\n"),
                6 => format!("while {written}; do true; done\n"),
                7 => format!("env A=1 {written}\n"),
                8 => format!("sudo -n timeout 5 {written}\n"),
                9 => format!("bash -c '{}'\n", written.replace('\'', "'\\''")),
                10 => format!("command -- {written} &\n"),
                11 => format!("true `{}`\n", written.replace('\\', "\\\\").replace('`', "\\`")),
                _ => format!("{written} | "),
            };
            expected.push(words.iter().map(|word| word.text.clone()).collect::<Vec<_>>());
        }
        line.push_str("true");
        let reading = read(&line);
        prop_assert!(reading.is_readable(), "{line:?}: {:?}", reading.uncertainties);
        let found = words(&line, Selection::All);
        for words in &expected {
            prop_assert!(found.contains(words), "{line:?}: {words:?} not in {found:?}");
        }
        for wrapped in [
            format!("bash -c '{}'", line.replace('\'', "'\\''")),
            format!("( {line})"),
            format!("{{ {line}; }}"),
            format!("if {line}; then :; fi"),
            format!("echo \"$( {line})\""),
            format!("{line} | cat"),
            format!("true && {line}"),
        ] {
            let found = words(&wrapped, Selection::All);
            for words in &expected {
                prop_assert!(found.contains(words), "{wrapped:?}: {words:?} not in {found:?}");
            }
        }
    }

    #[test]
    fn any_text_is_parsed_without_a_panic(text in "\\PC{0,200}|[ \\n$(){}\\[\\]<>|&;'\"`\\\\#!*a-z=~-]{0,200}") {
        properties::check(&text);
    }
}
