"""Groups of names in a paper's files, and lists of names."""

from __future__ import annotations

import pytest

from floatgate.papers.groups import expanded, groups_of, named

GROUPS = groups_of(
    {"few": ["a", "b"], "all": ["{4k,8k}-{sq,rd}"], "label": {"a": "A", "b": "B"}, "more": ["@few", "x.{@label}"]}
)


def test_names_and_their_combinations() -> None:
    assert GROUPS["few"] == ["a", "b"]
    assert GROUPS["all"] == ["4k-sq", "4k-rd", "8k-sq", "8k-rd"]
    assert GROUPS["more"] == ["a", "b", "x.a", "x.b"]


def test_lists_of_names_are_written_out() -> None:
    assert expanded(["x", "@few", "y"], GROUPS) == ["x", "a", "b", "y"]
    assert expanded("@label", GROUPS) == ["a", "b"]
    assert expanded(["{1, 2}.{@few}.{}"], GROUPS) == ["1.a.{}", "1.b.{}", "2.a.{}", "2.b.{}"]
    assert expanded(["run{,-idle}", 3, ""], GROUPS) == ["run", "run-idle", 3, ""]


def test_a_table_of_a_group_is_one_of_each_name() -> None:
    table = {"@few": {"set": {"workload.micro": "{}", "seed": 1}, "label": "the {}"}, "c": {"label": "{}"}}
    assert named(table, GROUPS, "workload") == {
        "a": {"set": {"workload.micro": "a", "seed": 1}, "label": "the a"},
        "b": {"set": {"workload.micro": "b", "seed": 1}, "label": "the b"},
        "c": {"label": "c"},
    }


def test_a_name_that_comes_twice_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^workload 'a' is there twice; expected each once$"):
        named({"@few": {}, "a": {}}, GROUPS, "workload")


@pytest.mark.parametrize("content", [[], "a", {}, 1])
def test_a_group_without_names_is_refused(content: object) -> None:
    with pytest.raises(ValueError, match=r"group 'wrong' has no names; expected a list of names, or a table"):
        groups_of({"wrong": content})


@pytest.mark.parametrize("content", [[["a"]], [1.5], [True], 1, None])
def test_what_is_no_list_of_names_is_refused(content: object) -> None:
    with pytest.raises(ValueError, match=r"is not a list of names; expected texts, such as"):
        expanded(content, GROUPS)


@pytest.mark.parametrize("name", ["@none", "x.{@none}", "{a,@none}"])
def test_a_group_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"unknown group '@none'; expected one of '@few', '@all', '@label', '@more'"):
        expanded([name], GROUPS)
