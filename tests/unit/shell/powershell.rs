//! Unit tests of `src/shell/powershell.rs`.

use crate::path::Place;
use crate::programs::Catalogue;
use crate::shell::Reading;
use crate::verdict::limits::{SHELL_BYTES, SHELL_COMMANDS, SHELL_DEPTH, SHELL_STEPS};

fn place() -> Place {
    Place { cwd: "/w".to_owned(), home: Some("/home/me".to_owned()), project: None }
}

fn read(text: &str, place: &Place) -> Reading {
    super::read(text, place, &Catalogue::shipped())
}

/// The canonical text of each command.
fn commands(text: &str) -> Vec<String> {
    let reading = read(text, &place());
    assert!(reading.is_readable(), "{text}: {:?}", reading.uncertainties);
    reading.commands.iter().map(|command| command.canonical.to_string()).collect()
}

#[test]
fn cmdlets_and_aliases_become_the_programs_that_rules_know() {
    for (text, expected) in [
        ("Remove-Item -Recurse -Force build", "rm -r -f build"),
        ("ri build -r -fo", "rm -r -f build"),
        ("del -LiteralPath 'a b'", "rm 'a b'"),
        ("Copy-Item -Destination out -Path a", "cp a out"),
        ("move a b", "mv a b"),
        ("gc -Tail 5 x.txt", "cat x.txt"),
        ("Get-ChildItem -Recurse -Filter *.rs src", "ls -R src"),
        ("sls -Pattern 'a b' x.txt", "grep -e 'a b' x.txt"),
        ("iwr https://a.example -OutFile x -Method Post", "curl -X Post -o x https://a.example"),
        ("New-Item -ItemType Directory -Force out", "mkdir -p out"),
        ("Stop-Process -Id 7 -Force", "kill -9 7"),
        ("Start-Process git -ArgumentList 'status -s'", "git status -s"),
        ("GIT.exe status", "git status"),
        ("rm -rf x", "rm -rf x"),
        ("curl -sL https://a.example", "curl -sL https://a.example"),
        ("python --% -c \"a $b\"", "python -c '\"a' '$b\"'"),
        ("Get-Date -Form o", "get-date -format o"),
    ] {
        assert_eq!(commands(text), [expected], "{text}");
    }
}

#[test]
fn quotes_escapes_and_here_strings_are_read() {
    for (text, expected) in [
        ("git log 'it''s'", "git log 'it'\\''s'"),
        ("git log \"a`\"b\"\"c\"", "git log 'a\"b\"c'"),
        ("git log \"`$x\"", "git log '$x'"),
        ("g`it lo`g", "git log"),
        ("git log a`\n b", "git log a b"),
        ("git log @'\na\n'b'\n'@", "git log 'a\n'\\''b'\\'''"),
        ("git add a,b , c", "git add a b c"),
        ("git log \u{201c}a b\u{201d}", "git log 'a b'"),
        ("git log a # b", "git log a"),
        ("git <# a #> log", "git log"),
    ] {
        assert_eq!(commands(text), [expected], "{text}");
    }
}

#[test]
fn variables_and_paths_are_resolved_where_they_are_known() {
    for (text, expected) in [
        ("$p = 'x'; rm $p", "rm x"),
        ("$P = 'x' + 'y'; rm \"$p\\z\"", "rm xy/z"),
        ("rm ~\\a", "rm /home/me/a"),
        ("rm $env:USERPROFILE\\.ssh", "rm /home/me/.ssh"),
        ("rm ${env:TEMP}/a", "rm /tmp/a"),
        ("rm C:\\a\\b", "rm C:/a/b"),
        ("rm (Join-Path $HOME 'a')", "rm /home/me/a"),
        ("$f = Join-Path 'a' 'b'; rm $f", "rm a/b"),
        ("foreach ($f in 'a') { rm $f }", "rm a"),
        ("rm $x.Name", "rm $()"),
    ] {
        assert_eq!(commands(text), [expected], "{text}");
    }
}

#[test]
fn commands_in_blocks_expressions_and_functions_are_read() {
    for text in [
        "if ($a) { rm x }",
        "if ($a) { } elseif ($b) { rm x }",
        "if (rm x) { }",
        "while ($a) { rm x }",
        "do { rm x } while ($a)",
        "for ($i = 0; $i -lt 3; $i++) { rm x }",
        "switch ($a) { 'b' { rm x } }",
        "try { rm x } catch { }",
        "try { } catch [IO.IOException] { rm x }",
        "& { rm x }",
        "$a = @{ b = (rm x) }",
        "$a = @(rm x)",
        "$a[(rm x)]",
        "$a.b((rm x))",
        "$a = if ($b) { rm x }",
        "function f { rm x }",
        "function f($a) { rm $a }; f x | Out-Null",
        "$a = { rm x }",
        "\"a $(rm x)\" | Out-Null",
        "1 | % { rm x }",
        "1|%{rm x}",
        "Invoke-Expression 'rm x'",
        "pwsh -c 'rm x'",
        "[IO.File]::Delete('x')",
    ] {
        let found = commands(text);
        assert!(found.iter().any(|command| command == "rm x" || command == "rm -r -f x"), "{text}: {found:?}");
    }
}

#[test]
fn what_a_pipeline_changes_stays_changed() {
    for text in ["1 | % { cd / }; rm x", "(cd /); rm x", "\"$(cd /)\"; rm x", "$a = cd /; rm x"] {
        let reading = read(text, &place());
        let rm = reading.commands.iter().find(|command| command.program == "rm").unwrap();
        let known = rm.cwd.as_deref().into_iter().chain(rm.other_cwds.iter().filter_map(|other| other.path.as_deref()));
        assert!(known.into_iter().any(|cwd| cwd == "/"), "{text}: {rm:?}");
    }
}

#[test]
fn redirections_are_writes() {
    for (text, expected) in [
        ("'a' > x", "/w/x"),
        ("git log>x", "/w/x"),
        ("git log *>> x", "/w/x"),
        ("git log 2> x", "/w/x"),
        ("git log | Out-File x", "/w/x"),
        ("Set-Content x 'a'", "/w/x"),
        ("[IO.File]::WriteAllText('x', 'a')", "/w/x"),
    ] {
        assert_eq!(read(text, &place()).effects().writes(), [expected], "{text}");
    }
    for text in ["git log 2>&1", "git log > $null", "git log *> $null"] {
        assert!(read(text, &place()).effects().writes().is_empty(), "{text}");
    }
}

#[test]
fn an_unterminated_text_is_uncertain_and_mentions_its_files() {
    for text in ["cat 'x", "cat \"x", "if ($a) { cat x", "cat (ls", "cat @'\nx", "<# x", "$a = @{ b = 1"] {
        assert!(!read(text, &place()).uncertainties.is_empty(), "{text}");
    }
    let reading = read("cat \"$HOME\\.ssh\\id_rsa", &place());
    assert!(reading.effects().reads().contains(&"/home/me/.ssh/id_rsa".to_owned()));
}

#[test]
fn limits_are_reported() {
    let exceeded = |text: &str| read(text, &place()).exceeded.map(|limit| limit.name);
    assert_eq!(exceeded(&"a".repeat(SHELL_BYTES.most + 1)), Some(SHELL_BYTES.name));
    assert_eq!(exceeded(&"git log;".repeat(SHELL_COMMANDS.most + 1)), Some(SHELL_COMMANDS.name));
    assert_eq!(exceeded(&format!("a {}", "-b:".repeat(2 * SHELL_DEPTH.most))), Some(SHELL_DEPTH.name));
    for opening in ["(", "$(", "{", "@(", "@{a=", "$a[", "$a.b(", "$a=", "\"$(", "if(1){", "& {", "a (a -b:"] {
        assert_eq!(exceeded(&opening.repeat(2 * SHELL_DEPTH.most)), Some(SHELL_DEPTH.name), "{opening}");
    }
}

#[test]
fn long_texts_of_any_kind_are_read_to_their_end() {
    for part in [
        "'a'+", "'a',", "a,", "$a;", "\n", " ", "`", "\"", "'", "[", "]", "}", ")", "<#", "#", "|%{}", "1|", "-a ",
        "$a.b", "::a", "@", "$", ">a ", "2>&1 ", "&", "&&a", "\\", "{}", "\u{2019}", "$($a)", "switch(1){a",
        "function a{}",
    ] {
        let text = part.repeat(200_000 / part.len());
        let reading = read(&text, &place());
        let judged =
            reading.exceeded.is_some() || !reading.uncertainties.is_empty() || reading.steps <= SHELL_STEPS.most;
        assert!(judged, "{part}");
    }
}

#[test]
fn every_beginning_of_a_text_is_read() {
    let cases = [
        include_str!("../../cases/allow/powershell.jsonl"),
        include_str!("../../cases/ask/powershell.jsonl"),
        include_str!("../../cases/deny/powershell.jsonl"),
    ];
    for line in cases.iter().flat_map(|text| text.lines()) {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let command = row["input"]["command"].as_str().unwrap_or_default();
        for (at, _) in command.char_indices() {
            let (before, behind) = command.split_at(at);
            read(before, &place());
            read(behind, &place());
        }
    }
}
