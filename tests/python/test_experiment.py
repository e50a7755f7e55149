"""The sources of an experiment: dicts, files, --set and --vary."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floatgate import _core
from floatgate.base.errors import FloatgateError, InputError
from floatgate.run.experiment import Experiment, flatten, parse_set, resolve, toml_value
from floatgate.study.runs.points import parse_axis

KEYS = ("seed", "drive.capacity", "ftl.spare_factor", "ftl.collect.policy", "workload.requests", "workload.pattern")
VALUES = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.text(), st.lists(st.integers(0, 9)))


@given(VALUES)
def test_values_survive_the_way_through_toml(value: Any) -> None:
    if isinstance(value, str) and any(0xD800 <= ord(char) <= 0xDFFF for char in value):
        return  # no text, TOML has no word for it
    back = tomllib.loads(f"x = {toml_value('x', value)}")["x"]
    assert back == value or (isinstance(value, float) and math.isnan(value) and math.isnan(back))
    assert type(back) is type(value)


@given(st.text())
def test_set_is_understood_or_refused_as_input(text: str) -> None:
    try:
        key, value = parse_set(text)
    except InputError as error:
        assert error.status == 2
        assert "--set" in error.message
    else:
        assert text.partition("=")[0].strip() == key
        assert value == text.partition("=")[2].strip()


@given(st.text(alphabet="ab=.,'\"[]{} \n"))
def test_vary_is_understood_or_refused_as_input(text: str) -> None:
    try:
        values = parse_axis(text).values
    except InputError as error:
        assert "--vary" in error.message
    else:
        assert all(values)
        assert len(values) <= text.count(",") + 1


@given(st.one_of(st.sampled_from(KEYS), st.text(max_size=20)), st.text(max_size=30))
def test_any_override_gives_an_experiment_or_an_input_error(key: str, value: str) -> None:
    try:
        text = _core.check(None, "", [("drive.capacity", "64 MiB"), (key, value)])
    except FloatgateError as error:
        assert error.status == 2
        assert "\n" not in error.message
        assert "panicked" not in error.message
    else:
        assert tomllib.loads(text)["drive"]


@given(st.text(max_size=200))
def test_any_text_is_an_experiment_or_an_input_error(text: str) -> None:
    try:
        _core.check(text, "x.toml", [])
    except FloatgateError as error:
        assert error.status == 2
        assert "\n" not in error.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=1,2", ("a", ["1", "2"])),
        ("a.b = x , y", ("a.b", ["x", "y"])),
        ('a="x,y",z', ("a", ['"x,y"', "z"])),
        ("a=[1,2],[3]", ("a", ["[1,2]", "[3]"])),
    ],
)
def test_vary_splits_at_commas_of_the_top_level(text: str, expected: tuple[str, list[str]]) -> None:
    axis = parse_axis(text)
    assert (axis.key, list(axis.values)) == expected


def test_dicts_may_be_nested_or_dotted() -> None:
    nested = flatten({"ftl": {"collect": {"policy": "fifo"}, "spare_factor": 0.1}, "seed": 2})
    assert nested == [("ftl.collect.policy", '"fifo"'), ("ftl.spare_factor", "0.1"), ("seed", "2")]
    assert flatten({"ftl.collect.policy": "fifo", "ftl": {"spare_factor": 0.1}, "seed": 2}) == nested
    assert flatten({"seed": None}) == []


@pytest.mark.parametrize("bad", [{"": 1}, {"a b": 1}, {1: 1}, {"a": object()}, {"a": {"b.": 1}}])
def test_dicts_that_are_no_settings_are_refused(bad: dict[Any, Any]) -> None:
    with pytest.raises(InputError, match="setting"):
        flatten(bad)


def test_what_an_experiment_can_be(tmp_path: Path) -> None:
    path = tmp_path / "e.toml"
    path.write_text("seed = 4\n")
    assert resolve(path) == resolve(str(path)) == Experiment("seed = 4\n", str(path))
    assert resolve("seed = 4") == Experiment("seed = 4", "experiment")
    assert resolve() == Experiment()
    resolved = resolve({"seed": 1}, trace=tmp_path / "t.csv", format="msr", drive="ssd-v", set={"seed": 2})
    assert [key for key, _ in resolved.overrides] == [
        "seed",
        "workload.kind",
        "workload.file",
        "drive.preset",
        "workload.format",
        "seed",
    ]


def test_run_folders_are_named_after_the_question() -> None:
    assert Experiment("", "a/web.toml").name() == "web"
    assert resolve(trace="x/web.csv.zst").name() == "web"
    assert resolve({"seed": 1}).name() == "run"
    assert resolve(trace="-").name() == "run"
    assert resolve(trace="../..").name() == "run"
