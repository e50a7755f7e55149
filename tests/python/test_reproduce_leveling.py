"""``floatgate reproduce leveling``: lives of blocks, and the claims about every leveler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from floatgate.papers import load
from floatgate.papers.judge import Findings, judge
from floatgate.papers.leveling.figures import figures
from floatgate.papers.leveling.values import LEVELERS, SEEDS, life, pair, values
from floatgate.papers.tables import filled
from floatgate.run.run import execute

SMALL = [
    ("drive.geometry.blocks_per_plane", "32"),
    ("ftl.spare_factor", "0.2"),
    ("workload.requests", "2000000"),
]


@pytest.fixture(scope="module")
def run_of() -> dict[str, dict[str, Any]]:
    """One small run of each leveler where half of the data are static."""
    paper = load("leveling")
    base = paper.experiment.with_overrides([*paper.workloads["static"].overrides, *SMALL])
    return {
        name: execute(base.with_overrides(variant.overrides)).result.to_dict()
        for name, variant in paper.variants.items()
    }


@pytest.fixture(scope="module")
def made(run_of: dict[str, dict[str, Any]]) -> Findings:
    """These runs in the place of all others."""
    results = {batch.name: dict.fromkeys(batch.workloads, run_of) for batch in load("leveling").batches}
    findings = Findings(results)
    findings.values.update(values(findings))
    return findings


def test_blocks_that_endure_the_same_die_by_their_erases() -> None:
    assert life([(250.0, 10)], cycles=1000, spread=0, reserve=0.025) == pytest.approx(4)
    # One of a hundred is not enough for the reserve, three are.
    assert life([(500.0, 1), (250.0, 99)], cycles=1000, spread=0, reserve=0.025) == pytest.approx(4)
    assert life([(500.0, 3), (250.0, 97)], cycles=1000, spread=0, reserve=0.025) == pytest.approx(2)
    # Half of the blocks lead the mean of 200 by 50, however long it goes on: that mean may come to 950.
    assert life([(150.0, 5), (250.0, 5)], cycles=1000, spread=0, reserve=0.025, growth=0) == pytest.approx(950 / 200)


def test_the_weakest_blocks_end_an_even_drive() -> None:
    # 2.5 % of a normal distribution lie below 1.96 standard deviations.
    assert life([(250.0, 10)], cycles=1000, spread=0.1, reserve=0.025) == pytest.approx(4 * (1 - 0.196), rel=1e-3)


def test_evening_out_gains_less_where_endurance_spreads() -> None:
    even, uneven = [(500.0, 100)], [(400.0, 50), (600.0, 50)]
    gains = [
        life(even, cycles=1000, spread=spread, reserve=0.025) / life(uneven, cycles=1000, spread=spread, reserve=0.025)
        for spread in (0, 0.1)
    ]
    assert gains[0] == pytest.approx(1.2)
    assert 1 < gains[1] < gains[0]


def test_every_claim_is_judged_and_every_table_filled(made: Findings) -> None:
    paper = load("leveling")
    # All drives and seeds are alike here: there is no difference between them.
    assert {claim.id for claim in paper.claims if judge(claim, made).holds is None} == {"more-spare", "apart"}
    assert all(claim.rule["topic"] and claim.rule["decided_by"] for claim in paper.claims)
    for table in paper.tables:
        assert all(cell["ours"] is not None for row in filled(table, made)["rows"] for cell in row["cells"])
    assert len(paper.tables[0]["row"]) == 5 * 2 * (1 + len(LEVELERS))
    [figure] = figures(made)
    assert len(figure.draw(600).to_dict()["concat"]) == 5


def test_none_is_the_measure(made: Findings) -> None:
    for key in ("first_gain", "average_gain", "off_gain", "on_gain"):
        assert made.look(f"{key}.7.static.none") == 1
    assert made.look("acted.7.static.none") is False
    assert made.look("acted.7.static.gap") is True
    assert made.look("std_ratio.7.static.gap") < 1


def test_a_difference_whose_interval_holds_0_is_none() -> None:
    # The differences have either sign, and 0 is within the interval of their mean.
    assert pair([0.2, 0.4, 0.3, 0.25, 0.35], [0.3] * 5) == pytest.approx((0.3, 0.3))
    assert pair([0.2, 0.21, 0.19, 0.2, 0.2], [0.3] * 5) == pytest.approx((0.2, 0.3))
    assert pair([0.2], [0.3]) == (0.2, 0.3)


def test_synthetic_loads_have_five_seeds() -> None:
    batches = {batch.name: batch for batch in load("leveling").batches}
    for setting in ("spare-7", "spare-28", "spare-7-apart"):
        for seed in SEEDS[1:]:
            assert dict(batches[setting + seed].overrides)["seed"] == seed[-1]
            assert set(batches[setting + seed].workloads) <= {"uniform", "zipf", "static"}


def test_recorded_programs_leave_the_rest_of_the_drive_static(tmp_path: Path) -> None:
    paper = load("leveling")
    prepared = paper.prepare(["static", "sqlite-updates"], {}, tmp_path)
    assert list(prepared) == ["sqlite-updates"]
    assert dict(prepared["sqlite-updates"])["workload.format"] == "parquet"
