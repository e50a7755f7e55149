"""How to read the write amplification of a sweep: runs that are not steady, and collection of several blocks at a time.

A sweep keeps flat rows. Those of the columns that decide are made results again, with figures and settings by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from floatgate.report.sections import garbage, lifetime_headline, streams
from floatgate.report.sections.limits.settings import plain_text
from floatgate.study.runs.work import DONE

if TYPE_CHECKING:
    from floatgate.study.sweeps.loaded import LoadedSweep

_COLUMNS = (
    *(f"evidence.{name}" for name in ("enough", "why", "transient_requests", "drive_writes", "drive_writes_needed")),
    *(f"workload.{name}" for name in ("kind", "passes", "requests", "warmup_requests")),
    *(f"ftl.collect.{name}" for name in ("mode", "trigger_free_blocks", "stop_free_blocks")),
    garbage.KEY,
    "ftl.separate.policy",
)
"""Columns that decide whether a run is steady, and how much is collected at a time."""


def notes(sweep: LoadedSweep) -> list[str]:
    """Return the notes of a sweep, as comparisons have them.

    Args:
        sweep: its runs.
    """
    table = sweep.arrow()
    wanted = [name for name in table.column_names if name in _COLUMNS]
    results: dict[str, dict[str, Any]] = {}
    for row in table.select(list(dict.fromkeys(["status", *sweep.keys, *wanted]))).to_pylist():
        if row["status"] != DONE:
            continue
        label, result = ", ".join(plain_text(row[key]) for key in sweep.keys), _nested(row)
        if label not in results or _lacks(result) > _lacks(results[label]):
            results[label] = result
    return [*streams.batch_notes(list(results.values())), *lifetime_headline.shortages(results)]


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
