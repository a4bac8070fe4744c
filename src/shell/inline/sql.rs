//! SQL in code, and SQL that composes the statements that it runs.

use super::Call;
use crate::programs::code::{self, lists};
use crate::shell::statements;

/// Finds statements that are put together and may lose data: `execute 'dr' || 'op …'`, `format('drop …') \gexec`, `prepare x from @y`.
pub(super) fn composed(text: &str) -> Option<Call> {
    let lower = text.to_ascii_lowercase();
    let executes = |statement: &str| {
        let mut parts = statement.split("execute ").skip(1);
        parts.any(|rest| {
            rest.trim_start().starts_with(['\'', '('])
                || rest.trim_start().starts_with("format(")
                || rest.contains("||")
        })
    };
    let runs = lower.contains("\\gexec") || lower.contains("prepare ") && lower.contains(" from ");
    let mut statements = lower.split(';').filter(|statement| runs || executes(statement));
    let loses = statements.any(|statement| {
        let literals: String = statement.split('\'').skip(1).step_by(2).collect();
        let first = literals.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
        let is_verb = first.is_some_and(|word| {
            matches!(word, "drop" | "truncate" | "delete") && lists(&code::STATEMENTS_SQL_VERBS, word)
        });
        is_verb || sql_loss(&literals).is_some()
    });
    loses.then(|| Call::same(&["psql", "-c", "drop table of_code"]))
}

/// Paths whose parts are literals that are joined: `'/home/x' || '/.aws'`.
pub(super) fn joined_paths(text: &str) -> Vec<Call> {
    let mut parts = text.split('\'');
    let mut paths = Vec::new();
    let mut path = String::new();
    let mut is_joined = false;
    parts.next();
    // Literals and what stands between them take turns.
    while let (Some(literal), between) = (parts.next(), parts.next().unwrap_or_default()) {
        path.push_str(literal);
        if between.trim() == "||" {
            is_joined = true;
            continue;
        }
        let path = std::mem::take(&mut path);
        if std::mem::take(&mut is_joined) && path.starts_with(['/', '~']) {
            paths.push(Call::same(&["code-path", &path]));
        }
    }
    paths
}

/// Whether a text begins like an SQL statement.
pub(super) fn is_sql(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    matches!(first.as_str(), "select" | "insert" | "delete" | "drop" | "alter" | "create" | "update")
        && text.split_whitespace().nth(1).is_some()
}

/// The command that runs a statement that loses data.
pub(super) fn sql_loss(text: &str) -> Option<Call> {
    statements::is_sql_loss(text).then(|| Call::same(&["psql", "-c", text]))
}
