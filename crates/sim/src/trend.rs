//! Whether laps of a workload are alike: how far write amplification still is from where they say that it goes.

/// Differences that shrink by less than this from block to block count as shrinking by so much: a slow rise goes on for
/// long.
const SHRINK_MAX: f64 = 0.95;

/// How far write amplification still is from where three blocks of laps say that it goes, as a share of the last.
fn distance(blocks: [f64; 3]) -> f64 {
    let [_, b, c] = blocks;
    (limit(blocks) - c).abs().max((c - b).abs()) / c
}

/// Where three blocks of laps say that write amplification goes: to the limit of the geometric series that their two differences
/// begin, where these have one direction; what scatters around a value has none, and stays.
pub(crate) fn limit([a, b, c]: [f64; 3]) -> f64 {
    let (before, last) = (b - a, c - b);
    let ratio = if before * last > 0.0 { (last / before).min(SHRINK_MAX) } else { 0.0 };
    c + last * ratio / (1.0 - ratio)
}

/// The distance after `laps` laps, and how many laps a block has: the smallest with which it is at most `error_max`, else
/// that with which it is least; infinite before there are three laps. `waf` gives write amplification from one lap to
/// another.
pub(crate) fn trend(laps: usize, waf: impl Fn(usize, usize) -> f64, error_max: f64) -> (f64, usize) {
    let block = |m: usize, i: usize| waf(laps - (3 - i) * m, laps - (2 - i) * m);
    let errors = (1..=laps / 3).map(|m| (distance([block(m, 0), block(m, 1), block(m, 2)]), m));
    let best = errors.clone().find(|&(error, _)| error <= error_max);
    let best = best.or_else(|| errors.min_by(|a, b| a.0.total_cmp(&b.0)));
    best.unwrap_or((f64::INFINITY, 1))
}
