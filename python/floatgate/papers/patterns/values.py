"""What the tables, figures and claims on pattern-based scheduling need beyond the results themselves."""

from __future__ import annotations

from typing import Any

from floatgate.papers.judge import Findings

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
TIMED = {**dict.fromkeys(SYSTEMS, "timed"), "patterns-only": "timed-parts", "read-balance": "timed-parts"}
"""The batch in time of each variant."""
CAPACITIES_GB = (32, 64, 128)
PAGE_KB = {"MLC": 4, "TLC": 8, "QLC": 16}
PAGES_PER_BLOCK = 64
_YEAR_S = 365.25 * 86400


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name."""
    made: dict[str, Any] = {}
    for workload in WORKLOADS:
        for variant, batch in VARIANTS.items():
            made |= _costs(findings.look(f"{batch}.{workload}.{variant}"), f"{workload}.{variant}")
        for batch in ("full", "seed-2", "seed-3", "control"):
            for variant in (*SYSTEMS, "pgis", "patterns-only"):
                costs = _costs(findings.look(f"{batch}.{workload}.{variant}"), f"{workload}.{variant}")
                made |= {f"{batch}.{name}": value for name, value in costs.items()}
        made |= _verdicts(made, workload) | _response(findings, workload)
        for variant, batch in TIMED.items():
            made |= _hot_reads(findings, f"{batch}.{workload}.{variant}", f"{workload}.{variant}")
        made |= _mapping(findings, workload)
    for workload in ("static", "static-28"):
        for variant in ("baseline", "swl", "read-balance"):
            made |= _hot_reads(findings, f"static-timed.{workload}.{variant}", f"{workload}.{variant}")
    return made | table_5()


def table_5() -> dict[str, float]:
    """Compute Table V in KB: the page read table has a bit per page, the block erasing table a bit per block."""
    made: dict[str, float] = {}
    for flash, page_kb in PAGE_KB.items():
        for capacity_gb in CAPACITIES_GB:
            pages = (capacity_gb << 20) // page_kb
            prt_kb, bet_kb = pages / 8 / 1024, pages / PAGES_PER_BLOCK / 8 / 1024
            name = f"{flash}-{capacity_gb}"
            made |= {f"prt_kb.{name}": prt_kb, f"bet_kb.{name}": bet_kb, f"table_kb.{name}": prt_kb + bet_kb}
    return made


def _hot_reads(findings: Findings, run: str, name: str) -> dict[str, Any]:
    """Mean response of hot reads (us), and those of the busiest chip over the mean of all chips."""
    hot = f"{run}.hot_reads"
    return {
        f"hot.{name}": findings.figure(f"{hot}.latency_us.mean"),
        f"chips.{name}": findings.figure(f"{hot}.max_over_mean"),
    }


def _mapping(findings: Findings, workload: str) -> dict[str, Any]:
    """Return the CPU time of dispatch beyond the baseline's (s)."""
    times = {
        variant: findings.figure(f"dispatch.{workload}.{variant}.dispatch_cpu_s")
        for variant in ("baseline", "pgis", "patterns-only")
    }
    base = times.pop("baseline")
    return {
        f"mapping_s.{workload}.{variant}": None if base is None or time is None else time - base
        for variant, time in times.items()
    }


def _costs(result: dict[str, Any] | None, name: str) -> dict[str, Any]:
    """Return GC time (collection and leveling, s), leveling time (s), erases, their spread, first failure (years)."""
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
    """Judge orders in which two places may be shared or one is the first of many."""

    def of(name: str, variants: tuple[str, ...]) -> list[float] | None:
        figures = [made.get(f"{name}.{workload}.{variant}") for variant in variants]
        # Of a trace that is too small nothing is collected, and there is no order.
        known = [float(figure) for figure in figures if figure is not None]
        return known if len(known) == len(variants) and any(known) else None

    verdicts: dict[str, Any] = {}
    times = of("gc_time", SYSTEMS)
    if times:
        verdicts[f"swl_largest.{workload}"] = max(times) == times[1] and times[1] > min(times)
    leveling = of("level_time", ("swl", "pgis-swl", "pattern"))
    if leveling:
        verdicts[f"level_least.{workload}"] = leveling[2] < min(leveling[:2])
    spread = of("std", SYSTEMS)
    if spread:
        verdicts[f"spread_order.{workload}"] = spread[0] > spread[1] > max(spread[2:])
    both = of("gc_time", ("patterns-only", "pgis"))
    control = [made.get(f"control.gc_time.{workload}.{variant}") for variant in ("patterns-only", "pgis")]
    if both and None not in control and both[1] and control[1]:
        verdicts[f"gain.{workload}"] = both[0] / both[1]
        verdicts[f"control_gain.{workload}"] = control[0] / control[1]
        verdicts[f"control_loses.{workload}"] = control[0] / control[1] > both[0] / both[1]
    return verdicts


def _response(findings: Findings, workload: str) -> dict[str, Any]:
    """Mean read response of Pattern over the mean of the others."""
    means = [findings.figure(f"timed.{workload}.{variant}.latency_us.read.mean") for variant in SYSTEMS]
    if None in means:
        return {}
    *others, pattern = (mean for mean in means if mean is not None)
    return {f"response.{workload}": pattern / (sum(others) / len(others))}
