"""Differences in the report of a comparison: intervals around zero, with the figures of the comparison's JSON."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

import floatgate
from floatgate.pages import pictures
from floatgate.pages.parts import pictures_of
from floatgate.results import seed_stats
from floatgate.study import difference_charts
from floatgate.study.compare import Comparison
from floatgate.study.varied_charts import BARS_MAX, Figure

SMALL = "[drive]\ncapacity = '64 MiB'\n[workload]\nrequests = 40000\n"
WAF = Figure("waf_bytes", "Write amplification", "flash bytes per host byte")
UNSTEADY = "All settings: no steady WAF yet."
"""So short a run has none."""
POLICIES = ["greedy", "fifo", "cost-benefit"]


def compared(repeat: int, policies: list[str]) -> Comparison:
    return floatgate.compare(SMALL, {"ftl.collect.policy": policies}, repeat=repeat)


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compared(3, POLICIES)


def drawn_of(comparison: Comparison) -> dict[str, Any]:
    listed = pictures_of(comparison.report)
    return {one.name: one for one in listed if one.name.startswith("difference-")}


def table_of(chart: dict[str, Any]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(pictures.table(chart))))


def test_intervals_are_those_of_the_comparison(comparison: Comparison) -> None:
    drawn = drawn_of(comparison)
    picture = drawn["difference-waf-bytes"]
    assert picture.title == "Write amplification: difference from greedy"
    for width in (328, 560):
        rows = {row["label"]: row for row in table_of(picture.draw(width).to_dict()) if row["label"]}
        assert list(rows) == ["fifo", "cost-benefit"]
        for setting in list(comparison)[1:]:
            entry = comparison.to_dict()["settings"][POLICIES.index(setting.overrides[0][1].strip('"'))]
            figure = entry["difference"]["figures"]["waf_bytes"]
            row = rows[setting.overrides[0][1].strip('"')]
            assert float(row["difference"]) == figure["difference"]
            assert [float(row["low"]), float(row["high"])] == figure["difference_95"]
    assert ">Differences from greedy</h2>" in comparison.report()


def test_captions_say_what_intervals_are_of(comparison: Comparison) -> None:
    captions = {one.name: one.caption for one in pictures_of(comparison.report)}
    pairs = "Student's over 3 pairs of runs with the same seed"
    batches = "and the one from batches over the same requests"
    assert f"95 % intervals, the wider of {pairs} {batches}." in captions["difference-waf-bytes"]
    assert f"95 % intervals, {pairs}. The dashed" in captions["difference-wear-erases-max"]
    wider = "the wider of Student's over 3 seeds and the one from batches of the runs"
    assert captions["compared-waf-bytes-1"] == f"Means over 3 seeds. Intervals are 95 %, {wider}. {UNSTEADY}"
    single = compared(1, POLICIES)
    alone = {one.name: one.caption for one in pictures_of(single.report)}
    assert alone["compared-waf-bytes-1"] == f"Intervals are 95 %, from batches of the run. {UNSTEADY}"
    assert difference_charts.interval_words(single, "waf_bytes") == "from batches over the same requests"
    assert alone["compared-wear-erases-max-1"] == UNSTEADY
    # Without an interval a mean is a mean, too.
    assert captions["compared-wear-erases-max-1"] == f"Means over 3 seeds. {UNSTEADY}"


def test_captions_of_sweeps_say_what_intervals_are_of(tmp_path: Path) -> None:
    swept = floatgate.sweep(SMALL, {"ftl.spare_factor": [0.2, 0.3]}, out=tmp_path / "sw", repeat=2, jobs=1)
    captions = {one.name: one.caption for one in pictures_of(swept.report)}
    assert captions["varied-waf-bytes-1"].startswith("Means over 2 seeds. Intervals are 95 %, the wider of Student's")
    assert captions["varied-wear-erases-max-1"].startswith(
        "Means over 2 seeds. Intervals are 95 %, Student's over 2 seeds."
    )


def trace_of(folder: Path) -> str:
    """An experiment on a trace, whose seed draws the first state of the drive."""
    trace = folder / "t.csv"
    writes = [f"{(number * 7919) % 12000 * 8},4096,W,{number * 0.001:.4f}" for number in range(20000)]
    trace.write_text("".join(f"0,{line}\n" for line in writes))
    keys = "[workload]\nkind = 'trace'\nrepeat = 8\nwarmup_passes = 4\nformat = 'spc'\n"
    return f"[drive]\ncapacity = '64 MiB'\n[ftl]\nprecondition = 'random'\n{keys}file = '{trace}'\n"


def test_seeds_on_a_trace_that_agree_make_no_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They share the trace: that they agree does not say what another trace would change."""
    monkeypatch.setattr(seed_stats, "ALIKE", 0.3)  # on so small a drive they differ by some percent
    done = floatgate.compare(trace_of(tmp_path), {"ftl.collect.policy": ["greedy", "fifo"]}, repeat=3)
    shared = "Seeds share the trace: the intervals of other metrics than WAF cover what a seed changes on the drive"
    assert shared in done.text()
    entry = done.difference(done.settings[1])
    assert entry is not None
    worn = entry["figures"]["wear.erases_max"]
    assert (worn["difference_95"], worn["seeds_agree"]) == (None, True)
    assert worn["difference"] != 0.0
    assert entry["waf_95"] is not None
    captions = {one.name: one.caption for one in pictures_of(done.report)}
    caption = captions["difference-wear-erases-max"]
    assert caption.startswith("The dashed line is no difference. No interval: the seed changes almost nothing here")
    rows = table_of(drawn_of(done)["difference-wear-erases-max"].draw(560).to_dict())
    assert [row["ftl.collect.policy"] for row in rows if row["label"]] == ["fifo"]
    assert "low" not in rows[0]
    swept = floatgate.sweep(
        trace_of(tmp_path), {"ftl.collect.policy": ["greedy"]}, out=tmp_path / "sw", repeat=3, jobs=1
    )
    assert any(note.startswith(shared) for note in swept.notes())
    (row,) = swept.settings()
    assert "wear.erases_max.low" not in row
    assert "waf_bytes.low" in row


def test_seeds_agree_to_three_digits() -> None:
    assert seed_stats.agree([1.0, 1.0005, 1.0], drawn=False)
    assert seed_stats.agree([0.0, 0.0], drawn=False)
    assert not seed_stats.agree([1.0, 1.002], drawn=False)
    assert not seed_stats.agree([1.0], drawn=False)
    # What a generator draws is another workload with each seed.
    assert not seed_stats.agree([1.0, 1.0], drawn=True)


def test_captions_name_settings_that_are_not_steady(tmp_path: Path) -> None:
    begun = "[drive]\ncapacity = '64 MiB'\n[workload]\nrequests = 40000\n"
    vary: dict[str, list[object]] = {"workload.warmup_requests": [0, 100_000]}
    done = floatgate.compare(begun, vary, repeat=2)
    why = [setting.result["evidence"]["why"] for setting in done if setting.result is not None]
    assert why == ["not stationary", None]
    captions = {one.name: one.caption for one in pictures_of(done.report)}
    named = [name for name in captions if captions[name].endswith("0: no steady WAF yet.")]
    assert {"compared-waf-bytes-1", "compared-wear-erases-max-1", "difference-wear-erases-max"} <= set(named), captions
    swept = floatgate.sweep(begun, vary, out=tmp_path / "sw", jobs=1)
    assert [row.get("unsteady") for row in swept.settings()] == [True, None]
    captions = {one.name: one.caption for one in pictures_of(swept.report)}
    assert captions["varied-waf-bytes-1"].endswith("0: no steady WAF yet.")


def test_zero_stands_on_the_axis(comparison: Comparison) -> None:
    chart = drawn_of(comparison)["difference-waf-bytes"].draw(560).to_dict()
    zero, interval, point = chart["layer"]
    assert zero["data"]["values"] == [{"at": 0}]
    assert zero["mark"]["type"] == interval["mark"]["type"] == "rule"
    assert point["mark"]["type"] == "point"
    assert zero["encoding"]["x"]["scale"]["zero"] is True


def test_without_intervals_nothing_is_drawn() -> None:
    # One short run each: neither seeds nor batches give an interval.
    assert drawn_of(compared(1, POLICIES[:2])) == {}


def test_identical_settings_differ_by_nothing() -> None:
    same = floatgate.compare(SMALL, {"ftl.spare_factor": [0.1, 0.10]}, repeat=2)
    rows = table_of(drawn_of(same)["difference-waf-bytes"].draw(560).to_dict())
    assert {(row["difference"], row["low"], row["high"]) for row in rows if row["label"]} == {("0.0", "0.0", "0.0")}


def test_titles_and_labels_fit_a_narrow_figure() -> None:
    """In a wide font 36 letters of a title are wider than the plot, but not than the figure."""
    rows = [{"label": "cost-benefit", "difference": -0.02782, "low": -0.02831, "high": -0.02733}]
    for width, parts in ((321, ["\N{MINUS SIGN}0.02782", "± 0.00049"]), (560, ["\N{MINUS SIGN}0.02782 ± 0.00049"])):
        zero, _, point = difference_charts.forest(rows, WAF, width).to_dict()["layer"]
        axis = zero["encoding"]["x"]["axis"]
        assert (axis["titleAnchor"], axis["titleLimit"]) == ("end", width - 16)
        assert 7.9 * len("difference, flash bytes per host byte") < axis["titleLimit"]
        # Ticks are whole numbers where they can be: -10 beside -8, not -1e+1.
        assert axis["format"] == "+~r"
        labels = json.loads(point["encoding"]["y"]["axis"]["labelExpr"].removesuffix("[datum.label]"))
        assert labels == {"cost-benefit": ["cost-benefit", *parts]}


def test_amounts_that_fit_share_a_line() -> None:
    rows = [{"label": str(place), "difference": -0.64, "low": -0.65, "high": -0.63} for place in range(8)]
    chart = difference_charts.forest(rows, WAF, 321).to_dict()
    labels = json.loads(chart["layer"][2]["encoding"]["y"]["axis"]["labelExpr"].removesuffix("[datum.label]"))
    assert labels["0"] == ["0", "\N{MINUS SIGN}0.640 ± 0.010"]
    # At 85 mm (321 px) eight settings take no more than 100 mm.
    assert chart["height"] * 85 / 321 < 100


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"difference": 0.026, "low": 0.024, "high": 0.028}, "+0.0260 ± 0.0020"),
        ({"difference": -12.5, "low": -20.0, "high": -5.0}, "\N{MINUS SIGN}12.5 ± 7.5"),
        ({"difference": 120.0, "low": 100.0, "high": 140.0}, "+120 ± 20"),
        ({"difference": 0.0, "low": 0.0, "high": 0.0}, "+0 ± 0"),
        ({"difference": 0.5}, "+0.5"),
    ],
)
def test_differences_as_text(row: dict[str, float], text: str) -> None:
    assert " ".join(part for part in difference_charts.amount(row) if part) == text


def test_of_many_settings_the_ends_are_drawn() -> None:
    rows = [{"label": str(number), "difference": float((number * 7) % 30)} for number in range(30)]
    kept = difference_charts._ends(rows)
    assert len(kept) == BARS_MAX
    ranked = sorted(float((number * 7) % 30) for number in range(30))
    assert [row["difference"] for row in kept] == [*ranked[: BARS_MAX // 2], *ranked[-(BARS_MAX // 2) :]]
    assert "of 30" in difference_charts._caption(rows)
    assert "of" not in difference_charts._caption(rows[:3])


def test_names_of_settings_may_hold_anything() -> None:
    rows = [{"label": "a\"b'\\|</svg>ü", "difference": 1.0, "low": 0.5, "high": 1.5}]
    svg = pictures.drawn(difference_charts.forest(rows, WAF, 400).to_dict(), "t", pictures.Style())["svg"].decode()
    assert "a\"b'\\|&lt;/svg&gt;ü" in svg.replace("&quot;", '"').replace("&apos;", "'")
    assert "+1.00" in svg
    assert "± 0.50" in svg
