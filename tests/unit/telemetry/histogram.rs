//! Unit tests of `src/telemetry/histogram.rs`.

use super::*;

#[test]
fn quantiles_are_close_and_never_below() {
    let mut times = Histogram::default();
    (1..=1000).for_each(|us| times.add(us));
    let Quantiles { p50, p95, p99 } = times.quantiles().unwrap();
    for (found, exact) in [(p50, 500), (p95, 950), (p99, 990)] {
        assert!(found >= exact && found <= exact + exact / 8, "{found} for {exact}");
    }
    times.add(0);
    times.add(u64::MAX);
    for value in (0..200).chain((3..64).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1])).chain([u64::MAX]) {
        let mut one = Histogram { largest: u64::MAX, ..Histogram::default() };
        one.add(value);
        let upper = one.quantiles().unwrap().p50;
        assert!(upper >= value && upper - value <= value / 8, "{upper} for {value}");
    }
}
