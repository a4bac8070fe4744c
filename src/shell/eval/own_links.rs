//! Symbolic links that the line makes: `..` behind one leads to the directory above its target, not above its name.

use super::Evaluator;
use crate::path::{AbsPath, Place};
use crate::shell::effects::links_made;
use crate::shell::{Arg, Command, canonical};
use std::collections::BTreeSet;

/// Steps for one more form of a command.
const VARIANT_STEPS: usize = 500;

/// Steps for a variable or a redirection of that form.
const SETTING_STEPS: usize = 30;

impl Evaluator<'_> {
    /// Notes the links that a command makes. All targets of a name count: a later command may not have run, and a name that
    /// is a directory already keeps the link inside it.
    pub(super) fn note_links(&mut self, command: &Command) {
        for (link, target) in links_made(command) {
            self.links.entry(link.to_string()).or_default().insert(target.to_string());
        }
    }

    /// Returns the same command with the places that its words lead to by way of such links and `..` behind them. Each of
    /// these places is in one of the commands. The command itself still counts, because the link may not be there. `cd`
    /// without `-P` removes both itself.
    pub(super) fn by_own_links(&self, base: &Command, args: &[Arg]) -> Vec<(Command, Vec<Arg>)> {
        let program = args.first().map_or("", |program| canonical::program_name(&program.text));
        if self.links.is_empty() || program == "cd" && !args.iter().any(|arg| arg.text == "-P") {
            return Vec::new();
        }
        let Some(cwd) = base.cwd.as_deref() else { return Vec::new() };
        let place = Place { cwd: cwd.to_owned(), ..Place::default() };
        let led: Vec<Vec<Arg>> = args.iter().map(|arg| self.led_to(arg, &place)).collect();
        let redirected: Vec<Vec<Arg>> =
            base.redirects.iter().map(|redirect| self.led_to(&redirect.target, &place)).collect();
        let count = led.iter().chain(&redirected).map(Vec::len).max().unwrap_or_default();
        let length = args.iter().map(|arg| arg.text.len()).sum::<usize>();
        let steps = VARIANT_STEPS + length + SETTING_STEPS * (base.env.len() + base.redirects.len());
        let mut commands = Vec::new();
        for at in 0..count {
            if !self.meter.try_charge(steps) {
                break;
            }
            let mut base = base.clone();
            for (redirect, led) in base.redirects.iter_mut().zip(&redirected) {
                redirect.target = led.get(at).unwrap_or(&redirect.target).clone();
            }
            let args = args.iter().zip(&led).map(|(arg, led)| led.get(at).unwrap_or(arg).clone());
            commands.push((base, args.collect()));
        }
        commands
    }

    /// The places that a word leads to by way of links.
    fn led_to(&self, word: &Arg, place: &Place) -> Vec<Arg> {
        let known = word.prefix();
        let unknown = word.text.get(known.len()..).unwrap_or_default();
        let mut seen = BTreeSet::new();
        // The working directory may be such a link.
        let is_above = known == ".." || known.starts_with("../");
        let mut work = vec![if is_above { format!("{}/{known}", place.cwd) } else { known.to_owned() }];
        while let Some(text) = work.pop() {
            for (at, _) in text.match_indices("/..") {
                if !self.meter.try_charge(text.len()) {
                    return Vec::new();
                }
                let (name, rest) = text.split_at(at);
                if rest.get(3..).is_some_and(|behind| !behind.is_empty() && !behind.starts_with('/')) {
                    continue;
                }
                let path = AbsPath::resolve(name, place).to_string();
                for target in self.links.get(&path).into_iter().flatten() {
                    let led = format!("{target}{rest}");
                    if !self.meter.try_charge(led.len()) {
                        return Vec::new();
                    }
                    if seen.insert(led.clone()) {
                        work.push(led);
                    }
                }
            }
        }
        let arg = |text: String| {
            let known = word.known.map(|_| text.len());
            Arg { text: (text + unknown).into(), known, glob: word.glob }
        };
        seen.into_iter().map(arg).collect()
    }
}
