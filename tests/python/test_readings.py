"""Claims under several readings, and tables whose cells are verdicts."""

from __future__ import annotations

from pathlib import Path

import pytest

import floatgate.papers
from floatgate.papers import load, readings
from floatgate.papers.judge import Findings
from floatgate.papers.tables import cells, filled

IDS = Path(floatgate.papers.__file__).parent / "ids"
PROGRAMS = ("cscope", "gcc", "multi1", "multi2", "tpc-h", "tpc-r")


def test_verdicts_are_those_of_the_claims_under_other_values() -> None:
    values = {"ids_over.hash.time_s": 0.7, **{f"active_least.{one}": 1.5 for one in PROGRAMS}, "active_least.gcc": 0.9}
    judged = readings.verdicts(IDS, Findings({}, values), ["gc-time-hash", "blocks-order", "copies-hash"])
    assert [verdict.holds for verdict in judged.values()] == [True, False, None]
    assert readings.cells("r", judged) == {
        "r.gc-time-hash": "✓ 70.0 %",
        "r.blocks-order": "✗ 5 of 6",
        "r.copies-hash": "○ -",
    }
    with pytest.raises(KeyError, match="nothing"):
        readings.verdicts(IDS, Findings({}), ["nothing"])


def test_a_value_that_is_a_text_is_shown_as_it_is() -> None:
    table = {
        "id": "decided",
        "title": "Claims",
        "keys": ["claims on"],
        "columns": [{"name": "verdict"}, {"name": "time", "unit": "share"}],
        "row": [{"keys": ["time"], "ours": ["v", "t"]}],
    }
    made = filled(table, Findings({}, {"v": "1 of 3 hold", "t": 0.5}))
    assert cells(made) == (["claims on", "verdict", "time"], [["time", "1 of 3 hold", "50.0 %"]], 1)
    # A row that was not run is not shown.
    assert cells(filled(table, Findings({}, {})))[1] == []


@pytest.mark.parametrize("name", ["ids", "pds"])
def test_the_table_of_readings_has_the_claims_that_are_judged_under_each(name: str) -> None:
    paper = load(name)
    module = paper.module("values")
    assert module is not None
    [table] = [table for table in paper.tables if table["id"] == "readings"]
    claims = [row["keys"][0] for row in table["row"] if len(row["ours"]) == len(module.READINGS)]
    judged = module.OF_IDS if name == "ids" else module.OF_COLLECTION
    assert claims[: len(judged)] == list(judged)
    assert {claim.id for claim in paper.claims} >= set(judged)
    assert all(claim.rule.get("topic") and claim.rule.get("decided_by") for claim in paper.claims)
