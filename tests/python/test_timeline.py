"""The timeline: its options, reading it back, and a picture that shows just that."""

from __future__ import annotations

import html.parser
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import Cli
from floatgate.base import units
from floatgate.pages import drawing, palette
from floatgate.pages.causes import CAUSES
from floatgate.pages.page import rendered_parts
from floatgate.report import summary
from floatgate.report.sections import latency
from floatgate.report.sections import timeline as timeline_section
from floatgate.results import timeline
from floatgate.results.timeline import COPY, ERASE, NO_SLOT, PROGRAM, READ, SUSPENDED, TRANSFER

if TYPE_CHECKING:
    import pyarrow as pa

US = 1000
SPANS = [
    # resource, index, kind, cause, job, slot, from, to
    (1, 0, TRANSFER, 0, 0, 7, 0, 12 * US),
    (0, 0, PROGRAM, 0, 0, 7, 12 * US, 612 * US),
    (0, 1, READ, 0, 0, 8, 0, 50 * US),
    (1, 1, TRANSFER, 0, 0, 8, 50 * US, 62 * US),
    (0, 1, COPY, 2, 1, NO_SLOT, 100 * US, 800 * US),
    (0, 1, ERASE, 2, 2, NO_SLOT, 900 * US, 1500 * US),
    (0, 0, READ, 1, 0, 9, 700 * US, 750 * US),
    (0, 0, SUSPENDED, 0, 0, 7, 760 * US, 800 * US),
    # Begins before the interval and ends after it.
    (1, 0, TRANSFER, 2, 2, NO_SLOT, 990 * US, 5000 * US),
]


def made(spans: Sequence[tuple[int, ...]] = SPANS, end: int = 1000 * US) -> pa.Table:
    names = {"slot": "request"}  # as the core calls it
    columns = {
        names.get(name, name): np.array([span[place] for span in spans], f"<{kind}").tobytes()
        for place, (name, kind) in enumerate(timeline.COLUMNS.items())
    }
    return timeline.table(columns, (0, end))


def run_with(table: pa.Table) -> floatgate.Run:
    settings: dict[str, Any] = {
        "mode": "timed",
        "drive.capacity": "64 MiB",
        "drive.geometry.channels": 2,
        "workload.requests": 500,
    }
    done = floatgate.run(settings)
    return floatgate.Run(done.result_json, done.experiment_toml, done.series, timeline=table)


class Picture(html.parser.HTMLParser):
    """Bars of a picture: row, class, x, width, tooltip."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.bars: list[tuple[int, str, float, float, str]] = []
        self.row = -1
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "g":
            self.row += 1
        if tag == "rect" and (attributes.get("class") or "").startswith("tl-"):
            x, width = float(attributes["x"] or 0), float(attributes["width"] or 0)
            self.bars.append((self.row, attributes["class"] or "", x, width, ""))

    def handle_data(self, data: str) -> None:
        if self.lasttag == "title" and self.bars:
            self.bars[-1] = (*self.bars[-1][:4], self.bars[-1][4] + data.strip())


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("0..20ms", (0, 20_000_000)),
        ("5..20ms", (5_000_000, 20_000_000)),
        ("1.5s..1.52s", (1_500_000_000, 1_520_000_000)),
        (" 900us .. 1 ms ", (900_000, 1_000_000)),
        ("0.5m..1h", (30_000_000_000, 3_600_000_000_000)),
        (".5..2ns", (0, 2)),
    ],
)
def test_intervals_are_read(text: str, interval: tuple[int, int]) -> None:
    assert timeline.interval(text) == interval


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("20ms", "'20ms' is not an interval; expected FROM..TO such as 0..20ms"),
        ("a..b", "'a..b' is not an interval"),
        ("-1..2s", "'-1..2s' is not an interval"),
        ("1..2", "'1..2' has no unit; expected one of ns, us, ms, s, m, min, h"),
        ("1s..2weeks", "'weeks' is not a unit of time"),
        ("2s..1s", "'2s..1s' holds no time"),
        ("1s..1s", "'1s..1s' holds no time"),
        ("0..1e9s", "is not an interval"),
        ("0..99999999999999h", "holds no time"),
    ],
)
def test_what_is_no_interval_is_refused(text: str, message: str) -> None:
    with pytest.raises(floatgate.InputError) as caught:
        timeline.interval(text)
    assert message in str(caught.value)
    assert str(caught.value).startswith("--timeline: ")


def test_spans_are_cut_to_the_interval_and_transfers_know_their_operation() -> None:
    spans = timeline.spans_of(made())
    assert len(spans) == len(SPANS)
    assert max(span["to_ns"] for span in spans) == 1000 * US
    of = {(span["index"], span["from_ns"]): span["of"] for span in spans if span["kind"] == TRANSFER}
    assert of == {(0, 0): PROGRAM, (1, 50 * US): READ, (0, 990 * US): TRANSFER}
    assert timeline.spans_of(made(end=1)) == [] or timeline.spans_of(made(end=1))[-1]["to_ns"] == 1


def test_busy_time_counts_nothing_twice() -> None:
    twice = [(0, 0, READ, 0, 0, 1, 0, 100), (0, 0, READ, 0, 0, 2, 50, 150), (0, 0, SUSPENDED, 0, 0, 3, 200, 900)]
    assert timeline_section.busy_ns(timeline.spans_of(made(twice))) == {(0, 0): 150}


def test_the_picture_shows_each_span_in_its_row_and_look() -> None:
    text = rendered_parts(timeline_section.parts(run_with(made())))
    assert [f"{name} {i}" in text for name in ("die", "channel") for i in (0, 1)] == [True] * 4
    bars = Picture(text).bars
    # Rows: die 0, die 1, channel 0, channel 1; a thousand units are a thousand microseconds here.
    assert [(row, look, x, width) for row, look, x, width, _ in bars] == [
        (0, "tl-w", 12.0, 600.0),
        (0, "tl-p", 700.0, 50.0),
        (0, "tl-s", 760.0, 40.0),
        (1, "tl-r", 0.0, 50.0),
        (1, "tl-f", 100.0, 700.0),
        (1, "tl-e", 900.0, 100.0),
        (2, "tl-w", 0.0, 12.0),
        (2, "tl-b", 990.0, 10.0),
        (3, "tl-r", 50.0, 12.0),
    ]
    tips = [tip for *_, tip in bars]
    assert tips[0] == "die 0: program, host, 12.000 to 612.000 us (600 us)"
    assert tips[4] == "die 1: copy, garbage collection, foreground job, 100.000 to 800.000 us (700 us)"
    # Dies: 650 + 850 of 2000; channels: 22 + 12 of 2000.
    assert "Busy: dies 75 %, channels 2 % of the time" in text
    for label in ("host read", "host write", "partial pages", "foreground job", "background job", "erase", "suspended"):
        assert f"{label}</span>" in text
    assert "other work" not in text


def test_bars_of_the_picture_have_no_line_around_them() -> None:
    """Viewers widen thin lines to a pixel: those around bars of collection hid them behind the ink of host reads."""
    run = run_with(made())
    assert run.timeline is not None
    spans, interval_ns = timeline.spans_of(run.timeline), timeline.interval_of(run.timeline)
    rows, bars = timeline_section.rows_of(run, spans), timeline_section.bars_of(spans, interval_ns)
    svg = drawing.svg(timeline_section.chart(rows, bars, interval_ns).to_dict())
    marks = re.findall(r'<path aria-label="[^"]*"[^>]*aria-roledescription="bar"[^>]*>', svg)
    assert len(marks) == 9
    assert not [mark for mark in marks if re.search(r'stroke="(?!none)', mark)]
    # Bars of suspended programs, which pages leave empty, have a colour of their own.
    assert sum(f'fill="{palette.PALE}"' in mark for mark in marks) == 1


def test_bars_too_short_to_see_are_gathered() -> None:
    spans = [(0, 0, READ, 0, 0, i, i * 1000, i * 1000 + 900) for i in range(10_000)]
    run = run_with(made(spans, end=10_000_000))
    bars = Picture(rendered_parts(timeline_section.parts(run))).bars
    # Five units of a thousand hold fifty microseconds: fifty reads.
    assert len(bars) == 200
    assert bars[0][4] == "die 0: 50 of read, host, 0.000 to 0.050 ms"
    assert all(" 50 of read" in text for *_, text in bars)
    assert bars[1][2:4] == pytest.approx((5.0, 4.99))


def test_of_many_dies_the_busiest_are_drawn() -> None:
    spans = [(0, die, READ, 0, 0, die, 0, 1000 + die) for die in range(200)]
    run = run_with(made(spans))
    rows = timeline_section.rows_of(run, timeline.spans_of(run.timeline))
    assert rows == [(0, die) for die in range(200 - timeline_section.ROWS_MAX, 200)]


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((0, 20_000_000), [0, 5e6, 10e6, 15e6, 20e6]),
        ((1_500_000_000, 1_520_000_000), [1.5e9, 1.505e9, 1.51e9, 1.515e9, 1.52e9]),
        ((3, 10), [3, 4, 5, 6, 7, 8, 9, 10]),
    ],
)
def test_ticks_are_round(interval: tuple[int, int], expected: list[float]) -> None:
    assert timeline_section.ticks(interval) == expected


def test_an_interval_without_anything_says_so() -> None:
    text = rendered_parts(timeline_section.parts(run_with(made([], end=20_000_000))))
    assert "No operation was in progress from 0 to 20 ms after the first counted request; the run lasted" in text


def test_an_interval_behind_the_end_of_the_run_is_called_so(cli: Cli) -> None:
    drive = ["--set", "mode=timed", "--set", "drive.capacity=128 MiB", "--set", "workload.requests=500"]
    run = ["run", "--drive", "mlc-20nm", *drive, "--no-report"]
    beyond = cli(*run, "--out", "beyond", "--timeline", "600s..600.02s", "--perfetto", "t.json.gz")
    empty = "No operation was in progress in 20 ms from 600 s after the first counted request on: the run lasted "
    assert f"\ntimeline   {empty}" in beyond.done()
    assert f"--timeline: {empty}" in beyond.err
    assert beyond.err.rstrip().endswith("Choose an interval within it (--timeline FROM..TO).")
    within = cli(*run, "--out", "within", "--timeline", "1ms..20ms")
    assert "\ntimeline " not in within.done()
    assert "--timeline" not in within.err


def test_late_intervals_count_from_their_start() -> None:
    start = 100_000_000_000
    spans = [(0, 0, READ, 0, 0, 1, start + 5_000_000, start + 5_050_000)]
    names = {"slot": "request"}  # as the core calls it
    columns = {
        names.get(name, name): np.array([span[place] for span in spans], f"<{kind}").tobytes()
        for place, (name, kind) in enumerate(timeline.COLUMNS.items())
    }
    text = rendered_parts(timeline_section.parts(run_with(timeline.table(columns, (start, start + 20_000_000)))))
    assert "in 20 ms from 100 s after the first counted request on" in text
    assert "time, ms after 100 s" in text
    assert '<span style="left:25.00%">5</span>' in text
    assert [bar[2] for bar in Picture(text).bars] == [250.0]


def test_it_is_kept_in_the_run_folder_and_drawn_again(tmp_path: Path) -> None:
    run = run_with(made())
    folder = run.save(tmp_path / "run")
    again = floatgate.load(folder)
    assert again.timeline is not None
    assert again.timeline.equals(made())
    assert timeline.interval_of(again.timeline) == (0, 1000 * US)
    assert rendered_parts(timeline_section.parts(again)) == rendered_parts(timeline_section.parts(run))
    assert "<h2>Timeline</h2>" in (folder / "report.html").read_text()


def test_spans_of_every_cause_are_drawn() -> None:
    spans = [(0, 0, COPY, i, 1, NO_SLOT, i * 100 * US, (i + 1) * 100 * US) for i in range(len(timeline.CAUSES))]
    text = rendered_parts(timeline_section.parts(run_with(made(spans))))
    for entry in CAUSES.values():
        assert f"copy, {entry.label}, foreground job" in text


def test_runs_without_a_timeline_have_none(small_run: floatgate.Run) -> None:
    assert small_run.timeline is None
    assert "<h2>Timeline</h2>" not in small_run.report()


TIMED = {"mode": "timed", "drive.capacity": "64 MiB", "workload.requests": 500}


def test_timed_runs_have_the_first_20_ms_unless_another_interval_is_asked_for() -> None:
    first = floatgate.run(TIMED).timeline
    assert first is not None
    assert timeline.interval_of(first) == (0, 20_000_000)
    rows = first.to_pylist()
    # A program keeps its die busy from the first bit on the channel to the end of the array's work.
    transfer = 4096 / 333e6 * 1e9
    program = next(row for row in rows if row["resource"] == 0)
    assert program["to_ns"] - program["from_ns"] == round(transfer) + 600_000
    assert {(row["resource"], row["kind"]) for row in rows} == {(0, PROGRAM), (1, TRANSFER)}
    later = floatgate.run(TIMED, timeline="5ms..6ms").timeline
    assert later is not None
    kept = [row for row in rows if row["from_ns"] < 6_000_000 and row["to_ns"] > 5_000_000]
    assert later.to_pylist() == kept


def test_the_summary_names_the_interval_of_the_longest_requests(tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "mode": "timed",
        "drive.capacity": "64 MiB",
        "drive.geometry.channels": 2,
        "ftl.precondition": "random",
        "workload.requests": 3000,
        "workload.read_share": 0.5,
        "workload.queue_depth": 4,
    }
    log = tmp_path / "requests.parquet"
    run = floatgate.run(settings, log_requests=log)
    phrases = latency.longest(run, run.result.to_dict())
    requests = pq.read_table(log).to_pylist()
    for kind, phrase in zip(("read", "write"), phrases, strict=True):
        assert [text for name, text in summary.lines(run) if text == phrase]
        slowest = max((row for row in requests if row["op"] == kind), key=lambda row: row["latency_ns"])
        match = re.search(r"done between (\S+) and (\S+ m?s) \(--timeline (\S+)\)", phrase)
        assert phrase.startswith(f"longest {kind} {units.span(slowest['latency_ns'] * 1e-9)}, ")
        assert match
        (first, last), interval = timeline.interval(f"{match[1]}..{match[2]}"), timeline.interval(match[3])
        assert first <= slowest["completed_ns"] <= last == interval[1]
        assert interval[0] <= slowest["arrival_ns"]
        # A row of the series is a small part of the run.
        assert interval[1] - interval[0] < 0.1 * run.result.span_s * 1e9 + 2 * slowest["latency_ns"]
    assert latency.longest(floatgate.run({"workload.requests": 500}), {}) == []


def test_slots_are_named_as_such_also_from_folders_of_earlier_builds(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    log = tmp_path / "requests.parquet"
    run = floatgate.run(TIMED, set={"workload.queue_depth": 4}, log_requests=log)
    assert run.timeline is not None
    folder = run.save(tmp_path / "run", report=False)
    kept = pq.read_table(folder / "timeline.parquet")
    assert "slot" in kept.column_names
    pq.write_table(
        kept.rename_columns(["request" if name == "slot" else name for name in kept.column_names]),
        folder / "timeline.parquet",
    )
    assert floatgate.load(folder).timeline.equals(run.timeline)  # type: ignore[union-attr]
    # As docs/timed.md says: at most as many slots as requests are under way, and a request's last span ends with it.
    slots = set(run.timeline["slot"].to_pylist()) - {NO_SLOT}
    assert slots <= set(range(4))
    ends = set(run.timeline["to_ns"].to_pylist())
    done = pq.read_table(log)["completed_ns"].to_pylist()
    within = [moment for moment in done if moment < 20_000_000]
    assert len(within) > len(slots)
    assert set(within) <= ends


def test_the_command_line_records_and_draws(cli: Cli, tmp_path: Path) -> None:
    settings = ["--set", "drive.capacity=128 MiB", "--set", "workload.requests=500"]
    cli("run", *settings, "--set", "mode=timed", "--timeline", "1..2ms", "--out", "run").done()
    assert "from 1000 to 2000 us after the first counted request" in (tmp_path / "run" / "report.html").read_text()
    first = (tmp_path / "run" / "report.html").read_text().split("<h2>How to repeat it</h2>")[0]
    cli("report", "run").done()
    assert (tmp_path / "run" / "report.html").read_text().split("<h2>How to repeat it</h2>")[0] == first
    (tmp_path / "run" / "timeline.parquet").write_bytes(b"no table")
    assert cli("report", "run").refused().endswith("timeline.parquet: cannot be read; expected the timeline of a run")
    cli("run", *settings, "--out", "plain").done()
    assert not (tmp_path / "plain" / "timeline.parquet").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--timeline", "0..1ms"),
            "--timeline: functional mode models no time; there is no timeline to draw; expected",
        ),
        (("--timeline", "1ms", "--set", "mode=timed"), "--timeline: '1ms' is not an interval; expected FROM..TO"),
        (("--timeline", "0..1ms", "--repeat", "2"), "--timeline: a timeline belongs to one run; expected no "),
    ],
)
def test_timelines_that_cannot_be(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    refused = cli("run", "--set", "drive.capacity=64 MiB", "--set", "workload.requests=10", *arguments).refused()
    assert refused.startswith(message)
