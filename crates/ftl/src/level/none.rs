//! None: wear is evened out only by opening the least erased free block.
//!
//! Parameters: none. Cost: none. Memory: none.

use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo {
    name: "none",
    summary: "no moves for the sake of wear",
    source: "-",
    params: &[],
    cost: "none",
    memory: "none",
};
