"""Small runs and forecasts with the rules of ``floatgate explain`` that hold in them, and the figures that these state.

Each run takes a blink. The sets are complete: a rule that is missing from a set must stay silent there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import floatgate
from conftest import SMALL
from floatgate.base import units
from floatgate.report.sections.lifetime_headline import UNEVEN
from floatgate.results.folder import RunFolder

Result = Mapping[str, Any]
Config = Mapping[str, Any]
TRACES = Path(__file__).parents[2] / "traces"
FILETIME = 128_166_372_003_061_629

TIMED = {
    **{key: value for key, value in SMALL.items() if key != "workload.rate_per_s"},
    "mode": "timed",
    "workload.requests": 20_000,
    "workload.read_share": 0.5,
    "drive.geometry.channels": 2,
}
OF_A_TRACE = {key: value for key, value in SMALL.items() if not key.startswith("workload.")}
HOT = {
    **SMALL,
    "workload.pattern": "hot-cold",
    "workload.hot_share_of_writes": 1.0,
    "ftl.precondition": "sequential",
    "workload.requests": 300_000,
}
LONG = {**SMALL, "drive.endurance.pe_cycles": 100_000}
LEVELED = {"ftl.level.policy": "swl", "ftl.level.threshold": 2}
DISTURBED = {
    "drive.disturb.model": "uniform",
    "drive.disturb.max_reads": 100,
    "workload.read_share": 0.99,
    "workload.pattern": "zipf",
}
NO_WRITES = {"nothing-written"}
READS = {"read-latency"}
WRITES = {"write-latency"}
LATENCIES = {"write-latency-forecast"}

PIPED = "trace from a pipe"
SMALL_PART = "life, small part"

RUNS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "random": (SMALL, {"no-time", "life", "pace-too-high", "collection"}),
    "only reads": ({**SMALL, "workload.read_share": 1.0, "workload.requests": 1000}, NO_WRITES | {"no-time"}),
    "reads of nothing": (
        {**SMALL, "ftl.precondition": "none", "workload.read_share": 0.9, "workload.requests": 2000},
        {"nothing-collected", "unwritten-reads", "too-short", "no-time"},
    ),
    "too short": (
        {**SMALL, "ftl.precondition": "none", "workload.requests": 2000},
        {"nothing-collected", "too-short", "no-time"},
    ),
    "filling": (
        {**SMALL, "ftl.precondition": "none", "workload.requests": 20_000},
        {"not-full", "too-short", "no-time", "collection"},
    ),
    "sequential": (
        {**SMALL, "workload.pattern": "sequential", "ftl.precondition": "sequential"},
        {"too-short", "no-time", "no-copies", "host-writes"},
    ),
    "slow": ({**SMALL, "workload.rate_per_s": 0.001}, {"no-time", "life", "pace-fine", "collection"}),
    "rated": (
        {**SMALL, "drive.rated.tbw_tb": 0.0001, "drive.rated.user_bytes": 50_000_000},
        {"no-time", "life", "pace-too-high", "rating", "collection"},
    ),
    "rated, slow": (
        {**SMALL, "workload.rate_per_s": 0.02, "drive.rated.tbw_tb": 0.001, "drive.rated.user_bytes": 50_000_000},
        {"no-time", "life", "rating", "collection"},
    ),
    "much spare space": (
        {**SMALL, "ftl.spare_factor": 0.7},
        {"too-short", "no-time", "little-collection", "host-writes"},
    ),
    "small writes": (
        {**SMALL, "workload.request_bytes": 1024},
        {"no-time", "life", "pace-too-high", "collection", "partial-pages"},
    ),
    "flushes": (
        {
            **SMALL,
            "drive.geometry.page_bytes": 16384,
            "drive.plp": False,
            "workload.flush_every": 2,
            "drive.buffer.capacity": "1 MiB",
        },
        {"too-short", "no-time", "collection", "padding"},
    ),
    "hot": (HOT, {"no-time", "life", "pace-too-high", "collection", "uneven-wear"}),
    "leveled": ({**HOT, **LEVELED}, {"no-time", "life", "pace-too-high", "collection", "leveling-cost"}),
    "reclaimed": (
        {**SMALL, **DISTURBED, "ftl.reclaim.policy": "baseline"},
        {"nothing-collected", "too-short", "no-time", "reclaim-wear"},
    ),
    "disturbed": (
        {**SMALL, **DISTURBED, "ftl.reclaim.policy": "none"},
        {"nothing-collected", "too-short", "no-time", "disturbed"},
    ),
    "duplicates": (
        {**SMALL, "workload.duplicate_share": 0.4},
        {"no-time", "life", "pace-too-high", "collection", "content"},
    ),
    "deduplicated": (
        {**SMALL, "workload.duplicate_share": 0.4, "lifetime.reduce.policy": "dedup"},
        {"too-short", "no-time", "collection", "reduced"},
    ),
    "trace": (OF_A_TRACE, {"too-short", "no-time", "collection", "contexts-missing"}),
    PIPED: (OF_A_TRACE, {"from-a-pipe", "too-short", "no-time", "collection"}),
    "trace with content": (
        {**OF_A_TRACE, "workload.file": str(TRACES / "sqlite-content.parquet"), "workload.beyond": "wrap"},
        {"little-written", "too-short", "no-time", "content-unknown"},
    ),
    "timed, rarely collected": (
        {
            **TIMED,
            "ftl.collect.mode": "whole-block",
            "ftl.collect.stop_free_blocks": 8,
            "workload.queue_depth": 1,
        },
        {
            "collection",
            "little-written",
            "too-short",
            *(f"{kind}-{about}" for kind in ("read", "write") for about in ("few-slow", "latency")),
            "read-own-work",
            "write-behind-collection",
        },
    ),
    "timed": (
        TIMED,
        {"little-written", "too-short", "collection", *READS, *WRITES}
        | {"read-behind-collection", "read-queued", "write-behind-collection", "write-queued"},
    ),
    "timed, reclaimed": (
        {**TIMED, **DISTURBED, "ftl.reclaim.policy": "baseline"},
        {"nothing-collected", "too-short", "reclaim-wear", "reclaim-tail", *READS, *WRITES}
        | {"read-behind-reclaim", "read-queued", "write-behind-reclaim", "write-queued"},
    ),
    "timed, leveled": (
        {
            **TIMED,
            **HOT,
            **LEVELED,
            "workload.requests": 60_000,
            "workload.rate_per_s": 500.0,
            "workload.read_share": 0.3,
        },
        {"life", "pace-too-high", "collection", "leveling-cost", *READS, *WRITES, "read-own-work"}
        | {"read-behind-collection", "read-behind-leveling", "write-behind-collection", "write-behind-leveling"},
    ),
    "timed, only reads": ({**TIMED, "workload.read_share": 1.0}, NO_WRITES | READS | {"read-queued"}),
    "timed, at ease": (
        {
            **TIMED,
            "workload.rate_per_s": 50.0,
            "workload.requests": 2000,
            "ftl.precondition": "sequential",
            "workload.pattern": "sequential",
        },
        {"nothing-collected", "too-short", *READS, *WRITES, "read-own-work", "write-own-work"},
    ),
    "reads over a slow channel": (
        {
            **TIMED,
            "drive.timing.channel_mb_per_s": 5,
            "drive.geometry.channels": 1,
            "drive.geometry.dies_per_chip": 8,
            "workload.read_share": 1.0,
            "workload.queue_depth": 8,
        },
        NO_WRITES | READS | {"read-queued", "read-channel"},
    ),
    "writes over a slow channel": (
        {
            **TIMED,
            "drive.timing.channel_mb_per_s": 2,
            "drive.geometry.channels": 1,
            "drive.geometry.dies_per_chip": 8,
            "workload.read_share": 0.0,
            "workload.queue_depth": 8,
            "workload.requests": 3000,
            "ftl.precondition": "sequential",
            "workload.pattern": "sequential",
        },
        {"little-written", "too-short", *WRITES, "write-channel"},
    ),
    "reads of pages under way": (
        {
            **TIMED,
            "drive.geometry.channels": 1,
            "ftl.spare_factor": 0.07,
            "ftl.separate.policy": "sepbit",
            "workload.pattern": "zipf",
            "workload.read_share": 0.7,
            "workload.queue_depth": 16,
        },
        {"little-written", "too-short", "collection", *READS, *WRITES, "read-own-write", "forced-collection"}
        | {"read-behind-collection", "write-behind-collection"},
    ),
    "few outstanding": (
        {**TIMED, "host.outstanding_max": 2},
        {"little-written", "too-short", "collection", *READS, *WRITES}
        | {"read-behind-collection", "read-host-queue", "write-behind-collection", "write-host-queue"},
    ),
    "throttled": (
        {**TIMED, "workload.rate_per_s": 100.0, "workload.requests": 2000, "lifetime.throttle.policy": "static"},
        {"nothing-collected", "too-short", "throttle-delays", *READS, *WRITES}
        | {"read-queued", "read-throttled", "write-own-work", "write-throttled"},
    ),
    "buffered": (
        {**TIMED, "drive.buffer.capacity": "1 MiB"},
        {"little-written", "too-short", "collection", *READS, *WRITES, "write-for-flash"}
        | {"read-behind-collection", "read-queued", "write-behind-collection", "write-queued"},
    ),
    "buffered bursts": (
        {
            **TIMED,
            "drive.buffer.capacity": "1 MiB",
            "workload.pattern": "jobs",
            "workload.requests": 5000,
            "workload.rate_per_s": 300.0,
            "workload.burst_on_s": 0.1,
            "workload.burst_off_s": 1.0,
        },
        {"nothing-collected", "too-short", *READS, *WRITES, "read-queued", "write-queued", "write-for-buffer"},
    ),
    "overloaded": (
        {**TIMED, "workload.rate_per_s": 100_000.0},
        {"little-written", "too-short", "collection", "backlog", *READS, *WRITES}
        | {"read-behind-collection", "read-queued", "write-behind-collection", "write-queued"},
    ),
    "one hot chip": (
        {
            **TIMED,
            "workload.read_share": 1.0,
            "workload.pattern": "zipf",
            "workload.zipf_theta": 2.0,
            "drive.geometry.channels": 8,
            "workload.queue_depth": 16,
        },
        NO_WRITES | READS | {"read-queued", "hot-chip"},
    ),
}
"""Settings of runs, and the rules that hold."""

FORECASTS: dict[str, tuple[dict[str, Any], set[str]]] = {
    "life, too much": (
        {**SMALL, "workload.requests": 10_000},
        {"overloaded", "collection-forecast", *LATENCIES},
    ),
    "life, slow": ({**SMALL, "workload.rate_per_s": 0.001}, {"target-met", "collection-forecast", *LATENCIES}),
    SMALL_PART: (
        OF_A_TRACE,
        {"target-met", "uneven-wear-forecast", *LATENCIES},
    ),
    "life, small writes": (
        {**SMALL, "workload.rate_per_s": 0.05, "workload.request_bytes": 1024},
        {"waf-margin", "target-met", "collection-forecast", "partial-pages", *LATENCIES},
    ),
    "life, disturbed": (
        {**SMALL, **DISTURBED, "workload.rate_per_s": 100.0, "ftl.reclaim.policy": "baseline"},
        {
            "waf-unsettled",
            "target-missed",
            "collection-forecast",
            "reclaim-wear-forecast",
            "read-latency-forecast",
            *LATENCIES,
        },
    ),
    "life, rated": (
        {**SMALL, "workload.rate_per_s": 0.02, "drive.rated.tbw_tb": 0.001, "drive.rated.user_bytes": 50_000_000},
        {"target-missed", "rating", "collection-forecast", *LATENCIES},
    ),
    "life, given": ({**SMALL, "lifetime.forecast.waf": 1.5}, {"waf-given", "target-missed"}),
    "life, throttled": (
        {**SMALL, "lifetime.throttle.policy": "ready-optimistic"},
        {"target-by-throttle", "throttle-refuses", "collection-forecast", *LATENCIES},
    ),
    "life, reads": (
        {**SMALL, "workload.rate_per_s": 100.0, "workload.read_share": 0.5, "workload.requests": 30_000},
        {"target-missed", "collection-forecast", "read-latency-forecast", *LATENCIES},
    ),
    # Five years are within the error of write amplification.
    "life, uncertain": (
        {**LONG, "workload.rate_per_s": 3.905},
        {"waf-margin", "target-uncertain", "collection-forecast", *LATENCIES},
    ),
    "life, unsettled": (
        {**LONG, "workload.rate_per_s": 3.0, "lifetime.forecast.laps_max": 3},
        {"waf-unsettled", "waf-margin", "target-met", "collection-forecast", *LATENCIES},
    ),
    "life, hot": (HOT, {"target-missed", "collection-forecast", "uneven-wear-forecast", *LATENCIES}),
}
"""The same of forecasts."""


def write(name: str, folder: Path) -> Path:
    """Runs or forecasts a scenario into a new folder below ``folder``, and returns it."""
    place = folder / name.replace(" ", "-").replace(",", "")
    if name in FORECASTS:
        settings = dict(FORECASTS[name][0])
        if name == SMALL_PART:
            settings["workload.file"] = str(small_part_trace(folder / "small.csv"))
        floatgate.lifetime(settings).write(RunFolder.named(str(place), force=False), report=False)
        return place
    settings = dict(RUNS[name][0])
    if name in ("trace", PIPED):
        settings["workload.file"] = str(msr_trace(folder / "msr.csv"))
    floatgate.run(settings).save(place, report=False)
    if name == PIPED:
        toml = place / "experiment.toml"
        toml.write_text(toml.read_text().replace(settings["workload.file"], "-"))
    return place


def msr_trace(path: Path) -> Path:
    """Writes 30,000 scattered writes of a page in MSR's format, without program contexts, and returns the path."""
    lines = [f"{FILETIME + n * 1_000_000},usr,0,Write,{n * 7919 % 4000 * 4096},4096,100\n" for n in range(30_000)]
    path.write_text("".join(lines))
    return path


def small_part_trace(path: Path) -> Path:
    """Writes 300 writes of a page, one every 6 minutes, to the first 20 pages of a drive, and returns the path."""
    lines = [f"{FILETIME + n * 3_600_000_000},usr,0,Write,{n * 7 % 20 * 4096},4096,100\n" for n in range(300)]
    path.write_text("".join(lines))
    return path


Check = Callable[[Result, Config], list[str]]


def _pages(result: Result, *causes: str) -> str:
    pages = result["flash"]["pages_written"]
    return units.share(sum(pages[cause] for cause in causes) / pages["total"])


def _waits(result: Result, kind: str, *reasons: str) -> float:
    waits = result["latency_us"]["waiting"][kind]
    names = ("die", "foreground_job", "background_job", "channel", "suspended", "service")
    return float(sum(waits[reason] for reason in reasons) / sum(waits[name] for name in names))


def _job_part(result: Result, *causes: str) -> float:
    times = result["flash"]["time_s"]
    moving = ("gc", "level", "reclaim", "replica", "repack")
    return float(sum(times[cause] for cause in causes) / sum(times[cause] for cause in moving))


def _beyond_one_operation(result: Result, config: Config) -> float:
    """Share of the time of reads at the flash behind jobs beyond an erase, the longest operation."""
    waits = result["latency_us"]["waiting"]["read"]
    total = sum(value for name, value in waits.items() if name != "operations")
    return float((waits["foreground_job"] - config["drive"]["timing"]["erase_us"]) / total)


def _reclaim_excess(result: Result) -> float | None:
    """Time of reads during reclaims beyond that of as many others, of the time of all reads."""
    response = result["reclaim"] and result["reclaim"]["response_us"]
    if not response or not response["during"]["count"]:
        return None
    during, reads = response["during"], result["latency_us"]["read"]
    return float(during["count"] * (during["mean"] - response["otherwise"]["mean"]) / (reads["count"] * reads["mean"]))


def _slower_than_mean(latency: Mapping[str, Any]) -> list[str]:
    steps = list(zip(latency["cdf"]["us"], latency["cdf"]["share"], strict=True))
    return [units.share(1 - max(share for time_us, share in steps if time_us <= latency["mean"]))]


def _us(value: float) -> str:
    return units.span(value / 1e6)


def _of_class(kind: str) -> dict[str, Check]:
    """Lists what the sentences on reads or on writes state."""

    def behind(result: Result, *causes: str) -> str:
        waits = _waits(result, kind, "foreground_job", "background_job")
        excess = _reclaim_excess(result) if kind == "read" else None
        if excess is None:
            return units.share(waits * _job_part(result, *causes))
        if "reclaim" in causes:
            return units.share(min(excess, waits))
        others = _job_part(result, "gc", "level", "repack")
        return units.share(max(waits - excess, 0) * _job_part(result, *causes) / others)

    def mean(result: Result) -> float:
        return float(result["latency_us"][kind]["mean"])

    return {
        f"{kind}-latency": lambda r, _: [f"takes {_us(mean(r))}", f"p99 {_us(r['latency_us'][kind]['p99'])}"],
        f"{kind}-latency-forecast": lambda r, _: [f"takes {_us(mean(r))}", f"p99 {_us(r['latency_us'][kind]['p99'])}"],
        f"{kind}-few-slow": lambda r, _: [f"slowest {part}" for part in _slower_than_mean(r["latency_us"][kind])],
        f"{kind}-behind-collection": lambda r, _: [
            f"{behind(r, 'gc')} behind collection",
        ],
        f"{kind}-behind-reclaim": lambda r, _: [f"{behind(r, 'reclaim', 'replica')} behind read reclaim"],
        f"{kind}-behind-leveling": lambda r, _: [f"{behind(r, 'level')} behind wear-leveling"],
        f"{kind}-queued": lambda r, _: [f"{units.share(_waits(r, kind, 'die'))} queued"],
        f"{kind}-channel": lambda r, _: [f"{units.share(_waits(r, kind, 'channel'))} waiting for the channel"],
        f"{kind}-own-work": lambda r, _: [f"{units.share(_waits(r, kind, 'service', 'suspended'))} on the operation"],
        f"{kind}-host-queue": lambda r, _: [units.share(r["latency_us"]["queue_wait"][kind] / mean(r))],
        f"{kind}-throttled": lambda r, _: [units.share(r["latency_us"]["throttle_wait"][kind] / mean(r)), "static"],
    }


def _drive_writes(result: Result) -> str:
    return units.figure(result["host"]["write_bytes"] / result["drive"]["logical_bytes"], 2)


def _pace(result: Result) -> list[str]:
    life = result["lifetime"]
    days = result["period_s"] / 86_400
    per_day = result["host"]["write_bytes"] / result["drive"]["logical_bytes"] / days
    assert abs(per_day / life["dwpd"] - 1) < 1e-6
    return [f"{units.figure(per_day, 2)} drive writes per day", "5 years"]


def _first_end(forecast: Result) -> str:
    """Returns when the first of these comes: an uneven first block or the flash is worn out, the rating is written."""
    life, rated = forecast["lifetime"], forecast["drive"]["rated"]
    years, first = life["years"], life["years_first_block"]
    if first is not None and years > UNEVEN * first:
        years = first
    if rated is not None:
        per_year = forecast["workload"]["write_bytes"] / forecast["pass"]["span_s"] * 365 * 86_400
        years = min(years, rated["visible_tbw_bytes"] / per_year)
    return units.years(years)


def _reclaim_part(forecast: Result) -> float:
    parts = forecast["waf_bytes_parts"]
    return float(parts["reclaim"] / parts["total"])


def _partial_part(result: Result) -> float:
    """Returns the share of the programmed bytes that fill up pages of 4 KiB of which the host writes a part."""
    if "flash" not in result:
        whole = result["workload"]["page_writes"] * 4096 / result["workload"]["write_bytes"]
        return float((whole - 1.0) / result["waf_bytes"])
    pages = result["flash"]["pages_written"]
    return float((pages["partial"] - result["host"]["write_bytes"] / 4096) / pages["total"])


CHECKS: dict[str, Check] = {
    "nothing-written": lambda r, _: ["wrote 0 B"] if r["host"]["write_bytes"] == 0 else ["?"],
    "nothing-collected": lambda r, _: [_drive_writes(r)] if r["gc"]["victims"] == 0 else ["?"],
    "little-written": lambda r, _: [_drive_writes(r), units.count(r["gc"]["victims"])],
    "not-full": lambda r, _: [_drive_writes(r)],
    "unwritten-reads": lambda r, _: [units.share(r["flash"]["unmapped_reads"] / r["host"]["page_reads"])],
    "too-short": lambda r, _: [r["evidence"]["why"]],
    "no-time": lambda r, _: [f"mode = {r['mode']}"],
    "from-a-pipe": lambda *_: ["workload.file = -", "--trace FILE"],
    "waf-given": lambda _, c: [f"({c['lifetime']['forecast']['waf']:.2f})"],
    "overloaded": lambda r, _: [f"{units.decimal_bytes(r['close_up']['busiest']['offered_bytes_per_s'])}/s requested"],
    "waf-margin": lambda r, _: [units.figure(r["waf_bytes"] * r["lifetime"]["years"] / 5.0, 2)],
    "target-met": lambda r, _: [_first_end(r), "5 years"],
    "target-uncertain": lambda r, _: [
        f"{_first_end(r)}. The target of 5 years is met, but",
        "below: 4.99-5.0 years (WAF alone)",
    ],
    "waf-unsettled": lambda r, _: [f"{r['waf_bytes']:.2f}, not stationary after {len(r['method']['waf_by_lap'])} laps"],
    "target-missed": lambda r, _: [f"{_first_end(r)} and misses", "5 years"],
    "target-by-throttle": lambda r, _: ["5.0 years", "ready-optimistic"] if r["lifetime"]["holds"] else ["?"],
    "throttle-refuses": lambda r, _: [units.share(r["throttle"]["demand_share"])],
    "life": lambda r, _: [units.figure(r["wear"]["erases_mean"]), f"{r['wear']['erases_max']} times"],
    "pace-too-high": lambda r, _: _pace(r),
    "pace-fine": lambda r, _: [*_pace(r), units.figure(r["lifetime"]["dwpd_for_target"], 2)],
    "rating": lambda r, _: [units.decimal_bytes(r["drive"]["rated"]["visible_tbw_bytes"])],
    "collection": lambda r, _: [f"{_pages(r, 'gc')} of all programs", units.count(r["gc"]["copied_pages"])],
    "collection-forecast": lambda r, _: [
        f"makes {units.share(1 - 1 / r['waf'] - _reclaim_part(r))} of all programs",
        f"{r['waf_bytes']:.2f}",
    ],
    "reclaim-wear-forecast": lambda r, _: [units.share(_reclaim_part(r)), "baseline"],
    "little-collection": lambda r, _: [_pages(r, "gc"), units.count(r["flash"]["pages_written"]["gc"])],
    "no-copies": lambda r, _: [units.count(r["gc"]["dead_victims"])],
    "host-writes": lambda r, _: [_pages(r, "host", "partial")],
    "partial-pages": lambda r, _: [units.share(_partial_part(r))],
    "padding": lambda r, _: [_pages(r, "padding")],
    "uneven-wear": lambda r, _: [
        units.figure(r["wear"]["erases_max"] / r["wear"]["erases_mean"]),
        units.years(r["lifetime"]["years_first_block"]),
        units.years(r["lifetime"]["years"]),
    ],
    "uneven-wear-forecast": lambda r, _: [units.years(r["lifetime"][key]) for key in ("years_first_block", "years")],
    "leveling-cost": lambda r, _: [_pages(r, "level"), "swl"],
    "reclaim-wear": lambda r, _: [_pages(r, "reclaim", "replica"), "100 reads", "baseline"],
    "disturbed": lambda r, _: [units.count(r["reclaim"]["reads_beyond_max"]), "100 reads"],
    "content": lambda _, c: [units.share(c["workload"]["duplicate_share"])],
    "content-unknown": lambda _, c: [c["lifetime"]["reduce"]["policy"]],
    "reduced": lambda r, _: [units.share(r["flash"]["pages_written"]["host"] / r["reduce"]["host_pages"]), "dedup"],
    "contexts-missing": lambda *_: ["no program contexts"],
    "read-own-write": lambda r, c: [units.share(_beyond_one_operation(r, c))],
    "forced-collection": lambda r, c: [units.count(r["gc"]["forced"]), c["ftl"]["separate"]["policy"]],
    "write-for-flash": lambda r, _: [
        units.share(r["latency_us"]["buffer_wait"]["write"]["place"] / r["latency_us"]["write"]["mean"]),
        "1 MiB",
        "the flash is busy",
    ],
    "write-for-buffer": lambda r, _: [
        units.share(r["latency_us"]["buffer_wait"]["write"]["place"] / r["latency_us"]["write"]["mean"]),
        "1 MiB",
    ],
    "throttle-delays": lambda r, _: [
        units.share(r["throttle"]["held_share"]),
        units.span(r["throttle"]["held_back_s"] / r["host"]["page_writes"]),
    ],
    "backlog": lambda r, _: [units.span(r["latency_us"]["arrivals_s"]), units.span(r["span_s"])],
    "reclaim-tail": lambda r, _: [_us(r["reclaim"]["response_us"][when]["p99"]) for when in ("during", "otherwise")],
    "hot-chip": lambda r, _: [units.figure(max(r["hot_reads"]["by_chip"]) * 8 / sum(r["hot_reads"]["by_chip"]))],
    **_of_class("read"),
    **_of_class("write"),
}
"""What the sentence of a rule must state, worked out from the result without the figures of ``floatgate explain``."""
