"""floatgate: how long a flash drive lasts under a workload, and what its firmware's policies do about it.

>>> import floatgate
>>> run = floatgate.run({"drive.capacity": "64 MiB", "workload.requests": 40_000})
>>> round(run.waf, 2)
1.97
>>> print(run.summary().splitlines()[0])
drive      custom: 64 MiB flash, 59.5 MiB visible, 7.0 % spare
>>> chart = run.plot_waf()

The packages that tables and plots need are imported when they are first used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

from floatgate import _core
from floatgate.base.arguments import U32, checked
from floatgate.base.errors import FloatgateError, InputError, RunError
from floatgate.results.result_view import Record
from floatgate.run.lifetime import Lifetime, lifetime
from floatgate.run.run import Run, load, resume, run

if TYPE_CHECKING:
    from floatgate.run.stream import RunStream, stream
    from floatgate.study.compare import Comparison, compare
    from floatgate.study.loaded_comparison import load_comparison
    from floatgate.study.plan import Plan
    from floatgate.study.plan_api import plan
    from floatgate.study.query import query
    from floatgate.study.sweeps.api import LoadedSweep, load_sweep, sweep
    from floatgate.trace.frame_trace import TraceFile, trace_from

__version__ = _core.__version__

__all__ = [
    "Comparison",
    "FloatgateError",
    "InputError",
    "Lifetime",
    "LoadedSweep",
    "Plan",
    "Record",
    "Run",
    "RunError",
    "RunStream",
    "TraceFile",
    "__version__",
    "compare",
    "lifetime",
    "load",
    "load_comparison",
    "load_sweep",
    "plan",
    "query",
    "resume",
    "run",
    "stream",
    "sweep",
    "theory_wa",
    "trace_from",
    "trace_info",
]

_LATE = {
    "Comparison": "study.compare",
    "LoadedSweep": "study.sweeps.api",
    "Plan": "study.plan",
    "RunStream": "run.stream",
    "TraceFile": "trace.frame_trace",
    "compare": "study.compare",
    "load_comparison": "study.loaded_comparison",
    "load_sweep": "study.sweeps.api",
    "plan": "study.plan_api",
    "query": "study.query",
    "stream": "run.stream",
    "sweep": "study.sweeps.api",
    "trace_from": "trace.frame_trace",
}
"""Names whose modules are imported when one is first used: most programs use none."""


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'floatgate' has no attribute {name!r}")
    value = getattr(import_module(f"floatgate.{_LATE[name]}"), name)
    globals()[name] = value
    return value


@checked
def trace_info(path: str | os.PathLike[str], **options: str) -> Record:
    """Return what is in a trace: counts, update intervals, reuse distances, skew, demand; see ``docs/trace-info.md``.

    Args:
        path: the trace; .gz, .xz and .zst are unpacked on the way.
        options: ``format``, ``time_unit``, ``lba_unit``, ``action``, ``on_bad_line``, and for a slice of the trace
            ``from_``, ``until``, ``device``, ``op``, ``requests``, ``fold``, ``time_scale``, as the command line has
            them.

    Returns:
        The statistics, as ``floatgate trace info --json`` prints them.

    Raises:
        InputError: the trace cannot be read; the message names file and line.
    """
    # An underscore keeps words of Python apart.
    named = {key.removesuffix("_"): value for key, value in options.items()}
    info: Mapping[str, Any] = json.loads(_core.trace_info(os.fspath(path), named))
    return Record(info)


@checked
def theory_wa(
    policy: str,
    spare_factor: float,
    pages_per_block: Annotated[int, U32],
    choices: Annotated[int, U32] | None = None,
) -> float:
    """Return the write amplification by the closed form for uniform random writes of one page.

    Args:
        policy: ``greedy``, ``fifo``, ``random`` or ``d-choices``.
        spare_factor: (T - U) / T, between 0 and 1.
        pages_per_block: pages of a block; ``greedy`` and ``d-choices`` depend on it.
        choices: blocks that d-choices draws for each victim.

    Returns:
        Pages programmed per page written by the host.

    Raises:
        InputError: an unknown policy, or a figure outside its range.

    Examples:
        >>> import floatgate
        >>> round(floatgate.theory_wa("greedy", 0.1, 128), 3)
        4.992
    """
    return _core.theory_wa(policy, spare_factor, pages_per_block, choices)
