"""Groups of names in a paper's files."""

from __future__ import annotations

import pytest

from floatgate.papers.groups import entries, expanded, filled_in, groups_of, rows

GROUPS = groups_of({"few": ["a", "b"], "all": [["4k", "8k"], ["sq", "rd"]]})


def test_names_and_their_combinations() -> None:
    assert GROUPS == {"few": ["a", "b"], "all": ["4k-sq", "4k-rd", "8k-sq", "8k-rd"]}
    assert expanded(["x", "@few", "y"], GROUPS) == ["x", "a", "b", "y"]


def test_a_table_of_a_group_is_one_of_each_name() -> None:
    table = {"@few": {"set": {"workload.micro": "{}", "seed": 1}, "label": "the {}"}, "c": {"label": "{}"}}
    assert entries(table, GROUPS) == {
        "a": {"set": {"workload.micro": "a", "seed": 1}, "label": "the a"},
        "b": {"set": {"workload.micro": "b", "seed": 1}, "label": "the b"},
        "c": {"label": "c"},
    }


def test_a_row_with_each_is_a_row_of_each_name() -> None:
    given = [{"each": ["@few"], "keys": ["{}"], "ours": ["x.{}.y"]}, {"keys": ["{}"], "ours": []}]
    assert rows(given, GROUPS) == [
        {"keys": ["a"], "ours": ["x.a.y"]},
        {"keys": ["b"], "ours": ["x.b.y"]},
        {"keys": ["{}"], "ours": []},
    ]
    assert filled_in(1.5, "a") == 1.5


@pytest.mark.parametrize("given", [[], "a", [["a"], []], [1], [["a", 1]]])
def test_a_group_without_names_is_refused(given: object) -> None:
    with pytest.raises(ValueError, match="group 'wrong' has no names; expected a list of names, or lists"):
        groups_of({"wrong": given})


def test_a_group_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown group '@none'; expected one of '@few', '@all'"):
        expanded(["@none"], GROUPS)
