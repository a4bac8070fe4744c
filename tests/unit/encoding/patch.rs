//! Unit tests of `src/encoding/patch.rs`.

use super::*;

#[test]
fn both_formats_name_their_files() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Move to: src/b.rs\n*** End Patch\n";
    assert_eq!(paths(patch), ["src/a.rs", "src/b.rs"]);
    let diff = "--- a/.env\t2026-01-01\n+++ b/.env\n@@ -1 +1 @@\n";
    assert_eq!(paths(diff), ["a/.env", ".env", "b/.env"]);
}
