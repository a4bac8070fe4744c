//! Quantiles of times in constant memory.

use serde::Serialize;

/// Quantiles in microseconds, each at most an eighth above the true value and never above the largest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Quantiles {
    /// Half of the calls took at most this.
    pub p50: u64,
    /// 95 % of them.
    pub p95: u64,
    /// 99 % of them.
    pub p99: u64,
}

/// Counts by size in constant memory: eight buckets for each power of two.
#[derive(Clone, Debug, Default)]
pub(super) struct Histogram {
    /// By their place, from the smallest on.
    buckets: Vec<u64>,
    count: u64,
    largest: u64,
}

/// Buckets for each power of two.
const FINE: u64 = 8;

impl Histogram {
    pub fn add(&mut self, value: u64) {
        // Four leading bits count; of a value that has no more, all.
        let spare = u64::from(u64::BITS - value.leading_zeros()).saturating_sub(4);
        let place = spare * FINE + (value >> spare);
        self.add_at(usize::try_from(place).unwrap_or(usize::MAX), 1);
        self.count += 1;
        self.largest = self.largest.max(value);
    }

    fn add_at(&mut self, place: usize, count: u64) {
        if place >= self.buckets.len() {
            self.buckets.resize(place + 1, 0);
        }
        if let Some(bucket) = self.buckets.get_mut(place) {
            *bucket += count;
        }
    }

    /// The largest value that a bucket can hold.
    fn upper(place: u64) -> u64 {
        let spare = (place / FINE).saturating_sub(1);
        let leading = place - spare * FINE;
        leading.checked_add(1).and_then(|next| next.checked_mul(1 << spare)).map_or(u64::MAX, |next| next - 1)
    }

    pub fn quantiles(&self) -> Option<Quantiles> {
        let at = |percent: u64| {
            let rank = (self.count * percent).div_ceil(100);
            let mut seen = 0;
            self.buckets.iter().position(|count| {
                seen += count;
                seen >= rank && seen > 0
            })
        };
        let at = |percent| at(percent).map(|place| Histogram::upper(place as u64).min(self.largest));
        Some(Quantiles { p50: at(50)?, p95: at(95)?, p99: at(99)? })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/telemetry/histogram.rs"]
mod tests;
