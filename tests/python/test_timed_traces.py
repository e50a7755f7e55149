"""Timed mode on every trace that ships: nothing lost, the same WAF as without time, and reports with their pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

import floatgate

TRACES = sorted(p for p in (Path(__file__).parents[2] / "traces").iterdir() if p.suffix != ".md")
DRIVE = {"drive.preset": "mlc-20nm", "drive.capacity": "4 GiB", "ftl.precondition": "none"}
"""A full one falls behind some of the traces, and blocks then rest for other times than their stamps say."""
REPORTED = {"sqlite-updates.parquet", "pgbench-ext4.nbdkit-log.zst"}


@pytest.mark.parametrize("trace", TRACES, ids=lambda path: path.name.split(".")[0])
def test_a_shipped_trace_runs_in_time(trace: Path) -> None:
    settings = DRIVE | {"workload.file": str(trace)}
    functional = floatgate.run(settings)
    timed = floatgate.run(settings | {"mode": "timed"})
    assert timed.waf == functional.waf
    erases = ("erases_min", "erases_mean", "erases_max", "erases_std", "histogram")
    assert {key: timed.wear[key] for key in erases} == {key: functional.wear[key] for key in erases}
    if functional.wear["idle_h"] is not None:
        # In time a request is stamped when it arrives, and in functional mode by the second.
        assert timed.wear["idle_h"]["mean"] == pytest.approx(functional.wear["idle_h"]["mean"], rel=0.01)
    for kind in ("read", "write"):
        latency, command = timed.latency_us[kind], timed.host[f"{kind}_requests"]
        assert (latency.count if latency else 0) == command
        assert latency is None or latency.p50 <= latency.p99 <= latency.max
    if trace.name in REPORTED:
        page = timed.report()
        for heading in ("Latencies", "Timeline", "Why it takes that long"):
            assert heading in page


def test_all_traces_are_there() -> None:
    assert len(TRACES) == 22
