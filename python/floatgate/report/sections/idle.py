"""Idle time of a run in time, and how it was predicted."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look

KNOWN_FROM = 0.99
"""Share of requests with a context from which on the others are not worth a remark."""


def lines(result: dict[str, Any]) -> list[str]:
    """Format the use of idle time, and the prediction; empty without jobs in idle time.

    As ``1.2 k idle periods, 48 s in all; jobs worked in 200 of them; 12 requests arrived during a step``.
    """
    facts = look(result, "jobs", "idle")
    if not facts or not facts["periods"]:
        return []
    periods, used, delayed = (units.count(facts[key]) for key in ("periods", "used_periods", "delayed_requests"))
    use = f"{periods} idle periods, {units.span(facts['idle_s'])} in all; jobs worked in {used} of them"
    texts = [f"{use}; {delayed} requests arrived during a step"]
    prediction = facts.get("prediction")
    return [*texts, _prediction(prediction)] if prediction else texts


def _prediction(facts: dict[str, Any]) -> str:
    """Format as ``80 of 95 long periods predicted by context, 4 predictions wrong; 98 % of ... was idle``."""
    right, predicted = facts["predicted_long_periods"], facts["predicted_periods"]
    text = f"{units.count(right)} of {units.count(facts['long_periods'])} long periods predicted by context"
    if not predicted:
        return text
    wrong = f"{units.count(predicted - right)} predictions wrong"
    idle = f"{units.share(facts['predicted_idle_share'])} of the predicted time was idle"
    return f"{text}, {wrong}; {idle}"


def remarks(result: dict[str, Any]) -> list[str]:
    """Say how many requests had no context, if contexts predict."""
    share = look(result, "jobs", "idle", "prediction", "requests_with_context_share")
    if share is None or share >= KNOWN_FROM:
        return []
    return [f"Only {units.share(share)} of the requests have a program context; after others nothing is predicted."]


SECTION = section.Section(
    "idle",
    lines=lambda _, result: [("idle", text) for text in lines(result)],
    remarks=remarks,
)
