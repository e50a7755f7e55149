"""Licences of what a wheel bundles: THIRD-PARTY.md is current, and only permissive licences pass."""

from __future__ import annotations

import copy
import re
import tomllib
from email.message import Message
from pathlib import Path
from typing import Any

import pytest

import licences

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def known() -> Any:
    """The packages of Cargo.lock, as cargo describes them."""
    return licences.cargo_metadata()


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("GPL-2.0-only OR MIT AND Zlib", True),
        ("(MIT OR GPL-2.0-only) AND Unicode-3.0", True),
        ("(MIT OR ISC) AND (GPL-2.0-only OR LGPL-2.1-only)", False),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0-only", True),
        ("GPL-3.0-only WITH GCC-exception-3.1", False),
        ("MIT OR", False),
        ("MIT AND", False),
        ("none stated", False),
        ("", False),
    ],
)
def test_a_licence_passes_if_it_can_be_met_by_permissive_ones(expression: str, allowed: bool) -> None:
    assert licences.is_allowed(expression) is allowed


def test_the_page_has_all_names_and_all_licences_pass(known: Any) -> None:
    linked, of_build = licences.crates(known)
    required = [licences.Part(name, "", "") for name in licences.requirements()]
    names = licences.names_of(licences.page(linked, licences.of_charts(), of_build, required))
    assert names == licences.names_of((ROOT / "THIRD-PARTY.md").read_text()), "make docs renews THIRD-PARTY.md"
    assert (
        licences.refused(
            [*linked, *licences.of_charts(), *of_build, *licences.python_packages(licences.requirements())]
        )
        == []
    )


def test_the_page_tells_what_is_linked_from_what_builds(known: Any) -> None:
    linked, of_build = ({part.name for part in parts} for parts in licences.crates(known))
    assert {"pyo3", "serde", "zstd-sys", "Zstandard", "liblzma of XZ Utils"} <= linked
    assert {"syn", "serde_derive", "cc"} <= of_build
    assert not linked & {"syn", "proptest", "windows-sys"} | linked & of_build
    assert not any(name.startswith("floatgate") for name in linked | of_build)


def test_the_texts_are_those_of_all_that_is_linked(known: Any) -> None:
    text = licences.texts(known)
    linked, of_build = licences.crates(known)
    heads = re.findall(r"={78}\n(.*)\n={78}\n(.+)", text)
    named = {re.sub(r" \([^()]*\)$", "", name) for head, _ in heads for name in head.split(", ")}
    assert named == {part.name for part in linked}
    assert "Copyright (c) 2011-2020, Yann Collet" in text
    assert len({first for _, first in heads}) > 10
    assert not named & ({part.name for part in of_build} - {part.name for part in linked})


def test_a_crate_with_sources_of_others_must_be_described(known: Any) -> None:
    changed = copy.deepcopy(known)
    next(package for package in changed["packages"] if package["name"] == "libm")["links"] = "m"
    with pytest.raises(SystemExit, match="libm: links = 'm'; expected what it compiles"):
        licences.crates(changed)


def test_a_refusal_names_part_and_licence() -> None:
    (error,) = licences.refused([licences.Part("a", "1", "MIT"), licences.Part("b", "2", "GPL-3.0-only")])
    assert error.startswith("b 2: licence 'GPL-3.0-only'; expected one of ")


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ([("License-Expression", "MIT"), ("License", "All of it\nin full")], "MIT"),
        ([("Classifier", "License :: OSI Approved :: BSD License")], "BSD"),
        ([("License", "BSD-3-Clause")], "BSD-3-Clause"),
        ([("Classifier", "Topic :: Scientific/Engineering")], "none stated"),
    ],
)
def test_the_licence_of_a_python_package(fields: list[tuple[str, str]], licence: str) -> None:
    facts = Message()
    for name, value in fields:
        facts[name] = value
    assert licences.python_licence(facts) == licence


def test_cargo_deny_allows_the_same_licences() -> None:
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    # PSF-2.0 and a BSD without its number are those of Python packages.
    assert set(rules["licenses"]["allow"]) == licences.ALLOWED - {"BSD", "PSF-2.0"}


def test_wheels_contain_the_page() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license-files"] == ["LICENSE", "THIRD-PARTY.md"]
