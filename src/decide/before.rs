//! Before a call: what it is made of, what the rules say to each part, and what follows.

use super::matching::{self, matches_any};
use crate::decide::applicable::ApplicableRules;
use crate::decide::file_search;
use crate::decide::subject::Subject;
use crate::decide::validators::{Context, Sources};
use crate::encoding::label::Label;
use crate::encoding::patch;
use crate::event::{Action, Event, ShellText};
use crate::path::zones::Zones;
use crate::path::{AbsPath, Glob};
use crate::policy::Config;
use crate::quarantine::Namespace;
use crate::rules::{Match, Matcher, Owner, PatternError, Rule};
use crate::shell::{Access, Act, Target};
use crate::verdict::failure::Failure;
use crate::verdict::limits::{FILES, PATH_BYTES};
use crate::verdict::{Effect, Finding, RuleId, Verdict};
use std::borrow::Cow;

/// Judges a call that has not happened yet.
pub(crate) fn judge(event: &Event<'_>, config: &Config, verdict: &mut Verdict) {
    let zones = Zones::of(&event.place);
    let applicable = ApplicableRules::of(event, config);
    let sensitive: Vec<Glob<'_>> = config.sensitive.iter().map(|text| Glob::new(text)).collect();
    let sensitive_own: Vec<Glob<'_>> = config.sensitive_own.iter().map(|text| Glob::new(text)).collect();
    let own: Vec<Glob<'_>> = event.facts.own.iter().map(|text| Glob::new(text)).collect();
    let sources = Sources::default();
    let context = Context {
        event,
        config,
        zones: &zones,
        applicable: &applicable,
        sensitive: &sensitive,
        sensitive_own: &sensitive_own,
        own: &own,
        sources: &sources,
    };
    match &event.action {
        Action::Shell { dialect, .. } => super::shell_text::judge(*dialect, &context, verdict),
        Action::Edit { path: Some(path), .. } => {
            ask_about_file(path.inspect("which file is changed"), Act::Write, &context, verdict);
        }
        Action::Patch { text: Some(text) } => {
            let paths = patch::paths(text.inspect("which files are changed"));
            if paths.len() > FILES.most {
                verdict.add(FILES.failure().finding(Some(event.phase), config.failure));
            }
            // What is not judged is reported.
            for path in paths.iter().take(FILES.most) {
                ask_about_file(path, Act::Write, &context, verdict);
            }
        }
        Action::Read { path: Some(path) } => {
            ask_about_file(path.inspect("which file is read"), Act::Read, &context, verdict);
        }
        Action::Files { path, patterns, shows } => {
            let path = path.as_ref().map_or(event.place.cwd.as_str(), |path| path.inspect("which files are searched"));
            let patterns = patterns.as_ref().map(|patterns| patterns.inspect("which files are searched").as_str());
            for base in named(path, Act::Read, event) {
                match file_search::accesses(&base, patterns, *shows) {
                    Ok(accesses) => accesses.into_iter().for_each(|access| ask_about_access(access, &context, verdict)),
                    Err(limit) => {
                        ask_about_access(base, &context, verdict);
                        verdict.add(limit.failure().finding(Some(event.phase), config.failure));
                    }
                }
            }
        }
        Action::Fetch { url: Some(url) } => ask(&Subject::page(url.inspect("which page is read")), &context, verdict),
        Action::Mcp { .. } => {
            super::mcp_pins::judge(event, config, verdict);
            super::after::escalate(event, config, verdict);
            ask(&Subject::mcp(event.tool.inspect("which tool is called")), &context, verdict);
        }
        Action::Resource { .. } => super::after::escalate(event, config, verdict),
        Action::Agent { mode: Some(mode) } => {
            ask(&Subject::agent(mode.inspect("what another agent may do")), &context, verdict);
        }
        // Before a call, an event that lacks its key field is unreadable as a whole.
        Action::Edit { path: None, .. }
        | Action::Patch { text: None }
        | Action::Read { path: None }
        | Action::Fetch { url: None }
        | Action::Agent { mode: None }
        | Action::Search
        | Action::Settings { .. }
        | Action::Other => {}
    }
}

/// Judges what a tool does to a file.
fn ask_about_file(name: &str, act: Act, context: &Context<'_>, verdict: &mut Verdict) {
    for access in named(name, act, context.event) {
        ask_about_access(access, context, verdict);
    }
}

fn ask_about_access(access: Access, context: &Context<'_>, verdict: &mut Verdict) {
    if access.target.path.as_ref().is_some_and(|path| path.bytes() > PATH_BYTES.most) {
        verdict.add(PATH_BYTES.failure().finding(Some(context.event.phase), context.config.failure));
    } else {
        ask(&Subject::file(access, context.zones), context, verdict);
    }
}

/// A file by the name that a tool is given, and by where that name really leads.
fn named(name: &str, act: Act, event: &Event<'_>) -> Vec<Access> {
    let place = &event.place;
    // Tools take names as they are; a model that writes `$HOME` means it, and some client may expand it.
    let home = place.home.as_deref().unwrap_or("~");
    let name = name.replace("${HOME}", home).replace("$HOME", home);
    // `/proc/self/cwd` is the directory of whoever asks.
    let name = name.strip_prefix("/proc/self/cwd").map_or(name.clone(), |rest| format!("{}{rest}", place.cwd));
    let strange = name.trim().is_empty()
        || name.chars().any(char::is_control)
        || (name.starts_with('~') && !name.starts_with("~/") && name != "~");
    let path = AbsPath::resolve(&name, place);
    let target = |path: AbsPath| Target { text: path.to_string(), path: Some(path), open: false };
    let access = |target| Access { act, target, deep: false, astray: false, row: None };
    if strange {
        // Another user's home, or a name that ends where a reader thinks it does.
        return vec![access(Target { text: String::new(), path: None, open: true })];
    }
    let real = event.facts.real(&path.to_string()).map(|real| access(target(AbsPath::resolve(real, place))));
    [access(target(path))].into_iter().chain(real).collect()
}

/// Asks the rules about one unit: the first that matches answers, the strictest first.
pub(crate) fn ask(subject: &Subject<'_>, context: &Context<'_>, verdict: &mut Verdict) {
    for rule in context.applicable.concerning(subject) {
        verdict.charge(1);
        match answer(rule, subject, context) {
            Ok(None) => {}
            Ok(Some(finding)) => return verdict.add(finding),
            Err(error) => verdict.add(no_pattern(rule, &error, context)),
        }
    }
}

/// What a rule has to say to a unit, unless the operator has carved it out.
pub(crate) fn answer(
    rule: &Rule,
    subject: &Subject<'_>,
    context: &Context<'_>,
) -> Result<Option<Finding>, PatternError> {
    let Some(found) = matching::find(rule, subject, context)? else { return Ok(None) };
    let effect = context.config.effect(rule);
    if effect == Effect::Pass {
        return Ok(None);
    }
    // By the name in its file, or by the name that answers show.
    let is_named =
        |name: &str| name == rule.id.as_str() || rule.owner == Owner::Project && name == shown_id(rule).as_str();
    for exception in context.config.exceptions.iter().filter(|exception| is_named(exception.rule.as_str())) {
        let past = exception.is_past(context.event.facts.today);
        if !past && (exception.patterns.is_empty() || matches_any(&exception.patterns, subject)?) {
            return Ok(None);
        }
    }
    Ok(Some(finding(rule, &found, effect, subject, context)))
}

/// The name of a rule in answers. That of a project's own rule is text of the project, so its line stands for it.
pub(crate) fn shown_id(rule: &Rule) -> RuleId {
    match rule.owner {
        Owner::Operator => rule.id.clone(),
        Owner::Project => {
            let id = RuleId::named(&format!("project/rule-{}", rule.source.line));
            id.unwrap_or(RuleId::known("project/rule"))
        }
    }
}

/// What to tell: what was found, and what to do instead. Of a project's own rule, neither: an answer speaks with
/// system authority, and the project may be what is attacking.
fn finding(rule: &Rule, found: &Match, effect: Effect, subject: &Subject<'_>, context: &Context<'_>) -> Finding {
    if rule.owner == Owner::Project {
        let reason = "a rule of this project's own policy does not allow it";
        return Finding::new(shown_id(rule), effect, reason).at(rule.source.to_string());
    }
    let tool = context.event.header.tool.clone();
    let server = match &context.event.action {
        Action::Mcp { server, .. } => {
            let tool = context.event.tool.inspect("its server's name becomes a label");
            Label::new(Namespace::of_tool(tool, server.as_ref(), context.event, context.config).as_str())
        }
        Action::Shell { .. }
        | Action::Edit { .. }
        | Action::Patch { .. }
        | Action::Read { .. }
        | Action::Files { .. }
        | Action::Fetch { .. }
        | Action::Search
        | Action::Resource { .. }
        | Action::Agent { .. }
        | Action::Settings { .. }
        | Action::Other => Label::default(),
    };
    let nudge = subject.interpolate(&rule.nudge, &tool, &server);
    let mut reason = if found.what.is_empty() { nudge.clone() } else { format!("{}. {nudge}", found.what) };
    let taint = &context.event.facts.taint;
    let outbound = rule.only_when_tainted
        || matches!(rule.matcher, Matcher::Validator(validator) if validator.name() == "Exfiltration");
    if outbound && !taint.is_empty() {
        reason = format!("{reason}; {}", taint.words());
    }
    Finding::new(rule.id.clone(), effect, reason).nudging(nudge).at(rule.source.to_string())
}

/// That a pattern of a rule is none.
pub(crate) fn no_pattern(rule: &Rule, error: &PatternError, context: &Context<'_>) -> Finding {
    let Rule { id, source, owner, .. } = rule;
    let what = match owner {
        Owner::Operator => format!("{source}: rule `{id}`: pattern `{}`: {}", error.pattern, error.what),
        Owner::Project => format!("the project's own policy has a pattern that is none, in line {}", source.line),
    };
    Failure::Config(what).finding(Some(context.event.phase), context.config.failure)
}

/// Judges what is done to one file: as a deletion, as a change or a reading, and by where it really leads.
pub(crate) fn ask_about(access: &Access, context: &Context<'_>, verdict: &mut Verdict) {
    let known = access.target.path.as_ref().filter(|_| !access.target.open);
    let known = known.filter(|_| !context.event.facts.real_paths.is_empty());
    let real = known.and_then(|path| context.event.facts.real(&path.to_string())).map(|real| {
        let path = AbsPath::resolve(real, &context.event.place);
        Access { target: Target { text: path.to_string(), path: Some(path), open: false }, ..access.clone() }
    });
    let home = below_home(access, context);
    for access in [Some(access), real.as_ref(), home.as_ref()].into_iter().flatten() {
        if matches!(access.act, Act::Remove | Act::Move) {
            ask(&Subject::deletion(access), context, verdict);
        }
        ask(&Subject::access(Cow::Borrowed(access), context.zones), context, verdict);
    }
}

/// Where only the end of a path is known and it begins like the name of a settings directory, it may lie at home.
fn below_home(access: &Access, context: &Context<'_>) -> Option<Access> {
    if access.target.path.is_some() {
        return None;
    }
    let home = context.zones.home.as_ref()?;
    let (start, _) = access
        .target
        .text
        .match_indices("/.")
        .find(|(at, _)| !access.target.text.get(at + 2..).unwrap_or_default().starts_with(['.', '/']))?;
    let tail = access.target.text.get(start..).filter(|tail| !tail.contains(['$', '*']))?;
    let path = AbsPath::resolve(&format!("{home}{tail}"), &context.event.place);
    let target = Target { text: path.to_string(), path: Some(path), open: false };
    Some(Access { target, astray: true, ..access.clone() })
}

/// The files that a call names, absolute: the runtime looks up where they really lead.
pub fn paths<'a>(event: &'a Event<'_>) -> Vec<Cow<'a, str>> {
    let file = |name: &str, act: Act| {
        let accesses = named(name, act, event).into_iter();
        accesses.filter_map(|access| access.target.path.map(|path| Cow::Owned(path.to_string()))).collect::<Vec<_>>()
    };
    match &event.action {
        Action::Edit { path: Some(path), .. } => file(path.inspect("where it leads"), Act::Write),
        Action::Read { path: Some(path) } | Action::Files { path: Some(path), .. } => {
            file(path.inspect("where it leads"), Act::Read)
        }
        Action::Patch { text: Some(text) } => {
            patch::paths(text.inspect("where they lead")).iter().flat_map(|path| file(path, Act::Write)).collect()
        }
        Action::Shell { .. } => {
            let Some(ShellText { effects, .. }) = event.shell() else { return Vec::new() };
            // Of a path that is known, the text is the path.
            let known = effects.accesses.iter().filter(|access| access.target.path.is_some() && !access.target.open);
            let mut paths: Vec<Cow<'_, str>> = known.map(|access| access.target.text.as_str().into()).collect();
            paths.sort_unstable();
            paths.dedup();
            paths
        }
        Action::Edit { path: None, .. }
        | Action::Patch { text: None }
        | Action::Read { path: None }
        | Action::Files { path: None, .. }
        | Action::Fetch { .. }
        | Action::Search
        | Action::Mcp { .. }
        | Action::Resource { .. }
        | Action::Agent { .. }
        | Action::Settings { .. }
        | Action::Other => Vec::new(),
    }
}
