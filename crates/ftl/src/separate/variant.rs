//! Two readings of a scheme: ours of its paper, and that of the simulator which the authors of SepBIT published with their
//! evaluation (https://github.com/fallfish/sepbit, commit 1e4b664). Each scheme's file says how they differ there.

use super::Given;
use floatgate_base::ParamInfo;

/// The readings with what they mean; the first is the default.
const VARIANTS: &[(&str, &str)] = &[
    ("paper", "floatgate's reading of the source"),
    ("artifact", "the rule of the public simulator of SepBIT's authors"),
];

/// The parameter that chooses one.
pub const PARAM: ParamInfo = ParamInfo::name(
    "variant",
    "whose reading of the source: paper for floatgate's, artifact for that of the public simulator of SepBIT's authors",
    VARIANTS,
);

/// Whether the simulator's rule is chosen.
pub fn is_artifact(given: &Given) -> bool {
    given.text(PARAM.name) == VARIANTS[1].0
}
