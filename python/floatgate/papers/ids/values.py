"""What the tables, figures and claims of IDS need beyond the results themselves."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from floatgate.papers import readings
from floatgate.papers.ids.workloads import GARBAGE
from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, ratio
from floatgate.papers.pds.values import FIGURES, JUDGED, contexts, over
from floatgate.papers.pds.workloads import PAGES_PER_BLOCK, RECORDED

SEPARATORS = ("hash", "pds-16", "ids", "ora-3")
READINGS = {"per-group": "ids", "shared": "ids-shared", "expiring": "ids-expiring"}
"""Readings of where hot pages go: IDS's variants. The first is the one under which claims are judged."""
VARIANTS = ("none", "hash", "hash-sized", "pds-1", "pds-4", "pds-16", *READINGS.values(), "ids-default", "ora-3", "ora")
OF_IDS = (
    *("gc-time-pds", "gc-time-hash", "gc-time-best", "gc-time-ora"),
    *("copies-pds", "copies-hash", "dead-ids", "dead-ids-over-pds"),
    *("hot-mostly-dead", "hot-below-cold", "hot-share", "blocks-order"),
)
"""Claims that are judged under each reading."""
BATCHES = tuple(f"garbage-{share}" for share in GARBAGE)
SWEPT = "garbage-15"
"""The batch whose runs the sweep of settings is set beside."""


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name."""
    made: dict[str, Any] = {}
    for workload in RECORDED:
        made |= contexts(findings, workload, SWEPT)
        made |= _levels(findings, workload)
        made |= _hot(findings, workload, "ids")
        made |= _active(findings, workload, "ids")
        writes = findings.look(f"{SWEPT}.{workload}.hash.host.page_writes")
        made[f"writes.{workload}"] = None if writes is None else f"{writes:,}"
    made |= _means(findings, made)
    made |= _readings(findings, made)
    return made | _settings(Findings(findings.results, made))


def _means(findings: Findings, known: Mapping[str, Any]) -> dict[str, Any]:
    """Average over the programs that are judged."""
    made: dict[str, Any] = {}
    of = Findings(findings.results, known)
    for beside in ("hash", "pds-1", "pds-4", "pds-16"):
        for key in ("time_s", "copied_per_victim"):
            ratios = [over(of, f"level.{one}.ids.{key}", f"level.{one}.{beside}.{key}") for one in JUDGED]
            made[f"ids_over.{beside}.{key}"] = mean(ratios)
    made |= {f"pds_over_hash.{one}": mean([of.figure(f"time.{w}.{one}") for w in JUDGED]) for one in VARIANTS}
    made["pace.ids_over_pds"] = mean(
        [over(of, f"pace.{one}.ids.gc.time_s", f"pace.{one}.pds-16.gc.time_s") for one in JUDGED]
    )
    made["hot_share.mean"] = mean([known.get(f"hot_share.{one}") for one in JUDGED])
    return made


def _readings(findings: Findings, known: Mapping[str, Any]) -> dict[str, Any]:
    """Judge the claims on IDS under each reading of its archive."""
    made: dict[str, Any] = {}
    for reading, variant in READINGS.items():
        own = dict(known)
        for workload in RECORDED:
            own |= {
                name.replace(f".{variant}", ".ids"): value
                for name, value in known.items()
                if f".{workload}.{variant}." in name or name.endswith(f".{workload}.{variant}")
            }
            own |= _hot(findings, workload, variant) | _active(findings, workload, variant)
        own |= _means(Findings(findings.results), own)
        judged = readings.verdicts(Path(__file__).parent, Findings(findings.results, own), OF_IDS)
        made |= readings.cells(f"verdict.{reading}", judged)
        outcomes = [verdict.holds for verdict in judged.values()]
        made[f"verdict.{reading}.holds"] = f"{outcomes.count(True)} of {len(outcomes)}"
        for beside in ("hash", "pds-1", "pds-16"):
            made[f"reading.{reading}.ids_over.{beside}"] = own[f"ids_over.{beside}.time_s"]
        # Of the pages that the host wrote, those that went into a hot archive.
        made |= {f"archived.{reading}.{one}": _archived(findings, one, variant) for one in RECORDED}
    return made


def _active(findings: Findings, workload: str, ids: str) -> dict[str, Any]:
    """Compare the most blocks that are open at once, in the mean of the levels, with HASH's."""

    def most(variant: str) -> float | None:
        names = [f"{batch}.{workload}.{variant}.separate.open_blocks_max" for batch in _run(findings, workload)]
        return mean(findings.figure(name) for name in names)

    ratios = [ratio(most(variant), most("hash")) for variant in ("pds-16", ids, "ora-3")]
    names = ("pds-16", "ids", "ora-3")
    made: dict[str, Any] = {f"active.{workload}.{name}": one for name, one in zip(names, ratios, strict=True)}
    known = [one for one in ratios if one is not None]
    return made | {f"active_least.{workload}": min(known) if len(known) == len(ratios) else None}


def _archived(findings: Findings, workload: str, variant: str) -> float | None:
    """Return the share of the host's pages that went into hot archives, over all levels of garbage."""
    hot = pages = 0
    for batch in _run(findings, workload):
        first = findings.look(f"{batch}.{workload}.{variant}.separate.found.archive_stream")
        for stream in _streams(findings, batch, workload, variant):
            pages += stream["host_pages"]
            hot += stream["host_pages"] if first is not None and stream["stream"] >= first else 0
    return hot / pages if pages else None


def _levels(findings: Findings, workload: str) -> dict[str, Any]:
    """Average over the levels of garbage, by ``level.WORKLOAD.VARIANT.FIGURE``; time and blocks also over HASH's."""
    made: dict[str, Any] = {}
    batches = _run(findings, workload)
    for variant in VARIANTS:
        for key, of in FIGURES.items():
            figures = [findings.figure(f"{batch}.{workload}.{variant}.gc.{of}") for batch in batches]
            made[f"level.{workload}.{variant}.{key}"] = mean(figures)
        streams = [_streams(findings, batch, workload, variant) for batch in batches]
        opened = [float(sum(stream["opened"] for stream in one)) if one else None for one in streams]
        made[f"level.{workload}.{variant}.opened"] = mean(opened)
        used = [float(sum(stream["opened"] > 0 for stream in one)) if one else None for one in streams]
        made[f"level.{workload}.{variant}.streams"] = mean(used)
    of_made = Findings({}, made)
    for variant in VARIANTS:
        for name, key in (("time", "time_s"), ("blocks", "opened")):
            ratio = over(of_made, f"level.{workload}.{variant}.{key}", f"level.{workload}.hash.{key}")
            made[f"{name}.{workload}.{variant}"] = ratio
    others = [made[f"blocks.{workload}.{one}"] for one in SEPARATORS[1:]]
    made[f"blocks_least.{workload}"] = min((one for one in others if one is not None), default=None)
    return made


def _run(findings: Findings, workload: str) -> list[str]:
    """List the levels of garbage that were run."""
    return [batch for batch in BATCHES if findings.results.get(batch, {}).get(workload)]


def _streams(findings: Findings, batch: str, workload: str, separator: str) -> list[dict[str, Any]]:
    result = findings.look(f"{batch}.{workload}.{separator}") or {}
    return (result.get("separate") or {}).get("streams") or []


def _hot(findings: Findings, workload: str, variant: str) -> dict[str, Any]:
    """Compare hot archive blocks of IDS with all its other blocks, over all levels of garbage."""
    sums = {True: [0, 0, 0], False: [0, 0, 0]}
    for batch in _run(findings, workload):
        first = findings.look(f"{batch}.{workload}.{variant}.separate.found.archive_stream")
        if first is None:
            return {}
        for stream in _streams(findings, batch, workload, variant):
            for place, key in enumerate(("opened", "victims", "copied_pages")):
                sums[stream["stream"] >= first][place] += stream[key]
    (hot_opened, hot_victims, hot_copied), (opened, victims, copied) = sums[True], sums[False]
    hot_copies = hot_copied / hot_victims if hot_victims else None
    return {
        f"hot_share.{workload}": hot_opened / (hot_opened + opened) if hot_opened + opened else None,
        f"hot_copies.{workload}": hot_copies,
        f"hot_valid.{workload}": None if hot_copies is None else hot_copies / PAGES_PER_BLOCK,
        f"cold_copies.{workload}": copied / victims if victims else None,
    }


def _settings(findings: Findings) -> dict[str, Any]:
    """Divide the time of collection with one setting of IDS changed by its own time."""
    made: dict[str, Any] = {}
    swept = {variant for variants in findings.results.get("settings", {}).values() for variant in variants}
    for variant in sorted(swept):
        ratios = [
            over(findings, f"settings.{one}.{variant}.gc.time_s", f"{SWEPT}.{one}.ids.gc.time_s") for one in JUDGED
        ]
        made |= {f"settings.{variant}.{one}": ratio for one, ratio in zip(JUDGED, ratios, strict=True)}
        made[f"settings.{variant}.mean"] = mean(ratios)
    means = [value for name, value in made.items() if name.endswith(".mean") and value is not None]
    return made | ({"settings.least": min(means), "settings.most": max(means)} if means else {})
