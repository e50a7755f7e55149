"""The recipes of ``floatgate fetch``: each is complete and well formed, and its page lists them."""

from __future__ import annotations

import json
import re
import urllib.parse
from pathlib import Path

import pytest

from floatgate import _core
from floatgate.trace.fetch.recipes import ALGORITHMS, NOT_STATED, Recipe, is_plain_name, recipe, recipes

ROOT = Path(__file__).parents[2]
RECIPES = list(recipes().values())
FORMATS = {entry["name"] for entry in json.loads(_core.catalogue(["formats"]))["formats"]}
SETS = {
    *("msr-cambridge", "systor17", "alibaba", "tencent-cbs", "cloudphysics-sample", "fiu-mail", "financial1"),
    *("financial2", "websearch1", "ycsb-sample", "baleen", "warp-cdn"),
}


def test_the_public_sets_are_there() -> None:
    assert set(recipes()) >= SETS


@pytest.mark.parametrize("one", RECIPES, ids=lambda one: one.name)
def test_a_recipe_is_complete_and_well_formed(one: Recipe) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one.name)
    for text in (one.summary, one.owner, one.how, one.terms, one.size, one.citation):
        assert text == text.strip() != ""
        assert text.isprintable()
        assert not text.endswith(".")
    assert len(one.summary) <= 110
    assert is_plain_name(one.file)
    assert is_plain_name(one.trace_name())
    assert one.trace_name() != one.file or not one.is_archive
    assert not any(name.endswith((".part", ".json")) for name in (one.file, one.trace_name()))
    assert 1_000_000 <= one.most_bytes <= 1_000_000_000_000
    assert one.format is None or one.format in FORMATS
    assert re.search(r"\b(19|20)\d\d\b|UMass Trace Repository", one.citation)
    for address in filter(None, (one.page, one.address)):
        parts = urllib.parse.urlsplit(address)
        assert parts.scheme == "https"
        assert parts.hostname
        assert parts.username is None
        assert not re.search(r"\s", address)


@pytest.mark.parametrize("one", RECIPES, ids=lambda one: one.name)
def test_the_parts_of_a_recipe_fit_one_another(one: Recipe) -> None:
    assert one.is_archive == (one.member is not None)
    assert (one.member == "*") <= (one.trace is not None)
    assert one.lines is None or one.lines > 0
    if one.checksum is not None:
        algorithm, _, digits = one.checksum.partition(":")
        assert re.fullmatch(rf"[0-9a-f]{{{ALGORITHMS[algorithm]}}}", digits)
    # Only an address can be verified.
    assert one.verified <= (one.address is not None)
    if one.address is not None:
        assert urllib.parse.unquote(one.address.rpartition("/")[2]) == one.file
    else:
        assert one.file.partition(".")[0] in one.how
    if "iotta.snia.org" in one.page:
        assert one.address is None
        assert "licence" in one.how
        assert "SNIA" in one.terms
    assert one.bytes is None or one.bytes <= one.most_bytes
    assert one.size == NOT_STATED or re.fullmatch(r"(about )?\d+(\.\d+)? [kMGT]B", one.size)


def test_what_stands_in_the_cache_is_apart() -> None:
    """Each recipe has a folder of its own, and no name is that of another's note."""
    names = {name.casefold() for name in recipes()}
    assert len(names) == len(RECIPES)
    assert not any(f"{name}.json" in names for name in names)


def test_the_command_of_a_recipe_reads_what_it_has() -> None:
    assert recipe("baleen").command("/c/t") == ["floatgate", "run", "--trace", "/c/t", "--format", "baleen"]
    assert recipe("warp-cdn").command("/c/t") == ["floatgate", "counters", "/c/t"]


def test_names_of_traces_follow_from_the_recipe() -> None:
    alibaba = recipe("alibaba")
    assert alibaba.trace_name() == "io_traces.first20000000.csv"
    assert recipe("tencent-cbs").trace_name() == "2018-10-01-01.csv"
    assert recipe("msr-cambridge").trace_name() == "prxy_0.csv.gz"
    assert recipe("msr-cambridge").trace_name("MSR-Cambridge/hm_0.csv.gz") == "hm_0.csv.gz"
    assert recipe("baleen").trace_name() == "full_0_0.1.trace"


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/a", ".a", "-a", "a b", "a\n", "a\0", "ä", "a\\b"])
def test_names_that_are_no_plain_names(name: str) -> None:
    assert not is_plain_name(name)


def test_the_page_lists_every_recipe() -> None:
    page = (ROOT / "docs/fetch.md").read_text("utf-8")
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| (.+?) \| (.+?) \|$", page, re.M)
    assert rows == [(one.name, one.summary, one.way) for one in RECIPES]
