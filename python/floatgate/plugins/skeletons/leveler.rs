//! A wear-leveler for floatgate: docs/own-policies.md explains what it sees.

#[allow(dead_code)]
mod contract;

use contract::{Kind, NONE, Param, Policy, Wear};
use std::ffi::c_void;

/// Returns the block whose data should move into the most worn free block: the least erased one, if its data are cold
/// and the erases of both are far apart.
unsafe extern "C" fn job(wear: *const Wear, params: *const f64, _: *mut c_void) -> u32 {
    // SAFETY: the contract promises the tables and both parameters for the length of the call.
    unsafe {
        let (wear, block) = (&*wear, (*wear).least_erased);
        if block == NONE || wear.most_worn_free == NONE {
            return NONE;
        }
        let age = (wear.now - *wear.closed_at.add(block as usize)) as f64;
        let apart = f64::from(wear.most_worn_free) - f64::from(*wear.erases.add(block as usize));
        let is_cold = age >= *params.add(1) * f64::from(wear.logical_pages);
        if is_cold && apart > *params { block } else { NONE }
    }
}

static PARAMS: Fixed<[Param; 2]> = Fixed([
    Param {
        name: c"apart".as_ptr(),
        summary: c"erases that may lie between both blocks".as_ptr(),
        kind: Kind::Whole as u32,
        reserved: 0,
        value: 20.0,
        least: 1.0,
        most: 1e6,
    },
    Param {
        name: c"cold".as_ptr(),
        summary: c"drive writes that data must outlive to be cold".as_ptr(),
        kind: Kind::Real as u32,
        reserved: 0,
        value: 1.0,
        least: 0.0,
        most: 1000.0,
    },
]);

static POLICY: Fixed<Policy> = Fixed(Policy {
    slot: c"ftl.level".as_ptr(),
    name: c"NAME".as_ptr(),
    summary: c"cold data of the least erased block move into the most worn free block".as_ptr(),
    source: c"-".as_ptr(),
    params: PARAMS.0.as_ptr(),
    params_len: 2,
    job: Some(job),
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
