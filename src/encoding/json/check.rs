//! The strict check of JSON that is judged before a call.

use super::JsonError;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

/// Checks that `raw` is unambiguous: valid JSON, at most 128 levels, and no duplicate field at any level.
pub fn check(raw: &[u8]) -> Result<(), JsonError> {
    let text = std::str::from_utf8(raw).map_err(|_| JsonError::Encoding)?;
    serde_json::from_str::<Unambiguous>(text).map(drop).map_err(|error| {
        // serde_json does not expose the kind of a syntax error, only its message.
        let message = error.to_string();
        [
            ("recursion limit", JsonError::Deep),
            ("surrogate", JsonError::Surrogate),
            ("hex escape", JsonError::Surrogate),
            (TWICE, JsonError::Duplicate),
        ]
        .into_iter()
        .find(|(phrase, _)| message.contains(phrase))
        .map_or(JsonError::Broken, |(_, error)| error)
    })
}

const TWICE: &str = "field named twice";

/// Deserializes from any JSON value without duplicate fields.
struct Unambiguous;

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Unambiguous)
    }
}

impl<'de> Visitor<'de> for Unambiguous {
    type Value = Unambiguous;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<Unambiguous>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut names = BTreeSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !names.insert(name) {
                return Err(A::Error::custom(TWICE));
            }
            map.next_value::<Unambiguous>()?;
        }
        Ok(self)
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/encoding/json/check.rs"]
mod tests;
