//! The shadow model detects every violation and accepts correct commands.

use super::*;
use crate::{Functional, Scope};
use floatgate_base::SideKind;
use floatgate_nand::Geometry;

fn shadow() -> Shadow<Functional> {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 4,
        pages_per_block: 4,
        page_bytes: 4096,
    };
    Shadow::new(Functional::new(Layout::new(geometry, Scope::Plane)), 8)
}

#[test]
fn an_honest_sequence_passes() {
    let mut s = shadow();
    s.read_unmapped(Lpn(3));
    s.program(Ppn(0), Lpn(3), Cause::Host);
    s.program(Ppn(1), Lpn(3), Cause::Host);
    s.copy(Ppn(1), Ppn(4), Owner::page(Lpn(3)), Cause::Gc);
    s.erase(UnitId(0), Cause::Gc);
    s.read(Ppn(4), Lpn(3), Cause::Host);
    s.program(Ppn(0), Lpn(1), Cause::Host);
    s.trim(Lpn(1));
    s.read_unmapped(Lpn(1));
    assert_eq!(s.violation(), None);
}

#[test]
fn modes_are_set_before_the_first_program() {
    let mut s = shadow();
    s.set_mode(UnitId(0), 2);
    assert_eq!((s.inner().mode(UnitId(0)), s.inner().mode(UnitId(1))), (2, 0));
    s.program(Ppn(0), Lpn(3), Cause::Host);
    s.copy(Ppn(0), Ppn(4), Owner::page(Lpn(3)), Cause::Gc);
    s.erase(UnitId(0), Cause::Gc);
    assert_eq!(s.inner().mode(UnitId(0)), 0);
    s.set_mode(UnitId(0), 1);
    assert_eq!((s.violation(), s.inner().mode(UnitId(0))), (None, 1));
}

#[test]
fn each_kind_of_lie_is_detected() {
    let lies: [fn(&mut Shadow<Functional>); 7] = [
        |s| s.program(Ppn(1), Lpn(0), Cause::Host),
        |s| s.read_unmapped(Lpn(7)),
        |s| s.read(Ppn(0), Lpn(7), Cause::Host),
        |s| s.read(Ppn(2), Lpn(2), Cause::Host),
        |s| s.copy(Ppn(0), Ppn(4), Owner::page(Lpn(7)), Cause::Gc),
        |s| s.program(Ppn(2), Lpn(5), Cause::Host),
        |s| s.set_mode(UnitId(0), 0),
    ];
    for (i, lie) in lies.iter().enumerate() {
        let mut s = shadow();
        if i > 0 {
            s.program(Ppn(0), Lpn(7), Cause::Host);
            s.program(Ppn(1), Lpn(7), Cause::Host);
        }
        if i == 5 {
            s.program(Ppn(2), Lpn(5), Cause::Host);
        }
        assert_eq!(s.violation(), None);
        lie(&mut s);
        assert!(s.violation().is_some(), "lie {i} went unseen");
    }
}

#[test]
fn shared_content_lives_as_long_as_one_page_has_it() {
    let owner = Owner::side(SideKind::Shared, 0);
    let mut s = shadow();
    s.program(Ppn(0), Lpn(3), Cause::Host);
    s.share(Part::Page(Ppn(0)), Lpn(5));
    s.copy(Ppn(0), Ppn(4), owner, Cause::Gc);
    s.read(Ppn(4), Lpn(3), Cause::Host);
    s.read(Ppn(4), Lpn(5), Cause::Host);
    s.program(Ppn(1), Lpn(3), Cause::Host);
    s.read(Ppn(4), Lpn(5), Cause::Host);
    s.copy(Ppn(4), Ppn(5), owner, Cause::Gc);
    assert_eq!(s.violation(), None);
    assert!(
        s.is_newest(Lpn(5), Some(Ppn(5)))
            && s.is_newest(Lpn(3), Some(Ppn(1)))
            && !s.is_newest(Lpn(3), Some(Ppn(5)))
    );
    let shared = s.clone();
    s.trim(Lpn(5));
    assert!(s.is_newest(Lpn(5), None));
    s.copy(Ppn(5), Ppn(6), owner, Cause::Gc);
    assert!(s.violation().is_some_and(|fault| fault.contains("no logical page needs")));
    // A page that no longer has it does not read it, either.
    let mut s = shared;
    s.read(Ppn(5), Lpn(3), Cause::Host);
    assert!(s.violation().is_some());
}

#[test]
fn nothing_is_no_content_to_share() {
    let mut s = shadow();
    s.share(Part::Page(Ppn(2)), Lpn(1));
    assert!(s.violation().is_some_and(|fault| fault.contains("holds nothing")));
}
