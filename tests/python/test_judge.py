"""Verdicts on claims: each rule with a value on both sides of its border."""

from __future__ import annotations

import math
from typing import Any

import pytest

from floatgate.papers.judge import QUICK, RULES, Claim, Findings, judge, problem, rule_text, shown


def verdict(rule: dict[str, Any], values: dict[str, Any]) -> Any:
    whole = {"id": "one", "text": "it is so", "where": "section 1", **rule}
    assert problem(whole) is None
    return judge(Claim("one", "it is so", "section 1", whole), Findings({}, values))


@pytest.mark.parametrize(
    ("rule", "passing", "failing"),
    [
        ({"judge": "below", "than": 5}, math.nextafter(5, 0), 5),
        ({"judge": "above", "than": 5}, math.nextafter(5, 9), 5),
        ({"judge": "at-most", "than": 5}, 5, math.nextafter(5, 9)),
        ({"judge": "at-least", "than": 5}, 5, math.nextafter(5, 0)),
        ({"judge": "between", "low": 1, "high": 2}, 1, 0.999),
        ({"judge": "between", "low": 1, "high": 2}, 2, 2.001),
        ({"judge": "near", "paper": 4.4, "tolerance": 0.25}, 5.5, 5.501),
        ({"judge": "near", "paper": 4.4, "tolerance": 0.25}, 3.3, 3.299),
        ({"judge": "near", "paper": -4.0, "tolerance": 0.25}, -5.0, -5.001),
        ({"judge": "near", "paper": 0.805, "tolerance_abs": 0.1}, 0.905, 0.9051),
        ({"judge": "near", "paper": 0.805, "tolerance_abs": 0.1}, 0.705, 0.7049),
        ({"judge": "near", "paper": 1800, "tolerance": 0.0}, 1800, 3600),
        ({"judge": "true"}, True, False),
    ],
)
def test_a_rule_has_two_sides(rule: dict[str, Any], passing: float, failing: float) -> None:
    assert verdict({**rule, "value": "a"}, {"a": passing}).holds is True
    assert verdict({**rule, "value": "a"}, {"a": failing}).holds is False
    assert verdict({**rule, "value": "a"}, {}).holds is None


def test_a_claim_that_the_setup_cannot_decide_has_figures_and_no_verdict() -> None:
    rule = {"judge": "below", "than": 5, "value": "{}", "each": ["a", "b"], "not_judged": "nothing is written"}
    ours = verdict(rule, {"a": 4, "b": 6})
    assert (ours.holds, ours.parts, ours.ours) == (None, {"a": None, "b": None}, {"a": 4.0, "b": 6.0})
    assert ours.undecided == ours.to_dict()["not_judged"] == "nothing is written"
    decided = verdict({**rule, "quick": False, "not_judged": "x"}, {})
    assert decided.undecided == "x"


def test_a_quick_run_decides_some_claims_only() -> None:
    whole = {"id": "one", "text": "it is so", "where": "section 1", "judge": "true", "value": "a", "quick": False}
    claim, findings = Claim("one", "it is so", "section 1", whole), Findings({}, {"a": True})
    assert judge(claim, findings).holds is True
    quick = judge(claim, findings, quick=True)
    assert (quick.holds, quick.undecided) == (None, QUICK)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"quick": 1}, "'quick' is '1'; expected true or false"),
        ({"not_judged": ""}, "'not_judged' is ''; expected the reason"),
    ],
)
def test_marks_of_claims_that_are_not_judged_are_checked(wrong: dict[str, Any], message: str) -> None:
    assert problem({"judge": "true", "value": "a", **wrong}) == message


def test_all_rules_are_tried() -> None:
    tried = {"below", "above", "at-most", "at-least", "between", "near", "true", "order"}
    assert tried == set(RULES)


@pytest.mark.parametrize(
    ("direction", "slack", "figures", "holds"),
    [
        ("rising", 0, [1, 2, 3], True),
        ("rising", 0, [1, 2, 2], False),
        ("falling", 0, [3, 2, 1], True),
        ("falling", 0, [3, 1, 2], False),
        ("rising", 0.019, [1, 1, 2], True),
        ("rising", 0.019, [1.019, 1, 2], True),
        ("rising", 0.019, [1.0191, 1, 2], False),
        ("falling", 0.1, [2, 1, 1.1], True),
        ("falling", 0.1, [2, 1, 1.11], False),
    ],
)
def test_orders(direction: str, slack: float, figures: list[float], holds: bool) -> None:
    rule = {"judge": "order", "values": ["a", "b", "c"], "direction": direction, "slack": slack}
    findings = verdict(rule, dict(zip("abc", figures, strict=True)))
    assert findings.holds is holds
    assert findings.ours == figures
    assert verdict(rule, {"a": 1.0, "c": 2.0}).holds is None


@pytest.mark.parametrize(
    ("direction", "figures", "holds"),
    [
        ("rising", [0, 0, 2], None),
        ("rising", [0, 1, 2], True),
        ("rising", [2, 2, 1], False),
        ("falling", [2, 2, 1], None),
        ("falling", [1, 1, 2], False),
    ],
)
def test_equal_neighbours_may_decide_nothing(direction: str, figures: list[float], holds: bool | None) -> None:
    rule = {"judge": "order", "values": ["a", "b", "c"], "direction": direction, "ties": "no difference"}
    assert problem(rule) is None
    assert verdict(rule, dict(zip("abc", figures, strict=True))).holds is holds
    assert rule_text(rule) == f"{direction}, equal figures show no difference"


def test_each_name_has_to_pass_and_one_that_fails_is_enough() -> None:
    rule = {"judge": "below", "value": "years.{}", "each": ["proxy", "map"], "than": 5}
    both = verdict(rule, {"years.proxy": 3.0, "years.map": 2.9})
    assert (both.holds, both.ours, both.parts) == (True, {"proxy": 3.0, "map": 2.9}, {"proxy": True, "map": True})
    assert verdict(rule, {"years.proxy": 6.0}).holds is False
    assert verdict(rule, {"years.proxy": 3.0}).holds is None


def test_the_figure_of_the_paper_may_differ_by_name() -> None:
    rule = {"judge": "near", "value": "{}", "each": ["a", "b"], "paper": {"a": 10, "b": 100}, "tolerance": 0.1}
    assert verdict(rule, {"a": 11.0, "b": 90.0}).holds is True
    assert verdict(rule, {"a": 90.0, "b": 90.0}).parts == {"a": False, "b": True}


@pytest.mark.parametrize(("take", "expected"), [("mean", 2.5), ("geometric-mean", 2.0), ("min", 1.0), ("max", 4.0)])
def test_ratios_are_taken_together(take: str, expected: float) -> None:
    rule = {
        "judge": "near",
        "value": "{}.st",
        "over": "{}.opt",
        "each": ["a", "b"],
        "take": take,
        "paper": 2,
        "tolerance": 1,
    }
    values = {"a.st": 8.0, "a.opt": 2.0, "b.st": 3.0, "b.opt": 3.0}
    findings = verdict(rule, values)
    assert findings.ours == pytest.approx(expected)
    assert findings.parts == {}
    assert verdict(rule, {**values, "b.opt": 0.0}).holds is None


def test_values_are_found_in_results_by_their_way() -> None:
    findings = Findings({"lives": {"proj": {"none": {"a": {"b": 3}, "list": [1, 2], "no": None}}}}, {"lives.proj": 7})
    assert findings.figure("lives.proj.none.a.b") == 3.0
    assert findings.figure("lives.proj.none.list.-1") == 2.0
    assert findings.figure("lives.proj") == 7.0
    for missing in ("lives.proj.none.a", "lives.proj.none.list.2", "lives.map.none.a.b", "lives.proj.none.no.x"):
        assert findings.figure(missing) is None
    assert Findings({}, {"a": math.nan}).figure("a") is None
    assert Findings({}, {"a": True}).figure("a") is None


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"judge": "about", "value": "a"}, "unknown judge 'about'"),
        ({"judge": "below", "value": "a"}, "no 'than'"),
        ({"judge": "below", "than": 1}, "no 'value'"),
        ({"judge": "near", "value": "a", "paper": 1}, "needs one of 'tolerance'"),
        ({"judge": "near", "value": "a", "paper": 1, "tolerance": 1, "tolerance_abs": 1}, "needs one of 'tolerance'"),
        ({"judge": "order", "values": ["a"], "direction": "rising"}, "two values"),
        ({"judge": "order", "values": ["a", "b"], "direction": "up"}, "direction"),
        ({"judge": "order", "values": ["a", "b"], "direction": "rising", "ties": "fine"}, "'ties' is 'fine'"),
        (
            {"judge": "order", "values": ["a", "b"], "direction": "rising", "ties": "no difference", "slack": 0.1},
            "for an order without slack",
        ),
        ({"judge": "true", "value": "a", "ties": "no difference"}, "for an order without slack"),
        ({"judge": "below", "value": "a", "than": 1, "take": "mean"}, "over the names of 'each'"),
        ({"judge": "below", "value": "a", "than": 1, "tolerence": 1}, "unknown key 'tolerence'"),
        ({"judge": "below", "value": "a", "than": 1, "unit": "furlongs"}, "unknown unit 'furlongs'"),
        (
            {"judge": "below", "value": "a", "than": "b"},
            "'than' is 'b'; expected a number; to compare two values, divide",
        ),
        ({"judge": "between", "value": "a", "low": 1, "high": [2]}, "'high' is '[2]'; expected a number"),
    ],
)
def test_what_cannot_be_judged_is_said(rule: dict[str, Any], message: str) -> None:
    assert message in (problem(rule) or "")


def test_rules_and_figures_in_words() -> None:
    near = {
        "judge": "near",
        "value": "a",
        "paper": 4.4,
        "tolerance": 0.25,
        "each": ["a", "b"],
        "take": "geometric-mean",
    }
    assert rule_text(near) == "geometric mean over 2: within 25 % of the paper's figure"
    points = {"judge": "near", "value": "a", "paper": 0.8, "tolerance_abs": 0.1, "unit": "share", "each": ["a"]}
    assert rule_text(points) == "each within 10 points of the paper's figure"
    assert rule_text({"judge": "at-least", "value": "a", "than": 5, "unit": "years"}) == "at least 5 years"
    assert rule_text({"judge": "between", "value": "a", "low": 1, "high": 2.13, "unit": "x"}) == "from 1x to 2.13x"
    slack = {"judge": "order", "values": ["a", "b"], "direction": "rising", "slack": 0.019}
    assert rule_text(slack) == "rising, neighbours within 2 % of each other may swap"
    assert shown(0.805, "share") == "80.5 %"
    assert shown({"a": [1.0, 2.0], "b": None}, "x") == "a 1.00x / 2.00x, b -"
    # An order that is judged can be seen.
    assert shown([1.1432, 1.1391, 1.2, 1.2]) == "1.143 / 1.139 / 1.200 / 1.200"
    assert shown([0.80501, 0.80502], "share") == "80.501 % / 80.502 %"
    assert shown(1300.0, "us") == "1.3 ms"
    assert (shown(13), shown(13.0)) == ("13", "13.0")
    assert shown(value=True) == "yes"
