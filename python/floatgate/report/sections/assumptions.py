"""What a run assumes about its workload, and what looks suspicious in it."""

from __future__ import annotations

from typing import Any

from floatgate.report.sections import section
from floatgate.results.result_view import look


def remarks(result: dict[str, Any]) -> list[str]:
    """Return suspicions first, then assumptions."""
    facts = look(result, "workload") or {}
    return [*(look(facts, "suspicions") or []), *(look(facts, "assumed") or [])]


SECTION = section.Section("assumptions", remarks=remarks)
