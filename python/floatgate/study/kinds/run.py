"""Folders of single runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from floatgate.base import units
from floatgate.report.sections import drive, lifetime_headline, workload
from floatgate.report.sections.amplification import amplification
from floatgate.results.flat import flat
from floatgate.results.result_view import look
from floatgate.run.run import TEXT_MAX, load
from floatgate.study.kinds.kind import Document, Kind, Overview, Row


def row(result: Document) -> Iterator[Row]:
    """Yield the run's row."""
    yield {"status": "done", **flat(result)}


def overview(_path: Path, result: Document) -> Overview:
    """Describe as ``mlc-20nm 128 GiB, uniform, functional``."""
    size = drive.physical_bytes(result)
    name = drive.name(result) or "drive"
    mode = look(result, "mode") or "functional"
    waf, _ = amplification(result)
    life = lifetime_headline.years(result)
    return Overview(
        f"{name}{f' {units.binary_bytes(size)}' if size else ''}, {workload.short_name(result)}, {mode}",
        "" if waf is None else f"{waf:.2f}",
        "" if life is None else units.years(life),
    )


def _report(path: Path, _result: Document) -> str:
    return load(path).report()


KIND = Kind("run", overview, _report, row, TEXT_MAX)
