"""The kinds of results: one file for each, with all that differs between them."""

from __future__ import annotations

from floatgate.study.kinds import compare, leaderboard, lifetime, plan, repeat, run, sweep, tune
from floatgate.study.kinds.kind import Folder, Kind

_MODULES = (run, leaderboard, sweep, tune, compare, repeat, lifetime, plan)
KINDS: dict[str, Kind] = {one.KIND.name: one.KIND for one in _MODULES}
"""By name. A folder is of the first kind whose file it has: that of a leaderboard has a sweep, too."""

__all__ = ["KINDS", "Folder", "Kind"]
