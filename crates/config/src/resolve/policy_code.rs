//! The policies from outside that a plan uses, as an experiment keeps them.

use crate::layers::Layers;
use crate::policy_code::KEY;
use floatgate_base::Result;
use floatgate_sim::Plan;

/// Returns the policies from outside that a plan uses, each with the hash of its file; none without any.
///
/// # Errors
/// The experiment was made with others.
pub fn of_plan(layers: &Layers, written: Option<&[String]>, plan: &Plan) -> Result<Option<Vec<String>>> {
    let setup = &plan.ftl.setup;
    let of_drive = [setup.victim.plugin(), setup.separate.plugin(), setup.level.plugin()];
    let slots = of_drive.into_iter().chain([plan.throttle.policy.plugin()]);
    let loaded = slots.flatten();
    let used: Vec<String> = loaded.map(|plugin| plugin.code()).collect();
    if written.is_some_and(|written| written != used) {
        let what = "the experiment was made with other policies, or with other code of them";
        let expected =
            "expected --policy with the files of these hashes, or no policy_code to run the present ones";
        return Err(layers.error(KEY, what, expected));
    }
    Ok((!used.is_empty()).then_some(used))
}
