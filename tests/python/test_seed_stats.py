"""One result for several seeds."""

from typing import Any

import pytest

from floatgate.report.sections import lifetime_headline
from floatgate.results.seed_stats import mean_result

ENOUGH = {"enough": True, "why": None, "drive_writes": 9.0, "drive_writes_needed": None}
LACKING = {"enough": False, "why": "not stationary", "drive_writes": 11.0, "drive_writes_needed": 22.0}


def of(evidence: dict[str, Any] | None, stationary: bool | None, waf: float = 2.0) -> dict[str, Any]:
    return {"waf": waf, "waf_bytes": waf, "evidence": evidence, "stationary": stationary, "name": "a"}


@pytest.mark.parametrize("order", [1, -1])
def test_the_seed_with_the_least_evidence_speaks_for_all(order: int) -> None:
    made = mean_result([of(ENOUGH, stationary=True), of(LACKING, stationary=False, waf=3.0)][::order])
    assert (made["waf"], made["stationary"], made["evidence"]) == (2.5, False, LACKING)
    assert lifetime_headline.too_short(made) == "not stationary: 11 drive writes, at least 22 needed"


def test_enough_is_enough_of_each_seed() -> None:
    made = mean_result([of(ENOUGH, stationary=True)] * 2)
    assert (made["evidence"], made["stationary"]) == (ENOUGH, True)
    assert lifetime_headline.too_short(made) is None


@pytest.mark.parametrize("unknown", [None, {**ENOUGH, "enough": None}])
def test_what_one_seed_does_not_know_the_mean_does_not_know(unknown: dict[str, Any] | None) -> None:
    made = mean_result([of(ENOUGH, stationary=True), of(unknown, stationary=None)])
    assert (made["evidence"], made["stationary"]) == (unknown, None)
