//! The group configuration selector (GCS): selects number and sizes of groups for the least write amplification
//! predicted by MCAM.
//!
//! First the hot group grows, beside one group, while that saves at least 0.05. Then groups are added one by one: each
//! new one is split off the last, in the size that is best with the preceding ones unchanged. The best of all numbers
//! of groups is taken. In four rounds the hot group and then each group in turn is resized against the last one with
//! the others unchanged, and one more group is tried. Source: the paper's greedy search, in the order and with the
//! bounds of the authors' programs. They leave the last group at least 50 of their 2048 segments; here it is one in 40,
//! rounded up. With one group and no hot one their prediction counts the host's writes twice, which is left out here.
//! Cost: some tens of times the segments of a domain times the groups, once per epoch.

use super::mcam::{Front, Hot, Load, Prediction, predict};
use super::uid::Distribution;
use std::rc::Rc;

/// Least saving by a larger hot group in the first search.
const HOT_SAVES: f64 = 0.05;
/// The hot group has fewer segments.
const HOT_BELOW: u32 = 30;
/// Rounds of resizing.
const ROUNDS: u32 = 4;

/// Bounds of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Segments to be distributed.
    pub segments: u32,
    /// The most groups, not counting the hot one.
    pub groups: u32,
    /// The hot group: none, as measured, or with a size to be searched from zero intervals on.
    pub hot: Hot,
}

impl Bounds {
    /// Returns the least size of the last group in segments.
    pub fn last_at_least(&self) -> u32 {
        self.segments.div_ceil(40).max(1)
    }
}

/// A hot group.
#[derive(Clone, Debug, PartialEq)]
struct HotGroup {
    hot: Hot,
    /// Its size, 0 without a hot group.
    segments: u32,
    front: Front,
}

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupPlan {
    hot: Rc<HotGroup>,
    /// Sizes of the groups in segments, in order.
    pub sizes: Vec<u32>,
    /// MCAM's prediction for it.
    pub prediction: Prediction,
}

impl GroupPlan {
    /// Returns the segments of the hot group, 0 without one.
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
    fn plan(&self, hot: &Rc<HotGroup>, sizes: &[u32]) -> Option<GroupPlan> {
        let of: Vec<f64> = sizes.iter().map(|&size| f64::from(size)).collect();
        let prediction = predict(&hot.front, self.load, &of)?;
        Some(GroupPlan { hot: hot.clone(), sizes: sizes.to_vec(), prediction })
    }

    fn hot_group(&self, hot: Hot, segments: u32) -> Rc<HotGroup> {
        Rc::new(HotGroup { hot, segments, front: Front::of(self.uid, hot) })
    }

    /// Returns the hot group of at least `least` segments: its size, and the intervals that this takes.
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

    /// Tries hot groups of each size. `enough` is the improvement over the best that counts. With `at_once` the search
    /// ends with the first that improves less.
    fn try_hot(&self, best: &mut Option<GroupPlan>, sizes: &[u32], enough: f64, at_once: bool) {
        let (&last, before) = sizes.split_last().expect("there is a last group");
        let free = last + best.as_ref().map_or(0, GroupPlan::hot_segments);
        let mut least = 1;
        while least < HOT_BELOW
            && let Some((hot, size)) = self.hot_of(least)
            && size + self.bounds.last_at_least() <= free
        {
            let hot = self.hot_group(hot, size);
            let plan = self.plan(&hot, &[before, &[free - size]].concat());
            let better = match (&plan, best.as_ref()) {
                (Some(plan), Some(best)) => plan.waf() < best.waf() - enough,
                (Some(_), None) => true,
                (None, _) => false,
            };
            if better {
                *best = plan;
            } else if at_once {
                return;
            }
            least = size + 1;
        }
    }

    /// Finds the best size of group `at`, traded with the last group; splits off a new group if it is the last itself.
    fn resize(&self, plan: &GroupPlan, at: usize, best: &mut Option<GroupPlan>) {
        let mut sizes = plan.sizes.clone();
        if at + 1 == sizes.len() {
            sizes.insert(at, 0);
        }
        let last = sizes.len() - 1;
        let free = sizes[at] + sizes[last];
        for size in 1..=free.saturating_sub(self.bounds.last_at_least()) {
            (sizes[at], sizes[last]) = (size, free - size);
            let Some(resized) = self.plan(&plan.hot, &sizes) else { continue };
            if best.as_ref().is_none_or(|best| resized.waf() < best.waf()) {
                *best = Some(resized);
            }
        }
    }

    /// Finds the best configuration for each number of groups and returns the best of these.
    fn add_groups(&self, one: GroupPlan) -> GroupPlan {
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

    /// Resizes each group in turn and returns whether any change is an improvement.
    fn refine(&self, plan: &mut GroupPlan) -> bool {
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

/// Returns the best configuration; none if MCAM has no prediction for a single group.
pub fn select(uid: &Distribution, load: &Load, bounds: &Bounds) -> Option<GroupPlan> {
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

    /// Builds a distribution of several kinds of blocks, each with a period of its own. By kind: segments, and the
    /// period in segments written.
    fn kinds(of: &[(f64, f64)]) -> Distribution {
        let mut counts = vec![0.0; 1200];
        for &(segments, period) in of {
            // A page of the kind is updated once per period: shares of updates are pages over period.
            counts[(period * 4.0) as usize] += 1000.0 * segments / period;
        }
        Distribution::new(&counts, 0.25)
    }

    fn load(segments: u32, utilization: f64) -> Load {
        Load { valid: utilization * f64::from(segments), still: 0.0, margin: 1.0 }
    }

    /// Returns the best result over all sizes for a number of groups.
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

    /// On small drives the search equals the best of all configurations, or nearly so: it changes one size at a time.
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
            let Some(plan) = select(&uid, &load, &bounds) else {
                assert!(best.is_infinite(), "seed {seed}: no plan, but {best} exists");
                continue;
            };
            assert!(plan.waf() >= best - 1e-12, "seed {seed}: {} below the best, {best}", plan.waf());
            assert!(plan.waf() <= 1.05 * best, "seed {seed}: {} and {best}", plan.waf());
            exact += u32::from(plan.waf() < best + 1e-9);
            assert_eq!(plan.sizes.iter().sum::<u32>(), segments, "seed {seed}");
        }
        assert!(exact >= 20, "{exact} of 40 are the best");
    }

    /// Hot data of five segments that are rewritten in turn, and data that hardly change: the hot group takes all hot
    /// data.
    #[test]
    fn hot_data_get_a_group_of_their_size() {
        let uid = kinds(&[(5.0, 6.0), (75.0, 250.0)]);
        let bounds = Bounds { segments: 100, groups: 4, hot: Hot::Foretold { until: 0 } };
        let plan = select(&uid, &load(100, 0.8), &bounds).unwrap();
        let Hot::Foretold { until } = plan.hot.hot else { panic!("{plan:?}") };
        // More than five sixths of all writes have an interval of 6 segments, which ends before 6.25.
        assert_eq!((until, plan.hot_segments()), (25, 5), "{plan:?}");
        assert_eq!(plan.hot_segments() + plan.sizes.iter().sum::<u32>(), 100);
        let without = select(&uid, &load(100, 0.8), &Bounds { hot: Hot::None, ..bounds }).unwrap();
        assert_eq!(without.hot_segments(), 0);
        assert!(plan.waf() <= without.waf() + 0.05, "{plan:?} {without:?}");
    }

    /// A measured group keeps its size.
    #[test]
    fn a_measured_hot_group_keeps_its_size() {
        let uid = kinds(&[(5.0, 6.0), (75.0, 250.0)]);
        let hot = Hot::Measured { traffic: 0.3, size: 4.0, valid: 0.12 };
        let plan = select(&uid, &load(100, 0.8), &Bounds { segments: 100, groups: 4, hot }).unwrap();
        assert_eq!((plan.hot.hot, plan.hot_segments()), (hot, 4));
        assert_eq!(plan.sizes.iter().sum::<u32>(), 96);
        assert!(plan.sizes.len() <= 4);
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
