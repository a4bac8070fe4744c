"""Verifies a file of receipts or a pack, written from src/receipt/FORMAT.md alone: verify.py KEY PATH."""
import hashlib, json, pathlib, sys
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

RECEIPT, SEAL = "rune.receipt/1", "rune.pack.seal/1"
MEMBERS = set("args_sha256 client count dispatched head key kind next observed part pin policy prev reason rule seq server "
              "session signature time tool torn verdict version".split())
sha = lambda data: hashlib.sha256(data).hexdigest()
spell = lambda value: json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

def check(fine, what):
    if not fine: raise ValueError(what)

def read(line, version):
    value = json.loads(line)
    check(isinstance(value, dict) and value.get("version") == version and spell(value) == line, "version or spelling")
    return value

def signed(value, keys, tag):
    rest, signature = {**value}, value["signature"].removeprefix("ed25519:")
    del rest["signature"]
    check(value["key"] in keys and signature == signature.lower(), "key or spelling of the signature")
    public = Ed25519PublicKey.from_public_bytes(bytes.fromhex(value["key"].removeprefix("ed25519:")))
    public.verify(bytes.fromhex(signature), tag.encode() + b"\n" + spell(rest))

def chain(data, keys, faults, where):
    seq, prev, whose, sealed, used = 0, None, None, False, []
    *lines, torn = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            value = read(line, RECEIPT)
            check(set(value) == MEMBERS, "members")
            signed(value, keys - set(used[:-1]), RECEIPT)
            if value["key"] not in used: used.append(value["key"])
            whose = whose or (value["session"], value["part"])
            first = "sha256:" + sha(f"{RECEIPT} begins {value['session']}".encode()) if value["part"] == 1 else value["prev"]
            order = (value["seq"], value["prev"], value["session"], value["part"]) == (seq + 1, prev or first, *whose)
            seal, fits = value["kind"] == "seal", value["head"] == value["prev"] and value["count"] == seq
            check(order and not sealed and (fits or not seal), "order or seal")
            if value["kind"] == "rotate": keys.add(value["next"])
            seq, prev, sealed = value["seq"], "sha256:" + sha(line), seal
        except Exception as fault:
            faults.append(f"{where}:{number}: {fault!r}")
    return sealed and not torn, prev, len(lines)

def pack(folder, keys, faults):
    operator, index_bytes = folder / "receipts/@operator.jsonl", (folder / "index.json").read_bytes()
    if operator.exists(): chain(operator.read_bytes(), keys, [], "operator")
    seal, index = read((folder / "seal.json").read_bytes()[:-1], SEAL), read(index_bytes[:-1], "rune.pack/1")
    signed(seal, keys, SEAL)
    check(seal["index_sha256"] == sha(index_bytes), "index")
    there = {str(path.relative_to(folder)): sha(path.read_bytes()) for path in folder.rglob("*") if path.is_file()}
    listed = {entry["path"]: entry["sha256"] for entry in index["files"]}
    check({**there, **listed} == there and set(there) - set(listed) == {"index.json", "seal.json"}, "files")
    chains = [(entry, chain((folder / entry["path"]).read_bytes(), keys, faults, entry["path"])) for entry in index["chains"]]
    check(all(found[1:] == (entry["head"], entry["count"]) for entry, found in chains), "truncated")
    return all(found[0] or entry["session"] == "rune:operator" for entry, found in chains)

keys, path, faults, sealed = {sys.argv[1]}, pathlib.Path(sys.argv[2]), [], False
try: sealed = pack(path, keys, faults) if path.is_dir() else chain(path.read_bytes(), keys, faults, path.name)[0]
except Exception as fault: faults.append(repr(fault))
print("\n".join(faults) or ("valid" if sealed else "cannot tell: not sealed"))
sys.exit(1 if faults else 0 if sealed else 2)
