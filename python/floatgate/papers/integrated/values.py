"""What Table I, Figures 2 and 3 and the claims need beyond the results themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.papers.integrated.workloads import REAL_TARGET_YEARS, TWINS, ratio_of
from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, mean_95
from floatgate.report.sections.forecast.latency import response_us
from floatgate.results.result_view import look

CONFIGURATIONS = ("baseline", "throttling", "compression", "dedup", "integrated")
REAL = tuple(REAL_TARGET_YEARS)
SEEDS = ("lives", "seed-2", "seed-3", "seed-4", "seed-5")
"""Batches of the same twins with other seeds."""
BATCHES_OF_TWINS = (*SEEDS, "steady", "new", "full")
COMPRESSED, DUPLICATE = "compressed", "duplicate"


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name."""
    made: dict[str, Any] = {}
    findings = _joined(findings)
    for batch in (*BATCHES_OF_TWINS, "real"):
        for workload in REAL if batch == "real" else TWINS:
            for configuration in CONFIGURATIONS:
                made |= _life(findings, f"{batch}.{workload}", configuration)
            made |= _manager(findings, f"{batch}.{workload}")
    throttling, integrated = (made.get(f"write_us.steady.dvmt.{one}") for one in ("throttling", "integrated"))
    made["steady.slower"] = throttling / integrated if throttling and integrated else None
    for workload in REAL:
        integrated, throttling = (made.get(f"served.real.{workload}.{one}") for one in ("integrated", "throttling"))
        if integrated is not None and throttling is not None:
            made[f"serves_more.{workload}"] = integrated >= 0.999 * throttling
    made |= _ratios(findings)
    return made | _over_seeds(made)


def _joined(findings: Findings) -> Findings:
    """Return the same with the lives of Integrated under a seed beside the others of that seed."""
    joined = {batch: dict(workloads) for batch, workloads in findings.results.items()}
    for batch in SEEDS[1:]:
        for workload, variants in joined.get(f"{batch}-integrated", {}).items():
            others = joined.setdefault(batch, {})
            others[workload] = {**others.get(workload, {}), **variants}
    return Findings(joined, findings.values)


def _over_seeds(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return means over the seeds that were run, and half of the 95 % interval where there are several."""
    made: dict[str, Any] = {}
    for key in ("years", "longer", "response", "energy", "write_us", "written"):
        for workload in TWINS:
            for configuration in CONFIGURATIONS:
                figures = [known.get(f"{key}.{batch}.{workload}.{configuration}") for batch in SEEDS]
                there = [figure for figure in figures if figure is not None]
                name = f"{workload}.{configuration}"
                made[f"{key}.mean.{name}"], made[f"{key}.half.{name}"] = mean(there), mean_95(there)[1]
    return made


def _life(findings: Findings, place: str, configuration: str) -> dict[str, Any]:
    """Return years, and response, energy and written ratio relative to the baseline's."""
    result = findings.look(f"{place}.{configuration}")
    name = f"{place}.{configuration}"
    if not result:
        return {}
    plain = response_us(findings.look(f"{place}.baseline"), "mean")
    plain_years = findings.figure(f"{place}.baseline.lifetime.years")
    mean, years = response_us(result, "mean"), look(result, "lifetime", "years")
    reduced = look(result, "reduce") or {}
    # Without a scheme each page write is one program and nothing else.
    energy = reduced.get("energy_ratio") if reduced else 1.0
    return {
        f"years.{name}": years,
        f"longer.{name}": years / plain_years if years and plain_years else None,
        f"of_target.{name}": years / look(result, "lifetime", "target_years") if years else None,
        f"write_us.{name}": mean,
        f"response.{name}": mean / plain if mean is not None and plain else None,
        f"energy.{name}": energy,
        f"written.{name}": reduced.get("written_ratio") if reduced else 1.0,
        f"served.{name}": look(result, "throttle", "demand_share"),
        f"waf.{name}": look(result, "waf"),
    }


def _manager(findings: Findings, place: str) -> dict[str, Any]:
    """Return the shares of the manager's epochs in which each scheme was on."""
    reduced = findings.look(f"{place}.integrated.reduce") or {}
    epochs, throttled = reduced.get("epochs_by_choice"), look(reduced, "manager", "throttled_epochs")
    if not epochs or throttled is None:
        return {}
    all_epochs = sum(epochs.values())
    shares = {
        "dedup": epochs["dedup"] + epochs["both"],
        "compress": epochs["compress"] + epochs["both"],
        "throttle": throttled,
    }
    return {f"on.{place}.{scheme}": count / all_epochs for scheme, count in shares.items()}


def by_ratio(findings: Findings, kind: str) -> list[tuple[float, float, float]]:
    """Return ratio, written ratio and energy ratio of the workloads of one ratio, Figure 2."""
    points = []
    for name, variants in (findings.results.get(kind) or {}).items():
        for result in variants.values():
            written, energy = (look(result, "reduce", key) for key in ("written_ratio", "energy_ratio"))
            if written is not None and energy is not None:
                points.append((ratio_of(name)[1], float(written), float(energy)))
    return sorted(points)


def _ratios(findings: Findings) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for kind in (COMPRESSED, DUPLICATE):
        points = by_ratio(findings, kind)
        for ratio, written, energy in points:
            percent = f"{100 * ratio:.0f}"
            made |= {f"written.{kind}.{percent}": written, f"energy.{kind}.{percent}": energy}
        if points:
            paying = [ratio for ratio, written, energy in points if written < 1 and energy < 1]
            made[f"pays_from.{kind}"] = min(paying) if paying else None
            made[f"straight.{kind}"] = round(max(abs(written - (1 - ratio)) for ratio, written, _ in points), 9)
            made[f"levels.{kind}"] = len({round(written, 2) for _, written, _ in points})
    return made
