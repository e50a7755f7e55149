"""What READY's tables, figures and claims need beyond the results themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from floatgate import _core
from floatgate.papers.judge import Findings
from floatgate.papers.means import compared, mean_95, ratio
from floatgate.papers.ready import units
from floatgate.papers.ready.workloads import BURSTS, SMALLER
from floatgate.report.sections.forecast.latency import response_us
from floatgate.report.sections.forecast.lines import accuracy
from floatgate.results.result_view import look

TRACES = ("proxy", "proj", "exchange", "map", "msnfs")
THROTTLES = ("none", "static", "dynamic", "ready-pessimistic", "ready-optimistic")
MODELS = ("ready-table2", "ready-printed")
IDLE_H = (0, 1, 2, 5, 10, 20, 40)
"""Idle times whose cycles are listed."""

EPOCHS_S = (60, 600, 1800, 3600, 7200)
"""Lengths of epochs whose demand is compared, Figure 4: from 1 minute to 2 hours."""

TIB = float(1 << 40)
GIB = float(1 << 30)
MIB = float(1 << 20)
DAY_S = 86_400
STEADY_FROM_S, STEADY_TO_S = DAY_S, 3 * DAY_S
"""Bounds of settled delays, Figure 13: the result lists a life epoch by epoch for three days."""

BUSY_S = 600
WINDOWS_S = (60, 150, 600)
"""Lengths of the windows of intense I/O, Figure 14; its own example takes 150 s."""
INTENSE = 0.1
"""Share of the windows, those of the highest demand, that are intense."""
DRAWS = (2, 3, 4, 5)
"""Seeds of the other draws of the restless twins; the first is the experiment's own."""

SERVICE_US = 600.0
"""Program time of a page, section 4.1."""

PRINTED: dict[str, tuple[float, dict[str, float]]] = {
    "proj": (2.08, {"none": 144.4, "static": 54.2, "dynamic": 93.7, "ready-optimistic": 141.0}),
    "exchange": (20.61, {"none": 1918.8, "static": 348.2, "dynamic": 374.4, "ready-optimistic": 1065.6}),
}
"""GB written per hour (Table 1) and TB written in five years by throttle (Table 2)."""


def values(findings: Findings) -> dict[str, Any]:
    """Return all values by name."""
    made: dict[str, Any] = responses(findings)
    for model in MODELS:
        for idle_h, cycles in zip(IDLE_H, achievable(model, IDLE_H), strict=True):
            made[f"cycles.{model}.{idle_h}"] = cycles
    for trace in TRACES:
        for throttle in THROTTLES:
            made |= _life(findings, trace, throttle)
        made |= _table1(findings, trace)
    made |= units.values(made)
    made |= _draws(findings)
    made |= _measured(findings, made)
    made |= _bursts(findings)
    made["spread.exchange.written"] = deviation(findings, "strict.exchange.written")
    made |= _accuracy(findings)
    made |= _spreads(findings)
    made |= _demand(findings)
    made |= _delays(findings)
    made |= _busy(findings)
    made |= _forced()
    return made


def responses(findings: Findings) -> dict[str, Any]:
    """Return responses of page writes as the paper defines them: the flash's own time and what the throttle adds."""
    return {
        f"{batch}.{trace}.{variant}.response_us.{key}": response_us(result, key)
        for batch, traces in findings.results.items()
        for trace, variants in traces.items()
        for variant, result in variants.items()
        for key in ("mean", "p50", "p99", "max")
    }


def achievable(model: str, idle_h: Sequence[float]) -> list[float]:
    """Return the cycles that a block endures, by hours of rest."""
    return _core.endurance(None, "", [("drive.endurance.model", f'"{model}"')], list(idle_h))


def _life(findings: Findings, trace: str, throttle: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    place = f"lives.{trace}.{throttle}"
    for name, batch in (("tib", "lives"), ("tib_printed", "printed")):
        for key in ("c_ssd", "c_ssd_recovered", "w_work"):
            figure = findings.figure(f"{batch}.{trace}.{throttle}.lifetime.{key}_bytes")
            made[f"{name}.{trace}.{throttle}.{key}"] = None if figure is None else figure / TIB
    nominal, written = (findings.figure(f"{place}.lifetime.{key}_bytes") for key in ("c_ssd", "w_work"))
    made[f"unused.{trace}.{throttle}"] = None if not nominal or written is None else 1 - written / nominal
    made[f"spread.{trace}.{throttle}"] = deviation(findings, place)
    return made


def deviation(findings: Findings, place: str) -> float | None:
    """Compute the standard deviation of the write responses, us, from the distribution of their delays."""
    return spread_of(findings.look(place) or {})


def spread_of(result: dict[str, Any]) -> float | None:
    """Return the same of a result.

    Quantiles would not do: under ST one page write in some hundreds waits for the next second, for all the others.
    """
    if look(result, "throttle", "service_us") is not None and look(result, "throttle", "delay_us") is None:
        return 0.0  # nothing is held back: all responses are alike
    cdf, mean = (look(result, "throttle", "delay_us", key) for key in ("cdf", "mean"))
    if not cdf or not cdf.get("us") or mean is None:
        return None
    heights, shares = np.asarray(cdf["us"], dtype=float), np.diff(np.asarray(cdf["share"], dtype=float), prepend=0.0)
    return float(np.sqrt(np.sum(shares * (heights - mean) ** 2)))


def _table1(findings: Findings, trace: str) -> dict[str, Any]:
    facts = findings.look(f"lives.{trace}.none.pass") or {}
    written = findings.figure(f"lives.{trace}.none.workload.write_bytes")
    own = findings.figure(f"own.{trace}.none.waf")
    span_s, pages = facts.get("span_s"), facts.get("page_writes")
    page_bytes = findings.figure(f"lives.{trace}.none.drive.mapping_bytes") or 4096
    return {
        f"table1.{trace}.hours": span_s / 3600 if span_s else None,
        f"table1.{trace}.gib_per_hour": written / GIB / (span_s / 3600) if span_s and written else None,
        f"table1.{trace}.pages_gib_per_hour": pages * page_bytes / GIB / (span_s / 3600) if span_s and pages else None,
        f"table1.{trace}.waf": own * pages * page_bytes / written if own and pages and written else None,
        f"table1.{trace}.pages_per_4kib": pages * page_bytes / written if pages and written else None,
    }


def drawn(findings: Findings, batch: str, trace: str, variant: str, others: str = "draws") -> list[Any]:
    """Return the result of a variant and those of its other draws, as far as there are any."""
    names = [f"{batch}.{trace}.{variant}", *(f"{others}.{trace}.{variant}-{seed}" for seed in DRAWS)]
    return [result for result in map(findings.look, names) if result is not None]


def median(figures: Sequence[float | None]) -> float | None:
    """Return the median of those that are known."""
    known = [figure for figure in figures if figure is not None]
    return float(np.median(known)) if known else None


PAIRS = {
    "ready_over_dt": ("dynamic", "ready-optimistic"),
    "ready_over_dt_pes": ("dynamic", "ready-pessimistic"),
    "ready_over_st": ("static", "ready-optimistic"),
    "dt_over_st": ("static", "dynamic"),
}
"""Quotients of mean responses, section 4.4: the slower throttle and the faster one."""


def _draws(findings: Findings) -> dict[str, Any]:
    """Return the quotients of mean responses over all traces, geometric means, by draw: mean and half interval."""
    made: dict[str, Any] = {}
    for name, (slower, faster) in PAIRS.items():
        by_draw = []
        for draw in range(len(DRAWS) + 1):
            quotients = [
                ratio(_response(findings, trace, slower, draw), _response(findings, trace, faster, draw))
                for trace in TRACES
            ]
            by_draw.append(_geometric(quotients))
        made[f"draws.{name}.mean"], made[f"draws.{name}.half"] = mean_95(by_draw)
    return made


def _measured(findings: Findings, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the quotients of Figure 11 under both write units, and those of the sample of proxy."""
    made: dict[str, Any] = {}
    for batch in ("lives", "units"):
        means = {
            (trace, throttle): known.get(f"{batch}.{trace}.{throttle}.response_us.mean")
            for trace in TRACES
            for throttle in THROTTLES
        }
        for name, (slower, faster) in PAIRS.items():
            made[f"measured.{batch}.{name}"] = _geometric(
                ratio(means[trace, slower], means[trace, faster]) for trace in TRACES
            )
        for name, trace in (("near_nt", "proxy"), ("proj", "proj")):
            made[f"measured.{batch}.{name}"] = ratio(means[trace, "ready-optimistic"], means[trace, "none"])
    optimistic, plain = (
        known.get(f"sample.proxy-sample.{throttle}.response_us.mean") for throttle in ("ready-optimistic", "none")
    )
    pages, written = (
        findings.figure(f"sample.proxy-sample.none.{key}") for key in ("pass.page_writes", "workload.write_bytes")
    )
    return made | {
        "sample.ready_of_nt": ratio(optimistic, plain),
        "sample.pages_per_4kib": None if pages is None else ratio(pages * 4096, written),
    }


def _geometric(figures: Iterable[float | None]) -> float | None:
    known = list(figures)
    return float(np.exp(np.mean(np.log([one for one in known if one])))) if all(known) else None


def _response(findings: Findings, trace: str, throttle: str, draw: int) -> float | None:
    results = drawn(findings, "lives", trace, throttle)
    return response_us(results[draw], "mean") if draw < len(results) else None


def _bursts(findings: Findings) -> dict[str, Any]:
    """Return the share of the nominal cycles that ST leaves, by the length of bursts."""
    made: dict[str, Any] = {}
    for trace in ("proj", "exchange"):
        made[f"bursts.{trace}.750"] = _left(findings, f"lives.{trace}.static")
        for burst in (*BURSTS, "instant"):
            made[f"bursts.{trace}.{burst}"] = _left(findings, f"bursts.{trace}-burst-{burst}.static")
        written, nominal = (
            findings.figure(f"lives.{trace}.{place}_bytes")
            for place in ("none.lifetime.w_work", "static.lifetime.c_ssd")
        )
        made[f"bursts.{trace}.ceiling"] = 1 - 1 / (1 + nominal / written) if written and nominal else None
    at_once = findings.figure("bursts.proj-burst-instant.static.lifetime.w_work_bytes")
    made["bursts.proj.instant_tib"] = None if at_once is None else at_once * SMALLER / TIB
    return made


def _left(findings: Findings, place: str) -> float | None:
    share = ratio(*(findings.figure(f"{place}.lifetime.{key}_bytes") for key in ("w_work", "c_ssd")))
    return None if share is None else 1 - share


def _accuracy(findings: Findings) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for trace in TRACES:
        predictions = [
            look(result, "throttle", "prediction") or {}
            for result in drawn(findings, "lives", trace, "ready-optimistic")
        ]
        firsts = [share for share in (accuracy(look(one, "first_pass")) for one in predictions) if share is not None]
        made[f"accuracy.first_pass.{trace}"] = median(firsts)
        made[f"accuracy.lowest.{trace}"] = min(firsts, default=None)
        made[f"accuracy.highest.{trace}"] = max(firsts, default=None)
        made[f"accuracy.life.{trace}"] = median([accuracy(one) for one in predictions])
    steady, restless = (
        [made[f"accuracy.first_pass.{trace}"] for trace in traces]
        for traces in (("proxy", "exchange", "msnfs"), ("map", "proj"))
    )
    if None not in steady + restless:
        made |= {"accuracy.worst_of_steady": min(steady), "accuracy.best_of_restless": max(restless)}
    return made


def _spreads(findings: Findings) -> dict[str, Any]:
    spreads = {
        trace: median([_relative(one) for one in drawn(findings, "lives", trace, "dynamic")]) for trace in TRACES
    }
    known = [spread for spread in spreads.values() if spread is not None]
    if len(known) < len(TRACES):
        return {}
    restless = min(spreads[trace] or 0.0 for trace in ("map", "proj"))
    return {"dt_restless": bool(restless > max(spreads[trace] or 0.0 for trace in ("proxy", "exchange", "msnfs")))}


def _relative(result: dict[str, Any]) -> float | None:
    spread, mean = spread_of(result), response_us(result, "mean")
    return spread / mean if spread is not None and mean else None


def _forced() -> dict[str, Any]:
    """Mean responses that the paper's own volumes force, us.

    Where all delays move what follows, five years hold ``W / W_NT`` of the page writes. Each of them was then held back
    ``(W_NT / W - 1)`` times the time between two of them, whatever held them.
    """
    made: dict[str, Any] = {}
    for trace, (gib_per_hour, written) in PRINTED.items():
        pages_per_s = gib_per_hour * GIB / 4096 / 3600
        for throttle, tib in written.items():
            made[f"forced.{trace}.{throttle}"] = SERVICE_US + (written["none"] / tib - 1) / pages_per_s * 1e6
        of = {throttle: made[f"forced.{trace}.{throttle}"] for throttle in written}
        made[f"forced.{trace}.ready_of_nt"] = of["ready-optimistic"] / of["none"]
        made[f"forced.{trace}.dt_of_ready"] = of["dynamic"] / of["ready-optimistic"]
        made[f"forced.{trace}.st_of_dt"] = of["static"] / of["dynamic"]
    return made


def demand_differences(findings: Findings, trace: str, epoch_s: int, place: str | None = None) -> list[float] | None:
    """Return ``|d(i+1) - d(i)| / d(i)`` over the epochs of one pass, Figure 4, without epochs of no demand."""
    detail = findings.look(f"{place or f'demand-{trace}.{trace}.none'}.detail") or {}
    seconds = detail.get("demand_bytes")
    if not seconds:
        return None
    rows = int(epoch_s / (detail.get("interval_s") or 1.0))
    demand = np.asarray(seconds, dtype=float)
    epochs = demand[: len(demand) // rows * rows].reshape(-1, rows).sum(axis=1)
    before, after = epochs[:-1], epochs[1:]
    known = before > 0
    return [float(one) for one in np.abs(after - before)[known] / before[known]]


def _demand(findings: Findings) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for trace in ("exchange", "proxy"):
        close = {}
        for epoch_s in EPOCHS_S:
            differences = demand_differences(findings, trace, epoch_s)
            if differences:
                made[f"within.{trace}.{epoch_s}"] = _within(differences, 0.30)
                close[epoch_s] = _within(differences, 0.10)
        if close:
            made[f"within.{trace}.best_s"] = max(close, key=lambda epoch_s: (close[epoch_s], -epoch_s))
    others = [demand_differences(findings, "exchange", 1800, f"draws-demand.exchange.none-{seed}") for seed in DRAWS]
    shares = [made.get("within.exchange.1800"), *(_within(one, 0.30) for one in others if one)]
    return made | {"within.exchange.1800": median(shares)}


def _within(differences: Sequence[float], most: float) -> float:
    return float(np.mean(np.asarray(differences) < most))


def _delays(findings: Findings) -> dict[str, Any]:
    """Summarize Exchange's epochs: of ten minutes, chosen by the paper's rule, and by the share of mispredictions."""
    made: dict[str, Any] = {}
    by_draw: dict[str, list[float | None]] = {}
    for name, results in (
        ("fixed", drawn(findings, "fixed", "exchange", "fixed", "draws-fixed")),
        ("selected", drawn(findings, "lives", "exchange", "ready-optimistic")),
        ("by_share", drawn(findings, "fixed", "exchange", "by-share", "draws-fixed")),
    ):
        series = [look(one, "series") or {} for one in results]
        variations = [_variation(one.get("time_s") or [], one.get("delay_us") or []) for one in series]
        predictions = [look(one, "throttle", "prediction") or {} for one in results]
        by_draw[name] = variations
        made[f"delay_variation.{name}"] = median(variations)
        made[f"epochs.{name}.selections"] = median([look(one, "throttle", "selections") for one in results])
        made[f"epochs.{name}.last_s"] = median([look(one, "throttle", "epoch_s") for one in results])
        made[f"epochs.{name}.first_pass"] = median([accuracy(look(one, "first_pass")) for one in predictions])
        made[f"epochs.{name}.life"] = median([accuracy(one) for one in predictions])
    keys = ("fixed", "selected", "difference", "half")
    figures = compared(by_draw["fixed"], by_draw["selected"])
    return made | {f"delay_compared.{key}": figure for key, figure in zip(keys, figures, strict=True)}


def _variation(times: Sequence[float], delays: Sequence[float]) -> float | None:
    """Return standard deviation over mean of the delay between the two times, weighted by time."""
    ends, heights = np.asarray(times, dtype=float), np.asarray(delays, dtype=float)
    if len(ends) < 2:
        return None
    lengths = np.diff(ends, prepend=0.0)
    kept = (ends > STEADY_FROM_S) & (ends <= STEADY_TO_S)
    if kept.sum() < 2:
        return None
    mean = np.average(heights[kept], weights=lengths[kept])
    variance = np.average((heights[kept] - mean) ** 2, weights=lengths[kept])
    return float(np.sqrt(variance) / mean) if mean > 0 else 0.0


def busiest(findings: Findings, throttle: str) -> list[float] | None:
    """Return what map programs in each second of the ten minutes of highest demand, MiB/s."""
    rates, wanted = (_seconds(findings, throttle, column) for column in ("written_bytes", "demand_bytes"))
    if rates is None or wanted is None or len(rates) < BUSY_S:
        return None
    sums = np.cumsum(np.concatenate([[0.0], wanted]))
    at = int(np.argmax(sums[BUSY_S:] - sums[:-BUSY_S]))
    return [float(one) for one in rates[at : at + BUSY_S]]


def _seconds(findings: Findings, throttle: str, column: str) -> Any:
    """Return a column of the record of map's two days, MiB of flash in each second; None if nothing was recorded."""
    return _column(findings.look(f"lives.map.{throttle}") or {}, column)


def _column(result: dict[str, Any], column: str) -> Any:
    detail = result.get("detail") or {}
    if not detail.get(column):
        return None
    return np.asarray(detail[column], dtype=float) * detail["waf"] / MIB


def _busy(findings: Findings) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for throttle in THROTTLES[1:]:
        rates, seconds = busiest(findings, throttle), _seconds(findings, throttle, "written_bytes")
        made[f"busy.{throttle}.mean"] = None if rates is None else float(np.mean(rates))
        made[f"busy.{throttle}.most"] = None if seconds is None else _most(seconds, BUSY_S)
    return made | _intense(findings)


def _intense(findings: Findings) -> dict[str, Any]:
    """Compare what READY-PES and READY-OPT write in map's windows of highest demand, MiB/s, five draws in pairs."""
    made: dict[str, Any] = {}
    for window_s in WINDOWS_S:
        pessimistic, optimistic = (
            [intense_rate(one, window_s) for one in drawn(findings, "lives", "map", throttle)]
            for throttle in ("ready-pessimistic", "ready-optimistic")
        )
        keys = ("pessimistic", "optimistic", "difference", "half")
        if len(pessimistic) == len(optimistic):
            figures = compared(pessimistic, optimistic)
            made |= {f"intense.{window_s}.{key}": one for key, one in zip(keys, figures, strict=True)}
    return made


def intense_rate(result: dict[str, Any], window_s: int) -> float | None:
    """Return what is written on average in the tenth of the windows whose demand is highest, MiB/s.

    Args:
        result: of a life with a record by second.
        window_s: length of a window; windows follow each other.
    """
    rates, wanted = (_column(result, column) for column in ("written_bytes", "demand_bytes"))
    if rates is None or wanted is None or len(rates) < window_s:
        return None
    count = len(rates) // window_s
    by_window = [one[: count * window_s].reshape(count, window_s).mean(axis=1) for one in (rates, wanted)]
    chosen = np.argsort(by_window[1], kind="stable")[-max(1, round(INTENSE * count)) :]
    return float(np.mean(by_window[0][chosen]))


def _most(rates: Any, seconds: int) -> float:
    """Return the largest mean of this many consecutive seconds."""
    sums = np.cumsum(np.concatenate([[0.0], rates]))
    return float(np.max(sums[seconds:] - sums[:-seconds])) / seconds
