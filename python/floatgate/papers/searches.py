"""Searches in reproductions: the best of some settings of a workload, as ``floatgate tune`` finds it.

A batch with ``command = "tune"`` has a table ``search`` with the keys

``vary``
    settings and their values, as ``--vary`` has them.
``maximise``
    the figure that should be as large as possible.
``not_above``
    figures that may not be larger than without any of the settings.
``trials``
    settings that are tried; a space that has no more is tried whole.

The result of such a run is ``best`` (the settings), ``figures`` and ``base`` (the figures of the best and of the run
without any of them) and ``trials``.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floatgate.base.errors import RunError, quote
from floatgate.results.flat import flat, plain
from floatgate.run.experiment import Experiment
from floatgate.run.run import execute
from floatgate.study.runs.engine import Local
from floatgate.study.sweeps.spec import SweepOptions, points_of
from floatgate.study.sweeps.sweep import plan_of
from floatgate.study.tune.objective import goal_of
from floatgate.study.tune.search import Search, SearchPlan, best_of

KEYS = ("vary", "maximise", "not_above", "trials")
BATCH = 8
"""Settings that are proposed at a time."""


@dataclass(frozen=True)
class SearchSpec:
    """The search of a batch; see the module."""

    vary: tuple[str, ...]
    maximise: str
    not_above: tuple[str, ...]
    trials: int


def search_of(entry: Mapping[str, Any]) -> SearchSpec:
    """Return a batch's ``search``.

    Raises:
        ValueError: a key is missing or unknown.
    """
    unknown = sorted(set(entry) - set(KEYS))
    if unknown:
        raise ValueError(f"unknown key {quote(unknown[0])} of search; expected {', '.join(map(quote, KEYS))}")
    missing = [key for key in KEYS if key not in entry]
    if missing:
        raise ValueError(f"search has no {quote(missing[0])}; expected {', '.join(map(quote, KEYS))}")
    return SearchSpec(
        tuple(map(str, entry["vary"])),
        str(entry["maximise"]),
        tuple(map(str, entry["not_above"])),
        int(entry["trials"]),
    )


def searched(spec: SearchSpec, base: Experiment, progress: Callable[[int, int | None, str], None]) -> dict[str, Any]:
    """Return the best settings of a search.

    Args:
        spec: the search.
        base: the experiment without any of the settings.
        progress: called after each run with (done, total, phase); it raises to end the search.

    Raises:
        RunError: Optuna is not installed, or nothing keeps to the bounds.
        InputError: a setting or a figure is unknown.
    """
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise RunError("Optuna is not installed; expected the extra 'tune': pip install 'floatgate[tune]'") from None
    before = flat(execute(base).result.to_dict())
    bounds = [f"{key} <= {before[key]!r}" for key in spec.not_above if before.get(key) is not None]
    goal = goal_of([], [spec.maximise], bounds)
    points, repeat = points_of(SweepOptions(spec.vary), {}, "search")
    with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
        plan = SearchPlan(plan_of(base, points, repeat), goal, spec.trials, BATCH)
        with contextlib.closing(Search.open(Path(folder), plan, fresh=True)) as search:
            trials = search.run(Local(1), lambda done, total: progress(done, total, "runs"))
    front = best_of(trials, goal)
    if not front:
        raise RunError(f"none of {len(trials)} settings keeps to {', '.join(bounds)}")
    best = front[0]
    return {
        "best": {key: plain(value) for key, value in best.settings},
        "figures": best.figures,
        "base": {key: before[key] for key in goal.keys},
        "trials": len(trials),
    }
