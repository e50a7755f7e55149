"""Papers on data separation with traces of the user's: their texts, and which traces are too small."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import Cli
from floatgate.base.errors import InputError
from floatgate.papers import load
from floatgate.papers.ids import values as ids_values
from floatgate.papers.ids import workloads as ids_workloads
from floatgate.papers.judge import Findings
from floatgate.papers.pds import values
from floatgate.papers.pds import workloads as pds_workloads
from floatgate.run.run import execute
from floatgate.study.leaderboard import drives
from floatgate.trace import context_updates, library

PAGE = 4096


def write(path: Path, pages: int) -> Path:
    """A trace that writes so many pages three times over, with three contexts."""
    page = np.tile(np.arange(pages), 3)
    table = pa.table(
        {
            "time_ns": pa.array(np.arange(len(page)), pa.int64()),
            "device": pa.array(["0"] * len(page)),
            "op": pa.array(["write"] * len(page)),
            "offset": pa.array(page * PAGE, pa.uint64()),
            "bytes": pa.array(np.full(len(page), PAGE), pa.uint64()),
            "context": pa.array(1 + page % 3, pa.uint64()),
        }
    )
    pq.write_table(table, path)
    return path


def findings(workload: str, page_writes: int) -> Findings:
    """The findings of a run of HASH on its trace."""
    return Findings({"beside": {workload: {"hash": {"host": {"page_writes": page_writes}}}}})


@pytest.fixture
def uncounted() -> Iterator[None]:
    """Forget what was counted of recorded traces."""
    values._counted.cache_clear()
    yield
    values._counted.cache_clear()


def test_contexts_are_those_of_the_recorded_trace_and_of_no_other() -> None:
    recorded = context_updates.read(library.path(pds_workloads.RECORDED["gcc"]))
    counts = values.contexts(findings("gcc", recorded.pages), "gcc")
    assert counts["updates.gcc"] == recorded.updates > 0
    assert counts["updating.gcc"] == len(recorded.by_context)
    assert 0 < counts["sequential.gcc"] <= 1
    assert values.contexts(findings("gcc", recorded.pages + 1), "gcc") == {}
    assert values.contexts(Findings({}), "gcc") == {}


@pytest.mark.usefixtures("uncounted")
def test_contexts_of_a_trace_that_is_not_there_are_left_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(library, "FOLDER", tmp_path)
    with pytest.raises(InputError, match="the recorded trace 'gcc-build' is not there"):
        library.path("gcc-build")
    assert values.contexts(findings("gcc", 1), "gcc") == {}


@pytest.mark.long
def test_a_trace_of_the_users_is_judged_without_what_was_recorded(cli: Cli, tmp_path: Path) -> None:
    pages = ids_workloads.SMALLEST
    mine = write(tmp_path / "mine.parquet", pages)
    cli("reproduce", "ids", "--quick", "--trace", f"gcc={mine}", "--out", "o", "--no-report").done()
    answer = json.loads((tmp_path / "o" / "reproduce.json").read_text())
    assert answer["failures"] == []
    [programs] = (table for table in answer["tables"] if table["id"] == "table-10")
    cells = {row["keys"][0]: [cell["ours"] for cell in row["cells"]] for row in programs["rows"]}
    assert cells["gcc"][:2] == [3 * pages, None]
    assert cells["cscope"][1] > 0


@pytest.mark.parametrize(
    ("paper", "workload", "smallest", "separators"),
    [
        ("ids", "gcc", ids_workloads.SMALLEST, ["hash", "pds-16", "ids", "ora-3"]),
        (
            "separation",
            "gcc-build",
            drives.SMALLEST,
            ["ids", "pds", "host-gc"],
        ),
    ],
)
def test_the_smallest_trace_runs_and_a_smaller_one_is_refused(
    cli: Cli, tmp_path: Path, paper: str, workload: str, smallest: int, separators: list[str]
) -> None:
    chosen = load(paper)
    enough = write(tmp_path / "enough.parquet", smallest)
    prepared = chosen.prepare([workload], {workload: str(enough)}, tmp_path)
    for separator in separators:
        own = prepared.get(f"settings.{workload}.{separator}", [])
        variant = chosen.variants[separator].overrides
        execute(chosen.experiment.with_overrides([*prepared[workload], *variant, *own]))
    tiny = write(tmp_path / "tiny.parquet", smallest - 1)
    error = cli("reproduce", paper, "--trace", f"{workload}={tiny}").refused()
    assert f"{tiny}: writes {smallest - 1:,} different pages of 4 KiB; expected at least {smallest:,}" in error
    assert "a longer trace" in error


def test_pds_takes_a_trace_of_one_page(tmp_path: Path) -> None:
    """Its drive is made for the open blocks in any case."""
    one = write(tmp_path / "one.parquet", 1)
    chosen = load("pds")
    settings = pds_workloads.prepare(["gcc"], {"gcc": str(one)}, tmp_path)["gcc"]
    for separator in ("hash", "pds", "ora-3"):
        execute(chosen.experiment.with_overrides([*settings, *chosen.variants[separator].overrides]))


def _collected(time_s: float) -> dict[str, Any]:
    return {"gc": {"time_s": time_s, "copied_pages": 1, "copied_pages_per_victim": 1, "dead_victims": 0, "victims": 1}}


def test_figures_are_means_of_the_seeds_and_levels_that_were_run() -> None:
    """A quick reproduction runs one of each; where a run of one failed there is no mean."""
    for batches, mean in ((("over-1",), 2.0), (("over-1", "over-3"), 3.0)):
        results = {batch: {"gcc": {"hash": _collected(2.0 * (n + 1))}} for n, batch in enumerate(batches)}
        made = values.values(Findings(results))
        assert made["over.gcc.hash.time_s"] == mean
        assert made["over.gcc.hash-sized.time_s"] is None
    levels = {"garbage-10": {"gcc": {"none": _collected(1)}}, "garbage-15": {"gcc": {"hash": _collected(4)}}}
    made = ids_values.values(Findings({"garbage-15": levels["garbage-15"]}))
    assert made["level.gcc.hash.time_s"] == made["level.gcc.hash.erased"] * 4
    assert ids_values.values(Findings(levels))["level.gcc.hash.time_s"] is None
