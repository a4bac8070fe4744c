//! Quantiles of times in constant memory.

use serde::Serialize;

/// Quantiles in microseconds. Each is at most one eighth above the true value, and never above the largest value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// The median.
    pub p50: u64,
    /// The 95th percentile.
    pub p95: u64,
    /// The 99th percentile.
    pub p99: u64,
}

/// Counts by size in constant memory: eight buckets for each power of two.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// The counts, from the smallest values on.
    buckets: Vec<u64>,
    count: u64,
    largest: u64,
}

/// Buckets for each power of two.
const BUCKETS_PER_POWER: u64 = 8;

impl Histogram {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        // The four leading bits determine the bucket.
        let shift = u64::from(u64::BITS - value.leading_zeros()).saturating_sub(4);
        let index = usize::try_from(shift * BUCKETS_PER_POWER + (value >> shift)).unwrap_or(usize::MAX);
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, 0);
        }
        if let Some(bucket) = self.buckets.get_mut(index) {
            *bucket += 1;
        }
        self.count += 1;
        self.largest = self.largest.max(value);
    }

    /// The largest value of a bucket.
    fn upper_bound(index: u64) -> u64 {
        let shift = (index / BUCKETS_PER_POWER).saturating_sub(1);
        let leading = index - shift * BUCKETS_PER_POWER;
        leading.checked_add(1).and_then(|next| next.checked_mul(1 << shift)).map_or(u64::MAX, |next| next - 1)
    }

    /// The quantiles; `None` without values.
    pub fn quantiles(&self) -> Option<Quantiles> {
        let at = |percent: u64| {
            let rank = (self.count * percent).div_ceil(100);
            let mut seen = 0;
            self.buckets.iter().position(|count| {
                seen += count;
                seen >= rank && seen > 0
            })
        };
        let at = |percent| at(percent).map(|index| Histogram::upper_bound(index as u64).min(self.largest));
        Some(Quantiles { p50: at(50)?, p95: at(95)?, p99: at(99)? })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/telemetry/histogram.rs"]
mod tests;
