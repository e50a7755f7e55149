"""What the tables, figures and claims on pattern-based scheduling need beyond the results themselves."""

from __future__ import annotations

from typing import Any

from floatgate.reproduce.judge import Found

WORKLOADS = ("proj_0", "pc-server-1", "pc-server-2", "pc-server-3")
VARIANTS = {
    "baseline": "main",
    "swl": "main",
    "pgis-swl": "main",
    "pattern": "main",
    "pgis": "parts",
    "patterns-only": "parts",
    "read-balance": "parts",
    "causal": "parts",
}
"""The batch of each variant."""
SYSTEMS = ("baseline", "swl", "pgis-swl", "pattern")
_YEAR_S = 365.25 * 86400


def values(found: Found) -> dict[str, Any]:
    """All values by name."""
    made: dict[str, Any] = {}
    for workload in WORKLOADS:
        for variant, batch in VARIANTS.items():
            made |= _costs(found.look(f"{batch}.{workload}.{variant}"), f"{workload}.{variant}")
        for batch in ("full", "seed-2", "seed-3", "control"):
            for variant in (*SYSTEMS, "pgis", "patterns-only"):
                costs = _costs(found.look(f"{batch}.{workload}.{variant}"), f"{workload}.{variant}")
                made |= {f"{batch}.{name}": value for name, value in costs.items()}
        made |= _verdicts(made, workload) | _response(found, workload)
    return made


def _costs(result: dict[str, Any] | None, name: str) -> dict[str, Any]:
    """GC time (collection and leveling, s), leveling time (s), erases, their spread and the first failure (years)."""
    if not result:
        return {}
    level_s = result["level"]["time_s"]
    failure_s = result["wear"]["first_failure_s"]
    return {
        f"gc_time.{name}": result["gc"]["time_s"] + level_s,
        f"level_time.{name}": level_s,
        f"erases.{name}": result["flash"]["erases"]["total"],
        f"std.{name}": result["wear"]["erases_std"],
        f"worst.{name}": result["wear"]["erases_max"],
        f"first_failure.{name}": None if failure_s is None else failure_s / _YEAR_S,
    }


def _verdicts(made: dict[str, Any], workload: str) -> dict[str, Any]:
    """Orders of which two places may be shared or one is the first of many."""

    def of(name: str, variants: tuple[str, ...]) -> list[float] | None:
        figures = [made.get(f"{name}.{workload}.{variant}") for variant in variants]
        return None if None in figures else [float(figure) for figure in figures if figure is not None]

    told: dict[str, Any] = {}
    times = of("gc_time", SYSTEMS)
    if times:
        told[f"swl_largest.{workload}"] = max(times) == times[1] and times[1] > min(times)
    leveling = of("level_time", ("swl", "pgis-swl", "pattern"))
    if leveling:
        told[f"level_least.{workload}"] = leveling[2] < min(leveling[:2])
    spread = of("std", SYSTEMS)
    if spread:
        told[f"spread_order.{workload}"] = spread[0] > spread[1] > max(spread[2:])
    both = of("gc_time", ("patterns-only", "pgis"))
    control = [made.get(f"control.gc_time.{workload}.{variant}") for variant in ("patterns-only", "pgis")]
    if both and None not in control and both[1] and control[1]:
        told[f"gain.{workload}"] = both[0] / both[1]
        told[f"control_gain.{workload}"] = control[0] / control[1]
        told[f"control_loses.{workload}"] = control[0] / control[1] > both[0] / both[1]
    return told


def _response(found: Found, workload: str) -> dict[str, Any]:
    """Mean read response of Pattern over the mean of the others."""
    means = [found.figure(f"timed.{workload}.{variant}.latency_us.read.mean") for variant in SYSTEMS]
    if None in means:
        return {}
    *others, pattern = (mean for mean in means if mean is not None)
    return {f"response.{workload}": pattern / (sum(others) / len(others))}
