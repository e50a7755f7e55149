"""Folders of searches."""

from __future__ import annotations

import contextlib

from floatgate.study.kinds import sweep
from floatgate.study.kinds.kind import Folder, Kind


def _report(folder: Folder) -> str:
    from floatgate.study.tune.page import page
    from floatgate.study.tune.search import BEST, Search, begun

    with contextlib.closing(Search(folder.path, begun(folder.path), read_only=True)) as search:
        proof = search.proof() if (folder.path / BEST).is_file() else None
        trials = search.trials()
        return page(search.plan, trials, search.importance(), proof)


KIND = Kind("tune", sweep.told, _report)
