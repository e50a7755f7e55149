"""``--policies``: sets of policies over an experiment and under ``--set``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Cli


def config(cli: Cli, *arguments: str | Path) -> dict[str, dict[str, dict[str, str]]]:
    output = cli("run", *arguments, "--json", "-").done()
    settings: dict[str, dict[str, dict[str, str]]] = json.loads(output)["config"]
    return settings


def test_a_set_turns_on_its_policies_and_what_they_need(cli: Cli, experiment: Path) -> None:
    settings = config(cli, experiment, "--policies", "level+redftl-plus")
    assert settings["ftl"]["level"]["policy"] == "swl"
    assert settings["ftl"]["reclaim"]["policy"] == "redftl-plus"
    assert settings["drive"]["disturb"]["model"] == "tlc-opt"


def test_set_has_the_last_word(cli: Cli, experiment: Path) -> None:
    settings = config(cli, experiment, "--policies", "level+redftl-plus", "--set", "ftl.level.policy=gap")
    assert settings["ftl"]["level"]["policy"] == "gap"
    assert settings["ftl"]["reclaim"]["policy"] == "redftl-plus"


def test_sets_can_be_varied(cli: Cli, experiment: Path) -> None:
    content = ["--set", "workload.duplicate_share=0.2", "--set", "workload.compressed_share=0.6"]
    vary = ["--vary", "policies=none,level,level+reduce"]
    output = cli("compare", experiment, *content, *vary, "--json", "-").done()
    settings = json.loads(output)["settings"]
    assert [one["set"]["policies"] for one in settings] == ["none", "level", "level+reduce"]
    policies = [one["result"]["config"]["ftl"]["level"]["policy"] for one in settings]
    assert policies == ["none", "swl", "swl"]


@pytest.mark.parametrize("name", ["level+redftl", "everything"])
def test_an_unknown_set_is_refused(cli: Cli, experiment: Path, name: str) -> None:
    error = cli("run", experiment, "--policies", name).refused()
    assert "policies: unknown set of policies" in error
    assert "'floatgate policies' lists all" in error


def test_a_set_replaces_a_part_of_another_one(cli: Cli, experiment: Path) -> None:
    settings = config(cli, experiment, "--policies", "redftl-plus+unmixed")
    assert settings["ftl"]["reclaim"]["policy"] == "redftl-plus"
    assert settings["ftl"]["reclaim"]["mix"] == "nothing"
    error = cli("run", experiment, "--policies", "ids+pds").refused()
    assert 'the sets "ids" and "pds" turn on different policies of one slot; expected one of them' in error


def test_content_and_contexts_are_needed(cli: Cli, experiment: Path) -> None:
    error = cli("run", experiment, "--policies", "all-in-one").refused()
    assert "needs the content of writes, and this workload has none" in error
    error = cli("run", experiment, "--policies", "ids").refused()
    assert "needs program contexts, and this workload has none" in error


def test_the_catalogue_lists_and_shows_sets(cli: Cli) -> None:
    listed = cli("policies").done()
    assert "--policies         all-in-one" in listed
    shown = cli("policies", "all-in-one").done()
    assert shown.startswith("--policies all-in-one\n")
    assert "the sets ids, redftl-plus, idle, collect, reduce, level, dpes, ready" in shown
    both = cli("policies", "ids").done()
    assert '[ftl.separate]\npolicy = "ids"' in both
    assert "--policies ids" in both
    assert json.loads(cli("policies", "ready", "--json").done())["policy_sets"][0]["name"] == "ready"
