//! A separator from outside (`floatgate-plugin`): hands it pages and blocks, keeps its state as bytes, and checks its
//! answers. Its first calls are made twice (`window`).

mod window;

use super::last_writes::LastWrites;
use super::separator::{Moved, Needs, Reclaimed, Separator, Shape, Written};
use crate::faults::Faults;
use floatgate_base::{ChosenPolicy, Lpn, PolicyInfo, StreamId};
use floatgate_plugin::contract::{self, FAILED, Move, Write, needs};
use floatgate_plugin::{Chosen, Kept, Plugin, SlotKind};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use window::{Call, Window};

/// Stands for all separators from outside; each has a row of its own ([`Plugin::info`]).
pub const INFO: PolicyInfo = PolicyInfo::plain("plugin", "a separator from outside");

/// A loaded separator with the values of its parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Params {
    chosen: Chosen,
    streams: u32,
}

impl Params {
    /// Returns the separator with its settings, if it is one from outside.
    ///
    /// # Errors
    /// It states no valid number of streams.
    pub fn loaded(settings: &ChosenPolicy) -> Option<Result<Self, floatgate_plugin::Refused>> {
        let chosen = Chosen::of(settings, SlotKind::Separator)?;
        Some(chosen.plugin.streams(chosen.values).map(|streams| Self { chosen, streams }))
    }

    /// Returns the loaded separator.
    pub fn plugin(self) -> &'static Plugin {
        self.chosen.plugin
    }

    pub fn streams(self) -> u32 {
        self.streams
    }

    /// Returns all that it requires of a workload.
    pub fn needs(self) -> impl Iterator<Item = Needs> {
        let flags = self.chosen.plugin.policy.needs;
        let known = [
            (needs::CONTEXTS, Needs::Contexts),
            (needs::STREAMS, Needs::HostStreams),
            (needs::HANDLES, Needs::Streams),
        ];
        known.into_iter().filter(move |(flag, _)| flags & flag != 0).map(|(_, need)| need)
    }
}

/// A separator at work.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct State {
    kept: Kept,
    streams: u32,
    /// The last write of each page, if the separator needs ages.
    written: Option<LastWrites>,
    faults: Faults,
    /// The first calls, until they have been repeated.
    window: RefCell<Option<Window>>,
    /// Whether there is a window: most calls pass after it, and go straight to the policy.
    is_recording: Cell<bool>,
}

/// What a snapshot stores.
#[derive(Serialize, Deserialize)]
struct Saved {
    kept: Kept,
    written: Option<LastWrites>,
}

impl From<State> for Saved {
    fn from(State { kept, streams: _, written, faults: _, window: _, is_recording: _ }: State) -> Self {
        Self { kept, written }
    }
}

impl TryFrom<Saved> for State {
    type Error = String;

    fn try_from(Saved { kept, written }: Saved) -> Result<Self, String> {
        if kept.plugin.kind != SlotKind::Separator {
            return Err(format!("its separator '{}' is another kind of policy", kept.plugin.info.name));
        }
        let streams = kept.plugin.streams(kept.values).map_err(|refused| refused.what)?;
        Ok(Self {
            kept,
            streams,
            written,
            faults: Faults::default(),
            window: RefCell::default(),
            is_recording: Cell::new(false),
        })
    }
}

/// Describes a drive in the terms of the contract.
fn shape_of_c(shape: &Shape) -> contract::Shape {
    contract::Shape {
        size: size_of::<contract::Shape>() as u32,
        logical_pages: shape.logical_pages,
        pages_per_block: shape.pages_per_unit,
        blocks: shape.units,
        domains: shape.domains,
        page_bytes: shape.page_bytes,
        seed: shape.seed,
    }
}

impl State {
    pub fn new(params: &Params, shape: &Shape) -> Self {
        let Params { chosen, streams } = *params;
        let faults = Faults::default();
        let (kept, fault) = Kept::begin(chosen, &shape_of_c(shape));
        if let Some(fault) = fault {
            faults.report(fault);
        }
        let wants_ages = chosen.plugin.policy.needs & needs::AGES != 0;
        let written = wants_ages.then(|| LastWrites::new(shape.logical_pages));
        let window = RefCell::new(Some(Window::new(&kept)));
        Self { kept, streams, written, faults, window, is_recording: Cell::new(true) }
    }

    /// Returns the answer as a stream; the first one stands in for what is none.
    #[inline(always)]
    fn checked(&self, answer: u32, function: &str, page: Lpn, now: u64) -> StreamId {
        if answer < self.streams { StreamId(answer) } else { self.refuse(answer, function, page, now) }
    }

    #[cold]
    fn refuse(&self, answer: u32, function: &str, page: Lpn, now: u64) -> StreamId {
        let (plugin, streams) = (self.kept.plugin, self.streams);
        let when = format!("for page {page} after {now} host page writes");
        self.faults.report(if answer == FAILED {
            plugin.failed(function, &when)
        } else {
            let name = plugin.info.name;
            format!("policy '{name}' put a page into stream {answer} of {streams} in {function}, {when}")
        });
        StreamId(0)
    }

    /// Makes a call and records it while the window lasts.
    #[cold]
    fn recorded(&self, call: &Call, state: *mut c_void) -> u32 {
        // SAFETY: the policy began with this state and these values.
        let answer = unsafe { call.make(self.kept.plugin, self.kept.values, state) };
        self.record(call, answer);
        answer
    }

    #[cold]
    fn record(&self, call: &Call, answer: u32) {
        let mut window = self.window.borrow_mut();
        let Some(recorded) = &mut *window else { return };
        if answer == FAILED {
            *window = None;
            self.is_recording.set(false);
            return;
        }
        if recorded.record(*call, answer)
            && let Some(difference) = recorded.repeat(&self.kept)
        {
            let name = self.kept.plugin.info.name;
            self.faults.report(format!(
                "policy '{name}' is not deterministic: {difference}; all that it remembers must lie in its state"
            ));
        }
        if recorded.is_full() {
            *window = None;
            self.is_recording.set(false);
        }
    }

    /// Makes a call that returns nothing else than whether it failed.
    fn note(&mut self, call: &Call, now: u64) {
        let state = self.kept.at();
        let answer = if self.is_recording.get() {
            self.recorded(call, state)
        } else {
            // SAFETY: the policy began with this state and these values.
            unsafe { call.make(self.kept.plugin, self.kept.values, state) }
        };
        if answer == FAILED {
            self.note_failure(call.function(), now);
        }
    }

    #[cold]
    fn note_failure(&self, function: &str, now: u64) {
        let when = format!("after {now} host page writes");
        self.faults.report(self.kept.plugin.failed(function, &when));
    }

    fn page_of_c(&self, page: &Moved) -> Move {
        Move {
            size: size_of::<Move>() as u32,
            page: page.lpn.0,
            from: page.from.0,
            age: self.written.as_ref().map_or(0, |written| written.age(page.lpn, page.now)),
            now: page.now,
        }
    }
}

impl Separator for State {
    #[inline(always)]
    fn write(&mut self, page: &Written) -> StreamId {
        let page_of_c = Write {
            size: size_of::<Write>() as u32,
            page: page.lpn.0,
            update: page.update.into(),
            context: page.hints.context,
            handle: page.hints.handle,
            request_pages: page.hints.request_pages,
            age: self.written.as_mut().map_or(0, |written| written.renew(page.lpn, page.now)),
            reserved: 0,
            now: page.now,
        };
        let state = self.kept.at();
        let answer = match self.kept.plugin.policy.write {
            // SAFETY: the policy began with this state and these values; the page lives through the call.
            Some(write) if !self.is_recording.get() => unsafe {
                write(&raw const page_of_c, self.kept.values_at(), state)
            },
            _ => self.recorded(&Call::Write(page_of_c), state),
        };
        self.checked(answer, "write", page.lpn, page.now)
    }

    #[inline(always)]
    fn move_stream(&self, page: &Moved) -> StreamId {
        // The contract lets this function only read the state.
        let state: *mut c_void = self.kept.read_at().cast_mut();
        let page_of_c = self.page_of_c(page);
        let answer = match self.kept.plugin.policy.move_stream {
            // SAFETY: as in `write`.
            Some(stream) if !self.is_recording.get() => unsafe {
                stream(&raw const page_of_c, self.kept.values_at(), state.cast_const())
            },
            _ => self.recorded(&Call::MoveStream(page_of_c), state),
        };
        self.checked(answer, "move", page.lpn, page.now)
    }

    #[inline(always)]
    fn moved(&mut self, page: &Moved, stream: StreamId) {
        let Some(moved) = self.kept.plugin.policy.moved else { return };
        let page_of_c = self.page_of_c(page);
        if self.is_recording.get() {
            return self.note(&Call::Moved(page_of_c, stream.0), page.now);
        }
        let (values, state) = (self.kept.values_at(), self.kept.at());
        // SAFETY: as in `write`.
        if unsafe { moved(&raw const page_of_c, stream.0, values, state) } == FAILED {
            self.note_failure("moved", page.now);
        }
    }

    fn trimmed(&mut self, lpn: Lpn, now: u64) {
        if self.kept.plugin.policy.trimmed.is_some() {
            self.note(&Call::Trimmed(lpn.0, now), now);
        }
    }

    fn reclaimed(&mut self, block: &Reclaimed) {
        if self.kept.plugin.policy.reclaimed.is_none() {
            return;
        }
        let block_of_c = contract::Reclaimed {
            size: size_of::<contract::Reclaimed>() as u32,
            stream: block.stream.0,
            opened_at: block.opened_at,
            now: block.now,
        };
        self.note(&Call::Reclaimed(block_of_c), block.now);
    }

    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        if let Some(written) = &self.written {
            written.prefetch(lpn);
        }
    }

    fn code(&self) -> Option<String> {
        Some(self.kept.plugin.code())
    }

    fn fits(&self, shape: &Shape) -> bool {
        let ages = self.kept.plugin.policy.needs & needs::AGES != 0;
        let pages = u64::from(shape.logical_pages);
        self.kept.fits(&shape_of_c(shape))
            && self.written.as_ref().map(LastWrites::bytes) == ages.then_some(4 * pages)
    }

    fn fault(&self) -> Option<&'static str> {
        self.faults.first()
    }

    fn memory_bytes(&self) -> u64 {
        self.kept.bytes() + self.written.as_ref().map_or(0, LastWrites::bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SLOT, test_shape};
    use super::*;
    use floatgate_plugin::contract::{Policy, Shape as ShapeOfC};

    const STREAMS: u32 = 2;

    unsafe extern "C" fn state_bytes(shape: *const ShapeOfC, _: *const f64) -> u64 {
        // SAFETY: the engine passes a shape.
        unsafe { u64::from((*shape).logical_pages) }
    }

    /// A state from a file is sound unless its first byte is 9.
    unsafe extern "C" fn check(_: *const ShapeOfC, _: *const f64, state: *const c_void) -> u32 {
        // SAFETY: the engine passes a state of `state_bytes`.
        if unsafe { *state.cast::<u8>() } == 9 { FAILED } else { 0 }
    }

    unsafe extern "C" fn streams(_: *const f64) -> u32 {
        STREAMS
    }

    /// Counts the writes of a page; the second one and later ones go to the second stream.
    unsafe extern "C" fn write(page: *const Write, _: *const f64, state: *mut c_void) -> u32 {
        // SAFETY: the engine passes a page of the drive and a state of `state_bytes`.
        unsafe {
            let writes = &mut *state.cast::<u8>().add((*page).page as usize);
            *writes += 1;
            u32::from(*writes > 1)
        }
    }

    unsafe extern "C" fn move_stream(page: *const Move, _: *const f64, _: *const c_void) -> u32 {
        // SAFETY: the engine passes a page.
        unsafe { (*page).from }
    }

    fn params() -> Params {
        let policy = Policy {
            slot: c"ftl.separate".as_ptr(),
            name: c"of-a-unit-test".as_ptr(),
            summary: c"-".as_ptr(),
            source: c"-".as_ptr(),
            needs: needs::AGES,
            state_bytes: Some(state_bytes),
            check: Some(check),
            streams: Some(streams),
            write: Some(write),
            move_stream: Some(move_stream),
            ..Policy::EMPTY
        };
        // SAFETY: texts and functions are static.
        let plugin = unsafe { floatgate_plugin::load(&raw const policy, "hash", |_| Some(&SLOT)) };
        Params {
            chosen: Chosen { plugin: plugin.expect("the policy is sound"), values: &[] },
            streams: STREAMS,
        }
    }

    #[test]
    fn pages_reach_the_policy_and_its_state() {
        let mut state = State::new(&params(), &test_shape(100));
        let page = |lpn, now| Written { lpn: Lpn(lpn), update: false, hints: Default::default(), now };
        let streams = [(7, 0), (7, 1), (8, 2), (7, 3)].map(|(lpn, now)| state.write(&page(lpn, now)).0);
        assert_eq!(streams, [0, 1, 0, 1]);
        let moved = Moved { lpn: Lpn(7), from: StreamId(1), now: 9 };
        assert_eq!((state.move_stream(&moved), state.fault()), (StreamId(1), None));
        // 100 bytes are two lines of 64, and four bytes per page for ages.
        assert_eq!(state.memory_bytes(), 128 + 400);
    }

    #[test]
    fn a_state_from_a_file_must_be_of_the_drive_and_sound() {
        let state = State::new(&params(), &test_shape(100));
        assert!(state.fits(&test_shape(100)));
        // As many lines, but other ages; then more lines.
        assert!(!state.fits(&test_shape(101)));
        assert!(!state.fits(&test_shape(200)));
        let mut damaged = State::new(&params(), &test_shape(100));
        // SAFETY: the state has 100 bytes.
        unsafe { *damaged.kept.at().cast::<u8>() = 9 };
        assert!(!damaged.fits(&test_shape(100)));
    }
}
