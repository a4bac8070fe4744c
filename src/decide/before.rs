//! Judges a call before it runs: splits it into subjects, and applies the rules to each of them.

use super::context::Context;
use super::file_access::resolve_tool_path;
use super::matching::apply_rules;
use super::subject::Subject;
use super::{after, file_search, mcp_pins, mcp_use, shell_text};
use crate::encoding::{json, patch};
use crate::event::{Action, Event, Shows};
use crate::policy::Config;
use crate::rules::RuleKind;
use crate::shell::{Access, Act};
use crate::verdict::failure::Failure;
use crate::verdict::limits::{FILES, PATH_BYTES};
use crate::verdict::{Phase, Verdict};

/// The kinds of the rules that apply to a call before it runs. After a call, [`inspects_result`](super::inspects_result)
/// says whether the content rules apply.
pub fn needed_kinds(event: &Event<'_>) -> Vec<RuleKind> {
    if event.phase != Phase::Before {
        return Vec::new();
    }
    match &event.action {
        Action::Shell { .. } => {
            // Rules about files are needed only if the shell text accesses files.
            let accesses = |matches: fn(Act) -> bool| {
                event.shell().is_some_and(|shell| shell.effects.accesses.iter().any(|access| matches(access.act)))
            };
            let edit = accesses(Act::changes).then_some(RuleKind::Edit);
            let read = accesses(|act| !act.changes()).then_some(RuleKind::Read);
            [Some(RuleKind::Bash), edit, read].into_iter().flatten().collect()
        }
        // What a file says that runs by itself is judged by all of them.
        Action::Edit { .. } | Action::Patch { .. } if event.shell().is_some() => {
            vec![RuleKind::Bash, RuleKind::Edit, RuleKind::Read]
        }
        Action::Edit { .. } | Action::Patch { .. } => vec![RuleKind::Edit],
        Action::Read { .. }
        | Action::Files { .. }
        | Action::Fetch { .. }
        | Action::Search { .. }
        | Action::Resource { uri: Some(_), .. } => vec![RuleKind::Read],
        Action::Mcp { .. } => vec![RuleKind::Mcp],
        Action::Agent { .. } => vec![RuleKind::Agent],
        Action::Resource { uri: None, .. } | Action::Settings { .. } | Action::Prompt { .. } | Action::Other => {
            Vec::new()
        }
    }
}

/// Adds the findings about a call that has not run yet.
pub(crate) fn judge(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let context = &Context::new(event, config);
    if let Some(directory) = &context.invalid_work {
        let message = format!("`paths.work`: {directory} contains home, the project or a vital directory");
        verdict.add(context.failure(&Failure::Config(message)));
    }
    match &event.action {
        Action::Shell { dialect, .. } => shell_text::judge(*dialect, context, verdict),
        Action::Edit { path: Some(path), .. } => {
            judge_file(path.inspect("which file is changed"), Act::Write, context, verdict);
            if let Some(limit) = context.exceeded.get() {
                verdict.add(context.failure(&limit.failure()));
            }
            shell_text::judge_written(event, config, verdict);
        }
        Action::Patch { text: Some(text) } => {
            judge_patch(text.inspect("which files are changed"), context, verdict);
            shell_text::judge_written(event, config, verdict);
        }
        Action::Read { paths } => {
            for path in paths {
                judge_file(path.inspect("which file is read"), Act::Read, context, verdict);
            }
        }
        Action::Files { paths, patterns, shows, .. } => {
            let patterns = patterns.as_ref().map(|patterns| patterns.inspect("which files are searched").as_str());
            let named = paths.iter().map(|path| path.inspect("which files are searched").as_str());
            let working = paths.is_empty().then_some(event.place.cwd.as_str());
            for path in named.chain(working) {
                judge_search(path, patterns, *shows, context, verdict);
            }
        }
        Action::Fetch { urls } => {
            for url in urls {
                apply_rules(&Subject::page(url.inspect("which page is read")), context, verdict);
            }
        }
        Action::Mcp { .. } => {
            mcp_pins::judge(event, config, verdict);
            // Reading more from a server whose results have been marked often is ordinary.
            if mcp_use::is_write(event, config) {
                after::escalate(event, config, verdict);
            }
            apply_rules(&Subject::mcp(event.tool.inspect("which tool is called")), context, verdict);
        }
        Action::Resource { uri, .. } => {
            after::escalate(event, config, verdict);
            if let Some(uri) = uri {
                apply_rules(&Subject::query(uri.inspect("which resource is read").clone()), context, verdict);
            }
        }
        Action::Search { input } => {
            let texts = json::strings(input.inspect("what the web is searched for"));
            texts.into_texts().for_each(|text| apply_rules(&Subject::query(text), context, verdict));
        }
        Action::Agent { mode: Some(mode) } => {
            apply_rules(&Subject::agent(mode.inspect("what another agent may do")), context, verdict);
        }
        // A client rejects an event that lacks its key field, so `None` does not occur before a call.
        Action::Edit { path: None, .. }
        | Action::Patch { text: None }
        | Action::Agent { mode: None }
        | Action::Settings { .. }
        | Action::Prompt { .. }
        | Action::Other => {}
    }
    // In a hot session, what would be asked about is denied, and what would be shown is asked about.
    if event.facts.taint.is_hot() {
        verdict.raise_to(config.block);
    }
}

/// Judges a tool that reads or writes one file.
fn judge_file(name: &str, act: Act, context: &Context<'_>, verdict: &mut Verdict) {
    for access in resolve_tool_path(name, act, context.event) {
        judge_access(access, context, verdict);
    }
}

/// Judges a tool that writes the files of a patch.
fn judge_patch(text: &str, context: &Context<'_>, verdict: &mut Verdict) {
    let paths = patch::paths(text);
    if paths.len() > FILES.most {
        verdict.add(context.failure(&FILES.failure()));
    }
    for path in paths.iter().take(FILES.most) {
        judge_file(path, Act::Write, context, verdict);
    }
}

/// Judges a tool that searches or lists files below `path`.
fn judge_search(path: &str, patterns: Option<&str>, shows: Shows, context: &Context<'_>, verdict: &mut Verdict) {
    for base in resolve_tool_path(path, Act::Read, context.event) {
        match file_search::accesses(&base, patterns, shows) {
            Ok(accesses) => accesses.into_iter().for_each(|access| judge_access(access, context, verdict)),
            Err(limit) => {
                judge_access(base, context, verdict);
                verdict.add(context.failure(&limit.failure()));
            }
        }
    }
}

fn judge_access(access: Access, context: &Context<'_>, verdict: &mut Verdict) {
    if access.target.path.as_ref().is_some_and(|path| path.bytes() > PATH_BYTES.most) {
        verdict.add(context.failure(&PATH_BYTES.failure()));
    } else {
        apply_rules(&Subject::tool_access(access, &context.zones), context, verdict);
    }
}
