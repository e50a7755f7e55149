//! A victim policy for floatgate: docs/own-policies.md explains what it sees.

#[allow(dead_code)]
mod contract;

use contract::{Blocks, Kind, NONE, Order, Param, Policy};

/// Returns the block to collect next, or `NONE`.
unsafe extern "C" fn pick(blocks: *const Blocks, params: *const f64) -> u32 {
    // SAFETY: the contract promises both for the length of the call, and tables by block.
    unsafe {
        let blocks = &*blocks;
        let valid = |block: u32| (*blocks.valid.add(block as usize)).valid;
        let (mut emptiest, mut block) = (blocks.first, blocks.first);
        for _ in 0..*params as u32 {
            if block == NONE {
                break;
            }
            if valid(block) < valid(emptiest) {
                emptiest = block;
            }
            block = (*blocks.links.add(block as usize))[1];
        }
        emptiest
    }
}

static PARAMS: Fixed<[Param; 1]> = Fixed([Param {
    name: c"oldest".as_ptr(),
    summary: c"blocks that are compared".as_ptr(),
    kind: Kind::Whole as u32,
    reserved: 0,
    value: 16.0,
    least: 1.0,
    most: 4096.0,
}]);

static POLICY: Fixed<Policy> = Fixed(Policy {
    slot: c"ftl.collect".as_ptr(),
    name: c"NAME".as_ptr(),
    summary: c"the emptiest of the oldest blocks".as_ptr(),
    source: c"-".as_ptr(),
    params: PARAMS.0.as_ptr(),
    params_len: 1,
    order: Order::Closing as u32,
    pick: Some(pick),
    ..Policy::EMPTY
});

/// A value with pointers to constants, which never changes.
struct Fixed<T>(T);

// SAFETY: nothing writes to it.
unsafe impl<T> Sync for Fixed<T> {}

/// Returns the policy.
#[unsafe(no_mangle)]
pub extern "C" fn floatgate_policy_v1() -> *const Policy {
    &raw const POLICY.0
}
