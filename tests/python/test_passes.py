"""Steady states of repeated traces: passes that differ are seen, and the remedy that a run names mends it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

import floatgate
from floatgate.report.sections import lifetime_headline

if TYPE_CHECKING:
    from pathlib import Path

PAGES = 50_000
"""Pages that the trace writes, of 59,000 visible ones."""


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A separator on a drive that begins filled at random, and a trace of two overwrites of the data."""
    file: Path = tmp_path_factory.mktemp("passes") / "uniform.csv"
    draw = random.Random(1)
    lines = [f"0,{8 * draw.randrange(PAGES)},4096,W,{number / 1000:.3f}\n" for number in range(2 * PAGES)]
    file.write_text("".join(lines))
    return {
        "drive.capacity": "256 MiB",
        "drive.geometry.pages_per_block": 64,
        "ftl.spare_factor": 0.1,
        "ftl.precondition": "random",
        "ftl.separate.policy": "sepbit",
        "workload.kind": "trace",
        "workload.format": "spc",
        "workload.file": str(file),
    }


def test_two_passes_that_differ_are_not_stationary(settings: dict[str, Any]) -> None:
    """Their batches vary too much for a test of drift: it called this run stationary, 13 % above the steady state."""
    run = floatgate.run(settings, set={"workload.repeat": 2})
    assert run.stationary is False
    assert lifetime_headline.shortage(run.result.to_dict()).setting == ("workload.repeat", 4)  # type: ignore[union-attr]


def test_the_remedies_that_runs_name_end_at_a_steady_state(settings: dict[str, Any]) -> None:
    changes: dict[str, Any] = {"workload.repeat": 2}
    named = []
    for _ in range(6):
        short = lifetime_headline.shortage(floatgate.run(settings, set=changes).result.to_dict())
        if short is None:
            break
        assert short.setting is not None
        named.append(short.setting[0])
        changes |= dict([short.setting])
    assert named[-1] == "workload.warmup_passes"
    assert len(named) < 6
    # Twice the length each time would have come to 2^5 passes and more.
    assert changes["workload.repeat"] <= 8
