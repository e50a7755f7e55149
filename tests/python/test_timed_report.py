"""The report of a timed run: distributions, reasons for waiting, energy; all from the result's figures."""

from __future__ import annotations

from typing import Any

import pytest

import floatgate
from conftest import SMALL
from floatgate.base import units
from floatgate.pages.causes import CAUSES, REASONS, by_reason, patterned, reason
from floatgate.report.sections import energy, latency, latency_charts, waiting

TIMED = SMALL | {
    "mode": "timed",
    "drive.geometry.channels": 2,
    "drive.capacity": "64 MiB",
    "workload.requests": 20_000,
    "workload.read_share": 0.4,
    "workload.queue_depth": 8,
    "drive.energy": {"read_uj": 5, "program_uj": 29.1, "erase_uj": 200, "transfer_uj": 2},
}
MODELLED = {"count": 4, "cdf": {"us": [10.0, 20.0, 40.0], "share": [0.0, 0.75, 1.0]}}


@pytest.fixture(scope="module")
def run() -> floatgate.Run:
    return floatgate.run(TIMED)


@pytest.fixture(scope="module")
def report(run: floatgate.Run) -> str:
    return run.report()


def test_the_distribution_is_drawn_by_the_share_that_is_slower() -> None:
    rows = latency_charts.slower({"latency_us": {"read": MODELLED, "write": None}})
    assert [row["us"] for row in rows] == [10.0, 20.0, 40.0]
    # Nobody is slower than the slowest: the point lies at the foot, half a request of the four.
    assert [row["slower"] for row in rows] == [1.0, 0.25, 0.125]
    assert {row["kind"] for row in rows} == {"reads"}


def test_latencies_of_nothing_do_not_stretch_the_axis() -> None:
    facts = {"count": 100, "cdf": {"us": [0.0, 0.0, 50.0, 80.0], "share": [0.0, 0.01, 0.5, 1.0]}}
    rows = latency_charts.slower({"latency_us": {"read": facts}})
    assert [row["us"] for row in rows] == [50.0, 50.0, 50.0, 80.0]


def test_the_axis_names_shares_that_are_done(run: floatgate.Run) -> None:
    import vl_convert

    svg = vl_convert.vegalite_to_svg(latency_charts.distribution(run).to_dict())
    for label in ("0 %", "50 %", "90 %", "99 %", "99.9 %"):
        assert f">{label}<" in svg
    assert "requests done within" in svg


def test_points_of_the_chart_are_those_of_the_result(run: floatgate.Run) -> None:
    spec = latency_charts.distribution(run).to_dict()
    values = spec["data"]["values"]
    for kind, label in latency_charts.KINDS:
        drawn = [row for row in values if row["kind"] == label]
        assert [row["us"] for row in drawn] == run.latency_us[kind].cdf.us
        assert drawn[-1]["us"] == run.latency_us[kind]["max"]
        p99 = min(row["us"] for row in drawn if row["slower"] <= 0.01)
        assert p99 == pytest.approx(run.latency_us[kind].p99, rel=2e-3)


def test_the_course_has_mean_and_longest(run: floatgate.Run) -> None:
    rows, title = latency_charts.latency_rows(run)
    assert title.startswith("time, ")
    assert {row["line"] for row in rows} == {
        f"{kind}, {figure}" for kind in ("reads", "writes") for figure in ("mean", "longest")
    }
    longest = max(row["us"] for row in rows if row["line"] == "writes, longest")
    assert longest == run.latency_us.write["max"]


def test_reasons_add_up_and_keep_their_order() -> None:
    means = {
        "read": {"operations": 7, "die": 30.0, "background_job": 10.0, "channel": 0.0, "service": 50.0, "tea": 10.0},
        "write": None,
    }
    rows = latency_charts.waiting_rows({"latency_us": {"waiting": means}})
    assert [(row["why"], row["us"], row["share"]) for row in rows] == [
        ("own work", 50.0, 0.5),
        ("queued behind other host requests", 30.0, 0.3),
        ("queued behind a background job", 10.0, 0.1),
        ("tea", 10.0, 0.1),
    ]
    assert {row["class"] for row in rows} == {"host reads, 100 us"}
    (text,) = waiting.by_class({"latency_us": {"waiting": means}})
    assert text == (
        "each host read spends 100 us at the flash: 50 % own work, 30 % queued behind other host requests, "
        "10 % queued behind a background job, 10 % tea"
    )
    assert reason("tea").label == "tea"
    assert by_reason({"operations": 3.0}) == []


def test_waits_at_queue_and_buffer_are_told_beside_flash() -> None:
    waits = {"queue_wait": {"read": 12.0, "write": None}, "buffer_wait": {"write": {"place": 2000.0, "flushed": 0.0}}}
    assert waiting.before_flash({"latency_us": waits}) == (
        "reads wait 12 us in the host queue; writes wait 2.0 ms for space in the buffer"
    )
    assert waiting.before_flash({"latency_us": {"queue_wait": None}}) is None


BUFFERED = SMALL | {
    "mode": "timed",
    "drive.geometry.channels": 2,
    "drive.capacity": "64 MiB",
    "drive.buffer.capacity": "32 KiB",
    "ftl.precondition": "random",
    "workload.arrival": "closed",
    "workload.requests": 20_000,
    "workload.read_share": 0.2,
    "workload.queue_depth": 4,
}


def test_waits_of_buffered_writes_are_part_of_their_mean() -> None:
    result = floatgate.run(BUFFERED).result.to_dict()
    write, place = result["latency_us"]["write"], result["latency_us"]["buffer_wait"]["write"]["place"]
    assert 0.5 * write["mean"] < place <= write["mean"] * (1 + 1e-9)
    text = str(waiting.before_flash(result)).split("; ")[-1]
    assert text.startswith(
        f"writes take {units.span(write['mean'] * 1e-6)} on average: "
        f"{units.span(place * 1e-6)} waiting for space in the buffer, "
    )
    _, flushes = waiting.by_class(result)
    assert flushes.startswith("each page that the buffer flushes spends ")
    assert "at the flash, which its own write does not wait for: " in flushes


def test_parts_of_a_mean_latency_add_up_to_it() -> None:
    waits = {"place": 4000.0, "flushed": 1000.0, "requests": 10, "flushed_requests": 3}
    latency = {"write": {"count": 10, "mean": 5900.0}, "buffer_wait": {"write": waits}}
    latency |= {"waiting": {"write": {"operations": 10, "service": 7100.0}}}
    result = {"latency_us": latency, "buffer": {"capacity_bytes": 32_768}}
    assert waiting.before_flash(result) == (
        "writes take 5.9 ms on average: 4.0 ms waiting for space in the buffer, "
        "1.0 ms waiting until data are on flash, 900 us else"
    )
    assert waiting.flush_note(result) == (
        "Host writes at the flash are pages that the buffer flushes: 7.1 ms each, which 30 % of the writes wait for."
    )
    whole = {"latency_us": latency | {"write": {"count": 10, "mean": 5000.0}}}
    assert str(waiting.before_flash(whole)).endswith("1.0 ms waiting until data are on flash, nothing else")
    assert waiting.flush_note(whole) is None
    trimmed = {"latency_us": latency | {"write": {"count": 8, "mean": 5900.0}}}
    assert str(waiting.before_flash(trimmed)).startswith("writes and TRIMs wait 4.0 ms for space in the buffer, ")


def test_few_slow_requests_are_named_where_the_mean_lies_above_p99() -> None:
    """Of 1000 reads 990 take 1 us and 5 take 10 us; the 5 slowest take 6/7 of the time, and the mean lies above p99."""
    cdf = {"us": [1.0, 10.0, 1200.0], "share": [0.99, 0.995, 1.0]}
    reads = {"count": 1000, "mean": 7.04, "p50": 1.0, "p99": 1.0, "p999": 1200.0, "cdf": cdf}
    waits = {"operations": 1000, "service": 1.0, "foreground_job": 6.04}
    result = {"latency_us": {"read": reads, "write": None, "waiting": {"read": waits}}}
    assert waiting.few_slow(result, "read") == pytest.approx((0.01, 1 - 0.99 / 7.04))
    note = "the slowest 1 % of reads take 86 % of the time of all reads: their mean lies above p99"
    assert waiting.few_slow_notes(result)[0].startswith(note)
    # Where p99 has its part of the waits, the mean is typical enough.
    reads["p99"] = 10.0
    assert waiting.few_slow(result, "read") is None
    assert waiting.few_slow_notes(result) == []


def test_summary_and_page_name_few_slow_requests() -> None:
    rare = {"ftl.collect.mode": "whole-block", "ftl.collect.stop_free_blocks": 8, "workload.queue_depth": 1}
    closed = {key: value for key, value in TIMED.items() if key != "workload.rate_per_s"}
    done = floatgate.run({**closed, **rare})
    writes = done.result.to_dict()["latency_us"]["write"]
    assert writes["mean"] > writes["p99"]
    slow = waiting.few_slow(done.result.to_dict(), "write")
    assert slow is not None
    note = f"slowest {units.share(slow[0])} of writes take {units.share(slow[1])} of the time of all writes"
    assert note in done.summary()
    assert note in done.report()


def gathered(page_bytes: int = 16_384, p50: float = 0.0) -> dict[str, Any]:
    """Host writes of 4 KiB on pages of the flash."""
    return {
        "config": {"ftl": {"mapping_bytes": 4096}, "drive": {"geometry": {"page_bytes": page_bytes}}},
        "latency_us": {
            "write": {"count": 70_042, "p50": p50, "p99": 900.0, "mean": 799.0},
            "waiting": {"write": {"operations": 17_510, "die": 160.0, "service": 340.0}},
        },
    }


def test_writes_that_gather_in_a_page_are_named_where_half_of_them_take_no_time() -> None:
    assert waiting.gathering_note(gathered()) == (
        "70 k host writes gather in 17.5 k flash pages: "
        "a write that only joins a page in the controller is done at once"
    )
    (text,) = waiting.by_class(gathered())
    assert text.startswith("each flash page of host writes spends 500 us at the flash: 68 % own work, 32 % queued")
    assert waiting.gathering_note(gathered(p50=400.0)) is None
    for others in (gathered(page_bytes=4096), {**gathered(), "buffer": {"capacity_bytes": 1}}):
        assert waiting.gathering(others) is None


def test_a_drive_of_large_pages_says_why_writes_take_no_time() -> None:
    geometry = {f"drive.geometry.{key}": value for key, value in {"page_bytes": 16_384, "channels": 2}.items()}
    run = floatgate.run({**TIMED, **geometry, "ftl.mapping_bytes": 4096, "workload.queue_depth": 1})
    assert run.latency_us.write.p50 == 0
    assert "a write that only joins a page in the controller is done at once" in run.summary()
    assert "each flash page of host writes spends" in run.summary()
    assert "a write that only joins a page in the controller is done at once." in run.report()


def test_energy_is_split_by_operation_and_cause(run: floatgate.Run) -> None:
    rows, unit = latency_charts.energy_rows(run.result.to_dict())
    size = {"J": 1.0, "mJ": 1e-3}[unit]
    drawn = {(row["what"], row["cause"]): row["energy"] * size for row in rows}
    programs = run.flash.programs
    assert drawn["programs", "host"] == pytest.approx(programs.host * 29.1e-6)
    assert drawn["programs", "garbage collection"] == pytest.approx(programs.gc * 29.1e-6)
    assert drawn["erases", "garbage collection"] == pytest.approx(run.flash.erases.gc * 200e-6)
    assert sum(drawn.values()) == pytest.approx(run.energy.total_j)
    assert (energy.line(run.result.to_dict()) or "").startswith(units.joules(run.energy.total_j))


def test_energies_that_are_not_known_are_named() -> None:
    table = {"j_per_host_byte_written": 7.1e-9, "by_operation_j": {"read": None, "program": 1.0, "erase": None}}
    assert energy.basis(table) == "7.10 nJ per byte written by the host; no figure for reads and erases"


def test_the_report_shows_it_all(report: str, run: floatgate.Run) -> None:
    for title in ("Latencies", "Latency over time", "Why it takes that long", "Energy by operation and cause"):
        assert report.count(f"<b>{title}</b>") == 1
    for kind in ("read", "write"):
        for quantile in ("p99", "p9999"):
            assert f">{units.span(run.latency_us[kind][quantile] * 1e-6)}</td>" in report
    assert f"<b>{units.joules(run.energy.total_j)}</b>" in report
    assert "read latency, p99" in report


def test_functional_runs_say_nothing_of_time(small_run: floatgate.Run) -> None:
    text = small_run.report()
    assert "<h2>Latency</h2>" not in text
    assert "<h2>Energy</h2>" not in text
    assert waiting.by_class(small_run.result.to_dict()) == []


def test_a_comparison_shows_latencies_side_by_side() -> None:
    done = floatgate.compare(TIMED, {"workload.queue_depth": [1, 16]})
    results: list[dict[str, Any] | None] = [run.result.to_dict() for run in done.runs]
    rows = latency_charts.compared_rows(["1", "16"], results)
    assert len(rows) == 2 * 2 * 3
    quantiles = {(row["label"], row["kind"], row["quantile"]): row["us"] for row in rows}
    assert quantiles["16", "writes", "p99.9"] == done.runs[1].latency_us.write.p999
    assert quantiles["1", "reads", "p50"] == done.runs[0].latency_us.read.p50
    header, cells = done.rows()
    assert header[-5:] == ["read p99", "read p99.9", "write p99", "write p99.9", "IOPS"]
    assert cells[1][-3] == units.span(done.runs[1].latency_us.write.p99 * 1e-6)
    assert cells[1][-2] == units.span(done.runs[1].latency_us.write.p999 * 1e-6)
    assert cells[1][-1] == units.count(done.runs[1].throughput.iops)
    text = done.report()
    assert "<b>Latency of reads</b>" in text
    assert "<b>Latency of writes</b>" in text


def test_a_comparison_shows_means_that_differ_where_p99_does_not() -> None:
    """The 99th percentile hides what most reads gain; where it differs itself, it is enough."""

    def header(*reads: tuple[float, float]) -> list[str]:
        results = [{"latency_us": {"read": {"mean": mean, "p99": p99, "p999": p99}}} for mean, p99 in reads]
        columns = latency.SECTION.columns[0]
        assert columns.fitted is not None
        shown = columns.fitted(results)
        assert [len(shown.cells(result, None)) for result in results] == [len(shown.header)] * len(results)
        return list(shown.header)

    assert header((944.0, 2000.0), (452.0, 2010.0)) == ["read mean", "read p99", "read p99.9"]
    assert header((944.0, 2000.0), (900.0, 2010.0)) == ["read p99", "read p99.9"]
    assert header((944.0, 2000.0), (452.0, 1000.0)) == ["read p99", "read p99.9"]
    assert header((944.0, 2000.0)) == ["read p99", "read p99.9"]


def test_the_modes_stand_side_by_side_without_inventing_latencies() -> None:
    settings = {key: value for key, value in TIMED.items() if key not in ("mode", "workload.queue_depth")}
    settings["ftl.collect.mode"] = "whole-block"
    done = floatgate.compare(settings, {"mode": ["functional", "timed"]})
    functional, timed = done.runs
    assert functional.waf == timed.waf
    assert done.rows()[1][0][-5:] == ["-"] * 5
    assert "<b>Latency of writes</b>" in done.report()


def test_fills_are_told_apart() -> None:
    looks = [entry.color for entry in REASONS.values()]
    assert len(set(looks)) == len(looks)
    assert REASONS["background_job"].color == CAUSES["gc"].color
    assert REASONS["die"].color == CAUSES["host"].color
    colors = [entry.color for entry in patterned().values()]
    assert len(set(colors)) == len(colors)
    assert {entry.color for entry in REASONS.values() if entry.pattern} <= set(colors)


@pytest.mark.parametrize(
    ("joules", "text"),
    [(0.0, "0 J"), (1240.0, "1.24 kJ"), (0.38, "380 mJ"), (29.1e-6, "29.1 uJ"), (7e-9, "7 nJ"), (0.99999, "1 J")],
)
def test_energies_read_well(joules: float, text: str) -> None:
    assert units.joules(joules).replace(".00", "") == text
