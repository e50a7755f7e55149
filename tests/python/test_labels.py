"""Labels of marks: where they stand, and the names of a plan's Pareto front among them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from floatgate.pages.labels import Label, Mark, overlap, placed
from floatgate.study import plan_front
from floatgate.study.plan import Plan
from floatgate.study.plan_point import Bounds, Point, Price
from test_lifetime_text import GIB, point

WIDE, HIGH = 475.0, 203.0


def touching(made: Sequence[Label], marks: Sequence[Mark]) -> list[str]:
    """What a label covers: another label, or a mark."""
    pairs = itertools.combinations(made, 2)
    texts = [f"{one.mark.text} and {other.mark.text}" for one, other in pairs if overlap(one.box, other.box)]
    return texts + [f"{one.mark.text} on a mark" for one in made for mark in marks if overlap(one.box, mark.box)]


def test_a_label_alone_stands_above_its_mark_on_the_inner_side() -> None:
    [left], [right] = (placed([Mark(x, 100.0, "name")], WIDE, HIGH) for x in (50.0, 400.0))
    assert (left.left, right.left) == (False, True)
    assert left.dy == right.dy < 0
    # At the upper edge there is no room above.
    assert placed([Mark(50.0, 3.0, "name")], WIDE, HIGH)[0].dy > 0


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_marks_at_the_same_place_have_their_labels_one_above_the_other(count: int) -> None:
    marks = [Mark(200.0 + number, 100.0, f"client-tlc-{number}t") for number in range(count)]
    assert touching(placed(marks, WIDE, HIGH), marks) == []


def test_labels_of_random_marks_cover_nothing() -> None:
    """Of 200 charts of nine marks, half of them without a label, as plans have them."""
    for seed in range(200):
        rng = random.Random(seed)
        marks = [
            Mark(rng.uniform(20, WIDE - 20), rng.uniform(20, HIGH - 20), f"drive-{n}" if n % 2 else None)
            for n in range(9)
        ]
        made = placed(marks, WIDE, HIGH)
        assert [one.mark for one in made] == [mark for mark in marks if mark.text is not None]
        assert touching(made, marks) == [], f"seed {seed}"
        for one in made:
            left, top, right, bottom = one.box
            assert 0 <= left <= right <= WIDE, f"seed {seed}"
            assert 0 <= top <= bottom <= HIGH, f"seed {seed}"


def test_what_cannot_be_placed_covers_the_least() -> None:
    marks = [Mark(20.0, 10.0, "a long name that is wider than the chart")] * 3
    assert len(placed(marks, 60.0, 20.0)) == 3


def drive(name: str, gib: int, years: float) -> Point:
    """A drive of a plan."""
    one = point(gib, "none", 600, years=years)
    return Point(one.capacity, None, "none", one.result, drive=name)


@pytest.mark.parametrize("width", [326, 560])
def test_names_of_a_front_do_not_touch(width: int) -> None:
    drives = [drive(f"ent-tlc-mu-{number}t6", 100 + number, 6.0 + number / 10) for number in range(4)]
    prices = tuple(Price(str(one.drive), 100.0 + 5 * number, (100 + number) * GIB) for number, one in enumerate(drives))
    plan = Plan(drives, "", "x", Bounds(prices=prices))
    assert len(plan.front) == 4
    rows = plan_front.front_rows(plan, drives)
    names, _ = plan_front.named(rows, [60.0, 170.0], [3.0, 10.0], plan.target_years, width)
    assert touching(names, [one.mark for one in names]) == []
    drawn = plan_front.front_chart(plan, drives, width).to_dict()
    texts = [layer for layer in drawn["layer"] if layer["mark"]["type"] == "text"]
    labels = [row.get("name", row.get("label")) for layer in texts for row in layer["data"]["values"]]
    assert sorted(labels) == sorted([*(str(one.drive) for one in drives), "5 years"])
    assert len({(layer["mark"]["align"], layer["mark"]["dy"]) for layer in texts}) > 2


def test_the_name_of_the_target_leaves_marks_free() -> None:
    near = [drive("boot-480g", 64, 5.2), drive("client-tlc-1t", 640, 20.0)]
    plan = Plan(near, "", "x")
    rows = plan_front.front_rows(plan, near)
    _, at_left = plan_front.named(rows, [60.0, 700.0], [3.0, 30.0], 5.0, 560)
    assert not at_left
