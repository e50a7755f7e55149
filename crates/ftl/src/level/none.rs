//! None: wear is evened out only by opening the least erased free block.
//!
//! Parameters: none. Cost: none. Memory: none.

use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo::plain("none", "no moves for the sake of wear");
