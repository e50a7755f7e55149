"""What the model leaves out: for a run from its result, for a forecast and a sweep from their experiments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from floatgate.report.sections import buffer
from floatgate.results.result_view import look

Facts = Mapping[str, Any] | None
"""A result, a forecast or what a plan keeps of one."""

LATENCY = "latency and queueing (functional mode counts operations)"
TO_THE_END = (
    "the end of life itself: blocks that fail early, and flash that gets slower and needs more read retries as it wears"
)
"""Effects that readers could only expect of a forecast."""
NO_DRIVE = "drives: all figures are counted in the trace; nothing is simulated"
OF_CAPTURES = (
    "what the pin does not show: pages, blocks and data of an operation, whether the host or the drive caused it, and "
    "operations of dies that were not captured"
)
_OFF = (None, "none", "0 B")


def of(result: Facts) -> list[str]:
    """Return what a run says that it leaves out; of a forecast, which does not say it, by its experiment."""
    phrases: list[str] | None = look(result, "not_modelled")
    if phrases is not None:
        return list(phrases)
    config = look(result, "config")
    if config is None:
        return []
    if look(result, "close_up") is None:
        return of_experiment(config)
    # In any mode: requests are simulated in timed mode wherever possible.
    timed = look(result, "close_up", "unknown") is None
    return [*of_experiment({**config, "mode": "timed" if timed else "functional"}), TO_THE_END]


def of_experiment(config: Mapping[str, Any]) -> list[str]:
    """Return the same by a resolved experiment, in the words of results."""
    known = {
        LATENCY: look(config, "mode") != "functional",
        "energy": look(config, "drive", "energy") is not None,
        "bad blocks": False,
        "data retention": False,
        "read disturb": look(config, "drive", "disturb", "model") not in _OFF,
        "SLC cache": False,
        "DRAM buffer": buffer.is_modelled(config),
        "metadata writes of the FTL": look(config, "ftl", "metadata", "policy") not in _OFF,
        "recovery of worn blocks while they rest": look(config, "drive", "endurance", "model") != "fixed",
    }
    return [what for what, is_known in known.items() if not is_known]


def of_all(results: Iterable[Facts]) -> list[str]:
    """Return what any of several results leaves out, each once."""
    return list(dict.fromkeys(text for result in results for text in of(result)))
