//! `rune report`: a page that needs nothing else, whatever the log says.

use crate::support::sandbox::{Output, Sandbox, finish, make_pipe};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A name that is markup, a script and an address at once.
const HOSTILE: &str = "\"><script>console.log(1)</script><img src=http://evil.test/x onerror=alert(1)>'&amp;\u{202e}";

fn line(day: u32, minute: u32, fields: Value) -> String {
    let mut line = json!({"event": "PreToolUse", "tool": "Bash", "decision": "allow", "source": "", "session_id": "s1",
        "ts": format!("2026-11-{:02}T{:02}:{:02}:00.000Z", day, minute / 60, minute % 60), "rule": "", "us": 1200,
        "client": "claude", "call": "toolu_1"});
    line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    format!("{line}\n")
}

/// A home whose log has sessions with and without untrusted content, and hostile names everywhere.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let marked = |session: &str, source: &str| {
        json!({"event": "quarantine", "tool": "WebFetch", "decision": "emit", "source": source, "session_id": session,
            "rule": "quarantine-web content-injection", "hot": true})
    };
    let stop =
        |session: &str, decision: &str, rule: &str| json!({"decision": decision, "session_id": session, "rule": rule});
    let lines = [
        line(2, 600, json!({})),
        line(2, 610, stop("s1", "ask", "git-force-push")),
        line(2, 640, json!({"exception": "abcde"})),
        line(3, 1430, marked("s2", "webfetch:docs.example")),
        line(4, 10, stop("s2", "deny", "exfiltration")),
        line(4, 20, stop("s2", "advise", "unknown-executable")),
        line(5, 700, json!({"tool": HOSTILE, "session_id": HOSTILE, "client": HOSTILE, "exception": HOSTILE})),
        line(5, 701, stop(HOSTILE, "ask", HOSTILE)),
        line(5, 702, marked(HOSTILE, HOSTILE)),
        "not JSON\n".to_owned(),
        line(6, 1, json!({"ts": "2026-99-99T99:99:99Z"})),
    ];
    home.write(".claude/telemetry.jsonl", &lines.concat());
    home
}

fn write(home: &Sandbox, words: &[&str]) -> Output {
    home.run_as_person(&[&["report", "--html", "report.html"], words].concat())
}

fn page_of(home: &Sandbox) -> String {
    let output = write(home, &[]);
    assert_eq!(output.exit, 0, "{output:?}");
    std::fs::read_to_string(home.path("report.html")).unwrap()
}

#[test]
fn the_page_says_what_the_log_says() {
    let page = page_of(&home());
    for text in [
        "3<small>2 read untrusted content",
        "git-force-push",
        "unknown-executable",
        "webfetch:docs.example",
        "2026-11-02 to 2026-11-05",
        "from 2026-11-03 23:50",
        "like instructions from 2026-11-03 23:50",
        "abcde",
        "1.20 ms",
    ] {
        assert!(page.contains(text), "{text}\n{page}");
    }
    let later = home();
    assert_eq!(write(&later, &["--since", "2026-11-04"]).exit, 0);
    let page = std::fs::read_to_string(later.path("report.html")).unwrap();
    assert!(!page.contains("git-force-push") && page.contains("exfiltration"));
}

#[test]
fn the_page_refers_to_nothing_and_names_stay_text() {
    let page = page_of(&home());
    for part in ["<script", "<img", "url(", "@import", "\u{202e}", "onerror=alert(1)>"] {
        assert!(!page.contains(part), "{part}");
    }
    let links = page.split(" href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    assert!(links.into_iter().all(|link| link.starts_with('#') || link == "data:,"));
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn each_drawing_has_a_text_and_each_table_a_caption() {
    let page = page_of(&home());
    for (element, needed) in [("<svg", ["aria-label=", "aria-hidden="]), ("<table", ["<caption", "<caption"])] {
        for rest in page.split(element).skip(1) {
            let start = rest.get(..400).unwrap_or(rest);
            assert!(needed.iter().any(|needed| start.contains(needed)), "{start}");
        }
    }
    let ids: Vec<&str> = page.split(" href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(ids.iter().all(|id| page.contains(&format!("id=\"{id}\""))), "a link leads nowhere");
}

#[test]
fn only_a_regular_file_is_replaced_and_only_for_people() {
    let home = home();
    home.write("report.html", "older");
    assert!(page_of(&home).starts_with("<!DOCTYPE html>"));
    for make in [
        |path: &Path| std::os::unix::fs::symlink("elsewhere.html", path).unwrap(),
        |path: &Path| make_pipe(path),
        |path: &Path| std::fs::create_dir(path).unwrap(),
    ] {
        std::fs::remove_file(home.path("report.html")).ok();
        make(&home.path("report.html"));
        let output = write(&home, &[]);
        assert!(output.exit == 1 && output.stderr.contains("not a regular file"), "{output:?}");
    }
    assert!(!home.path("elsewhere.html").exists());
    let mut command = home.command(&["report", "--html", "agent.html"]);
    command.env("CLAUDECODE", "1");
    assert!(finish(command.spawn().unwrap(), b"").is_refused_to_agents());
    assert!(!home.path("agent.html").exists());
}

#[test]
fn a_machine_without_a_log_gets_a_page() {
    let home = Sandbox::new();
    assert!(page_of(&home).contains("no lines"));
}

/// Chromium, if it is installed; `.ci/run` installs it.
fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut names =
        std::env::split_paths(&path).flat_map(|dir| ["chromium", "chromium-browser"].map(|name| dir.join(name)));
    names.find(|program| program.is_file())
}

#[test]
fn chromium_shows_the_page_without_a_message_and_without_a_request() {
    let Some(chromium) = chromium() else {
        eprintln!("chromium is not installed; .ci/run installs it");
        return;
    };
    let home = home();
    page_of(&home);
    let (page, requests) = (home.path("report.html"), home.path("requests.json"));
    let output = Command::new(chromium)
        .args(
            "--headless --no-sandbox --disable-gpu --disable-background-networking --disable-component-update"
                .split(' '),
        )
        .args("--disable-sync --no-first-run --disable-default-apps --disable-extensions --no-pings".split(' '))
        // Requests of the browser itself get nowhere either.
        .args(["--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--v=0", "--dump-dom"])
        .arg(format!("--user-data-dir={}", home.path("profile").display()))
        .arg(format!("--log-net-log={}", requests.display()))
        .arg(format!("file://{}", page.display()))
        .env("HOME", home.home.path())
        .output()
        .unwrap();
    let (dom, messages) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(dom.contains("What Rune decided"), "{dom}\n{messages}");
    assert!(!messages.contains("CONSOLE"), "{messages}");
    assert!(!dom.contains("<script") && !dom.contains("<img"), "a name became an element");
    assert!(dom.contains("&lt;script&gt;console.log(1)"), "the name is text");
    let requests = std::fs::read_to_string(requests).unwrap();
    assert!(!requests.contains("evil.test"), "a request was made");
}
