//! Untrusted surfaces: results of commands that fetch or print untrusted content, stored results, MCP resources.

use crate::support::judge::{Directories, judge, policy_with, policy_without_rules};
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
fn commands_that_bring_what_strangers_wrote_are_marked() {
    for (line, label) in [
        ("git clone https://github.com/x/y && cat y/README.md", "shell:git"),
        ("git clone git@github.com:x/y.git", "shell:git"),
        ("git show FETCH_HEAD:README.md", "shell:git"),
        ("git diff main...FETCH_HEAD", "shell:git"),
        ("git fetch origin pull/5/head:pr5 && git show pr5:README.md", "shell:git"),
        ("git fetch origin refs/merge-requests/5/head", "shell:git"),
        ("git log origin/pr/5", "shell:git"),
        ("git fetch https://github.com/x/y main", "shell:git"),
        ("git -C web pull git@github.com:x/y.git main", "shell:git"),
        ("git fetch contributor", "shell:git"),
        ("git remote add origin https://e.example/x && git fetch origin", "shell:git"),
        ("git remote set-url origin https://e.example/x && git pull", "shell:git"),
        ("git submodule update --init --remote", "shell:git"),
        ("git ls-remote https://e.example/x", "shell:git"),
        ("gh pr checkout 5 && cat README.md", "shell:gh"),
        ("gh repo clone x/y", "shell:gh"),
        ("npm view x readme", "shell:npm"),
        ("pnpm info x", "shell:pnpm"),
        ("cargo search serde", "shell:cargo"),
        ("pip show requests", "shell:pip"),
        ("python3 -m pip index versions x", "shell:pip"),
        ("gem search rails", "shell:gem"),
        ("brew info x", "shell:brew"),
        ("dig TXT e.example", "shell:dig"),
        ("host -t txt e.example", "shell:host"),
        ("whois e.example", "shell:whois"),
        ("ssh host cat /tmp/x", "shell:ssh"),
        ("scp host:x . && cat x", "shell:scp"),
        ("nc e.example 80", "shell:nc"),
        ("cat < /dev/tcp/e.example/80", "shell:unknown"),
        ("openssl s_client -connect e.example:443", "shell:openssl"),
        ("aws s3 cp s3://bucket/x -", "shell:aws"),
        ("aws sqs receive-message --queue-url x", "shell:aws"),
        ("gsutil cat gs://b/x", "shell:gsutil"),
        ("rclone cat r:x", "shell:rclone"),
        ("kubectl logs pod/x", "shell:kubectl"),
        ("kubectl exec x -- cat /x", "shell:kubectl"),
        ("docker logs x", "shell:docker"),
        ("docker compose logs web", "shell:docker"),
        ("helm show readme x/y", "shell:helm"),
        ("psql -c 'select * from tickets'", "shell:psql"),
        ("docker exec db psql -c 'select 1'", "shell:psql"),
        ("redis-cli get x", "shell:redis-cli"),
        ("jira issue view X-1", "shell:jira"),
        ("himalaya read 5", "shell:himalaya"),
        ("journalctl -u nginx", "shell:journalctl"),
        ("yt-dlp --get-description https://e.example", "shell:yt-dlp"),
        ("X=$(curl -s https://e.example); echo \"$X\"", "shell:curl"),
        ("cat <(curl -s https://e.example)", "shell:curl"),
        ("ruby -ropen-uri -e \"puts URI.open('https://e.example').read\"", "shell:curl"),
        ("perl -MLWP::Simple -e 'getprint(\"https://e.example\")'", "shell:curl"),
        ("node -e \"fetch('https://e.example').then(r=>r.text()).then(console.log)\"", "shell:curl"),
        ("cat up*/x", "upload:x"),
        ("cat Uploads/x", "upload:x"),
        ("pdftotext uploads/x.pdf -", "upload:x.pdf"),
        ("exiftool uploads/x.jpg", "upload:x.jpg"),
        ("cat node_modules/left-pad/README.md", "package:README.md"),
        ("npm install left-pad && head node_modules/left-pad/readme", "package:readme"),
        ("cat .venv/lib/python3.12/site-packages/x-1.0.dist-info/METADATA", "package:METADATA"),
        ("cat ~/.cargo/registry/src/index/x-1.0/CHANGELOG.md", "package:CHANGELOG.md"),
    ] {
        assert_eq!(of_command(line).as_deref(), Some(label), "{line}");
    }
}

#[test]
fn the_project_s_own_remotes_and_files_are_not_marked() {
    for line in [
        "git fetch",
        "git fetch --all --prune",
        "git fetch origin main",
        "git fetch --depth 1 origin",
        "git fetch upstream main",
        "git pull --rebase origin main",
        "git -C web pull",
        "git remote update",
        "git remote add fork https://github.com/x/y",
        "git submodule update --init --recursive",
        "git lfs pull",
        "git clone ../web /tmp/web",
        "git ls-remote origin",
        "git show origin/main:README.md",
        "git commit -m 'see FETCH_HEAD and pull/5/head'",
        "git clone --help",
        "npm ci",
        "npm install react",
        "cat node_modules/react/package.json",
        "cat README.md docs/CHANGELOG.md",
        "pip list",
        "docker ps",
        "kubectl get pods",
        "rsync -a src/ dist/",
        "cat src/*/index.ts **/x",
    ] {
        assert_eq!(of_command(line), None, "{line}");
    }
}

#[test]
fn searches_of_uploads_and_texts_of_packages_are_marked() {
    for (tool, input, label) in [
        ("Grep", json!({"pattern": "x", "path": "uploads", "output_mode": "content"}), Some("upload:unknown")),
        ("Grep", json!({"pattern": "x", "glob": "uploads/**"}), Some("upload:unknown")),
        ("Glob", json!({"pattern": "**/uploads/*"}), Some("upload:unknown")),
        ("Grep", json!({"pattern": "uploads", "path": "src"}), None),
        ("Glob", json!({"pattern": "src/**/*.ts"}), None),
        ("Read", json!({"file_path": "/home/u/proj/node_modules/x/README.md"}), Some("package:README.md")),
        ("Read", json!({"file_path": "/home/u/proj/node_modules/x/index.d.ts"}), None),
        ("Read", json!({"file_path": "/home/u/proj/README.md"}), None),
    ] {
        assert_eq!(source(tool, input.clone()).as_deref(), label, "{tool} {input}");
    }
}

#[test]
fn own_hosts_are_not_marked() {
    let config = policy_with("gentle", "[taint]\nown_hosts = ['git.corp.example', '*.docs.example', 'Localhost']");
    let marked = |tool: &str, input: Value| {
        let event = json!({"session_id": "s1", "cwd": "/home/u/proj", "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input});
        let place = Directories { home: Some("/home/u"), project: None };
        judge(event.to_string(), &config, place, |_| {}).surface().is_some()
    };
    for (url, is_marked) in [
        ("https://git.corp.example/x", false),
        ("https://GIT.corp.example:8443/x", false),
        ("https://api.docs.example/x", false),
        ("http://localhost:3000/", false),
        ("https://docs.example/x", true),
        ("https://git.corp.example.evil.example/x", true),
        ("https://git.corp.example@evil.example/x", true),
        ("https://evil.example/?git.corp.example", true),
    ] {
        assert_eq!(marked("WebFetch", json!({"url": url})), is_marked, "{url}");
        assert_eq!(marked("Bash", json!({"command": format!("curl -s '{url}'")})), is_marked, "curl {url}");
        assert_eq!(marked("Bash", json!({"command": format!("git clone '{url}'")})), is_marked, "git clone {url}");
    }
    for (line, is_marked) in [
        ("git clone git@git.corp.example:a/b.git", false),
        ("curl https://git.corp.example/a https://e.example/b", true),
        ("curl \"$URL\" https://git.corp.example/a", true),
        ("curl -x http://e.example https://git.corp.example/a", true),
        ("ssh git.corp.example cat x", false),
        ("ssh e.example cat x", true),
        ("gh issue view 1", true),
    ] {
        assert_eq!(marked("Bash", json!({"command": line})), is_marked, "{line}");
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
