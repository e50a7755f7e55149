"""What a plan reads of a forecast, and the part of it that a plan keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floatgate.report.sections import not_modelled, rating
from floatgate.report.sections.forecast import load, workload_notes
from floatgate.report.sections.forecast.life_range import uneven
from floatgate.results.result_view import look

Forecast = Mapping[str, Any] | None

_DAY_S = 86_400.0
_DEMAND = ("demand_bytes_per_day", "drive_writes_per_day")
_TIMES = ("mean", "p50", "p99", "p999", "max")


def years(result: Forecast) -> float | None:
    """Return how long the drive lasts; None where that is not known, or without end."""
    value: float | None = look(result, "lifetime", "years")
    return value


def first_block_years(result: Forecast) -> float | None:
    """Return when the first block is worn out, where wear is uneven; None where it is not."""
    return uneven(result)


def life_that_counts(result: Forecast) -> float | None:
    """Return the life of the first block where wear is uneven, of the average block else."""
    first = uneven(result)
    return years(result) if first is None else first


def rated_years(result: Forecast) -> float | None:
    """Return when the host has written the rated bytes of the drive; of a kept forecast as it was kept."""
    kept_years: float | None = look(result, "rated_years")
    return rating.years(result) if kept_years is None else kept_years


def earliest(result: Forecast, judge: str = "both") -> tuple[str | None, float | None]:
    """Return what ends the life first, and after how many years: every headline of a life begins with it.

    Args:
        result: a forecast, or the part of one that a plan keeps.
        judge: ``both`` for flash and rating, ``flash`` or ``rating`` for one of them.

    Returns:
        ``flash``, ``first_block`` or ``rating`` with the years; None twice if nothing ends the life.
    """
    flash, rated = life_that_counts(result), rated_years(result)
    worn = "flash" if first_block_years(result) is None else "first_block"
    known = [(worn, flash)] if judge != "rating" else []
    known += [("rating", rated)] if judge != "flash" else []
    ends = [(name, after) for name, after in known if after is not None]
    return min(ends, key=lambda end: end[1], default=(None, None))


def wears(result: Forecast) -> bool:
    """Return whether the workload programs anything, as far as that is known."""
    return bool(look(result, "pass", "page_writes") != 0 or look(result, "lifetime", "w_work_bytes") != 0)


def host_bytes_per_year(result: Forecast) -> float | None:
    """Return the host's writes per year, as throttled; of a kept forecast as it was kept."""
    kept_bytes: float | None = look(result, "host_bytes_per_year")
    return rating.bytes_per_year(result) if kept_bytes is None else kept_bytes


def demand_bytes_per_day(result: Forecast) -> float | None:
    """Return what the workload writes per day, before it grows or is throttled; of a kept forecast as it was kept."""
    kept_bytes: float | None = look(result, "demand_bytes_per_day")
    if kept_bytes is not None:
        return kept_bytes
    written, span = look(result, "workload", "write_bytes"), pass_span_s(result)
    return float(written) / span * _DAY_S if written is not None and span else None


def own_bytes_per_day(result: Forecast) -> float | None:
    """Return what the workload writes per day at its own rate, whatever the factor on it is."""
    written = demand_bytes_per_day(result)
    return None if written is None else written / demand_factor(result)


def rates(result: Forecast) -> dict[str, float | None]:
    """Return the factor on the rate of the workload, and the bytes per day with it and without, as JSON has them."""
    return {
        "demand_factor": demand_factor(result),
        "demand_bytes_per_day": demand_bytes_per_day(result),
        "own_bytes_per_day": own_bytes_per_day(result),
    }


def drive_writes_per_day(result: Forecast) -> float | None:
    """Return the same in drive writes, of the visible capacity; of a kept forecast as it was kept."""
    kept_writes: float | None = look(result, "drive_writes_per_day")
    if kept_writes is not None:
        return kept_writes
    written, visible = demand_bytes_per_day(result), look(result, "drive", "logical_bytes")
    return written / visible if written is not None and visible else None


def target_years(result: Forecast) -> float | None:
    """Return how long it should last."""
    value: float | None = look(result, "lifetime", "target_years")
    return value


def holds(result: Forecast) -> bool:
    """Return whether it lasts as long as it should."""
    return bool(look(result, "lifetime", "holds"))


def write_us(result: Forecast, key: str) -> float | None:
    """Return what writes of the host take, and what a throttle adds: ``mean``, ``p99``, ``p999``.

    Quantiles of both are added: a write that meets the worst of both is no faster.
    """
    value: float | None = look(result, "latency_us", "write", key)
    return None if value is None else value + (delay_us(result, key) or 0.0)


def read_us(result: Forecast, key: str) -> float | None:
    """Return the latency of host reads: the mean or a quantile; None without reads."""
    value: float | None = look(result, "latency_us", "read", key)
    return value


def latency_unknown(result: Forecast) -> str | None:
    """Return why it is not known what requests take; None where it is known, or nothing says why."""
    why: str | None = look(result, "close_up", "unknown")
    return why


def delay_us(result: Forecast, key: str) -> float | None:
    """Return by how much a throttle holds page writes back; None without one."""
    value: float | None = look(result, "throttle", "delay_us", key)
    return value


def throttled(result: Forecast) -> bool:
    """Return whether a throttle, or the integrated manager, may hold page writes back."""
    return look(result, "throttle", "delay_us") is not None or look(result, "throttle", "policy") not in (None, "none")


def waf_is_set(result: Forecast) -> bool:
    """Return whether write amplification was configured, and no drive was simulated for it."""
    return bool(look(result, "method", "waf_given"))


def served(result: Forecast) -> float | None:
    """Share of the workload that is written in the target time; a throttle that holds back makes it less."""
    value = look(result, "throttle", "demand_share")
    return None if value is None else float(value)


def served_range(result: Forecast) -> tuple[float, float] | None:
    """Return the interval of that share."""
    ends = look(result, "throttle", "demand_share_range")
    return None if ends is None else (ends[0], ends[1])


def modelled_share(result: Forecast) -> float:
    """Return the share of the blocks of the drive as sold that the model has; 1 in forecasts of older versions."""
    return float(look(result, "modelled_share") or 1.0)


def kept(result: Forecast) -> dict[str, Any]:
    """Return what a plan keeps of a forecast, as JSON has it."""
    return {
        "waf": look(result, "waf"),
        "waf_bytes": look(result, "waf_bytes"),
        "waf_bytes_parts": look(result, "waf_bytes_parts"),
        "lifetime": look(result, "lifetime"),
        "latency_us": {kind: _times(look(result, "latency_us", kind)) for kind in ("read", "write")},
        "delay_us": _times(look(result, "throttle", "delay_us")),
        "held_share": look(result, "throttle", "held_share"),
        "overloaded": load.overloaded(result),
        "latency_unknown": latency_unknown(result),
        "latency_95_us": look(result, "close_up", "busiest", "latency_95_us"),
        "demand_share": served(result),
        "demand_share_range": look(result, "throttle", "demand_share_range"),
        "workload_kind": look(result, "workload", "kind"),
        "workload_suspicions": workload_notes.suspicions(result),
        "workload_notes": workload_notes.remarks(result),
        **rates(result),
        "drive_writes_per_day": drive_writes_per_day(result),
        "pass_span_s": pass_span_s(result),
        "written_distinct_bytes": look(result, "pass", "written_distinct_bytes"),
        "logical_bytes": look(result, "drive", "logical_bytes"),
        "waf_given": waf_is_set(result),
        "modelled_share": modelled_share(result),
        "not_modelled": not_modelled.of(result),
        "rated_years": rated_years(result),
        "rated_tbw_bytes": rating.tbw_bytes(result),
        "host_bytes_per_year": host_bytes_per_year(result),
    }


def _times(facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if facts is None else {key: look(facts, key) for key in _TIMES}


def pass_span_s(result: Forecast) -> float | None:
    """Return how long a pass over the workload takes."""
    value: float | None = look(result, "pass", "span_s")
    return value


def demand_factor(result: Forecast) -> float:
    """Return the factor on the rate of the workload (``lifetime.forecast.demand``); of a kept forecast as kept."""
    kept_factor = look(result, "demand_factor")
    factor = look(result, "config", "lifetime", "forecast", "demand") if kept_factor is None else kept_factor
    return 1.0 if factor is None else float(factor)


def trace_span_s(result: Forecast) -> float | None:
    """Return how long the workload lasted when it was recorded, at its own rate."""
    span = pass_span_s(result)
    return None if span is None else span * demand_factor(result)


def columns(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a flat table for an entry that :func:`kept` made."""
    row = {key: entry[key] for key in ("rated_years", "waf", "waf_bytes", "demand_share", "overloaded", *_DEMAND)}
    latencies = {f"latency_us.{kind}": times for kind, times in entry["latency_us"].items()}
    for name, times in (latencies | {"throttle.delay_us": entry["delay_us"]}).items():
        row |= {f"{name}.{key}": value for key, value in (times or dict.fromkeys(_TIMES)).items()}
    row["throttle.held_share"] = entry["held_share"]
    return row


def restored(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a forecast that :func:`kept` and the size of the drive describe."""
    return {
        "drive": {
            "physical_bytes": entry["capacity_bytes"],
            "logical_bytes": entry.get("logical_bytes"),
            "sold_bytes": entry.get("sold_bytes"),
            "spare_factor": entry["spare_factor"],
            "rated": {"visible_tbw_bytes": entry.get("rated_tbw_bytes")},
        },
        "method": {"waf_given": entry.get("waf_given", False)},
        "throttle": {key: entry.get(key) for key in ("demand_share", "demand_share_range", "delay_us", "held_share")},
        "close_up": {
            "busiest": {"overloaded": entry.get("overloaded"), "latency_95_us": entry.get("latency_95_us")},
            "unknown": entry.get("latency_unknown"),
        },
        "workload": {
            "kind": entry["workload_kind"],
            "suspicions": entry.get("workload_suspicions"),
            "notes": entry.get("workload_notes", []),
        },
        "demand_factor": entry.get("demand_factor", 1.0),
        "modelled_share": entry.get("modelled_share", 1.0),
        "pass": {
            "span_s": entry.get("pass_span_s"),
            "written_distinct_bytes": entry.get("written_distinct_bytes"),
        },
        **{key: entry[key] for key in ("waf", "waf_bytes", "lifetime", "latency_us", "not_modelled")},
        **{key: entry.get(key) for key in ("waf_bytes_parts", "rated_years", "host_bytes_per_year", *_DEMAND)},
    }
