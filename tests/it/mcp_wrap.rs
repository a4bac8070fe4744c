//! `rune mcp wrap` as a whole process: nothing of the stream is changed, and all that is served is recorded.

use crate::support::mcp_server::{INSTRUCTIONS, sdk_server};
use crate::support::sandbox::Sandbox;
use proptest::prelude::*;
use rune::mcp::{Observed, Pin, Proposal, file_name};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use time::OffsetDateTime;

/// A wrapped server, seen by its client.
struct Wrapped {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Wrapped {
    fn start(home: &Sandbox, options: &[&str], command: &[&str]) -> Wrapped {
        let words = [&["mcp", "wrap", "--server", "s"], options, &["--"], command].concat();
        let mut child = home.command(&words).env("CLAUDECODE", "1").spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Wrapped { child, input, output }
    }

    fn say(&mut self, message: Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    /// Closes the server's input and waits; the exit code and what was said on stderr.
    fn end(mut self) -> (Option<i32>, String) {
        self.input = None;
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

/// A server that answers each line with the next line of a file.
fn scripted(home: &Sandbox, answers: &[Value]) -> Vec<String> {
    let lines: String = answers.iter().map(|answer| format!("{answer}\n")).collect();
    let file = home.write("answers", &lines);
    let script = "exec 3<\"$0\"; while read -r line; do read -r answer <&3 || exit 7; printf '%s\\n' \"$answer\"; done";
    ["/bin/bash", "-c", script, file.to_str().unwrap()].map(str::to_owned).to_vec()
}

fn words(command: &[String]) -> Vec<&str> {
    command.iter().map(String::as_str).collect()
}

fn record(home: &Sandbox, folder: &str) -> PathBuf {
    home.path(&format!(".local/share/rune/{folder}")).join(file_name("s"))
}

fn observed(home: &Sandbox) -> Observed {
    Observed::read(&std::fs::read(record(home, "observed")).unwrap()).unwrap()
}

fn names(home: &Sandbox) -> Vec<String> {
    observed(home).tools().iter().map(|tool| tool.name().to_owned()).collect()
}

fn list(id: u64, names: &[&str], next: Option<&str>) -> Value {
    let tools: Vec<Value> = names.iter().map(|name| json!({"name": name, "description": "d"})).collect();
    let mut answer = json!({"jsonrpc": "2.0", "id": id, "result": {"tools": tools}});
    if let Some(next) = next {
        answer["result"]["nextCursor"] = json!(next);
    }
    answer
}

fn ask(id: u64, cursor: Option<&str>) -> Value {
    let mut question = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
    if let Some(cursor) = cursor {
        question["params"] = json!({"cursor": cursor});
    }
    question
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_byte_goes_through_however_it_is_cut(
        chunks in proptest::collection::vec(
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..2_000),
                Just(b"{\"id\":1,\"result\":{\"content\":[\"\\u00e9\"]}}\r\n\n".to_vec()),
                Just(b"{\"id\":1,\"method\":\"tools/list\"}\n".to_vec()),
                Just(vec![b'x'; 200_000]),
            ],
            0..12,
        ),
    ) {
        let home = Sandbox::new();
        let all = chunks.concat();
        let mut wrapped = Wrapped::start(&home, &[], &["/bin/cat"]);
        let mut input = wrapped.input.take().unwrap();
        let writer = std::thread::spawn(move || {
            for chunk in chunks {
                input.write_all(&chunk).unwrap();
            }
        });
        let mut heard = Vec::new();
        wrapped.output.read_to_end(&mut heard).unwrap();
        writer.join().unwrap();
        prop_assert!(heard == all, "{} bytes became {}", all.len(), heard.len());
        prop_assert_eq!(wrapped.end().0, Some(0));
    }
}

#[test]
fn with_strip_everything_but_lists_goes_through_too() {
    let home = Sandbox::new();
    let text = "no json\n{\"id\":1, \"result\" : {\"content\":[{\"tools\":[1]}]}}\r\n\n[1,2]\n{\"method\":\"notifications/x\"}\n{broken\nand an end";
    let mut wrapped = Wrapped::start(&home, &["--strip"], &["/bin/cat"]);
    wrapped.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    wrapped.input = None;
    let mut heard = String::new();
    wrapped.output.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, text);
}

#[test]
fn the_end_of_a_server_is_the_end_of_its_wrap() {
    let home = Sandbox::new();
    let (exit, _) = Wrapped::start(&home, &[], &["/bin/sh", "-c", "exit 42"]).end();
    assert_eq!(exit, Some(42));
    let (exit, said) = Wrapped::start(&home, &[], &["/nowhere/server"]).end();
    assert!(exit == Some(1) && !said.is_empty(), "{said}");
    use std::os::unix::process::ExitStatusExt;
    let mut killed = Wrapped::start(&home, &[], &["/bin/sh", "-c", "kill -9 $$"]);
    assert_eq!(killed.child.wait().unwrap().signal(), Some(9));
}

#[test]
fn signals_reach_the_server() {
    for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
        let home = Sandbox::new();
        // A shell does not take back that a signal is ignored, as it is wherever the tests run in the background.
        let script = format!(
            "$| = 1; $SIG{{{signal}}} = sub {{ print \"got\\n\"; exit 33 }}; print \"ready\\n\"; 1 while <STDIN>"
        );
        let mut wrapped = Wrapped::start(&home, &[], &["/usr/bin/perl", "-e", &script]);
        assert_eq!(wrapped.hear(), "ready\n");
        let pid = wrapped.child.id().to_string();
        assert!(
            Command::new("kill").args([&format!("-{number}"), &pid]).stdin(Stdio::null()).status().unwrap().success()
        );
        assert_eq!(wrapped.hear(), "got\n", "{signal}");
        assert_eq!(wrapped.end().0, Some(33), "{signal}");
    }
}

#[test]
fn whoever_holds_the_output_of_a_server_that_is_gone_does_not_hold_the_client() {
    let home = Sandbox::new();
    let mut wrapped = Wrapped::start(&home, &[], &["/bin/sh", "-c", "sleep 30 2>/dev/null & echo gone; exit 5"]);
    assert_eq!(wrapped.hear(), "gone\n");
    wrapped.input = None;
    assert_eq!(wrapped.child.wait().unwrap().code(), Some(5));
}

#[test]
fn what_is_served_is_recorded_page_by_page_and_after_a_change() {
    let home = Sandbox::new();
    let first = json!({"jsonrpc": "2.0", "id": 0, "result": {"instructions": "Be kind", "serverInfo": {"name": "x"}}});
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let answers = [first, list(1, &["a"], Some("p2")), list(2, &["b"], None), changed, list(4, &["c"], None)];
    let command = scripted(&home, &answers);
    let mut wrapped = Wrapped::start(&home, &[], &words(&command));
    let questions =
        [json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}), ask(1, None), ask(2, Some("p2"))];
    for (question, answer) in questions.into_iter().zip(&answers) {
        wrapped.say(question);
        assert_eq!(wrapped.hear(), format!("{answer}\n"));
    }
    // A session that ends has recorded all that it saw.
    assert_eq!(wrapped.end().0, Some(0));
    assert_eq!(names(&home), ["a", "b"]);
    assert!(format!("{:?}", observed(&home)).contains("Be kind"));
    let mut wrapped = Wrapped::start(&home, &[], &words(&command));
    for (question, answer) in
        [ask(0, None), ask(1, None), ask(2, Some("p2")), json!({}), ask(4, None)].into_iter().zip(&answers)
    {
        wrapped.say(question);
        assert_eq!(wrapped.hear(), format!("{answer}\n"));
    }
    assert_eq!(wrapped.end().0, Some(0));
    assert_eq!(names(&home), ["c"]);
    assert_eq!(observed(&home).source().to_string(), "wrap");
}

#[test]
fn the_official_sdk_is_recorded_as_the_client_sees_it() {
    let home = Sandbox::new();
    let entry = sdk_server();
    let args = entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
    let command: Vec<&str> = ["/usr/bin/env", "RUNE_SERVES=1", "/bin/sh"].into_iter().chain(args).collect();
    let mut wrapped = Wrapped::start(&home, &[], &command);
    wrapped.say(json!({"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}));
    assert!(wrapped.hear().contains(INSTRUCTIONS));
    wrapped.say(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    wrapped.say(ask(1, None));
    assert!(wrapped.hear().contains("\"add\""));
    wrapped.say(ask(2, Some("second")));
    assert!(wrapped.hear().contains("\"subtract\""));
    wrapped.end();
    assert_eq!(names(&home), ["add", "subtract"]);
    assert!(format!("{:?}", observed(&home)).contains(INSTRUCTIONS));
}

/// Approves what is on record, as a person would.
fn approve(home: &Sandbox) {
    let proposal = Proposal::of(None, &observed(home), None, None).unwrap();
    let hash = proposal.hash().short();
    let mut pin = Pin::new("s");
    pin.approve(proposal.confirm(&hash).unwrap(), OffsetDateTime::UNIX_EPOCH);
    std::fs::create_dir_all(home.path(".local/share/rune/pins")).unwrap();
    std::fs::write(record(home, "pins"), pin.write()).unwrap();
}

#[test]
fn only_what_is_approved_gets_past_strip() {
    let home = Sandbox::new();
    let serve = |answer: &Value| {
        let command = scripted(&home, std::slice::from_ref(answer));
        let mut wrapped = Wrapped::start(&home, &["--strip"], &words(&command));
        wrapped.say(ask(1, None));
        let heard: Value = serde_json::from_str(&wrapped.hear()).unwrap();
        wrapped.end();
        let tools = heard["result"]["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    assert_eq!(serve(&list(1, &["a", "b"], None)), [""; 0], "nothing is approved yet");
    assert_eq!(names(&home), ["a", "b"], "and yet it is known what is served");
    approve(&home);
    assert_eq!(serve(&list(1, &["a", "b"], None)), ["a", "b"]);
    assert_eq!(serve(&list(1, &["c", "a", "d", "b"], None)), ["a", "b"]);
    let mut changed = list(1, &["a", "b"], None);
    changed["result"]["tools"][0]["description"] = json!("evil");
    assert_eq!(serve(&changed), ["b"]);
    std::fs::write(record(&home, "pins"), "{").unwrap();
    assert_eq!(serve(&list(1, &["a", "b"], None)), [""; 0], "what cannot be told is not approved");
}

#[test]
fn nobody_but_the_configuration_makes_a_change_look_undone() {
    let home = Sandbox::new();
    let mut changed = list(1, &["a", "b"], None);
    changed["result"]["tools"][0]["description"] = json!("evil");
    let mut mixed = list(1, &["a", "b"], None);
    mixed["result"]["tools"][1]["description"] = json!("something else");
    let serve = |answer: &Value, configured: bool| {
        let command = scripted(&home, std::slice::from_ref(answer));
        let args: Vec<&str> = ["mcp", "wrap", "--server", "s", "--"].into_iter().chain(words(&command)).collect();
        let entry = if configured { json!({"command": "rune", "args": args}) } else { json!({"command": "other"}) };
        home.write(".claude.json", &json!({"mcpServers": {"s": entry}}).to_string());
        let mut wrapped = Wrapped::start(&home, &[], &words(&command));
        wrapped.say(ask(1, None));
        assert_eq!(wrapped.hear(), format!("{answer}\n"));
        let said = wrapped.end().1;
        let evil = format!("{:?}", observed(&home)).contains("evil");
        (evil, said)
    };
    let good = list(1, &["a", "b"], None);
    assert!(!serve(&good, true).0);
    approve(&home);
    assert!(serve(&changed, false).0, "what makes it worse is believed of anybody");
    for list in [&good, &mixed] {
        let (evil, said) = serve(list, false);
        assert!(evil && !said.is_empty(), "{said}");
    }
    assert!(!serve(&good, true).0, "the configuration starts it so");
}

#[test]
fn a_store_that_fails_costs_the_stream_nothing() {
    let home = Sandbox::new();
    home.write(".local/share/rune", "a file where a folder should be");
    let answer = list(1, &["a"], None);
    let command = scripted(&home, std::slice::from_ref(&answer));
    let mut wrapped = Wrapped::start(&home, &[], &words(&command));
    wrapped.say(ask(1, None));
    assert_eq!(wrapped.hear(), format!("{answer}\n"));
    let (exit, said) = wrapped.end();
    assert!(exit == Some(0) && !said.is_empty(), "{said}");
}

#[test]
fn a_wrap_is_put_into_the_configuration_and_taken_out_to_the_byte() {
    let home = Sandbox::new();
    let text = "{\n\t\"numStartups\" : 3,\n\t\"mcpServers\": {\"s\": { \"command\": \"/bin/cat\", \"args\": [\"-u\"] }, \"h\": {\"url\": \"http://h\"}}\n}\n";
    let file = home.write(".claude.json", text);
    let output = home.run_as_person(&["mcp", "wrap", "--install", "s", "--strip"]);
    assert_eq!(output.exit, 0, "{output:?}");
    let installed: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let entry = &installed["mcpServers"]["s"];
    let args: Vec<&str> = entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap()).collect();
    let mut child = Command::new(entry["command"].as_str().unwrap());
    let mut child = child.args(&args).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"through\n").unwrap();
    assert_eq!(child.wait_with_output().unwrap().stdout, b"through\n");
    assert!(args.ends_with(&["--strip", "--", "/bin/cat", "-u"]), "{args:?}");
    assert_eq!(home.run_as_person(&["mcp", "wrap", "--install", "s"]).exit, 1, "once is enough");
    assert_eq!(home.run_as_person(&["mcp", "wrap", "--install", "h"]).exit, 1, "it has no streams");
    assert_eq!(home.run_as_person(&["mcp", "wrap", "--uninstall", "s"]).exit, 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    assert_eq!(home.run_as_person(&["mcp", "wrap", "--uninstall", "s"]).exit, 1);
}
