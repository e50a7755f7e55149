"""The small charts of claims: places on their scales, ranges that pass, and what has no chart."""

from __future__ import annotations

from typing import Any

import pytest

from floatgate.papers.judge import Claim, Findings, judge
from floatgate.papers.strips import DOT, HEIGHT_OF_ORDER, MARGIN, Strip, strips


def drawn(rule: dict[str, Any], **values: Any) -> list[Strip]:
    return strips(judge(Claim("id", "text", "where", rule), Findings({}, values)), rule.get("unit", ""))


def test_values_stand_on_one_scale_with_the_papers_figures_and_what_passes() -> None:
    rule = {"judge": "near", "value": "v.{}", "each": ["a", "b"], "paper": {"a": 1.0, "b": 3.0}, "tolerance": 0.5}
    first, second = drawn(rule, **{"v.a": 2.0, "v.b": 3.0})
    # 0 to 3 stand from 4 to 96 percent.
    assert (first.name, first.text, first.mark, second.mark) == ("a", "2.00", "✗", "")
    assert list(first.dots[0]) == pytest.approx([MARGIN + 92 * 2 / 3, 7.0])
    assert first.paper == pytest.approx(MARGIN + 92 / 3)
    assert first.passes == pytest.approx((MARGIN + 92 * 0.5 / 3, 92 / 3))
    assert second.passes == pytest.approx((MARGIN + 92 * 1.5 / 3, 100 - MARGIN - 92 * 1.5 / 3))


@pytest.mark.parametrize(
    ("rule", "passes"),
    [
        ({"judge": "below", "than": 1.0}, (0.0, 50.0)),
        ({"judge": "at-most", "than": 1.0}, (0.0, 50.0)),
        ({"judge": "above", "than": 1.0}, (50.0, 50.0)),
        ({"judge": "at-least", "than": 1.0}, (50.0, 50.0)),
        ({"judge": "between", "low": 0.5, "high": 1.0}, (27.0, 23.0)),
    ],
)
def test_ranges_that_pass_end_at_the_borders_of_the_rule(rule: dict[str, Any], passes: tuple[float, float]) -> None:
    first, *_ = drawn({**rule, "value": "{}", "each": ["a", "b"]}, a=0.0, b=2.0)
    assert first.passes == pytest.approx(passes)


def test_values_far_apart_stand_on_a_logarithmic_scale() -> None:
    rule = {"judge": "below", "value": "{}", "each": ["a", "b", "c"], "than": 10.0}
    places = [strip.dots[0][0] for strip in drawn(rule, a=1.0, b=10.0, c=100.0)]
    assert places == pytest.approx([MARGIN, 50.0, 100 - MARGIN])


def test_an_order_stands_from_left_to_right() -> None:
    rule = {"judge": "order", "values": ["x.{}", "y.{}", "z.{}"], "each": ["a"], "direction": "rising"}
    (row,) = drawn(rule, **{"x.a": 1.0, "y.a": 4.0, "z.a": 3.0})
    assert [x for x, _ in row.dots] == pytest.approx([MARGIN, 50.0, 100 - MARGIN])
    ys = [y for _, y in row.dots]
    assert max(ys) == ys[0] <= HEIGHT_OF_ORDER - DOT
    assert min(ys) == ys[1] >= DOT
    assert row.mark == "✗"
    (row,) = drawn({**rule, "values": ["x", "y"], "each": []}, x=1.0, y=2.0)
    assert (row.name, row.mark, len(row.dots)) == ("", "", 2)


def test_what_is_missing_or_no_number_has_no_dot() -> None:
    rule = {"judge": "above", "value": "{}", "each": ["a", "b"], "than": 0.0}
    first, second = drawn(rule, a=1.0)
    assert (len(first.dots), second.dots, second.text, second.mark) == (1, [], "-", "○")
    assert drawn(rule) == []
    assert drawn({"judge": "true", "value": "{}", "each": ["a"]}, a=True) == []
    assert drawn({"judge": "above", "value": "a", "than": 0.0}, a=1.0) == []
    rule = {"judge": "order", "values": ["x.{}", "y.{}"], "each": ["a"], "direction": "rising"}
    assert drawn(rule)[0].dots == []


def test_all_figures_equal_stand_in_the_middle() -> None:
    rule = {"judge": "at-most", "value": "{}", "each": ["a", "b"], "than": 5.0}
    assert [strip.dots for strip in drawn(rule, a=5.0, b=5.0)] == [[(50.0, 7.0)]] * 2
