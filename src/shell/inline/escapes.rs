//! Lines of database shells, editors, debuggers and Tcl that hand their rest to a shell or to another language.

use super::strings::balanced_end;
use super::{Call, Language};
use crate::programs::code;
use crate::verdict::limits::Meter;

/// What such a line runs.
pub(super) enum Escape {
    Call(Call),
    Code(Language, String),
}

/// Finds the lines of a piece of code that run something else.
pub(super) fn escapes(text: &str, meter: &Meter) -> Vec<Escape> {
    let mut found: Vec<Escape> = super::editor::embedded(text, meter).into_iter().map(Escape::Call).collect();
    // TeX: `\directlua{…}`
    let mut rest = text;
    while let Some((_, inner)) = rest.split_once("directlua{") {
        let (code, behind) = inner.split_at(balanced_end(inner, '{', '}'));
        found.push(Escape::Code(Language::Lua, code.to_owned()));
        rest = behind;
    }
    for line in text.lines() {
        // Tcl: `spawn ls; interact`
        let is_tcl = ["exec ", "spawn "].iter().any(|start| line.trim_start().starts_with(start));
        match escape(line).filter(|_| !is_tcl) {
            Some(escape) => found.push(escape),
            None => found.extend(line.split(';').skip(usize::from(!is_tcl)).filter_map(escape)),
        }
        // psql: `\set x` with a command in backquotes
        let quoted = line.split('`').skip(1).step_by(2).filter(|_| line.trim_start().starts_with('\\'));
        found.extend(quoted.map(|text| Escape::Call(Call::Text(text.to_owned()))));
        // m4: `esyscmd(ls)`, `` indir(`syscmd', ls) ``
        let plain = line.replace("syscmd',", "syscmd(").replace("syscmd' ,", "syscmd(");
        let macros = plain.split("syscmd(").skip(1).map(|rest| rest.rsplit_once(')').map_or(rest, |(text, _)| text));
        found.extend(
            macros.map(|text| Escape::Call(Call::Text(text.trim_matches(['`', '\'', '"', '[', ']']).to_owned()))),
        );
        // Tcl: `puts [exec ls]`
        let nested = line.split("[exec ").skip(1).map(|rest| rest.split(']').next().unwrap_or_default());
        found.extend(nested.map(|text| Escape::Call(Call::Text(text.to_owned()))));
    }
    found
}

fn escape(line: &str) -> Option<Escape> {
    let line = line.trim_start();
    let spaced = line.replace('\t', " ");
    let line = spaced.as_str();
    // SQLite and DuckDB take any beginning of `.system` and `.shell`.
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    let is_begun = word.len() > 2 && [".system", ".shell"].iter().any(|name| name.starts_with(word));
    if is_begun && !rest.trim().is_empty() {
        return Some(Escape::Call(Call::Text(rest.trim().to_owned())));
    }
    let behind = |starts: &[&str]| {
        let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
        Some(rest.trim()).filter(|rest| !rest.is_empty() && !rest.starts_with(['=', '(']))
    };
    let languages = [
        (&code::LINES_PYTHON[..], Language::Python),
        (&code::LINES_LUA, Language::Lua),
        (&code::LINES_PERL, Language::Perl),
        (&code::LINES_RUBY, Language::Ruby),
    ];
    if let Some((text, language)) =
        languages.into_iter().find_map(|(starts, language)| Some((behind(starts)?, language)))
    {
        return Some(Escape::Code(language, text.to_owned()));
    }
    if let Some(paths) = behind(&code::LINES_REMOVE) {
        return Some(Escape::Call(Call::Text(format!(
            "rm -rf {}",
            paths.trim_start_matches("-force").trim_start_matches(" --")
        ))));
    }
    let piped = || {
        let (before, text) = line.split_once('|')?;
        let option = before.split_whitespace().next().unwrap_or_default().trim_end_matches(['\'', '"']);
        code::LINES_PIPE.contains(&option).then(|| text.trim_end_matches(['\'', '"', ';']))
    };
    let Some(text) = behind(&code::LINES_SHELL).or_else(piped).filter(|text| !text.trim().is_empty()) else {
        return super::editor::shell_text(line).map(Escape::Call);
    };
    // The text may be a string.
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    // `exe "!ls"`: the quote before the text belongs to the editor's command.
    let is_open = |quote: char| text.ends_with(quote) && text.matches(quote).count() % 2 == 1;
    let text = if is_open('"') || is_open('\'') { text.get(..text.len() - 1).unwrap_or(text) } else { text };
    Some(Escape::Call(Call::Text(text.to_owned())))
}
