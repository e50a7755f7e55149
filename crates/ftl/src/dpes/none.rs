//! None: every erase is an ordinary one.
//!
//! Parameters: none. Cost: none. Memory: none.

use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo =
    PolicyInfo::plain("none", "every erase is an ordinary one, as on drives without modes");
