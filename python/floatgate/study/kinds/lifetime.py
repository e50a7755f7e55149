"""Folders of forecast lives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from floatgate.base import units
from floatgate.report.sections.forecast import entry, load
from floatgate.run.lifetime import Lifetime
from floatgate.study.kinds import run
from floatgate.study.kinds.kind import Document, Kind, Overview, experiment_of


def _overview(path: Path, content: Document) -> Overview:
    """Describe it as a run, with the life that counts."""
    life = units.life(entry.earliest(content)[1], entry.target_years(content))
    return replace(run.overview(path, content), life="not known" if load.overloaded(content) else life)


def _report(path: Path, content: Document) -> str:
    return Lifetime(content, experiment_of(path), path.absolute().name).report()


KIND = Kind("lifetime", _overview, _report, run.row)
"""Folders of forecasts."""
