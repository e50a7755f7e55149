//! First come, first served: no write is said to belong to another.
//!
//! Parameters: none. Cost: none. Memory: none.

use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo =
    PolicyInfo::plain("fcfs", "writes go where they come, in the order in which they arrive");
