"""How to read the figures of a sweep: runs that are not steady, drives that fell behind, collection of several blocks.

A sweep keeps flat rows. Those of the columns that decide are made results again, with figures and settings by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from floatgate.report import several
from floatgate.report.sections import backlog, forced, garbage, lifetime_headline, streams
from floatgate.report.sections.limits.settings import plain_text
from floatgate.results.seed_stats import SHARED_TRACE, draws_workload
from floatgate.study.runs.work import DONE

if TYPE_CHECKING:
    from floatgate.study.sweeps.loaded import LoadedSweep

_COLUMNS = (
    *(f"evidence.{name}" for name in ("enough", "why", "transient_requests", "drive_writes", "drive_writes_needed")),
    *(f"workload.{name}" for name in ("kind", "passes", "requests", "warmup_requests", "warmup_passes")),
    lifetime_headline.WORN_IN,
    *(f"ftl.collect.{name}" for name in ("mode", "trigger_free_blocks", "stop_free_blocks")),
    *lifetime_headline.PACE,
    forced.KEY,
    garbage.KEY,
    "ftl.separate.policy",
)
"""Columns that decide whether a run is steady, whether its drive kept up, and how much is collected at a time."""
_MEANS = (forced.KEY, *backlog.COLUMNS[1:])
"""Columns of which the mean over seeds counts."""


def notes(sweep: LoadedSweep) -> list[str]:
    """Return the notes of a sweep, as comparisons have them.

    Args:
        sweep: its runs.
    """
    table = sweep.arrow()
    wanted = [name for name in table.column_names if name in _COLUMNS]
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in table.select(list(dict.fromkeys(["status", *sweep.keys, *wanted]))).to_pylist():
        if row["status"] == DONE:
            groups.setdefault(", ".join(plain_text(row[key]) for key in sweep.keys), []).append(row)
    results = {label: _of_seeds(rows) for label, rows in groups.items()}
    shared = sweep.repeat > 1 and not all(map(draws_workload, results.values()))
    return [
        *streams.batch_notes(list(results.values())),
        *([SHARED_TRACE] if shared else []),
        *several.notes(results),
    ]


def _of_seeds(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return one result of the rows of several seeds: the one that lacks most, with the means of some columns."""
    means = {}
    for key in _MEANS:
        values = [value for row in rows if (value := row.get(key)) is not None]
        means[key] = math.fsum(values) / len(values) if values else None
    return max((_nested({**row, **means}) for row in rows), key=_lacks)


def _lacks(result: Mapping[str, Any]) -> tuple[bool, int]:
    """Return how much a run lacks, to take the one of several seeds that lacks most."""
    short = lifetime_headline.shortage(result)
    return short is not None, 0 if short is None or short.setting is None else short.setting[1]


def _nested(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a flat row as a result: a flat row has figures and settings under their own keys."""
    tree: dict[str, Any] = {}
    for key, value in row.items():
        table = tree
        *tables, name = key.split(".")
        for one in tables:
            table = table.setdefault(one, {})
        table[name] = value
    return {**tree, "config": tree}
