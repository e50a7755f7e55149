"""floatgate: how long a flash drive lasts under a workload, and what its firmware's policies do about it.

>>> import floatgate
>>> run = floatgate.run({"drive.capacity": "64 MiB", "workload.requests": 40_000})
>>> round(run.waf, 2)
1.97
>>> print(run.summary().splitlines()[0])
drive      custom: 64 MiB flash, 59.5 MiB visible, 7.0 % spare
>>> chart = run.plot_waf()

Modules and packages are imported when a name that needs them is first used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base.errors import FloatgateError, InputError, RunError

if TYPE_CHECKING:
    from floatgate.base.theory import theory_wa
    from floatgate.plugins.api import leveler, load_policies, separator, throttle, victim_policy
    from floatgate.plugins.contract import COLLECT, NONE, PASS_OVER
    from floatgate.plugins.declare import Param, State
    from floatgate.results.result_view import Record
    from floatgate.run.lifetime import Lifetime, lifetime
    from floatgate.run.run import Run, load, resume, run
    from floatgate.run.stream import RunStream, stream
    from floatgate.study.compare import Comparison, compare
    from floatgate.study.leaderboard.api import Leaderboard, leaderboard, load_leaderboard
    from floatgate.study.loaded_comparison import load_comparison
    from floatgate.study.plan import Plan
    from floatgate.study.plan_api import plan
    from floatgate.study.query import query
    from floatgate.study.sweeps.api import LoadedSweep, load_sweep, sweep
    from floatgate.trace.frame_trace import TraceFile, trace_from
    from floatgate.trace.info import trace_info
    from floatgate.trace.predictions import predict_lives

__version__ = _core.__version__

__all__ = [
    "COLLECT",
    "NONE",
    "PASS_OVER",
    "Comparison",
    "FloatgateError",
    "InputError",
    "Leaderboard",
    "Lifetime",
    "LoadedSweep",
    "Param",
    "Plan",
    "Record",
    "Run",
    "RunError",
    "RunStream",
    "State",
    "TraceFile",
    "__version__",
    "compare",
    "leaderboard",
    "leveler",
    "lifetime",
    "load",
    "load_comparison",
    "load_leaderboard",
    "load_policies",
    "load_sweep",
    "plan",
    "predict_lives",
    "query",
    "resume",
    "run",
    "separator",
    "stream",
    "sweep",
    "theory_wa",
    "throttle",
    "trace_from",
    "trace_info",
    "victim_policy",
]

_LATE = {
    "COLLECT": "plugins.contract",
    "Comparison": "study.compare",
    "Leaderboard": "study.leaderboard.api",
    "Lifetime": "run.lifetime",
    "LoadedSweep": "study.sweeps.api",
    "NONE": "plugins.contract",
    "PASS_OVER": "plugins.contract",
    "Param": "plugins.declare",
    "Plan": "study.plan",
    "Record": "results.result_view",
    "Run": "run.run",
    "RunStream": "run.stream",
    "State": "plugins.declare",
    "TraceFile": "trace.frame_trace",
    "compare": "study.compare",
    "leaderboard": "study.leaderboard.api",
    "leveler": "plugins.api",
    "lifetime": "run.lifetime",
    "load": "run.run",
    "load_comparison": "study.loaded_comparison",
    "load_leaderboard": "study.leaderboard.api",
    "load_policies": "plugins.api",
    "load_sweep": "study.sweeps.api",
    "plan": "study.plan_api",
    "predict_lives": "trace.predictions",
    "query": "study.query",
    "resume": "run.run",
    "run": "run.run",
    "separator": "plugins.api",
    "stream": "run.stream",
    "sweep": "study.sweeps.api",
    "theory_wa": "base.theory",
    "throttle": "plugins.api",
    "trace_from": "trace.frame_trace",
    "trace_info": "trace.info",
    "victim_policy": "plugins.api",
}
"""Names whose modules are imported when one is first used: a command or a program needs few of them."""


class _Package(ModuleType):
    """This package, with the function :func:`run` under the name of the room ``floatgate.run``."""

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute, but leave out the room that Python binds here when it is imported."""
        if not (name == "run" and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'floatgate' has no attribute {name!r}")
    value = getattr(import_module(f"floatgate.{_LATE[name]}"), name)
    globals()[name] = value
    return value
