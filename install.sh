#!/usr/bin/env bash
# Builds rune, installs it, and shows it at work. Works without a terminal and may be run again at any time.
set -euo pipefail

usage() {
  cat <<'EOF'
Usage: ./install.sh [--preset gentle|strict|off] [--prefix DIR]

  --preset NAME   the preset that the printed hook entries name (default: gentle)
  --prefix DIR    install to DIR/bin (default: ~/.local)

Example: ./install.sh --preset strict --prefix "$HOME/.local"
EOF
}

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

preset=gentle
prefix=
while [ $# -gt 0 ]; do
  case $1 in
    --preset | --prefix)
      [ $# -ge 2 ] || fail "$1 needs a value; see ./install.sh --help"
      if [ "$1" = --preset ]; then preset=$2; else prefix=$2; fi
      shift 2
      ;;
    --preset=*) preset=${1#*=} && shift ;;
    --prefix=*) prefix=${1#*=} && shift ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option $1; see ./install.sh --help" ;;
  esac
done
case $preset in
  gentle | strict | off) ;;
  *) fail "unknown preset $preset; there are gentle, strict and off" ;;
esac
[ -n "${HOME:-}" ] || fail "HOME is not set"
prefix=${prefix:-$HOME/.local}
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")"

export PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"
command -v cargo >/dev/null || fail "cargo is missing. Install Rust 1.88 or newer with your package manager or with rustup, then run this again"

# A static binary starts in less time and ignores LD_PRELOAD. The target is named so that the flags reach the
# program only: proc-macros cannot be linked statically.
host=$(rustc -vV | sed -n 's/^host: //p')
build() {
  cargo build --release --locked --bin rune --message-format=json-render-diagnostics "$@" |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}
binary=
case $host in
  *-linux-*)
    binary=$(RUSTFLAGS="${RUSTFLAGS:-} -C target-feature=+crt-static -C relocation-model=static" build --target "$host") ||
      printf 'install.sh: no static build here, building the ordinary way\n' >&2
    ;;
esac
[ -n "$binary" ] || binary=$(build)
[ -x "$binary" ] || fail "cargo built nothing that can be run"

bin=$prefix/bin
rune=$bin/rune
mkdir -p "$bin"
install -m 755 "$binary" "$rune.new"
mv -f "$rune.new" "$rune"
for name in quarantine security-hook; do
  if [ ! -e "$bin/$name" ] || [ -L "$bin/$name" ]; then
    ln -sf rune "$bin/$name"
  else
    printf 'install.sh: %s is not ours and stays as it is\n' "$bin/$name" >&2
  fi
done
printf 'installed %s (%s), and the names quarantine and security-hook beside it\n' "$rune" "$("$rune" --version)"
case :$PATH: in
  *:"$bin":*) ;;
  *) printf 'note: %s is not on your PATH\n' "$bin" ;;
esac

# Three live decisions, with a client directory of their own so that your log stays yours.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
show() {
  local title=$1 phase=$2 event=$3 answer
  answer=$(printf '%s' "$event" | "$rune" hook "$phase" --preset "$preset" --client-dir "$scratch" --state-dir "$scratch" 2>/dev/null) || true
  printf '\n%s\n  decision: %s\n  answer:   %s\n' "$title" \
    "$(tail -n 1 "$scratch/telemetry.jsonl" | sed -n 's/.*"decision":"\([^"]*\)".*/\1/p')" "${answer:-(silence)}"
}
show 'A web page was fetched:' post \
  '{"session_id":"demo","cwd":"/","hook_event_name":"PostToolUse","tool_name":"WebFetch","tool_input":{"url":"https://pages.example/","prompt":"sum up"},"tool_response":{"result":"some text"}}'
show 'A source file was read:' post \
  '{"session_id":"demo","cwd":"/","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{"file_path":"/src/main.rs"},"tool_response":{}}'
show 'An event arrives broken before a call:' pre '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":'

config=${XDG_CONFIG_HOME:-$HOME/.config}/rune
state=${XDG_STATE_HOME:-$HOME/.local/state}/rune
client=${CLAUDE_CONFIG_DIR:-$HOME/.claude}
args="\"--preset\", \"$preset\", \"--config-dir\", \"$config\", \"--state-dir\", \"$state\", \"--client-dir\", \"$client\""
cat <<EOF

To use it in Claude Code, add these entries to $client/settings.json:

"hooks": {
  "PreToolUse": [{"hooks": [{"type": "command", "command": "$rune", "args": ["hook", "pre", $args], "timeout": 10, "onFailure": "block"}]}],
  "PostToolUse": [{"hooks": [{"type": "command", "command": "$rune", "args": ["hook", "post", $args], "timeout": 10}]}],
  "PostToolUseFailure": [{"hooks": [{"type": "command", "command": "$rune", "args": ["hook", "post", $args], "timeout": 10}]}]
}
EOF
