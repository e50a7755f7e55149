"""What the model leaves out of many runs, from their experiments: tables of runs only hold numbers."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable

from floatgate.base.errors import InputError
from floatgate.report.sections import not_modelled
from floatgate.run.experiment import Overrides
from floatgate.run.run import check
from floatgate.study.runs.plan import RunPlan, placed

_FIRST = 10_000
_MOST = 24
"""Number of points to inspect, and of different drives among them; the rest leave out the same."""


def of_runs(plan: RunPlan | None, settings: Iterable[Overrides] | None = None) -> list[str]:
    """Return what any of the runs leaves out; nothing where none can be known.

    Args:
        plan: the runs; None without a plan.
        settings: what each of them sets; None for all points of the plan.
    """
    if plan is None:
        return []
    distinct: dict[tuple[tuple[str, str], ...], Overrides] = {}
    for one in itertools.islice(plan.points if settings is None else settings, _FIRST):
        distinct.setdefault(tuple((key, value) for key, value in one if _matters(key)), one)
        if len(distinct) == _MOST:
            break
    phrases: list[str] = []
    for one in distinct.values():
        phrases += _of(plan, one)
    return list(dict.fromkeys(phrases))


def _matters(key: str) -> bool:
    return key == "mode" or key.startswith("drive.")


def _of(plan: RunPlan, settings: Overrides) -> list[str]:
    experiment = plan.base.with_overrides(placed(settings, plan.files))
    try:
        return not_modelled.of_experiment(tomllib.loads(check(experiment)))
    except InputError:
        return []  # such a run has no result either
