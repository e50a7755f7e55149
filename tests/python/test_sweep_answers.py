"""Answers of engines that were not requested, or that no run gives: refused; earlier ones are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import SMALL
from floatgate.base.errors import InputError
from floatgate.run.experiment import resolve
from floatgate.study.compare import run_settings
from floatgate.study.runs.engine import Local
from floatgate.study.runs.plan import plan_runs
from floatgate.study.runs.points import Axis, Points
from floatgate.study.runs.work import Answer, Job
from floatgate.study.sweeps.sweep import Sweep, planned
from floatgate.study.tune.search import Search, begun


class Foreign:
    """An engine that changes the answer to run 1."""

    dashboard: str | None = None

    def __init__(self, change: Callable[[Answer], Any]) -> None:
        self.change = change

    def run(self, jobs: Iterable[Job], done: Callable[[Answer], None], progress: Any = None) -> None:
        def forged(answer: Answer) -> None:
            for one in self.change(answer) if answer.number == 1 else [answer]:
                done(one)

        Local(1).run(jobs, forged, progress)

    def close(self) -> None:
        pass


def with_figure(key: str, value: Any) -> Callable[[Answer], Any]:
    return lambda answer: [replace_in(answer, figures={**answer.figures, key: value})]


def replace_in(answer: Answer, **changes: Any) -> Answer:
    return replace(answer, **changes)


ANSWERS: list[tuple[Callable[[Answer], Any], str]] = [
    (lambda a: [a, a], "run 1: answered twice, or not requested; expected one answer"),
    (lambda a: [replace_in(a, number=0)], "run 0: answered twice, or not requested"),
    (lambda a: [replace_in(a, number=7)], "run 7: answered twice, or not requested"),
    (lambda a: [replace_in(a, number="1")], "expected the answer to a run"),
    (lambda a: [replace_in(a, number=True)], "expected the answer to a run"),
    (lambda _: [{"number": 1}], "expected the answer to a run"),
    (lambda _: [], "run 1: the engine ended without an answer"),
    (with_figure("seed", 5), "'seed' is 5; expected 1, as requested"),
    (with_figure("config_hash", "0" * 64), "'config_hash' is '\"0000"),
    (with_figure("config_hash", 5), "'config_hash' is 5; expected a text"),
    (with_figure("waf", float("nan")), "'waf' is nan; expected a number"),
    (with_figure("waf", float("inf")), "'waf' is inf; expected a number"),
    (with_figure("waf", "1"), "'waf' is '\"1\"'; expected a number"),
    (with_figure("wear.erases_max", True), "'wear.erases_max' is True; expected a whole number"),
    (with_figure("host.page_writes", 10**40), "'host.page_writes' is 1000"),
    (with_figure("host.page_writes", {}), "'host.page_writes' is '{}'; expected a number, a text"),
    (with_figure("host.page_writes", object()), "'host.page_writes' is <object"),
    (with_figure("surprise", 1), "'surprise': no run has such a figure"),
    (with_figure("ftl.collect.policy", "random"), "'ftl.collect.policy' is '\"random\"'; expected '\"fifo\"', as requ"),
    (lambda a: [replace_in(a, figures={})], "has no figures though the run is done"),
    (lambda a: [replace_in(a, figures=None)], "its figures are no table"),
    (lambda a: [replace_in(a, status="ok")], "'status' is '\"ok\"'; expected one of"),
    (lambda a: [replace_in(a, error="x")], "though the run is done; expected null"),
    (lambda a: [replace_in(a, status="failed")], "though the run has no result; expected a text"),
    (lambda a: [replace_in(a, status="failed", error="x")], "has figures though the run is failed"),
    (lambda a: [replace_in(a, spent={"wall_s": float("nan")})], "'wall_s' is nan"),
    (lambda a: [replace_in(a, spent={"more": 1})], "'spent' has 'more'"),
]


@pytest.mark.parametrize(("change", "message"), ANSWERS)
def test_an_answer_that_was_not_requested_is_refused(
    swept: Path, tmp_path: Path, change: Callable[[Answer], Any], message: str
) -> None:
    (tmp_path / "s").mkdir()
    begun_here = Sweep.open(tmp_path / "s", planned(swept), fresh=True)
    with pytest.raises(InputError) as raised:
        begun_here.run(Foreign(change))
    begun_here.close()
    assert message in raised.value.message
    assert raised.value.message.startswith(("run ", "the engine gives "))
    # What came before is kept, and the sweep goes on elsewhere.
    again = Sweep.open(tmp_path / "s", planned(tmp_path / "s"), fresh=False)
    again.run(Foreign(lambda answer: [answer]))
    again.close()
    assert (tmp_path / "s/sweep.parquet").read_bytes() == (swept / "sweep.parquet").read_bytes()


def test_answers_of_a_search_and_of_a_comparison_are_checked_too(search: Path) -> None:
    (search / "journal.jsonl").write_bytes(b"")
    (search / "trials.jsonl").write_bytes(b"")
    again = Search.open(search, begun(search), fresh=False)
    with pytest.raises(InputError, match=r"run 1: .*'seed' is 77; expected 2, as requested"):
        again.run(Foreign(with_figure("seed", 77)))
    again.close()
    axis = Axis("ftl.collect.policy", ('"greedy"', '"fifo"'))
    plan = plan_runs(resolve({**SMALL, "workload.requests": 20_000}), Points((axis,)))
    with pytest.raises(InputError, match=r"run 1: .*'waf' is nan"):
        run_settings(plan, Foreign(with_figure("waf", float("nan"))))
    with pytest.raises(InputError, match=r"run 1: .*it lacks the run itself"):
        run_settings(plan, Foreign(lambda answer: [replace_in(answer, run=None)]))
