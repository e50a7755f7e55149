//! The Markov chain analytical model (MCAM): predicts the valid share of each group's victims, and the write
//! amplification, from the distribution of update intervals and the sizes of groups.
//!
//! A block of a group moves on when the group has taken in as much as its size. The time that blocks spend there is
//! thus the size over the rate at which blocks arrive. Data die in the group if their update interval is longer than a
//! block's age on arrival and shorter than its age on departure. The rates follow from the shares that survive the
//! preceding groups. The last group collects itself. Its share follows Desnoyers's model of one log with hot and cold
//! pages, `A = 1 + r / (e^(r op / (f A)) - 1) + (1 - r) / (e^((1 - r) op / ((1 - f) A)) - 1)`. There, `op` is its pages
//! over its valid ones, `r` the share of hot updates and `f` the share of their pages (supplement of the paper,
//! equation 1). Times and sizes are in segments; a segment is a unit in each domain.
//!
//! Hot pages bypass group 1; the other pages are new when they arrive there. The authors' programs let group 1 begin at
//! the age at which the hot group ends, and sum its content over all pages in one place and not at all in another. That
//! makes large hot groups look better than they are, or worse.
//!
//! The paper's matrix is multiplied out here. In the steady state of the chain the writes into each group are those
//! into the preceding one times the share that survives there; the last group's are a geometric series.

use super::uid::Distribution;

/// Updates of the last group are hot if their interval is below this multiple of the mean. Both programs of the authors
/// use it; their supplement says the mean.
const HOT_BELOW: f64 = 0.7;

/// The group before group 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hot {
    /// No hot group.
    None,
    /// One that takes in exactly the data updated within a number of intervals, and moves none.
    Foretold {
        /// Intervals.
        until: usize,
    },
    /// A measured one that deviates from the model.
    Measured {
        /// Share of the host's writes.
        traffic: f64,
        /// Segments.
        size: f64,
        /// Share of valid pages in its victims.
        valid: f64,
    },
}

/// The data on the drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Valid pages, in segments.
    pub valid: f64,
    /// Segments of the last group, all valid, that are never collected; they count neither as data nor as room.
    pub still: f64,
    /// Segments at the end of the window in which only the last group may end.
    pub margin: f64,
}

/// The model's result for a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Valid share in the victims of each group, that of the first one first.
    pub valid: Vec<f64>,
    /// Programs per host write.
    pub waf: f64,
}

/// Returns the write amplification of one FIFO log whose pages over its valid ones are `op`, where a share `f` of the
/// pages takes a share `r` of the updates. None if `op` is 1 or less: nothing can be collected then.
pub fn one_log(op: f64, r: f64, f: f64) -> Option<f64> {
    if op <= 1.0 {
        return None;
    }
    // Without skew there is one kind of pages.
    let kinds = if r <= 0.0 || f <= 0.0 || r >= 1.0 || f >= 1.0 { (1.0, 1.0) } else { (r, f) };
    let part = |updates: f64, pages: f64, waf: f64| {
        if updates <= 0.0 || pages <= 0.0 { 0.0 } else { updates / libm::expm1(updates * op / (pages * waf)) }
    };
    let excess = |waf: f64| 1.0 + part(kinds.0, kinds.1, waf) + part(1.0 - kinds.0, 1.0 - kinds.1, waf) - waf;
    let (mut low, mut high) = (1.0, 2.0);
    while excess(high) > 0.0 && high < 1e9 {
        high *= 2.0;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if excess(middle) > 0.0 { low = middle } else { high = middle }
    }
    Some(low)
}

/// Effect of the hot group on the other groups.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// Update intervals of data that enter group 1.
    rest: Distribution,
    /// Share of host writes that the hot group takes in, and valid share of its victims.
    traffic: f64,
    moves_on: f64,
    /// Valid pages in it, in segments.
    holds: f64,
}

impl Front {
    /// Computes the effect of a hot group. Its pages die within the intervals for which it holds them, and these are
    /// missing behind it. A measured group takes a part of all such updates; the others enter group 1.
    pub fn of(uid: &Distribution, hot: Hot) -> Self {
        match hot {
            Hot::None => Self { rest: uid.clone(), traffic: 0.0, moves_on: 0.0, holds: 0.0 },
            Hot::Foretold { until } => {
                let traffic = uid.below(until) / uid.total();
                Self { rest: uid.without(until, 1.0), traffic, moves_on: 0.0, holds: uid.lives_below(until) }
            }
            Hot::Measured { traffic, size, valid } => {
                let until = uid.at(((size - 0.5) / traffic).max(0.0));
                let die = traffic * (1.0 - valid);
                let part = (die * uid.total() / uid.below(until).max(f64::MIN_POSITIVE)).min(1.0);
                let holds = part * uid.lives_below(until) + traffic * valid * until as f64 * uid.step;
                Self { rest: uid.without(until, part), traffic, moves_on: valid, holds }
            }
        }
    }
}

/// Predicts the result for groups of these sizes in segments behind a hot one; the last one takes in the rest. None if
/// a group holds blocks for longer than the window, or if the last one has no room.
pub fn predict(front: &Front, load: &Load, sizes: &[f64]) -> Option<Prediction> {
    let (&last, before) = sizes.split_last()?;
    let uid = &front.rest;
    if uid.total() <= 0.0 {
        return None;
    }
    // Writes into the present group per host write.
    let mut moved = front.traffic * front.moves_on;
    let mut rate = 1.0 - front.traffic + moved;
    let (mut at, mut time, mut holds) = (0, 0.0, front.holds);
    let window = uid.len() as f64 * uid.step - load.margin;
    let mut valid = Vec::with_capacity(sizes.len());
    for &size in before {
        // Half a segment is open on average.
        time += (size - 0.5) / rate;
        if time >= window {
            return None;
        }
        let end = uid.at(time);
        let there = uid.total() - uid.below(at);
        let lives = (uid.total() - uid.below(end)) / there;
        holds += uid.survival(at, end) * rate;
        if there <= 0.0 || lives <= 0.0 {
            return None;
        }
        valid.push(lives);
        rate *= lives;
        moved += rate;
        at = end;
    }
    let (data, room) = (load.valid - load.still - holds, last - load.still);
    if data <= 0.0 {
        return None;
    }
    let (r, f) = uid.hot_part(at, HOT_BELOW);
    let stays = 1.0 - 1.0 / one_log(room / data, r, f)?;
    valid.push(stays);
    moved += rate * stays / (1.0 - stays);
    (stays > 0.0).then_some(Prediction { valid, waf: 1.0 + moved })
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_theory::fifo::{wa_fifo, wa_fifo_skewed};

    const LOAD: Load = Load { valid: 90.0, still: 0.0, margin: 0.0 };

    /// Matches the known law of a FIFO log, for uniform writes and for two kinds of pages.
    #[test]
    fn one_log_is_the_fifo_law() {
        for spare in [0.05, 0.07, 0.15, 0.28, 0.5] {
            let op = 1.0 / (1.0 - spare);
            let law = wa_fifo(spare).unwrap();
            for alike in [0.0, 0.3, 0.5, 1.0] {
                let ours = one_log(op, alike, alike).unwrap();
                assert!((ours / law - 1.0).abs() < 1e-6, "spare {spare}: {ours}, law {law}");
            }
            for (r, f) in [(0.8, 0.2), (0.9, 0.05), (0.5, 0.16)] {
                let law = wa_fifo_skewed(&[(f, r), (1.0 - f, 1.0 - r)], spare).unwrap();
                let ours = one_log(op, r, f).unwrap();
                assert!((ours / law - 1.0).abs() < 1e-6, "spare {spare}, {r} to {f}: {ours}, law {law}");
            }
        }
        assert_eq!((one_log(1.0, 0.5, 0.5), one_log(0.9, 0.5, 0.5)), (None, None));
    }

    /// Builds intervals of 1 segment: of 16 updates, 8 come within the first, 4 within the second, 2 within the third
    /// and 2 much later.
    fn halves() -> Distribution {
        let mut counts = [0.0; 400];
        (counts[0], counts[1], counts[2], counts[300]) = (8.0, 4.0, 2.0, 2.0);
        Distribution::new(&counts, 1.0)
    }

    #[test]
    fn a_chain_by_hand() {
        // Group 1 of 1.5 segments: a block is 1.0 old on departure; the first interval has died, and half survives.
        // Group 2 of 1 segment takes in half a segment per write. After another (1 - 0.5) / 0.5 = 1.0 the second
        // interval has died, 4 of the 8.
        let prediction = of(Hot::None, &[1.5, 1.0, 100.0]);
        assert_eq!(prediction.valid[..2], [0.5, 0.5]);
        // Group 1 holds 1/2 of a segment, group 2 half as much times 1/2: 0.25. The last has the rest. Half of its
        // updates come after 2 segments and half after 300: r is 1/2, and the hot pages are 2 / 302 of all.
        let stays = 1.0 - 1.0 / one_log(100.0 / (90.0 - 0.75), 0.5, 2.0 / 302.0).unwrap();
        assert!((prediction.valid[2] - stays).abs() < 1e-12);
        // A write causes 0.5 moves into group 2 and 0.25 into the last, plus those that stay there.
        let waf = 1.0 + 0.5 + 0.25 + 0.25 * stays / (1.0 - stays);
        assert!((prediction.waf - waf).abs() < 1e-12);
    }

    fn of(hot: Hot, sizes: &[f64]) -> Prediction {
        predict(&Front::of(&halves(), hot), &LOAD, sizes).unwrap()
    }

    #[test]
    fn hot_groups_by_hand() {
        // Updates within one interval are half of the writes; none of their data is moved. Group 1 takes in half a
        // segment per write; blocks leave its 1.5 segments 2.0 later. The second interval has died, 4 of 8.
        let prediction = of(Hot::Foretold { until: 1 }, &[1.5, 100.0]);
        assert_eq!(prediction.valid[0], 0.5);
        // At the end of its interval the hot group holds none, group 1 half a segment and half of that. No hot data
        // outlive the first interval; of the others 8 of 8 and 4 of 8 outlive the next two.
        let stays = 1.0 - 1.0 / one_log(100.0 / (90.0 - 0.5 * (1.0 + 0.5)), 0.5, 2.0 / 302.0).unwrap();
        assert!((prediction.valid[1] - stays).abs() < 1e-12, "{} {stays}", prediction.valid[1]);
        assert!((prediction.waf - (1.0 + 0.25 + 0.25 * stays / (1.0 - stays))).abs() < 1e-12);
        // Measured: a quarter of the writes for 1.5 segments of time; a fifth of them moves on. A fifth of all updates
        // die there. Those are 4/15 (3.2/12) of the updates within the first two intervals, which are 12 of 16.
        let measured = Hot::Measured { traffic: 0.25, size: 1.0, valid: 0.2 };
        let front = Front::of(&halves(), measured);
        let part = 0.2 * 16.0 / 12.0;
        assert_eq!((front.traffic, front.moves_on), (0.25, 0.2));
        assert!((front.rest.below(1) - 8.0 * (1.0 - part)).abs() < 1e-12);
        assert!((front.rest.below(2) - 12.0 * (1.0 - part)).abs() < 1e-12);
        assert!((front.rest.total() - (16.0 - 3.2)).abs() < 1e-12);
        // Group 1 takes in 0.8 of a segment per segment of host writes: 2.0 segments of time take 2.1 of its own.
        let prediction = predict(&front, &LOAD, &[2.1, 100.0]).unwrap();
        let lives = 4.0 / 12.8;
        assert!((prediction.valid[0] - lives).abs() < 1e-12);
        let (into_last, stays) = (0.8 * lives, prediction.valid[1]);
        assert!(
            (prediction.waf - (1.0 + 0.05 + into_last + into_last * stays / (1.0 - stays))).abs() < 1e-12
        );
    }

    #[test]
    fn what_cannot_be_said() {
        let front = Front::of(&halves(), Hot::None);
        let of = |load, sizes: &[f64]| predict(&front, &load, sizes);
        assert_eq!(of(LOAD, &[1.0, 80.0]), None, "no room in the last");
        assert_eq!(of(Load { margin: 50.0, ..LOAD }, &[360.0, 100.0]), None, "beyond the window");
        assert!(of(LOAD, &[360.0, 100.0]).is_none(), "and all dead by then");
        assert_eq!(of(Load { valid: 0.1, ..LOAD }, &[1.0, 100.0]), None, "all data are before the last");
        let nothing = Front::of(&Distribution::new(&[0.0; 4], 1.0), Hot::None);
        assert_eq!(predict(&nothing, &LOAD, &[100.0]), None, "no update");
        // Segments that stand still are neither data nor room.
        let still = of(Load { still: 40.0, ..LOAD }, &[100.0]).unwrap();
        assert_eq!(still, of(Load { valid: 50.0, ..LOAD }, &[60.0]).unwrap());
    }

    /// Multiplies out the chain as the authors do: states are free, hot, and the groups; 2000 steps.
    fn by_matrix(hot: (f64, f64), valid: &[f64]) -> f64 {
        let states = valid.len() + 2;
        let lives: Vec<f64> = [1.0, hot.1].iter().chain(valid).copied().collect();
        let mut matrix = vec![vec![0.0; states]; states];
        (matrix[0][1], matrix[0][2]) = (hot.0, 1.0 - hot.0);
        for state in 1..states {
            matrix[state][0] = 1.0 - lives[state];
            matrix[state][(state + 1).min(states - 1)] += lives[state];
        }
        let mut now = vec![1.0 / states as f64; states];
        let mut average = vec![0.0; states];
        for _ in 0..20_000 {
            let next = |to: usize| (0..states).map(|from| now[from] * matrix[from][to]).sum();
            now = (0..states).map(next).collect();
            average.iter_mut().zip(&now).for_each(|(sum, share)| *sum += share);
        }
        // Every visit to a group is a write there, and each cycle begins with a host write.
        average[1..].iter().sum::<f64>() / average[0]
    }

    #[test]
    fn the_closed_form_is_the_chain() {
        for (hot, sizes) in [
            (Hot::None, &[100.0][..]),
            (Hot::None, &[1.5, 1.0, 100.0]),
            (Hot::Foretold { until: 1 }, &[1.0, 100.0]),
            (Hot::Measured { traffic: 0.25, size: 1.0, valid: 0.2 }, &[1.05, 1.5, 100.0]),
        ] {
            let prediction = of(hot, sizes);
            let front = Front::of(&halves(), hot);
            let chain = by_matrix((front.traffic, front.moves_on), &prediction.valid);
            assert!((prediction.waf / chain - 1.0).abs() < 1e-3, "{hot:?}: {} and {chain}", prediction.waf);
        }
    }

    /// Uniform writes have exponential intervals. The estimate of hot and cold pages takes them for skewed: 1 - e^-0.7
    /// of the updates for 1 - 1.7 e^-0.7 of the pages. One group thus comes out a few per cent above the FIFO law,
    /// never below.
    #[test]
    fn one_group_under_uniform_writes_is_near_the_fifo_law() {
        let mean = 100.0f64;
        let counts: Vec<f64> = (0..4000).map(|i| libm::exp(-f64::from(i) / mean)).collect();
        let uid = Distribution::new(&counts, 1.0);
        let front = Front::of(&uid, Hot::None);
        let (r, f) = uid.hot_part(0, HOT_BELOW);
        assert!((r - (1.0 - libm::exp(-0.7))).abs() < 0.01, "{r}");
        assert!((f - (1.0 - 1.7 * libm::exp(-0.7))).abs() < 0.01, "{f}");
        for spare in [0.05, 0.1, 0.2, 0.3] {
            let load = Load { valid: 100.0 * (1.0 - spare), still: 0.0, margin: 0.0 };
            let prediction = predict(&front, &load, &[100.0]).unwrap();
            let ratio = prediction.waf / wa_fifo(spare).unwrap();
            assert!((1.0..1.1).contains(&ratio), "spare {spare}: {ratio}");
        }
    }
}
