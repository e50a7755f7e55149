"""Claims of a paper as data, and the verdict on each.

A claim names values (:class:`Findings`) and a rule. The rules and their keys:

``below``, ``above``, ``at-most``, ``at-least``
    ``value`` against ``than``.
``between``
    ``low`` <= ``value`` <= ``high``.
``near``
    ``value`` within ``tolerance`` (a share of the paper's figure) or ``tolerance_abs`` (in the value's own unit) of
    ``paper``.
``order``
    ``values`` rise or fall (``direction``) from the first to the last. With a ``slack`` above 0 neighbours may be equal
    or go the other way by that share. With ``ties = "no difference"`` equal neighbours decide nothing.
``true``
    ``value`` is true.

``value`` may be divided by ``over``. With ``each``, a list of names, ``{}`` in a value's name stands for each of them
in turn and every one has to pass. With ``take`` (``mean``, ``geometric-mean``, ``min``, ``max``) one figure of them all
is judged. ``paper`` is the paper's statement: a figure, one for each name, or words. ``changed`` marks a rule that was
changed after a first run: what it is now, what it was, and why. ``calibrated`` marks a claim that the setup was tuned
to meet: what was tuned, and by which figure. Such a claim is no evidence and is not counted.

``not_judged`` says why this setup cannot decide a claim. Our values are shown, without a verdict, and the claim is
counted apart. ``quick = false`` does the same for quick reproductions alone.

``topic`` names the rows of the table with which the page opens, ``decided_by`` the experiment that decides the claim,
and ``why`` the reason for which it fails; it is shown if it does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from floatgate.base import units
from floatgate.base.errors import quote

Number = float | bool
Ours = Any
"""A figure, a list of them, or one of both for each name."""

RULES: dict[str, tuple[str, ...]] = {
    "below": ("than",),
    "above": ("than",),
    "at-most": ("than",),
    "at-least": ("than",),
    "between": ("low", "high"),
    "near": ("paper",),
    "order": ("values", "direction"),
    "true": (),
}
"""The rules, and the keys that each needs besides ``value``."""

TAKES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda figures: sum(figures) / len(figures),
    "geometric-mean": lambda figures: math.exp(sum(math.log(figure) for figure in figures) / len(figures)),
    "min": min,
    "max": max,
}
UNITS = ("", "x", "share", "years", "s", "us", "cycles", "TiB", "MiB/s", "MB/s")
_TEXTS = ("id", "text", "where", "paper", "unit", "note", "changed", "calibrated", "not_judged")
_GROUPING = ("topic", "decided_by", "why")
_VALUES = ("value", "over", "values", "each", "take")
_BORDERS = ("judge", "than", "low", "high", "tolerance", "tolerance_abs", "direction", "slack", "ties")
NO_DIFFERENCE = "no difference"
"""Value of ``ties``: equal neighbours of an order leave it unjudged."""
NUMBERS = frozenset({"than", "low", "high", "tolerance", "tolerance_abs", "slack"})
"""Keys of borders that are numbers."""
KEYS = frozenset((*_TEXTS, *_GROUPING, *_VALUES, *_BORDERS, "quick"))
QUICK = "a quick run is too short to decide it"


class Findings:
    """The values against which claims are judged.

    A name is either a value that the paper's ``values.py`` computes, or the path to a figure in a result:
    ``BATCH.WORKLOAD.VARIANT`` and then the keys of the result, ``lives.proj.none.lifetime.years``.
    """

    def __init__(self, results: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> None:
        """Take ``results`` by batch, workload and variant, and ``values`` computed from them, by name."""
        self.results = results
        self.values = dict(values or {})

    def look(self, name: str) -> Any:
        """Return what ``name`` stands for; None if it is missing."""
        if name in self.values:
            return self.values[name]
        value: Any = self.results
        for key in name.split("."):
            if isinstance(value, Mapping):
                value = value.get(key)
            elif isinstance(value, list) and key.lstrip("-").isdigit() and -len(value) <= int(key) < len(value):
                value = value[int(key)]
            else:
                return None
        return value

    def figure(self, name: str) -> float | None:
        """Return the same as a number; None for a value that is missing or not finite."""
        value = self.look(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return float(value)


@dataclass(frozen=True)
class Claim:
    """One claim of a paper, as ``claims.toml`` has it."""

    id: str
    text: str
    where: str
    rule: Mapping[str, Any]

    @property
    def is_calibrated(self) -> bool:
        """Whether the setup was tuned to make it hold."""
        return "calibrated" in self.rule

    def undecided(self, *, quick: bool = False) -> str:
        """Return why the setup, or a quick run of it, cannot decide the claim; empty if it can."""
        return str(self.rule.get("not_judged", "")) or (QUICK if quick and not self.rule.get("quick", True) else "")

    @property
    def each(self) -> list[str]:
        """The names that ``{}`` stands for; none where the claim is of one thing."""
        return list(self.rule.get("each", []))


@dataclass(frozen=True)
class Verdict:
    """A claim with its outcome.

    Attributes:
        claim: the claim.
        ours: a figure, a list of them for an order, or either of them for each name; None for what is not known.
        holds: whether the claim holds; None where it could not be judged.
        parts: the verdict for each name, where the claim is judged name by name.
        undecided: why the setup cannot decide the claim, whatever our values are; empty if it can.
    """

    claim: Claim
    ours: Ours
    holds: bool | None
    parts: Mapping[str, bool | None]
    undecided: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON gives it."""
        rule = self.claim.rule
        entry = {
            "id": self.claim.id,
            "text": self.claim.text,
            "where": self.claim.where,
            "paper": rule.get("paper"),
            "ours": self.ours,
            "holds": self.holds,
            "rule": rule_text(rule),
        }
        entry |= {key: rule[key] for key in ("changed", "calibrated") if key in rule}
        entry |= {"not_judged": self.undecided} if self.undecided else {}
        entry |= {"why": rule["why"]} if self.holds is False and "why" in rule else {}
        return entry | ({"parts": dict(self.parts)} if self.parts else {})


def problem(rule: Mapping[str, Any]) -> str | None:
    """Return what is wrong with a claim as written; None where it can be judged."""
    kind = rule.get("judge")
    if kind not in RULES:
        return f"unknown judge {quote(kind)}; expected one of {', '.join(RULES)}"
    unknown = sorted(set(rule) - KEYS)
    if unknown:
        return f"unknown key {quote(unknown[0])}; expected some of {', '.join(sorted(KEYS))}"
    needed = [*(() if kind == "order" else ("value",)), *RULES[kind]]
    missing = [key for key in needed if key not in rule]
    if missing:
        return f"no {quote(missing[0])}; judge {quote(kind)} needs it"
    for key in NUMBERS.intersection(rule):
        if isinstance(rule[key], bool) or not isinstance(rule[key], int | float):
            remedy = "; to compare two values, divide by 'over' and take than = 1.0" if key == "than" else ""
            return f"{quote(key)} is {quote(rule[key])}; expected a number{remedy}"
    if kind == "near" and ("tolerance" in rule) == ("tolerance_abs" in rule):
        return "judge 'near' needs one of 'tolerance' (a share of the paper's figure) and 'tolerance_abs'"
    wrong = _wrong_order(rule)
    if wrong:
        return wrong
    if "take" in rule and (rule["take"] not in TAKES or not rule.get("each")):
        return f"'take' is one of {', '.join(TAKES)}, over the names of 'each'"
    if rule.get("unit", "") not in UNITS:
        return f"unknown unit {quote(rule['unit'])}; expected one of {', '.join(filter(None, UNITS))}"
    return _wrong_marks(rule)


def _wrong_marks(rule: Mapping[str, Any]) -> str | None:
    if not isinstance(rule.get("quick", True), bool):
        return f"'quick' is {quote(rule['quick'])}; expected true or false"
    if "not_judged" in rule and (not isinstance(rule["not_judged"], str) or not rule["not_judged"]):
        return f"'not_judged' is {quote(rule['not_judged'])}; expected the reason"
    return None


def _wrong_order(rule: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the keys of an order."""
    if "ties" in rule and (rule["judge"] != "order" or rule["ties"] != NO_DIFFERENCE or "slack" in rule):
        return f"'ties' is {quote(rule['ties'])}; expected {quote(NO_DIFFERENCE)}, for an order without slack"
    if rule["judge"] == "order" and (rule["direction"] not in ("rising", "falling") or len(rule["values"]) < 2):
        return "judge 'order' needs two values at least, and direction 'rising' or 'falling'"
    return None


def judge(claim: Claim, findings: Findings, *, quick: bool = False) -> Verdict:
    """Judge one claim by the values of a reproduction, which may be quick."""
    verdict = _judged(claim, findings)
    undecided = claim.undecided(quick=quick)
    if not undecided:
        return verdict
    return replace(verdict, holds=None, parts=dict.fromkeys(verdict.parts), undecided=undecided)


def _judged(claim: Claim, findings: Findings) -> Verdict:
    rule, each = claim.rule, claim.each
    if not each:
        ours = _taken(rule, findings, None)
        return Verdict(claim, ours, _passes(rule, ours, None), {})
    by_name = {name: _taken(rule, findings, name) for name in each}
    if "take" in rule:
        figures = [value for value in by_name.values() if value is not None]
        whole = len(figures) == len(each) and (rule["take"] != "geometric-mean" or min(figures) > 0)
        one = TAKES[rule["take"]](figures) if whole else None
        return Verdict(claim, one, _passes(rule, one, None), {})
    parts = {name: _passes(rule, value, name) for name, value in by_name.items()}
    verdicts = parts.values()
    holds = False if False in verdicts else None if None in verdicts else True
    return Verdict(claim, by_name, holds, parts)


def _taken(rule: Mapping[str, Any], findings: Findings, name: str | None) -> Any:
    def named(template: str) -> str:
        return template if name is None else template.replace("{}", name)

    if rule["judge"] == "order":
        return [findings.figure(named(value)) for value in rule["values"]]
    if rule["judge"] == "true":
        value = findings.look(named(rule["value"]))
        return value if isinstance(value, bool) else None
    value = findings.figure(named(rule["value"]))
    if "over" not in rule or value is None:
        return value
    divisor = findings.figure(named(rule["over"]))
    return value / divisor if divisor else None


def _passes(rule: Mapping[str, Any], ours: Any, name: str | None) -> bool | None:
    """Return the verdict on one figure (or one list of them)."""
    kind = rule["judge"]
    if ours is None or (isinstance(ours, list) and None in ours):
        return None
    if kind == "true":
        return bool(ours)
    if kind == "order":
        if "ties" in rule and any(one == other for one, other in itertools.pairwise(ours)):
            loose = _ordered(ours, rising=rule["direction"] == "rising", slack=math.ulp(1.0))
            return None if loose else False
        return _ordered(ours, rising=rule["direction"] == "rising", slack=rule.get("slack", 0.0))
    if kind == "between":
        return bool(rule["low"] <= ours <= rule["high"])
    if kind == "near":
        paper = rule["paper"][name] if isinstance(rule["paper"], Mapping) else rule["paper"]
        # A figure on the border passes, however it is rounded.
        return bool(abs(ours - paper) <= room(rule, paper) + 1e-12 * abs(paper))
    than = rule["than"]
    return bool({"below": ours < than, "above": ours > than, "at-most": ours <= than, "at-least": ours >= than}[kind])


def room(rule: Mapping[str, Any], paper: float) -> float:
    """Return how far from the paper's figure a value may be under judge ``near``, in the value's own unit."""
    return float(rule["tolerance_abs"] if "tolerance_abs" in rule else rule["tolerance"] * abs(paper))


def _ordered(figures: Sequence[float], *, rising: bool, slack: float) -> bool:
    steps = list(itertools.pairwise(figures))
    pairs = steps if rising else [(after, before) for before, after in steps]
    if slack > 0:
        return all(small <= large * (1 + slack) for small, large in pairs)
    return all(small < large for small, large in pairs)


def rule_text(rule: Mapping[str, Any]) -> str:
    """Return how a claim is judged, in words."""
    kind, unit = rule["judge"], rule.get("unit", "")
    each = rule.get("each", [])
    whose = f"{rule['take'].replace('-', ' ')} over {len(each)}: " if "take" in rule else "each " if each else ""
    if kind == "order":
        slack = f", neighbours within {units.share(rule['slack'])} of each other may swap" if rule.get("slack") else ""
        slack += ", equal figures show no difference" if "ties" in rule else ""
        return f"{whose}{rule['direction']}{slack}"
    if kind == "true":
        return f"{whose}true"
    if kind == "between":
        return f"{whose}from {_bound(rule['low'], unit)} to {_bound(rule['high'], unit)}"
    if kind == "near":
        return f"{whose}{_room(rule, unit)} the paper's figure"
    return f"{whose}{kind.replace('-', ' ')} {_bound(rule['than'], unit)}"


def _room(rule: Mapping[str, Any], unit: str) -> str:
    if "tolerance" in rule:
        return f"within {units.share(rule['tolerance'])} of" if rule["tolerance"] else "exactly"
    points = rule["tolerance_abs"]
    return (
        f"within {units.figure(100 * points, 2)} points of" if unit == "share" else f"within {shown(points, unit)} of"
    )


def _bound(value: Any, unit: str) -> str:
    """Format a bound as it was written: 5 years, not 5.00 years."""
    return shown(value, unit).replace(units.figure(value), f"{value:g}")


def shown(value: object, unit: str = "", digits: int = 3) -> str:
    """Format a figure of ours or of the paper's: ``4.4x``, ``80 %``, ``5.02 years``, ``-`` for None.

    Figures of a list that differ also look different, which shows their order.
    """
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(one, unit)}" for name, one in value.items())
    if isinstance(value, list):
        return " / ".join(_distinct_texts(value, unit))
    if not isinstance(value, int | float):
        return str(value)
    if unit == "share":
        return f"{100 * value:.{digits - 2}f} %"
    if unit in ("s", "us"):
        return units.span(value * (1e-6 if unit == "us" else 1.0))
    # What is counted is counted whole.
    text = str(value) if isinstance(value, int) and unit == "" else units.figure(value, digits)
    return {"x": f"{text}x", "": text}.get(unit, f"{text} {unit}")


def _distinct_texts(values: list[Any], unit: str) -> list[str]:
    texts: list[str] = []
    for digits in range(3, 8):
        texts = [shown(one, unit, digits) for one in values]
        neighbours = zip(itertools.pairwise(values), itertools.pairwise(texts), strict=True)
        if all(one == other or text != next_text for (one, other), (text, next_text) in neighbours):
            break
    return texts
