"""What the tables, figures and claims of redFTL+ need beyond the results themselves."""

from __future__ import annotations

from typing import Any

from floatgate.papers.judge import Findings
from floatgate.papers.means import mean, mean_95, ratio
from floatgate.papers.read_twins import response_ms
from floatgate.papers.redftl_plus.readers import busiest
from floatgate.papers.redftl_plus.workloads import PLANS

WORKLOADS = tuple(PLANS)
VARIANTS = {
    "baseline": "main",
    "rrb": "main",
    "redftl": "main",
    "redftl-plus": "main",
    "redftl-plus-plus": "main",
    "no-mixing": "parts",
    "empty-partner": "parts",
    "no-order": "parts",
}
"""The batch of each variant."""
CLOSE_UP = {
    ("close", "baseline"): "baseline",
    ("close-plus", "redftl-plus"): "redftl-plus",
    ("idle", "baseline"): "baseline-idle",
    ("idle-plus", "redftl-plus"): "redftl-plus-idle",
}
"""Names of timed runs, by batch and variant."""
SEEDS = {"1": "main", **{str(seed): f"seed-{seed}" for seed in range(2, 6)}}
"""The batch of each seed."""
TYPES = ("lsb", "csb", "msb")
MODEL_TYPES = {"mlc": (0.62, 1.0), "tlc-base": (0.25, 0.5, 1.0), "tlc-opt": (0.78, 1.0, 0.79)}
"""Weights of the page types that a read disturbs, LSB first (``drive.disturb.weights``)."""
MODES = ((1.0, 1.00, 1.00), (2.0, 0.98, 1.08), (5.0, 0.96, 1.19))
"""Reads that a block endures, read voltage and program time (``drive.disturb.modes``, Table 4)."""


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name."""
    made: dict[str, Any] = {"most_resistant": MODES[2][0] / MODEL_TYPES["tlc-opt"][0]}
    for model in ("tlc-base", "tlc-opt"):
        made |= {f"weight.{model}.{one}": weight for one, weight in zip(TYPES, MODEL_TYPES[model], strict=True)}
    for workload in WORKLOADS:
        made |= _host_pages(findings, workload)
        times = {variant: time_of(findings, batch, workload, variant) for variant, batch in VARIANTS.items()}
        for variant, batch in VARIANTS.items():
            made |= _figures(findings, f"{batch}.{workload}.{variant}", f"{workload}.{variant}")
            made[f"time.{workload}.{variant}"] = times[variant]
            made[f"over.{workload}.{variant}"] = ratio(times[variant], times["baseline"])
        made[f"least_over_msb.{workload}"] = _least_over_msb(made, workload)
        made |= _seeds(findings, workload)
        both = [time_of(findings, "buffered", workload, variant) for variant in ("redftl-plus", "baseline")]
        made[f"buffered.{workload}"] = ratio(*both)
        made[f"count.buffered.{workload}"] = findings.look(f"buffered.{workload}.baseline.reclaim.on_demand")
        made |= _buffers(findings, workload)
    for batch in ("half", "quarter", "mostly-free"):
        for variant in ("rrb", "redftl", "redftl-plus", "empty-partner"):
            for workload in WORKLOADS:
                both = [time_of(findings, batch, workload, one) for one in (variant, "baseline")]
                made[f"{batch}.over.{workload}.{variant}"] = ratio(*both)
            overs = [made[f"{batch}.over.{workload}.{variant}"] for workload in WORKLOADS]
            made[f"{batch}.mean.{variant}"] = mean(overs)
    for variant in VARIANTS:
        made[f"mean.{variant}"] = mean(made[f"over.{workload}.{variant}"] for workload in WORKLOADS)
    return made | _responses(findings)


def _responses(findings: Findings) -> dict[str, Any]:
    """Return response times around reclaims, milliseconds, and how much shorter they are under redFTL+ on average."""
    made: dict[str, Any] = {}
    for workload in WORKLOADS:
        for (batch, variant), name in CLOSE_UP.items():
            run = f"{batch}.{workload}.{variant}"
            made |= response_ms(findings, run, f"{workload}.{name}")
            jobs = [findings.figure(f"{run}.reclaim.{kind}") for kind in ("on_demand", "background")]
            made[f"response.count.{workload}.{name}"] = None if None in jobs else sum(int(job or 0) for job in jobs)
        for name, kind in (("response", ""), ("response.idle", "-idle")):
            both = [made[f"during.mean.{workload}.{one}{kind}"] for one in ("baseline", "redftl-plus")]
            made[f"{name}.{workload}"] = ratio(*both)
        made |= {f"one-die.{key}": value for key, value in _one_die(findings, workload).items()}
    for name in ("response", "response.idle"):
        made[f"{name}.mean"] = mean(made[f"{name}.{workload}"] for workload in WORKLOADS)
    return made


def _one_die(findings: Findings, workload: str) -> dict[str, Any]:
    times = response_ms(findings, f"one-die-close.{workload}.baseline", workload)
    return {f"p50.{workload}": times[f"during.p50.{workload}"]}


def _host_pages(findings: Findings, workload: str) -> dict[str, Any]:
    """Count the pages that the host read and wrote."""
    result = findings.look(f"main.{workload}.baseline")
    if not result:
        return {}
    settings, host = result["config"]["workload"], result["host"]
    made = {
        f"read_share.{workload}": ratio(host["read_requests"], host["read_requests"] + host["write_requests"]),
        f"raf.{workload}": settings.get("read_amplification"),
        f"requests.{workload}": settings.get("requests"),
    }
    return made | ({f"busiest.{workload}": busiest(workload)} if settings["kind"] == "twin" else {})


def time_of(findings: Findings, batch: str, workload: str, variant: str) -> float | None:
    """Return seconds of read reclaim in a run, replicas counted in; None where there was no such run."""
    parts = findings.look(f"{batch}.{workload}.{variant}.reclaim.time_s")
    return None if parts is None else float(parts["reclaim"] + parts["replica"])


def _seeds(findings: Findings, workload: str) -> dict[str, Any]:
    """Return the time of redFTL+ over the baseline's with five seeds, and the 95 % interval of their mean."""
    times: dict[str, Any] = {}
    for seed, batch in SEEDS.items():
        both = [time_of(findings, batch, workload, variant) for variant in ("redftl-plus", "baseline")]
        times[f"seed.{workload}.{seed}"] = ratio(*both)
    middle, half = mean_95(times.values())
    return times | {f"seed.{workload}.mean": middle, f"seed.{workload}.half": half}


def _figures(findings: Findings, run: str, name: str) -> dict[str, Any]:
    """Return reclaims and shares of page types of one run."""
    reclaim = findings.look(f"{run}.reclaim")
    if not reclaim:
        return {}
    made = {f"count.{name}": reclaim["on_demand"] + reclaim["background"]}
    by_type = reclaim["reads_by_page_type"]
    total = sum(by_type.values())
    made |= {f"{one}.{name}": ratio(by_type[one.upper()], total) for one in TYPES}
    modes = reclaim["reads_by_mode"]
    return made | {f"mode-{mode}.{name}": ratio(reads, sum(modes)) for mode, reads in enumerate(modes)}


def _buffers(findings: Findings, workload: str) -> dict[str, Any]:
    """Return reclaims and their time without a buffer, with LRU, and with one that keeps the pages read most."""
    made: dict[str, Any] = {}
    for batch in ("main", "buffered", "aware"):
        for variant in ("baseline", "redftl-plus"):
            run = f"{batch}.{workload}.{variant}"
            jobs = [findings.figure(f"{run}.reclaim.{kind}") for kind in ("on_demand", "background")]
            made[f"buffer.count.{run}"] = None if None in jobs else sum(int(job or 0) for job in jobs)
            made[f"buffer.time.{run}"] = time_of(findings, batch, workload, variant)
    return made


def _least_over_msb(made: dict[str, Any], workload: str) -> float | None:
    lsb, csb, msb = (made.get(f"{one}.{workload}.redftl-plus") for one in TYPES)
    return ratio(min(lsb, csb), msb) if lsb is not None and csb is not None else None
