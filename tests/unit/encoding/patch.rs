//! Unit tests of `src/encoding/patch.rs`.

use super::*;

#[test]
fn both_formats_name_their_files() {
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-x\n+y\n*** Move to: src/b.rs\n*** End Patch\n";
    assert_eq!(paths(patch), ["src/a.rs", "src/b.rs"]);
    let diff = "--- a/.env\t2026-01-01\n+++ b/.env\n@@ -1 +1 @@\n";
    assert_eq!(paths(diff), ["a/.env", ".env", "b/.env"]);
}

#[test]
fn the_mode_of_a_symlink_is_read_as_an_octal_number() {
    let patch = |mode: &str| format!("diff --git a/l b/l\n{mode}\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/x\n");
    for mode in ["new file mode 120000", "new file mode 0120000", "new file mode 120000 ", "new mode 120777"] {
        assert_eq!(link_targets(&patch(mode)), ["/x"], "{mode}");
    }
    for mode in ["new file mode 100644", "index 120000..130000 100644", "deleted file mode 120000"] {
        assert!(link_targets(&patch(mode)).is_empty(), "{mode}");
    }
}

#[test]
fn each_part_of_a_patch_has_the_lines_of_its_file() {
    let patch =
        "*** Begin Patch\n*** Update File: a.json\n@@\n x\n-y\n+z\n*** Update File: b.json\n+w\n*** End Patch\n";
    let of_agents = parts(patch);
    assert_eq!(of_agents.iter().map(|part| part.names.as_slice()).collect::<Vec<_>>(), [["a.json"], ["b.json"]]);
    assert_eq!(of_agents.iter().map(|part| part.after.as_str()).collect::<Vec<_>>(), ["x\nz\n", "w\n"]);
    assert_eq!(of_agents.first().map(|part| part.before.as_str()), Some("x\ny\n"));
    let diff =
        "diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n+3\n";
    assert_eq!(parts(diff).iter().map(|part| part.after.as_str()).collect::<Vec<_>>(), ["2\n", "3\n"]);
}
