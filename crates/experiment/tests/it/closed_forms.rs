//! The engine meets the closed forms within 0.5 %, compared at the effective spare factor.
//!
//! The tolerance follows from the design, which requires it from 4096 blocks on. There the mean-field laws, exact for
//! infinitely many blocks, have a smaller error, and some passes over the drive leave a standard error below 0.2 %
//! (random, the noisiest: 0.15 %).

use crate::common::{number, run_ok, uniform};
use floatgate_base::{ExtentKind, Extents, Lpn, Rng};
use floatgate_experiment::Output;
use floatgate_flash::{Cause, Flash, Functional, Layout, Scope};
use floatgate_ftl::{Ftl, Setup, Victim};
use floatgate_nand::Geometry;
use floatgate_theory::{Policy, alpha_of_spare, alpha_with_trim, spare_of_alpha, wa, wa_fifo_skewed};

const TOLERANCE: f64 = 0.005;
const BLOCKS: u32 = 4096;
const SPARES: [f64; 3] = [0.07, 0.15, 0.28];

const GREEDY: (&str, Policy) = ("policy = \"greedy\"", Policy::Greedy);
const FIFO: (&str, Policy) = ("policy = \"fifo\"", Policy::Fifo);
const RANDOM: (&str, Policy) = ("policy = \"random\"", Policy::Random);
const D_CHOICES: (&str, Policy) = ("policy = \"d-choices\"\nchoices = 4", Policy::DChoices(4));
const ALL: [(&str, Policy); 4] = [GREEDY, FIFO, RANDOM, D_CHOICES];

/// Asserts that an amplification meets its expected value.
fn meet(what: &str, waf: f64, expected: f64, tolerance: f64) {
    let error = waf / expected - 1.0;
    println!("{what}: engine {waf:.4}, theory {expected:.4} ({:+.3} %)", error * 100.0);
    assert!(error.abs() < tolerance, "{what}: engine {waf}, theory {expected}");
}

/// The effective spare factor and the amplification of a run.
fn figures(output: &Output) -> (f64, f64) {
    (number(&output.result, "/drive/effective_spare_factor"), number(&output.result, "/waf"))
}

fn check(pages_per_block: u32, spare: f64, (toml, policy): (&str, Policy)) {
    // A random victim carries the least information about the drive; this policy takes longest to average out.
    let passes = if policy == Policy::Random { 30 } else { 6 };
    let requests = u64::from(BLOCKS) * u64::from(pages_per_block) * passes;
    let (effective, waf) = figures(&run_ok(&uniform(BLOCKS, pages_per_block, spare, toml, requests), &[]));
    let expected = wa(policy, effective, pages_per_block).unwrap();
    meet(
        &format!("{policy} b={pages_per_block} S_f={spare} effective={effective:.5}"),
        waf,
        expected,
        TOLERANCE,
    );
}

#[test]
fn greedy() {
    for pages in [64, 256] {
        SPARES.iter().for_each(|&spare| check(pages, spare, GREEDY));
    }
}

#[test]
fn fifo() {
    SPARES.iter().for_each(|&spare| check(64, spare, FIFO));
}

#[test]
fn random() {
    SPARES.iter().for_each(|&spare| check(64, spare, RANDOM));
}

#[test]
fn d_choices() {
    SPARES.iter().for_each(|&spare| check(64, spare, D_CHOICES));
}

/// Flash pages of 16 KiB under a map of 4 KiB pages: the laws hold in pages of the map.
#[test]
fn packed_flash_pages() {
    let pages = 64;
    for (toml, policy) in [GREEDY, FIFO, RANDOM] {
        let passes = if policy == Policy::Random { 30 } else { 6 };
        let toml = uniform(BLOCKS, pages / 4, 0.15, toml, u64::from(BLOCKS * pages) * passes);
        let packed = [("drive.geometry.page_bytes", "16384".into()), ("ftl.mapping_bytes", "4096".into())];
        let output = run_ok(&toml, &packed);
        let (effective, waf) = figures(&output);
        let expected = wa(policy, effective, pages).unwrap();
        meet(&format!("{policy} packed, effective={effective:.5}"), waf, expected, TOLERANCE);
        let (written, programs) = ("/flash/pages_written/total", "/flash/programs/total");
        let filled = number(&output.result, written) / number(&output.result, programs);
        assert!((filled - 4.0).abs() < 1e-5, "{filled} pages in a flash page");
    }
}

/// Different rates in one log: the hot pages of the generator take their share of the writes.
#[test]
fn fifo_with_skew() {
    let pages = 64;
    let requests = u64::from(BLOCKS * pages) * 6;
    for (of_pages, of_writes) in [(0.2, 0.8), (0.1, 0.9), (0.5, 0.99)] {
        for spare in [0.07, 0.15] {
            let toml = uniform(BLOCKS, pages, spare, FIFO.0, requests)
                + &format!(
                    "pattern = \"hot-cold\"\nhot_share_of_pages = {of_pages}\nhot_share_of_writes = {of_writes}\n\
                     warmup_requests = {requests}\n"
                );
            let (effective, waf) = figures(&run_ok(&toml, &[]));
            let groups = [(of_pages, of_writes), (1.0 - of_pages, 1.0 - of_writes)];
            let expected = wa_fifo_skewed(&groups, effective).unwrap();
            meet(&format!("fifo {of_pages}/{of_writes} S_f={spare}"), waf, expected, TOLERANCE);
        }
    }
}

/// Cost-benefit with separate host and moved pages, 64 pages per block, at a spare factor of 0.15: 3.09 and 2.34 as in
/// published simulations, within 2 %. Levels of one block per stream leave nearly all spare space to it.
#[test]
fn cost_benefit_with_skew() {
    for (of_pages, of_writes, expected) in [(0.2, 0.8, 3.09), (0.1, 0.9, 2.34)] {
        let requests = u64::from(BLOCKS * 64) * 6;
        let collect = "policy = \"cost-benefit\"\ntrigger_free_blocks = 2\nstop_free_blocks = 2";
        let toml = uniform(BLOCKS, 64, 0.15, collect, requests).replace("steady", "random")
            + &format!(
                "pattern = \"hot-cold\"\nhot_share_of_pages = {of_pages}\nhot_share_of_writes = {of_writes}\n\
                 warmup_requests = {requests}\n[ftl.separate]\npolicy = \"host-gc\"\n"
            );
        let (effective, waf) = figures(&run_ok(&toml, &[]));
        let what = format!("cost-benefit {of_pages}/{of_writes} effective={effective:.5}");
        meet(&what, waf, expected, 0.02);
    }
}

/// Several planes with separate drives, or blocks of all planes as one: both are the drive of the forms.
#[test]
fn planes_and_superblocks() {
    for (toml, policy) in [GREEDY, FIFO] {
        for (scope, pages_per_block) in [("plane", 64), ("superblock", 16)] {
            let requests = u64::from(BLOCKS * pages_per_block) * 4 * 4;
            let toml =
                uniform(BLOCKS, pages_per_block, 0.15, &format!("{toml}\nscope = \"{scope}\""), requests)
                    .replace("[drive.geometry]\n", "[drive.geometry]\nchannels = 2\nplanes_per_die = 2\n");
            let (effective, waf) = figures(&run_ok(&toml, &[]));
            let expected = wa(policy, effective, 64).unwrap();
            meet(&format!("{policy} of 4 planes, scope {scope}"), waf, expected, TOLERANCE);
        }
    }
}

/// Greedy is optimal under uniform writes; an apparently better result by chance is within its standard error of 0.1 %.
#[test]
fn no_policy_beats_greedy_on_uniform_writes() {
    let policies = [
        GREEDY.0,
        FIFO.0,
        RANDOM.0,
        D_CHOICES.0,
        "policy = \"d-choices\"\nchoices = 40",
        "policy = \"windowed-greedy\"\nwindow = 400",
        "policy = \"windowed-greedy\"\nwindow = 2000",
        "policy = \"cost-benefit\"",
        "policy = \"cost-age-time\"",
    ];
    let requests = u64::from(BLOCKS * 32) * 6;
    let wafs = policies.map(|policy| {
        let toml = uniform(BLOCKS, 32, 0.15, policy, requests).replace("steady", "random")
            + &format!("warmup_requests = {requests}\n");
        number(&run_ok(&toml, &[]).result, "/waf")
    });
    for (policy, waf) in policies.iter().zip(wafs) {
        println!("{}: {waf:.4}", policy.replace('\n', " "));
        assert!(waf > wafs[0] * 0.999, "{policy}: {waf}, greedy has {}", wafs[0]);
    }
}

/// Programs over host pages of the first `share` of the rows.
fn head(output: &Output, share: f64) -> f64 {
    let at = (output.rows.len() as f64 * share) as usize;
    let row = &output.rows[at];
    row.programs_total() as f64 / row.page_writes as f64
}

/// The first tenth of the host's writes, 0.6 of a pass over the drive, already costs what the theory says. Random
/// victims vary most; 1.5 % is three standard errors of theirs.
#[test]
fn steady_is_steady_from_the_first_requests() {
    for (toml, policy) in ALL {
        let output = run_ok(&uniform(BLOCKS, 64, 0.15, toml, u64::from(BLOCKS) * 64 * 6), &[]);
        let expected = wa(policy, figures(&output).0, 64).unwrap();
        meet(&format!("{policy}, first tenth"), head(&output, 0.1), expected, 0.015);
        meet(&format!("{policy}, first hundredth"), head(&output, 0.01), expected, 0.05);
    }
}

/// A warm-up from random order arrives where the law starts.
#[test]
fn warm_up_converges_to_the_steady_state() {
    for (toml, policy) in ALL {
        // Random victims vary most; their runs are the longest.
        let passes = if policy == Policy::Random { 30 } else { 6 };
        let requests = u64::from(BLOCKS) * 64 * passes;
        let steady = uniform(BLOCKS, 64, 0.15, toml, requests);
        let warmed = steady.replace("steady", "random") + &format!("warmup_requests = {requests}\n");
        let ((_, steady), (effective, waf)) =
            (figures(&run_ok(&steady, &[])), figures(&run_ok(&warmed, &[])));
        meet(&format!("{policy} after a warm-up"), waf, wa(policy, effective, 64).unwrap(), TOLERANCE);
        meet(&format!("{policy} after a warm-up, beside steady"), waf, steady, TOLERANCE);
    }
}

/// Trims of the generator fall on any page, live or not. In the steady state a share s of the pages is live, and the
/// writes that bring one to life balance the trims that hit one: `(1 - q) (1 - s) = q s`, so `s = 1 - q`. Of the
/// requests that do something a share `q / (1 + q)` trims, and with this the law of trimming holds: alpha becomes
/// `alpha / (1 - q)`.
#[test]
fn trims_of_any_page() {
    let requests = u64::from(BLOCKS) * 64 * 5;
    for (toml, policy) in [GREEDY, FIFO] {
        for q in [0.1, 0.3] {
            let toml = uniform(BLOCKS, 64, 0.1, toml, requests)
                + &format!("trim_share = {q}\nwarmup_requests = {}\n", 2 * requests);
            let (effective, waf) = figures(&run_ok(&toml, &[]));
            let alpha = alpha_with_trim(alpha_of_spare(effective).unwrap(), q / (1.0 + q)).unwrap();
            assert!((alpha - 1.0 / (1.0 - effective) / (1.0 - q)).abs() < 1e-9);
            let expected = wa(policy, spare_of_alpha(alpha).unwrap(), 64).unwrap();
            meet(&format!("{policy}, {q} of the requests trim any page"), waf, expected, TOLERANCE);
        }
    }
}

/// The law as its source has it: each trim falls on a page that is live. `alpha (1 - q) / (1 - 2 q)`.
#[test]
fn trims_of_live_pages() {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: BLOCKS,
        pages_per_block: 64,
        page_bytes: 4096,
    };
    let logical = (f64::from(BLOCKS * 64) * 0.9) as u32;
    for (victim, policy) in [(Victim::named("greedy"), Policy::Greedy), (Victim::named("fifo"), Policy::Fifo)]
    {
        for q in [0.1, 0.3] {
            let layout = Layout::new(geometry, Scope::Plane);
            let setup = Setup { victim, trigger_free_units: 1, stop_free_units: 1, ..Setup::plain(logical) };
            let mut ftl = Ftl::new(layout.clone(), setup);
            let mut flash = Functional::new(layout);
            let mut host = LivePages::new(logical);
            let mut passes = |ftl: &mut Ftl, flash: &mut Functional, n: u32| {
                (0..n * 64).for_each(|_| ftl.serve(flash, &host.requests(BLOCKS, q)).unwrap());
            };
            // The share of live pages approaches its mean as e^-x in x passes.
            passes(&mut ftl, &mut flash, 10);
            ftl.reset_counts(&mut flash);
            passes(&mut ftl, &mut flash, 5);
            let total = f64::from(BLOCKS * 64);
            let effective = (total - ftl.mean_free_pages() - f64::from(logical)) / total;
            let alpha = alpha_with_trim(alpha_of_spare(effective).unwrap(), q).unwrap();
            let expected = wa(policy, spare_of_alpha(alpha).unwrap(), 64).unwrap();
            let counters = flash.counters();
            let waf = counters.programs_total() as f64 / counters.programs[Cause::Host as usize] as f64;
            meet(&format!("{policy}, {q} of the requests trim a live page"), waf, expected, TOLERANCE);
        }
    }
}

/// A host that knows which of its pages are live.
struct LivePages {
    rng: Rng,
    live: Vec<u32>,
    /// Place of each page in `live`.
    places: Vec<u32>,
}

impl LivePages {
    const NOWHERE: u32 = u32::MAX;

    fn new(pages: u32) -> Self {
        Self { rng: Rng::new(7, "live pages"), live: Vec::new(), places: vec![Self::NOWHERE; pages as usize] }
    }

    /// `n` requests: a share `trims` of them trims a live page, the others write any page.
    fn requests(&mut self, n: u32, trims: f64) -> Extents {
        let mut extents = Extents::default();
        for _ in 0..n {
            if self.rng.unit() < trims && !self.live.is_empty() {
                let place = self.rng.below(self.live.len() as u64) as usize;
                let lpn = self.live.swap_remove(place);
                if let Some(&moved) = self.live.get(place) {
                    self.places[moved as usize] = place as u32;
                }
                self.places[lpn as usize] = Self::NOWHERE;
                extents.push(Lpn(lpn), 1, ExtentKind::Trim);
            } else {
                let lpn = self.rng.below(self.places.len() as u64) as u32;
                if self.places[lpn as usize] == Self::NOWHERE {
                    self.places[lpn as usize] = self.live.len() as u32;
                    self.live.push(lpn);
                }
                extents.push(Lpn(lpn), 1, ExtentKind::Write);
            }
        }
        extents
    }
}
