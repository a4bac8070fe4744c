//! What `Quarantined` refuses to compile.

#[test]
fn quarantined_content_cannot_be_used_by_accident() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
