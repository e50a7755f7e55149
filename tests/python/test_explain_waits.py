"""What ``floatgate explain`` says reads wait for: from latencies of reads during reclaims, if a result has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import SMALL
from floatgate.report.sections.limits.figures import FIGURES
from floatgate.report.sections.limits.subject import Subject
from floatgate.study.explain.case import reading
from floatgate.study.explain.explanation import explain

SERVICE, JOBS = 125.0, 45.0
READS, DURING = 600_000, 2_700


def subject(*, measured: bool = True, **changes: Any) -> Subject:
    """Reads of 170 us, 45 of which they wait for jobs: reclaims take 0.5 % of the jobs' time and nearly all waits."""
    during = {"count": DURING, "mean": 9000.0, "p99": 54_000.0, "p999": 1.6e6}
    others = {"count": READS - DURING, "mean": 126.0, "p99": 125.0, "p999": 125.0}
    waiting = dict.fromkeys(("die", "background_job", "channel", "suspended"), 0.0)
    result = {
        "mode": "timed",
        "flash": {"time_s": {"gc": 995.0, "reclaim": 5.0}},
        "latency_us": {
            "read": {"count": READS, "mean": 166.0, "p999": 1750.0},
            "waiting": {"read": {**waiting, "foreground_job": JOBS, "service": SERVICE}},
        },
        "reclaim": {"response_us": {"during": during, "otherwise": others} if measured else None},
        **changes,
    }
    return Subject("run", result, {})


def test_reads_wait_for_reclaims_although_these_take_little_time() -> None:
    known = {name: figure.of(subject()) for name, figure in FIGURES.items() if name.startswith("read_behind")}
    excess = DURING * (9000 - 126) / (READS * 166)
    assert known["read_behind_reclaim"] == pytest.approx(excess)
    assert known["read_behind_gc"] == pytest.approx(JOBS / (JOBS + SERVICE) - excess)
    assert FIGURES["reclaim_tail_share"].of(subject()) == pytest.approx(1 - 125 / 1750)
    assert FIGURES["read_reclaim_basis"].of(subject()) == "by how much longer reads during reclaims take than others"


def test_an_estimate_by_flash_time_is_called_one() -> None:
    case = subject(measured=False)
    assert FIGURES["read_behind_gc"].of(case) == pytest.approx(0.995 * JOBS / (JOBS + SERVICE))
    assert str(FIGURES["read_gc_basis"].of(case)).startswith("an estimate by flash time")
    only = subject(measured=False, flash={"time_s": {"gc": 995.0}})
    assert FIGURES["read_gc_basis"].of(only) == "the drive had no other jobs"


@pytest.mark.parametrize(
    ("mean", "p99", "p999", "tail"),
    [
        (100.0, 400.0, 4000.0, ""),
        (100.0, 400.0, 4100.0, ", p99.9 4.1 ms"),
        # 50, 40 and 9 % of the requests take at most 60, 90 and 400 us: 102 us on average over all.
        (401.0, 400.0, 990e3, ", p99.9 990 ms; few requests take most of the time: the slowest 1 % at least 75 %"),
        (401.0, 400.0, 4000.0, ", p99.9 4.0 ms; few requests take most of the time: the slowest 1 % at least 75 %"),
    ],
)
def test_a_tail_beyond_p99_is_named(mean: float, p99: float, p999: float, tail: str) -> None:
    times = {"count": READS, "mean": mean, "p50": 60.0, "p90": 90.0, "p99": p99, "p999": p999}
    for kind in ("read", "write"):
        assert FIGURES[f"{kind}_tail"].of(subject(latency_us={kind: times})) == tail
    assert FIGURES["read_tail"].of(subject(latency_us={"read": {"mean": mean}})) == ""


def test_explain_says_what_p99_leaves_out(tmp_path: Path) -> None:
    """A block has 256 pages: fewer than one write in a hundred waits for a collection of a whole block."""
    drive = {"drive.capacity": "128 MiB", "drive.geometry.pages_per_block": 256, "ftl.spare_factor": 0.5}
    workload = {"workload.rate_per_s": 100.0, "workload.requests": 20_000}
    done = floatgate.run({**SMALL, **drive, **workload, "mode": "timed", "ftl.collect.mode": "whole-block"})
    tail = FIGURES["write_tail"].of(Subject("run", done.result.to_dict(), {}))
    assert str(tail).startswith(", p99.9 ")
    with reading(str(done.save(tmp_path / "run", report=False))) as case:
        sentence = next(one for one in explain(case).sentences if one.rule.name == "write-latency")
    assert f"{tail}); the mean" in sentence.text


@pytest.mark.parametrize(
    ("timing", "longest_us"),
    [
        ({"read_us": 50.0, "program_us": 1500.0, "erase_us": 1000.0}, 1500.0),
        ({"read_us": 50.0, "program_us_by_page_type": [400.0, 1500.0], "erase_us": 1000.0}, 1500.0),
        ({"read_us_by_page_type": [50.0, 60.0], "program_us": 400.0, "erase_us": 30.0}, 400.0),
        ({"read_us_by_page_type": [50.0, 600.0], "program_us": 400.0, "erase_us": 30.0}, 600.0),
    ],
)
def test_a_read_waits_longer_than_any_operation_only_for_its_own_page(
    timing: dict[str, Any], longest_us: float
) -> None:
    waiting = dict.fromkeys(("die", "background_job", "channel", "suspended", "service"), 0.0)
    result = {"mode": "timed", "latency_us": {"waiting": {"read": {**waiting, "foreground_job": 2000.0}}}}
    scheduling = {
        "policy": "priority",
        "priority": ["read", "write", "background"],
        "urgent_jobs": "write",
        "jobs_hold": "nothing",
    }
    case = Subject("run", result, {"drive": {"timing": timing, "scheduling": scheduling}})
    assert FIGURES["read_own_write"].of(case) == pytest.approx((2000.0 - longest_us) / 2000.0)


def test_small_writes_that_gather_in_a_page_count_once_together(tmp_path: Path) -> None:
    settings = {**SMALL, "mode": "timed", "workload.requests": 20_000, "drive.geometry.channels": 2}
    del settings["workload.rate_per_s"]
    for page_bytes, words in (
        (4096, "at the flash, where large writes count once per page."),
        (16_384, "where writes that gather in one page count once together, and large writes count once per page."),
    ):
        folder = tmp_path / str(page_bytes)
        over = {"drive.geometry.page_bytes": page_bytes, "ftl.mapping_bytes": 4096}
        floatgate.run({**settings, **over}).save(folder, report=False)
        with reading(str(folder)) as case:
            assert words in explain(case, 1).text()
