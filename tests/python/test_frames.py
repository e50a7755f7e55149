"""Results as Arrow tables, pandas and polars frames."""

from __future__ import annotations

import itertools
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import floatgate
from conftest import SMALL
from floatgate.results.arrays import flags_of, numbers_of, of_numbers, of_values
from floatgate.results.flat import flat
from floatgate.study.plan import Plan
from test_plan_page import ending


def test_a_run_gives_its_series_in_each_library(small_run: floatgate.Run) -> None:
    assert small_run.to_arrow() is small_run.series
    assert small_run.to_polars().to_dict(as_series=False) == small_run.series.to_pydict()
    frame = small_run.to_pandas("series")
    assert isinstance(frame, pd.DataFrame)
    assert frame["page_writes"].tolist() == small_run.series["page_writes"].to_pylist()
    assert sum(frame["page_writes"]) == small_run.host.page_writes


def test_a_run_gives_one_row_of_settings_and_figures(small_run: floatgate.Run) -> None:
    row = flat(small_run.result.to_dict())
    for rows in (small_run.to_arrow("figures").to_pylist(), small_run.to_polars("figures").to_dicts()):
        assert rows == [row]
    assert row["waf"] == small_run.waf
    assert row["ftl.spare_factor"] == small_run.config.ftl.spare_factor
    assert row["flash.programs.gc"] == small_run.flash.programs.gc
    frame = small_run.to_pandas("figures")
    assert (len(frame), frame["waf"][0]) == (1, small_run.waf)
    assert small_run.to_arrow("figures").schema.field("waf").type == pa.float64()


def test_rows_of_runs_make_one_table(small_run: floatgate.Run) -> None:
    other = floatgate.run(SMALL, set={"ftl.collect.policy": "random"})
    frame = pl.concat([run.to_polars("figures") for run in (small_run, other)], how="diagonal_relaxed")
    assert frame["ftl.collect.policy"].to_list() == [small_run.config.ftl.collect.policy, "random"]
    assert frame["waf"].to_list() == [small_run.waf, other.waf]


def test_studies_give_their_rows(tmp_path: Path) -> None:
    vary = {"ftl.spare_factor": [0.1, 0.2]}
    comparison = floatgate.compare(SMALL, vary)
    sweep = floatgate.sweep(SMALL, vary, out=tmp_path / "s", jobs=1)
    for study in (comparison, sweep):
        assert study.to_polars()["ftl.spare_factor"].to_list() == [0.1, 0.2]
        assert study.to_pandas()["waf"].tolist() == study.to_arrow()["waf"].to_pylist()
        assert study.arrow().equals(study.to_arrow())
        assert study.pandas().equals(study.to_pandas())
        assert study.polars().equals(study.to_polars())
    assert comparison.to_arrow()["waf"].to_pylist() == [run.waf for run in comparison.runs]
    assert sweep.to_arrow()["waf"].to_pylist() == [run.waf for run in comparison.runs]


def test_a_forecast_and_a_plan_are_frames() -> None:
    life = floatgate.Lifetime({"lifetime": {"years": 2.5, "dwpd": None}, "schema": "s"}, "", "l")
    assert life.to_arrow().to_pylist() == [{"lifetime.years": 2.5, "lifetime.dwpd": None}]
    assert life.to_polars().to_dicts() == life.to_arrow().to_pylist()
    plan = Plan([ending(64, 6.0, first=2.0), ending(128, 9.0, rated=3.0)], "", "x")
    assert plan.to_polars()["life_years"].to_list() == [2.0, 3.0]
    assert plan.to_pandas()["ends"].tolist() == ["first_block", "rating"]
    assert plan.arrow().equals(plan.to_arrow())


def test_another_part_is_refused(small_run: floatgate.Run) -> None:
    with pytest.raises(floatgate.InputError, match=r"part: is 'rows'; expected one of 'series', 'figures'"):
        small_run.to_arrow("rows")  # type: ignore[arg-type]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_missing_package_is_named_with_its_extra(
    small_run: floatgate.Run, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(floatgate.RunError) as refused:
        getattr(small_run, f"to_{package}")()
    assert refused.value.message == (
        f"{package} is not installed; expected the extra 'frames': pip install 'floatgate[frames]', or to_arrow()"
    )


VALUES: dict[pa.DataType, list[Any]] = {
    pa.int64(): [0, 1, -1, 2**63 - 1, -(2**63)],
    pa.uint64(): [0, 2**64 - 1, 7],
    pa.float64(): [0.0, -0.0, 1.5, float("inf"), float("nan"), 5e-324],
    pa.bool_(): [True, False],
    pa.string(): ["", "a", "größer", "\0", "x" * 300],
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 64, 200])
def test_arrays_are_those_of_pyarrow(kind: pa.DataType, length: int, tmp_path: Path) -> None:
    for seed, nulls in enumerate((0.0, 0.3, 1.0)):
        rng = random.Random(f"{seed} {length} {kind}")
        values = [None if rng.random() < nulls else rng.choice(VALUES[kind]) for _ in range(length)]
        ours, theirs = of_values(values, kind), pa.array(values, kind)
        ours.validate(full=True)
        assert (ours.type, ours.null_count, repr(ours.to_pylist())) == (
            kind,
            theirs.null_count,
            repr(theirs.to_pylist()),
        )
        for name, one in (("ours", ours), ("theirs", theirs)):
            pq.write_table(pa.table([one], names=["x"]), tmp_path / name)
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "u8", "i4", "i8", "f8"])
def test_numbers_of_arrays_are_those_of_pyarrow(kind: str) -> None:
    rng = np.random.default_rng(7)
    for length, share in itertools.product((0, 1, 7, 8, 9, 100), (0.0, 0.4, 1.0)):
        numbers, null = rng.integers(0, 200, length).astype(kind), rng.random(length) < share
        whole = pa.array(numbers, mask=null)
        for array in (whole, whole.slice(length // 3), whole.slice(1, length // 2), of_numbers(numbers, null)):
            theirs = array.fill_null(5).to_numpy(zero_copy_only=False)
            ours = numbers_of(array, 5)
            assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist())
            there = array.is_valid()
            assert flags_of(there).tolist() == there.to_pylist()
    assert numbers_of(pa.nulls(3).cast(pa.from_numpy_dtype(np.dtype(kind))), 5).tolist() == [5, 5, 5]


@pytest.mark.parametrize(
    ("values", "kind"),
    [([None, "1"], pa.int64()), ([2**63], pa.int64()), ([-1], pa.uint64()), (["a"], pa.float64()), ([1], pa.string())],
)
def test_arrays_refuse_what_pyarrow_refuses(values: list[Any], kind: pa.DataType) -> None:
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, OverflowError)) as theirs:
        pa.array(values, kind)
    with pytest.raises(theirs.type):
        of_values(values, kind)
