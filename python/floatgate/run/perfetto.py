"""The timeline of a timed run in Chrome's trace event format, for Perfetto (https://ui.perfetto.dev) and other viewers.

Four processes have the tracks: dies, channels, host queues and jobs. Each event is complete (``ph: X``) with its
beginning and length in microseconds since the first counted request. Events of one track never overlap: what happens at
once in a queue stands on several tracks of its name.
"""

from __future__ import annotations

import gzip
import heapq
import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floatgate import _core
from floatgate.base.errors import input_error, quote
from floatgate.pages.causes import cause
from floatgate.results import timeline
from floatgate.results.folder import must_be_new_file, written
from floatgate.run.experiment import Experiment
from floatgate.run.run import Run, check

if TYPE_CHECKING:
    import pyarrow as pa

ENDING = ".json.gz"
EXPECTED = f"a file for the trace, such as timeline{ENDING}"
DIES, CHANNELS, QUEUES, JOBS = range(1, 5)
"""Numbers of the processes."""
NAMES = {DIES: "dies", CHANNELS: "channels", QUEUES: "host queues", JOBS: "jobs"}
LANES_MAX = 256
"""Requests of one queue that are drawn at a time; further ones are left out and counted."""
_TRACKS_PER_QUEUE = 1000
_US = 1000

Event = dict[str, Any]


def must_be_drawable(path: str, experiment: Experiment, *, force: bool) -> None:
    """Refuse a file before the run: one that cannot be written, or of a run without times.

    Raises:
        InputError: the name has another ending, the file exists, or the mode is functional.
    """
    if not path.endswith(ENDING):
        what = f"{quote(path)} has another ending"
        raise input_error(f"--perfetto: {what}; expected a name that ends in {ENDING}")
    must_be_new_file(path, EXPECTED, force=force)
    if tomllib.loads(check(experiment)).get("mode") != "timed":
        what = "functional mode models no time; there is no timeline to write"
        raise input_error(f'--perfetto: {what}; expected mode = "timed"')


def write(path: str, run: Run, requests: Path) -> int:
    """Write the trace of a run, whole or not at all; return how many requests it leaves out.

    Args:
        path: the file, compressed by gzip.
        run: a timed run with a timeline.
        requests: its log of requests (:mod:`floatgate.run.request_log`).

    Raises:
        InputError: the file cannot be written.
    """
    table = run.timeline
    assert table is not None  # noqa: S101 - for mypy: timed runs have one
    document = trace_of(table, rows_of(requests, timeline.interval_of(table)))
    with written(path, EXPECTED) as place:
        # No time stands in the header: the same run gives the same bytes.
        place.write_bytes(gzip.compress(json.dumps(document, separators=(",", ":")).encode(), mtime=0))
    left_out: int = document["otherData"]["requests_left_out"]
    return left_out


def rows_of(requests: Path, interval_ns: tuple[int, int]) -> list[dict[str, Any]]:
    """Return the requests of a log that the drive had to serve at some time in an interval."""
    import pyarrow.dataset as ds

    start, end = interval_ns
    within = (ds.field("arrival_ns") < end) & (ds.field("completed_ns") > start)
    rows: list[dict[str, Any]] = ds.dataset(requests, format="parquet").to_table(filter=within).to_pylist()
    return sorted(rows, key=lambda row: (row["arrival_ns"], row["request"]))


def trace_of(table: pa.Table, requests: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the document.

    Args:
        table: the timeline (:mod:`floatgate.results.timeline`).
        requests: rows of the log, in the order of their arrival.
    """
    spans = table.to_pylist()
    drawn, left_out = _of_queues(requests)
    events = [*_of_resources(spans), *drawn, *_of_jobs(spans)]
    events.sort(key=lambda event: (event["pid"], event["tid"], event["ts"], -event["dur"]))
    start, end = timeline.interval_of(table)
    facts = {
        "version": _core.__version__,
        "from_us": start / _US,
        "to_us": end / _US,
        "spans": len(spans),
        "requests_left_out": left_out,
    }
    return {"traceEvents": [*_named(events), *events], "displayTimeUnit": "ns", "otherData": facts}


def _event(pid: int, tid: int, name: str, category: str, interval_ns: tuple[int, int], **args: Any) -> Event:
    start, end = interval_ns
    times = {"ts": start / _US, "dur": (end - start) / _US}
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, "cat": category, **times, "args": args}


def _of_resources(spans: Iterable[Mapping[str, Any]]) -> Iterator[Event]:
    """Yield an event for each span of the timeline, on the track of its die or channel."""
    for span in spans:
        name = timeline.CAUSES[span["cause"]]
        kind, job = timeline.KINDS[span["kind"]], timeline.JOBS[span["job"]]
        args = {"cause": name, "kind": kind, "job": job}
        if span["slot"] != timeline.NO_SLOT:
            args["slot"] = span["slot"]
        pid = (DIES, CHANNELS)[span["resource"]]
        interval_ns = (span["from_ns"], span["to_ns"])
        yield _event(pid, span["index"], f"{kind}, {cause(name).label}", job, interval_ns, **args)


def _of_queues(requests: Iterable[Mapping[str, Any]]) -> tuple[list[Event], int]:
    """Return the requests on tracks of their queues, each with its time in the queue; and how many found no track."""
    made: list[Event] = []
    left_out = 0
    free: dict[int, list[int]] = {}
    busy: dict[int, list[tuple[int, int]]] = {}
    for row in requests:
        queue, start, end = row["queue"], row["arrival_ns"], row["completed_ns"]
        lanes, ends = free.setdefault(queue, list(range(LANES_MAX))), busy.setdefault(queue, [])
        while ends and ends[0][0] <= start:
            heapq.heappush(lanes, heapq.heappop(ends)[1])
        if not lanes:
            left_out += 1
            continue
        lane = heapq.heappop(lanes)
        heapq.heappush(ends, (end, lane))
        tid = queue * _TRACKS_PER_QUEUE + lane
        args = {key: row[key] for key in ("request", "op", "device", "offset", "bytes")}
        made.append(_event(QUEUES, tid, f"{row['op']} {row['bytes']} bytes", "request", (start, end), **args))
        if row["fetched_ns"] > start:
            made.append(_event(QUEUES, tid, "in the host queue", "waiting", (start, row["fetched_ns"])))
    return made, left_out


def _of_jobs(spans: Iterable[Mapping[str, Any]]) -> Iterator[Event]:
    """Yield when dies or channels worked for a kind of job, without gaps between operations that touch or overlap."""
    kinds: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for span in spans:
        if span["job"]:
            kinds.setdefault((span["job"], span["cause"]), []).append((span["from_ns"], span["to_ns"]))
    for job, number in sorted(kinds):
        name = cause(timeline.CAUSES[number]).label
        for start, end, count in _joined(sorted(kinds[job, number])):
            tid = job * len(timeline.CAUSES) + number
            args = {"cause": timeline.CAUSES[number], "job": timeline.JOBS[job], "operations": count}
            yield _event(JOBS, tid, name, timeline.JOBS[job], (start, end), **args)


def _joined(intervals: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Join sorted intervals that touch or overlap; each with how many it joins."""
    start, end, count = 0, -1, 0
    for one in intervals:
        if count and one[0] <= end:
            end, count = max(end, one[1]), count + 1
            continue
        if count:
            yield start, end, count
        start, end, count = *one, 1
    if count:
        yield start, end, count


def _named(events: Iterable[Event]) -> Iterator[Event]:
    """Yield the names of processes and tracks, and their order."""
    tracks = dict.fromkeys((event["pid"], event["tid"]) for event in events)
    for pid in dict.fromkeys(pid for pid, _ in tracks):
        yield _meta(pid, 0, "process_name", name=NAMES[pid])
        yield _meta(pid, 0, "process_sort_index", sort_index=pid)
    for pid, tid in tracks:
        yield _meta(pid, tid, "thread_name", name=_track(pid, tid))
        yield _meta(pid, tid, "thread_sort_index", sort_index=tid)


def _meta(pid: int, tid: int, what: str, **args: Any) -> Event:
    return {"ph": "M", "pid": pid, "tid": tid, "name": what, "args": args}


def _track(pid: int, tid: int) -> str:
    if pid == QUEUES:
        return f"queue {tid // _TRACKS_PER_QUEUE}"
    if pid == JOBS:
        job, number = divmod(tid, len(timeline.CAUSES))
        return f"{timeline.JOBS[job]}: {cause(timeline.CAUSES[number]).label}"
    return f"{timeline.RESOURCES[pid - DIES]} {tid}"
