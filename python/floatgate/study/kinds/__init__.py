"""The kinds of results: one file for each, with all that differs between them."""

from __future__ import annotations

from floatgate.study.kinds import compare, lifetime, plan, repeat, run, sweep, tune
from floatgate.study.kinds.kind import Folder, Kind

KINDS: dict[str, Kind] = {one.KIND.name: one.KIND for one in (run, sweep, tune, compare, repeat, lifetime, plan)}
"""By name. A folder is of the first kind whose file it has."""

__all__ = ["KINDS", "Folder", "Kind"]
