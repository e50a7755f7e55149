//! SWL, static wear-leveling: blocks that were not erased for long are emptied, so that cold data move.
//!
//! Source: Chang, Hsieh and Kuo, Endurance Enhancement of Flash-Memory Storage Systems: An Efficient Static Wear Leveling
//! Design, DAC 2007, as the paper on pattern-based write scheduling uses it. A block erasing table (BET, `bet.rs`) has a flag
//! per `blocks_per_flag` blocks, set when one of them is erased. While the `ecnt` erases of this round are at least
//! `threshold` times the `fcnt` flags that are set, the blocks of the next flag from `findex` on, cyclic, that is not set are
//! emptied by ordinary collection: their pages go where the separator sends pages that move. Once all flags are set, a round
//! begins: both counts and `findex` are 0, and all flags are cleared.
//!
//! Where the papers are silent, or differ:
//! - A round begins when it is looked for the next flag and there is none: the ratio has reached `threshold` then, too.
//! - `findex` is 0 in a new round, as in the later paper; the first one draws it.
//! - The listing of the later paper does not clear the table; the text of the first one does, and so does this.
//! - Free and open blocks hold no cold data: their flag is set without an erase.
//! - Jobs may wait for idle time. The blocks of a flag are asked for once, and a flag that is asked for counts as set where
//!   the next one is due; a block that is collected meanwhile sets its flag, and the job is dropped.
//!
//! Parameters: `threshold`, `blocks_per_flag`. Cost: O(1) per erase; scans by words of 64 flags, O(1) per erase amortised.
//! Memory: 2 bits per flag (flags set and flags asked for).

use super::bet::{Bet, Due};
use super::{Books, Leveler};
use crate::jobs::request::DriveView;
use crate::jobs::{Request, Urgency};
use floatgate_base::policy::Range;
use floatgate_base::{DomainId, Given, IdSlice, ParamInfo, PolicyInfo, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};

/// Its row in the table.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "swl",
    summary: "blocks that were not erased in a round are emptied once the others were erased often",
    source: "Chang, Hsieh and Kuo, DAC 2007",
    params: &[
        THRESHOLD,
        ParamInfo::whole(
            "blocks_per_flag",
            "blocks (superblocks) of a flag of the block erasing table",
            1,
            (1, 1 << 20),
        ),
    ],
    cost: "O(1) amortised",
    memory: "2 bits per flag",
};

/// How uneven erases may be; of `read-balance`, too.
pub(super) const THRESHOLD: ParamInfo = ParamInfo::within(
    "threshold",
    "erases per flag that is set, in this round, at which a block that was not erased is emptied",
    10.0,
    Range { least: 1.0, most: f64::INFINITY, above_least: false, below_most: false },
);

/// The parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Erases per flag that is set.
    pub threshold: f64,
    /// Units of a flag.
    pub blocks_per_flag: u32,
}

impl super::Params for Params {
    type State = State;

    fn of(given: &Given) -> Self {
        Self { threshold: given.real("threshold"), blocks_per_flag: given.whole("blocks_per_flag") }
    }

    fn state(&self, layout: &Layout) -> State {
        let bet = Bet::new(layout, self.blocks_per_flag.min(layout.units_per_domain()));
        State { params: *self, bet, rest: None }
    }
}

/// What it keeps.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
    bet: Bet,
    /// The flag whose units are being asked for, and the unit from which on.
    rest: Option<(u32, UnitId)>,
}

impl Leveler for State {
    fn erased(&mut self, domain: DomainId, unit: UnitId, _: u32) -> bool {
        self.bet.erased(domain, unit, self.params.threshold)
    }

    fn wanted(&mut self, drive: &mut DriveView<'_>, _: DomainId, books: &mut Books<'_>) -> Option<Request> {
        loop {
            if let Some((flag, from)) = self.rest {
                let (domain, mut units) = self.bet.units_of(flag);
                if let Some(unit) = units.find(|&unit| unit >= from && drive.is_closed(unit)) {
                    self.rest = Some((flag, UnitId(unit.0 + 1)));
                    return Some(Request::emptying(unit, domain, Cause::Level, Urgency::Leveling));
                }
                self.rest = None;
            }
            match self.bet.next(self.params.threshold, |unit| drive.is_closed(unit)) {
                Due::Nothing => return None,
                Due::Round => {
                    books.did.rounds += 1;
                    return None;
                }
                Due::Flag(flag) => self.rest = Some((flag, UnitId(0))),
            }
        }
    }

    fn ended(&mut self, domain: DomainId, unit: UnitId, done: bool) {
        if !done {
            self.bet.dropped(domain, unit);
        }
    }

    fn restart(&mut self) {
        self.bet.restart();
        self.rest = None;
    }

    fn fits(&self, layout: &Layout) -> bool {
        self.bet.fits(layout)
    }

    fn audit(&self, _: &Layout, _: &IdSlice<UnitId, bool>) -> Result<(), String> {
        self.bet.audit()
    }
}
