"""Folders of one experiment with several seeds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from floatgate.base.errors import RunError
from floatgate.study.compare import Setting
from floatgate.study.kinds.kind import Document, Folder, Kind, Row, Told, lives_of, load_inner, row_of, wafs_of
from floatgate.study.repeat import Repetition


def _rows(content: Document) -> Iterator[Row]:
    for result, error in zip(content["runs"], content["errors"], strict=True):
        yield row_of({}, result, error)


def _told(_path: Path, content: Document) -> Told:
    runs = content["runs"]
    known = [result for result in runs if result is not None]
    failed = f", {len(runs) - len(known)} failed" if len(known) < len(runs) else ""
    return Told(f"{len(runs)} seeds{failed}", wafs_of(known), lives_of(known))


def _seed(folder: Path, seed: int, result: Any, error: str | None) -> Setting:
    run = None if result is None else load_inner(folder / f"seed-{seed}")
    return Setting([("seed", str(seed))], run, None if error is None else RunError(error))


def _report(folder: Folder) -> str:
    with folder.document() as content:
        runs = zip(content["seeds"], content["runs"], content["errors"], strict=True)
        return Repetition([_seed(folder.path, *entry) for entry in runs]).report()


KIND = Kind("repeat", _told, _report, _rows)
