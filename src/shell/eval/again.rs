//! Loops: what a round leaves behind is there when the next one begins.

use super::super::expand;
use super::super::state::{Elsewhere, State, Value, is_parameter};
use super::super::syntax::{Part, Scope, Simple, Step, Word};
use super::function::Body;
use super::run::Run;
use std::collections::BTreeMap;
use std::rc::Rc;

/// How often a loop is looked through for values that come from others. Values that only grow never end.
const MOST_PASSES: usize = 12;

/// What the rounds of a loop do to the shell.
#[derive(Default)]
struct Rounds {
    sets: Vec<(String, Value)>,
    /// How far below the directory that it began in a round is, step by step, and whether by `pushd`.
    depth: Vec<(usize, bool)>,
    /// It does not end where it began.
    strays: bool,
    /// Directories that it goes to by name.
    goes: Vec<Rc<str>>,
    /// It may set anything.
    anything: bool,
    /// It changes what `$1` and the others are.
    shifts: bool,
    /// And not only by `shift`.
    gives: bool,
}

impl Run {
    /// A loop begins: every round may be the first, or come behind another.
    pub(super) fn begin_loop(&mut self, bodies: &BTreeMap<String, Vec<Body>>) {
        let mut rounds = Rounds::default();
        rounds.look(self.steps.iter(), &self.state, bodies);
        if rounds.is_nothing() {
            return;
        }
        let numbered = |name: &str| name != "0" && name != "@" && is_parameter(name);
        let variables = self.state.variables.iter();
        let all: Vec<Value> = variables.filter(|(name, _)| numbered(name)).map(|(_, value)| value.clone()).collect();
        // What one variable is set to may come from another that is set, too.
        for _ in 0..MOST_PASSES {
            self.state.meter.charge(self.state.variables.len() + self.steps.len());
            let before = self.state.variables.clone();
            self.also(&rounds.sets);
            if self.state.variables == before {
                break;
            }
            rounds = Rounds::default();
            rounds.look(self.steps.iter(), &self.state, bodies);
        }
        let before = self.state.variables.clone();
        self.also(&rounds.sets);
        let state = Rc::make_mut(&mut self.state);
        for (name, value) in &mut state.variables {
            let known = before.get(name);
            if known != Some(value) {
                // One that is handed on still, and does not grow, may yet become anything that the loop knows.
                let longest = |value: &Value| value.members().iter().map(|member| member.text.len()).max();
                state.lost |= known.is_some_and(|known| longest(known) >= longest(value) && longest(value).is_some());
                *value = value.or(None);
            }
        }
        if rounds.anything {
            state.variables.values_mut().for_each(|value| *value = value.or(None));
        }
        if rounds.shifts {
            let any = all.iter().skip(1).fold(all.first().cloned(), |any, value| any.map(|any| any.or(Some(value))));
            state.variables.retain(|name, _| !is_parameter(name));
            state.variables.extend(any.filter(|_| !rounds.gives).map(|any| ("1".to_owned(), any)));
            state.given = None;
        }
        if rounds.strays || !rounds.depth.is_empty() || !rounds.goes.is_empty() {
            let unknown = (rounds.strays || !rounds.depth.is_empty()).then_some(None);
            let places = rounds.goes.into_iter().map(Some).chain(unknown);
            let others = places.map(|at| Elsewhere { at, astray: false });
            let places = state.places().into_iter().chain(others).collect();
            state.settle(places);
        }
    }
}

impl Run {
    /// Variables may have these values besides their own.
    fn also(&mut self, sets: &[(String, Value)]) {
        let variables = &mut Rc::make_mut(&mut self.state).variables;
        for (name, value) in sets {
            let value = value.or(variables.get(name));
            variables.insert(name.clone(), value);
        }
    }
}

impl Rounds {
    fn is_nothing(&self) -> bool {
        self.sets.is_empty()
            && self.depth.is_empty()
            && self.goes.is_empty()
            && !(self.strays || self.anything || self.shifts)
    }

    /// Looks through the steps up to the end of the list that they are in.
    fn look<'a>(&mut self, steps: impl Iterator<Item = &'a Step>, state: &State, bodies: &BTreeMap<String, Vec<Body>>) {
        // Whether each list that has begun is a shell of its own.
        let mut apart: Vec<bool> = Vec::new();
        let mut first = true;
        for step in steps {
            let inside = !apart.last().is_some_and(|apart| *apart);
            match step {
                Step::Open(scope) => {
                    let own = matches!(scope, Scope::Subshell | Scope::Sink | Scope::Substitution(_));
                    apart.push(own || !inside);
                }
                Step::Close => {
                    if apart.pop().is_none() {
                        return;
                    }
                }
                // The loop itself sets its variable before anybody looks at it.
                Step::Loop(_) if first => first = false,
                Step::Loop(looped) if inside => self.sets.push((looped.name.clone(), Value::Unknown)),
                Step::Simple(simple) if inside => self.look_at(simple, state, bodies),
                Step::Simple(_)
                | Step::Loop(_)
                | Step::Redirects(_)
                | Step::Pipe
                | Step::Then
                | Step::Else
                | Step::End
                | Step::Background
                | Step::Backquoted(_) => {}
            }
        }
    }

    fn look_at(&mut self, simple: &Simple, state: &State, bodies: &BTreeMap<String, Vec<Body>>) {
        if simple.words.is_empty() {
            for set in &simple.assignments {
                let values = set.value.as_ref().map(|word| expand::values(word, state)).unwrap_or_default();
                self.sets.push((set.name.clone(), Value::one_of(&values)));
                if set.list.is_some() {
                    let start = format!("{}[", set.name);
                    let elements =
                        state.variables.range(start.clone()..).take_while(|(name, _)| name.starts_with(&start));
                    self.sets.extend(elements.map(|(name, _)| (name.clone(), Value::Unknown)));
                }
            }
            return;
        }
        let mut words = simple.words.iter().map(start).skip_while(|word| matches!(*word, "command" | "builtin"));
        let program = words.next().unwrap_or_default();
        let operands = words.clone().filter(|word| !word.starts_with('-') || *word == "-");
        match program {
            "cd" | "pushd" | "popd" => {
                // What is put together may lead upwards.
                let up = |part: &Part| matches!(part, Part::Plain(text) | Part::Quoted(text) if text.contains(".."));
                let put_together = |word: &Word| word.parts.len() > 1 && word.parts.iter().any(up);
                self.strays |= simple.words.iter().any(put_together);
                self.move_to(program, operands.clone().next(), state);
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                let values = simple.words.iter().skip(1).flat_map(|word| expand::strings(word, state));
                for arg in values {
                    if let Some((name, value)) = arg.text.split_once('=') {
                        let value = if arg.is_known() { Value::Known(value.to_owned()) } else { Value::Unknown };
                        self.sets.push((name.trim_end_matches('+').to_owned(), value));
                    }
                }
            }
            "read" | "mapfile" | "readarray" | "getopts" | "let" | "printf" | "unset" => {
                let names = operands.map(|word| word.split(['=', '[', '+']).next().unwrap_or_default().to_owned());
                self.sets.extend(names.filter(|name| !name.is_empty()).map(|name| (name, Value::Unknown)));
            }
            "shift" | "set" => {
                self.shifts = true;
                self.gives |= program == "set";
            }
            "eval" | "source" | "." => self.anything = true,
            program => {
                // What a function calls in turn is not looked at.
                for body in bodies.get(program).into_iter().flatten() {
                    self.look(body.steps.iter(), state, &BTreeMap::new());
                }
            }
        }
    }

    /// `cd x; …; cd ..` is a way there and back.
    fn move_to(&mut self, program: &str, to: Option<&str>, state: &State) {
        match to {
            _ if program == "popd" => self.strays |= !self.depth.pop().is_some_and(|(_, pushed)| pushed),
            Some("-") => self.strays |= self.depth.pop().is_none(),
            None => self.goes.extend(state.home.as_deref().map(Rc::from)),
            Some(path) if path.starts_with('/') => self.goes.push(Rc::from(path)),
            Some(path) if path.starts_with('~') => self.goes.extend(state.home.as_deref().map(Rc::from)),
            Some(path) => {
                let parts = || path.split('/').filter(|part| !matches!(*part, "" | "."));
                let up = parts().filter(|part| *part == "..").count();
                let down = parts().count() - up;
                match (up, down) {
                    (0, down) => self.depth.push((down.max(1), program == "pushd")),
                    // As far back as it went.
                    (up, 0) => self.strays |= self.depth.pop() != Some((up, false)),
                    _ => self.strays = true,
                }
            }
        }
    }
}

/// How a word begins, as far as it is written out.
fn start(word: &Word) -> &str {
    match word.parts.first() {
        Some(Part::Plain(text) | Part::Quoted(text)) => text,
        _ => "",
    }
}
