"""Folders of forecast lives."""

from __future__ import annotations

from pathlib import Path

from floatgate.run.lifetime import Lifetime
from floatgate.study.kinds import run
from floatgate.study.kinds.kind import Document, Kind, experiment_of


def _report(path: Path, content: Document) -> str:
    return Lifetime(content, experiment_of(path), path.absolute().name).report()


KIND = Kind("lifetime", run.told, _report, run.row)
