//! Suspends programs and erases to serve host reads before their end.
//!
//! A read that may start while the array programs or erases for a less preferred class suspends it. `suspend_ns` later
//! the array is free and serves reads. When no read may start any more, the work continues after `resume_ns`
//! (`service.rs`). At most
//! `reads_max` reads overtake one program or erase, which ensures its end. Work is not suspended while the cache
//! register holds the next program's data, nor if it would end before the array became free.

use super::die::{Register, Stage, Suspended};
use super::queue::Kind;
use super::schedule::Schedule;
use super::settings::Order;
use crate::Class;

impl Schedule {
    /// Handles a read issued at a busy die, or one that waits as the program of a move begins.
    pub fn suspend_if_allowed(&mut self, die: usize, now: u64) {
        let suspend = self.settings.commands.suspend;
        let d = &self.dies[die];
        let active = d.active;
        let allowed = match active.kind {
            Kind::Program | Kind::Copy => suspend.program,
            Kind::Erase => suspend.erase,
            Kind::Read => false,
        };
        let register_free = matches!(d.register, Register::Free);
        if active.stage != Stage::Working || !allowed || !register_free || d.reads_passed >= suspend.reads_max
        {
            return;
        }
        let at = now.max(d.array_from);
        if d.array_at <= at + suspend.suspend_ns || !self.reads_are_preferred(active.class) {
            return;
        }
        if !self.may_start(die, Class::Read, 0, false) {
            return;
        }
        if self.recording {
            self.record_work(die, at);
        }
        let erase = active.kind == Kind::Erase;
        *(if erase { &mut self.counts.erase_suspends } else { &mut self.counts.program_suspends }) += 1;
        let d = &mut self.dies[die];
        d.suspended = Some(Suspended { active, remaining_ns: d.array_at - at, since_ns: at });
        d.active.stage = Stage::Suspending;
        d.array_at = at + suspend.suspend_ns;
        d.register_at = u64::MAX;
        self.arm(die);
    }

    fn reads_are_preferred(&self, class: Class) -> bool {
        let Order::Priority(classes) = self.settings.order else { return false };
        let place = |wanted| classes.iter().position(|&c| c == wanted);
        place(Class::Read) < place(class)
    }

    /// Serves reads now that the array is free.
    pub fn suspended(&mut self, die: usize, now: u64) {
        self.end_piece(die, now);
        self.start(die, now);
    }
}
