//! The effect of labels: which open blocks writes join, in which plane, by which wear, and in which order.

use crate::common::recorder::{Command, Recorder};
use crate::common::{number, run_ok, try_run};
use floatgate_base::{ExtentKind, Extents, Hints, Label, Lpn, Ppn, Rng, UnitId};
use floatgate_flash::{Flash, Layout, Scope};
use floatgate_ftl::separate::Labelled;
use floatgate_ftl::{Ftl, Separate, Setup};
use floatgate_nand::Geometry;
use std::collections::BTreeSet;

/// Pages of a block, as in Figure 3.
const PAGES: u32 = 10;
const PLANES: u32 = 4;
const BLOCKS: u32 = 12;
const LOGICAL: u32 = 200;

fn drive(groups: bool, moved_apart: bool) -> (Ftl, Recorder) {
    drive_of(Labelled { groups, rest_in_upper_half: false, moved_apart })
}

fn drive_of(labelled: Labelled) -> (Ftl, Recorder) {
    let geometry = Geometry {
        channels: 2,
        chips_per_channel: 2,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: BLOCKS,
        pages_per_block: PAGES,
        page_bytes: 2048,
    };
    let separate = Separate::Labelled(labelled);
    let setup = Setup { separate, trigger_free_units: 2, stop_free_units: 3, ..Setup::plain(LOGICAL) };
    let layout = Layout::new(geometry, Scope::Plane);
    (Ftl::new(layout.clone(), setup), Recorder::new(layout))
}

/// Writes one page under a label; the commands that come of it.
fn write(ftl: &mut Ftl, flash: &mut Recorder, lpn: u32, label: Label) -> Vec<Command> {
    let mut extents = Extents::default();
    extents.push(Lpn(lpn), 1, ExtentKind::Write);
    extents.columns.hints.push(Hints { label, ..Hints::default() });
    flash.commands.clear();
    ftl.serve(flash, &extents).unwrap();
    std::mem::take(&mut flash.commands)
}

fn unit_of(ppn: Ppn) -> UnitId {
    UnitId(ppn.0 / PAGES)
}

fn plane_of(ppn: Ppn) -> u32 {
    unit_of(ppn).0 / BLOCKS
}

/// Where the host's page of a list of commands was programmed.
fn place(commands: &[Command]) -> Ppn {
    let placed =
        commands.iter().find_map(|c| if let Command::Program(ppn, _) = c { Some(*ppn) } else { None });
    placed.expect("a page is programmed")
}

/// Figure 3: {a, c, e, f} join one block, and d another.
#[test]
fn the_example_of_figure_3() {
    let (mut ftl, mut flash) = drive(true, false);
    let [a, b, c, d, e, f] = [0, 1, 2, 3, 4, 5];
    let mut blocks = std::array::from_fn::<_, 6, _>(|_| BTreeSet::new());
    for _ in 0..2 {
        for page in [a, b, c, d, e, f] {
            let label = if [b, d].contains(&page) { Label::REST } else { Label::of_group(0) };
            let commands = write(&mut ftl, &mut flash, page, label);
            blocks[page as usize].insert(unit_of(place(&commands)));
        }
    }
    let together: BTreeSet<_> = [a, c, e, f].iter().flat_map(|&page| blocks[page as usize].clone()).collect();
    assert_eq!(together.len(), 1, "eight pages, ten in a block");
    assert!(blocks[d as usize].is_disjoint(&together) && blocks[b as usize].is_disjoint(&together));
}

/// Each group stays in its plane. Pages that are only written often go to the planes in turn, and so do the others, as
/// if there were no groups in between. All are programmed in order of arrival.
#[test]
fn groups_stay_in_their_planes() {
    for (groups, moved_apart) in [(true, false), (true, true), (false, false), (false, true)] {
        let (mut ftl, mut flash) = drive(groups, moved_apart);
        let mut rng = Rng::new(1, "groups");
        let mut turn = 0;
        let mut ever_strayed = 0;
        for write_number in 0..LOGICAL + 6000 {
            let filled = write_number >= LOGICAL;
            let lpn = if filled { rng.below(u64::from(LOGICAL)) as u32 } else { write_number };
            let label = match rng.below(3) {
                0 if groups => Label::of_group(rng.below(9) as u32),
                0 => Label::OFTEN,
                _ => Label::REST,
            };
            let commands = write(&mut ftl, &mut flash, lpn, label);
            let host: Vec<_> = commands.iter().filter(|c| matches!(c, Command::Program(..))).collect();
            assert!(matches!(host[..], [Command::Program(_, page)] if page.0 == lpn));
            let plane = plane_of(place(&commands));
            match label.group() {
                Some(group) => ever_strayed += u64::from(plane != group % PLANES),
                None => {
                    ever_strayed += u64::from(plane != turn);
                    turn = (plane + 1) % PLANES;
                }
            }
            ftl.audit(&flash).unwrap();
        }
        // A plane that is full for a moment is passed over.
        assert!(ever_strayed < 200, "{groups} {moved_apart}: {ever_strayed}");
        let streams = ftl.separation().unwrap().counters().as_slice();
        assert_eq!(streams.len(), if moved_apart { 3 } else { 2 });
        assert!(streams[1].host_pages > 1500 && streams[1].moved_pages == 0 && streams[1].copied_pages > 0);
        assert!(streams.iter().skip(2).all(|moved| moved.host_pages == 0 && moved.moved_pages > 0));
    }
}

/// Groups open the free block with fewest erases, all else that with most, or the first of the more worn half.
#[test]
fn wear_decides_which_block_is_opened() {
    for (groups, rest_in_upper_half) in [(true, false), (true, true), (false, false)] {
        let (mut ftl, mut flash) = drive_of(Labelled { groups, rest_in_upper_half, moved_apart: true });
        let mut rng = Rng::new(2, "wear");
        let mut free: BTreeSet<u32> = (0..PLANES * BLOCKS).collect();
        let mut erases = vec![0u32; (PLANES * BLOCKS) as usize];
        let (mut opened, mut differ) = ([0; 2], 0);
        for turn in 0..8000 {
            let lpn = if turn < LOGICAL { turn } else { rng.below(100) as u32 };
            let apart = rng.below(2) == 0;
            let label = if apart { Label::of_group(rng.below(4) as u32) } else { Label::REST };
            let commands = write(&mut ftl, &mut flash, lpn, label);
            // The host's block is opened first, then room is made.
            let host = unit_of(place(&commands)).0;
            let moved = commands.iter().filter_map(|command| match *command {
                Command::Erase(unit) => Some((unit.0, true)),
                Command::Copy(_, ppn, _) => Some((unit_of(ppn).0, false)),
                _ => None,
            });
            for (unit, is_erased, is_apart) in std::iter::once((host, false, apart))
                .chain(moved.map(|(unit, is_erased)| (unit, is_erased, false)))
            {
                if is_erased {
                    erases[unit as usize] += 1;
                    free.insert(unit);
                } else if free.contains(&unit) {
                    let there = free.iter().filter(|&&other| other / BLOCKS == unit / BLOCKS);
                    let mut wear: Vec<u32> = there.map(|&unit| erases[unit as usize]).collect();
                    wear.sort_unstable();
                    let (least, most) = (wear[0], wear[wear.len() - 1]);
                    let expected = match () {
                        () if !groups || is_apart => least,
                        () if rest_in_upper_half => wear[wear.len() / 2],
                        () => most,
                    };
                    assert_eq!(erases[unit as usize], expected, "groups {groups}, turn {turn}");
                    opened[usize::from(is_apart)] += 1;
                    let between = rest_in_upper_half && expected == most;
                    differ += u64::from(least != most && !between);
                    free.remove(&unit);
                }
            }
        }
        assert!(opened.iter().all(|&n| n > 100) && differ > 100, "{opened:?} {differ}");
        assert_eq!(flash.erase_counts().as_slice(), erases);
    }
}

const DRIVE: &str = "[drive.geometry]\nchannels = 2\nchips_per_channel = 2\nblocks_per_plane = 40\npages_per_block = 16\n\
                     [ftl]\nspare_factor = 0.25\nprecondition = \"random\"\n";
const WORK: &str = "[workload]\nrequests = 30000\npattern = \"hot-cold\"\nhot_share_of_pages = 0.01\n\
                    hot_share_of_writes = 0.9\nread_share = 0.2\n";

#[test]
fn a_run_says_what_was_matched() {
    let toml = format!("{DRIVE}{WORK}");
    assert!(run_ok(&toml, &[]).result["dispatch"].is_null());
    let patterns = run_ok(&toml, &[("ftl.dispatch.policy", "patterns".into())]).result;
    assert_eq!(number(&patterns, "/dispatch/windows"), f64::from(30_000_u32.div_ceil(1024)));
    assert_eq!(number(&patterns, "/dispatch/windows_too_dense"), 0.0);
    let (found, size) = (
        number(&patterns, "/dispatch/patterns_per_window"),
        number(&patterns, "/dispatch/pattern_size_mean"),
    );
    assert!(found > 0.0 && size >= 3.0, "{found} {size}");
    let matched = number(&patterns, "/dispatch/matched_requests");
    assert!(matched > 0.0 && matched == number(&patterns, "/dispatch/matched_pages"));
    assert_eq!(number(&patterns, "/separate/streams/1/host_pages"), matched);
    let pgis = run_ok(&toml, &[("ftl.dispatch.policy", "pgis".into())]).result;
    assert!(number(&pgis, "/dispatch/matched_requests") > matched);
    assert!(pgis["dispatch"]["patterns_per_window"].is_null());
    // Nine writes in ten go to a hundredth of the pages: that is what it finds.
    let share = number(&pgis, "/dispatch/matched_requests") / number(&pgis, "/host/write_requests");
    assert!((share - 0.9).abs() < 0.02, "{share}");
    assert!(number(&pgis, "/waf") < number(&run_ok(&toml, &[]).result, "/waf"));
}

/// Counting begins in the middle of a window; the trace is served again and again.
#[test]
fn only_what_counts_is_counted() {
    let toml = format!("{DRIVE}{WORK}warmup_requests = 1500\n[ftl.dispatch]\npolicy = \"pgis\"\n");
    let result = run_ok(&toml, &[]).result;
    // Windows begin at requests 0, 1024, 2048, ...: two of them before counting does.
    assert_eq!(number(&result, "/dispatch/windows"), f64::from(31_500_u32.div_ceil(1024) - 2));
}

#[test]
fn what_cannot_be_is_refused() {
    let toml = format!("{DRIVE}{WORK}[ftl.dispatch]\npolicy = \"patterns\"\n");
    for (key, value, message) in [
        ("ftl.dispatch.support", "0", "support is 0; expected a whole number from 1 to 65536"),
        (
            "ftl.dispatch.support",
            "1025",
            "support is 1025, but a window has 1024 requests; expected no more than ftl.dispatch.window",
        ),
        ("ftl.dispatch.items_min", "0", "items_min is 0; expected a whole number from 1 to 65536"),
        (
            "ftl.dispatch.window",
            "255",
            "mined is 256, but a window has 255 requests; expected no more than ftl.dispatch.window",
        ),
        ("ftl.dispatch.look", "ahead", "unknown look 'ahead'; expected one of 'window', 'causal'"),
        (
            "ftl.separate.policy",
            "hash",
            "the dispatcher patterns says which open block a write joins, and so does the separator hash; \
             expected ftl.separate.policy = \"none\" or \"host-gc\", or ftl.dispatch.policy = \"fcfs\"",
        ),
        (
            "ftl.allocation.mode",
            "static",
            "the dispatcher patterns keeps each group in one plane, and static allocation names the plane of each page",
        ),
        (
            "ftl.free_block",
            "fifo",
            "the dispatcher patterns opens free blocks by their wear; free_block has no effect",
        ),
    ] {
        let error = try_run(&toml, &[(key, value.into())]).unwrap_err();
        assert!(error.contains(message), "{key} = {value}: {error}");
    }
    // By frequency nothing stays in a plane, and wear has no effect.
    for (key, value) in [("ftl.allocation.mode", "static"), ("ftl.free_block", "fifo")] {
        run_ok(&toml, &[("ftl.dispatch.policy", "pgis".into()), (key, value.into())]);
    }
}
