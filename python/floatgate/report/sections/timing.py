"""What collection did that program contexts time."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look

KNOWN_FROM = 0.99
"""Share of pages with a context from which on the others are not worth a remark."""


def lines(result: dict[str, Any]) -> list[str]:
    """Say what waited and what came of it, and what was prepared for bursts; empty unless contexts time collection.

    As ``40 blocks passed over because their data were dying; 35 of them collected later, 20 dead by then``.
    """
    facts = look(result, "gc", "timing")
    if not facts:
        return []
    bursts = facts.get("bursts")
    texts = [_waits(facts), *_outcomes(facts)]
    return [*texts, _bursts(bursts)] if bursts and bursts["bursts"] else texts


def _waits(facts: dict[str, Any]) -> str:
    if not facts["passed_over"] and not facts["collected_later"]:
        return "no block had to wait for its data to be overwritten"
    later, dead = (units.count(facts[key]) for key in ("collected_later", "dead_later"))
    waits = f"{units.counted(facts['passed_over'], 'block')} passed over because their data were dying"
    return f"{waits}; {later} of them collected later, {dead} dead by then"


def _outcomes(facts: dict[str, Any]) -> list[str]:
    """Say what waiting saved and cost, and how good the expectations were."""
    texts = []
    if facts["collected_later"]:
        saved, copied = (units.count(facts[key]) for key in ("saved_pages", "copied_later"))
        texts.append(f"{saved} of their pages died meanwhile, {copied} were copied")
    if facts["instead"]:
        others, pages = units.counted(facts["instead"], "other block"), units.count(facts["instead_pages"])
        texts.append(f"{others} collected instead, with {pages} more valid pages")
    if facts["needed"]:
        texts.append(f"{units.counted(facts['needed'], 'block')} could have waited, but space was needed")
    if facts["predicted_deaths"]:
        share = units.share(facts["deaths_in_time"] / facts["predicted_deaths"])
        texts.append(f"{share} of {units.count(facts['predicted_deaths'])} expected deaths came in time")
    return texts


def _bursts(facts: dict[str, Any]) -> str:
    predicted, bursts, right = (units.count(facts[key]) for key in ("predicted", "bursts", "as_predicted"))
    text = f"{predicted} of {bursts} bursts predicted by context, {right} of these from half to twice as large"
    if not facts["predicted"]:
        return f"none of {bursts} bursts predicted by context"
    prepared, used = units.count(facts["prepared_blocks"]), units.count(facts["used_blocks"])
    return f"{text}; {prepared} blocks prepared, {used} used"


def remarks(result: dict[str, Any]) -> list[str]:
    """Say how many pages had no context, and that waiting cost more than it saved."""
    facts = look(result, "gc", "timing")
    if not facts:
        return []
    share = facts["pages_with_context_share"]
    texts = []
    if share is not None and share < KNOWN_FROM:
        texts.append(
            f"Only {units.share(share)} of the pages were written with a program context; "
            "the others are collected as without contexts."
        )
    if facts["instead_pages"] > facts["saved_pages"]:
        texts.append(
            "Blocks that waited saved fewer copies than those collected instead cost: "
            'compare with ftl.collect.timing = "free-blocks".'
        )
    return texts


SECTION = section.Section(
    "timing",
    lines=lambda _, result: [("timing" if i == 0 else "", text) for i, text in enumerate(lines(result))],
    remarks=remarks,
)
