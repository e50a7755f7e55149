"""Drives whose tables do not fit into memory are refused before any work."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from floatgate.base.errors import RunError
from floatgate.run import lifetime as forecasts
from floatgate.run import needs
from floatgate.run.experiment import Experiment, resolve
from floatgate.run.run import check, execute

TRACE = Path(__file__).parents[2] / "traces" / "pgbench-ext4.nbdkit-log.zst"
GIB = 1 << 30


def on_two_tib(trace: Path | None = None, **settings: Any) -> Experiment:
    return resolve(
        trace=trace, drive="ent-tlc-ri-1t92", set={key.replace("__", "."): value for key, value in settings.items()}
    )


@pytest.fixture
def _two_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "free_bytes", lambda: 2 * GIB)


@pytest.mark.usefixtures("_two_gib")
def test_a_drive_that_does_not_fit_is_refused_with_one_that_does() -> None:
    with pytest.raises(RunError, match=r"2 TiB of flash need .* GiB of memory, and 2 GiB are free") as refused:
        execute(on_two_tib(ftl__precondition="steady", workload__requests=1000))
    capacity = re.search(r"expected --capacity (\d+)GiB", str(refused.value))
    assert capacity is not None
    needs.must_fit(check(on_two_tib(ftl__precondition="steady", drive__capacity=f"{capacity[1]} GiB")))


@pytest.mark.usefixtures("_two_gib")
def test_data_at_rest_and_drives_that_are_not_simulated_need_no_memory() -> None:
    resolved = check(on_two_tib(TRACE))
    least, most = needs.table_bytes(resolved)
    assert least < 2 * GIB < most
    needs.must_fit(resolved)
    filled: dict[str, Any] = {"ftl__precondition": "sequential"}
    with pytest.raises(RunError, match="of flash need"):
        forecasts.forecast(on_two_tib(TRACE, **filled), [[]])
    assert forecasts.forecast(on_two_tib(TRACE, **filled, lifetime__forecast__waf=1.5), [[]], latencies=False)
