"""Folders of one experiment with several seeds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from floatgate.study.compare import Setting
from floatgate.study.kinds.kind import Document, Kind, Overview, Row, overview_of, row_of
from floatgate.study.loaded_comparison import inner
from floatgate.study.repeat import Repetition


def _rows(content: Document) -> Iterator[Row]:
    for result, error in zip(content["runs"], content["errors"], strict=True):
        yield row_of({}, result, error)


def _overview(_path: Path, content: Document) -> Overview:
    return overview_of(f"{len(content['runs'])} seeds", content["runs"])


def _report(path: Path, content: Document) -> str:
    runs = zip(content["seeds"], content["runs"], content["errors"], strict=True)
    return Repetition(
        [Setting.of([("seed", str(one[0]))], [inner(path / f"seed-{one[0]}", *one)]) for one in runs]
    ).report()


KIND = Kind("repeat", _overview, _report, _rows)
