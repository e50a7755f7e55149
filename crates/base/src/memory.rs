//! Large tables with random access.

/// Allocates a table of `n` copies of `value`, on huge pages if the system grants them.
///
/// A random access to a table of hundreds of megabytes misses both the caches and the TLB. Pages of 2 MiB avoid most
/// TLB misses. The hint changes speed only.
#[must_use]
pub fn table<T: Copy>(n: usize, value: T) -> Vec<T> {
    let mut vector = Vec::with_capacity(n);
    advise_huge_pages(vector.as_mut_ptr(), n * size_of::<T>());
    vector.resize(n, value);
    vector
}

/// Allocates `n` zeros of an integer type, on huge pages if the system grants them. Memory is used only for pages that
/// are written.
#[must_use]
pub fn zeros<T: Copy + Default>(n: usize) -> Vec<T> {
    let mut vector = vec![T::default(); n];
    advise_huge_pages(vector.as_mut_ptr(), n * size_of::<T>());
    vector
}

/// Extends a table by `more` copies of `value`, on huge pages if the system grants them.
pub fn grow<T: Copy>(table: &mut Vec<T>, more: usize, value: T) {
    let n = table.len() + more;
    if n > table.capacity() {
        table.reserve(n.max(2 * table.capacity()) - table.len());
        advise_huge_pages(table.as_mut_ptr(), table.capacity() * size_of::<T>());
    }
    table.resize(n, value);
}

#[cfg(target_os = "linux")]
fn advise_huge_pages<T>(start: *mut T, bytes: usize) {
    const HUGE: usize = 2 << 20;
    let first = (start as usize).next_multiple_of(HUGE);
    let end = (start as usize + bytes) & !(HUGE - 1);
    if first < end {
        // SAFETY: the range lies inside one live allocation, and this advice never changes its content. A refusal is
        // harmless.
        unsafe { libc::madvise(first as *mut libc::c_void, end - first, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages<T>(_start: *mut T, _bytes: usize) {}
