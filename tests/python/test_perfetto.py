"""``floatgate run --perfetto``: the timeline as a Chrome trace, held to the timeline and to the log of requests."""

from __future__ import annotations

import gzip
import itertools
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from conftest import Cli
from floatgate.results import timeline
from floatgate.results.timeline import COPY, ERASE, NO_SLOT, PROGRAM, SUSPENDED, TRANSFER
from floatgate.run import perfetto
from floatgate.run.perfetto import CHANNELS, DIES, JOBS, QUEUES

US = 1000
TIMED = """mode = "timed"
[drive]
preset = "mlc-20nm"
capacity = "128 MiB"
[ftl]
precondition = "random"
[host]
queues = 2
[workload]
requests = 8000
read_share = 0.5
queue_depth = 4
"""
FUNCTIONAL = (
    TIMED.replace('"timed"', '"functional"').replace("[host]\nqueues = 2\n", "").replace("queue_depth = 4\n", "")
)


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
    return document


def complete(document: dict[str, Any], pid: int) -> list[dict[str, Any]]:
    return [event for event in document["traceEvents"] if event["ph"] == "X" and event["pid"] == pid]


def names(document: dict[str, Any]) -> dict[tuple[int, int], str]:
    meta = [event for event in document["traceEvents"] if event["name"] == "thread_name"]
    return {(event["pid"], event["tid"]): event["args"]["name"] for event in meta}


def must_nest(document: dict[str, Any]) -> None:
    """Require that events of a track follow or hold one another: viewers draw no others right."""
    events = sorted(
        (event for event in document["traceEvents"] if event["ph"] == "X"),
        key=lambda event: (event["pid"], event["tid"], event["ts"], -event["dur"]),
    )
    for _, track in itertools.groupby(events, key=lambda event: (event["pid"], event["tid"])):
        holding: list[float] = []
        for event in track:
            end = event["ts"] + event["dur"]
            while holding and holding[-1] <= event["ts"] + 1e-6:
                holding.pop()
            assert not holding or end <= holding[-1] + 1e-6, event
            holding.append(end)


def table_of(spans: Sequence[tuple[int, ...]], end: int) -> Any:
    names = {"slot": "request"}  # as the core calls it
    columns = {
        names.get(name, name): np.array([span[place] for span in spans], f"<{kind}").tobytes()
        for place, (name, kind) in enumerate(timeline.COLUMNS.items())
    }
    return timeline.table(columns, (0, end))


def request(number: int, queue: int, arrival: int, fetched: int, completed: int) -> dict[str, Any]:
    times = {"arrival_ns": arrival, "fetched_ns": fetched, "completed_ns": completed}
    return {"request": number, "queue": queue, "op": "read", "device": "a", "offset": 0, "bytes": 4096, **times}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from floatgate.cli import status

    folder = tmp_path_factory.mktemp("perfetto")
    (folder / "t.toml").write_text(TIMED)
    options = [
        "--timeline",
        "300ms..330ms",
        "--log-requests",
        "--perfetto",
        str(folder / "t.json.gz"),
        "--no-report",
        "-q",
    ]
    assert status(["run", str(folder / "t.toml"), "--out", str(folder / "r"), *options]) == 0
    return folder


def test_dies_and_channels_are_those_of_the_timeline(ran: Path) -> None:
    document, table = read(ran / "t.json.gz"), pq.read_table(ran / "r/timeline.parquet")
    spans = table.to_pylist()
    assert len(spans) > 100
    assert document["otherData"]["spans"] == len(spans)
    assert (document["otherData"]["from_us"], document["otherData"]["to_us"]) == (300_000, 330_000)
    for resource, pid in ((0, DIES), (1, CHANNELS)):
        events = complete(document, pid)
        drawn = Counter(
            (
                event["tid"],
                round(event["ts"] * US),
                round((event["ts"] + event["dur"]) * US),
                event["args"]["kind"],
                event["args"]["cause"],
                event["cat"],
            )
            for event in events
        )
        expected = Counter(
            (
                span["index"],
                span["from_ns"],
                span["to_ns"],
                timeline.KINDS[span["kind"]],
                timeline.CAUSES[span["cause"]],
                timeline.JOBS[span["job"]],
            )
            for span in spans
            if span["resource"] == resource
        )
        assert drawn == expected
        tracks = {name for (process, _), name in names(document).items() if process == pid}
        assert tracks == {f"{timeline.RESOURCES[resource]} {index}" for index, *_ in expected}
    must_nest(document)


def test_queues_are_those_of_the_log(ran: Path) -> None:
    document = read(ran / "t.json.gz")
    log = pq.read_table(ran / "r/requests.parquet").to_pylist()
    there = [row for row in log if row["arrival_ns"] < 330_000_000 and row["completed_ns"] > 300_000_000]
    events = [event for event in complete(document, QUEUES) if event["cat"] == "request"]
    assert len(there) > 20
    tracks = names(document)
    drawn = {
        event["args"]["request"]: (
            tracks[QUEUES, event["tid"]],
            round(event["ts"] * US),
            round(event["dur"] * US),
            event["name"],
        )
        for event in events
    }
    assert drawn == {
        row["request"]: (
            f"queue {row['queue']}",
            row["arrival_ns"],
            row["latency_ns"],
            f"{row['op']} {row['bytes']} bytes",
        )
        for row in there
    }
    assert len(events) == len(there)
    assert document["otherData"]["requests_left_out"] == 0


def test_jobs_hold_their_operations(ran: Path) -> None:
    document = read(ran / "t.json.gz")
    jobs = complete(document, JOBS)
    works = [event for pid in (DIES, CHANNELS) for event in complete(document, pid) if event["cat"] != "host"]
    assert jobs
    assert sum(event["args"]["operations"] for event in jobs) == len(works)
    for work in works:
        holds = [
            job
            for job in jobs
            if (job["cat"], job["args"]["cause"]) == (work["cat"], work["args"]["cause"])
            and job["ts"] <= work["ts"] + 1e-6
            and work["ts"] + work["dur"] <= job["ts"] + job["dur"] + 1e-6
        ]
        assert len(holds) == 1


def test_a_made_up_timeline() -> None:
    spans = [
        (1, 0, TRANSFER, 0, 0, 7, 0, 12 * US),
        (0, 0, PROGRAM, 0, 0, 7, 12 * US, 612 * US),
        (0, 1, COPY, 2, 1, NO_SLOT, 100 * US, 800 * US),
        (0, 0, SUSPENDED, 0, 0, 7, 620 * US, 700 * US),
        (1, 0, TRANSFER, 2, 1, NO_SLOT, 800 * US, 850 * US),
        (0, 1, ERASE, 2, 1, NO_SLOT, 900 * US, 1500 * US),
    ]
    rows = [
        request(1, 0, 0, 0, 30 * US),
        request(2, 0, 10 * US, 20 * US, 50 * US),
        request(3, 1, 15 * US, 15 * US, 40 * US),
    ]
    document = perfetto.trace_of(table_of(spans, 1000 * US), [*rows, request(4, 0, 30 * US, 30 * US, 60 * US)])
    must_nest(document)
    program = next(event for event in complete(document, DIES) if event["args"]["kind"] == "program")
    assert (program["ts"], program["dur"], program["tid"], program["name"]) == (12, 600, 0, "program, host")
    assert program["args"]["slot"] == 7
    assert "slot" not in next(event for event in complete(document, DIES) if event["args"]["kind"] == "copy")["args"]
    # The copy and the transfer behind it touch; the erase comes after a pause.
    assert [(event["ts"], event["dur"], event["args"]["operations"]) for event in complete(document, JOBS)] == [
        (100, 750, 2),
        (900, 600, 1),
    ]
    lanes = {event["args"]["request"]: event["tid"] for event in complete(document, QUEUES) if event["args"]}
    assert lanes[1] != lanes[2]
    assert lanes[4] == lanes[1]
    (waits,) = [event for event in complete(document, QUEUES) if event["cat"] == "waiting"]
    assert (waits["ts"], waits["dur"], waits["tid"]) == (10, 10, lanes[2])
    assert {name for (pid, _), name in names(document).items() if pid == QUEUES} == {"queue 0", "queue 1"}
    assert {event["args"]["name"] for event in document["traceEvents"] if event["name"] == "process_name"} == {
        "dies",
        "channels",
        "host queues",
        "jobs",
    }


def test_more_requests_than_tracks_are_counted() -> None:
    rows = [request(number, 0, number, number, 10_000) for number in range(perfetto.LANES_MAX + 5)]
    document = perfetto.trace_of(table_of([], 20_000), rows)
    assert len(complete(document, QUEUES)) == perfetto.LANES_MAX
    assert document["otherData"]["requests_left_out"] == 5


def test_the_file_is_whole_repeats_and_leaves_no_log(cli: Cli, tmp_path: Path, ran: Path) -> None:
    (tmp_path / "t.toml").write_text(TIMED)
    run = ("run", "t.toml", "--no-report", "--timeline", "300ms..330ms")
    assert cli(*run, "--out", "r", "--perfetto", "r/t.json.gz").done().endswith("perfetto   r/t.json.gz\n")
    assert (tmp_path / "r/t.json.gz").read_bytes() == (ran / "t.json.gz").read_bytes()
    assert not (tmp_path / "r/requests.parquet").exists()
    assert not list(tmp_path.rglob(".*"))
    refused = cli(*run, "--out", "s", "--perfetto", "r/t.json.gz").refused()
    assert refused == "r/t.json.gz: exists already; expected a new file, or --force"
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--perfetto", "t.json"), "--perfetto: 't.json' has another ending; expected a name that ends in .json.gz"),
        (
            ("--perfetto", "t.json.gz", "--repeat", "2"),
            "--perfetto: a timeline belongs to one run; expected no --repeat with it",
        ),
        (
            ("--perfetto", "no/way/t.json.gz/t.json.gz"),
            "no/way",
        ),
    ],
)
def test_unusable_options_are_refused(options: tuple[str, ...], message: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(TIMED)
    (tmp_path / "no").write_text("a file")
    assert message in cli("run", "t.toml", "--out", "o", *options).refused()
    (tmp_path / "f.toml").write_text(FUNCTIONAL)
    refused = cli("run", "f.toml", "--out", "o", "--perfetto", "t.json.gz").refused()
    assert refused.startswith(
        "--perfetto: functional mode models no time; there is no timeline to write; expected mode"
    )
    assert not (tmp_path / "o").exists()
