"""Folders of plans."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from floatgate.base import units
from floatgate.report.sections.forecast import entry
from floatgate.study.kinds.kind import Document, Kind, Overview, Row, experiment_of, row_of, span, wafs_of
from floatgate.study.plan import Plan


def _rows(content: Document) -> Iterator[Row]:
    for point in content["points"]:
        yield row_of({}, point if point["error"] is None else None, point["error"])


def _overview(_path: Path, content: Document) -> Overview:
    known = [point for point in content["points"] if point["error"] is None]
    # Plans of older versions know the life of the flash alone.
    lives = [life for point in known if (life := point.get("life_years", entry.years(point))) is not None]
    what = f"{len(content['points'])} choices of drive and throttle for {content['label']}"
    return Overview(what, wafs_of(known), span(list(map(units.years, sorted(lives)))))


def _report(path: Path, content: Document) -> str:
    return Plan.of(content, experiment_of(path)).report()


KIND = Kind("plan", _overview, _report, _rows)
