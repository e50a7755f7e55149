"""What the tables, figures and claims of PDS need beyond the results themselves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from floatgate.base.errors import FloatgateError
from floatgate.papers import readings
from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, ratio
from floatgate.papers.pds.workloads import RECORDED, SEEDS
from floatgate.results.seed_stats import Mean
from floatgate.trace import context_updates, library

JUDGED = ("cscope", "gcc", "multi1", "multi2", "tpc-h", "tpc-r")
SEPARATORS = ("hash", "pds", "ora-3")
"""Those of Table 8; ORA as its figures have it, with three streams."""
THRESHOLDS = (1, 2, 4, 8, 16, 32, 64, 128)
HOT = 0
"""HASH's stream of hot pages."""
FIGURES = {
    "time_s": "time_s",
    "copied": "copied_pages",
    "copied_per_victim": "copied_pages_per_victim",
    "dead": "dead_victims",
    "erased": "victims",
}
"""Names of figures of collection: in values, and in the result."""
RULES = {"last": "pds", "any": "pds:update_blocks_last-0", "dead-last": "pds:update_blocks_last-2"}
"""When collection takes update blocks: PDS's variants."""
READINGS = {
    f"{stop}-{rule}": ("over" if stop == 15 else f"at-{stop}", variant)
    for stop in (15, 8, 6)
    for rule, variant in RULES.items()
}
"""By reading (free share in per cent at which collection stops, rule for update blocks): batch and PDS's variant. The
first is the one under which claims are judged."""
OF_COLLECTION = (
    "hash-copies-over-ora",
    *("gc-time-mean", "gc-time-each", "ora-least-time"),
    *("copies-per-victim", "copies-order", "pds-copies-over-ora"),
    *("more-dead-blocks", "ora-dead-blocks"),
    *("hash-erases", "ora-erases", "ora-erases-cscope"),
)
"""Claims that are judged under each reading."""


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name."""
    made: dict[str, Any] = {}
    for workload in RECORDED:
        made |= _seeds(findings, workload)
        made |= contexts(findings, workload)
        writes = findings.look(f"beside.{workload}.hash.host.page_writes")
        made[f"writes.{workload}"] = None if writes is None else f"{writes:,}"
    of = Findings(findings.results, made)
    made |= _means(of)
    for workload in JUDGED:
        for batch in ("at-6", "at-8"):
            made |= _seeds(findings, workload, batch)
        made |= _thresholds(of, workload)
        made |= _settings(of, workload)
        made |= _sweeps(of, workload)
    made |= {
        f"{name}.mean": mean(made.get(f"{name}.{one}") for one in JUDGED)
        for name in {key.rsplit(".", 1)[0] for key in made if key.startswith("sweep.")}
    }
    of = Findings(findings.results, made)
    made["best.ratio"] = _best_ratio(of)
    made |= {f"shown.{key}": value for key, value in _shown(of).items()}
    return made | _readings(of)


def _means(of: Findings) -> dict[str, Any]:
    """Average figures of collection over the programs that are judged, by separator, and add up the copies."""
    made: dict[str, Any] = {}
    for separator in (*SEPARATORS, "ora"):
        for key in FIGURES:
            made[f"mean.{separator}.{key}"] = judged_mean(of, separator, key)
        copied = [of.figure(f"over.{one}.{separator}.copied") for one in JUDGED]
        made[f"total.{separator}.copied"] = None if None in copied else sum(one for one in copied if one is not None)
    return made


def _readings(findings: Findings) -> dict[str, Any]:
    """Judge the claims on collection under each reading, and compare PDS and no separation with HASH."""
    made: dict[str, Any] = {}
    for reading, (batch, pds) in READINGS.items():
        variants = {"hash": "hash", "pds": pds, "ora-3": "ora-3"}
        own: dict[str, Any] = {
            f"over.{workload}.{separator}.{key}": findings.figure(f"{batch}.{workload}.{variant}.{key}")
            for workload in JUDGED
            for separator, variant in variants.items()
            for key in FIGURES
        }
        own |= _means(Findings({}, own))
        judged = readings.verdicts(Path(__file__).parent, Findings({}, own), OF_COLLECTION)
        made |= readings.cells(f"verdict.{reading}", judged)
        outcomes = [verdict.holds for verdict in judged.values()]
        made[f"verdict.{reading}.holds"] = f"{outcomes.count(True)} of {len(outcomes)}"
        for workload in JUDGED:
            made |= _interval(findings, batch, workload, pds, f"ratio.{reading}.{workload}")
        made[f"ratio.{reading}.mean"] = mean(made[f"ratio.{reading}.{one}"] for one in JUDGED)
    for batch in ("over", "at-8", "at-6"):
        for workload in JUDGED:
            made |= _interval(findings, batch, workload, "none", f"ratio.{batch}.none.{workload}")
        made[f"ratio.{batch}.none.mean"] = mean(made[f"ratio.{batch}.none.{one}"] for one in JUDGED)
    return made


def _interval(findings: Findings, batch: str, workload: str, variant: str, name: str) -> dict[str, Any]:
    """Return the mean over the seeds of a time over HASH's, and the ends of its 95 % interval."""
    ratios = _known(
        [
            over(findings, *(f"{batch}-{seed}.{workload}.{one}.gc.time_s" for one in (variant, "hash")))
            for seed in _seeds_of(findings, batch, workload)
        ]
    )
    if not ratios:
        return {name: None}
    of = Mean.of(ratios)
    low, high = of.interval or (None, None)
    return {name: of.mean, f"{name}.low": low, f"{name}.high": high}


def _seeds_of(findings: Findings, batch: str, workload: str) -> Sequence[int]:
    """List the seeds that were run; a quick reproduction has one."""
    return [seed for seed in SEEDS if findings.results.get(f"{batch}-{seed}", {}).get(workload)]


def _seeds(findings: Findings, workload: str, batch: str = "over") -> dict[str, Any]:
    """Average over the seeds, overlapped, by ``BATCH.WORKLOAD.VARIANT.FIGURE``, and measure how far they lie apart."""
    made: dict[str, Any] = {}
    seeds = _seeds_of(findings, batch, workload)
    variants = {variant for seed in seeds for variant in findings.results[f"{batch}-{seed}"][workload]}
    runs = {variant: [f"{batch}-{seed}.{workload}.{variant}" for seed in seeds] for variant in sorted(variants)}
    if batch == "over":
        runs["hash-sized"] = [f"sized-{seed}.{workload}.hash" for seed in seeds]
        runs |= {f"{one}-changed": [f"changed-{seed}.{workload}.{one}" for seed in seeds] for one in SEPARATORS}
    for variant, names in runs.items():
        for key, of in FIGURES.items():
            figures = _known([findings.figure(f"{name}.gc.{of}") for name in names])
            made[f"{batch}.{workload}.{variant}.{key}"] = mean(figures)
            if key == "time_s" and figures and sum(figures):
                apart = (max(figures) - min(figures)) * len(figures) / sum(figures)
                made[f"{batch}.{workload}.{variant}.apart"] = apart
        if batch == "over" and variant.startswith("hash"):
            made |= _hot(findings, names, f"{workload}.{variant}")
    if batch != "over":
        return made
    hashed = made.get(f"over.{workload}.hash.time_s")
    for variant in runs:
        time = made.get(f"over.{workload}.{variant}.time_s")
        made[f"of_hash.{workload}.{variant}"] = ratio(time, hashed)
    return made


def _known(figures: list[float | None]) -> list[float]:
    """Return the figures if all are known, else none: a mean over some seeds would be another figure."""
    known = [figure for figure in figures if figure is not None]
    return known if len(known) == len(figures) else []


def _hot(findings: Findings, names: list[str], of: str) -> dict[str, Any]:
    """Return, over the seeds, HASH's share of hot host pages, and the share of dead pages in hot victims."""
    hot = pages = victims = copied = size = 0
    for name in names:
        streams = ((findings.look(name) or {}).get("separate") or {}).get("streams") or []
        for stream in streams:
            pages += stream["host_pages"]
            if stream["stream"] == HOT:
                hot += stream["host_pages"]
                victims += stream["victims"]
                copied += stream["copied_pages"]
                size = (findings.look(name) or {})["config"]["drive"]["geometry"]["pages_per_block"]
    return {
        f"hot_share.{of}": hot / pages if pages else None,
        f"hot_dead.{of}": 1 - copied / (victims * size) if victims else None,
    }


def judged_mean(findings: Findings, separator: str, key: str) -> float | None:
    """Return the arithmetic mean of a figure of collection over the programs that are judged."""
    return mean(findings.figure(f"over.{workload}.{separator}.{key}") for workload in JUDGED)


def _shown(findings: Findings) -> dict[str, Any]:
    """Return the figures that the texts of the page quote."""
    return {
        "none": mean(findings.figure(f"of_hash.{one}.none") for one in JUDGED),
        "pds": mean(findings.figure(f"of_hash.{one}.pds") for one in JUDGED),
        "beside.pds": mean(
            over(findings, *(f"beside.{one}.{of}.gc.time_s" for of in ("pds", "hash"))) for one in JUDGED
        ),
        "hot.printed": mean(findings.figure(f"hot_share.{one}.hash") for one in JUDGED),
        "hot.sized": mean(findings.figure(f"hot_share.{one}.hash-sized") for one in JUDGED),
        "sized": mean(findings.figure(f"of_hash.{one}.hash-sized") for one in JUDGED),
        "apart": max(
            (
                figure
                for one in JUDGED
                for variant in SEPARATORS
                if (figure := findings.figure(f"over.{one}.{variant}.apart")) is not None
            ),
            default=None,
        ),
        "changed": max(
            (
                abs(changed - 1)
                for one in JUDGED
                for variant in SEPARATORS
                if (changed := over(findings, f"over.{one}.{variant}-changed.time_s", f"over.{one}.{variant}.time_s"))
                is not None
            ),
            default=None,
        ),
    }


def over(findings: Findings, name: str, other: str) -> float | None:
    """Return a figure over another; None where one is missing or the other is 0."""
    return ratio(findings.figure(name), findings.figure(other))


def contexts(findings: Findings, workload: str, batch: str = "beside") -> dict[str, Any]:
    """Count contexts whose data are updated, from the recorded trace; empty if a trace of the user's took its place."""
    writes = findings.figure(f"{batch}.{workload}.hash.host.page_writes")
    try:
        counted = _counted(workload)
    except FloatgateError:
        return {}
    return counted if writes == counted[f"recorded.{workload}"] else {}


@cache
def _counted(workload: str) -> dict[str, Any]:
    counted = context_updates.read(library.path(RECORDED[workload]))
    updating = counted.by_context.keys()
    return {
        f"recorded.{workload}": counted.pages,
        f"updates.{workload}": counted.updates,
        f"top_five.{workload}": counted.top_share(),
        f"updating.{workload}": len(updating),
        f"sequential.{workload}": len(counted.sequential) / len(updating) if updating else None,
    }


def threshold_times(findings: Findings, workload: str) -> dict[int, float]:
    """Return seconds of collection by threshold, in the mean of the seeds; empty where they were not run."""
    times = {}
    for one in THRESHOLDS:
        known = _known([findings.figure(f"thresholds-{seed}.{workload}.pds-{one}.gc.time_s") for seed in SEEDS])
        if known:
            times[one] = sum(known) / len(known)
    return times


def _thresholds(findings: Findings, workload: str) -> dict[str, Any]:
    times = threshold_times(findings, workload)
    if not times or max(times.values()) == 0:
        return {}
    best = min(times, key=lambda one: times[one])
    return {
        f"best_threshold.{workload}": best,
        f"least_of_worst.{workload}": times[best] / max(times.values()),
    }


def _settings(findings: Findings, workload: str) -> dict[str, Any]:
    """Divide the time of collection with one setting changed by that of the same separator without the change."""
    made: dict[str, Any] = {}
    for variant in findings.results.get("settings-1", {}).get(workload, {}):
        own = variant.split(":")[0]
        made[f"settings.{variant}.{workload}"] = over(
            findings, f"settings-1.{workload}.{variant}.gc.time_s", f"over-1.{workload}.{own}.gc.time_s"
        )
    return made


def _sweeps(findings: Findings, workload: str) -> dict[str, Any]:
    """Divide times at the stop levels that can be reached by that of HASH with the printed table, seed 1."""
    made: dict[str, Any] = {}
    for stop in (6, 8):
        for variant in findings.results.get(f"sweep-{stop}-1", {}).get(workload, {}):
            made[f"sweep.{stop}.{variant}.{workload}"] = over(
                findings, f"sweep-{stop}-1.{workload}.{variant}.gc.time_s", f"at-{stop}-1.{workload}.hash.gc.time_s"
            )
    return made


def _best_ratio(findings: Findings) -> float | None:
    """Mean over the programs of PDS's time of collection, at each one's best threshold, over HASH's."""
    ratios = []
    for workload in JUDGED:
        times, hashed = threshold_times(findings, workload), findings.figure(f"over.{workload}.hash.time_s")
        if not times or not hashed:
            return None
        ratios.append(min(times.values()) / hashed)
    return sum(ratios) / len(ratios)
