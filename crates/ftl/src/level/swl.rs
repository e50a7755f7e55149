//! SWL, static wear-leveling: empties blocks that have not been erased for long and thereby moves cold data.
//!
//! Source: Chang, Hsieh and Kuo, Endurance Enhancement of Flash-Memory Storage Systems: An Efficient Static Wear
//! Leveling Design, DAC 2007, as the paper on pattern-based write scheduling uses it. A block erasing table (BET,
//! `block_erasing_table.rs`) has a flag per `blocks_per_flag` blocks, set when one of them is erased. While the `ecnt`
//! erases of this round are at least `threshold` times the `fcnt` set flags, the blocks of the next clear flag from
//! `findex` on (cyclic) are emptied. Once all flags are set, a round begins: both counts and `findex` are 0, and all
//! flags are cleared.
//!
//! Where the papers are silent, or differ:
//! - A round begins when the search for the next flag fails: the ratio has reached `threshold` then, too.
//! - `findex` is 0 in a new round, as in the later paper; the first one draws it.
//! - The listing of the later paper does not clear the table; the text of the first one does, as does this code.
//! - Where the pages go: into a block of their own in each plane, the most worn free one, which stays open from one
//!   block to the next (`cold_blocks = "own"`). If they share open blocks with pages of the host or of collection
//!   (`"shared"`), cold and hot data mix, and collection moves the cold ones again and again.
//! - Free and open blocks hold no cold data: their flag is set without an erase.
//! - Jobs may wait for idle time. The blocks of a flag are requested once, and a requested flag counts as set in the
//!   test for the next one. A block that is collected meanwhile sets its flag, and the job is dropped.
//!
//! Parameters: `threshold`, `blocks_per_flag`, `cold_blocks`. Cost: O(1) per erase; scans by words of 64 flags, O(1)
//! per erase amortised. Memory: 2 bits per flag (flags set and flags requested).

use super::block_erasing_table::{BlockErasingTable, Due};
use super::{Books, Leveler};
use crate::jobs::request::DriveView;
use crate::jobs::{Request, Target, Urgency};
use crate::pool::Want;
use floatgate_base::policy::Range;
use floatgate_base::{ChosenPolicy, DomainId, IdSlice, ParamInfo, PolicyInfo, UnitId};
use floatgate_flash::{Cause, Layout};
use serde::{Deserialize, Serialize};

/// Row of the leveler in the policy table.
pub const INFO: PolicyInfo = PolicyInfo {
    name: "swl",
    summary: "blocks not erased in a round are emptied once the others were erased often",
    source: "Chang, Hsieh and Kuo, DAC 2007",
    params: &[
        THRESHOLD,
        ParamInfo::whole(
            "blocks_per_flag",
            "blocks (superblocks) per flag of the block erasing table",
            1,
            (1, 1 << 20),
        ),
        ParamInfo::name("cold_blocks", "where the pages of emptied blocks go", COLD_BLOCKS),
    ],
    cost: "O(1) amortised",
    memory: "2 bits per flag",
};

const COLD_BLOCKS: &[(&str, &str)] = &[
    ("own", "into blocks of their own: the most worn free ones, which stay open between jobs"),
    ("shared", "where the separator sends moved pages"),
];

/// Tolerated unevenness of erases; also for `read-balance`.
pub(super) const THRESHOLD: ParamInfo = ParamInfo::within(
    "threshold",
    "erases per set flag, in this round, at which a block that was not erased is emptied",
    10.0,
    Range { least: 1.0, most: f64::INFINITY, above_least: false, below_most: false },
);

/// Parameters of static wear-leveling.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Params {
    /// Erases per set flag.
    pub threshold: f64,
    /// Units per flag.
    pub blocks_per_flag: u32,
    /// Whether pages move into units of their own.
    pub own: bool,
}

impl super::Params for Params {
    type State = State;

    fn of(settings: &ChosenPolicy) -> Self {
        Self {
            threshold: settings.real("threshold"),
            blocks_per_flag: settings.whole("blocks_per_flag"),
            own: settings.text("cold_blocks") == COLD_BLOCKS[0].0,
        }
    }

    fn state(&self, layout: &Layout) -> State {
        let table = BlockErasingTable::new(layout, self.blocks_per_flag.min(layout.units_per_domain()));
        State { params: *self, table, rest: None }
    }
}

/// State of static wear-leveling.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    params: Params,
    table: BlockErasingTable,
    /// The flag whose units are being requested, and the next unit of it.
    rest: Option<(u32, UnitId)>,
}

/// Returns the target for pages of emptied units in a domain.
fn own(domain: DomainId) -> Target {
    Target::Set { id: domain.0, side: 0, domain, want: Want::MostWorn }
}

impl Leveler for State {
    fn erased(&mut self, domain: DomainId, unit: UnitId, _: u32) -> bool {
        self.table.erased(domain, unit, self.params.threshold)
    }

    fn next_request(
        &mut self,
        drive: &mut DriveView<'_>,
        _: DomainId,
        books: &mut Books<'_>,
    ) -> Option<Request> {
        loop {
            if let Some((flag, from)) = self.rest {
                let (domain, mut units) = self.table.units_of(flag);
                if let Some(unit) = units.find(|&unit| unit >= from && drive.is_closed(unit)) {
                    self.rest = Some((flag, UnitId(unit.0 + 1)));
                    let request = Request::emptying(unit, domain, Cause::Level, Urgency::Leveling);
                    return Some(if self.params.own { request.into(own(domain)) } else { request });
                }
                self.rest = None;
            }
            match self.table.next(self.params.threshold, |unit| drive.is_closed(unit)) {
                Due::Nothing => return None,
                Due::Round => {
                    books.counters.rounds += 1;
                    return None;
                }
                Due::Flag(flag) => self.rest = Some((flag, UnitId(0))),
            }
        }
    }

    fn job_ended(&mut self, domain: DomainId, unit: UnitId, done: bool) {
        if !done {
            self.table.dropped(domain, unit);
        }
    }

    fn restart(&mut self) {
        self.table.restart();
        self.rest = None;
    }

    fn fits(&self, layout: &Layout) -> bool {
        self.table.fits(layout)
    }

    fn audit(&self, _: &Layout, _: &IdSlice<UnitId, bool>) -> Result<(), String> {
        self.table.audit()
    }
}
