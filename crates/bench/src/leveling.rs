//! What wear-leveling costs the host's writes.

use crate::engine;
use crate::measure::{PAGES_PER_BLOCK, ROUNDS, SPARE, median, verdict};

/// Levelers beside `none`, whose rounds alternate with theirs.
const LEVELERS: &[&str] = &["none", "swl", "read-balance"];

/// Pages written per CPU second under each leveler.
pub fn leveling() {
    let (gib, host_pages) = (8, 8_000_000);
    println!(
        "{gib} GiB drive, uniform random 4 KiB writes at steady state, greedy, 7 % spare, by wear-leveler"
    );
    let round = |_| -> Vec<(f64, f64)> {
        let run = |&name: &&str| engine::leveled(gib * 1024, PAGES_PER_BLOCK, SPARE, host_pages, name);
        LEVELERS.iter().map(run).collect()
    };
    let rounds: Vec<_> = (0..ROUNDS).map(round).collect();
    for (i, name) in LEVELERS.iter().enumerate() {
        let rate = median(rounds.iter().map(|round| round[i].0).collect());
        let ratio = median(rounds.iter().map(|round| round[i].0 / round[0].0).collect());
        let label = format!("{name}, {rate:.1} M programs/s at WAF {:.3}, / none", rounds[0][i].1);
        if i == 0 {
            println!("    {label:<60} {ratio:>6.2}");
        } else {
            verdict(&label, ratio, 0.8);
        }
    }
}
