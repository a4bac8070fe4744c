//! Unit tests of `src/mcp/tool_use.rs`.

use super::*;
use serde_json::json;

fn writes(server: &str, tool: &str, arguments: &Value) -> bool {
    is_write(server, tool, arguments.to_string().as_bytes(), Hints::None)
}

#[test]
fn names_that_begin_with_a_reading_verb_read() {
    for (server, tool) in [
        ("github", "get_issue"),
        ("github", "list-orders"),
        ("github", "getFileContents"),
        ("github", "pull_request_read"),
        ("github", "issue_read"),
        ("github", "get_upload_status"),
        ("github", "get_terms_and_conditions"),
        ("notion", "notion-search"),
        ("x", "notionSearchPages"),
        ("bank", "BankManagerGetAccountInformation"),
        ("mail", "GmailSearchEmails"),
        ("august-smart-lock", "AugustSmartLockViewStatus"),
        ("browser", "browser_snapshot"),
        ("browser", "browser_take_screenshot"),
        ("context7", "resolve-library-id"),
        ("jira", "lookUpUser"),
        ("memory", "recall"),
    ] {
        assert!(!writes(server, tool, &json!({})), "{tool}");
    }
}

#[test]
fn other_names_write() {
    for (server, tool) in [
        ("lock", "unlock_door"),
        ("lock", "AugustSmartLockUnlockDoor"),
        ("bank", "deposit"),
        ("bank", "deposit_check"),
        ("bank", "DepositCheck"),
        ("bank", "BankManagerPayBill"),
        ("bank", "BankManagerPayAndGetReceipt"),
        ("bank", "issue_check"),
        ("shop", "place_order"),
        ("mail", "forward"),
        ("user", "reset_password"),
        ("vm", "terminate"),
        ("wallet", "sign_transaction"),
        ("github", "resolve_thread"),
        ("github", "sendmessage"),
        ("github", "get_and_delete_branch"),
        ("github", "search_and_replace"),
        ("shop", "check_out"),
        ("shop", "checkout"),
        ("x", "block_list"),
        ("x", "frobnicate"),
        ("x", ""),
        ("x", "getaway"),
        ("x", "send_get_request"),
    ] {
        assert!(writes(server, tool, &json!({})), "{tool}");
    }
}

#[test]
fn an_argument_can_show_that_a_reading_name_writes() {
    for (arguments, expected) in [
        (json!({"sql": "select * from users"}), false),
        (json!({"sql": "SELECT 1; drop table users"}), true),
        (json!({"sql": "with x as (delete from users returning *) select * from x"}), true),
        (json!({"sql": "DELETE/**/FROM users"}), true),
        (json!({"sql": "vacuum"}), true),
        (json!({"query": "how to delete an account"}), false),
        (json!({"query": "update users set admin = true"}), true),
        (json!({"query": "insert\ninto users values (1)"}), true),
        (json!({"query": "mutation { deleteIssue(id: 1) }"}), true),
        (json!({"filters": [{"query": "drop table users"}]}), true),
        (json!({"method": "GET"}), false),
        (json!({"method": "get_diff"}), false),
        (json!({"method": "POST"}), true),
        (json!({"httpMethod": "Delete"}), true),
        (json!({"action": "list"}), false),
        (json!({"action": "remove"}), true),
        (json!({"command": "rm -rf /"}), true),
        (json!({"command": "ls -la"}), false),
        (json!({"title": "delete from list"}), false),
    ] {
        assert_eq!(writes("db", "query", &arguments), expected, "{arguments}");
    }
}

#[test]
fn hints_of_an_approved_tool_come_before_its_name() {
    let hints = |annotations: Value| Hints::of(&json!({"name": "x", "annotations": annotations}));
    let read_only = hints(json!({"readOnlyHint": true}));
    assert!(!is_write("x", "run_report", b"{}", read_only));
    let destructive = hints(json!({"readOnlyHint": true, "destructiveHint": true}));
    assert!(is_write("x", "get_report", b"{}", destructive));
    assert_eq!(hints(json!({"readOnlyHint": "true"})), Hints::None);
    assert_eq!(hints(json!({"readOnlyHint": false, "destructiveHint": false})), Hints::None);
}
