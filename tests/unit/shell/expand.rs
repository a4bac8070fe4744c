//! Unit tests of `src/shell/expand.rs`.

use super::super::parse::parse;
use super::super::syntax::Instruction;
use super::*;
use crate::verdict::limits::Meter;

fn expand(line: &str) -> Vec<String> {
    let state = ShellState { home: Some("/home/u".into()), cwd: Some("/p".into()), ..ShellState::default() };
    let script = parse(&format!("x {line}"), &Meter::default());
    let Some(Instruction::Simple(simple)) = script.instructions.into_iter().next() else { panic!("{line}") };
    expand_fields(simple.words.into_iter().skip(1), &state).into_iter().map(|arg| arg.text.to_string()).collect()
}

#[test]
fn words_become_what_a_program_gets() {
    for (line, expected) in [
        ("a\\ b 'c d' \"e f\"", vec!["a b", "c d", "e f"]),
        ("r''m \"\" ''", vec!["rm", "", ""]),
        ("~ ~/x '~' x~", vec!["/home/u", "/home/u/x", "~", "x~"]),
        ("/{a,b}/c {1..3} {x} {a,{b,c}}", vec!["/a/c", "/b/c", "1", "2", "3", "{x}", "a", "b", "c"]),
        ("a$IFS-b a${IFS%?}b", vec!["a", "-b", "a", "b"]),
        ("'{a,b}' \\{a,b}", vec!["{a,b}", "{a,b}"]),
        ("$X/y \"$X\"", vec!["$X/y", "$X"]),
        ("$'\\x72\\155'", vec!["rm"]),
    ] {
        assert_eq!(expand(line), expected, "{line}");
    }
}

#[test]
fn the_shortcut_for_one_part_gives_the_general_result() {
    let words = "\"$A\" $A \"${A}\" \"${A%x}\" \"${A:-y}\" \"${!A}\" $((1)) \"$IFS\" a\"$A\" \"\"$A\"\" \"$A$A\" \"$(x)\" $(x) `x` \"a$(x)\"";
    let script = parse(&format!("x {words}"), &Meter::default());
    let simple = script
        .instructions
        .into_iter()
        .filter_map(|step| if let Instruction::Simple(simple) = step { Some(simple) } else { None });
    let words: Vec<Word> = simple.flat_map(|simple| simple.words).collect();
    assert!(words.iter().any(|word| expand_single_part(word, BoundState::new(&ShellState::default())).is_some()));
    let known = ["", "v", "a b", "*", "~", "{a,b}", "x\u{1f}y"].map(|text| Value::Known(text.to_owned()));
    let each = Value::OneOf(vec!["a".to_owned(), "b".to_owned()]);
    let written = Value::Prefix(Arg { text: "a$B".into(), known: Some(1), glob: false });
    let values = known.into_iter().chain([each, written, Value::Unknown]).map(Some).chain([None]);
    for (value, word) in values.flat_map(|value| words.iter().map(move |word| (value.clone(), word))) {
        for (separated, printed, aliased) in [(false, false, false), (true, true, false), (false, true, true)] {
            let mut state = ShellState::default();
            state.variables.extend(value.clone().map(|value| ("A".to_owned(), value)));
            state.variables.extend(separated.then(|| ("IFS".to_owned(), Value::Known(",".to_owned()))));
            state.outputs.extend((0..9).filter(|_| printed).map(|number| (number, "a b".to_owned())));
            state.options.has_nameref = aliased;
            let bound = BoundState::new(&state);
            assert_eq!(expand_word(word, bound), expand_parts(word, bound), "{word:?} {value:?}");
        }
    }
}
