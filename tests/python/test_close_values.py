"""Values that lie close together: points on an axis of their own, and each of them once in the data."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from floatgate.pages import pictures
from floatgate.study import varied_charts
from floatgate.study.varied_charts import Figure

WAF = Figure("waf_bytes", "Write amplification", "flash bytes per host byte")
LIFE = Figure("lifetime.years", "Life", "years")


def rows_of(wafs: list[float], half: float = 0.005) -> list[dict[str, Any]]:
    return [
        {"policy": f"p{number}", "spare": 0.1 * (number + 1), "waf_bytes": waf}
        | {"waf_bytes.low": waf - half, "waf_bytes.high": waf + half}
        for number, waf in enumerate(wafs)
    ]


def test_an_axis_begins_at_zero_unless_all_values_are_close() -> None:
    assert varied_charts.ends_of(rows_of([1.04, 1.08, 1.14]), WAF) == pytest.approx((1.0, 1.145))
    low, high = varied_charts.ends_of(rows_of([7.0, 7.2]), WAF)
    assert 6.9 < low < 6.995
    assert high == pytest.approx(7.205)
    assert varied_charts.ends_of(rows_of([1.1, 3.4]), WAF)[0] == 0.0
    # Without a difference nothing is hidden; a wide interval is shown whole.
    assert varied_charts.ends_of(rows_of([2.0, 2.0], half=0.0), WAF)[0] == 0.0
    assert varied_charts.ends_of(rows_of([1.5, 1.5], half=0.5), WAF)[0] == 0.0
    assert varied_charts.ends_of([{"lifetime.years": 0.0}], LIFE) == (0.0, 1.0)


def test_close_values_are_points_and_others_bars() -> None:
    close = varied_charts.bars(rows_of([1.04, 1.08, 1.14]), ["policy"], WAF).to_dict()
    apart = varied_charts.bars(rows_of([1.04, 2.08, 1.14]), ["policy"], WAF).to_dict()
    assert [layer["mark"]["type"] for layer in close["layer"]] == ["rule", "point"]
    assert close["layer"][1]["encoding"]["x"]["scale"]["domain"] == pytest.approx([1.0, 1.145])
    assert [layer["mark"]["type"] for layer in apart["layer"]] == ["bar", "rule"]
    assert apart["layer"][0]["encoding"]["x"]["scale"] == {"zero": True}


def test_lines_of_close_values_have_their_own_axis_and_each_point_once() -> None:
    rows = [{**row, "other": name} for name in ("a", "b", "c") for row in rows_of([1.04, 1.08, 1.14])]
    (_, _, draw), *_ = varied_charts.drawings(rows, ["spare", "other"], WAF)
    chart = draw(560).to_dict()
    bottom, top = chart["layer"][0]["encoding"]["y"]["scale"]["domain"]
    assert bottom == 1.0
    assert 1.145 < top < 1.16
    written = list(csv.DictReader(io.StringIO(pictures.table(chart))))
    assert len(written) == len(rows)
    assert {(float(row["low"]), float(row["high"])) for row in written} == {
        (row["waf_bytes.low"], row["waf_bytes.high"]) for row in rows
    }


def test_axes_have_names_of_the_field() -> None:
    names = {one.key: one.axis for one in varied_charts.figures()}
    assert names["waf_bytes"] == "write amplification (WAF)"
    assert names["wear.erases_max"] == "erases"
    keys = ["ftl.spare_factor", "drive.timing.erase_us", "workload.rate_per_s", "ftl.collect.policy", "drive.capacity"]
    expected = ["spare factor", "erase (us)", "rate per s", "collect policy", "capacity"]
    assert [varied_charts.axis_name(key, keys) for key in keys] == expected
    row = {"ftl.spare_factor": 0.28, "ftl.separate.policy": "sepbit"}
    assert varied_charts.keyed(row, list(row)) == "spare factor 0.28, separate policy sepbit"


def test_settings_of_two_keys_stand_in_groups_with_a_column_for_each_key() -> None:
    wafs = {"none": (5.18, 4.46), "host-gc": (5.20, 4.48), "dac": (4.54, 2.65)}
    rows = [
        {
            "a.policy": name,
            "b.policy": victim,
            "waf_bytes": waf,
            "waf_bytes.low": waf - 0.01,
            "waf_bytes.high": waf + 0.01,
        }
        for name, pair in wafs.items()
        for victim, waf in zip(("greedy", "cost-benefit"), pair, strict=True)
    ]
    chart = varied_charts.bars(rows, ["a.policy", "b.policy"], WAF).to_dict()
    bar, interval = chart["layer"]
    assert bar["encoding"]["y"]["sort"] == list(wafs)
    assert bar["encoding"]["color"]["scale"]["domain"] == ["greedy", "cost-benefit"]
    assert len(set(bar["encoding"]["color"]["scale"]["range"])) == 2
    assert bar["encoding"]["yOffset"] == interval["encoding"]["yOffset"]
    assert interval["mark"]["strokeWidth"] > 2 * bar["mark"]["strokeWidth"]
    written = list(csv.DictReader(io.StringIO(pictures.table(chart))))
    assert len(written) == len(rows)
    assert [(row["a.policy"], row["b.policy"]) for row in written] == [
        (row["a.policy"], row["b.policy"]) for row in rows
    ]
    # Close values are points, of a shape for each value too.
    near = [{**row, "waf_bytes": 4.5 + 0.1 * place} for place, row in enumerate(rows)]
    near = [
        {key: value for key, value in row.items() if key not in ("waf_bytes.low", "waf_bytes.high")} for row in near
    ]
    _, points = varied_charts.bars(near, ["a.policy", "b.policy"], WAF).to_dict()["layer"]
    assert points["mark"]["type"] == "point"
    assert len(set(points["encoding"]["shape"]["scale"]["range"])) == 2
    # One key keeps its bars in one colour, as do three.
    assert "color" not in varied_charts.bars(rows_of([1.0, 2.0]), ["policy"], WAF).to_dict()["layer"][0]["encoding"]
