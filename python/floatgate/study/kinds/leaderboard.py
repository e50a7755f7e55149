"""Folders of leaderboards."""

from __future__ import annotations

from pathlib import Path

from floatgate.study.kinds.kind import Document, Kind, Overview
from floatgate.study.leaderboard.loaded import load_leaderboard


def _overview(path: Path, content: Document) -> Overview:
    """Describe as ``22 separators on 19 traces``, with the one of the lowest write amplification."""
    what = f"{len(content['policies'])} policies ({content['slot']}) on {len(content['traces'])} traces"
    best = next((row for row in load_leaderboard(path).standings.rows if row.rank == 1), None)
    return Overview(what if best is None else f"{what}; lowest: {best.policy}")


def _report(path: Path, _content: Document) -> str:
    return load_leaderboard(path).report()


KIND = Kind("leaderboard", _overview, _report)
"""Folders of leaderboards; their runs have a table, as those of a sweep."""
