#!/usr/bin/env bash
# Writes src/hook.ld, by which the linker puts together what a hook runs: of a large program it is a small part, spread
# over all of it, and each piece of 64 KB that is touched costs a page fault. Which part that is, is seen here, by
# running events under valgrind. What the list lacks, or has too much, costs time and nothing else.
# Linux on x86-64, with valgrind, and with the linker that Rust brings along there. Usage: benches/layout.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

host=$(rustc -vV | sed -n 's/^host: //p')
flags="-C target-feature=+crt-static -C relocation-model=static --cfg sha2_backend=\"soft\" -C strip=none"
RUSTFLAGS="$flags -C link-arg=-Wl,-Map=$scratch/map,--no-demangle" \
  cargo build --release --locked --bin rune --target "$host" --target-dir target/layout
rune=target/layout/$host/release/rune
grep -q '^ *VMA ' "$scratch/map" || { echo 'benches/layout.sh: this linker draws another map' >&2; exit 1; }

# --- the sections of the program by address: address, size, file, section

# Addresses of one length, so that they sort as text.
padded() { sed 's/^/0000000000000000/; s/^0*\([0-9a-f]\{16\}\)\( \|$\)/\1\2/'; }
awk '
  { at = match($0, /:\(\.(text|rodata)[^)]*\)$/) }
  at && $3 != "0" {
    file = substr($0, 1, at - 1); sub(/^.*[ \/]/, "", file)
    print $1, $3, file, substr($0, at + 2, RLENGTH - 3)
  }' "$scratch/map" | padded | sort >"$scratch/sections"

# --- what events touch: the number of the event, and the section

export HOME="$scratch/home"
mkdir "$HOME"
"$rune" policy install >/dev/null
number=0
touched() {
  number=$((number + 1))
  env -i HOME="$HOME" valgrind --tool=lackey --trace-mem=yes --basic-counts=no --log-file="$scratch/trace" \
    "$rune" hook "$1" >/dev/null 2>&1 || true
  sed -n 's/^ *[ILSM] *\([0-9a-f]*\),.*/\1/p' "$scratch/trace" | sort -u | padded | sort -u >"$scratch/addresses"
  # Each address belongs to the last section that begins at or before it.
  sort -m -s -k 1,1 "$scratch/sections" "$scratch/addresses" |
    awk -v number="$number" 'NF > 1 { section = $0; next } section != "" { print number, section; section = "" }' \
      >>"$scratch/touched"
}
command_event() {
  printf '{"session_id":"s","cwd":"%s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"%s"}}' \
    "$HOME" "$1"
}
# No pipes: what counts the events would count in a process of its own.
touched pre < <(command_event 'git status')
touched pre < <(command_event 'rm -rf /')
# What scripts are made of.
# shellcheck disable=SC2016 # the hook expands it, not this
for line in \
  'set -euo pipefail; cd \"$(git rev-parse --show-toplevel)\" && npm ci --no-audit && npm run lint && npm test' \
  'if [ -n \"$(git diff)\" ]; then echo \"not clean\" >&2; exit 1; fi; rm -rf dist build; mkdir -p out' \
  'for f in src/*.svg; do cp \"$f\" dist/; done; grep -rn TODO . | sort | uniq -c | sort -rn | head -20 > todo.txt' \
  "tar -czf a.tgz -C dist . && sha256sum a.tgz | awk '{print \$1}' > a.sha256; while read -r x; do echo \$x; done < a"; do
  touched pre < <(command_event "$line")
done
for event in tests/fixtures/*.json; do
  case ${event##*/} in
    posttooluse*) touched post <"$event" ;;
    *) touched pre <"$event" ;;
  esac
done

# --- the list: in the order of the first event, and names that many share last

sort -s -k 2,2 -k 1,1n "$scratch/touched" | sort -s -u -k 2,2 | sort -s -k 1,1n >"$scratch/first"
awk '
  function shared(name) {
    gsub(/17h[0-9a-f]*E/, "17h*", name); gsub(/Cs[0-9A-Za-z]*_/, "Cs*_", name)
    return name
  }
  function pattern(file, section) {
    if (file ~ /\.a\(/) { sub(/\(/, ":", file); sub(/\)$/, "", file); return "*" file "(" section ")" }
    if (file !~ /rcgu\.o$/) return "*" file "(" section ")"
    return "*(" shared(section) ")"
  }
  # Texts and numbers without a name cannot be told apart.
  function nameless(section) { return section ~ /^\.rodata(\.\.Lanon|\.cst|\.str|$)/ && !(section == ".rodata" && archive) }
  FNR == NR { if ($3 ~ /rcgu/) all[shared($4)] += hex($2); next }
  {
    archive = $4 ~ /\.a\(/
    if (nameless($5)) next
    name = pattern($4, $5); kind = $5 ~ /^\.rodata/ ? "rodata" : "text"
    if (!(name in wanted)) order[kind, ++count[kind]] = name
    wanted[name] += hex($3)
  }
  function hex(digits,  at, value) {
    value = 0
    for (at = 1; at <= length(digits); at++) value = value * 16 + index("0123456789abcdef", substr(digits, at, 1)) - 1
    return value
  }
  function list(kind, last,  at, name, bare) {
    for (at = 1; at <= count[kind]; at++) {
      name = order[kind, at]; bare = substr(name, 3, length(name) - 3)
      if ((all[bare] > 4 * wanted[name] + 512) == last) print "    " name
    }
  }
  function section(kind) {
    print "  ." kind ".hook : {"
    list(kind, 0); list(kind, 1)
    print "  }"
  }
  END {
    print "/* What a hook runs, side by side. Written by benches/layout.sh. */"
    print "SECTIONS {"; section("text"); print "}\nINSERT BEFORE .text;"
    print "SECTIONS {"; section("rodata"); print "}\nINSERT BEFORE .rodata;"
  }' "$scratch/sections" "$scratch/first" >src/hook.ld
printf 'src/hook.ld: %s names, from %s events\n' "$(grep -c '^    ' src/hook.ld)" "$number"
