"""Folders of forecast lives."""

from __future__ import annotations

from floatgate.run.lifetime import Lifetime
from floatgate.run.run import read_text
from floatgate.study.kinds import run
from floatgate.study.kinds.kind import Folder, Kind


def _report(folder: Folder) -> str:
    with folder.document() as content:
        return Lifetime(content, read_text(folder.experiment()), folder.path.absolute().name).report()


KIND = Kind("lifetime", run.told, _report, run.row)
