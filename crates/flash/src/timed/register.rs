//! Cache commands: a second register in each die lets a transfer overlap the array's work on the next or last page.
//!
//! - Cache read: the pages that the array has read move to the cache register and leave from there while the array
//!   reads on. Only reads may start meanwhile; a completed read waits until the register is free.
//! - Cache program: once the array has its data, the register loads those of the next program, if it is of the same
//!   class. The content of the register is programmed next, even if a preferred operation arrives in between.

use super::die::{Active, Register, Stage};
use super::queue::{Kind, Op};
use super::schedule::Schedule;

impl Schedule {
    /// Sends the data that the array has read.
    pub fn array_has_read(&mut self, die: usize, now: u64) {
        if self.recording {
            self.record_read(die, self.dies[die].array_from, now);
        }
        if self.settings.commands.cache_read {
            return self.hand_to_register(die, now);
        }
        let d = &mut self.dies[die];
        d.active.stage = Stage::Sending;
        d.array_from = now;
        let class = d.active.class;
        self.dies[die].array_at = self.send(die, class, now, now);
        self.arm(die);
    }

    /// Moves the data that the array has read to the register, which sends them.
    pub fn hand_to_register(&mut self, die: usize, now: u64) {
        let d = &mut self.dies[die];
        d.array_from = now;
        if matches!(d.register, Register::Out { .. }) {
            d.active.stage = Stage::Holding;
            d.array_at = u64::MAX;
            self.arm(die);
            return;
        }
        self.send_from_register(die, now);
    }

    /// Loads the pages that the array has read into the register: the array may read on, the pages leave.
    fn send_from_register(&mut self, die: usize, now: u64) {
        let d = &mut self.dies[die];
        let (class, ready_ns) = (d.active.class, d.array_from);
        d.register = Register::Out { class, left: d.active.n, ready_ns };
        d.register_at = u64::MAX;
        self.end_piece(die, now);
        // The command of the next read comes before the data leave.
        self.start(die, now);
        self.dies[die].register_at = self.send(die, class, ready_ns, now);
        self.arm(die);
    }

    /// Handles an event of the register.
    pub fn register_event(&mut self, die: usize, now: u64) {
        self.dies[die].register_at = u64::MAX;
        match self.dies[die].register {
            Register::Out { class, left, ready_ns } => {
                if left > 1 {
                    self.dies[die].register = Register::Out { class, left: left - 1, ready_ns };
                    self.complete(die, class, now);
                    self.dies[die].register_at = self.send(die, class, ready_ns, now);
                } else {
                    self.dies[die].register = Register::Free;
                    if self.recording {
                        self.record_register_free(die, now, self.dies[die].active.stage == Stage::Holding);
                    }
                    self.complete(die, class, now);
                    match self.dies[die].active.stage {
                        Stage::Holding => self.send_from_register(die, now),
                        Stage::Idle => self.start(die, now),
                        _ => {}
                    }
                }
            }
            Register::Free => self.load(die, now),
            Register::In { .. } => {}
        }
        self.arm(die);
    }

    /// Handles an operation issued while the die is busy: it may be the program whose data can be loaded.
    pub fn load_if_allowed(&mut self, die: usize, now: u64) {
        let d = &mut self.dies[die];
        let free = matches!(d.register, Register::Free) && d.register_at == u64::MAX;
        if self.settings.commands.cache_program && free && now >= d.array_from {
            d.register_at = now;
            self.arm(die);
        }
    }

    /// Loads the data of the next program, if one is next.
    fn load(&mut self, die: usize, now: u64) {
        let active = self.dies[die].active;
        if active.stage != Stage::Working || active.kind != Kind::Program {
            return;
        }
        let Some(class) = self.choose(die, false) else { return };
        let Some(&Op { kind, job, .. }) = self.dies[die].queues[class as usize].waiting(0) else { return };
        if class != active.class || kind != Kind::Program {
            return;
        }
        let n = self.together(die, class);
        let program_ns = self.take(die, class, n, now);
        let p = &self.settings.phases;
        let each = p.command_ns + p.transfer_ns;
        self.book(class, n, each, program_ns);
        let first = self.dies[die].queues[class as usize].started() - n as usize;
        let (_, ready_ns) = self.channel(die, (class, first, n), now, u64::from(n) * each);
        self.counts.cache_programs += u64::from(n);
        self.dies[die].register = Register::In { class, n, job, ready_ns, program_ns };
    }

    /// Starts the program whose data are in the register, now that the array is free.
    pub fn program_loaded(&mut self, die: usize, now: u64) {
        let d = &mut self.dies[die];
        let Register::In { class, n, job, ready_ns, program_ns } = d.register else { return };
        let from = now.max(ready_ns);
        self.times[class as usize].die_wait_ns += u64::from(n) * (from - ready_ns);
        #[cfg(test)]
        d.queues[class as usize].start_anew(n as usize, now);
        d.active = Active { stage: Stage::Working, class, kind: Kind::Program, job, n };
        d.started_ns = now;
        d.array_from = from;
        d.array_at = from + program_ns;
        d.reads_passed = 0;
        d.register = Register::Free;
        d.register_at = from;
        if self.recording {
            self.record_cache_program(die, ready_ns, from);
        }
        self.arm(die);
    }
}
