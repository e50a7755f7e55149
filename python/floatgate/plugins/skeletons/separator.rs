//! A separator for floatgate: docs/own-policies.md explains what it sees.

#[allow(dead_code)]
mod contract;

use contract::{Kind, Move, Param, Policy, Shape, Write};
use std::ffi::c_void;

/// Returns the size of the state: a byte per page, how often it was written, up to 255.
unsafe extern "C" fn state_bytes(shape: *const Shape, _: *const f64) -> u64 {
    // SAFETY: the contract promises it for the length of the call.
    unsafe { (*shape).logical_pages.into() }
}

unsafe extern "C" fn streams(_: *const f64) -> u32 {
    3
}

/// Returns the stream of a page that the host writes.
unsafe extern "C" fn write(page: *const Write, params: *const f64, state: *mut c_void) -> u32 {
    // SAFETY: the contract promises all three for the length of the call, and a state of `state_bytes`.
    unsafe {
        let writes = &mut *state.cast::<u8>().add((*page).page as usize);
        *writes = writes.saturating_add(1);
        u32::from(f64::from(*writes) >= *params)
    }
}

/// Returns the stream of a live page that leaves a block.
unsafe extern "C" fn move_stream(_: *const Move, _: *const f64, _: *const c_void) -> u32 {
    2
}

static PARAMS: Fixed<[Param; 1]> = Fixed([Param {
    name: c"often".as_ptr(),
    summary: c"writes from which a page was written often".as_ptr(),
    kind: Kind::Whole as u32,
    reserved: 0,
    value: 4.0,
    least: 1.0,
    most: 255.0,
}]);

static POLICY: Fixed<Policy> = Fixed(Policy {
    slot: c"ftl.separate".as_ptr(),
    name: c"NAME".as_ptr(),
    summary: c"pages that were written often apart from others".as_ptr(),
    source: c"-".as_ptr(),
    params: PARAMS.0.as_ptr(),
    params_len: 1,
    state_bytes: Some(state_bytes),
    streams: Some(streams),
    write: Some(write),
    move_stream: Some(move_stream),
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
