//! The values that a name may have, with what is asked about all of them at each use.

use super::mutation::{Change, Variable, apply};
use super::value::{Part, Value};

#[derive(Default)]
pub(super) struct KnownValues {
    values: Vec<Value>,
    /// Which value is the one that appended texts are added to.
    grown: Option<usize>,
    /// One of them is, or was, decoded from something that is not known.
    pub has_decoded: bool,
    /// One of them is, or was, a literal that is put together to a path.
    pub has_path_text: bool,
    /// One of them is, or was, not known as a whole.
    pub has_incomplete: bool,
    /// The name is assigned a list: `x = ["ls"]`, `x = %w[ls]`.
    pub is_list: bool,
    /// One of them has a slash.
    has_slash: bool,
}

impl KnownValues {
    pub fn as_slice(&self) -> &[Value] {
        &self.values
    }

    /// Adds the values of an assignment. What is appended from now on is added to the last one.
    pub fn assign(&mut self, values: Vec<Value>) {
        self.grown = None;
        values.iter().for_each(|value| self.note(value));
        self.values.extend(values);
    }

    /// Changes the values in a time that does not depend on their number and length.
    pub fn change(&mut self, change: Change, variable: Variable) {
        match &change {
            Change::Appended(more) => self.note(more),
            Change::Unknown => {
                self.has_decoded |= variable.is_path;
                self.has_incomplete = true;
            }
            Change::Arguments => {}
        }
        apply(&mut self.values, change, variable, &mut self.grown);
        self.has_incomplete |= self.values.last() == Some(&Value::unknown());
        let grown = self.grown.and_then(|at| self.values.get(at)).map(|value| value.0.as_slice());
        self.has_path_text |= self.has_slash && matches!(grown, Some([Part::Text(text)]) if text.len() > 3);
    }

    fn note(&mut self, value: &Value) {
        self.has_decoded |= value.is_decoded();
        self.has_path_text |= value.is_path_text();
        self.has_incomplete |= !value.is_complete();
        self.has_slash |= value.0.iter().any(|part| matches!(part, Part::Text(text) if text.contains('/')));
    }
}
