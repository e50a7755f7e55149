//! Random experiments whose content is deduplicated, compressed, or both.

use super::cases::Case;
use super::policies;
use floatgate_base::Rng;
use floatgate_config::Resolved;
use floatgate_experiment::load;
use floatgate_lifetime::reduce;

/// Settings that exclude a reducer.
const REFUSED: [&str; 5] = [
    "goes by the time",
    "a chunk is read as a whole",
    "copies pages of one",
    "is smaller than a block",
    "knows when pages die",
];

/// Adds content to the workload of a case, and a reducer with its parameters; returns the result, or None if the drive
/// admits none. A trace has its file by now.
pub fn reduced(rng: &mut Rng, case: &mut Case) -> Option<Resolved> {
    let duplicates = [0.0, 0.3, 0.9][rng.below(3) as usize];
    let (hard, mean) = [(0.0, 1.0), (0.0, 0.2), (0.3, 0.7)][rng.below(3) as usize];
    case.toml += &format!(
        "duplicate_share = {duplicates}\ncompressed_share = {mean}\nincompressible_share = {hard}\n"
    );
    let infos: Vec<_> = reduce::POLICIES.iter().filter(|info| info.name != "none").collect();
    let info = infos[rng.below(infos.len() as u64) as usize];
    let settings = policies::drawn(rng, &reduce::SLOT, info);
    // Without either, chunks take their pages until the last of theirs dies: no drive has spare space for that.
    let toml = policies::toml(&reduce::SLOT, &settings).replace("repack = false", "repack = true");
    // Runs are short; the manager must decide often, with enough data.
    let own = |line: &&str| !line.starts_with("epoch_s") && !line.starts_with("sample_share");
    let toml = match info.name {
        "integrated" => {
            toml.lines().filter(own).collect::<Vec<_>>().join("\n") + "\nepoch_s = 1\nsample_share = 0.2\n"
        }
        _ => toml,
    };
    if info.name != "dedup" {
        // What gathers must outlive power cuts.
        case.toml = case.toml.replace("plp = false", "plp = true");
        case.loses_power = false;
    }
    case.toml = case.toml.replace("unwritten_reads = \"program\"\n", "");
    case.toml += &toml;
    match load(Some(&case.toml), "case.toml", &[]) {
        Ok(resolved) => Some(resolved),
        Err(e) if REFUSED.iter().any(|what| e.to_string().contains(what)) => None,
        Err(e) => panic!("refused: {e}\n{}", case.toml),
    }
}
