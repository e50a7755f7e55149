"""What ``floatgate explain`` says reads wait for: from latencies of reads during reclaims, if a result has them."""

from __future__ import annotations

from typing import Any

import pytest

from floatgate.report.sections.limits.figures import FIGURES
from floatgate.report.sections.limits.subject import Subject

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
