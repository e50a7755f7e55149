"""READY's figures, drawn from our results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from floatgate.pages import palette
from floatgate.papers.judge import Findings
from floatgate.papers.paper import Figure
from floatgate.papers.ready import units
from floatgate.papers.ready.values import (
    DAY_S,
    EPOCHS_S,
    MODELS,
    STEADY_TO_S,
    THROTTLES,
    TIB,
    TRACES,
    achievable,
    busiest,
    demand_differences,
)
from floatgate.report import throttle_charts
from floatgate.report.sections.forecast.parts import cdf_rows, course_rows
from floatgate.report.throttle_charts import Look, looks_of
from floatgate.results.result_view import look

LABELS = {
    "none": "NT",
    "static": "ST",
    "dynamic": "DT",
    "ready-pessimistic": "READY-PES",
    "ready-optimistic": "READY-OPT",
}
LOOKS = looks_of(THROTTLES, LABELS)
EPOCH_LOOKS = [
    Look(label, color, dash, "circle")
    for label, color, dash in (
        ("1 minute", palette.GREY, (2, 3)),
        ("10 minutes", palette.BROWN, (8, 3)),
        ("30 minutes", palette.INK, ()),
        ("1 hour", palette.BLUE, (4, 2)),
        ("2 hours", palette.SKY, (5, 2, 1, 2)),
    )
]
DEMAND, DEMAND_TITLE = "Figure 4: write demand of an epoch against the one before", "difference, per cent"
MOST_DIFFERENCE = 100.0
UNIT_LOOKS = {
    "near_nt": Look("READY over NT, proxy", palette.GREEN, (), "circle"),
    "ready_over_dt": Look("DT over READY", palette.BLUE, (8, 3), "square"),
    "dt_over_st": Look("ST over DT", palette.BROWN, (2, 3), "cross"),
}

Rows = list[dict[str, Any]]


def figures(findings: Findings) -> list[Figure]:
    """Return the figures that have results, in the order of the paper."""
    made = [_cycles(), _motivation(findings)]
    made += [_demand(findings, trace) for trace in ("exchange", "proxy")]
    made += [_lives(findings), _responses(findings), _page_writes(findings)]
    made += [_response_cdf(findings, trace) for trace in TRACES]
    made += [_delays(findings, name) for name in ("fixed", "selected")]
    made += [_throughput(findings, throttle) for throttle in THROTTLES[1:]]
    return [figure for figure in made if figure is not None]


def _cycles() -> Figure:
    looks = [Look("ready-table2", palette.INK, (), "circle"), Look("ready-printed", palette.BROWN, (6, 3), "square")]
    hours = [round(0.25 * step, 2) for step in range(161)]
    rows = [
        {"x": hour, "y": cycles, "series": model}
        for model in MODELS
        for hour, cycles in zip(hours, achievable(model, hours), strict=True)
    ]
    return Figure(
        "figure-1",
        "Figure 1: achievable cycles",
        "By the mean time that a block rests between two cycles. The claims are judged under ready-table2.",
        lambda width: throttle_charts.lines(rows, looks, "idle time, hours", "program/erase cycles", width=width),
        "Figures 1 and 2: recovery, and why throttling should be dynamic",
    )


def _page_writes(findings: Findings) -> Figure | None:
    over = units.over_nt(findings.values)
    if over is None:
        return None
    rows = [
        {"x": round(1 + step / 10, 1), "y": units.quotient(over, figure, 1 + step / 10), "series": shown.label}
        for figure, shown in UNIT_LOOKS.items()
        for step in range(31)
    ]
    rules = [(f"paper: {units.PRINTED[figure]}", units.PRINTED[figure]) for figure in UNIT_LOOKS]
    return Figure(
        "page-writes",
        "Mean responses by what a page write is",
        "Quotients that Table 1 and the measured volumes force. Our drives make 1.1 with pages of 4 KiB, 2.1 with 2.",
        lambda width: throttle_charts.lines(
            rows, list(UNIT_LOOKS.values()), "page writes per 4 KiB", "quotient", width=width, rules=rules
        ),
    )


def _motivation(findings: Findings) -> Figure | None:
    chosen = ("none", "static", "ready-optimistic")
    rows: Rows = []
    x_title = ""
    for throttle in chosen:
        result = findings.look(f"lives.exchange.{throttle}") or {}
        made, x_title = course_rows(result, "written_bytes", LABELS[throttle], scale=TIB)
        rows += made
    if not rows:
        return None
    rules = []
    for label, place in (
        ("C_ssd, nominal", "tib.exchange.static.c_ssd"),
        ("C'_ssd, READY", "tib.exchange.ready-optimistic.c_ssd_recovered"),
    ):
        height = findings.figure(place)
        rules += [(label, height)] if height is not None else []
    looks = looks_of(chosen, LABELS)
    return Figure(
        "figure-2",
        "Figure 2: three policies, exchange",
        "Bytes programmed over five years. NT passes what the flash stands, ST leaves it unused, READY uses it up.",
        lambda width: throttle_charts.lines(rows, looks, x_title, "programmed, TB", width=width, rules=rules),
        "Figures 1 and 2: recovery, and why throttling should be dynamic",
    )


def _demand(findings: Findings, trace: str) -> Figure | None:
    rows: Rows = []
    for epoch_s, one in zip(EPOCHS_S, EPOCH_LOOKS, strict=True):
        differences = demand_differences(findings, trace, epoch_s)
        if differences:
            values = sorted(min(100 * difference, MOST_DIFFERENCE) for difference in differences)
            shares = [(value, (number + 1) / len(values)) for number, value in enumerate(values)]
            below = [point for point in shares if point[0] < MOST_DIFFERENCE]
            ends = [(0.0, 0.0), *below, (MOST_DIFFERENCE, below[-1][1] if below else 0.0)]
            rows += [{"x": x, "y": y, "series": one.label} for x, y in throttle_charts.thin(ends)]
    if not rows:
        return None
    return Figure(
        f"figure-4-{trace}",
        f"Figure 4: {trace}",
        "Share of the epochs of one pass whose demand differs by no more; epochs from 1 minute to 2 hours.",
        lambda width: throttle_charts.lines(rows, EPOCH_LOOKS, DEMAND_TITLE, "epochs", width=width, share=True),
        DEMAND,
    )


def _lives(findings: Findings) -> Figure:
    rows = _dots(findings, "lifetime.years", 1.0)
    return Figure(
        "figure-10",
        "Figure 10: effective lifetime",
        "Dashed: the five years that are required.",
        lambda width: throttle_charts.dots(rows, LOOKS, TRACES, "years", width=width, log=True, rule=5.0),
        "Figures 10 and 11: lives and mean responses",
    )


def _responses(findings: Findings) -> Figure:
    rows = _dots(findings, "response_us.mean", 1000.0)
    title = "mean write response, ms"
    return Figure(
        "figure-11",
        "Figure 11: mean write response",
        "Flash service and throttling. NT is the flash's own time.",
        lambda width: throttle_charts.dots(rows, LOOKS, TRACES, title, width=width, log=True),
        "Figures 10 and 11: lives and mean responses",
    )


def _dots(findings: Findings, key: str, scale: float) -> Rows:
    rows = []
    for trace in TRACES:
        for throttle in THROTTLES:
            value = findings.figure(f"lives.{trace}.{throttle}.{key}")
            if value is not None:
                rows.append({"thing": trace, "value": value / scale, "series": LABELS[throttle]})
    return rows


def _response_cdf(findings: Findings, trace: str) -> Figure | None:
    rows: Rows = []
    for throttle in THROTTLES:
        result: Mapping[str, Any] = findings.look(f"lives.{trace}.{throttle}") or {}
        service_us = look(result, "throttle", "service_us") or 0.0
        alike = [] if not result else [{"x": service_us / 1000, "y": y, "series": LABELS[throttle]} for y in (0.0, 1.0)]
        # Where nothing is held back, all responses are alike.
        rows += cdf_rows(result, LABELS[throttle], service_us) or alike
    if not rows:
        return None
    return Figure(
        f"figure-12-{trace}",
        f"Figure 12: {trace}",
        "Share of the page writes that took no longer.",
        lambda width: throttle_charts.lines(
            rows, LOOKS, "response of a page write, ms", "page writes", width=width, x_log=True, share=True, x_min=0.4
        ),
        "Figure 12: distributions of write responses",
    )


def _delays(findings: Findings, name: str) -> Figure | None:
    place = {"fixed": "fixed.exchange.fixed", "selected": "lives.exchange.ready-optimistic"}[name]
    looks = [Look("delay", palette.INK, (), "circle")]
    rows, x_title = course_rows(findings.look(place) or {}, "delay_us", "delay", scale=1000.0, to_s=STEADY_TO_S)
    if len(rows) < 2:
        return None
    title = {"fixed": "FIXED: epochs of 10 minutes", "selected": "DYNAMIC: epochs of selected length"}[name]
    return Figure(
        f"figure-13-{name}",
        f"Figure 13: {title}",
        f"exchange under READY-OPT, the first {STEADY_TO_S // DAY_S} days.",
        lambda width: throttle_charts.lines(rows, looks, x_title, "delay of a page write, ms", width=width, step=True),
        "Figure 13: throttling delays of exchange",
    )


def _throughput(findings: Findings, throttle: str) -> Figure | None:
    rates = busiest(findings, throttle)
    if rates is None:
        return None
    one = looks_of([throttle], LABELS)[0]
    looks = [Look(one.label, one.color, (), one.shape)]
    rows = [{"x": second, "y": rate, "series": one.label} for second, rate in enumerate(rates)]
    most = max(float(np.max(busiest(findings, other) or [0.0])) for other in THROTTLES[1:])
    return Figure(
        f"figure-14-{throttle}",
        f"Figure 14: {one.label}",
        "map: what is programmed in each second of the ten minutes of highest demand.",
        lambda width: throttle_charts.lines(
            rows, looks, "time, seconds", "programmed, MiB/s", width=width, step=True, y_max=most
        ),
        "Figure 14: throughput while I/O is intense",
    )
