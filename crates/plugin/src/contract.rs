//! The contract of policies from outside, in the types of C.
//!
//! A policy is a `Policy` that lives as long as the process. Structs grow at their end only, and their `size` tells a
//! policy how much of them this floatgate fills; anything else is a new version. `floatgate policy header` makes the
//! header of this text, so its forms stay as plain as they are.

use std::ffi::{c_char, c_void};
use std::ptr::null;

/// This text.
pub const TEXT: &str = include_str!("contract.rs");

/// The version of this contract.
pub const VERSION: u32 = 1;
/// The answer of `pick` where collection gains nothing, and the end of a list of units.
pub const NONE: u32 = u32::MAX;
/// The answer of a call that failed. The run ends with an error that names the policy and the call.
pub const FAILED: u32 = u32::MAX - 1;
/// The answer of `review` where the victim is collected.
pub const COLLECT: u32 = u32::MAX;
/// The answer of `review` where another victim is to be chosen.
pub const PASS_OVER: u32 = u32::MAX - 2;
/// The most parameters of a policy.
pub const PARAMS_MAX: u32 = 64;
/// The most streams of a separator.
pub const STREAMS_MAX: u32 = 256;

/// Kinds of parameters; all values are passed as `double`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// A whole number.
    Whole = 0,
    /// A number.
    Real = 1,
    /// 0 or 1.
    Flag = 2,
}

/// Orders of the closed blocks that a victim policy can be given. Each costs what it lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Order {
    /// In no order: `any`. Memory: 4 bytes per block.
    Any = 0,
    /// In the order of closing: `first` and `links`. Memory: 8 bytes per block.
    Closing = 1,
    /// The block with the fewest valid pages: `first`. Memory: 12 bytes per block.
    Valid = 2,
    /// For each number of valid pages, the block that was closed first: `oldest`. Memory: 24 bytes per block.
    ValidAndAge = 3,
    /// For each number of valid pages, the block that lost no page for longest: `oldest` and `nodes`. Memory: 24 bytes
    /// per block.
    ValidAndIdleAge = 4,
}

/// What a policy needs of the workload or of the mechanism; flags of [`Policy::needs`]. The first three are for
/// separators, the others for throttles.
pub mod needs {
    /// The program context of each request: a workload without is refused.
    pub const CONTEXTS: u32 = 1;
    /// The stream or placement handle of each request: a workload without is refused.
    pub const HANDLES: u32 = 2;
    /// [`Write::age`](super::Write::age) and [`Move::age`](super::Move::age). Memory: 4 bytes per page.
    pub const AGES: u32 = 4;
    /// The stream or placement handle that the host gave each request: a workload is refused without, even if it names
    /// processes, which are handles otherwise.
    pub const STREAMS: u32 = 32;
    /// The budget counts on recovery; else it is that of the nominal cycles.
    pub const RECOVERY: u32 = 8;
    /// Epochs may borrow from later ones (READY's optimistic regulator); else none may (the pessimistic one).
    pub const BORROWING: u32 = 16;
}

/// The shape of a drive. For throttles all but `page_bytes` is 0.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Shape {
    /// Bytes of this struct.
    pub size: u32,
    /// Pages that the host sees; 0 for wear-levelers.
    pub logical_pages: u32,
    /// Pages of a block (superblock).
    pub pages_per_block: u32,
    /// Blocks (superblocks) of the drive.
    pub blocks: u32,
    /// Domains (planes), which allocate and collect independently.
    pub domains: u32,
    /// Bytes of a page; 0 for wear-levelers.
    pub page_bytes: u32,
    /// Seed of the run; 0 for wear-levelers.
    pub seed: u64,
}

/// A parameter. Texts are UTF-8 and end with 0.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Param {
    /// Its key in the table of the slot.
    pub name: *const c_char,
    /// Meaning and unit.
    pub summary: *const c_char,
    /// A [`Kind`].
    pub kind: u32,
    /// Not used.
    pub reserved: u32,
    /// Its default.
    pub value: f64,
    /// Its minimum.
    pub least: f64,
    /// Its maximum.
    pub most: f64,
}

/// Valid pages of a block, and a word of the mechanism.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Valid {
    /// Its valid pages.
    pub valid: u32,
    /// The mechanism's.
    pub reserved: u32,
}

/// A node of a block in the order [`Order::ValidAndIdleAge`].
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Node {
    /// Host page writes when the block last lost a page, or when it was closed.
    pub since: u64,
    /// The mechanism's.
    pub reserved: [u32; 4],
}

/// The closed blocks of a domain, for [`Policy::pick`]. Tables are indexed by the number of a block of the drive.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Blocks {
    /// Bytes of this struct.
    pub size: u32,
    /// The domain to choose in.
    pub domain: u32,
    /// The first of its blocks.
    pub first_block: u32,
    /// The number of its blocks.
    pub blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// By order: the block closed first, or the one with the fewest valid pages; `NONE` without one.
    pub first: u32,
    /// Entries of `any`.
    pub any_len: u32,
    /// Blocks of the drive: the length of tables by block.
    pub drive_blocks: u32,
    /// Host page writes so far.
    pub now: u64,
    /// A random number, another one for each call.
    pub random: u64,
    /// Valid pages by block.
    pub valid: *const Valid,
    /// Erases by block.
    pub erases: *const u32,
    /// Host page writes when the block was closed, by block.
    pub closed_at: *const u64,
    /// By block, in the order of closing: the one before and the one behind; `NONE` at the ends.
    pub links: *const [u32; 2],
    /// By number of valid pages from 0 to `pages_per_block`: the oldest block; `NONE` without one.
    pub oldest: *const u32,
    /// By block, where idle ages count.
    pub nodes: *const Node,
    /// The closed blocks in no order.
    pub any: *const u32,
}

/// A page that the host writes.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Write {
    /// Bytes of this struct.
    pub size: u32,
    /// Logical page number.
    pub page: u32,
    /// 1 if the page held data, which die now.
    pub update: u32,
    /// Program context; 0 if unknown.
    pub context: u32,
    /// Stream or placement handle of the host; 0 without one.
    pub handle: u32,
    /// Pages of its request.
    pub request_pages: u32,
    /// With [`needs::AGES`]: host page writes since the page was last written, modulo 2^32.
    pub age: u32,
    /// Not used.
    pub reserved: u32,
    /// Host page writes before this one.
    pub now: u64,
}

/// A live page that leaves a block which is being emptied.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Move {
    /// Bytes of this struct.
    pub size: u32,
    /// Logical page number.
    pub page: u32,
    /// The stream of the block that it leaves.
    pub from: u32,
    /// With [`needs::AGES`]: host page writes since the page was last written, modulo 2^32.
    pub age: u32,
    /// Host page writes so far.
    pub now: u64,
}

/// A block without live pages that is about to be erased.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Reclaimed {
    /// Bytes of this struct.
    pub size: u32,
    /// The stream for which it was opened.
    pub stream: u32,
    /// Host page writes when it was opened.
    pub opened_at: u64,
    /// Host page writes so far.
    pub now: u64,
}

/// The blocks of a domain, for wear-levelers. Tables are indexed by the number of a block of the drive.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Wear {
    /// Bytes of this struct.
    pub size: u32,
    /// The domain.
    pub domain: u32,
    /// The first of its blocks.
    pub first_block: u32,
    /// The number of its blocks.
    pub blocks: u32,
    /// Pages of a block.
    pub pages_per_block: u32,
    /// Blocks of the drive: the length of tables by block.
    pub drive_blocks: u32,
    /// Pages that the host sees.
    pub logical_pages: u32,
    /// The closed block with the fewest erases; `NONE` without one.
    pub least_erased: u32,
    /// Erases of the most worn free block; `NONE` without one, and in `review`.
    pub most_worn_free: u32,
    /// 1 where `review` may answer `PASS_OVER`.
    pub may_pass: u32,
    /// Entries of `closed`.
    pub closed_len: u32,
    /// Not used.
    pub reserved: u32,
    /// Host page writes so far.
    pub now: u64,
    /// A random number, another one for each call of `review`; 0 in other calls.
    pub random: u64,
    /// Mean erases of the blocks of the domain.
    pub mean_erases: f64,
    /// Valid pages by block.
    pub valid: *const Valid,
    /// Erases by block, since counting began.
    pub erases: *const u32,
    /// Host page writes when the block was closed, by block.
    pub closed_at: *const u64,
    /// The closed blocks of the domain in no order.
    pub closed: *const u32,
}

/// An epoch of a throttle that is about to begin. Bytes are those of flash.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Epoch {
    /// Bytes of this struct.
    pub size: u32,
    /// Not used.
    pub reserved: u32,
    /// Epochs before this one, at least 1: the first one has no delay.
    pub number: u64,
    /// Its beginning, seconds of the life.
    pub start_s: f64,
    /// Its length, seconds.
    pub length_s: f64,
    /// The target life, seconds.
    pub target_s: f64,
    /// Bytes that the rest of the life may write.
    pub left_bytes: f64,
    /// Bytes that this epoch may write.
    pub capacity_bytes: f64,
    /// Bytes beyond these that it may borrow from later epochs.
    pub spare_bytes: f64,
    /// Its predicted demand; negative without a prediction.
    pub demand_bytes: f64,
    /// Bytes of one page write of the host.
    pub page_write_bytes: f64,
    /// Bytes that the epoch before has written.
    pub last_bytes: f64,
    /// Bytes that it was allowed.
    pub last_capacity_bytes: f64,
    /// Its length, seconds.
    pub last_length_s: f64,
    /// Time for which a writer waited in it for capacity, seconds.
    pub last_waited_s: f64,
    /// Delay of its page writes, seconds.
    pub last_delay_s: f64,
}

/// Returns the bytes of state that a policy keeps for a drive. Called once per drive.
pub type StateBytes = unsafe extern "C" fn(shape: *const Shape, params: *const f64) -> u64;
/// Fills the state, which is all zero, and aligned to 64 bytes; returns 0, or `FAILED`.
pub type Begin = unsafe extern "C" fn(shape: *const Shape, params: *const f64, state: *mut c_void) -> u32;
/// Checks a state that comes from a file and has the bytes of `StateBytes`; returns 0, or `FAILED` if it is not one that
/// this policy has made. What the state holds may be anything.
pub type Check = unsafe extern "C" fn(shape: *const Shape, params: *const f64, state: *const c_void) -> u32;
/// Returns the number of streams, from 1 to 256.
pub type Streams = unsafe extern "C" fn(params: *const f64) -> u32;
/// Returns the block to collect next, `NONE` or `FAILED`.
pub type Pick = unsafe extern "C" fn(blocks: *const Blocks, params: *const f64) -> u32;
/// Returns the stream of a page that the host writes, or `FAILED`. Called once per page, in order.
pub type OnWrite = unsafe extern "C" fn(page: *const Write, params: *const f64, state: *mut c_void) -> u32;
/// Returns the stream of a page if it moves now, or `FAILED`. May be called more than once before `moved`.
pub type MoveStream =
    unsafe extern "C" fn(page: *const Move, params: *const f64, state: *const c_void) -> u32;
/// Notes that a page moves to a stream; returns 0, or `FAILED`.
pub type OnMoved =
    unsafe extern "C" fn(page: *const Move, stream: u32, params: *const f64, state: *mut c_void) -> u32;
/// Notes that the host trims a page that held data; returns 0, or `FAILED`.
pub type OnTrimmed = unsafe extern "C" fn(page: u32, now: u64, params: *const f64, state: *mut c_void) -> u32;
/// Notes that a block is about to be erased; returns 0, or `FAILED`.
pub type OnReclaimed =
    unsafe extern "C" fn(block: *const Reclaimed, params: *const f64, state: *mut c_void) -> u32;
/// Returns the fate of a victim before it is collected: `COLLECT`, `PASS_OVER`, the number of a closed block of the
/// domain whose data move into the victim once it is erased, or `FAILED`.
pub type Review =
    unsafe extern "C" fn(wear: *const Wear, victim: u32, params: *const f64, state: *mut c_void) -> u32;
/// Returns a closed block of the domain whose data should move into the most worn free block, `NONE` or `FAILED`. Called
/// after each erase in the domain.
pub type Job = unsafe extern "C" fn(wear: *const Wear, params: *const f64, state: *mut c_void) -> u32;
/// Returns 1 if the move of a block that `job` has returned must not wait for idle time, else 0, or `FAILED`.
pub type Urgent =
    unsafe extern "C" fn(wear: *const Wear, block: u32, params: *const f64, state: *mut c_void) -> u32;
/// Notes the `erases`th erase of a block since counting began; returns 0, or `FAILED`.
pub type OnErased =
    unsafe extern "C" fn(block: u32, erases: u32, params: *const f64, state: *mut c_void) -> u32;
/// Notes that a block was closed, or that a closed one will be emptied; returns 0, or `FAILED`.
pub type OnBlock =
    unsafe extern "C" fn(domain: u32, block: u32, params: *const f64, state: *mut c_void) -> u32;
/// Notes a host read of a page (from 0) of a block; returns 0, or `FAILED`.
pub type OnRead = unsafe extern "C" fn(block: u32, page: u32, params: *const f64, state: *mut c_void) -> u32;
/// Notes that the erases of all blocks have changed at once: counting began anew, a drive was restored, or wear was
/// extrapolated; returns 0, or `FAILED`.
pub type OnRecounted = unsafe extern "C" fn(
    erases: *const u32,
    drive_blocks: u32,
    params: *const f64,
    state: *mut c_void,
) -> u32;
/// Returns by how many erases a block may be ahead of the mean of its domain before the wear-leveler acts, above 0;
/// negative if its rule has no such bound, NaN if the call failed. Forecasts of the first worn block go by it.
pub type LeadMax = unsafe extern "C" fn(params: *const f64) -> f64;
/// Returns the delay of every page write of an epoch, seconds: a number from 0 on. Anything else is a failure.
pub type Delay = unsafe extern "C" fn(epoch: *const Epoch, params: *const f64, state: *mut c_void) -> f64;
/// Says why the last call of this thread failed; null if unknown. The text lasts until the next call.
pub type Explain = unsafe extern "C" fn() -> *const c_char;

/// A policy. Functions that its slot does not have, or that it does not want, are null.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Policy {
    /// [`VERSION`].
    pub version: u32,
    /// Bytes of this struct.
    pub size: u32,
    /// The key of the slot, such as `ftl.collect`.
    pub slot: *const c_char,
    /// Its name, as in an experiment.
    pub name: *const c_char,
    /// What it does.
    pub summary: *const c_char,
    /// Its source in the literature, or `-`.
    pub source: *const c_char,
    /// Its parameters.
    pub params: *const Param,
    /// Number of its parameters.
    pub params_len: u32,
    /// Victim policies: an [`Order`].
    pub order: u32,
    /// Separators and throttles: flags of [`needs`].
    pub needs: u32,
    /// Not used.
    pub reserved: u32,
    /// All but victim policies.
    pub state_bytes: Option<StateBytes>,
    /// All but victim policies.
    pub begin: Option<Begin>,
    /// All but victim policies.
    pub check: Option<Check>,
    /// Separators; required.
    pub streams: Option<Streams>,
    /// Victim policies; required.
    pub pick: Option<Pick>,
    /// Separators; required.
    pub write: Option<OnWrite>,
    /// Separators; required.
    pub move_stream: Option<MoveStream>,
    /// Separators.
    pub moved: Option<OnMoved>,
    /// Separators.
    pub trimmed: Option<OnTrimmed>,
    /// Separators.
    pub reclaimed: Option<OnReclaimed>,
    /// Wear-levelers; they have this or `job`, or both.
    pub review: Option<Review>,
    /// Wear-levelers.
    pub job: Option<Job>,
    /// Wear-levelers.
    pub urgent: Option<Urgent>,
    /// Wear-levelers.
    pub erased: Option<OnErased>,
    /// Wear-levelers.
    pub closed: Option<OnBlock>,
    /// Wear-levelers.
    pub emptying: Option<OnBlock>,
    /// Wear-levelers; makes reads slower.
    pub read: Option<OnRead>,
    /// Wear-levelers.
    pub recounted: Option<OnRecounted>,
    /// Wear-levelers.
    pub lead_max: Option<LeadMax>,
    /// Throttles; required.
    pub delay: Option<Delay>,
    /// Any policy.
    pub explain: Option<Explain>,
}

impl Policy {
    /// A policy without anything, of this version and size: for `..Policy::EMPTY`.
    pub const EMPTY: Self = Self {
        version: VERSION,
        size: size_of::<Self>() as u32,
        slot: null(),
        name: null(),
        summary: null(),
        source: null(),
        params: null(),
        params_len: 0,
        order: 0,
        needs: 0,
        reserved: 0,
        state_bytes: None,
        begin: None,
        check: None,
        streams: None,
        pick: None,
        write: None,
        move_stream: None,
        moved: None,
        trimmed: None,
        reclaimed: None,
        review: None,
        job: None,
        urgent: None,
        erased: None,
        closed: None,
        emptying: None,
        read: None,
        recounted: None,
        lead_max: None,
        delay: None,
        explain: None,
    };
}
