//! A throttle for floatgate: docs/own-policies.md explains what it sees.

#[allow(dead_code)]
mod contract;

use contract::{Epoch, Kind, Param, Policy};
use std::ffi::c_void;

/// Returns the delay of every page write of an epoch, seconds.
unsafe extern "C" fn delay(epoch: *const Epoch, params: *const f64, _: *mut c_void) -> f64 {
    // SAFETY: the contract promises the epoch and the parameter for the length of the call.
    let (epoch, share) = unsafe { (&*epoch, *params) };
    if epoch.demand_bytes <= epoch.capacity_bytes {
        return 0.0;
    }
    share * epoch.length_s / (epoch.capacity_bytes / epoch.page_write_bytes).max(1.0)
}

static PARAMS: Fixed<[Param; 1]> = Fixed([Param {
    name: c"share".as_ptr(),
    summary: c"share of the epoch over which the writes are spread".as_ptr(),
    kind: Kind::Real as u32,
    reserved: 0,
    value: 1.0,
    least: 0.0,
    most: 1.0,
}]);

static POLICY: Fixed<Policy> = Fixed(Policy {
    slot: c"lifetime.throttle".as_ptr(),
    name: c"NAME".as_ptr(),
    summary: c"page writes are spread over an epoch that is likely to exceed its capacity".as_ptr(),
    source: c"-".as_ptr(),
    params: PARAMS.0.as_ptr(),
    params_len: 1,
    delay: Some(delay),
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
