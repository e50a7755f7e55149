// Replace: the rule by which the naive drive chooses (`common/naive.rs`), and the name of the test.
#[test]
fn @module@_is_exact_up_to_ties() {
    all(Rule::Greedy, |_| Victim::named("@name@"));
}
