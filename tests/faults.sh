#!/usr/bin/env bash
# Tests the hook with a full disk, without file descriptors and with a read-only home. Needs Linux with user namespaces, for
# a file system of its own, and the static binary that `install.sh` builds: a dynamic loader needs a descriptor.
# Usage: tests/faults.sh BINARY
set -euo pipefail
[ -x "${1:-}" ] || { echo 'usage: tests/faults.sh BINARY' >&2; exit 2; }
rune=$(realpath "$1")

if [ "${2:-}" != inside ]; then
  exec unshare --map-root-user --mount "$(realpath "${BASH_SOURCE[0]}")" "$rune" inside
fi

scratch=$(mktemp -d)
trap 'umount "$scratch" 2>/dev/null || true; rmdir "$scratch"' EXIT
fail() { printf 'tests/faults.sh: %s\n' "$1" >&2; exit 1; }
event() {
  printf '{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"}}' "$1"
}
hook() { event "$1" | env -i HOME="$scratch/home" "$rune" hook pre --preset strict 2>/dev/null; }
denies() { hook 'rm -rf /' | grep -q '"permissionDecision":"deny"' || fail "$1: rm -rf / was not denied"; }
passes() { [ -z "$(hook 'git status')" ] || fail "$1: git status did not pass"; }
# Prints how many lines of the log are incomplete.
count_incomplete() { python3 -c 'import json,sys
lines = open(sys.argv[1]).read().split("\n")
incomplete = 0
for line in lines[:-1]:
    try: json.loads(line)
    except ValueError: incomplete += 1
print(len(lines) - 1, "lines,", incomplete, "incomplete")' "$scratch/home/.claude/telemetry.jsonl"; }

mount -t tmpfs -o size=64k tmpfs "$scratch"
mkdir -p "$scratch/home/.claude"
denies 'an empty disk'
# A log line does not fit, or only a part of it.
dd if=/dev/zero of="$scratch/filler" bs=1k count=1000 2>/dev/null || true
for _ in $(seq 200); do denies 'a full disk'; done
passes 'a full disk'
printf 'full disk: '; count_incomplete
rm "$scratch/filler"
denies 'a disk with free space again'
tail -n 1 "$scratch/home/.claude/telemetry.jsonl" | python3 -c 'import json,sys; json.loads(sys.stdin.read())' ||
  fail 'the first line after the full disk is not complete'

# Without descriptors no file can be opened: a call is still judged, and does not pass if the policy cannot be read.
hook_without_descriptors() {
  event "$1" > "$scratch/event"
  (
    exec 2>/dev/null < "$scratch/event"
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME CLAUDE_CONFIG_DIR CLAUDE_PROJECT_DIR
    ulimit -n 3
    HOME=$scratch/home exec "$rune" hook pre --preset strict
  )
}
ldd "$rune" >/dev/null 2>&1 && fail 'the binary is not static'
hook_without_descriptors 'rm -rf /' | grep -q '"deny"' || fail 'no descriptors: rm -rf / was not denied'
mkdir -p "$scratch/home/.config/rune"
echo '[executables]' > "$scratch/home/.config/rune/config.local.toml"
hook_without_descriptors 'git status' | grep -q '"deny"' || fail 'no descriptors: git status passed with an unreadable policy'
rm "$scratch/home/.config/rune/config.local.toml"
printf 'no descriptors: denied\n'

mount -o remount,ro "$scratch"
denies 'a read-only home'
# Taint could not be recorded, so no call passes.
hook 'git status' | grep -q '"deny"' || fail 'a read-only home: git status passed'
[ "$(env -i HOME="$scratch/home" "$rune" quarantine status --json | head -c 1)" = '{' ] || fail 'status of a read-only home'
printf 'read-only home: denied\n'
