//! Collects the programs in a syntax tree of the crate `rable`.

use super::{EXPANDS, Programs};
use ::rable::{Node, NodeKind};

pub(super) fn programs(line: &str) -> Option<Programs> {
    let nodes = ::rable::parse(line, false).ok()?;
    let mut found = Programs::default();
    nodes.iter().for_each(|node| visit(node, &mut found));
    Some(found)
}

fn all<'a>(nodes: impl IntoIterator<Item = &'a Node>, found: &mut Programs) {
    nodes.into_iter().for_each(|node| visit(node, found));
}

fn visit(node: &Node, found: &mut Programs) {
    match &node.kind {
        NodeKind::Command { assignments, words, redirects } => {
            if let Some(word) = words.first() {
                match name(word) {
                    Some(name) => drop(found.known.insert(name)),
                    None => found.dynamic = true,
                }
            }
            all(assignments, found);
            all(words, found);
            all(redirects, found);
        }
        NodeKind::Word { parts, .. } => all(parts, found),
        NodeKind::Pipeline { commands, .. } => all(commands, found),
        NodeKind::List { items } => all(items.iter().map(|item| &item.command), found),
        NodeKind::If { condition, then_body, else_body, redirects } => {
            all([&**condition, &**then_body], found);
            all(else_body.as_deref(), found);
            all(redirects, found);
        }
        NodeKind::While { condition, body, redirects } | NodeKind::Until { condition, body, redirects } => {
            all([&**condition, &**body], found);
            all(redirects, found);
        }
        NodeKind::For { words, body, redirects, .. } | NodeKind::Select { words, body, redirects, .. } => {
            all(words.iter().flatten(), found);
            visit(body, found);
            all(redirects, found);
        }
        NodeKind::ForArith { body, redirects, .. }
        | NodeKind::Subshell { body, redirects }
        | NodeKind::BraceGroup { body, redirects } => {
            visit(body, found);
            all(redirects, found);
        }
        NodeKind::Case { word, patterns, redirects } => {
            visit(word, found);
            for clause in patterns {
                all(&clause.patterns, found);
                all(&clause.body, found);
            }
            all(redirects, found);
        }
        NodeKind::Function { body, .. } => visit(body, found),
        NodeKind::Coproc { command, .. }
        | NodeKind::CommandSubstitution { command, .. }
        | NodeKind::ProcessSubstitution { command, .. } => visit(command, found),
        NodeKind::Redirect { target, .. } => visit(target, found),
        NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => visit(pipeline, found),
        NodeKind::Array { elements } => all(elements, found),
        // Terms of `[[ … ]]`, arithmetic and bodies of heredocs are plain text in this tree.
        _ => {}
    }
}

/// The value of a word, if it is known without running anything. Its literal parts still have their quotes.
fn name(word: &Node) -> Option<String> {
    let NodeKind::Word { value, parts, .. } = &word.kind else { return None };
    let mut name = String::new();
    if parts.is_empty() {
        unquote(value, &mut name)?;
    }
    for part in parts {
        match &part.kind {
            NodeKind::WordLiteral { value } => unquote(value, &mut name)?,
            NodeKind::AnsiCQuote { decoded, .. } => name.push_str(decoded),
            _ => return None,
        }
    }
    Some(name)
}

/// Removes quotes; `None` if a part expands.
fn unquote(text: &str, name: &mut String) -> Option<()> {
    let mut chars = text.chars();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), c) => name.push(c),
            (_, '$' | '`') => return None,
            (Some(_), '\\') => match chars.next()? {
                '\n' => {}
                c @ ('$' | '`' | '"' | '\\') => name.push(c),
                c => name.extend(['\\', c]),
            },
            (Some(_), c) => name.push(c),
            (None, '\'' | '"') => quote = Some(c),
            (None, '\\') => match chars.next()? {
                '\n' => {}
                c => name.push(c),
            },
            (None, c) if EXPANDS.contains(c) && text.len() > 1 => return None,
            (None, c) => name.push(c),
        }
    }
    quote.is_none().then_some(())
}
