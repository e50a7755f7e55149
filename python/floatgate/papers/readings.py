"""Claims under several readings of a text: verdicts as cells of tables.

Where a text can be read in two ways, its claims are judged under each reading with the rules of ``claims.toml``; only
the values behind the names differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from floatgate.papers.judge import Findings, Verdict, judge, shown
from floatgate.papers.paper import read

MARKS: dict[bool | None, str] = {True: "✓", False: "✗", None: "○"}


def verdicts(folder: Path, findings: Findings, ids: Iterable[str]) -> dict[str, Verdict]:
    """Judge some claims of the paper in a folder.

    Raises:
        KeyError: the paper has no such claim.
        InputError: its files are not what a paper needs.
    """
    claims = {claim.id: claim for claim in read(folder).claims}
    return {one: judge(claims[one], findings) for one in ids}


def cells(prefix: str, judged: Mapping[str, Verdict]) -> dict[str, str]:
    """Return by ``PREFIX.CLAIM`` a mark and the figure, or how many names passed: ``✓ 61.5 %``, ``✗ 3 of 6``."""
    return {f"{prefix}.{one}": _cell(verdict) for one, verdict in judged.items()}


def _cell(verdict: Verdict) -> str:
    ours: Any = verdict.ours
    if verdict.parts:
        passed = sum(holds is True for holds in verdict.parts.values())
        return f"{MARKS[verdict.holds]} {passed} of {len(verdict.parts)}"
    return f"{MARKS[verdict.holds]} {shown(ours, verdict.claim.rule.get('unit', ''))}"
