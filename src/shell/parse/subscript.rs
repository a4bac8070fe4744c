//! Subscripts in texts that are evaluated as arithmetic: bash runs the substitutions in `a[0+$(x)]` although they are quoted.

/// Whether a text has an element of an array whose subscript contains a substitution.
pub(in super::super) fn runs_in_subscript(text: &str) -> bool {
    if !text.contains("$(") && !text.contains('`') {
        return false;
    }
    let mut depth = 0_usize;
    // The number of open brackets at the outermost subscript.
    let mut outermost: Option<usize> = None;
    // Whether the bytes before the current one are a name.
    let mut is_name = false;
    let mut is_word = false;
    let mut before = 0_u8;
    for byte in text.bytes() {
        match byte {
            b'[' => {
                depth += 1;
                if is_name && outermost.is_none() {
                    outermost = Some(depth);
                }
            }
            b']' => {
                if outermost == Some(depth) {
                    outermost = None;
                }
                depth = depth.saturating_sub(1);
            }
            b'`' if outermost.is_some() => return true,
            b'(' if before == b'$' && outermost.is_some() => return true,
            _ => {}
        }
        let continues = byte.is_ascii_alphanumeric() || byte == b'_';
        is_name = continues && (is_name || !is_word && !byte.is_ascii_digit());
        is_word = continues;
        before = byte;
    }
    false
}
