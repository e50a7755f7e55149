"""Searches in reproductions, and matrices of pairs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checked_charts import check
from floatgate.base.errors import InputError, RunError
from floatgate.papers import Settings, load, reproduce
from floatgate.papers.matrices import HARM, HELP, matrix
from floatgate.papers.searches import search_of, searched

PAPER = """
title = "Searched"
source = "A. Nobody, 2026"
[workload.even]
set = { "workload.pattern" = "uniform" }
[variant.as-it-is]
[[batch]]
name = "best"
command = "tune"
[batch.search]
vary = ["ftl.spare_factor=0.1,0.2,0.3"]
maximise = "lifetime.years"
not_above = ["waf"]
trials = 10
[[batch]]
name = "run"
command = "run"
"""
EXPERIMENT = """
seed = 1
[drive.geometry]
blocks_per_plane = 64
pages_per_block = 16
[ftl]
spare_factor = 0.2
[workload]
requests = 6000
rate_per_s = 100
"""
CLAIM = """
[[claim]]
id = "more-spare"
text = "More spare space lasts longer"
where = "here"
judge = "above"
value = "best.even.as-it-is.figures.{}"
over = "best.even.as-it-is.base.{}"
each = ["lifetime.years"]
than = 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a paper whose only batch but one is a search."""
    folder = tmp_path / "searched"
    folder.mkdir()
    for name, text in (("paper", PAPER), ("experiment", EXPERIMENT), ("claims", CLAIM)):
        (folder / f"{name}.toml").write_text(text, "utf-8")
    return folder


def test_a_search_finds_what_lasts_longest_within_its_bounds(folder: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    done = reproduce(load(str(folder)), Settings(), lambda so_far, total, _: seen.append((so_far, total)))
    search = done.findings.results["best"]["even"]["as-it-is"]
    assert search["best"] == {"ftl.spare_factor": 0.3}
    assert search["trials"] == 3
    assert search["figures"]["waf"] <= search["base"]["waf"]
    assert search["base"]["waf"] == done.findings.results["run"]["even"]["as-it-is"]["waf"]
    # Short runs report no progress of their own, and count nevertheless.
    assert seen[-1][0] == seen[-1][1]


def test_a_search_that_finds_nothing_is_a_run_that_failed(folder: Path) -> None:
    text = PAPER.replace("0.1,0.2,0.3", "0.05,0.1")
    (folder / "paper.toml").write_text(text, "utf-8")
    done = reproduce(load(str(folder)))
    assert len(done.failures) == 1
    assert "none of 2 settings keeps to waf <= " in done.failures[0]
    assert [one.holds for one in done.verdicts] == [None]


def test_optuna_is_asked_for_where_it_is_missing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    paper = load(str(folder))
    with pytest.raises(RunError, match=r"Optuna is not installed; expected the extra 'tune'"):
        searched(search_of(_search()), paper.experiment, lambda *_: None)


def _search(**changes: Any) -> dict[str, Any]:
    return {"vary": ["seed=1,2"], "maximise": "lifetime.years", "not_above": [], "trials": 2} | changes


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({**_search(), "minimise": "waf"}, "unknown key 'minimise' of search; expected 'vary', 'maximise', "),
        ({"vary": [], "maximise": "waf", "trials": 1}, "search has no 'not_above'; expected 'vary', "),
    ],
)
def test_a_search_that_makes_no_sense_is_refused(entry: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search_of(entry)


def test_a_wrong_search_says_where(folder: Path) -> None:
    text = PAPER.replace("trials = 10", "")
    (folder / "paper.toml").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"paper\.toml: batch 'best': search has no 'trials'"):
        load(str(folder))


def test_a_matrix_marks_help_and_harm() -> None:
    values = {("a", "b"): 1.5, ("a", "c"): 1.0, ("b", "c"): 0.5}
    chart = matrix(values, ["a", "b", "c"], 360).to_dict()
    rows = {row["text"]: row["kind"] for row in chart["layer"][0]["data"]["values"]}
    assert rows == {"1.50": HELP, "1.00": "as its parts", "0.50": HARM}
    bold = [layer for layer in chart["layer"] if layer["mark"].get("fontWeight") == "bold"]
    assert [row["text"] for layer in bold for row in layer["data"]["values"]] == ["0.50"]
    check(chart)
