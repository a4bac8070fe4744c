#!/usr/bin/env bash
# Runs install.sh in temporary homes: once and twice, with --update, --uninstall, --purge and --binary, and with --from and a
# server on loopback. All runs share one build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export CARGO_HOME=${CARGO_HOME:-$HOME/.cargo} RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
scratch=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$scratch"' EXIT
mkfifo "$scratch/go" "$scratch/end" "$scratch/port"
count=0
sockets=0
extra=(LC_ALL=C)
script=./install.sh

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

# Runs install.sh as a person in $home, with /dev/null as stdin, and stores its output. It runs in a new tmux server, because
# these tests may run below an agent or without a terminal: a tmux server detaches from the process that starts it.
run() {
  sockets=$((sockets + 1))
  # shellcheck disable=SC2016 # the inner shell expands it
  env -i PATH="$PATH" tmux -S "$scratch/tmux.$sockets" -f /dev/null new-session -d \
    bash -c 'status=0; "$@" </dev/null >"$0/out" 2>&1 || status=$?; echo "$status" >"$0/end"' \
    "$scratch" env -i PATH="$PATH" HOME="$home" CARGO_HOME="$CARGO_HOME" RUSTUP_HOME="$RUSTUP_HOME" "${extra[@]}" "$script" "$@"
  return "$(cat "$scratch/end")"
}

# The same without a terminal, in a process whose parent has exited.
run_orphan() {
  # shellcheck disable=SC2016 # the inner shell expands it
  setsid --wait bash -c '(read -r _ <"$0/go"; status=0; "$@" </dev/null >"$0/out" 2>&1 || status=$?; echo "$status" >"$0/end") &' \
    "$scratch" env -i PATH="$PATH" HOME="$home" CARGO_HOME="$CARGO_HOME" RUSTUP_HOME="$RUSTUP_HOME" "${extra[@]}" "$script" "$@"
  echo go >"$scratch/go"
  return "$(cat "$scratch/end")"
}

# Lists every file of the home with a checksum, except receipts: each loosening writes one.
tree() {
  (cd "$home" && find . -path ./.local/state/rune/receipts -prune -o \( -type f -o -type l \) -print | LC_ALL=C sort | while IFS= read -r file; do
    if [ -L "$file" ]; then printf '%s -> %s\n' "$file" "$(readlink "$file")"; else cksum "$file"; fi
  done)
}

says() {
  grep -qF -- "$1" "$scratch/out" || fail "not in the output: $1"
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
for words in --unknown '--purge' '--preset' '--update --uninstall' '--binary' '--from=' '--binary install.sh' \
  '--sha256 00' '--binary install.sh --sha256 00' "--sha256 $(printf '%064d' 0)" \
  "--binary install.sh --from https://example.org --sha256 $(printf '%064d' 0)" \
  "--uninstall --binary install.sh --sha256 $(printf '%064d' 0)"; do
  # shellcheck disable=SC2086 # several words
  if run $words; then fail "it takes $words"; fi
done
run --help || fail 'no help'
for option in --binary --from --sha256 --preset --prefix --update --uninstall --purge --yes; do says "  $option "; done
[ -z "$(tree)" ] || fail 'something was written'
ok 'missing tools and invalid options are reported before any change'

new_home
run_orphan || fail 'a fresh home, without a terminal'
if grep '^install.sh: ' "$scratch/out"; then fail 'it is not built as it should be'; fi
says 'registered in'
says 'the preset gentle'
says 'pass    git status'
says 'ask     git push --force origin main (git-force-push)'
says 'deny    rm -rf ~ (destructive-delete)'
says 'MCP servers found: none'
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
ok 'a second run changes nothing'

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
cp "$home/.local/bin/rune" "$scratch/rune"
# An appended byte makes a different binary that still works.
printf x >>"$home/.local/bin/rune"
if run; then fail 'an agent replaces the guard'; fi
says 'replacing the guard is for people'
extra=(LC_ALL=C)
if run_orphan; then fail 'an orphan replaces the guard'; fi
says 'there is no terminal'
run || fail 'a person replaces the guard'
keeps "$strict"
printf '#!/bin/sh\n' >"$home/.local/bin/rune"
if run; then fail 'a guard that cannot check for a person is replaced'; fi
says 'remove it yourself'
rm "$home/.local/bin/rune"
run || fail 'the guard is installed again'
keeps "$strict"
ok 'the preset is kept, and agents cannot loosen'

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
# The operator's edit is beside a line of the same rule that the new default changes.
for rules in "$config/rules/bash.rules" "$home/.local/share/rune/policy/rules/bash.rules"; do older "$rules"; done
sed -i.bak '/^block "git-force-push"/,/^$/ s/^  nudge .*/  nudge "Ours"/' "$config/rules/bash.rules" && rm "$config/rules/bash.rules.bak"
wanted=$(grep -cE '^(block|suspicious) ' rules/bash.rules)
run --update || fail 'an update of an edited rule'
says 'merged rules/bash.rules'
grep -q '^  nudge "Ours"' "$config/rules/bash.rules" || fail 'the edited rule is lost'
[ "$(grep -cE '^(block|suspicious) ' "$config/rules/bash.rules")" = "$wanted" ] || fail 'a rule is lost'
run --update || fail 'a third update'
HOME=$home "$home/.local/bin/rune" rules check >/dev/null || fail 'the merged rules are invalid'
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
ok 'uninstalling restores the settings and lists the files that it leaves'

run --prefix "$home/opt with blanks" || fail 'installing again'
run --prefix "$home/opt with blanks" --uninstall --purge --yes || fail 'purging'
[ "$(tree | awk '{print $NF}')" = ./.claude/settings.json ] || fail "left: $(tree)"
[ "$(cat "$settings"; echo x)" = "${foreign}x" ] || fail 'the settings are not as they were'
ok 'purging leaves only the settings'

# --- binaries that were built elsewhere

sum_of() { sha256sum "$1" | cut -d ' ' -f 1; }

# Runs install.sh, which must refuse with this text, change no file and leave no temporary file.
refuses() {
  local text=$1 before
  shift
  before=$(tree)
  if "$how" "$@"; then fail "it takes $*"; fi
  says "$text"
  keeps "$before"
  [ -z "$(ls -A "$temporary")" ] || fail "temporary files are left: $(ls -A "$temporary")"
}

temporary=$scratch/temporary
mkdir "$temporary"
extra=(TMPDIR="$temporary")
how=run_orphan

new_home
refuses 'there is no file' --binary "$scratch/none" --sha256 "$(sum_of "$scratch/rune")"
refuses 'and not' --binary "$scratch/rune" --sha256 "$(sum_of install.sh)"
head -c 1000 "$scratch/rune" >"$scratch/short"
refuses 'does not run here' --binary "$scratch/short" --sha256 "$(sum_of "$scratch/short")"
run_orphan --binary "$scratch/rune" --sha256 "$(sum_of "$scratch/rune" | tr a-f A-F)" || fail 'a binary with its sum'
says 'registered in'
cmp "$scratch/rune" "$home/.local/bin/rune" || fail 'it is another binary'
ok 'a binary is installed if it has the SHA-256'

cp "$scratch/rune" "$scratch/newer"
printf x >>"$scratch/newer"
# A binary whose person check accepts every process.
# shellcheck disable=SC2016 # the script expands it
printf '#!/bin/sh\n[ "$1" != --version ] || echo rune 99.0.0\n' >"$scratch/weak"
chmod +x "$scratch/weak"
run --preset strict --binary "$scratch/rune" --sha256 "$(sum_of "$scratch/rune")" || fail 'strict'
for binary in "$scratch/weak" "$scratch/newer"; do
  for prefix in "$home/.local" "$home/elsewhere"; do
    how=run_orphan
    refuses 'there is no terminal' --prefix "$prefix" --binary "$binary" --sha256 "$(sum_of "$binary")"
    how=run
    extra=(TMPDIR="$temporary" CLAUDECODE=1)
    refuses 'replacing the guard is for people' --prefix "$prefix" --binary "$binary" --sha256 "$(sum_of "$binary")" --yes
    refuses 'replacing the guard is for people' --prefix "$prefix" --update --binary "$binary" --sha256 "$(sum_of "$binary")"
    extra=(TMPDIR="$temporary")
  done
done
run --binary "$scratch/newer" --sha256 "$(sum_of "$scratch/newer")" || fail 'a person replaces the guard'
cmp "$scratch/newer" "$home/.local/bin/rune" || fail 'the binary was not replaced'
says 'preset strict'
ok 'the installed guard runs the person check, not the new binary'

# A guard that is registered from another prefix checks too.
new_home
run --prefix "$home/opt with blanks" --binary "$scratch/rune" --sha256 "$(sum_of "$scratch/rune")" || fail 'another prefix'
extra=(TMPDIR="$temporary" CLAUDECODE=1)
refuses 'replacing the guard is for people' --binary "$scratch/weak" --sha256 "$(sum_of "$scratch/weak")"
extra=(TMPDIR="$temporary")
# So does a guard at the default prefix that is not registered.
new_home
run --binary "$scratch/rune" --sha256 "$(sum_of "$scratch/rune")" || fail 'the default prefix'
rm "$settings"
how=run_orphan
refuses 'there is no terminal' --prefix "$home/elsewhere" --binary "$scratch/weak" --sha256 "$(sum_of "$scratch/weak")"
ok 'a guard at another prefix is not replaced by a new registration'

release=$scratch/release
asset=rune-linux-$(uname -m)
mkdir "$release"
for key in key other; do openssl genpkey -algorithm ed25519 -out "$scratch/$key.pem"; done
sign() {
  openssl pkeyutl -sign -rawin -inkey "$scratch/$1.pem" -in "$2/SHA256SUMS" -out "$2/SHA256SUMS.sig"
}
# Makes a release that is signed by a key of these tests.
publish() {
  mkdir "$release/$1"
  cp "$scratch/newer" "$release/$1/$asset"
  (cd "$release/$1" && echo install >install.sh && sha256sum -- * >"$scratch/sums" && mv "$scratch/sums" SHA256SUMS)
  sign key "$release/$1"
}
for name in good no-sums no-signature bad-signature other-key changed-sums unlisted twice no-asset half bare wrong; do publish "$name"; done
rm "$release"/{no-sums,bare}/SHA256SUMS "$release/bare/SHA256SUMS.sig"
rm "$release/no-signature/SHA256SUMS.sig"
printf 'x%.0s' {1..64} >"$release/bad-signature/SHA256SUMS.sig"
sign other "$release/other-key"
echo >>"$release/changed-sums/SHA256SUMS"
sed -i "/$asset/d" "$release/unlisted/SHA256SUMS"
sign key "$release/unlisted"
(cd "$release/twice" && sha256sum install.sh | sed "s/install.sh/$asset/" >>SHA256SUMS)
sign key "$release/twice"
rm "$release/no-asset/$asset"
head -c 100000 "$scratch/newer" >"$release/half/$asset"
cp "$scratch/weak" "$release/wrong/$asset"

# Serves the releases; below /cut/ half of each file, below /endless/ bytes without end, below /moved/ redirects.
python3 - "$release" "$scratch/port" 2>/dev/null <<'PYTHON' &
import functools
import http.server
import os
import sys


class Handler(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        top, _, rest = self.path.lstrip("/").partition("/")
        if top == "cut":
            with open(os.path.join(self.directory, "good", rest), "rb") as file:
                content = file.read()
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2])
        elif top == "endless":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(bytes(1 << 20))
        elif top == "moved":
            self.send_response(302)
            self.send_header("Location", "/good/" + rest)
            self.end_headers()
        else:
            super().do_GET()


handler = functools.partial(Handler, directory=sys.argv[1])
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
with open(sys.argv[2], "w") as pipe:
    pipe.write(str(server.server_port))
server.serve_forever()
PYTHON
server=$!
# Blocks until the server has written its port.
base=http://127.0.0.1:$(cat "$scratch/port")
newer=$(sum_of "$scratch/newer")

how=run_orphan
test_key=$(openssl pkey -in "$scratch/key.pem" -pubout | sed -n 2p)
new_home
extra=(TMPDIR="$temporary" release_key="$test_key" RELEASE_KEY="$test_key")
refuses 'signature' --from "$base/good"
extra=(TMPDIR="$temporary")
ok 'the real script trusts no key from the environment'

# A copy of the script in which only the line with the key differs accepts the key of these tests.
sed "s|^release_key=.*|release_key=$test_key|" install.sh >"$scratch/install.sh"
[ "$(diff install.sh "$scratch/install.sh" | grep -c '^[<>]')" = 2 ] || fail 'the key is not one line'
chmod +x "$scratch/install.sh"
script=$scratch/install.sh

for address in http://192.0.2.1/r http://127.0.0.1.example.org/r http://localhost.example.org http://127.0.0.1:80x/r \
  http://127.0.0.2/r http://127.0.0.1@192.0.2.1/r ftp://127.0.0.1/r file:///r HTTP://192.0.2.1/r 192.0.2.1/r \
  'https://example.org/r?x' 'https://example.org/r#x'; do
  refuses 'install.sh: --from ' --from "$address" --sha256 "$newer"
done
refuses 'cannot download' --from "$base/none" --sha256 "$newer"
refuses "cannot download $base/no-asset/$asset" --from "$base/no-asset"
refuses "cannot download $base/cut/$asset" --from "$base/cut" --sha256 "$newer"
refuses "cannot download $base/cut/SHA256SUMS" --from "$base/cut"
refuses "cannot download $base/endless/$asset" --from "$base/endless" --sha256 "$newer"
refuses "cannot download $base/endless/SHA256SUMS" --from "$base/endless"
refuses "cannot download $base/moved/$asset" --from "$base/moved" --sha256 "$newer"
refuses "cannot download $base/no-sums/SHA256SUMS" --from "$base/no-sums"
refuses "cannot download $base/no-signature/SHA256SUMS.sig" --from "$base/no-signature"
for name in bad-signature other-key changed-sums; do
  refuses 'is not valid' --from "$base/$name"
done
refuses "does not list $asset once" --from "$base/unlisted"
refuses "does not list $asset once" --from "$base/twice"
refuses 'and not' --from "$base/half"
refuses 'and not' --from "$base/wrong"
refuses 'and not' --from "$base/wrong" --sha256 "$newer"
refuses 'and not' --from "$base/good" --sha256 "$(sum_of "$scratch/rune")"
[ -z "$(tree)" ] || fail 'something was written'
ok 'a release without a valid sum, a valid signature or a whole binary is refused'

run_orphan --from "$base/good" || fail 'a signed release'
says 'registered in'
cmp "$scratch/newer" "$home/.local/bin/rune" || fail 'it is another binary'
before=$(tree)
run_orphan --from "$base/bare/" --sha256 "$newer" || fail 'a release with a given sum'
keeps "$before"
new_home
run_orphan --from "http://localhost:${base##*:}/bare" --sha256 "$newer" || fail 'a release with a given sum, in a fresh home'
cmp "$scratch/newer" "$home/.local/bin/rune" || fail 'it is another binary'
ok 'a release is installed with a valid signature or with a given SHA-256'

new_home
run_orphan --binary "$scratch/rune" --sha256 "$(sum_of "$scratch/rune")" || fail 'an older guard'
refuses 'there is no terminal' --from "$base/good"
how=run
extra=(TMPDIR="$temporary" CLAUDECODE=1)
refuses 'replacing the guard is for people' --from "$base/good" --yes
refuses 'replacing the guard is for people' --update --from "$base/good"
extra=(TMPDIR="$temporary")
run --update --from "$base/good" || fail 'a person updates from a release'
cmp "$scratch/newer" "$home/.local/bin/rune" || fail 'it is another binary'
ok 'only a person updates the guard from a release'
