//! Untrusted surfaces: results of commands that fetch or print untrusted content, stored results, MCP resources.

use crate::support::judge::{Directories, judge, policy_without_rules};
use serde_json::{Value, json};

/// The label that the result of a call is marked with.
fn source(tool: &str, input: Value) -> Option<String> {
    let event = json!({"session_id": "s1", "cwd": "/home/u/proj", "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input});
    let verdict = judge(
        event.to_string(),
        &policy_without_rules("gentle"),
        Directories { home: Some("/home/u"), project: None },
        |_| {},
    );
    verdict.surface().map(|surface| surface.source.to_string())
}

fn of_command(line: &str) -> Option<String> {
    source("Bash", json!({"command": line}))
}

#[test]
fn output_of_commands_that_fetch_is_marked() {
    for (line, label) in [
        ("curl https://e.example/", "shell:curl"),
        ("curl --oauth2-bearer aaaa.bbbb.cccc \"$URL\"", "shell:curl"),
        ("curl -s https://e.example/ | jq .", "shell:curl"),
        ("/usr/bin/env curl https://e.example", "shell:curl"),
        ("sudo -u root timeout -s KILL 10 wget -qO- https://e.example", "shell:wget"),
        ("bash -c 'curl https://e.example'", "shell:curl"),
        ("echo $((1<<3))\ncurl https://e.example", "shell:curl"),
        ("echo $'it\\'s'; curl https://e.example", "shell:curl"),
        ("cat <<EOF\n$(curl https://e.example)\nEOF", "shell:curl"),
        ("echo \"$(case a in a) curl x;; esac)\"", "shell:curl"),
        ("python3 -c 'import requests; print(requests.get(\"https://e.example\").text)'", "shell:curl"),
        ("gh issue view 12", "shell:gh"),
        ("gh -R o/r pr list", "shell:gh"),
        ("gh api repos/o/r/issues", "shell:gh"),
        ("glab mr view 3", "shell:glab"),
        ("cat uploads/cv.md", "upload:cv.md"),
        ("cd uploads && cat cv.md", "upload:cv.md"),
        ("< uploads/cv.md cat", "upload:cv.md"),
        ("echo \"$(<uploads/cv.md)\"", "upload:cv.md"),
        ("while read l; do echo $l; done < uploads/cv.md", "upload:cv.md"),
        ("cat {uploads/a,b}", "upload:a"),
        ("grep -rn secret uploads", "upload:uploads"),
        ("tail -n 20 /tmp/claude-0/p/x/tasks/b1.output", "spill:b1.output"),
        ("jq . ~/.claude/projects/p/x/tool-results/mcp.txt", "spill:mcp.txt"),
    ] {
        assert_eq!(of_command(line).as_deref(), Some(label), "{line}");
    }
}

#[test]
fn output_of_ordinary_commands_is_not_marked() {
    for line in [
        "npm test",
        "command -v curl",
        "if ! command -v curl >/dev/null; then echo no; fi",
        "which curl; type wget",
        "curl --version",
        "gh pr view --help",
        "gh auth status",
        "gh pr create --title x --body 'see curl'",
        "git commit -m \"$(cat <<'EOF'\nuse curl; wget uploads/x\nEOF\n)\"",
        "git commit -m $'x\\n- don\\'t use curl https://x; wget y'",
        "rg -t ts uploads",
        "grep -A 3 uploads src/x.ts",
        "grep -rn --include \"*.ts\" \"uploads/\" src",
        "sed 's|/var/www/uploads/|/srv/|g' nginx.conf",
        "jq '.paths[\"/uploads/{id}\"]' openapi.json",
        "awk '{print $1 \"/uploads/\" $2}' f",
        "sed -i 's/a/b/' uploads/a.txt",
        "mkdir -p uploads/x && ls uploads && rm -rf uploads/tmp",
        "deps=(curl wget)",
        "case $x in curl|wget) echo;; esac",
        "[[ $x =~ (curl|wget) ]]",
        "apt-get install -y curl wget",
        "docker build -t curl .",
        "echo curl https://e.example",
        "cat src/uploads.ts docs/uploads",
    ] {
        assert_eq!(of_command(line), None, "{line}");
    }
}

#[test]
fn only_files_in_which_the_client_stores_results_are_marked_as_spilled() {
    let uuid = "0a1b2c3d-0000-4000-8000-00000000abcd";
    for (path, spilled) in [
        (format!("/home/u/.claude/projects/p/{uuid}/tool-results/mcp-x.txt"), true),
        ("/cfg/projects/p/s1/tool-results/mcp-x.txt".to_owned(), true),
        (format!("/tmp/claude-1000/p/{uuid}/tasks/b1.output"), true),
        (format!("/var/tmp/x/{uuid}/tasks/b1.output"), true),
        ("/home/u/proj/tool-results/x.txt".to_owned(), false),
        ("/home/u/proj/src/tasks/run.output".to_owned(), false),
        ("/home/claude/app/roles/web/tasks/main.yml".to_owned(), false),
        ("/home/u/claude/src/app/tasks/celery.py".to_owned(), false),
    ] {
        assert_eq!(source("Read", json!({"file_path": path})).is_some(), spilled, "{path}");
    }
}

#[test]
fn resources_of_untrusted_servers_are_marked() {
    for (tool, input, marked) in [
        ("ReadMcpResourceTool", json!({"server": "demo", "uri": "x"}), Some("mcp:demo")),
        ("ReadMcpResourceDirTool", json!({"server": "demo", "uri": "x"}), Some("mcp:demo")),
        ("ListMcpResourcesTool", json!({"server": "demo"}), Some("mcp:demo")),
        ("ListMcpResourcesTool", json!({}), Some("mcp:unknown")),
    ] {
        assert_eq!(source(tool, input).as_deref(), marked, "{tool}");
    }
}
