use super::apply;
use crate::verdict::limits::Meter;

#[test]
fn filters_print_what_the_programs_print() {
    let cases: [(&str, &[&str], &str, Option<&str>); 34] = [
        ("rev", &[], "abc\nde\n", Some("cba\ned\n")),
        ("tac", &[], "a\nb\n", Some("b\na\n")),
        ("tr", &["a-z", "b-za"], "ql\n", Some("rm\n")),
        ("tr", &["-d", "xy"], "rxmy\n", Some("rm\n")),
        ("tr", &["[:upper:]", "[:lower:]"], "RM\n", Some("rm\n")),
        ("tr", &["-s", " "], "a   b\n", Some("a b\n")),
        ("tr", &["A-Za-z", "N-ZA-Mn-za-m"], "ez -es\n", Some("rm -rf\n")),
        ("tr", &["-dc", "a-z"], "r-m!", Some("rm")),
        ("tr", &["_", " "], "rm_-rf", Some("rm -rf")),
        ("cut", &["-c1-2"], "rmxx\n", Some("rm\n")),
        ("cut", &["-d:", "-f2"], "a:rm:b\n", Some("rm\n")),
        ("cut", &["-d", " ", "-f", "1,3"], "a b c\n", Some("a c\n")),
        ("cut", &["-c", "3-"], "xxrm\n", Some("rm\n")),
        ("head", &["-n1"], "a\nb\n", Some("a\n")),
        ("head", &["-c", "2"], "rmxx", Some("rm")),
        ("tail", &["-n", "+2"], "a\nb\n", Some("b\n")),
        ("tail", &["-1"], "a\nb\n", Some("b\n")),
        ("base64", &["-d"], "cm0gLXJmIC8=\n", Some("rm -rf /")),
        ("base64", &[], "rm", Some("cm0=\n")),
        ("base32", &["-d"], "OJWSALLSMYQC6===\n", Some("rm -rf /")),
        ("xxd", &["-r", "-p"], "726d\n", Some("rm")),
        ("openssl", &["base64", "-d"], "cm0=\n", Some("rm")),
        ("openssl", &["enc", "-aes-256-cbc", "-d"], "x", None),
        ("sed", &["s/x/r/;s/y/m/"], "xy -rf\n", Some("rm -rf\n")),
        ("sed", &["-e", "s/\\(r\\)m/\\1n/g"], "rm rm\n", Some("rn rn\n")),
        ("sed", &["-E", "s/(a+)b/[\\1]/"], "aab\n", Some("[aa]\n")),
        ("sed", &["y/ab/rm/"], "ab\n", Some("rm\n")),
        ("sed", &["-n", "2p"], "a\nb\n", Some("b\n")),
        ("sed", &["s/a/b/e"], "a\n", None),
        ("awk", &["BEGIN{print \"r\" \"m\"}"], "", Some("rm\n")),
        ("awk", &["-F:", "{print $2}"], "a:b\n", Some("b\n")),
        ("awk", &["{print $1, $NF}"], "a b c\n", Some("a c\n")),
        ("paste", &["-sd", ""], "r\nm\n", Some("rm\n")),
        ("dd", &["bs=1", "skip=1", "count=2", "status=none"], "xrmx", Some("rm")),
    ];
    for (name, options, input, expected) in cases {
        assert_eq!(apply(name, options, input, &Meter::default()).as_deref(), expected, "{name} {options:?}");
    }
}
