"""A throw-away home, the hook as a client calls it, and figures: what the players of public benchmarks share."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile


class Session:
    """A session in a throw-away home whose configuration registers the servers, without pins and without trust."""

    def __init__(self, rune, preset, servers):
        self.rune, self.preset = rune, preset
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="benchmark-"))
        config = self.home / ".config/rune"
        config.mkdir(parents=True)
        (self.home / "project").mkdir()
        names = "".join(f'[[mcp.servers]]\nname = "{name}"\n' for name in servers)
        (config / "config.local.toml").write_text(f'[mcp]\npins = "when-present"\n{names}')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.home, ignore_errors=True)

    def send(self, phase, event, **fields):
        """Sends one event, and returns what the answer says to the client."""
        fields = {
            "session_id": "s", "cwd": str(self.home / "project"), "permission_mode": "default",
            "hook_event_name": event, **fields,
        }
        words = [self.rune, "hook", *phase, "--preset", self.preset]
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        run = subprocess.run(words, input=json.dumps(fields), capture_output=True, text=True, env=environment)
        if run.returncode != 0:
            raise RuntimeError(f"{event}: exit code {run.returncode}: {run.stderr}")
        return json.loads(run.stdout or "{}").get("hookSpecificOutput", {})

    def call(self, server, tool, args):
        source = {"name": server, "source": "user"}
        return {"tool_name": f"mcp__{server}__{tool}", "tool_input": args, "mcp_server": source, "tool_use_id": "t"}

    def prompt(self, text):
        self.send([], "UserPromptSubmit", prompt=text)

    def before(self, server, tool, args):
        """Returns the decision about a call, and its rule."""
        answer = self.send(["pre"], "PreToolUse", **self.call(server, tool, args))
        rule = re.match(r"(?:Rune \()?([\w/-]+)", answer.get("permissionDecisionReason", ""))
        return answer.get("permissionDecision", ""), rule.group(1) if rule else ""

    def after(self, server, tool, args, result):
        """Returns the content rules that match the result."""
        response = [{"type": "text", "text": result}]
        answer = self.send(["post"], "PostToolUse", tool_response=response, **self.call(server, tool, args))
        return re.findall(r"rule `(content-[\w-]+)`", answer.get("additionalContext", ""))


def is_stopped(decision):
    return decision in ("ask", "deny")


def percent(part, whole):
    return f"{part:4} of {whole:4} = {100 * part / max(whole, 1):5.1f} %"


def options(description):
    """The options that all players have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rune", default="target/debug/rune", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--preset", choices=["strict", "gentle"], action="append", help="default: both")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-v", "--verbose", action="store_true", help="print the calls behind the figures")
    return parser
