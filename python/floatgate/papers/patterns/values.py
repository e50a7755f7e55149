"""What the tables, figures and claims on pattern-based scheduling need beyond the results themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from floatgate.papers import readings
from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, mean_95, ratio
from floatgate.papers.patterns.workloads import LOADS

WORKLOADS = ("proj_0", "pc-server-1", "pc-server-2", "pc-server-3")
SYSTEMS = ("baseline", "swl", "pgis-swl", "pattern")
PARTS = ("pgis", "patterns-only", "read-balance", "read-balance-turn", "causal")
CONTROL = ("pgis", "patterns-only")
VARIANTS = {
    **dict.fromkeys((*SYSTEMS, "pattern-upper"), "main"),
    **dict.fromkeys(PARTS, "parts"),
}
"""The batch of each variant."""
TIMED = {
    **dict.fromkeys((*SYSTEMS, "pattern-upper"), "timed"),
    **dict.fromkeys(("patterns-only", "read-balance"), "timed-parts"),
}
"""The batch in time of each variant."""
SEEDS = ("", "-seed-2", "-seed-3", "-seed-4", "-seed-5")
"""What the names of batches end with, by seed."""
READINGS = {"most-worn": "pattern", "upper-half": "pattern-upper"}
"""The variant by the reading of "a relatively heavy erasure count"."""
OF_PATTERN = (
    "gc-time-swl",
    "gc-time-pattern",
    "gc-time-pattern-each",
    "gc-time-baseline",
    "level-time",
    "erases-order",
    "erases-text",
    "erases-table",
    "std-order",
    "first-failure-pattern",
    "response",
    "response-pgis",
)
"""Claims on Pattern, judged under each reading."""
COSTS = ("gc_time", "level_time", "erases", "std", "worst", "first_failure")
CAPACITIES_GB = (32, 64, 128)
PAGE_KB = {"MLC": 4, "TLC": 8, "QLC": 16}
PAGES_PER_BLOCK = 64
_YEAR_S = 365.25 * 86400


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name."""
    made = _measures(findings, "pattern")
    for workload in WORKLOADS:
        for batch in ("empty", "full"):
            for variant in (*SYSTEMS, "pattern-upper"):
                costs = _costs(findings.look(f"{batch}.{workload}.{variant}"))
                made |= {f"{batch}.{key}.{workload}.{variant}": value for key, value in costs.items()}
        made |= _mapping(findings, workload)
    for load, plan in LOADS.items():
        for variant in ("baseline", "swl", "read-balance", "read-balance-turn", "read-balance-long"):
            made |= _hot_reads(findings, f"static-timed.{load}.{variant}", f"{load}.{variant}")
            made |= _pairs(findings, f"static.{load}.{variant}", f"{load}.{variant}")
            pairs = findings.figure(f"static.{load}.{variant}.level.pairs")
            static_blocks = plan.pages // 2 / PAGES_PER_BLOCK
            made[f"static_paired.{load}.{variant}"] = None if pairs is None else 2 * pairs / static_blocks
    return made | _readings(findings) | table_5()


def _measures(findings: Findings, pattern: str) -> dict[str, Any]:
    """Return what systems cost, with the variant ``pattern`` in the place of Pattern."""
    made: dict[str, Any] = {"one": 1.0}
    for workload in WORKLOADS:
        for variant, batch in VARIANTS.items():
            own = pattern if variant == "pattern" else variant
            made |= _over_seeds(findings, batch, workload, own, f"{workload}.{variant}")
            made |= _pairs(findings, f"{batch}.{workload}.{own}", f"{workload}.{variant}")
        for variant in CONTROL:
            made |= _over_seeds(findings, "control", workload, variant, f"{workload}.control-{variant}")
        made |= _comparisons(made, workload) | _gains(made, workload) | _response(findings, workload, pattern)
        for variant, batch in TIMED.items():
            own = pattern if variant == "pattern" else variant
            made |= _hot_reads(findings, f"{batch}.{workload}.{own}", f"{workload}.{variant}")
    return made


def _readings(findings: Findings) -> dict[str, Any]:
    """Judge the claims on Pattern under each reading of the blocks that other writes open."""
    made: dict[str, Any] = {}
    for reading, variant in READINGS.items():
        judged = readings.verdicts(Path(__file__).parent, Findings({}, _measures(findings, variant)), OF_PATTERN)
        made |= readings.cells(f"verdict.{reading}", judged)
        outcomes = [verdict.holds for verdict in judged.values()]
        made[f"verdict.{reading}.holds"] = f"{outcomes.count(True)} of {len(outcomes)}"
    return made


def _over_seeds(findings: Findings, batch: str, workload: str, variant: str, name: str) -> dict[str, Any]:
    """Return costs by seed, None for those that were not run, and their means: ``seeds.COST.NAME``, ``COST.NAME``."""
    runs = [_costs(findings.look(f"{batch}{seed}.{workload}.{variant}")) for seed in SEEDS]
    made: dict[str, Any] = {}
    for key in COSTS if any(runs) else ():
        made[f"seeds.{key}.{name}"] = [run.get(key) for run in runs]
        made[f"{key}.{name}"] = mean(run[key] for run in runs if run)
    return made


def _costs(result: dict[str, Any] | None) -> dict[str, Any]:
    """Return GC time (collection and leveling, s), leveling time (s), erases, their spread, first failure (years)."""
    if not result:
        return {}
    level_s, failure_s = result["level"]["time_s"], result["wear"]["first_failure_s"]
    return {
        "gc_time": result["gc"]["time_s"] + level_s,
        "level_time": level_s,
        "erases": result["flash"]["erases"]["total"],
        "std": result["wear"]["erases_std"],
        "worst": result["wear"]["erases_max"],
        "first_failure": None if failure_s is None else failure_s / _YEAR_S,
    }


def compare(ones: Sequence[float | None], others: Sequence[float | None]) -> dict[str, float | None]:
    """Compare figures of the same seeds, of which some may be missing.

    Returns:
        ``mean`` of one over the other, ``half`` of its 95 % interval (None with one seed), and ``judged``: the mean,
        but 1 where the interval holds 1, for then there is no difference.
    """
    both = [ratio(one, other) for one, other in zip(ones, others, strict=True)]
    ratios = [one for one in both if one is not None]
    if len(ratios) == 1:
        return {"mean": ratios[0], "half": None, "judged": ratios[0]}
    middle, half = mean_95(ratios)
    if middle is None or half is None:
        return {"mean": None, "half": None, "judged": None}
    return {"mean": middle, "half": half, "judged": 1.0 if abs(middle - 1) <= half else middle}


PAIRS = {
    "gc_time": (
        *(("swl", other) for other in ("baseline", "pgis-swl", "pattern")),
        *(("pattern", other) for other in ("baseline", "pgis-swl")),
        *(("pgis-swl", other) for other in ("baseline",)),
        ("patterns-only", "pgis"),
        ("control-patterns-only", "control-pgis"),
        ("pattern-upper", "pgis-swl"),
    ),
    "level_time": (("pattern", "swl"), ("pattern", "pgis-swl")),
    "erases": (("pattern", "baseline"), ("pgis-swl", "pattern"), ("swl", "pgis-swl"), ("swl", "pattern")),
    "std": (
        ("baseline", "swl"),
        *(("swl", other) for other in ("pgis-swl", "pattern", "pattern-upper")),
        *((leveler, "baseline") for leveler in ("read-balance", "read-balance-turn")),
    ),
    "first_failure": (
        ("swl", "baseline"),
        *((variant, "swl") for variant in ("pgis-swl", "pattern", "pattern-upper")),
    ),
}
"""What is compared: cost, one variant, another one."""


def _comparisons(known: Mapping[str, Any], workload: str) -> dict[str, Any]:
    """Return ``over.COST.ONE.OTHER.WORKLOAD`` (mean ratio), ``half...`` and ``judged...``, and orders of several."""
    made: dict[str, Any] = {}
    for cost, pairs in PAIRS.items():
        for one, other in pairs:
            both = [known.get(f"seeds.{cost}.{workload}.{variant}") for variant in (one, other)]
            # Of a trace that is too small nothing is collected, and there is no order.
            if any(not any(figures or ()) for figures in both):
                continue
            name = f"{cost}.{one}.{other}.{workload}"
            compared = compare(both[0] or [], both[1] or [])
            names = {"mean": "over", "half": "half", "judged": "judged"}
            made |= {f"{names[key]}.{name}": value for key, value in compared.items()}

    def judge_order(name: str, pairs: Sequence[tuple[str, str, str]], passes: Callable[[float], bool]) -> None:
        names = [f"judged.{'.'.join(pair)}.{workload}" for pair in pairs]
        figures = [float(made[one]) for one in names if made.get(one) is not None]
        if len(figures) < len(names):
            return
        wrong = [figure for figure in figures if figure != 1.0 and not passes(figure)]
        made[f"{name}.{workload}"] = False if wrong else None if 1.0 in figures else True

    others = ("baseline", "pgis-swl", "pattern")
    judge_order("swl_largest", [("gc_time", "swl", other) for other in others], lambda figure: figure > 1)
    of_level = [("level_time", "pattern", other) for other in ("swl", "pgis-swl")]
    judge_order("level_least", of_level, lambda figure: figure < 1)
    of_spread = [("std", "baseline", "swl"), ("std", "swl", "pgis-swl")]
    for name, last in (("spread_order", "pattern"), ("spread_order_upper", "pattern-upper")):
        judge_order(name, [*of_spread, ("std", "swl", last)], lambda figure: figure > 1)
    return made


def _gains(made: Mapping[str, Any], workload: str) -> dict[str, Any]:
    """Return GC time by patterns over that by frequency, as it is and with shuffled windows."""
    both = [
        [made.get(f"seeds.gc_time.{workload}.{prefix}{variant}") for variant in ("patterns-only", "pgis")]
        for prefix in ("", "control-")
    ]
    if any(None in one for one in both):
        return {}
    as_it_is, shuffled = ([ratio(*pair) for pair in zip(*one, strict=True)] for one in both if one)
    loses = compare(shuffled, as_it_is)["judged"]
    return {
        f"gain.{workload}": mean(one for one in as_it_is if one is not None),
        f"control_gain.{workload}": mean(one for one in shuffled if one is not None),
        f"control_loses.{workload}": loses,
    }


def _response(findings: Findings, workload: str, pattern: str) -> dict[str, Any]:
    """Mean read response (us) over the seeds, and Pattern's over the others' and over that of PGIS+SWL."""
    made: dict[str, Any] = {}
    for variant in (*SYSTEMS, "pattern-upper"):
        own = pattern if variant == "pattern" else variant
        means = [findings.figure(f"timed{seed}.{workload}.{own}.latency_us.read.mean") for seed in SEEDS]
        known = [one for one in means if one is not None]
        made |= {f"read_us.{workload}.{variant}": mean(known), f"seeds.read_us.{workload}.{variant}": means}
    by_seed = [made[f"seeds.read_us.{workload}.{variant}"] for variant in SYSTEMS]
    if not all(any(one) for one in by_seed):
        return made
    rest = [mean(others) for others in zip(*by_seed[:3], strict=True)]
    for name, others in (("response", rest), ("response_pgis", by_seed[2])):
        compared = compare(by_seed[3], others)
        made |= {f"{name}.{workload}": compared["mean"], f"half.{name}.{workload}": compared["half"]}
    return made


def _hot_reads(findings: Findings, run: str, name: str) -> dict[str, Any]:
    """Mean response of hot reads (us), and those of the busiest chip over the mean of all chips."""
    hot = f"{run}.hot_reads"
    return {
        f"hot.{name}": findings.figure(f"{hot}.latency_us.mean"),
        f"chips.{name}": findings.figure(f"{hot}.max_over_mean"),
    }


def _pairs(findings: Findings, run: str, name: str) -> dict[str, Any]:
    """Share of the emptied blocks that were paired with one of the opposite type: a pair takes two.

    ``opposite`` is the same of the blocks that joined a pair of destinations that waited.
    """
    level = findings.look(f"{run}.level")
    if not level:
        return {}
    return {
        f"paired.{name}": ratio(2 * level["pairs"], level["triggered"]),
        f"opposite.{name}": ratio(level["pairs"], level["pairs"] + level["alike"]),
        f"moved.{name}": level["moved_pages"],
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
