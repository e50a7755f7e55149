"""``floatgate reproduce rb-explorer``: the values from the counts of pins, of firmware and of simulators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from floatgate.papers import load
from floatgate.papers.judge import Findings
from floatgate.papers.rb_explorer import errors, states, volumes
from floatgate.papers.rb_explorer.figures import figures
from floatgate.papers.rb_explorer.micros import micros
from floatgate.papers.rb_explorer.values import values

PAGE, GIB = 4096, 1 << 30


def pin(wa: float, host_bytes: int, dies: int) -> dict[str, Any]:
    """What a reading of a pin tells."""
    p_volume = wa * host_bytes
    return {"wa": wa, "n_p": p_volume / dies / PAGE, "p_volume_bytes": p_volume}


def run(true_wa: float, captured: dict[str, Any], host_bytes: int = 2 * GIB, page_bytes: int = PAGE) -> dict[str, Any]:
    """A timed run whose firmware counted so much and whose pins tell so much."""
    return {
        "host": {"write_bytes": host_bytes},
        "drive": {"page_bytes": page_bytes},
        "waveform": {"flash": {"programs": round(true_wa * host_bytes / page_bytes)}},
        "captured": captured,
        "throughput": {"write_mb_per_s": 20 / true_wa},
    }


def test_there_are_forty_micro_benchmarks_and_the_paper_runs_them_all() -> None:
    paper = load("rb-explorer")
    assert len(set(micros())) == 40
    for batch in paper.batches:
        if batch.name in ("verify", "new", "simulated", "initial", "initial-seed-2", "steady-unit"):
            assert sorted(batch.workloads) == sorted(micros())


def test_errors_by_source_are_those_of_equation_12() -> None:
    readings = {
        "paper": 3.02, "printed": 2.9, "one": 3.06, "all": 3.03,
        "polled-1": 3.015, "polled": 2.97, "polled-100": 2.7, "found": 3.0,
    }  # fmt: skip
    captured = {name: pin(wa, 2 * GIB, 4) for name, wa in readings.items()}
    result = run(3.0, captured)
    findings = Findings({"verify": {micro: {"ssd-v": result} for micro in micros()}})
    made = errors.values(findings)
    micro = "4k-rd-100w-align"
    assert made[f"true.{micro}"] == pytest.approx(3)
    expected = {"paper": 0.02 / 3, "all": 0.01, "found": 0, "dies": 0.03 / 3.03, "polling": 0.06 / 3.03}
    for source, error in expected.items():
        assert made[f"error.{source}.{micro}"] == pytest.approx(error), source
    assert made["most.error.polling-100.100w"] == pytest.approx(0.33 / 3.03)


def test_a_simulator_is_set_beside_the_same_state() -> None:
    counts = {
        "ssd-v": 1000,
        "ssdsim": 1200,
        "pre-write": 1150,
        "no-read-cache": 1000,
        "greedy": 990,
        "no-leveling": 950,
    }
    variants = {name: {"flash": {"programs": {"total": count}}} for name, count in counts.items()}
    captured = {name: pin(3.0, 2 * GIB, 4) for name in errors.READINGS} | {"paper": pin(3.3, 2 * GIB, 4)}
    worn = {
        "simulated-worn": dict.fromkeys(micros(), variants),
        "verify": {micro: {"ssd-v": run(3.0, captured)} for micro in micros()},
    }
    # SSDsim is off by a fifth, the pin by a tenth.
    assert errors.values(Findings(worn))["factor.worn.8k-sq-50w-align"] == pytest.approx(2, rel=1e-4)
    findings = Findings({"simulated": dict.fromkeys(micros(), variants)})
    made = errors.values(findings)
    assert made["most.off.new.ssdsim.50w"] == pytest.approx(0.2)
    assert made["median.off.new.greedy.100w"] == pytest.approx(0.01)
    # Without the runs in time nothing is said of SSDsim beside a pin, and nothing of the worn drive.
    assert "most.off.worn.ssdsim.50w" not in made
    assert made["share.ssdsim-50-over-14"] is None


def test_states_are_means_over_micro_benchmarks() -> None:
    def wa(micro: str) -> float:
        size, order, writes, alignment = micro.split("-", 3)
        return (16 if size == "512b" else 2) * (5 if order == "rd" else 1) + (writes == "50w") + (alignment == "align")

    def stable(micro: str) -> dict[str, Any]:
        """Five rounds alike."""
        written = GIB // 4 if micro.startswith("512b") else 2 * GIB
        pages = [written // PAGE] * 5
        series = {"page_writes": pages, "flash_writes": [2 * wa(micro) * one for one in pages]}
        host = {"write_bytes": 5 * written, "page_writes": sum(pages)}
        return {"drive": {"mapping_bytes": PAGE}, "host": host, "series": series}

    def runs(of: Callable[[str], Any], chosen: list[str]) -> dict[str, Any]:
        return {micro: {drive: of(micro) for drive in states.DRIVES} for micro in chosen}

    def pinned(micro: str) -> dict[str, Any]:
        return run(wa(micro), {"paper": pin(1.01 * wa(micro), 2 * GIB, 16)})

    agree = ["4k-rd-100w-align", "4k-rd-50w-no-align"]
    results = {"initial": runs(pinned, micros()), "until-stable": runs(stable, micros())}
    made = states.values(Findings(results))
    assert made["sq.steady.ssd-i-100w"] == pytest.approx(2 * 2.5)
    assert made["rd.initial.ssd-m-50w"] == pytest.approx(1.01 * 11.5)
    assert made["most.steady.ssd-s-50w"] == pytest.approx(2 * 82)
    assert made["wa.steady.8k-sq-50w-align.ssd-m"] == pytest.approx(2 * 4)
    assert made["steady_over_initial.ssd-i"] == pytest.approx(2 / 1.01)
    assert made["most.pin.new.ssd-s-50w"] == pytest.approx(0.01, rel=1e-3)
    assert made["most.pin.worn.ssd-s-50w"] is None
    assert made["sq_no_align.initial.ssd-i-100w"] == pytest.approx(1.01 * 2)
    # Of the worn drives some micro-benchmarks have their pins captured.
    worn = {
        micro: {
            drive: run(3.0, {"paper": pin(3.0 * (1.02 if "50w" in micro else 0.97), 2 * GIB, 16)})
            for drive in states.DRIVES
        }
        for micro in agree
    }
    made = states._pins(Findings({"agree-real": worn}))
    assert made["most.pin.worn.ssd-s-50w"] == pytest.approx(0.02, rel=1e-3)
    assert made["most.pin.worn.ssd-s-100w"] == pytest.approx(0.03, rel=1e-3)
    assert made["most.pin.new.ssd-s-100w"] is None


@pytest.mark.parametrize(("low", "high", "holds"), [(2.9, 3.1, True), (3.01, 3.2, False), (2.5, 2.99, False)])
def test_pins_agree_where_the_truth_lies_in_their_interval(low: float, high: float, holds: bool) -> None:
    captured = {"found": pin(3.05, 2 * GIB, 4) | {"wa_low": low, "wa_high": high}}
    made = states.values(Findings({"agree": {"4k-rd-100w-align": {"ssd-v": run(3.0, captured)}}}))
    assert made["agrees.4k-rd-100w-align.ssd-v"] is holds
    assert made["agrees.ssd-v"] is holds
    assert made["agrees.ssd-m"] is None


@pytest.mark.parametrize(("pages", "wa", "planes"), [(1, 1.004, 1), (2, 1.0, 2), (2, 1.6, 1)])
def test_planes_follow_from_sequential_writes(pages: int, wa: float, planes: int) -> None:
    captured = {"found": pin(wa, 2 * GIB, 16) | {"multi_page": pages, "interval_us": [180.0, 2300.0]}}
    made = states.values(Findings({"planes": {"32k-sq-100w-align": {"ssd-m": run(wa, captured)}}}))
    assert made["m_p.ssd-m"] == planes
    assert made["interval.high.ssd-m"] == 2300


def test_the_first_sub_test_has_the_initial_data_on_its_account() -> None:
    course = [3.0, 2.0, *[4.0] * 13]
    walvd = {
        f"walvd-{k}": {"random": {"op-8": run(wa, {"paper": pin(wa, 5 * GIB, 10)}, 5 * GIB)}}
        for k, wa in enumerate(course, start=1)
    }
    data = {"partitioned": {"initial-data": {"op-8": run(1.0, {"paper": pin(1.0, 30 * GIB, 10)}, 30 * GIB)}}}
    made = volumes.values(Findings(walvd | data))
    assert made["walvd.op-8.1"] == pytest.approx(3 + 6)
    assert (made["first.op-8"], made["lowest.op-8"], made["stable.op-8"]) == pytest.approx((9, 2, 4))
    assert made["settled.op-8"] == pytest.approx(0)


def test_traces_are_told_by_sub_test_and_state() -> None:
    results = {
        f"oltp-{state}-{k}": {"f1": {"ssd-i": run(wa, {"paper": pin(wa, 5 * GIB, 10)}, 5 * GIB)}}
        for state, first in (("initial", 1.1), ("steady", 16.0))
        for k in range(1, volumes.SUBTESTS + 1)
        for wa in [1.0 + (first - 1.0) / k]
    }
    made = volumes.values(Findings(results))
    assert made["oltp.steady.f1.1"] == pytest.approx(16)
    assert made["oltp.steady.f1.last"] == pytest.approx(1 + 15 * (1 / 13 + 1 / 14 + 1 / 15) / 3)
    assert made["together.steady.f1"] < -0.5
    assert volumes.correlation([1, 2, 3], [2, 4, 6]) == pytest.approx(1)
    assert volumes.correlation([1, 1], [2, 4]) is None


def test_nothing_is_made_of_nothing() -> None:
    findings = Findings({})
    findings.values.update(values(findings))
    assert not [name for name, value in findings.values.items() if value not in (None, False)]
    assert figures(findings) == []
