//! Unit tests of `src/decide/validators/protected_path.rs`.

use super::*;
use crate::path::Place;

#[test]
fn examples_are_made_to_be_shared() {
    for (name, expected) in [
        (".env", true),
        (".ENV", true),
        (".env.production", true),
        (".env.local", true),
        (".envrc", true),
        (".env*", true),
        (".env.example", false),
        (".env.local.example", false),
        (".environment", false),
        ("environment.ts", false),
    ] {
        assert_eq!(is_env_file(&AbsPath::resolve(name, &Place::default())), expected, "{name}");
    }
}
