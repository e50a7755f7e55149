"""What each technique gains alone, what is lost without it, what pairs do together, and what all of them cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from floatgate.papers.all_in_one.workloads import MAX_READS, PARTS, RECORDED, SEEDS, TWINS
from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, ratio
from floatgate.results.result_view import look

Result = Mapping[str, Any]
Runs = dict[str, dict[int, Result]]
"""Result by variant and seed."""
WORKLOADS = (*RECORDED, *TWINS)
WEARS = tuple(MAX_READS)
NONE, ALL, WITHOUT = "none", "all", "without-"
PLAIN = ":plain"
FORMS = ("pds", "unmixed")
"""Other forms of techniques: PDS in place of IDS, redFTL+ that mixes with no cold block."""
VARIANTS = (
    NONE,
    *PARTS,
    *FORMS,
    *(f"{WITHOUT}{part}" for part in PARTS),
    ALL,
    *(f"{ALL}-{form}" for form in FORMS),
    "-".join((ALL, *FORMS)),
)


def _sum(*paths: str) -> Callable[[Result], float | None]:
    def figure(result: Result) -> float | None:
        known = [look(result, *path.split(".")) for path in paths]
        return None if None in known else float(sum(known))

    return figure


METRICS: dict[str, tuple[str, Callable[[Result], float | None]]] = {
    "life": ("life of the average block", _sum("lifetime.years")),
    "drive": ("life until spare blocks run out", _sum("lifetime.years_spare_blocks")),
    "collection": ("time of collection", _sum("flash.time_s.gc", "flash.time_s.repack")),
    "copies": ("pages that collection programs", _sum("flash.programs.gc", "flash.programs.repack")),
    "reclaim": ("time of read reclaim", _sum("flash.time_s.reclaim", "flash.time_s.replica")),
    "write": ("p99 of writes", _sum("latency_us.write.p99")),
    "read": ("p99 of reads", _sum("latency_us.read.p99")),
    "energy": ("energy", _sum("energy.total_j")),
}
"""Metrics: what they are called, and how they follow from a result. Repacking of chunks is part of collection."""
LONGER_IS_BETTER = ("life", "drive")
SETS: dict[str, dict[str, str]] = {
    "ftl.separate.policy": {"ids": "ids", "pds": "pds"},
    "ftl.reclaim.policy": {"redftl-plus": "redftl-plus", "rrb": "rrb"},
    "ftl.background.policy": {"by-context": "idle"},
    "ftl.collect.timing": {"by-context": "collect"},
    "lifetime.reduce.policy": {"both": "reduce"},
    "ftl.level.policy": {"swl": "level"},
    "ftl.dpes.policy": {"idle": "dpes"},
}
"""By setting of a search and value, the technique that it turns on."""
RARE_S = 1.0
"""Seconds of flash time of reclaim below which a workload has no read disturb to speak of."""


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name."""
    made: dict[str, Any] = {}
    for workload in WORKLOADS:
        for wear in WEARS:
            runs = _runs(findings, wear, workload)
            if NONE in runs:
                made |= _of_workload(f"{wear}.{workload}", runs)
        made |= _pairs(findings, workload) | _best(findings, workload)
    made |= _means(made)
    made |= _worth(made) | _summaries(made)
    return made | {"first.lines": _first_lines(made)}


def _runs(findings: Findings, wear: str, workload: str) -> Runs:
    """Return the runs of a workload at some wear; without contexts or with them, variants have the same names."""
    runs: Runs = {}
    for seed in SEEDS:
        kind = PLAIN if workload in TWINS else ""
        for variant, result in findings.results.get(f"{wear}-{seed}{kind}", {}).get(workload, {}).items():
            runs.setdefault(variant.removesuffix(PLAIN), {})[seed] = result
    return runs


def _of_workload(place: str, runs: Runs) -> dict[str, Any]:
    """Return means over seeds, ratios to the drive with none, how far seeds are apart, and costs."""
    made: dict[str, Any] = {}
    for variant, by_seed in runs.items():
        name = f"{place}.{variant}"
        for metric, (_, figure) in METRICS.items():
            made[f"{metric}.{name}"] = mean(figure(result) for result in by_seed.values())
            ratios = _ratios(figure, by_seed, runs[NONE])
            if metric == "reclaim" and any((figure(runs[NONE][seed]) or 0) < RARE_S for seed in by_seed):
                ratios = [None]
            made[f"{metric}_ratio.{name}"] = mean(ratios)
            known = [one for one in ratios if one is not None]
            made[f"{metric}_apart.{name}"] = max(known) - min(known) if len(known) == len(ratios) > 1 else None
        made[f"target.{name}"] = mean(
            ratio(result["lifetime"]["years"], result["lifetime"]["target_years"]) for result in by_seed.values()
        )
        made[f"memory.{name}"] = mean(_memory(result) for result in by_seed.values())
        made[f"cpu_us.{name}"] = mean(
            1e6 * result["run"]["cpu_s"] / result["workload"]["requests"] for result in by_seed.values()
        )
    return made


def _ratios(
    figure: Callable[[Result], float | None], ours: Mapping[int, Result], base: Mapping[int, Result]
) -> list[float | None]:
    return [ratio(figure(result), figure(base[seed])) if seed in base else None for seed, result in ours.items()]


def _memory(result: Result) -> float:
    """Return the bytes of the tables of separator, reclaim and reducer per logical page."""
    tables = (look(result, one, "memory_bytes") or 0 for one in ("separate", "reclaim", "reduce"))
    return float(sum(tables) / (result["drive"]["logical_bytes"] / result["drive"]["mapping_bytes"]))


def _pairs(findings: Findings, workload: str) -> dict[str, Any]:
    """Compare pairs with their parts: their effect over the product of the effects of both."""
    made: dict[str, Any] = {}
    alone = _runs(findings, "half", workload)
    pairs: Runs = {}
    for seed in SEEDS:
        for variant, result in findings.results.get(f"pairs-{seed}", {}).get(workload, {}).items():
            pairs.setdefault(variant, {})[seed] = result
    for pair, by_seed in pairs.items():
        one, other = pair.split("+")
        for metric, (_, figure) in METRICS.items():
            ratios = {name: mean(_ratios(figure, alone[name], alone[NONE])) for name in (one, other)}
            both = mean(_ratios(figure, by_seed, alone[NONE]))
            made[f"pair.{metric}.{workload}.{pair}"] = both
            expected = None if None in ratios.values() else math.prod(x for x in ratios.values() if x is not None)
            made[f"together.{metric}.{workload}.{pair}"] = ratio(both, expected)
    lives = [made[f"together.life.{workload}.{pair}"] for pair in pairs]
    known = [one for one in lives if one is not None]
    return made | ({f"least_together.{workload}": min(known)} if known else {})


def geometric(figures: Iterable[float | None]) -> float | None:
    """Return the geometric mean; None where one is not known or nothing."""
    known = list(figures)
    whole = [figure for figure in known if figure is not None and figure > 0]
    return math.exp(sum(map(math.log, whole)) / len(whole)) if whole and len(whole) == len(known) else None


def _means(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return geometric means over workloads, of those where a figure of none is known and the variant can run."""
    means: dict[str, Any] = {}
    for metric in METRICS:
        for wear in WEARS:
            for variant in VARIANTS:
                names = [f"{metric}_ratio.{wear}.{workload}.{variant}" for workload in WORKLOADS]
                known = [made[name] for name in names if made.get(name) is not None]
                means[f"mean.{metric}.{wear}.{variant}"] = geometric(known)
    return means


def _worth(made: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a metric becomes without a part, over what it is with all; by workload and in the mean."""
    worth: dict[str, Any] = {}
    for metric in METRICS:
        for wear in WEARS:
            for part in PARTS:
                each = {
                    workload: ratio(
                        made.get(f"{metric}_ratio.{wear}.{workload}.{WITHOUT}{part}"),
                        made.get(f"{metric}_ratio.{wear}.{workload}.{ALL}"),
                    )
                    for workload in WORKLOADS
                }
                worth |= {f"worth.{metric}.{wear}.{workload}.{part}": one for workload, one in each.items()}
                worth[f"worth.{metric}.{wear}.{part}"] = geometric(one for one in each.values() if one is not None)
    return worth


def _summaries(made: Mapping[str, Any]) -> dict[str, Any]:
    """Compare all with the best technique, and CPU time with the sum of the parts' costs."""
    summaries: dict[str, Any] = {}
    for wear in WEARS:
        for workload in WORKLOADS:
            place = f"{wear}.{workload}"
            whole = made.get(f"life_ratio.{place}.{ALL}")
            alone = {part: made.get(f"life_ratio.{place}.{part}") for part in PARTS}
            known = {part: figure for part, figure in alone.items() if figure is not None}
            if whole is None or not known:
                continue
            best = max(known, key=lambda part: (known[part], part))
            summaries[f"best.{place}"], summaries[f"over_best.{place}"] = best, whole / known[best]
            base = made[f"cpu_us.{place}.{NONE}"]
            parts = sum(made[f"cpu_us.{place}.{part}"] - base for part in known)
            summaries[f"cpu_ratio.{place}"] = made[f"cpu_us.{place}.{ALL}"] / base
            summaries[f"cpu_parts_ratio.{place}"] = (base + parts) / base
    return summaries


def _best(findings: Findings, workload: str) -> dict[str, Any]:
    """Return the set that the search of a workload found, and its figures over those of none."""
    searches = findings.results.get(f"best{PLAIN if workload in TWINS else ''}", {}).get(workload, {})
    if NONE not in searches:
        return {}
    search = searches[NONE]
    parts = [SETS[key].get(value) for key, value in search["best"].items()]
    base, figures = search["base"], search["figures"]
    return {
        f"best_set.{workload}": "+".join(one for one in parts if one is not None) or NONE,
        f"best_trials.{workload}": search["trials"],
        **{
            f"best_{name}.{workload}": ratio(figures.get(key), base.get(key))
            for name, key in (
                ("life", "lifetime.years"),
                ("write", "latency_us.write.p99"),
                ("read", "latency_us.read.p99"),
            )
        },
    }


def _first_lines(made: Mapping[str, Any]) -> str:
    """Write what the whole gains, in our figures: means, and between which workloads they lie."""
    life, energy = (made.get(f"mean.{metric}.half.{ALL}") for metric in ("life", "energy"))
    if life is None or energy is None:
        return "The runs are missing."
    worth = {part: made.get(f"worth.life.half.{part}") for part in PARTS}
    ranked = sorted((one for one in worth if worth[one] is not None), key=lambda one: worth[one] or 0.0)
    lost = ", ".join(f"{one} {100 * (1 - (worth[one] or 0)):.0f} %" for one in ranked[:3])
    collection, reclaim = _between(made, "collection"), _between(made, "reclaim")
    return (
        f"At half wear a drive with all techniques lives {life:.1f} times as long as one with none in the geometric "
        f"mean over the workloads, from {_between(made, 'life')}. Collection takes {collection} times as long; read "
        f"reclaim, where reads disturb, {reclaim} times. Flash, hash and compressor need {100 * energy:.0f} % of the "
        f"energy. Most life is lost without: {lost}."
    )


def _between(made: Mapping[str, Any], metric: str) -> str:
    """Format as ``0.37 (three-at-once) to 17 (tpc-h-like)``: the least and the greatest ratio of all techniques."""
    known = {name: made.get(f"{metric}_ratio.half.{name}.{ALL}") for name in WORKLOADS}
    ranked = sorted((ratio, name) for name, ratio in known.items() if ratio is not None)
    ends = [f"{ratio:.2g} ({name})" for ratio, name in (ranked[:1] + ranked[-1:] if len(ranked) > 1 else ranked)]
    return " to ".join(ends)
