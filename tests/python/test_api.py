"""The Python interface."""

from __future__ import annotations

import copy
import doctest
import json
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import floatgate
from conftest import SMALL


def test_results_read_like_objects(small_run: floatgate.Run) -> None:
    assert small_run.waf == small_run.result["waf"]
    assert small_run.flash.programs.total == small_run.flash.programs.host + small_run.flash.programs.gc
    assert small_run.waf == pytest.approx(small_run.flash.programs.total / small_run.host.page_writes)
    assert json.loads(small_run.result_json)["host"] == small_run.host.to_dict()
    assert "waf" in dir(small_run)
    assert small_run.experiment()["workload"]["requests"] == 60_000
    with pytest.raises(AttributeError, match="there are schema, version"):
        _ = small_run.nonsense


@pytest.mark.parametrize(("page_bytes", "mapping_bytes"), [(4096, 4096), (16384, 16384), (16384, 4096)])
@pytest.mark.parametrize("recovers", [False, True])
def test_endurance_multiplies_out(page_bytes: int, mapping_bytes: int, recovers: bool) -> None:
    """TBW, drive writes per day and years follow from write amplification in bytes, whatever the size of requests."""
    changes: dict[str, object] = {**SMALL, "drive.geometry.page_bytes": page_bytes, "workload.request_bytes": 4096}
    changes["ftl.mapping_bytes"] = mapping_bytes
    if recovers:
        changes["drive.endurance.model"] = "ready-table2"
    result = floatgate.run(changes).result
    life, seconds = result.lifetime, result.period_s
    assert result.waf_bytes == pytest.approx(result.flash.pages_written.total * mapping_bytes / result.host.write_bytes)
    assert result.waf_bytes == pytest.approx(
        result.waf * result.host.page_writes * mapping_bytes / result.host.write_bytes
    )
    # Up to what gathers for the next flash page.
    assert result.flash.programs.total * page_bytes == pytest.approx(
        result.flash.pages_written.total * mapping_bytes, rel=1e-4
    )
    parts = [part for name, part in result.waf_bytes_parts.items() if name != "total"]
    assert sum(parts) == pytest.approx(result.waf_bytes)
    flash_bytes = result.drive.physical_bytes * life.pe_cycles_achievable
    assert life.tbw_bytes * result.waf_bytes == pytest.approx(flash_bytes)
    year_s = 8760 * 3600
    assert life.years * year_s / seconds * result.host.write_bytes == pytest.approx(life.tbw_bytes, rel=1e-9)
    assert life.years * year_s / 86_400 * life.dwpd * result.drive.logical_bytes == pytest.approx(life.tbw_bytes)


def test_runs_can_be_copied_and_pickled(small_run: floatgate.Run) -> None:
    for again in (copy.copy(small_run), copy.deepcopy(small_run), pickle.loads(pickle.dumps(small_run))):
        assert again.result == small_run.result
        assert again.series.equals(small_run.series)
    assert copy.deepcopy(small_run.flash).programs.total == small_run.flash.programs.total


def test_numpy_numbers_are_numbers() -> None:
    run = floatgate.run(SMALL, set={"ftl.spare_factor": np.float64(0.2)})
    assert run.config.ftl.spare_factor == 0.2


def test_the_series_is_an_arrow_table(small_run: floatgate.Run) -> None:
    assert isinstance(small_run.series, pa.Table)
    assert small_run.series is small_run.series
    assert {"requests", "time_s", "page_writes", "flash_writes", "waf", "free_blocks"} <= set(
        small_run.series.column_names
    )
    assert all(b"unit" in (field.metadata or {}) for field in small_run.series.schema)


def test_plots_are_altair_charts(small_run: floatgate.Run) -> None:
    for chart in (
        small_run.plot_waf(),
        small_run.plot_writes(),
        small_run.plot_wear(),
        small_run.plot_valid_pages(),
    ):
        assert "vega-lite" in chart.to_dict()["$schema"]


def test_a_run_can_be_saved_and_loaded(small_run: floatgate.Run, tmp_path: Path) -> None:
    folder = floatgate.run(SMALL).save(tmp_path / "r", report=False)
    loaded = floatgate.load(folder)
    assert loaded.waf == small_run.waf
    assert loaded.series.equals(small_run.series)
    assert loaded.summary() == small_run.summary()
    assert floatgate.load(folder / "result.json").name() == "r"
    with pytest.raises(floatgate.InputError, match="not empty"):
        loaded.save(folder)
    loaded.save(folder, force=True, report=False)


def test_loading_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(floatgate.InputError, match="No such file or directory"):
        floatgate.load(tmp_path)


def test_settings_lie_over_the_experiment() -> None:
    changed = floatgate.run(SMALL, set={"ftl.collect.policy": "random", "workload.requests": 20_000})
    assert changed.experiment()["ftl"]["collect"]["policy"] == "random"
    assert changed.host.write_requests == 20_000


def test_the_shadow_model_agrees(small_run: floatgate.Run) -> None:
    assert floatgate.run(SMALL, shadow=True).flash.to_dict() == small_run.flash.to_dict()


def test_errors_are_typed_and_say_where() -> None:
    with pytest.raises(floatgate.InputError) as refused:
        floatgate.run({"ftl": {"spare_factor": 2}})
    assert refused.value.status == 2
    assert refused.value.message.startswith("ftl.spare_factor: ")
    with pytest.raises(floatgate.RunError) as failed:
        floatgate.run(SMALL, set={"drive.endurance.pe_cycles": 1})
    assert failed.value.status == 1
    assert issubclass(floatgate.InputError, floatgate.FloatgateError)


def test_progress_may_stop_a_run() -> None:
    class Enough(Exception):  # noqa: N818
        pass

    seen: list[tuple[int, int | None, str]] = []

    def progress(done: int, total: int | None, phase: str) -> None:
        seen.append((done, total, phase))
        raise Enough

    endless = {"workload.requests": 10**11, "drive.endurance.pe_cycles": 4 * 10**9}
    with pytest.raises(Enough):
        floatgate.run(SMALL, set=endless, progress=progress)
    assert len(seen) == 1


def test_runs_in_threads_give_what_runs_alone_give(small_run: floatgate.Run) -> None:
    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(lambda _: floatgate.run(SMALL), range(4)))
    assert all(run.flash.to_dict() == small_run.flash.to_dict() for run in runs)


def test_a_trace_from_python(trace: Path) -> None:
    run = floatgate.run(trace=trace, set={"drive.capacity": "64 MiB"})
    assert run.workload.format == "msr"
    assert run.name() == trace.name
    assert run.span_s == pytest.approx(99.9)


def test_importing_and_simulating_imports_nothing_heavy() -> None:
    code = (
        "import sys, floatgate, floatgate.cli.app\n"
        "floatgate.cli.app.command()\n"
        "floatgate.run({'drive.capacity': '64 MiB', 'workload.requests': 1000})\n"
        "print([name for name in ('numpy', 'pyarrow', 'altair', 'pandas', 'vl_convert') if name in sys.modules])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"


def test_examples_of_the_documentation_run() -> None:
    examples = doctest.DocTestFinder(recurse=False).find(floatgate, "floatgate")
    names: dict[str, object] = {}
    for example in (part for test in examples for part in test.examples):
        exec(compile(example.source, "<example>", "exec"), names)  # the examples of our own package
    assert isinstance(names["run"], floatgate.Run)
