#!/usr/bin/env bash
# Runs the real install.sh in throw-away homes: fresh, twice, --update, --uninstall, --purge. All share one build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkfifo "$scratch/go" "$scratch/end"
count=0
sockets=0
extra=(LC_ALL=C)

fail() {
  printf 'not ok: %s\n' "$1" >&2
  cat "$scratch/out" >&2
  exit 1
}

ok() {
  count=$((count + 1))
  printf 'ok %s: %s\n' "$count" "$1"
}

new_home() {
  home=$(mktemp -d "$scratch/home.XXXXXX")
  config=$home/.config/rune
  settings=$home/.claude/settings.json
}

# Runs install.sh as a person, in $home and with stdin at /dev/null, and keeps what it says. A tmux server of its own
# has nothing of these tests above it, wherever they run: they may run below an agent or without a terminal.
run() {
  sockets=$((sockets + 1))
  # shellcheck disable=SC2016 # the inner shell expands it
  env -i PATH="$PATH" tmux -S "$scratch/tmux.$sockets" -f /dev/null new-session -d \
    bash -c 'status=0; "$@" </dev/null >"$0/out" 2>&1 || status=$?; echo "$status" >"$0/end"' \
    "$scratch" env -i PATH="$PATH" HOME="$home" CARGO_HOME="$CARGO_HOME" RUSTUP_HOME="$RUSTUP_HOME" "${extra[@]}" ./install.sh "$@"
  return "$(cat "$scratch/end")"
}

# The same without a terminal and by a process that has lost its parents.
run_orphan() {
  # shellcheck disable=SC2016 # the inner shell expands it
  setsid --wait bash -c '(read -r _ <"$0/go"; status=0; "$@" </dev/null >"$0/out" 2>&1 || status=$?; echo "$status" >"$0/end") &' \
    "$scratch" env -i PATH="$PATH" HOME="$home" CARGO_HOME="$CARGO_HOME" RUSTUP_HOME="$RUSTUP_HOME" "${extra[@]}" ./install.sh "$@"
  echo go >"$scratch/go"
  return "$(cat "$scratch/end")"
}

# Every file of the home with a sum of its bytes, but for the receipts: each loosening leaves one.
tree() {
  (cd "$home" && find . -path ./.local/state/rune/receipts -prune -o \( -type f -o -type l \) -print | LC_ALL=C sort | while IFS= read -r file; do
    if [ -L "$file" ]; then printf '%s -> %s\n' "$file" "$(readlink "$file")"; else cksum "$file"; fi
  done)
}

says() {
  grep -qF -- "$1" "$scratch/out" || fail "it does not say: $1"
}

gone() {
  if [ -e "$1" ] || [ -L "$1" ]; then fail "$1 is still there"; fi
}

keeps() {
  [ "$1" = "$(tree)" ] || fail "something has changed: $(diff <(echo "$1") <(tree))"
}

foreign='{
    "model": "opus",
    "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "say done" } ] } ] }
}'

new_home
tools=$scratch/tools
mkdir "$tools"
for tool in bash env dirname mktemp rm sed; do ln -s "$(command -v "$tool")" "$tools/$tool"; done
extra=(PATH="$tools" CARGO_HOME="$scratch/none")
if run; then fail 'it goes on without Rust'; fi
says 'there is no Rust here'
says 'https://sh.rustup.rs'
printf '#!/bin/sh\necho "rustc 1.60.0 (x 2022-04-04)"\n' | tee "$tools/cargo" >"$tools/rustc"
chmod +x "$tools/cargo" "$tools/rustc"
if run; then fail 'it goes on with an old Rust'; fi
says 'this is Rust 1.60'
says 'rustup update stable'
[ -z "$(tree)" ] || fail 'something was written'
extra=(LC_ALL=C)
for words in --unknown '--purge' '--preset' '--update --uninstall'; do
  # shellcheck disable=SC2086 # several words
  if run $words; then fail "it takes $words"; fi
done
ok 'what it needs, and what it does not know, is said before anything is done'

new_home
run_orphan || fail 'a fresh home, without a terminal'
if grep '^install.sh: ' "$scratch/out"; then fail 'it is not built as it should be'; fi
says 'registered in'
says 'the preset gentle'
says 'answer: pass'
says 'git-force-push (ask)'
says 'destructive-delete (deny)'
for file in .local/bin/rune .local/share/man/man1/rune-hooks-install.1 .local/share/bash-completion/completions/rune \
  .local/share/zsh/site-functions/_rune .local/share/fish/vendor_completions.d/rune.fish \
  .config/rune/config.local.toml .config/rune/rules/bash.rules .claude/settings.json; do
  [ -s "$home/$file" ] || fail "$file is missing"
done
[ "$(readlink "$home/.local/bin/quarantine")" = rune ] || fail 'the other names are missing'
gone "$home/.claude/telemetry.jsonl"
ok 'a fresh home'

before=$(tree)
run || fail 'the second time'
keeps "$before"
run --update || fail 'an update to the same version'
keeps "$before"
ok 'twice is once'

run --preset strict || fail 'strict'
strict=$(tree)
run --update || fail 'an update with strict'
says 'preset strict'
keeps "$strict"
if run --preset gentle; then fail 'it loosens without --yes where stdin is not a terminal'; fi
keeps "$strict"
for words in '--preset gentle --yes' '--preset off --yes' '--uninstall --yes' '--uninstall --purge --yes'; do
  # shellcheck disable=SC2086 # several words
  if run_orphan $words; then fail "without a terminal it takes $words"; fi
  says 'there is no terminal'
  keeps "$strict"
done
extra=(CLAUDECODE=1)
for words in '--preset gentle --yes' '--uninstall --yes' '--uninstall --purge --yes'; do
  # shellcheck disable=SC2086 # several words
  if run $words; then fail "an agent may $words"; fi
  says 'started by an agent'
  keeps "$strict"
done
run || fail 'an agent may look whether all is well'
printf '#!/bin/sh\n' >"$home/.local/bin/rune"
if run; then fail 'an agent replaces the guard'; fi
says 'replacing the guard is for people'
extra=(LC_ALL=C)
if run_orphan; then fail 'an orphan replaces the guard'; fi
says 'there is no terminal'
run || fail 'a person replaces the guard'
keeps "$strict"
ok 'the preset stays, and agents do not loosen'

older() {
  sed -e 's/^# version: .*/# version: 0.9.0/' -e '/misses git push --force-with-lease/d' "$1" >"$scratch/older"
  cp "$scratch/older" "$1"
}
older "$config/rules/bash.rules"
older "$home/.local/share/rune/policy/rules/bash.rules"
wanted=$(cat rules/bash.rules && echo '# mine')
echo '# mine' >>"$config/rules/bash.rules"
sed -i.bak 's/^disabled = .*/disabled = ["mcp-fetch"]/' "$config/config.toml" && rm "$config/config.toml.bak"
echo '# my own' >"$config/config.local.toml"
run --update || fail 'an update'
says 'merged rules/bash.rules (0.9.0 to '
[ "$(cat "$config/rules/bash.rules")" = "$wanted" ] || fail 'the edit or the new default is lost'
grep -q 'mcp-fetch' "$config/config.toml" || fail 'the disabled entry is lost'
[ "$(cat "$config/config.local.toml")" = '# my own' ] || fail 'the local file was touched'
before=$(tree)
run --update || fail 'a second update'
keeps "$before"
ok 'edits survive an update'

new_home
mkdir "$home/.claude"
printf '%s' "$foreign" >"$settings"
run --prefix "$home/opt with blanks" --preset strict || fail 'another prefix'
if run --prefix "$home/opt with blanks" --uninstall; then fail 'it uninstalls without --yes where stdin is not a terminal'; fi
says 'nothing was removed'
[ -x "$home/opt with blanks/bin/rune" ] || fail 'something was removed'
echo '{}' >"$home/.claude/telemetry.jsonl"
run --prefix "$home/opt with blanks" --uninstall --yes || fail 'uninstalling'
[ "$(cat "$settings"; echo x)" = "${foreign}x" ] || fail 'the settings are not as they were'
gone "$settings.before-rune"
[ -z "$(find "$home/opt with blanks" -type f -o -type l)" ] || fail 'parts of the program are left'
for kept in "$config" "$home/.local/share/rune" "$home/.claude/telemetry.jsonl"; do
  [ -e "$kept" ] || fail "$kept is gone"
  says "  $kept: "
done
left=$(tree | awk '{print $NF}' | sed 's,^\./,,' | grep -v -e '^\.config/rune/' -e '^\.local/share/rune/' \
  -e '^\.claude/telemetry.jsonl$' -e '^\.claude/settings.json$' || true)
[ -z "$left" ] || fail "left and not listed: $left"
before=$(tree)
run --prefix "$home/opt with blanks" --uninstall --yes || fail 'uninstalling twice'
keeps "$before"
run --update --prefix "$home/opt with blanks" || fail 'an update without hooks'
says 'no hooks are registered'
[ "$(cat "$settings"; echo x)" = "${foreign}x" ] || fail 'an update has registered hooks'
ok 'uninstalling restores the settings and lists what it leaves'

run --prefix "$home/opt with blanks" || fail 'installing again'
run --prefix "$home/opt with blanks" --uninstall --purge --yes || fail 'purging'
[ "$(tree | awk '{print $NF}')" = ./.claude/settings.json ] || fail "left: $(tree)"
[ "$(cat "$settings"; echo x)" = "${foreign}x" ] || fail 'the settings are not as they were'
ok 'purging leaves nothing but the settings'
