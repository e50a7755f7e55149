"""The reports: self-contained, complete, and the same for the same cause everywhere."""

from __future__ import annotations

import ast
import html.parser
import re
from pathlib import Path
from typing import Any

import pytest

import floatgate
import page_scripts
from conftest import SMALL
from floatgate import _core
from floatgate.pages import causes, palette
from floatgate.pages.causes import BACKGROUND, CAUSES, PATTERNS, by_cause, cause
from floatgate.pages.page import rendered_parts
from floatgate.pages.parts import Cards
from floatgate.results import timeline

COMMAND = "floatgate run small.toml --set 'a=<b>'"


class Page(html.parser.HTMLParser):
    """The content of a page: balanced tags, ids, and fetched resources."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.references: list[str] = []
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("src", "href", "xlink:href", "data", "action"):
                self.references.append(value or "")


@pytest.fixture(scope="module")
def report(small_run: floatgate.Run) -> str:
    return small_run.report(COMMAND)


def test_nothing_is_fetched_and_only_charts_run(report: str) -> None:
    page = Page(report)
    assert page_scripts.specifications(report)
    report = page_scripts.without_scripts(report)
    assert [place for place in page.references if not place.startswith(("data:", "#"))] == []
    assert "@import" not in report
    addresses = set(re.findall(r"https?://[^\"' <>)]+", report))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert re.findall(r"url\((?!#)", report) == []


def test_ids_are_unique_and_every_reference_has_its_target(report: str) -> None:
    page = Page(report)
    assert len(page.ids) == len(set(page.ids))
    assert set(re.findall(r"url\(#([^)]+)\)", report)) <= set(page.ids)


def test_it_holds_what_the_contract_lists(report: str, small_run: floatgate.Run) -> None:
    for heading in (
        "Programs and time by cause",
        "Over time",
        "Distributions",
        "What the model leaves out",
        "How to repeat it",
        "Resolved experiment",
    ):
        assert f"<h2>{heading}</h2>" in report
    for title in ("Write amplification", "Programs by cause", "Wear", "Valid pages", "Free blocks"):
        assert f"<b>{title}</b>" in report
    for unit in ("time, ", "share of the total", "erases of a block", "valid pages of a closed block", "free blocks"):
        assert f">{unit}" in report
    assert f"{small_run.waf:.2f}" in report
    assert small_run.config_hash in report
    assert f"seed {small_run.seed}" in report
    assert floatgate.__version__ in report
    assert all(text in report for text in small_run.not_modelled)
    assert "floatgate run small.toml --set &#39;a=&lt;b&gt;&#39;" in report
    assert "floatgate run experiment.toml" in report


def test_text_takes_the_colour_of_the_page_and_causes_have_patterns(report: str) -> None:
    assert palette.INK not in report.split("</style>")[1]
    assert "currentColor" in report
    assert 'fill="url(#cause-gc)"' in report
    assert f'fill="{CAUSES["host"].color}"' in report


def test_charts_are_drawn_for_wide_and_narrow_pages(report: str) -> None:
    widths = [int(float(width)) for width in re.findall(r'<svg [^>]*?width="(\d+(?:\.\d+)?)" height', report)]
    assert max(widths) <= 560
    assert widths.count(328) == widths.count(560) >= 5
    assert 'name="viewport"' in report


def test_rest_of_blocks_is_drawn_where_there_is_time(report: str) -> None:
    assert "<b>Rest of blocks</b>" in report
    assert ">time between two erases of a block, seconds" in report
    rested = {"workload.rate_per_s": 0.01, "ftl.precondition": "steady", "drive.endurance.model": "ready-table2"}
    text = floatgate.run(SMALL, set=rested).report()
    assert ">time between two erases of a block, days" in text
    assert re.search(r"\d+ P/E cycles at [\d.]+ days of rest, 3000 nominal", text)
    assert "<b>Rest of blocks</b>" not in floatgate.run(SMALL, set={"workload.requests": 1}).report()


def test_throttling_is_drawn_over_time(report: str) -> None:
    assert "<h2>Throttle</h2>" not in report
    run = floatgate.run(SMALL, set={"lifetime.throttle.policy": "ready-pessimistic"})
    text = run.report()
    assert "<h2>Throttle</h2>" in text
    assert "<b>Throttling over time</b>" in text
    assert "times the epoch length was chosen again" in text
    held = sum(run.series["held_back_s"].to_pylist())
    assert held == pytest.approx(run.result["throttle"]["held_back_s"])
    assert held > 0


def test_several_devices_have_a_table(trace: Any) -> None:
    run = floatgate.run(trace=trace, set={"drive.capacity": "64 MiB"})
    text = run.report()
    assert "Devices of the trace" in text
    assert "usr_1" in text


def test_one_device_needs_no_table(report: str) -> None:
    assert "Devices of the trace" not in report


def test_a_run_of_one_request_has_a_report() -> None:
    text = floatgate.run(SMALL, set={"workload.requests": 1}).report()
    assert "Resolved experiment" in text


def test_a_comparison_has_a_report() -> None:
    done = floatgate.compare(SMALL, {"ftl.collect.policy": ["greedy", "fifo"], "drive.endurance.pe_cycles": [3000, 1]})
    text = done.report("floatgate compare x")
    page_scripts.without_scripts(text)
    assert "Failed: ftl.collect.policy" in text
    assert "Differences are against greedy at the same drive.endurance.pe_cycles;" in text
    assert "floatgate compare x" in text


def test_causes_come_in_one_order_with_unknown_ones_last() -> None:
    counts = {"total": 6, "zeta": 1, "gc": 2, "host": 3, "partial": 0}
    assert by_cause(counts) == [("host", 3), ("gc", 2), ("zeta", 1)]
    assert cause("zeta_x").label == "zeta x"
    looks = [(entry.color, entry.pattern) for entry in CAUSES.values()]
    assert len({color for color, _ in looks}) == len({pattern for _, pattern in looks}) == len(looks)


def test_causes_are_those_of_the_core(small_run: floatgate.Run) -> None:
    table = _core.causes()
    assert {name: (entry.label, entry.color, entry.pattern) for name, entry in CAUSES.items()} == {
        name: (label, color, pattern) for name, label, _, _, _, color, pattern in table
    }
    assert {pattern for *_, pattern in table} - {""} <= set(PATTERNS)
    every, erasing = [name for name, *_ in table], [name for name, _, _, erases, *_ in table if erases]
    assert [*timeline.CAUSES] == every
    assert {*erasing} <= BACKGROUND
    # Results and series have a key a cause, in the order of the table.
    flash = small_run.result.to_dict()["flash"]
    for figure, names in (("programs", every), ("reads", every), ("time_s", every), ("erases", erasing)):
        assert [*flash[figure]] == [*names, "total"], figure
    columns = small_run.series.column_names
    for figure, names in (("programs", every), ("erases", erasing)):
        assert [name for name in columns if name.startswith(f"{figure}_")] == [f"{figure}_{name}" for name in names]


def test_no_cause_is_listed_beside_the_table() -> None:
    """Two names or labels of causes in one literal are a list that a new cause would have to be added to.

    Groups of causes stand beside the table itself, in ``pages/causes.py``.
    """
    names = {*CAUSES} - {"host"}
    labels = {entry.label for entry in CAUSES.values()} - {"host"}
    for path in (Path(floatgate.__file__).parent).rglob("*.py"):
        if path == Path(causes.__file__):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Tuple, ast.List, ast.Set, ast.Dict)):
                items = (node.keys if isinstance(node, ast.Dict) else node.elts) or []
                literals = {item.value for item in items if isinstance(item, ast.Constant)}
                assert max(len(literals & names), len(literals & labels)) < 2, f"{path.name}:{node.lineno}"


def test_keys_in_tiles_break_behind_their_dots() -> None:
    text = rendered_parts([Cards([("life", "3.5 years", "95 %: 1.5-2.5 (workload.requests = 4 & <b>)")])])
    assert "95 %: 1.5-2.5 (workload.<wbr>requests = 4 &amp; &lt;b&gt;)" in text
