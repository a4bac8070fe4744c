//! Receipts of commands that people run.

use super::*;
use crate::support::sandbox::{Sandbox, hash_in};
use rune::receipt::ReceiptKind;

#[test]
fn approving_blocking_unblocking_and_key_rotation_write_receipts() {
    let home = Sandbox::new();
    let list = json!({"tools": [{"name": "echo", "description": "Says it", "inputSchema": {"type": "object"}}]});
    let dump = home.write("list.json", &list.to_string());
    let output = home.run_as_person(&["mcp", "import", dump.to_str().unwrap(), "--server", "demo"]);
    assert_eq!(output.exit, 0, "{output:?}");
    let shown = home.run_as_person(&["mcp", "approve", "--yes", "demo"]);
    let hash = hash_in(&shown.stdout);
    for words in [
        &["mcp", "approve", "--yes", "--hash", &hash, "demo"][..],
        &["mcp", "block", "demo:echo"],
        &["mcp", "unblock", "--yes", "demo:echo"],
        &["receipts", "key", "rotate", "--yes"],
    ] {
        let output = home.run_as_person(words);
        assert_eq!(output.exit, 0, "{words:?}: {output:?}");
    }
    let path = file(&home, "@operator");
    let found = receipts(&path);
    let kinds: Vec<ReceiptKind> = found.iter().map(|receipt| receipt.kind).collect();
    assert_eq!(
        kinds,
        [ReceiptKind::Loosen, ReceiptKind::Approve, ReceiptKind::Block, ReceiptKind::Unblock, ReceiptKind::Rotate]
    );
    assert_eq!(found[0].reason.as_deref(), Some("MCP_IMPORT"));
    let found = &found[1..];
    assert!(found[0].pin.as_ref().is_some_and(|pin| pin.contains(&hash)), "{:?}", found[0]);
    assert_eq!((found[1].server.as_deref(), found[1].tool.as_deref()), (Some("demo"), Some("echo")));
    assert!(found.iter().all(|receipt| receipt.session == "rune:operator" && receipt.client == "rune"));
    let output = home.run(&["receipts", "verify", "--key", &found[0].key, path.to_str().unwrap()], "");
    assert!(output.exit == 2 && output.stdout.contains("RECEIPT_UNSEALED"), "it has no seal: {output:?}");
    // A client's session of that name has another file.
    call(&home, "rune:operator", DENIED, json!({}));
    assert_eq!(receipts(&path).len(), 5);
    let codes = verify(&home, &folder(&home), &[]).1;
    assert_eq!(codes[0].0, "RECEIPT_KEY_WRONG", "the new key does not vouch for the old one");
    let output = home.run(&["receipts", "verify", "--key", &found[0].key, folder(&home).to_str().unwrap()], "");
    assert_eq!(output.exit, 2, "{output:?}");
    call(&home, "@operator", DENIED, json!({}));
    assert_eq!(receipts(&path).len(), 5);
}
