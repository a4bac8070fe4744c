//! Expansion: from words as they are written to words as a program gets them, as far as that can be known.

mod tilde;

use super::state::{State, Value};
use super::syntax::{Part, Trim, Variable, Word};
use super::{APART, Arg};
use compact_str::CompactString;
use thin_vec::ThinVec;
use tilde::{Tildes, may_hold_tilde, tilde};

/// More words than this from one are not worth knowing one by one.
const MOST: usize = 64;

/// A character or a hole, on the way from a written word to its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Char(char, Quoting),
    /// The next field begins here.
    Break,
    /// What cannot be known, as it is written.
    Hole(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quoting {
    Bare,
    Quoted,
    /// Came out of a variable without quotes: may be a pattern, but neither brace nor tilde.
    Expanded,
}

/// Whether a value without quotes falls into several words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Splitting {
    On,
    Off,
}

type Pieces = Vec<Piece>;

/// The fields that words become: each none, one, or several.
pub(super) fn fields(words: impl IntoIterator<Item = Word>, state: &State) -> Vec<Arg> {
    let mut fields = Vec::new();
    for word in words {
        match as_it_is(word) {
            Ok(arg) => fields.push(arg),
            Err(word) => fields.extend(choices(&word, state).into_iter().flatten()),
        }
    }
    fields
}

/// Commands that one becomes by the values of several variables.
const MOST_LISTS: usize = 64;

/// Commands that one becomes by the values of a loop's variable.
const LONGEST_LOOP: usize = 1_000;

/// The words of a command, and further lists where a word of it may be one of several.
pub(super) fn argument_lists(
    words: impl ExactSizeIterator<Item = Word>,
    state: &State,
) -> (ThinVec<Arg>, Vec<ThinVec<Arg>>) {
    let mut first = ThinVec::with_capacity(words.len());
    let mut more: Vec<ThinVec<Arg>> = Vec::new();
    for word in words {
        let several = match as_it_is(word) {
            Ok(arg) => {
                more.iter_mut().for_each(|list| list.push(arg.clone()));
                first.push(arg);
                continue;
            }
            Err(word) => choices(&word, state),
        };
        // One command for each value, as long as that is not too many; else what it becomes is not known.
        let most = if more.is_empty() { LONGEST_LOOP } else { MOST_LISTS };
        let several = if several.len() > 1 && several.len() * (more.len() + 1) > most {
            more.truncate(MOST_LISTS);
            vec![several.into_iter().flatten().collect(), vec![hole()]]
        } else {
            several
        };
        let mut several = several.into_iter();
        let one = several.next().unwrap_or_default();
        let others: Vec<Vec<Arg>> = several.collect();
        let lists = std::iter::once(&first).chain(&more);
        let with = |list: &ThinVec<Arg>| {
            let joined = |other: &Vec<Arg>| list.iter().chain(other).cloned().collect::<ThinVec<_>>();
            others.iter().map(joined).collect::<Vec<_>>()
        };
        let added: Vec<ThinVec<Arg>> = lists.flat_map(with).collect();
        more.iter_mut().for_each(|list| list.extend_from_slice(&one));
        first.extend(one);
        more.extend(added);
    }
    more.retain(|list| !list.is_empty());
    if first.is_empty() && !more.is_empty() {
        first = more.remove(0);
    }
    (first, more)
}

/// Most words hold nothing to expand, and need not be taken apart.
fn as_it_is(mut word: Word) -> Result<Arg, Word> {
    let plain = |byte: u8| !matches!(byte, b'{' | b'~' | b'*' | b'?' | b']');
    if let [Part::Plain(text)] = word.parts.as_mut_slice()
        && text.bytes().all(plain)
    {
        return Ok(Arg { text: std::mem::take(text), known: None, glob: false });
    }
    let mut glob = false;
    for (at, part) in word.parts.iter().enumerate() {
        match part {
            Part::Plain(text) if !(text.contains('{') || may_hold_tilde(at, text)) => {
                // A bracket that opens is a name, one that closes ends a pattern.
                glob |= text.contains(['*', '?', ']']);
            }
            Part::Quoted(_) => {}
            Part::Plain(_) | Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => {
                return Err(word);
            }
        }
    }
    let mut text = CompactString::default();
    for part in word.parts {
        match part {
            Part::Plain(part) | Part::Quoted(part) if text.is_empty() => text = part,
            Part::Plain(part) | Part::Quoted(part) => text.push_str(&part),
            Part::Variable(_) | Part::Output { .. } | Part::List(_) | Part::Unknown { .. } => {}
        }
    }
    Ok(Arg { text, known: None, glob })
}

/// What a word becomes that holds nothing but one expansion of which all or nothing is known, as most do that have one.
fn of_one(word: &Word, state: &State) -> Option<Arg> {
    let is_nothing = |part: &&Part| matches!(part, Part::Quoted(text) if text.is_empty());
    let mut parts = word.parts.iter().filter(|part| !is_nothing(part));
    let (Some(part), None) = (parts.next(), parts.next()) else { return None };
    match part {
        Part::Unknown { .. } | Part::List(_) => Some(hole()),
        Part::Output { number, .. } => (!state.outputs.contains_key(number)).then(hole),
        Part::Variable(variable) => match (variable.as_ref(), state.value(&variable.name)) {
            (Variable { quoted: true, altered: false, trim: None, .. }, Some(Value::Known(text)))
                if !text.is_empty() && !text.contains(APART) =>
            {
                Some(Arg::literal(text.as_str()))
            }
            _ => None,
        },
        Part::Plain(_) | Part::Quoted(_) => None,
    }
}

/// The fields of a word for each value that the variables in it can have.
fn choices(word: &Word, state: &State) -> Vec<Vec<Arg>> {
    match of_one(word, state) {
        Some(arg) => vec![vec![arg]],
        None => taken_apart(word, state),
    }
}

/// The same for any word.
fn taken_apart(word: &Word, state: &State) -> Vec<Vec<Arg>> {
    // Quotes keep an empty word alive.
    let quoted = word.parts.iter().any(|part| matches!(part, Part::Quoted(_)));
    let choice = |alternative: Pieces| {
        let mut fields: Vec<Arg> = Vec::new();
        let listed = braces(alternative);
        // What braces have made is no assignment.
        let tildes = if listed.len() > 1 { Tildes::Start } else { Tildes::Word };
        for pieces in listed {
            let pieces = tilde(pieces, tildes, state);
            fields.extend(pieces.split(|piece| *piece == Piece::Break).filter(|field| !field.is_empty()).map(arg));
        }
        if fields.is_empty() && quoted {
            fields.push(Arg::default());
        }
        fields
    };
    alternatives(word, state, Splitting::On).into_iter().map(choice).collect()
}

/// The one string that a word becomes where nothing is split: a redirection's target. Several where it may be one of
/// several.
pub(super) fn strings(word: &Word, state: &State) -> Vec<Arg> {
    unsplit(word, Tildes::Word, state)
}

/// The same for the value of an assignment and for a here-string.
pub(super) fn values(word: &Word, state: &State) -> Vec<Arg> {
    unsplit(word, Tildes::Value, state)
}

fn unsplit(word: &Word, tildes: Tildes, state: &State) -> Vec<Arg> {
    if let Ok(arg) = as_it_is(word.clone()) {
        return vec![arg];
    }
    alternatives(word, state, Splitting::Off).into_iter().map(|pieces| arg(tilde(pieces, tildes, state))).collect()
}

/// The text of a heredoc.
pub(super) fn texts(parts: &[Part], state: &State) -> Vec<Arg> {
    if let [Part::Quoted(text)] = parts {
        return vec![Arg::literal(text.clone())];
    }
    let word = Word { parts: parts.into(), span: 0..0 };
    alternatives(&word, state, Splitting::Off).into_iter().map(arg).collect()
}

/// A word of which nothing is known.
pub(super) fn hole() -> Arg {
    Arg { text: "$()".into(), known: Some(0), glob: false }
}

/// The pieces of a word; one sequence for each value that the variables in it can have.
fn alternatives(word: &Word, state: &State, splitting: Splitting) -> Vec<Pieces> {
    let mut all = vec![Pieces::new()];
    for part in &word.parts {
        let values = match part {
            Part::Plain(text) => vec![chars(text, Quoting::Bare)],
            Part::Quoted(text) => vec![chars(text, Quoting::Quoted)],
            Part::Unknown { .. } | Part::List(_) => vec![vec![Piece::Hole("$()".to_owned())]],
            Part::Output { number, quoted } => match state.outputs.get(number) {
                Some(_) if !quoted && splitting == Splitting::On && state.value("IFS").is_some() => {
                    vec![vec![Piece::Hole("$()".to_owned())]]
                }
                Some(printed) if *quoted => vec![value(printed, Quoting::Quoted, Splitting::Off)],
                Some(printed) => vec![value(printed, Quoting::Expanded, splitting)],
                None => vec![vec![Piece::Hole("$()".to_owned())]],
            },
            Part::Variable(variable) => {
                let Variable { name, altered, trim, default, quoted } = variable.as_ref();
                let splitting = if *quoted { Splitting::Off } else { splitting };
                let quoting = if *quoted { Quoting::Quoted } else { Quoting::Expanded };
                let hole = || vec![vec![Piece::Hole(format!("${name}"))]];
                // `${!x}` is the value of the variable that `x` names.
                let named = name.strip_prefix('!').and_then(|name| state.value(name));
                let (name, altered) = match named {
                    Some(Value::Known(name)) => (name, &false),
                    _ => (name, altered),
                };
                match state.value(name) {
                    // `$IFS`, and whatever is cut out of it, is a blank that nobody typed.
                    None if name == "IFS" => vec![value(" ", quoting, splitting)],
                    // Nobody has set it here: it may have a value, or else this one.
                    None if default
                        .as_ref()
                        .is_some_and(|text| !text.contains(['$', '`']) && all.len() < MOST_LISTS) =>
                    {
                        let text = default.as_deref().unwrap_or_default();
                        let text = match text.strip_prefix('~').zip(state.home.as_deref()) {
                            Some((rest, home)) if rest.is_empty() || rest.starts_with('/') => format!("{home}{rest}"),
                            _ => text.to_owned(),
                        };
                        [hole(), vec![value(&text, quoting, splitting)]].concat()
                    }
                    // What a value falls into when somebody has changed the separators is theirs to know.
                    Some(_) if splitting == Splitting::On && state.value("IFS").is_some() => hole(),
                    Some(Value::Known(_) | Value::Each(_))
                        if trim.as_ref().is_some_and(|trim| trim.pattern.is_some()) =>
                    {
                        let known = state.value(name).map(Value::values).unwrap_or_default();
                        let cut = known.iter().map(|known| trimmed(known, trim.as_ref()));
                        let cut: Option<Vec<&str>> = cut.collect();
                        match cut.filter(|cut| cut.len() * all.len() <= MOST) {
                            Some(cut) => cut.into_iter().map(|known| value(known, quoting, splitting)).collect(),
                            None => hole(),
                        }
                    }
                    Some(Value::Known(known)) if !altered => vec![value(known, quoting, splitting)],
                    Some(Value::Each(each)) if !altered && each.len() * all.len() <= MOST => {
                        each.iter().map(|known| value(known, quoting, splitting)).collect()
                    }
                    Some(Value::Maybe(some)) if !altered && some.len() * all.len() < MOST => {
                        let known = some.iter().map(|known| value(known, quoting, splitting));
                        known.chain(hole()).collect()
                    }
                    Some(Value::Written(known))
                        if !altered && (*quoted || !known.text.contains(char::is_whitespace)) =>
                    {
                        let start = known.prefix();
                        let mut pieces = value(start, quoting, splitting);
                        pieces.push(Piece::Hole(known.text.get(start.len()..).unwrap_or_default().to_owned()));
                        vec![pieces]
                    }
                    _ => hole(),
                }
            }
        };
        match values.as_slice() {
            // The usual case, and the one that a hostile word repeats.
            [only] => all.iter_mut().for_each(|start| start.extend_from_slice(only)),
            several => {
                let longer =
                    |start: &Pieces| several.iter().map(|value| [start.as_slice(), value].concat()).collect::<Vec<_>>();
                all = all.iter().flat_map(longer).collect();
            }
        }
    }
    all
}

/// What is left of a value when a pattern is cut off it.
fn trimmed<'a>(value: &'a str, trim: Option<&Trim>) -> Option<&'a str> {
    const LONGEST: usize = 256;
    let Some(Trim { end, greedy, pattern: Some(pattern) }) = trim else { return None };
    if value.len() > LONGEST || pattern.len() > LONGEST {
        return None;
    }
    let mut cuts: Vec<usize> = value.char_indices().map(|(at, _)| at).chain([value.len()]).collect();
    // The least that is cut off comes first.
    if *end != *greedy {
        cuts.reverse();
    }
    let matches = |at: &usize| {
        let (before, after) = value.split_at_checked(*at).unwrap_or_default();
        matches(pattern, if *end { after } else { before })
    };
    let at = cuts.into_iter().find(matches);
    // Of the names that a pattern for files finds, only the last part can be told from here.
    let name = value.rfind('/').map_or(0, |at| at + 1);
    if *end && value.contains(['*', '?', '[']) && at.is_none_or(|at| at < name) {
        return None;
    }
    Some(match at {
        Some(at) if *end => value.get(..at).unwrap_or_default(),
        Some(at) => value.get(at..).unwrap_or_default(),
        None => value,
    })
}

/// Whether a pattern of stars and question marks matches all of a text.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match (pattern.get(at), star) {
            (Some('*'), _) => {
                star = Some((at, from));
                at += 1;
            }
            (Some(c), _) if *c == '?' || text.get(from) == Some(c) => {
                at += 1;
                from += 1;
            }
            // The last star takes one more.
            (_, Some((again, taken))) => {
                star = Some((again, taken + 1));
                at = again + 1;
                from = taken + 1;
            }
            (_, None) => return false,
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|c| *c == '*')
}

fn chars(text: &str, quoting: Quoting) -> Pieces {
    text.chars().map(|c| Piece::Char(c, quoting)).collect()
}

/// The value of a variable, with its blanks as breaks where it is split.
fn value(text: &str, quoting: Quoting, splitting: Splitting) -> Pieces {
    let blank = |c: char| (splitting == Splitting::On && matches!(c, ' ' | '\t' | '\n')) || APART.contains(c);
    text.chars().map(|c| if blank(c) { Piece::Break } else { Piece::Char(c, quoting) }).collect()
}

/// `{a,b}` and `{1..3}`, outermost first, without recursion. Too many of them become one hole.
fn braces(pieces: Pieces) -> Vec<Pieces> {
    let open = Piece::Char('{', Quoting::Bare);
    let count = pieces.iter().filter(|piece| **piece == open).count();
    let lists = pieces.iter().any(|piece| matches!(piece, Piece::Char(',' | '.', Quoting::Bare)));
    if count == 0 || !lists {
        return vec![pieces];
    }
    // Each brace is looked for its end: that many are nobody's list.
    if count > 64 {
        return vec![vec![Piece::Hole("{…}".to_owned())]];
    }
    let mut done = Vec::new();
    let mut work = vec![(pieces, 0)];
    while let Some((pieces, from)) = work.pop() {
        if done.len() + work.len() > MOST {
            return vec![vec![Piece::Hole("{…}".to_owned())]];
        }
        let Some(at) = pieces.iter().skip(from).position(|piece| *piece == open).map(|at| at + from) else {
            done.push(pieces);
            continue;
        };
        match listed(&pieces, at) {
            None => work.push((pieces, at + 1)),
            Some((choices, end)) => {
                // The last one is pushed first, so that they come out in order.
                for choice in choices.into_iter().rev() {
                    let start = pieces.iter().take(at).cloned();
                    let rest = pieces.iter().skip(end + 1).cloned();
                    work.push((start.chain(choice).chain(rest).collect(), at));
                }
            }
        }
    }
    done
}

/// The choices of the brace at `at`, and where it closes; `None` where it is only a brace.
fn listed(pieces: &[Piece], at: usize) -> Option<(Vec<Pieces>, usize)> {
    let mut depth = 0_usize;
    let mut parts: Vec<Pieces> = vec![Pieces::new()];
    for (index, piece) in pieces.iter().enumerate().skip(at) {
        match piece {
            Piece::Char('{', Quoting::Bare) => {
                depth += 1;
                if depth == 1 {
                    continue;
                }
            }
            Piece::Char('}', Quoting::Bare) => {
                depth -= 1;
                if depth == 0 {
                    let found =
                        if parts.len() > 1 { Some(parts) } else { parts.pop().and_then(|only| sequence(&only)) };
                    return found.map(|parts| (parts, index));
                }
            }
            Piece::Char(',', Quoting::Bare) if depth == 1 => {
                parts.push(Pieces::new());
                continue;
            }
            Piece::Char(..) | Piece::Break | Piece::Hole(_) => {}
        }
        if let Some(last) = parts.last_mut() {
            last.push(piece.clone());
        }
    }
    None
}

/// `1..5` or `a..e`.
fn sequence(pieces: &[Piece]) -> Option<Vec<Pieces>> {
    let text: Option<String> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Char(c, Quoting::Bare) => Some(*c),
            Piece::Char(..) | Piece::Break | Piece::Hole(_) => None,
        })
        .collect();
    let text = text?;
    let mut ends = text.split("..");
    let (first, last, step) = (ends.next()?, ends.next()?, ends.next());
    if ends.next().is_some() || step.is_some_and(|step| step.parse::<i64>().is_err()) {
        return None;
    }
    let words: Vec<String> = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(first), Ok(last)) => {
            let (low, high) = (first.min(last), first.max(last));
            let span = usize::try_from(high.checked_sub(low)?).ok()?;
            if span > MOST {
                return Some(vec![vec![Piece::Hole("{…}".to_owned())]]);
            }
            (low..=high).map(|number| number.to_string()).collect()
        }
        _ => {
            let mut ends = [first, last].into_iter().filter_map(|end| {
                let mut chars = end.chars();
                chars.next().filter(|c| c.is_ascii_alphabetic() && chars.next().is_none())
            });
            let (first, last) = (ends.next()?, ends.next()?);
            (first.min(last)..=first.max(last)).map(String::from).collect()
        }
    };
    Some(words.iter().map(|word| chars(word, Quoting::Bare)).collect())
}

/// What is left of a field when quotes are gone.
fn arg(pieces: impl AsRef<[Piece]>) -> Arg {
    let mut found = Arg::default();
    for piece in pieces.as_ref() {
        match piece {
            Piece::Char(c, quoting) => {
                found.glob |= *quoting != Quoting::Quoted && matches!(c, '*' | '?' | ']');
                found.text.push(*c);
            }
            Piece::Break => found.text.push(' '),
            Piece::Hole(written) => {
                found.known.get_or_insert(found.text.len());
                found.text.push_str(written);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::parse::parse;
    use super::super::syntax::Step;
    use super::*;

    fn expand(line: &str) -> Vec<String> {
        let state = State { home: Some("/home/u".into()), cwd: Some("/p".into()), ..State::default() };
        let script = parse(&format!("x {line}"));
        let Some(Step::Simple(simple)) = script.steps.into_iter().next() else { panic!("{line}") };
        fields(simple.words.into_iter().skip(1), &state).into_iter().map(|arg| arg.text.to_string()).collect()
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
    fn a_word_of_one_expansion_is_what_it_is_taken_apart() {
        let words = "\"$A\" $A \"${A}\" \"${A%x}\" \"${A:-y}\" \"${!A}\" $((1)) \"$IFS\" a\"$A\" \"\"$A\"\" \"$A$A\" \"$(x)\" $(x) `x` \"a$(x)\"";
        let script = parse(&format!("x {words}"));
        let simple = script
            .steps
            .into_iter()
            .filter_map(|step| if let Step::Simple(simple) = step { Some(simple) } else { None });
        let words: Vec<Word> = simple.flat_map(|simple| simple.words).collect();
        assert!(words.iter().any(|word| of_one(word, &State::default()).is_some()));
        let known = ["", "v", "a b", "*", "~", "{a,b}", "x\u{1f}y"].map(|text| Value::Known(text.to_owned()));
        let each = Value::Each(vec!["a".to_owned(), "b".to_owned()]);
        let written = Value::Written(Arg { text: "a$B".into(), known: Some(1), glob: false });
        let values = known.into_iter().chain([each, written, Value::Unknown]).map(Some).chain([None]);
        for (value, word) in values.flat_map(|value| words.iter().map(move |word| (value.clone(), word))) {
            for (separated, printed, aliased) in [(false, false, false), (true, true, false), (false, true, true)] {
                let mut state = State::default();
                state.variables.extend(value.clone().map(|value| ("A".to_owned(), value)));
                state.variables.extend(separated.then(|| ("IFS".to_owned(), Value::Known(",".to_owned()))));
                state.outputs.extend((0..9).filter(|_| printed).map(|number| (number, "a b".to_owned())));
                state.options.aliased = aliased;
                assert_eq!(choices(word, &state), taken_apart(word, &state), "{word:?} {value:?}");
            }
        }
    }
}
