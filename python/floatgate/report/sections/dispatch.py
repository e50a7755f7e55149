"""What a dispatcher did, in words: ``ftl.dispatch`` labels writes that belong together."""

from __future__ import annotations

from typing import Any

from floatgate.base import units
from floatgate.report.sections import section
from floatgate.results.result_view import look


def policy(result: dict[str, Any]) -> str | None:
    """Return the dispatcher that labels writes; None where none does."""
    return look(result, "config", "ftl", "dispatch", "policy") if look(result, "dispatch") else None


def line(result: dict[str, Any]) -> str | None:
    """Format as ``patterns: 12 % of the writes are in patterns, 3.4 per window of 5.1 addresses``; None if unused."""
    facts: dict[str, Any] | None = look(result, "dispatch")
    if not facts:
        return None
    name, writes = policy(result), look(result, "host", "write_requests")
    matched = f"{units.share(facts['matched_requests'] / writes)} of the writes" if writes else "no writes"
    if facts["patterns_per_window"] is None:
        return f"{name}: {matched} are to addresses that are written often"
    patterns = f"{units.figure(facts['patterns_per_window'])} per window"
    if facts["pattern_size_mean"] is not None:
        patterns += f", {units.figure(facts['pattern_size_mean'])} addresses each"
    return f"{name}: {matched} are in patterns ({patterns})"


def remarks(result: dict[str, Any]) -> list[str]:
    """Return what a reader should know who compares dispatchers."""
    facts: dict[str, Any] = look(result, "dispatch") or {}
    phrases = []
    if facts and not facts["matched_requests"]:
        phrases.append(
            f"{policy(result)} found no writes that belong together in this workload (floatgate trace patterns shows "
            "what a trace has)"
        )
    if facts.get("windows_too_dense"):
        phrases.append(
            f"{units.count(facts['windows_too_dense'])} windows have too many patterns to list, and were not "
            "labelled (a larger ftl.dispatch.support or items_min finds fewer)"
        )
    return phrases


SECTION = section.Section("dispatch", lines=lambda _, result: [("dispatch", line(result))], remarks=remarks)
