//! None: writes are never held back.
//!
//! Parameters: none. Cost: none. Memory: none.

use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "writes are never held back",
    source: "-",
    params: &[],
    cost: "none",
    memory: "none",
};
