use super::super::update_log::UpdateLog;
use super::*;
use floatgate_base::Rng;

/// Runs Kruskal on all pairs with clusters as sets; returns original and root cluster of each context.
fn naive(n: usize, ul: impl Fn(usize, usize) -> f64) -> Vec<(u32, u32)> {
    let mut pairs: Vec<(usize, usize)> = (0..n).flat_map(|p| (p + 1..n).map(move |q| (p, q))).collect();
    pairs.sort_by(|&(a, b), &(c, d)| ul(a, b).total_cmp(&ul(c, d)).then((a, b).cmp(&(c, d))));
    // Each cluster ever created, with its members.
    let mut created: Vec<Vec<usize>> = Vec::new();
    for (p, q) in pairs {
        let newest = |of: usize| created.iter().rev().find(|c| c.contains(&of)).cloned().unwrap_or(vec![of]);
        let (one, other) = (newest(p), newest(q));
        if one != other {
            created.push([one, other].concat());
        }
    }
    let inside = |small: &Vec<usize>, large: &Vec<usize>| small.iter().all(|member| large.contains(member));
    let of = |place: usize| {
        let original = created.iter().position(|cluster| cluster.contains(&place)).unwrap();
        let root = created.iter().position(|cluster| inside(cluster, &created[original])).unwrap();
        (original as u32 + 1, root as u32 + 1)
    };
    if n < 2 { Vec::new() } else { (0..n).map(of).collect() }
}

/// Clusters contexts with one entry each, whose ul are multiples of one half.
fn cluster(n: usize, ul: impl Fn(usize, usize) -> f64) -> Clusters {
    let mut clusters = Clusters::default();
    let sums: Vec<u32> = (0..n * n).map(|at| (2.0 * ul(at / n, at % n)) as u32).collect();
    clusters.cluster(&sums, &vec![1; n]);
    clusters
}

/// Figure 34, contexts 1 to 5 at positions 0 to 4: links (1,2), (4,5), (2,3), (3,4) are the shortest, in this order.
fn figure_34(p: usize, q: usize) -> f64 {
    match (p.min(q), p.max(q)) {
        (0, 1) => 1.0,
        (3, 4) => 1.5,
        (1, 2) => 2.0,
        (2, 3) => 3.0,
        _ => 4.0,
    }
}

/// C1 {1, 2}, C2 {4, 5}, C3 {1, 2, 3}, C4 all: PC3's original cluster is C3 and its root C1; PC4's are both C2.
#[test]
fn clusters_of_figure_34() {
    let clusters = cluster(5, figure_34);
    assert_eq!(clusters.clusters, [(1, 1), (1, 1), (3, 1), (2, 2), (2, 2)]);
    assert_eq!(naive(5, figure_34), [(1, 1), (1, 1), (3, 1), (2, 2), (2, 2)]);
    let links: Vec<_> = clusters.links.iter().map(|&link| ends(link)).collect();
    assert_eq!(links, [(0, 1), (3, 4), (1, 2), (2, 3)]);
}

#[test]
fn one_context_makes_no_cluster() {
    assert!(cluster(0, figure_34).clusters.is_empty() && cluster(1, figure_34).clusters.is_empty());
}

/// Whole numbers as ul, which cause many ties, and random logs.
#[test]
fn clusters_are_those_of_all_pairs_in_order() {
    let mut clusters = Clusters::default();
    for seed in 0..150 {
        let mut rng = Rng::new(seed, "clusters");
        let n = rng.below(30) as usize;
        let matrix: Vec<f64> = (0..n * n).map(|_| rng.below(12) as f64).collect();
        let ul = |p: usize, q: usize| matrix[p.min(q) * n + p.max(q)];
        assert_eq!(cluster(n, ul).clusters, naive(n, ul), "seed {seed}");
        let mut log = UpdateLog::new(150);
        (0..150).for_each(|_| log.push(rng.below(25) as u32));
        let mut localities = Localities::default();
        localities.compute(&log, 25);
        let expected = naive(localities.contexts().len(), |p, q| localities.ul(p, q));
        assert_eq!(clusters.of(&localities), expected, "seed {seed}");
    }
}
