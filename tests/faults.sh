#!/usr/bin/env bash
# Faults that need a file system of their own, or a binary that needs nobody to load it: a full disk, a home that cannot
# be written to, no descriptors left. Linux, with namespaces, and the binary as `install.sh` builds it.
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
passes() { [ -z "$(hook 'git status')" ] || fail "$1: git status was objected to"; }
# Every line that is there is whole.
whole() { python3 -c 'import json,sys
lines = open(sys.argv[1]).read().split("\n")
broken = [line for line in lines[:-1] if line and not line.startswith("{")]
for line in lines[:-1]:
    try: json.loads(line)
    except ValueError: broken.append(line)
print(len(lines) - 1, "lines,", len(broken), "broken off by the full disk")' "$scratch/home/.claude/telemetry.jsonl"; }

mount -t tmpfs -o size=64k tmpfs "$scratch"
mkdir -p "$scratch/home/.claude"
denies 'an empty disk'
# Filled to the last byte, and then to the last but a few: the line does not fit, or not all of it.
dd if=/dev/zero of="$scratch/filler" bs=1k count=1000 2>/dev/null || true
for _ in $(seq 200); do denies 'a full disk'; done
passes 'a full disk'
printf 'full disk: '; whole
rm "$scratch/filler"
denies 'a disk with room again'
tail -n 1 "$scratch/home/.claude/telemetry.jsonl" | python3 -c 'import json,sys; json.loads(sys.stdin.read())' ||
  fail 'the line behind a full disk is not whole'

# Nothing can be opened any more: what needs no file is judged as ever, what needs one does not pass.
few() {
  event "$1" > "$scratch/event"
  (
    exec 2>/dev/null < "$scratch/event"
    unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME CLAUDE_CONFIG_DIR CLAUDE_PROJECT_DIR
    ulimit -n 3
    HOME=$scratch/home exec "$rune" hook pre --preset strict
  )
}
ldd "$rune" >/dev/null 2>&1 && fail 'the binary is not static: its loader needs a descriptor of its own'
few 'rm -rf /' | grep -q '"deny"' || fail 'no descriptors: rm -rf / was not denied'
mkdir -p "$scratch/home/.config/rune"
echo '[executables]' > "$scratch/home/.config/rune/config.local.toml"
few 'git status' | grep -q '"deny"' || fail 'no descriptors: a policy that cannot be read has passed something'
rm "$scratch/home/.config/rune/config.local.toml"
printf 'no descriptors: denied\n'

mount -o remount,ro "$scratch"
denies 'a home that cannot be written to'
# Taint could not be recorded there, so nothing passes.
hook 'git status' | grep -q '"deny"' || fail 'a home that cannot be written to: git status has passed'
[ "$(env -i HOME="$scratch/home" "$rune" quarantine status --json | head -c 1)" = '{' ] || fail 'status of a read-only home'
printf 'read-only home: denied\n'
