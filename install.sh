#!/usr/bin/env bash
# Builds rune, installs it, registers it with Claude Code, and shows it at work; or takes all of that away again.
# Works without a terminal where it loosens nothing, and may be run again at any time. Written for bash 3.2, which macOS has.
set -euo pipefail

usage() {
  cat <<'USAGE'
Usage: ./install.sh [--update | --uninstall [--purge]] [--preset NAME] [--prefix DIR] [--yes]

  --preset NAME   gentle, strict, off, or a file of your own in presets/
                  (default: what is registered, else gentle)
  --prefix DIR    install below DIR (default: ~/.local)
  --update        bring newer defaults into your policy too; your edits stay,
                  and so does the preset
  --uninstall     remove hooks, binary, completions and man pages; your policy
                  and the log stay
  --purge         with --uninstall: remove your policy and the log too
  --yes           loosen the guard where stdin is not a terminal; a terminal is
                  needed all the same

Example: ./install.sh --preset strict
USAGE
}

fail() {
  printf 'install.sh: %s\n' "$1" >&2
  exit 1
}

verb=install
preset=
prefix=
purge=
yes=
while [ $# -gt 0 ]; do
  case $1 in
    --preset | --prefix)
      [ $# -ge 2 ] || fail "$1 needs a value; see ./install.sh --help"
      if [ "$1" = --preset ]; then preset=$2; else prefix=$2; fi
      shift
      ;;
    --preset=*) preset=${1#*=} ;;
    --prefix=*) prefix=${1#*=} ;;
    --update | --uninstall)
      [ "$verb" = install ] || [ "$verb" = "${1#--}" ] || fail "--update and --uninstall are two things"
      verb=${1#--}
      ;;
    --purge) purge=1 ;;
    --yes) yes=1 ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option $1; see ./install.sh --help" ;;
  esac
  shift
done
[ -z "$purge" ] || [ "$verb" = uninstall ] || fail "--purge goes with --uninstall"
[ -n "${HOME:-}" ] || fail "HOME is not set"
prefix=${prefix:-$HOME/.local}
case $prefix in
  /*) ;;
  *) prefix=$PWD/$prefix ;;
esac
cd "$(dirname "${BASH_SOURCE[0]}")"

bin=$prefix/bin
rune=$bin/rune
man=$prefix/share/man/man1
bash_completion=$prefix/share/bash-completion/completions/rune
zsh_completion=$prefix/share/zsh/site-functions/_rune
fish_completion=$prefix/share/fish/vendor_completions.d/rune.fish
# The first of two directories that is absolute; the binary looks at no other.
absolute() {
  if [ "${1#/}" != "$1" ]; then printf '%s' "$1"; else printf '%s' "$2"; fi
}
config=$(absolute "${XDG_CONFIG_HOME:-}" "$HOME/.config")/rune
data=$(absolute "${XDG_DATA_HOME:-}" "$HOME/.local/share")/rune
state=$(absolute "${XDG_STATE_HOME:-}" "$HOME/.local/state")/rune
client=$(absolute "${CLAUDE_CONFIG_DIR:-}" "$HOME/.claude")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# --- taking it away

remove_program() {
  local name page dir
  "$rune" man --out "$scratch/man"
  for page in "$scratch"/man/*; do
    rm -f "$man/${page##*/}"
  done
  rm -f "$bash_completion" "$zsh_completion" "$fish_completion"
  for dir in "$man" "${bash_completion%/*}" "${zsh_completion%/*}" "${fish_completion%/*}"; do
    rmdir "$dir" "${dir%/*}" 2>/dev/null || true
  done
  for name in quarantine security-hook; do
    if [ "$(readlink "$bin/$name" || true)" = rune ]; then rm -f "$bin/$name"; fi
  done
  rm -f "$rune"
  printf 'removed %s, its completions and its man pages\n' "$rune"
}

purge_files() {
  rm -rf "$config" "$data" "$state"
  rm -f "$client/telemetry.jsonl" "$client/quarantine.d/trusted-mcp-allowlist.txt"
  rmdir "$client/quarantine.d" 2>/dev/null || true
  printf 'removed your policy, its data, the session files and the log\n'
}

left() {
  if [ -e "$1" ]; then printf '  %s: %s\n' "$1" "$2"; fi
}

uninstall() {
  local answer='' copy
  if [ ! -x "$rune" ]; then
    [ -z "$purge" ] || fail "there is no $rune to ask whether you are a person; remove $config, $data, $state and $client/telemetry.jsonl by hand"
    printf 'there is no %s\n' "$rune"
  else
    # The binary decides who may do this, before anything is gone.
    "$rune" hooks uninstall ${yes:+--yes} || fail "nothing was removed"
    remove_program
    if [ -n "$purge" ]; then purge_files; fi
  fi
  answer=$(
    left "$config" 'your policy; --purge removes it'
    left "$data" 'what your policy was made from, for the next update; --purge removes it'
    left "$state" 'what sessions have seen; --purge removes it'
    left "$client/telemetry.jsonl" 'the log; --purge removes it'
    left "$client/quarantine.d" 'the servers that you trust; --purge removes it'
    for copy in "$client"/settings.json.before-rune*; do
      left "$copy" 'your settings before the first change; you have changed them since, so it is yours to delete'
    done
    left "$PWD/target" 'what cargo has built; cargo clean removes it'
  )
  if [ -n "$answer" ]; then printf 'left behind:\n%s\n' "$answer"; fi
  cat <<'NOTE'
Not looked for: hooks that were registered with --scope project, local or managed, or as a plugin. Without the binary
they block; remove the entries that run rune from those settings.
NOTE
}

if [ "$verb" = uninstall ]; then
  uninstall
  exit 0
fi

# --- building it

export PATH="$PATH:${CARGO_HOME:-$HOME/.cargo}/bin"
get="curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then
  fail "there is no Rust here, and rune needs $wanted or newer. Get it with
  $get
then run this again"
fi
version=$(rustc --version | sed 's/^rustc \([0-9]*\.[0-9]*\).*/\1/')
if [ "${version%%.*}" -lt "${wanted%%.*}" ] ||
  { [ "${version%%.*}" -eq "${wanted%%.*}" ] && [ "${version#*.}" -lt "${wanted#*.}" ]; }; then
  fail "this is Rust $version, and rune needs $wanted or newer. Get it with
  rustup update stable
or, without rustup, with
  $get
then run this again"
fi

# A static binary starts faster, because there is no dynamic linker to run, and it ignores LD_PRELOAD. Naming the target
# restricts the flags to the program: build scripts and procedural macros cannot be linked statically.
# benches/common/mod.rs uses the same flags.
static_flags='-C target-feature=+crt-static -C relocation-model=static'
host=$(rustc -vV | sed -n 's/^host: //p')
build() {
  cargo build --release --locked --bin rune --message-format=json-render-diagnostics "$@" |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' | tail -n 1
}
binary=
case $host in
  *-linux-*)
    binary=$(RUSTFLAGS="${RUSTFLAGS:-} $static_flags" build --target "$host") ||
      printf 'install.sh: the static build failed; building with the default flags\n' >&2
    ;;
esac
[ -n "$binary" ] || binary=$(build)
[ -x "$binary" ] || fail "cargo built nothing that can be run"

# --- putting it in place

if ! cmp -s "$binary" "$rune"; then
  # Another program may be anything, so only a person at a terminal puts one in the place of the guard.
  if [ -e "$rune" ]; then "$binary" person 'replacing the guard'; fi
  mkdir -p "$bin"
  install -m 755 "$binary" "$rune.new"
  mv -f "$rune.new" "$rune"
fi
for name in quarantine security-hook; do
  if [ "$(readlink "$bin/$name" || true)" = rune ]; then
    :
  elif [ -e "$bin/$name" ] || [ -L "$bin/$name" ]; then
    printf 'install.sh: %s is not ours and stays as it is\n' "$bin/$name" >&2
  else
    ln -s rune "$bin/$name"
  fi
done
mkdir -p "$man" "${bash_completion%/*}" "${zsh_completion%/*}" "${fish_completion%/*}"
# An agent may run this to look; the pages it leaves alone.
"$rune" man --out "$man" || printf 'install.sh: the man pages stay as they are\n' >&2
"$rune" completions bash >"$bash_completion"
"$rune" completions zsh >"$zsh_completion"
"$rune" completions fish >"$fish_completion"
printf 'installed %s (%s), and the names quarantine and security-hook beside it\n' "$rune" "$("$rune" --version)"
printf 'completions and man pages are in %s\n' "$prefix/share"

if [ "$verb" = update ]; then
  "$rune" policy update ${yes:+--yes}
else
  "$rune" policy install
fi

# Whoever has taken the hooks away does not get them back by an update.
registered=yes
if [ "$verb" = update ] && [ -z "$preset" ]; then
  answer=$("$rune" hooks uninstall --dry-run)
  if [ "${answer#*@@ }" = "$answer" ]; then registered=; fi
fi
if [ -n "$registered" ]; then
  answer=$("$rune" hooks install ${preset:+--preset "$preset"} ${yes:+--yes}) || fail "${answer:-the hooks are not registered}"
  printf '%s\n' "$answer"
  preset=${preset:-$(printf '%s\n' "$answer" | sed -n 's/.*preset \([A-Za-z0-9-]*\).*/\1/p' | head -n 1)}
else
  printf 'no hooks are registered, and an update registers none; %s hooks install does\n' "$rune"
fi
case :$PATH: in
  *:"$bin":*) ;;
  *) printf 'note: %s is not on your PATH\n' "$bin" ;;
esac

# --- showing it

show() {
  printf '\n%s\n  $ %s\n' "$1" "$2"
  (cd "$scratch" && "$rune" explain ${preset:+--preset "$preset"} -- "$2") |
    sed -n '/^answer:/,$ { /^    /d; s/^/  /; p; }'
}
if [ "$preset" = off ]; then
  printf '\nThe guard is off.\n'
  exit 0
fi
printf '\nThree decisions of the installed program (nothing is run):\n'
show 'An everyday command passes in silence:' 'git status'
show 'One that overwrites the work of others is stopped by a rule:' 'git push --force origin main'
show 'One that cannot be undone is denied:' 'rm -rf ~'
printf '\nNew sessions of Claude Code are guarded from now on. Look with: %s quarantine status\n' "$rune"
