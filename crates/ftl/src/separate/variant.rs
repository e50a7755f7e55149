//! Two readings of a scheme: ours of its paper, and that of the simulator which the authors of SepBIT published with
//! their evaluation (https://github.com/fallfish/sepbit, commit 1e4b664). Each scheme's file states the differences.

use super::ChosenPolicy;
use floatgate_base::ParamInfo;

/// The readings with descriptions; the first is the default.
const VARIANTS: &[(&str, &str)] = &[
    ("paper", "floatgate's reading of the source"),
    ("artifact", "the rule of the public simulator of SepBIT's authors"),
];

/// The parameter that selects one.
pub const PARAM: ParamInfo = ParamInfo::name(
    "variant",
    "whose reading of the source: paper for floatgate's, artifact for that of the public simulator of SepBIT's authors",
    VARIANTS,
);

/// Checks whether the simulator's rule is selected.
pub fn is_artifact(settings: &ChosenPolicy) -> bool {
    settings.text(PARAM.name) == VARIANTS[1].0
}
