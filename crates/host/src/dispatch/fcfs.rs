//! First come, first served: no write is labelled.
//!
//! Parameters: none. Cost: none. Memory: none.

use floatgate_base::PolicyInfo;

pub const INFO: PolicyInfo = PolicyInfo::plain("fcfs", "writes are placed in arrival order");
