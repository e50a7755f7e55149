"""The series of a run: one row per interval of the counted phase.

The core returns running totals at the ends of intervals; this module makes a table of the events *in* each interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from floatgate.results.arrays import of_numbers

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

GAUGES = ("free_blocks",)
"""Columns that are levels at the end of the interval, not running totals."""

POSITIONS = ("requests", "time_s")
"""Columns that say where the interval ends; they stay running totals."""

MAXIMA = ("read_latency_max_us", "write_latency_max_us")
"""Columns that hold the largest value of the interval already."""

_TOTALS = frozenset((*POSITIONS, *GAUGES))

UNITS = {
    "requests": "requests served up to the end of the interval",
    "time_s": "s, end of the interval on the workload's clock",
    "page_writes": "pages written by the host",
    "page_reads": "pages read by the host",
    "flash_writes": "pages programmed, all causes",
    "waf": "flash_writes / page_writes; null without host writes",
    "free_blocks": "blocks, at the end of the interval",
    "held_back_s": "s, what the throttle held page writes back, delays and waits of all of them",
    "reads_done": "read requests done",
    "writes_done": "write requests done",
    **{
        f"{kind}_latency_{figure}_us": f"us, {figure} of the latencies of the {kind}s done"
        for kind in ("read", "write")
        for figure in ("sum", "mean", "max")
    },
}

_QUOTIENTS = (
    ("waf", "flash_writes", "page_writes"),
    ("read_latency_mean_us", "read_latency_sum_us", "reads_done"),
    ("write_latency_mean_us", "write_latency_sum_us", "writes_done"),
)
"""Name, dividend and divisor of the columns that are not counted."""

_DTYPES = {"i8": "<i8", "f8": "<f8"}


def table(columns: Mapping[str, bytes], types: Mapping[str, str]) -> pa.Table:
    """Build a table per interval from the core's running totals.

    Args:
        columns: name -> little-endian 8-byte values, one per interval.
        types: name -> ``i8`` or ``f8``.

    Returns:
        A table of one row per interval: where the interval ends (``requests``, ``time_s``), the counts of the interval
        (``page_writes``, ``page_reads``, ``programs_*``, ``erases_*`` by cause), ``flash_writes`` (the sum of
        programs), ``waf`` (null without host writes) and ``free_blocks`` (level at its end). A run under a throttle has
        ``held_back_s``. A timed run has
        ``reads_done`` and ``read_latency_sum_us``, ``_mean_us`` and ``_max_us`` (null where none was done), and the
        same of writes. Each field's metadata says its unit.
    """
    import numpy as np

    totals = {name: np.frombuffer(data, dtype=_DTYPES[types[name]]) for name, data in columns.items()}
    values: dict[str, np.ndarray[Any, Any]] = {}
    for name, total in totals.items():
        kept = name in _TOTALS or name in MAXIMA
        values[name] = total if kept else np.diff(total, prepend=total.dtype.type(0))
    return _with_quotients(values)


def _with_quotients(values: dict[str, np.ndarray[Any, Any]]) -> pa.Table:
    import numpy as np
    import pyarrow as pa

    programs = [column for name, column in values.items() if name.startswith("programs_")]
    order = [*values]
    arrays = {name: of_numbers(column) for name, column in values.items()}
    if programs and "page_writes" in values:
        flash = np.sum(programs, axis=0)
        host = values["page_writes"]
        silent = host == 0
        waf = flash / np.where(silent, 1, host)
        at = order.index("page_writes") + 1
        order[at:at] = ["flash_writes", "waf"]
        arrays["flash_writes"] = of_numbers(flash)
        arrays["waf"] = of_numbers(waf, silent)
    for kind in ("read", "write"):
        if f"{kind}s_done" not in values:
            continue
        done = values[f"{kind}s_done"]
        total, mean, longest = (f"{kind}_latency_{figure}_us" for figure in ("sum", "mean", "max"))
        arrays[mean] = of_numbers(values[total] / np.where(done == 0, 1, done), done == 0)
        arrays[longest] = of_numbers(values[longest], done == 0)
        order.insert(order.index(total) + 1, mean)
    fields = [pa.field(name, arrays[name].type, metadata={"unit": _unit(name)}) for name in order]
    return pa.table([arrays[name] for name in order], schema=pa.schema(fields))


def _unit(name: str) -> str:
    if name in UNITS:
        return UNITS[name]
    kind, _, cause = name.partition("_")
    return f"{'pages programmed' if kind == 'programs' else 'blocks erased'}, cause {cause}"


def thinned(series: pa.Table, rows: int) -> list[dict[str, Any]]:
    """Reduce to at most ``rows`` rows for a chart: neighbours added up, levels and positions taken at the end.

    Of maxima the largest is kept; quotients are those of the sums, None where there is nothing to divide by.
    """
    if series.num_rows == 0:
        return []
    step = -(-series.num_rows // rows)
    columns = series.to_pydict()
    starts = range(0, series.num_rows, step)
    result = []
    for start in starts:
        end = min(start + step, series.num_rows)
        row: dict[str, Any] = {}
        for name, values in columns.items():
            part = values[start:end]
            if name in _TOTALS:
                row[name] = part[-1]
            elif name in MAXIMA:
                row[name] = max((value for value in part if value is not None), default=None)
            else:
                row[name] = sum(value or 0 for value in part)
        for quotient, over, under in _QUOTIENTS:
            if quotient in row:
                row[quotient] = row[over] / row[under] if row[under] else None
        result.append(row)
    return result


def rates(series: pa.Table, bins: int) -> list[dict[str, float]] | None:
    """Return pages programmed per second by cause, in ``bins`` equal stretches of time; None for untimed workloads.

    The core's intervals are equal in requests; what falls into one is spread evenly over its time.

    Returns:
        A row per stretch: ``time_s``, its end, and ``programs_<cause>``, pages per second.
    """
    import numpy as np

    def numbers(name: str) -> np.ndarray[Any, Any]:
        # For conversions of its own pyarrow imports pandas, which takes longer than a small run.
        kind = "<f8" if series.schema.field(name).type == "double" else "<i8"
        chunks = [
            np.frombuffer(chunk.buffers()[1], kind, len(chunk), 8 * chunk.offset)
            for chunk in series[name].chunks
            if len(chunk) > 0
        ]
        return np.concatenate([np.zeros(0), *chunks])

    names = [name for name in series.column_names if name.startswith("programs_")]
    ends = np.maximum.accumulate(numbers("time_s"))
    if ends.size == 0 or ends[-1] <= 0:
        return None
    times = np.concatenate([[0.0], np.maximum(ends, 0.0)])
    edges = np.linspace(0.0, times[-1], bins + 1)
    rows: dict[str, Any] = {"time_s": edges[1:]}
    for name in names:
        total = np.concatenate([[0], np.cumsum(numbers(name))])
        rows[name] = np.diff(np.interp(edges, times, total)) / (times[-1] / bins)
    return [{name: float(column[index]) for name, column in rows.items()} for index in range(bins)]
