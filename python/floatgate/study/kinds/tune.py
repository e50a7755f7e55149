"""Folders of searches."""

from __future__ import annotations

import contextlib
from pathlib import Path

from floatgate.study.kinds import sweep
from floatgate.study.kinds.kind import Document, Kind


def _report(path: Path, _plan: Document) -> str:
    from floatgate.study.tune.page import page, unsteady_runs
    from floatgate.study.tune.search import BEST, Search, begun

    with contextlib.closing(Search(path, begun(path), read_only=True)) as search:
        proof = search.proof() if (path / BEST).is_file() else None
        trials = search.trials()
        return page(search.plan, trials, search.importance(), proof, unsteady=unsteady_runs(path))


KIND = Kind("tune", sweep.overview, _report)
