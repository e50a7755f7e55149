"""Folders of comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from floatgate.study.kinds.kind import Document, Kind, Overview, Row, overview_of, row_of
from floatgate.study.loaded_comparison import restored


def _rows(content: Document) -> Iterator[Row]:
    for setting in content["settings"]:
        results = setting.get("results") or [setting["result"]]
        errors = setting.get("errors") or [setting["error"]]
        for result, error in zip(results, errors, strict=True):
            yield row_of(setting["set"], result, error)


def _overview(_path: Path, content: Document) -> Overview:
    settings = content["settings"]
    what = f"{len(settings)} settings of {', '.join(settings[0]['set'])}"
    return overview_of(what, [setting["result"] for setting in settings])


def _report(path: Path, content: Document) -> str:
    return restored(path, content).report()


KIND = Kind("compare", _overview, _report, _rows)
