"""Compares a run of DiskSim with the same run of floatgate, and measures each rule that floatgate lacks."""

from __future__ import annotations

import dataclasses
import math
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import floatgate
from floatgate.base.errors import input_error
from floatgate.base.text_table import table
from validation.disksim.drive import drive_of, settings_of
from validation.disksim.model import FLOATGATE, Drive, Outcome, Request, Rules, Simulation, as_credited
from validation.disksim.results import BINS_MS, Results, Times, parse_parameters, read_results

SCHEMA = "floatgate.disksim/1"
SHARES = (0.5, 0.9, 0.99, 0.999)
LADDER = ("link", "sweep", "summary", "late_clean", "newest_block")
"""The order in which the rules go."""

Row = tuple[str, float | None, float | None]


@dataclass(frozen=True)
class Ours:
    """A run of floatgate; times in milliseconds."""

    result: Mapping[str, Any]
    requests: tuple[Request, ...]
    response_ms: tuple[float, ...]
    access_ms: tuple[float, ...]
    """From fetching to the end."""


@dataclass(frozen=True)
class Comparison:
    """Both runs, and the drive."""

    theirs: Results
    ours: Ours
    drive: Drive
    settings: Mapping[str, Any]


def compare(
    folder: str | os.PathLike[str],
    name: str,
    trace: str | os.PathLike[str],
    overrides: Mapping[str, Any] | None = None,
    *,
    read: Callable[[str], Results] = read_results,
) -> Comparison:
    """Set up the drive of ``folder/name.parv``, run the trace on it, and read ``folder/name.outv`` (or ``.outv.zst``).

    Args:
        folder: where parameters and results are.
        name: their name without extension.
        trace: the trace that DiskSim ran.
        overrides: settings over those of the drive, to see their effect.
        read: reads the results.

    Raises:
        InputError: a file or the drive is unusable, or a request is not of whole pages.
    """
    parameters = Path(folder) / f"{name}.parv"
    try:
        text = parameters.read_text("ascii")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no text"
        raise input_error(f"{parameters}: {reason}; expected parameters of DiskSim (.parv)") from None
    # DiskSim's echo of the parameters is rounded; the file is not.
    drive = drive_of(parse_parameters(text), os.fspath(parameters))
    results = Path(folder) / f"{name}.outv"
    theirs = read(os.fspath(results if results.exists() else results.with_suffix(".outv.zst")))
    settings = settings_of(drive) | dict(overrides or {})
    return Comparison(theirs, run(settings, trace), drive, settings)


def run(settings: Mapping[str, Any], trace: str | os.PathLike[str]) -> Ours:
    """Run the trace on the drive of ``settings``."""
    import numpy as np
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "requests.parquet"
        done = floatgate.run(dict(settings), trace=trace, format="disksim", log_requests=log)
        columns = pq.read_table(log).sort_by("request")

    def numbers(column: str) -> Any:
        return columns[column].to_numpy().astype(np.int64)

    page = int(settings["drive.geometry.page_bytes"])
    arrival, fetched, ended = (numbers(f"{what}_ns") for what in ("arrival", "fetched", "completed"))
    offset, size = numbers("offset"), numbers("bytes")
    parts = np.flatnonzero((offset % page != 0) | (size % page != 0))
    if parts.size:
        raise input_error(f"{os.fspath(trace)}: request {parts[0] + 1} is in part of a page; expected whole pages")
    requests = zip(arrival / 1e6, offset // page, size // page, columns["op"].to_pylist(), strict=True)
    return Ours(
        result=done.result,
        requests=tuple(Request(float(at), int(first), int(pages), op == "read") for at, first, pages, op in requests),
        response_ms=tuple(((ended - arrival) / 1e6).tolist()),
        access_ms=tuple(((ended - fetched) / 1e6).tolist()),
    )


def times_of(values: Sequence[float]) -> Times:
    """Return DiskSim's response times."""
    if not values:
        return Times(0, 0.0, 0.0, 0.0, (0,) * (len(BINS_MS) + 1))
    mean = math.fsum(values) / len(values)
    std = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    bins = [0] * (len(BINS_MS) + 1)
    for value in values:
        bins[sum(value >= bound for bound in BINS_MS)] += 1
    return Times(len(values), mean, std, max(values), tuple(bins))


def by_operation(requests: Sequence[Request], response_ms: Sequence[float | None]) -> dict[str, Times]:
    """Return response times of all, reads and writes; None is left out."""
    pairs = [(request, ms) for request, ms in zip(requests, response_ms, strict=True) if ms is not None]
    return {
        "all": times_of([ms for _, ms in pairs]),
        "read": times_of([ms for request, ms in pairs if request.read]),
        "write": times_of([ms for request, ms in pairs if not request.read]),
    }


def ended(ours: Ours) -> list[float | None]:
    """Return response times of the requests that were done at the last arrival, where DiskSim stops."""
    end = ours.requests[-1].arrival_ms
    pairs = zip(ours.requests, ours.response_ms, strict=True)
    return [ms if request.arrival_ms + ms < end else None for request, ms in pairs]


def rows(of: Comparison) -> list[Row]:
    """Return figure, theirs, ours; None if one side does not show it."""
    theirs, ours = of.theirs, of.ours
    result, elements = ours.result, theirs.elements
    times = by_operation(ours.requests, ended(ours))
    table: list[Row] = [
        ("requests done at the last arrival", theirs.times["all"].count, times["all"].count),
        ("reads", theirs.times["read"].count, times["read"].count),
        ("writes", theirs.times["write"].count, times["write"].count),
        ("page requests", sum(e.page_requests for e in elements), sum(request.pages for request in ours.requests)),
        ("cleans (blocks erased)", sum(e.cleans for e in elements), result["flash"]["erases"]["total"]),
        ("pages moved", sum(e.pages_moved for e in elements), result["gc"]["copied_pages"]),
        (
            "cleaning, s",
            sum(e.clean_ms for e in elements) / 1e3,
            result["jobs"]["foreground_s"] + result["jobs"]["background_s"],
        ),
        ("page requests served, s", sum(e.busy_ms for e in elements) / 1e3, result["flash"]["time_s"]["host"]),
    ]
    for op, our in times.items():
        their = theirs.times[op]
        if their.count:
            table += [
                (f"response {op}, mean, ms", their.mean, our.mean),
                (f"response {op}, std, ms", their.std, our.std),
                (f"response {op}, longest, ms", their.longest, our.longest),
            ]
    bounds = [*(f"< {bound:g}" for bound in BINS_MS), f">= {BINS_MS[-1]:g}"]
    bins = zip(bounds, theirs.times["all"].bins, times["all"].bins, strict=True)
    table += [(f"responses {bound} ms", their, our) for bound, their, our in bins]
    access = sorted(ours.access_ms)
    for share in SHARES:
        quantile = access[math.ceil(share * len(access)) - 1]
        table.append((f"access p{share * 100:g}, ms", _quantile(theirs, share), quantile))
    pages = pages_by_element(ours.requests, of.drive.elements)
    for number, element in enumerate(elements):
        table.append((f"element {number}: page requests", element.page_requests, pages[number]))
        table.append((f"element {number}: cleans", element.cleans, None))
    return table


def _quantile(theirs: Results, share: float) -> float | None:
    """Upper bound of the row in which the quantile lies."""
    return next((bound for bound, below in theirs.access if below >= share), None)


def pages_by_element(requests: Sequence[Request], elements: int) -> list[int]:
    """Return pages of each element: page p lies on element p modulo elements."""
    pages = [0] * elements
    for request in requests:
        for k in range(elements):
            pages[(request.page + k) % elements] += (request.pages - k + elements - 1) // elements
    return pages


def ladder(of: Comparison) -> list[dict[str, Any]]:
    """Return the rules that floatgate lacks go one by one: times and cleans at each step, from DiskSim to floatgate."""
    ours = of.ours
    steps: list[dict[str, Any]] = []

    def add(what: str, times: Mapping[str, Times], cleans: int) -> None:
        steps.append({"step": what, "cleans": cleans} | {op: _facts(of_op) for op, of_op in times.items()})

    def model(rules: Rules, drive: Drive = of.drive) -> tuple[Outcome, int]:
        outcome = Simulation(drive, rules).run(ours.requests)
        return outcome, sum(map(sum, outcome.cleans))

    add("DiskSim", of.theirs.times, sum(element.cleans for element in of.theirs.elements))
    rules = Rules()
    outcome, cleans = model(rules)
    end = ours.requests[-1].arrival_ms
    add("model of its rules", by_operation(ours.requests, as_credited(ours.requests, outcome, end)), cleans)
    done = [ms if at < end else None for ms, at in zip(outcome.response_ms, outcome.done_ms, strict=True)]
    add("- mixed-up completions", by_operation(ours.requests, done), cleans)
    add("- stop at the last arrival", by_operation(ours.requests, outcome.response_ms), cleans)
    for rule in LADDER:
        rules = dataclasses.replace(rules, **{rule: False})
        outcome, cleans = model(rules)
        add(f"- {rule.replace('_', ' ')}", by_operation(ours.requests, outcome.response_ms), cleans)
    outcome, cleans = model(FLOATGATE, of.drive.in_one_plane())
    add("- planes", by_operation(ours.requests, outcome.response_ms), cleans)
    erases = ours.result["flash"]["erases"]["total"]
    add("floatgate", by_operation(ours.requests, ours.response_ms), erases)
    apart = max(abs(a - b) for a, b in zip(outcome.response_ms, ours.response_ms, strict=True))
    steps[-1]["apart_from_the_step_before_ns"] = round(apart * 1e6, 3)
    return steps


def _facts(times: Times) -> dict[str, float]:
    return {"requests": times.count, "mean_ms": times.mean, "std_ms": times.std, "longest_ms": times.longest}


def as_json(of: Comparison, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return everything, for programs."""
    return {
        "schema": SCHEMA,
        "settings": dict(of.settings),
        "config_hash": of.ours.result["config_hash"],
        "rows": [
            {"figure": figure, "disksim": theirs, "floatgate": ours, "ratio": _ratio(theirs, ours)}
            for figure, theirs, ours in rows(of)
        ],
        "ladder": list(steps),
    }


def _ratio(theirs: float | None, ours: float | None) -> float | None:
    return None if theirs is None or ours is None or theirs == 0 else ours / theirs


def as_text(of: Comparison, steps: Sequence[Mapping[str, Any]]) -> str:
    """Return the tables, for people."""
    body = [(name, _number(theirs), _number(ours), _number(_ratio(theirs, ours))) for name, theirs, ours in rows(of)]
    text = table(("", "DiskSim", "floatgate", "ratio"), body, right=frozenset({1, 2, 3}))
    if not steps:
        return text
    head = ("", "cleans", "mean, ms", "std, ms", "longest, ms", "reads, ms", "writes, ms")
    lines = [
        (
            step["step"],
            _number(step["cleans"]),
            *(_number(step["all"][key]) for key in ("mean_ms", "std_ms", "longest_ms")),
            *(_number(step[op]["mean_ms"]) for op in ("read", "write")),
        )
        for step in steps
    ]
    apart = steps[-1]["apart_from_the_step_before_ns"]
    return (
        f"{text}\n\nRule by rule, each without those above it:\n"
        f"{table(head, lines, right=frozenset(range(1, 7)))}\n"
        f"No request of floatgate is further than {apart:g} ns from the step before."
    )


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.4f}"
