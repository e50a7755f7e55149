//! The group configuration selector (GCS): how many groups, and how large each is, so that MCAM foretells the least write
//! amplification.
//!
//! First the hot group grows, beside one group, while that saves at least 0.05. Then groups are added one by one: each new one is
//! cut off the last, in the size that is best with those before it as they are. Of all numbers of groups the best is taken. In four
//! rounds the hot group and then each group in turn is sized anew with the others as they are, against the last one, and one
//! group more is tried.
//! Source: the paper's greedy search, in the order and with the bounds of the authors' programs. They leave the last group at least
//! 50 of their 2048 segments; here it is one in 40, rounded up. With one group and no hot one their prediction counts the host's
//! writes twice, which is left out here.
//! Cost: some tens of times the segments of a domain times the groups, once an epoch.

use super::mcam::{Front, Hot, Load, Prediction, predict};
use super::uid::Distribution;
use std::rc::Rc;

/// What a larger hot group must save in the first search.
const HOT_SAVES: f64 = 0.05;
/// The hot group has fewer segments.
const HOT_BELOW: u32 = 30;
/// How often all sizes are tried anew.
const ROUNDS: u32 = 4;

/// Among what is searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Segments to be shared out.
    pub segments: u32,
    /// Groups at most, beside the hot one.
    pub groups: u32,
    /// The hot group: none, as it was measured, or one whose size is searched, from none intervals on.
    pub hot: Hot,
}

impl Bounds {
    /// Segments that the last group has at least.
    pub fn last_at_least(&self) -> u32 {
        self.segments.div_ceil(40).max(1)
    }
}

/// A hot group.
#[derive(Clone, Debug, PartialEq)]
struct HotGroup {
    hot: Hot,
    /// Its size, 0 where there is none.
    segments: u32,
    front: Front,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    hot: Rc<HotGroup>,
    /// Segments of the groups, the last one's behind.
    pub sizes: Vec<u32>,
    /// What is foretold of them.
    pub prediction: Prediction,
}

impl Plan {
    /// Segments of the hot group, 0 where there is none.
    pub fn hot_segments(&self) -> u32 {
        self.hot.segments
    }

    fn waf(&self) -> f64 {
        self.prediction.waf
    }
}

/// The search.
struct Search<'a> {
    uid: &'a Distribution,
    load: &'a Load,
    bounds: &'a Bounds,
}

impl Search<'_> {
    fn plan(&self, hot: &Rc<HotGroup>, sizes: &[u32]) -> Option<Plan> {
        let of: Vec<f64> = sizes.iter().map(|&size| f64::from(size)).collect();
        let prediction = predict(&hot.front, self.load, &of)?;
        Some(Plan { hot: hot.clone(), sizes: sizes.to_vec(), prediction })
    }

    fn hot_group(&self, hot: Hot, segments: u32) -> Rc<HotGroup> {
        Rc::new(HotGroup { hot, segments, front: Front::of(self.uid, hot) })
    }

    /// The hot group of at least so many segments: of how many, for as many intervals as that takes.
    fn hot_of(&self, least: u32) -> Option<(Hot, u32)> {
        let size = |until: usize| {
            let traffic = self.uid.below(until) / self.uid.total();
            (until as f64 * self.uid.step * traffic + 0.5) as u32
        };
        // Sizes grow with time.
        let (mut low, mut high) = (0, self.uid.len());
        if size(high) < least {
            return None;
        }
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            if size(middle) < least { low = middle } else { high = middle }
        }
        Some((Hot::Foretold { until: high }, size(high)))
    }

    /// Tries hot groups of each size. `enough` says whether one is so much better than the best before it; the search ends with the
    /// first that is not, where `at_once` says so.
    fn try_hot(&self, best: &mut Option<Plan>, sizes: &[u32], enough: f64, at_once: bool) {
        let (&last, before) = sizes.split_last().expect("there is a last group");
        let free = last + best.as_ref().map_or(0, Plan::hot_segments);
        let mut least = 1;
        while least < HOT_BELOW
            && let Some((hot, size)) = self.hot_of(least)
            && size + self.bounds.last_at_least() <= free
        {
            let hot = self.hot_group(hot, size);
            let found = self.plan(&hot, &[before, &[free - size]].concat());
            let better = match (&found, best.as_ref()) {
                (Some(found), Some(best)) => found.waf() < best.waf() - enough,
                (Some(_), None) => true,
                (None, _) => false,
            };
            if better {
                *best = found;
            } else if at_once {
                return;
            }
            least = size + 1;
        }
    }

    /// The best size of group `at`, which the last group gives or takes; a new one where it is the last itself.
    fn resize(&self, plan: &Plan, at: usize, best: &mut Option<Plan>) {
        let mut sizes = plan.sizes.clone();
        if at + 1 == sizes.len() {
            sizes.insert(at, 0);
        }
        let last = sizes.len() - 1;
        let free = sizes[at] + sizes[last];
        for size in 1..=free.saturating_sub(self.bounds.last_at_least()) {
            (sizes[at], sizes[last]) = (size, free - size);
            let Some(found) = self.plan(&plan.hot, &sizes) else { continue };
            if best.as_ref().is_none_or(|best| found.waf() < best.waf()) {
                *best = Some(found);
            }
        }
    }

    /// The best of each number of groups, and of these the best.
    fn add_groups(&self, one: Plan) -> Plan {
        let (mut best, mut at_hand) = (one.clone(), one);
        for groups in 2..=self.bounds.groups {
            let mut more = None;
            self.resize(&at_hand, groups as usize - 2, &mut more);
            let Some(more) = more else { break };
            if more.waf() < best.waf() {
                best = more.clone();
            }
            at_hand = more;
        }
        best
    }

    /// Sizes each group anew in turn; whether anything is better by that.
    fn refine(&self, plan: &mut Plan) -> bool {
        let before = plan.waf();
        if matches!(plan.hot.hot, Hot::Foretold { .. }) {
            let mut best = Some(plan.clone());
            self.try_hot(&mut best, &plan.sizes, 0.0, false);
            *plan = best.expect("there was one");
        }
        let mut at = 0;
        while at < plan.sizes.len() && (at as u32) + 1 < self.bounds.groups {
            let mut best = Some(plan.clone());
            let is_new = at + 1 == plan.sizes.len();
            self.resize(plan, at, &mut best);
            let best = best.expect("there was one");
            let grew = best.sizes.len() > plan.sizes.len();
            *plan = best;
            if is_new && !grew {
                break;
            }
            at += 1;
        }
        plan.waf() < before
    }
}

/// The best configuration that is found; none where MCAM can say nothing of a single group.
pub fn select(uid: &Distribution, load: &Load, bounds: &Bounds) -> Option<Plan> {
    if uid.total() <= 0.0 {
        return None;
    }
    let search = Search { uid, load, bounds };
    let one = match bounds.hot {
        Hot::None => search.plan(&search.hot_group(Hot::None, 0), &[bounds.segments]),
        Hot::Measured { size, .. } => {
            let taken = size as u32;
            let rest = bounds.segments.checked_sub(taken + bounds.last_at_least())?;
            search.plan(&search.hot_group(bounds.hot, taken), &[rest + bounds.last_at_least()])
        }
        Hot::Foretold { .. } => {
            let mut best = None;
            search.try_hot(&mut best, &[bounds.segments], HOT_SAVES, true);
            best
        }
    }?;
    let mut plan = search.add_groups(one);
    for _ in 0..ROUNDS {
        if !search.refine(&mut plan) {
            break;
        }
    }
    Some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use floatgate_base::Rng;

    /// Blocks of several kinds, each with a period of its own; by kind how many segments and the period in segments written.
    fn kinds(of: &[(f64, f64)]) -> Distribution {
        let mut counts = vec![0.0; 1200];
        for &(segments, period) in of {
            // A page of the kind is updated once a period: shares of updates go by pages over period.
            counts[(period * 4.0) as usize] += 1000.0 * segments / period;
        }
        Distribution::new(&counts, 0.25)
    }

    fn load(segments: u32, utilization: f64) -> Load {
        Load { valid: utilization * f64::from(segments), still: 0.0, margin: 1.0 }
    }

    /// The best of all sizes of so many groups.
    fn brute_force(uid: &Distribution, load: &Load, bounds: &Bounds, groups: u32) -> f64 {
        fn go(search: &Search<'_>, sizes: &mut Vec<u32>, left: u32, groups: u32, best: &mut f64) {
            if groups == 1 {
                sizes.push(left);
                if let Some(plan) = search.plan(&search.hot_group(Hot::None, 0), sizes) {
                    *best = best.min(plan.waf());
                }
                sizes.pop();
                return;
            }
            for size in 1..=left.saturating_sub(search.bounds.last_at_least()) {
                sizes.push(size);
                go(search, sizes, left - size, groups - 1, best);
                sizes.pop();
            }
        }
        let mut best = f64::INFINITY;
        let search = Search { uid, load, bounds };
        (1..=groups).for_each(|groups| go(&search, &mut Vec::new(), bounds.segments, groups, &mut best));
        best
    }

    /// On small drives the search finds what trying all configurations finds, or nearly so: it changes one size at a time.
    #[test]
    fn the_search_is_near_to_trying_all() {
        let mut exact = 0;
        for seed in 0..40 {
            let mut rng = Rng::new(seed, "gcs");
            let segments = 16 + rng.below(10) as u32;
            let bounds = Bounds { segments, groups: 3, hot: Hot::None };
            let shares = [0.1 + 0.2 * rng.unit(), 0.2 + 0.3 * rng.unit()];
            let data = 0.85 * f64::from(segments);
            let uid = kinds(&[
                (shares[0] * data, 2.0 + 6.0 * rng.unit()),
                (shares[1] * data, 10.0 + 40.0 * rng.unit()),
                ((1.0 - shares[0] - shares[1]) * data, 100.0 + 150.0 * rng.unit()),
            ]);
            let load = load(segments, 0.85);
            let best = brute_force(&uid, &load, &bounds, 3);
            let Some(found) = select(&uid, &load, &bounds) else {
                assert!(best.is_infinite(), "seed {seed}: nothing found, {best} is there");
                continue;
            };
            assert!(found.waf() >= best - 1e-12, "seed {seed}: {} below the best, {best}", found.waf());
            assert!(found.waf() <= 1.05 * best, "seed {seed}: {} and {best}", found.waf());
            exact += u32::from(found.waf() < best + 1e-9);
            assert_eq!(found.sizes.iter().sum::<u32>(), segments, "seed {seed}");
        }
        assert!(exact >= 20, "{exact} of 40 are the best");
    }

    /// Hot data of five segments that are written over in turn, and data that hardly change: the hot group takes them all in.
    #[test]
    fn hot_data_get_a_group_of_their_size() {
        let uid = kinds(&[(5.0, 6.0), (75.0, 250.0)]);
        let bounds = Bounds { segments: 100, groups: 4, hot: Hot::Foretold { until: 0 } };
        let found = select(&uid, &load(100, 0.8), &bounds).unwrap();
        let Hot::Foretold { until } = found.hot.hot else { panic!("{found:?}") };
        // Five sixths and more of all writes have an interval of 6 segments, which is over by 6.25.
        assert_eq!((until, found.hot_segments()), (25, 5), "{found:?}");
        assert_eq!(found.hot_segments() + found.sizes.iter().sum::<u32>(), 100);
        let without = select(&uid, &load(100, 0.8), &Bounds { hot: Hot::None, ..bounds }).unwrap();
        assert_eq!(without.hot_segments(), 0);
        assert!(found.waf() <= without.waf() + 0.05, "{found:?} {without:?}");
    }

    /// A group that was measured stays as large as it is.
    #[test]
    fn a_measured_hot_group_keeps_its_size() {
        let uid = kinds(&[(5.0, 6.0), (75.0, 250.0)]);
        let hot = Hot::Measured { traffic: 0.3, size: 4.0, valid: 0.12 };
        let found = select(&uid, &load(100, 0.8), &Bounds { segments: 100, groups: 4, hot }).unwrap();
        assert_eq!((found.hot.hot, found.hot_segments()), (hot, 4));
        assert_eq!(found.sizes.iter().sum::<u32>(), 96);
        assert!(found.sizes.len() <= 4);
    }

    #[test]
    fn nothing_is_selected_of_nothing() {
        let bounds = Bounds { segments: 100, groups: 4, hot: Hot::None };
        assert_eq!(select(&Distribution::new(&[0.0; 9], 0.25), &load(100, 0.8), &bounds), None);
        assert_eq!(select(&kinds(&[(5.0, 6.0)]), &load(100, 1.0), &bounds), None, "no spare room");
        let hot = Hot::Measured { traffic: 0.5, size: 100.0, valid: 0.2 };
        assert_eq!(select(&kinds(&[(5.0, 6.0)]), &load(100, 0.5), &Bounds { hot, ..bounds }), None);
    }
}
