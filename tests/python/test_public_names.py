"""The public names: annotated, documented, and with examples whose output is right."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import floatgate

DOCUMENTS = {
    "Comparison.difference": "figures of JSON by key",
    "Comparison.to_dict": "compare.json",
    "Leaderboard.to_dict": "the JSON of a leaderboard",
    "LoadedSweep.settings": "rows of a table whose columns vary",
    "Plan.of": "plan.json",
    "Plan.to_dict": "plan.json",
    "Record.to_dict": "any object of JSON",
    "Run.experiment": "an experiment of TOML",
}
"""Signatures with ``Any`` as the values of a JSON object or a row, which no type describes."""


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public functions, and methods and properties of public classes, which our own modules define."""
    for name in floatgate.__all__:
        value = getattr(floatgate, name)
        if inspect.isfunction(value):
            yield name, value
        if not inspect.isclass(value):
            continue
        for member in dir(value):
            if member.startswith("_") and member != "__init__":
                continue
            static = inspect.getattr_static(value, member)
            function = getattr(static, "fget", None) or getattr(static, "__func__", static)
            if inspect.isfunction(function) and function.__module__.startswith("floatgate"):
                yield f"{name}.{member}", function


FUNCTIONS = dict(functions())


def parameters(name: str) -> dict[str, inspect.Parameter]:
    own = inspect.signature(FUNCTIONS[name]).parameters
    return {key: one for key, one in own.items() if key not in ("self", "cls")}


def test_the_public_names_are_there() -> None:
    assert {"run", "load", "compare", "sweep", "Run.to_arrow", "LoadedSweep.to_polars", "Comparison.runs"} <= set(
        FUNCTIONS
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_signature_is_annotated(name: str) -> None:
    signature = inspect.signature(FUNCTIONS[name])
    named = {key: one.annotation for key, one in parameters(name).items()} | {"return": signature.return_annotation}
    assert inspect.Parameter.empty not in named.values()
    loose = {key: kind for key, kind in named.items() if re.search(r"\bAny\b", str(kind))}
    assert bool(loose) is (name in DOCUMENTS)
    # A whole argument of any kind is never what is meant.
    assert all(re.search(r"(?:dict|Mapping)\[str, Any\]", str(kind)) for kind in loose.values())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_docstring_has_its_sections(name: str) -> None:
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    assert text
    needed = parameters(name)
    sections = re.split(r"^(\w+):$", text, flags=re.M)
    by_title = dict(zip(sections[1::2], sections[2::2], strict=True))
    documented = set(re.findall(r"^    (\w+): ", by_title.get("Args", ""), re.M))
    assert documented == set(needed)
    if "." not in name:
        assert "Raises" in by_title
        assert "Returns" in by_title
    elif inspect.signature(FUNCTIONS[name]).return_annotation not in ("None", None):
        assert re.search(r"\breturn", text, re.I)


def examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder(recurse=False)
    objects = {"floatgate": floatgate} | {f"floatgate.{name}": getattr(floatgate, name) for name in floatgate.__all__}
    objects |= {f"floatgate.{name}": function for name, function in FUNCTIONS.items()}
    by_object = [finder.find(value, name, module=False, globs={}) for name, value in objects.items() if callable(value)]
    by_object.append(finder.find(floatgate, "floatgate", globs={}))
    return [test for tests in by_object for test in tests if test.examples]


@pytest.mark.parametrize("test", examples(), ids=lambda test: test.name)
def test_an_example_prints_what_it_shows(test: doctest.DocTest) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.REPORT_NDIFF)
    out: list[str] = []
    runner.run(test, out=out.append)
    assert "".join(out) == ""
    assert any(example.want for example in test.examples)


def test_functions_that_begin_an_analysis_have_examples() -> None:
    assert {"floatgate", "floatgate.run", "floatgate.compare", "floatgate.lifetime", "floatgate.theory_wa"} <= {
        test.name for test in examples()
    }
    assert {"floatgate.plan", "floatgate.trace_from"} <= {test.name for test in examples()}
