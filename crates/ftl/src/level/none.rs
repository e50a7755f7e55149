//! None: wear is evened out only by opening the least erased free block.
//!
//! Parameters: none. Cost: none. Memory: none.

use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo::plain("none", "no data moves to level wear");
