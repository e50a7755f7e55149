"""What the summary says about idle time, and about its prediction by context."""

from __future__ import annotations

from typing import Any

from floatgate.report.sections import idle

PLAIN: dict[str, Any] = {
    "periods": 1200,
    "idle_s": 48.2,
    "used_periods": 200,
    "delayed_requests": 12,
    "prediction": None,
}
PREDICTION: dict[str, Any] = {
    "requests_with_context_share": 0.4,
    "long_periods": 95,
    "predicted_periods": 84,
    "predicted_long_periods": 80,
    "predicted_idle_share": 0.98,
    "mispredicted_delayed_requests": 3,
    "contexts": 7,
    "contexts_replaced": 0,
}


def result(facts: dict[str, Any] | None) -> dict[str, Any]:
    return {"jobs": {"foreground_s": 0.0, "background_s": 1.0, "idle": facts}}


def test_idle_time_and_its_prediction_are_told() -> None:
    first = "1200 idle periods, 48.2 s in all; jobs worked in 200 of them; 12 requests arrived during a step"
    assert idle.lines(result(PLAIN)) == [first]
    assert idle.lines(result(PLAIN | {"prediction": PREDICTION})) == [
        first,
        "80 of 95 long periods predicted by context, 4 predictions wrong; 98 % of the predicted time was idle",
    ]
    none = PREDICTION | {"predicted_periods": 0, "predicted_long_periods": 0, "predicted_idle_share": None}
    assert idle.lines(result(PLAIN | {"prediction": none}))[1] == "0 of 95 long periods predicted by context"


def test_requests_without_a_context_are_told() -> None:
    assert idle.remarks(result(PLAIN | {"prediction": PREDICTION})) == [
        "Only 40 % of the requests have a program context; after others nothing is predicted."
    ]
    whole = PREDICTION | {"requests_with_context_share": 1.0}
    assert idle.remarks(result(PLAIN | {"prediction": whole})) == []
    assert idle.remarks(result(PLAIN)) == []


def test_runs_without_jobs_in_idle_time_say_nothing() -> None:
    assert idle.lines(result(None)) == idle.lines({"jobs": None}) == idle.lines(result(PLAIN | {"periods": 0})) == []
