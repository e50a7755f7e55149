//! None: writes are never held back.
//!
//! Parameters: none. Cost: none. Memory: none.

use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo::plain("none", "writes are never held back");
