//! The engine meets the closed forms within 0.5 %, compared at the effective spare factor.

mod common;

use common::{number, run_ok, uniform};
use floatgate_theory::{Policy, wa};

const TOLERANCE: f64 = 0.005;

fn check(blocks: u32, pages_per_block: u32, spare: f64, toml: &str, policy: Policy) {
    let passes = 6;
    let requests = u64::from(blocks) * u64::from(pages_per_block) * passes;
    let result = run_ok(&uniform(blocks, pages_per_block, spare, toml, requests), &[]).result;
    let effective = number(&result, "/drive/effective_spare_factor");
    let expected = wa(policy, effective, pages_per_block).unwrap();
    let waf = number(&result, "/waf");
    let error = waf / expected - 1.0;
    println!(
        "{policy:>10} b={pages_per_block} blocks={blocks} S_f={spare} effective={effective:.5} engine={waf:.4} theory={expected:.4} ({:+.3} %)",
        error * 100.0
    );
    assert!(error.abs() < TOLERANCE, "{policy} at {effective}: engine {waf}, theory {expected}");
}

#[test]
fn greedy() {
    for (pages, spare) in [(64, 0.07), (64, 0.15), (64, 0.28), (256, 0.07), (256, 0.15), (256, 0.28)] {
        check(4096, pages, spare, "policy = \"greedy\"", Policy::Greedy);
    }
}

#[test]
fn fifo() {
    for spare in [0.07, 0.15, 0.28] {
        check(4096, 64, spare, "policy = \"fifo\"", Policy::Fifo);
    }
}

#[test]
fn random() {
    for spare in [0.07, 0.15, 0.28] {
        check(4096, 64, spare, "policy = \"random\"", Policy::Random);
    }
}

#[test]
fn d_choices() {
    for spare in [0.07, 0.15, 0.28] {
        check(4096, 64, spare, "policy = \"d-choices\"\nchoices = 4", Policy::DChoices(4));
    }
}
