//! Searching bytes.

/// The position of the first byte that a predicate accepts.
///
/// Whole blocks are tested first, which the compiler vectorises: results contain strings of several megabytes.
pub(crate) fn position(bytes: &[u8], accepts: impl Fn(u8) -> bool) -> Option<usize> {
    let (blocks, _) = bytes.as_chunks::<64>();
    let any = |block: &[u8; 64]| block.iter().map(|byte| u8::from(accepts(*byte))).sum::<u8>() > 0;
    let skipped = 64 * blocks.iter().position(any).unwrap_or(blocks.len());
    let at = bytes.get(skipped..)?.iter().position(|byte| accepts(*byte))?;
    Some(skipped + at)
}

#[cfg(test)]
#[path = "../../tests/unit/encoding/bytes.rs"]
mod tests;
