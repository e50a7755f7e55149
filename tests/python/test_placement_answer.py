"""The first lines of ``floatgate placement``: from results made by hand."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from floatgate.placement import Placement
from floatgate.placement.answer import Applied
from floatgate.placement.trial import Refused

WAFS = {"none": 1.63, "log-data": 1.599, "file": 1.572, "sepbit": 1.669, "ora": 1.0, "host-given": 1.595}


def results_of(wafs: Mapping[str, float | None]) -> dict[str, Any]:
    """Results with these write amplifications; None where the drive has no room."""
    return {rule: Refused("no room") if waf is None else {"waf": waf, "config": {}} for rule, waf in wafs.items()}


def placement(
    wafs: Mapping[str, float | None], initial: float, applied: Mapping[str, float | None] | None = None
) -> Placement:
    """A placement with these write amplifications: of the rules, and of its table under initial isolation."""
    other = None if applied is None else Applied("b", 1, 1, 10, 10, 10, results_of(applied))
    isolations = results_of({"initial": initial})
    return Placement(
        "a",
        "process",
        "lifetime",
        4,
        "persistent",
        1 << 17,
        0,
        1.0,
        [],
        [],
        results_of(wafs),
        isolations,
        {},
        False,
        other,
    )


def first(initial: float, **wafs: float | None) -> list[str]:
    """The first two lines, with some of :data:`WAFS` changed."""
    changed = {rule.replace("_", "-"): waf for rule, waf in wafs.items()}
    return placement({**WAFS, **changed}, initial).text().splitlines()[:2]


def test_the_first_line_names_the_best_row_of_the_table() -> None:
    drawn = random.Random(1)
    for _ in range(1000):
        wafs = {rule: drawn.choice([None, *6 * [round(drawn.uniform(1.0, 1.2), 3)]]) for rule in WAFS}
        # There is no answer without these two runs.
        wafs |= {rule: wafs[rule] or 1.3 for rule in ("none", "host-given")}
        answer = placement(wafs, round(drawn.uniform(1.0, 1.2), 3))
        lines = answer.text().splitlines()
        rows = [line for line in lines if line.startswith(("rule ", "isolation ")) and "ORA" not in line]
        shown = [float(line.split()[1]) for line in rows if "no room" not in line]
        best = answer.to_dict()["best"]
        assert best["waf"] == min(shown)
        assert len(best["rows"]) == shown.count(min(shown))
        assert sorted(row["waf"] for row in best["as_well"]) == sorted(
            waf for waf in shown if min(shown) < waf <= 1.01 * min(shown)
        )
        if "nothing to gain" in lines[0]:
            assert (wafs["none"] or 0.0) < 1.01
        else:
            assert lines[0].startswith(f"best       WAF {min(shown):.3f}")
        simpler = answer.to_dict()["simpler"]
        simple = [waf for rule in ("none", "log-data", "file", "host-given") if (waf := wafs[rule]) is not None]
        assert simpler is None or simpler["waf"] <= 1.01 * min(simple)


def test_ties_and_differences_within_one_per_cent_are_said() -> None:
    better = "simpler    by file does better than this table: WAF 1.572 against 1.595"
    assert first(1.548) == ["best       WAF 1.548: this table with --isolation initial", better]
    assert first(1.6) == ["best       WAF 1.572: by file", better]
    assert first(1.58)[0] == "best       WAF 1.572: by file; within 1 %: this table with --isolation initial (1.580)"
    assert first(1.572)[0] == "best       WAF 1.572, a tie: by file and this table with --isolation initial"
    assert first(1.6, sepbit=1.572, host_given=1.572, none=1.572)[0].endswith(
        ", a tie: no separation; by file; SepBIT in the drive and 1 more"
    )
    near, as_well = first(1.7, file=1.59)
    assert near == "best       WAF 1.590: by file; within 1 %: log against data (1.599) and this table (1.595)"
    assert as_well == "simpler    log against data does as well as this table: WAF 1.599 against 1.595 (within 1 %)"


def test_where_the_table_is_best_no_other_rule_is_named() -> None:
    lines = placement({**WAFS, "host-given": 1.5}, 1.6).text().splitlines()
    assert lines[0] == "best       WAF 1.500: this table"
    assert lines[1].startswith("placement  ")


def test_the_other_recording_has_a_best_rule_of_its_own() -> None:
    answer = placement(WAFS, 1.7, {"none": 1.7, "log-data": 1.4, "ora": 1.1, "host-given": 1.5})
    assert answer.text().splitlines()[1:4] == [
        "simpler    by file does better than this table: WAF 1.572 against 1.595",
        "best       WAF 1.400 on the other recording: log against data",
        "simpler    log against data does better than this table on the other recording: WAF 1.400 against 1.500",
    ]
    applied = answer.to_dict()["applied"]
    assert applied["best"]["rows"] == [{"rule": "log-data", "isolation": None, "waf": 1.4}]
    assert applied["simpler"]["rule"] == "log-data"
