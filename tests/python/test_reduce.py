"""Deduplication and compression in summaries, comparisons and reports; contents of twins; docs/reduce.md."""

from __future__ import annotations

import copy
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import floatgate
from floatgate.pages.page import rendered_parts
from floatgate.report import summary
from floatgate.report.sections import energy, reduce
from floatgate.run.run import Run
from scripts_as_modules import loaded

ROOT = Path(__file__).parents[2]
SETTINGS: dict[str, Any] = {
    "drive.capacity": "64 MiB",
    "drive.geometry.pages_per_block": 64,
    "ftl.spare_factor": 0.2,
    "ftl.precondition": "random",
    "workload.requests": 60_000,
    "workload.rate_per_s": 1000.0,
    "workload.duplicate_share": 0.3,
    "workload.compressed_share": 0.4,
    "lifetime.reduce.policy": "both",
    "lifetime.reduce.index_share": 1.0,
}
CHOICES = {"none": 2, "dedup": 2, "compress": 0, "both": 6}
MANAGER: dict[str, Any] = {
    "epoch_s": 300,
    "epochs": 10,
    "throttled_epochs": 1,
    "over_time": [
        {
            "from_s": 600.0 * row,
            "to_s": 600.0 * (row + 1),
            "epochs": 2,
            "dedup_share": min(1.0, row / 2),
            "compress_share": float(row > 1),
            "throttle_share": 0.5 if row == 4 else 0.0,
            "demand_bytes": 2e9 + 1e8 * row,
            "capacity_bytes": 1.5e9,
            "dedup_ratio": None if row == 0 else 0.8,
            "compress_ratio": None if row == 0 else 0.6,
        }
        for row in range(5)
    ],
}


@pytest.fixture(scope="module")
def both() -> Run:
    """A run with both schemes."""
    return floatgate.run(SETTINGS)


@pytest.fixture(scope="module")
def managed(both: Run) -> dict[str, Any]:
    """The result of that run with what a manager would add."""
    result = both.result.to_dict()
    return {**result, "reduce": {**result["reduce"], "manager": MANAGER, "epochs_by_choice": CHOICES}}


def made_up(**facts: Any) -> dict[str, Any]:
    """A result with a table ``reduce``."""
    plain = {"policy": "both", "host_pages": 52_000, "hashed_pages": 52_000, "compressed_pages": 28_000}
    ratios = {"written_ratio": 0.362, "duplicate_share": 0.462, "chunk_ratio": 0.671, "energy_ratio": 0.449}
    return {"reduce": plain | ratios | facts, "config": {"drive": {"energy": {"program_uj": 29.1}}}}


def test_the_line_says_what_matters_first() -> None:
    assert reduce.line(made_up()) == (
        "0.36 of the host's pages are programmed: 46 % are duplicates, compression reduces the rest to 67 %; "
        "0.45 of the energy of programming every page, hash and compressor included"
    )
    alone = made_up(policy="compress", duplicate_share=None, hashed_pages=0)
    assert reduce.line(alone) == (
        "0.36 of the host's pages are programmed: compression reduces them to 67 %; "
        "0.45 of the energy of programming every page, compressor included"
    )
    partly = str(reduce.line(made_up(unknown_share=0.92)))
    assert (
        "compression reduces the rest to 67 %, what 92 % of them hold is unknown and counts as new and incompressible;"
        in partly
    )
    assert "unknown" not in str(reduce.line(made_up(unknown_share=0.001)))
    sampled = str(reduce.line(made_up(hashed_pages=520)))
    assert "46 % of those looked at are duplicates" in sampled


def test_what_merged_in_a_waiting_chunk_is_no_gain_of_compression() -> None:
    """A buffer saves such writes, too, and drives of the catalogue have none."""
    merged = made_up(policy="compress", duplicate_share=None, hashed_pages=0, rewritten_pages=22_880)
    assert reduce.merged_share(merged) == 0.44
    assert reduce.line(merged) == (
        "0.36 of the host's pages are programmed: 44 % were overwritten while their chunk waited (a DRAM buffer would "
        "save these writes, too, and this drive has none: drive.buffer), compression reduces the rest to 67 %; "
        "0.45 of the energy of programming every page, compressor included"
    )
    merged["config"]["drive"]["buffer"] = {"capacity": "1 MiB"}
    assert "44 % were overwritten while their chunk waited, compression" in str(reduce.line(merged))
    assert "overwritten" not in str(reduce.line(made_up(rewritten_pages=500)))


def test_few_pages_are_said_to_be_few() -> None:
    assert str(reduce.line(made_up(host_pages=312))).endswith("(of 312 pages only, which say little)")
    assert reduce.line(made_up(host_pages=0, written_ratio=None)) == "both: the host wrote no pages"


@pytest.mark.parametrize("table", [{}, {"reduce": None}, {"reduce": {"policy": "none", "host_pages": 9}}])
def test_without_a_reducer_nothing_is_said(table: dict[str, Any]) -> None:
    assert (reduce.line(table), reduce.remark(table), reduce.manager(table)) == (None, None, None)
    assert reduce.cells(table) == ["-"] * len(reduce.HEADER)


def test_an_index_that_forgets_is_named() -> None:
    index = {"entered": 1000, "evicted": 300}
    remark = reduce.remark(made_up(index=index))
    assert remark is not None
    assert remark.startswith("the content index forgot 30 % of the contents that entered it (a larger ")
    assert reduce.remark(made_up(index={**index, "evicted": 10})) is None


def test_the_summary_has_the_line_of_a_run(both: Run) -> None:
    facts = both.result.to_dict()["reduce"]
    named = dict(summary.lines(both))
    assert named["reduce"].startswith(f"{facts['written_ratio']:.2f} of the host's pages are programmed: 30 % are ")
    assert facts["written_ratio"] < 0.5


def test_the_interval_of_a_waf_below_1_holds_it() -> None:
    run = floatgate.run(SETTINGS | {"workload.requests": 300_000})
    result = run.result.to_dict()
    low, high = result["waf_95"]
    assert low <= result["waf"] <= high
    assert result["waf"] < 1


@pytest.fixture(scope="module")
def page(both: Run) -> str:
    return both.report()


def test_energy_of_engines_alone_is_not_called_the_energy_of_the_drive(both: Run, page: str) -> None:
    result = both.result.to_dict()
    assert result["energy"]["by_operation_j"]["program"] is None
    assert energy.line(result) is None
    assert 'class="card"><span>energy' not in page
    assert "Hash and compressor only: the drive does not say what flash takes." in page
    reads = {**result["energy"], "by_operation_j": {**result["energy"]["by_operation_j"], "read": 1.0}}
    assert "programs not counted" in str(energy.line({**result, "energy": reads}))
    known = floatgate.run(SETTINGS | {"drive.energy.program_uj": 29.1}).result.to_dict()
    assert "not counted" not in str(energy.line(known))


def test_the_manager_in_words(managed: dict[str, Any]) -> None:
    assert reduce.manager(managed) == (
        "of 10 epochs of 300 s, 60 % with both schemes, 20 % with deduplication, 20 % with neither; 10 % throttled"
    )


def test_the_report_draws_it(both: Run, page: str, managed: dict[str, Any]) -> None:
    plain = rendered_parts(reduce.parts(both, both.result.to_dict()))
    for text in ("Deduplication and compression", "Written ratio over time", "most pages that shared one content"):
        assert text in plain
    assert "could not be drawn" not in plain
    assert "Schemes at work" not in plain
    drawn = rendered_parts(reduce.parts(both, managed))
    for text in ("Schemes at work", "Demand and capacity", "Predicted written ratios", "10 % throttled."):
        assert text in drawn
    assert "could not be drawn" not in drawn
    assert plain in page


def test_a_report_without_a_reducer_has_no_such_section(small_run: Run) -> None:
    assert "Deduplication and compression" not in small_run.report()


def test_the_strip_shows_when_each_scheme_was_on() -> None:
    data = [values for values in _data(reduce.schemes(MANAGER["over_time"])) if "share" in values[0]]
    (cells,) = data
    # Rows of ten minutes, in minutes; neighbours that are alike are one cell.
    strips = {name: [cell for cell in cells if cell["scheme"] == name] for name in reduce.SCHEMES.values()}
    spans = [(cell["from"], cell["to"], cell["share"]) for cell in strips["deduplication"]]
    assert spans == [(0.0, 10.0, 0.0), (10.0, 20.0, 0.5), (20.0, 50.0, 1.0)]
    assert [cell["to"] for cell in strips["throttling"]] == [40.0, 50.0]


def test_the_picture_of_ratios_adds_up_to_the_ratio_of_the_run(both: Run) -> None:
    series = both.series.to_pydict()
    programmed = sum(series["programs_host"]) + sum(series["programs_partial"])
    ratio = programmed / sum(series["page_writes"])
    assert ratio == pytest.approx(both.result.to_dict()["reduce"]["written_ratio"], rel=1e-9)


def _data(chart: Any) -> list[list[dict[str, Any]]]:
    return [layer["data"]["values"] for layer in chart.to_dict()["layer"]]


def test_a_comparison_has_columns_and_a_note() -> None:
    settings = {key: value for key, value in SETTINGS.items() if not key.startswith("lifetime.reduce.")}
    comparison = floatgate.compare(settings, {"lifetime.reduce.policy": ["none", "dedup", "compress", "both"]})
    header, rows = comparison.rows()
    at = header.index("written ratio")
    assert header[at : at + 4] == reduce.HEADER
    assert rows[0][at] == "-"
    ratios = [float(row[at]) for row in rows[1:]]
    assert ratios[2] < ratios[1] < ratios[0] < 1
    assert reduce.READING in comparison.text()
    assert "Written ratio: programs of host writes" in comparison.report()
    plain = floatgate.compare(settings, {"seed": [1]})
    assert reduce.READING not in plain.text()


@pytest.mark.parametrize(
    ("twin", "dedup", "compress"), [("wksn", 0.82, 0.55), ("media", 0.997, 0.987), ("dvmt", 1.0, 0.9)]
)
def test_contents_of_twins_give_the_ratios_of_the_paper(twin: str, dedup: float, compress: float) -> None:
    content = tomllib.loads((ROOT / f"configs/twins/{twin}.toml").read_text("utf-8"))["content"]
    hard = content.get("incompressible_share", 0.0)
    mean = (content["compressed_share"] - hard) / (1 - hard)
    # 20,000 chunks: a standard error of at most 0.002.
    draws = np.random.default_rng(5).random((20_000, 4, 3))
    assert loaded("fit_content").written_ratio(draws, mean, hard) == pytest.approx(compress, abs=0.008)
    assert 1 - content["duplicate_share"] == pytest.approx(dedup)
    # The program finds them, too: duplicates by its index, sizes of its own model, chunks in its FTL.
    settings = {
        "drive.preset": "mlc-20nm",
        "drive.capacity": "64 GiB",
        "workload.kind": "twin",
        "workload.twin": twin,
        "workload.requests": 40_000,
        "ftl.precondition": "none",
    }
    for policy, ratio in (("dedup", dedup), ("compress", compress), ("both", dedup * compress)):
        result = floatgate.run(settings | {"lifetime.reduce.policy": policy}).result.to_dict()
        assert result["reduce"]["written_ratio"] == pytest.approx(ratio, abs=0.01)


def test_the_page_names_what_there_is() -> None:
    page = (ROOT / "docs/reduce.md").read_text("utf-8")
    for name in re.findall(r"`(?:docs|scripts|traces|configs|crates|python)/[\w./-]+`", page):
        assert (ROOT / name.strip("`")).exists(), name
    catalogue = (ROOT / "docs/policies.md").read_text("utf-8")
    for name in re.findall(r"`lifetime\.reduce\.(\w+)`", page):
        assert name == "policy" or f"`{name}`" in catalogue, name


def test_a_run_shorter_than_the_managers_epochs_says_so(managed: dict[str, Any]) -> None:
    short = copy.deepcopy(managed)
    short["throttle"] = {"policy": "integrated", "epochs": 1, "epoch_s": 300.0}
    remarks = [one for one in summary.remarks(short) if "decides at the end of an epoch" in one]
    assert len(remarks) == 1
    assert remarks[0].startswith("integrated decides at the end of an epoch of 300 s, and the run has had 1 in ")
    short["throttle"]["epochs"] = 3
    assert not [one for one in summary.remarks(short) if "decides at the end of an epoch" in one]


@pytest.mark.parametrize("page_bytes", [4096, 16384])
def test_what_a_program_takes_is_assumed_by_size_and_said_to_be(page_bytes: int) -> None:
    settings = {
        "drive.geometry.page_bytes": page_bytes,
        "drive.geometry.blocks_per_plane": 64,
        "workload.request_bytes": page_bytes,
        "workload.requests": 4000,
        "lifetime.reduce.policy": "compress",
        "workload.compressed_share": 0.5,
    }
    assumed = floatgate.run(set=settings).result.to_dict()
    stated = floatgate.run(set={**settings, "drive.energy.program_uj": 29.1 * page_bytes / 4096}).result.to_dict()
    assert assumed["reduce"]["energy_ratio"] == pytest.approx(stated["reduce"]["energy_ratio"], rel=1e-12)
    assert "29.1 uJ for each 4 KiB" in str(reduce.line(assumed))
    assert "29.1 uJ" not in str(reduce.line(stated))
