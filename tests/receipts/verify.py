"""Verifies a file of receipts or a pack, written from FORMAT.md alone: verify.py KEY PATH."""
import hashlib, json, pathlib, sys
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

MEMBERS = set("args_sha256 client count dispatched head key kind next observed part pin policy prev reason rule seq server "
              "session signature time tool torn verdict version".split())
sha = lambda data: hashlib.sha256(data).hexdigest()
spell = lambda value: json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

def signed(value, key, tag):
    try:
        rest = {name: member for name, member in value.items() if name != "signature"}
        signature = value["signature"].removeprefix("ed25519:")
        assert signature == signature.lower()
        public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key.removeprefix("ed25519:")))
        public.verify(bytes.fromhex(signature), tag.encode() + b"\n" + spell(rest))
        return True
    except (InvalidSignature, ValueError, KeyError, AttributeError, AssertionError):
        return False

def read(line, version, faults, where):
    try:
        value = json.loads(line)
    except ValueError:
        return faults.append(f"{where}: unreadable")
    if not isinstance(value, dict) or value.get("version") != version or spell(value) != line:
        return faults.append(f"{where}: version or spelling")
    return value

def chain(data, keys, where, before=None):
    faults, seq, prev, sealed, current, gone = [], 0, None, False, None, set()
    *lines, torn = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        at = f"{where}:{number}"
        value = read(line, "rune.receipt/1", faults, at)
        if value is None or set(value) != MEMBERS:
            faults.append(f"{at}: members")
            continue
        if value["key"] not in keys or value["key"] in gone or not signed(value, value["key"], "rune.receipt/1"):
            faults.append(f"{at}: key or signature")
            continue
        gone |= {current} - {value["key"]} if current else set()
        current = value["key"]
        first = sha(b"rune.receipt/1 begins " + value["session"].encode()) if value["part"] == 1 else before
        expected = prev if prev else first and "sha256:" + first
        if number == 1: session = value["session"], value["part"]
        if sealed or value["seq"] != seq + 1 or (expected and value["prev"] != expected) or session != (value["session"], value["part"]):
            faults.append(f"{at}: order")
        if value["kind"] == "rotate": keys.add(value["next"])
        if value["kind"] == "seal":
            sealed = True
            if value["head"] != value["prev"] or value["count"] != value["seq"] - 1: faults.append(f"{at}: seal")
        seq, prev = value["seq"], "sha256:" + sha(line)
    return faults, sealed and not torn, prev, len(lines)

def pack(folder, keys):
    operator = folder / "receipts/@operator.jsonl"
    if operator.exists(): chain(operator.read_bytes(), keys, "operator")
    faults, sealed = [], True
    index_bytes = (folder / "index.json").read_bytes()
    seal = read((folder / "seal.json").read_bytes()[:-1], "rune.pack.seal/1", faults, "seal.json")
    index = read(index_bytes[:-1], "rune.pack/1", faults, "index.json")
    if not seal or not index or seal["key"] not in keys or not signed(seal, seal["key"], "rune.pack.seal/1") or seal["index_sha256"] != sha(index_bytes):
        return faults + ["seal or index"], True
    there = {str(path.relative_to(folder)): sha(path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    there = {path: digest for path, digest in there.items() if path not in ("index.json", "seal.json")}
    if there != {entry["path"]: entry["sha256"] for entry in index["files"]}: faults.append("files")
    for entry in index["chains"]:
        found, closed, head, count = chain((folder / entry["path"]).read_bytes(), keys, entry["path"])
        faults += found + ([] if (head, count) == (entry["head"], entry["count"]) else [entry["path"] + ": truncated"])
        sealed &= closed or entry["session"] == "rune:operator"
    return faults, sealed

keys, path = {sys.argv[1]}, pathlib.Path(sys.argv[2])
faults, sealed = pack(path, keys) if path.is_dir() else chain(path.read_bytes(), keys, path.name)[:2]
print("\n".join(faults) or ("valid" if sealed else "cannot tell: not sealed"))
sys.exit(1 if faults else 0 if sealed else 2)
