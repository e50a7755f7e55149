"""The rules of ``floatgate explain``: each speaks where it is true, is silent where it is not, states its figures."""

from __future__ import annotations

import json
import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import explain_scenarios as scenarios
import floatgate
from conftest import SMALL
from floatgate.base import units
from floatgate.report.sections.limits.figures import FIGURES
from floatgate.report.sections.limits.rules import RULES, Condition, names_in
from floatgate.report.sections.limits.settings import SETTINGS
from floatgate.results.result_view import look
from floatgate.run.experiment import resolve
from floatgate.run.run import check
from floatgate.study.explain.case import reading
from floatgate.study.explain.explanation import Known, explain

ALL = {**scenarios.RUNS, **scenarios.FORECASTS}


@pytest.mark.parametrize("name", ALL)
def test_the_rules_that_hold_speak_and_the_others_are_silent(name: str, tmp_path: Path) -> None:
    with reading(str(scenarios.write(name, tmp_path))) as case:
        answer = explain(case, 20)
        assert {one.rule.name for one in answer.sentences} == ALL[name][1]
        for one in answer.sentences:
            stated = scenarios.CHECKS[one.rule.name](case.result, case.config)
            assert stated, one.rule.name
            assert [part for part in stated if part not in one.text] == [], (one.rule.name, one.text)
        for suggestion in answer.suggestions:
            for choice in suggestion.choices:
                changes = [(key, json.dumps(value)) for key, value in choice.changes(suggestion.key).items()]
                assert case.refusal(changes) is None, suggestion.key


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_each_rule_holds_in_one_scenario_and_not_in_another_of_its_kind(rule: object) -> None:
    name = rule.name  # type: ignore[attr-defined]
    assert name in scenarios.CHECKS
    there = [
        kind for kind in (scenarios.RUNS, scenarios.FORECASTS) if any(name in expected for _, expected in kind.values())
    ]
    assert there, "no scenario has it"
    assert any(name not in expected for kind in there for _, expected in kind.values()), "no scenario is without it"


def test_names_of_rules_and_their_checks_are_the_same() -> None:
    assert {rule.name for rule in RULES} == set(scenarios.CHECKS)
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_rules_and_settings_name_figures_and_settings_that_exist() -> None:
    for rule in RULES:
        assert set(rule.figures) <= FIGURES.keys(), rule.name
        assert set(rule.settings) <= SETTINGS.keys(), rule.name
    for setting in SETTINGS.values():
        needed = [*names_in(setting.why), *(one.figure for one in setting.when)]
        needed += [name for gain in setting.gains for name in (gain.figure, gain.scale, gain.measured) if name]
        assert set(needed) <= FIGURES.keys(), setting.name
    suggested = {name for rule in RULES for name in rule.settings}
    assert suggested == SETTINGS.keys()


def test_every_figure_is_used() -> None:
    used = {name for rule in RULES for name in rule.figures}
    for setting in SETTINGS.values():
        used |= {*names_in(setting.why), *(one.figure for one in setting.when)}
        used |= {name for gain in setting.gains for name in (gain.figure, gain.scale, gain.measured, gain.instead)}
    in_trials = {"life_value", "amplification_error", "write_p999_us"}
    assert FIGURES.keys() - used == in_trials


def test_settings_are_keys_of_an_experiment() -> None:
    resolved = tomllib.loads(check(resolve({"mode": "timed"})))
    assert [setting.key for setting in SETTINGS.values() if look(resolved, *setting.key.split(".")) is None] == []


def test_sentences_have_no_number_of_their_own() -> None:
    """All numbers of a sentence are figures; ``p99`` is a name."""
    for template in [*(rule.sentence for rule in RULES), *(setting.why for setting in SETTINGS.values())]:
        assert not re.search(r"\d", template.replace("p99", "")), template


def test_conditions_compare_figures_with_limits() -> None:
    share = Condition.of("copy_share >= 0.05")
    assert share == Condition("copy_share", ">=", 0.05)
    assert [share.holds(value) for value in (0.05, 0.0499, None)] == [True, False, False]
    mode = Condition.of("mode == timed")
    assert [mode.holds(value) for value in ("timed", "functional", None)] == [True, False, False]


CHOICES: dict[str, list[Any]] = {
    "mode": ["functional", "timed"],
    "ftl.precondition": ["none", "random", "sequential", "steady"],
    "ftl.spare_factor": [0.1, 0.2, 0.5],
    "ftl.collect.policy": ["greedy", "fifo", "random", "cost-benefit", "d-choices"],
    "ftl.separate.policy": ["none", "host-gc", "sepbit"],
    "ftl.level.policy": ["none", "swl", "hot-cold-swap"],
    "drive.disturb.model": ["none", "uniform", "mlc"],
    "drive.buffer.capacity": ["0 B", "256 KiB"],
    "drive.geometry.channels": [1, 2],
    "lifetime.reduce.policy": ["none", "dedup", "both"],
    "workload.pattern": ["uniform", "zipf", "hot-cold", "sequential"],
    "workload.read_share": [0.0, 0.5, 0.99],
    "workload.request_bytes": [512, 4096, 16384],
    "workload.duplicate_share": [0.0, 0.3],
    "workload.rate_per_s": [None, 50.0, 5000.0],
    "workload.requests": [300, 3000, 20_000],
}


@pytest.mark.parametrize("seed", range(40))
def test_any_run_can_be_explained(seed: int, tmp_path: Path) -> None:
    """Sentences are filled, settings are accepted, and figures stay in their ranges. Failures print the seed."""
    draw = random.Random(seed)
    drawn = {key: draw.choice(values) for key, values in CHOICES.items()}
    settings = {**SMALL, "drive.capacity": "32 MiB", **drawn}
    try:
        floatgate.run({key: value for key, value in settings.items() if value is not None}).save(
            tmp_path / "run", report=False
        )
    except floatgate.FloatgateError:
        pytest.skip("the core refuses these settings together")
    with reading(str(tmp_path / "run")) as case:
        known = Known(case)
        shares = [name for name, figure in FIGURES.items() if figure.format is units.share]
        values = {name: known.value(name) for name in shares}
        outside = {name: value for name, value in values.items() if value is not None and not 0 <= value <= 1}  # type: ignore[operator]
        # More pages may be programmed than the host wrote where reduction packs them anew.
        assert outside.keys() <= {"written_ratio"}, (seed, drawn, outside)
        answer = explain(case, 20)
        assert answer.sentences, seed
        assert not re.search(r"\{|None|nan", answer.text()), (seed, answer.text())
        for one in answer.suggestions:
            for choice in one.choices:
                changes = [(key, json.dumps(value)) for key, value in choice.changes(one.key).items()]
                assert case.refusal(changes) is None, (seed, one.key)
                assert choice.value != one.now, (seed, one.key)
