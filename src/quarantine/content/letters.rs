//! Letters that look like others, and invisible characters.

use crate::encoding::escape::is_hidden;

/// The plain lower-case form of a letter: without accents, full width or other typographic variants.
pub(in super::super) fn plain_letter(c: char) -> char {
    match c {
        _ if c.is_ascii() => c.to_ascii_lowercase(),
        '\u{ff01}'..='\u{ff5e}' => ascii(u32::from(c) - 0xfee0),
        'À'..='Å' | 'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'Ç' | 'ç' | 'ć' | 'č' => 'c',
        'È'..='Ë' | 'è'..='ë' | 'ē' | 'ė' | 'ę' | 'ě' => 'e',
        'Ì'..='Ï' | 'ì'..='ï' | 'ī' | 'ı' => 'i',
        'Ñ' | 'ñ' | 'ń' | 'ň' => 'n',
        'Ò'..='Ö' | 'ò'..='ö' | 'ø' | 'Ø' | 'ő' => 'o',
        'Ù'..='Ü' | 'ù'..='ü' | 'ű' | 'ů' => 'u',
        'Ý' | 'ý' | 'ÿ' => 'y',
        'ß' | 'ś' | 'š' => 's',
        'ź' | 'ż' | 'ž' => 'z',
        'ł' => 'l',
        '\u{2018}' | '\u{2019}' | '\u{201b}' | '\u{2032}' | '`' => '\'',
        '\u{201c}'..='\u{201f}' | '«' | '»' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{3000}' | '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' => ' ',
        '。' | '｡' => '.',
        '、' => ',',
        // Mathematical letters: thirteen alphabets of 2 x 26 letters, and digits.
        '\u{1d400}'..='\u{1d6a3}' => ascii(u32::from(b'a') + (u32::from(c) - 0x1d400) % 26),
        '\u{1d7ce}'..='\u{1d7ff}' => ascii(u32::from(b'0') + (u32::from(c) - 0x1d7ce) % 10),
        '\u{24b6}'..='\u{24e9}' => ascii(u32::from(b'a') + (u32::from(c) - 0x24b6) % 26),
        '\u{1f130}'..='\u{1f149}' | '\u{1f150}'..='\u{1f169}' | '\u{1f170}'..='\u{1f189}' => {
            ascii(u32::from(b'a') + (u32::from(c) & 0x1f) % 0x20)
        }
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}

fn ascii(code: u32) -> char {
    char::from_u32(code).unwrap_or(' ').to_ascii_lowercase()
}

/// The lower-case Latin letter that a letter of another script looks like.
pub(in super::super) fn latin_lookalike(c: char) -> Option<char> {
    Some(match c {
        'а' | 'α' => 'a',
        'в' | 'β' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'ε' | 'є' => 'e',
        'ғ' => 'f',
        'ɡ' => 'g',
        'һ' | 'н' | 'η' => 'h',
        'і' | 'ι' => 'i',
        'ј' => 'j',
        'к' | 'κ' => 'k',
        'ӏ' => 'l',
        'м' | 'μ' => 'm',
        'п' | 'ν' => 'n',
        'о' | 'ο' | 'σ' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ц' => 'u',
        'ѵ' => 'v',
        'ԝ' | 'ш' | 'ω' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' => 'y',
        'ζ' => 'z',
        _ => return None,
    })
}

/// Texts that are encoded in invisible characters, and descriptions of suspicious uses of such characters.
pub(super) fn hidden_texts(text: &str) -> Vec<String> {
    if text.is_ascii() {
        return Vec::new();
    }
    let (mut tags, mut selectors, mut bits) = (String::new(), Vec::new(), String::new());
    let (mut between, mut since, mut direction_overrides, mut has_rtl_script, mut run, mut longest) =
        (0, 0, 0, false, 0_usize, 0);
    let mut before = ' ';
    // Flag emojis are followed by tag characters.
    let mut flag = false;
    for (at, c) in text.char_indices() {
        if !is_invisible(c) {
            flag = c == '\u{1f3f4}';
            has_rtl_script |= matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
            // Invisible characters may mark line breaks between syllables, but not every one to three letters.
            since += 1;
            if run > 0 && is_solid_script(before) && is_solid_script(c) {
                between += usize::from(since < 4);
                since = 0;
            }
            (before, run) = (c, 0);
            continue;
        }
        let code = u32::from(c);
        match c {
            '\u{e0020}'..='\u{e007e}' if !flag => tags.push(ascii_tag(code)),
            '\u{fe00}'..='\u{fe0f}' => selectors.push(u8::try_from(code - 0xfe00).unwrap_or_default()),
            '\u{e0100}'..='\u{e01ef}' => selectors.push(u8::try_from(code - 0xe0100 + 16).unwrap_or_default()),
            '\u{200b}' => bits.push('0'),
            '\u{200c}' => bits.push('1'),
            '\u{202d}' | '\u{202e}' | '\u{2066}'..='\u{2068}' => direction_overrides += 1,
            _ => {}
        }
        // Soft hyphens, joiners of emojis and a byte-order mark are ordinary.
        let is_ordinary =
            c == '\u{ad}' || matches!(c, '\u{fe0e}' | '\u{fe0f}' | '\u{200d}') && !is_solid_script(before);
        if !is_ordinary && !flag && at > 0 {
            run += 1;
            longest = longest.max(run);
        }
    }
    let selectors = String::from_utf8_lossy(&selectors).into_owned();
    let mut found = vec![tags, if_readable(&selectors), if_readable(&from_bits(&bits))];
    found.retain(|text| text.len() > 7);
    if longest > 15 {
        found.push("a run of invisible characters".to_owned());
    }
    if between > 5 {
        found.push("invisible characters between letters".to_owned());
    }
    if direction_overrides > 0 && !has_rtl_script {
        found.push("characters that turn the text around".to_owned());
    }
    found
}

/// Whether a character is invisible.
pub(super) fn is_invisible(c: char) -> bool {
    !c.is_ascii() && is_hidden(c)
}

fn ascii_tag(code: u32) -> char {
    char::from_u32(code - 0xe0000).unwrap_or(' ')
}

/// Whether a letter is of a script that uses no invisible characters inside words.
fn is_solid_script(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '\u{400}'..='\u{4ff}' | '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}')
}

/// The text if more than nine tenths of it are printable ASCII, else nothing.
fn if_readable(text: &str) -> String {
    let plain = text.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').count();
    if plain * 10 > text.chars().count() * 9 { text.to_owned() } else { String::new() }
}

/// Decodes groups of eight bits.
fn from_bits(bits: &str) -> String {
    let byte = |part: &[u8]| part.iter().fold(0_u8, |byte, bit| byte << 1 | u8::from(*bit == b'1'));
    String::from_utf8_lossy(&bits.as_bytes().chunks_exact(8).map(byte).collect::<Vec<_>>()).into_owned()
}
