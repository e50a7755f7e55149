//! Convergence of laps: the distance of write amplification from the limit that the laps approach.

/// Differences that shrink by less than this factor from block to block count as shrinking by it: a slow rise continues
/// for long.
const SHRINK_MAX: f64 = 0.95;

/// Returns the distance of write amplification from the limit of three blocks of laps, as a share of the last.
fn distance(blocks: [f64; 3]) -> f64 {
    let [_, b, c] = blocks;
    (limit(blocks) - c).abs().max((c - b).abs()) / c
}

/// Returns the limit that three blocks of laps approach: that of the geometric series of their two differences, if
/// these have one direction. Values that scatter have no direction, and stay.
pub(crate) fn limit([a, b, c]: [f64; 3]) -> f64 {
    let (before, last) = (b - a, c - b);
    let ratio = if before * last > 0.0 { (last / before).min(SHRINK_MAX) } else { 0.0 };
    c + last * ratio / (1.0 - ratio)
}

/// Returns the distance after `laps` laps, and the laps per block. The number of laps is the smallest for which the
/// distance is at most `error_max`, else that of the least distance; infinite with fewer than three laps. `waf` returns
/// write amplification from one lap to another.
pub(crate) fn trend(laps: usize, waf: impl Fn(usize, usize) -> f64, error_max: f64) -> (f64, usize) {
    let block = |m: usize, i: usize| waf(laps - (3 - i) * m, laps - (2 - i) * m);
    let errors = (1..=laps / 3).map(|m| (distance([block(m, 0), block(m, 1), block(m, 2)]), m));
    let best = errors.clone().find(|&(error, _)| error <= error_max);
    let best = best.or_else(|| errors.min_by(|a, b| a.0.total_cmp(&b.0)));
    best.unwrap_or((f64::INFINITY, 1))
}
