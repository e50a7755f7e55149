"""Entries of a paper's files that are written once for several names."""

from __future__ import annotations

from pathlib import Path

import pytest

from floatgate.base.errors import InputError
from floatgate.papers import load
from floatgate.papers.groups import entries, groups_of, named, repeated

GROUPS = groups_of(
    {"all": ["wksn", "media"], "label": {"wksn": "WKSN", "media": "Media"}, "paper": {"wksn": {"1": [6.8, 2]}}}
)

PAPER = """
title = "Two traces"
source = "A. Nobody, 2026"
[group]
traces = { a = "A", b = "B" }
[workload."{@traces}"]
set = { "workload.pattern" = "uniform" }
[variant."{policy}-{seed}"]
for = { seed = [1, 2], policy = ["greedy", "fifo"] }
label = "{policy}, draw {seed}"
set = { "ftl.collect.policy" = "{policy}", seed = "{seed}" }
[[batch]]
for = { name = "@spare" }
name = "{name}"
command = "run"
set = { "ftl.spare_factor" = "{spare[name]}" }
quick = "{quick[name]}"
group = { spare = { w = 0.07, more = 0.28 }, quick = { w = true, more = false } }
[batch.each]
"@traces" = { "workload.requests" = 100 }
"""
CLAIMS = """
[[claim]]
for = { trace = "@years" }
id = "{trace}-years"
text = "{traces[trace]}: {years[trace]} years"
where = "Table 1"
judge = "near"
each = ["greedy-{1,2}"]
value = "w.{trace}.{}.waf"
paper = "{years[trace]}"
tolerance = 0.1
group = { years = { a = 6.8, b = 3 } }
[[claim]]
id = "order"
text = "{Not} a placeholder"
where = "Table 1"
judge = "order"
values = ["w.a.{greedy,fifo}-1.waf"]
direction = "rising"
"""
TABLES = """
[[table]]
id = "t1"
title = "Table 1"
where = "section 1"
keys = ["trace"]
columns = [{ name = "draw 1" }, { name = "draw 2" }]
[[table.row]]
for = { trace = "@paper" }
keys = ["{traces[trace]}"]
paper = "{paper[trace]}"
ours = ["w.{trace}.greedy-{1,2}.waf"]
group = { paper = { a = [1.5, ""], b = [] } }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    texts = {"paper": PAPER, "claims": CLAIMS, "tables": TABLES, "experiment": '[drive]\ncapacity = "64 MiB"\n'}
    for name, text in texts.items():
        (tmp_path / f"{name}.toml").write_text(text)
    return tmp_path


def test_an_entry_is_one_for_each_combination_of_names() -> None:
    made = repeated({"for": {"w": "@all", "n": [1, 2]}, "id": "{w}-{n}", "{w}": "{n}", "value": "x.{}"}, GROUPS)
    assert made == [
        {"id": "wksn-1", "wksn": 1, "value": "x.{}"},
        {"id": "wksn-2", "wksn": 2, "value": "x.{}"},
        {"id": "media-1", "media": 1, "value": "x.{}"},
        {"id": "media-2", "media": 2, "value": "x.{}"},
    ]


def test_values_keep_their_kind_where_a_text_is_one_placeholder() -> None:
    entry = {
        "for": {"w": ["wksn"], "n": [1]},
        "paper": "{paper[w][n]}",
        "text": "{label[w]} lasts {years[w]} years, {n}",
    }
    made = repeated(entry | {"group": {"years": {"wksn": 6.8}}}, GROUPS)
    assert made == [{"paper": [6.8, 2], "text": "WKSN lasts 6.8 years, 1"}]


def test_names_stand_in_values() -> None:
    entry = {"for": {"n": [2]}, "set": "{set[n]}", "group": {"set": {"2": {"seed": "{n}", "name": "draw {n}"}}}}
    assert repeated(entry, GROUPS) == [{"set": {"seed": 2, "name": "draw 2"}}]


def test_an_entry_without_for_is_left_as_it_is() -> None:
    assert repeated({"text": "{anything} {}"}, GROUPS) == [{"text": "{anything} {}"}]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"for": {"w": "@none"}, "x": "{w}"}, "unknown group '@none'; expected one of '@all', '@label', '@paper'"),
        ({"for": {"w": "@all"}, "x": "y"}, "nothing uses '{w}' of 'for'; expected it in a text of the entry"),
        ({"for": {"w": "@all"}, "x": "{w} {v}"}, "unknown placeholder '{v}'; 'for' has 'w'"),
        ({"for": {"w": "@all"}, "x": "{label[v]}{w}"}, "unknown placeholder '{label[v]}'; 'for' has 'w'"),
        ({"for": {"w": "@all"}, "x": "{paper[w]}"}, "'{paper[w]}': group 'paper' has no value for 'media'"),
        ({"for": {"w": ["wksn"], "n": [1]}, "x": "{label[w][n]}"}, "group 'label' has no value for '1'"),
        ({"for": {"w": "@all"}, "x": "{all[w]}"}, "no group 'all' of values by name; expected one of 'label', 'paper'"),
        ({"for": {"w": ["wksn"]}, "x": "a {paper[w]}"}, "'{paper[w]}' is a list or a table; expected it as a text"),
        ({"for": ["wksn"], "x": "{w}"}, "expected lists of names, for = { name = ['a', 'b'] }"),
        ({"for": {}, "x": "y"}, "expected lists of names, for = { name = ['a', 'b'] }"),
        ({"for": {"w": [1.5]}, "x": "{w}"}, "is not a list of names; expected texts"),
        ({"for": {"w": "@all"}, "group": {"g": []}, "x": "{w}"}, "group 'g' has no names"),
        ({"group": {"g": {"a": 1}}, "x": "y"}, "'group' without 'for'; expected both, or neither"),
    ],
)
def test_a_wrong_entry_is_refused_by_name(entry: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=r"^claim 'rate': ") as error:
        entries([{"id": "rate", **entry}], GROUPS, "claim", "id")
    assert message in str(error.value)


def test_values_do_not_lead_to_other_values() -> None:
    entry = {"for": {"w": ["a"]}, "x": "{g[w]}", "group": {"g": {"a": "{g[w]}"}}}
    with pytest.raises(ValueError, match=r"no group 'g' of values by name"):
        repeated(entry, {})


def test_tables_by_name_are_repeated() -> None:
    table = {"{p}-{n}": {"for": {"n": [2, 3], "p": ["x", "y"]}, "set": {"seed": "{n}"}}}
    assert list(named(table, {}, "variant")) == ["x-2", "y-2", "x-3", "y-3"]
    assert named(table, {}, "variant")["y-3"] == {"set": {"seed": 3}}
    with pytest.raises(ValueError, match=r"^variant '{p}': unknown placeholder '{q}'"):
        named({"{p}": {"for": {"p": ["x"]}, "label": "{q}"}}, {}, "variant")


def test_a_paper_is_read_with_all_entries_written_out(folder: Path) -> None:
    paper = load(str(folder))
    assert list(paper.workloads) == ["a", "b"]
    assert [(one.name, one.label) for one in paper.variants.values()] == [
        ("greedy-1", "greedy, draw 1"),
        ("fifo-1", "fifo, draw 1"),
        ("greedy-2", "greedy, draw 2"),
        ("fifo-2", "fifo, draw 2"),
    ]
    assert paper.variants["fifo-2"].overrides == [("ftl.collect.policy", '"fifo"'), ("seed", "2")]
    assert [(one.name, one.overrides, one.quick) for one in paper.batches] == [
        ("w", [("ftl.spare_factor", "0.07")], True),
        ("more", [("ftl.spare_factor", "0.28")], False),
    ]
    assert list(paper.batches[0].by_workload) == ["a", "b"]
    assert [(claim.id, claim.text, claim.rule.get("paper")) for claim in paper.claims] == [
        ("a-years", "A: 6.8 years", 6.8),
        ("b-years", "B: 3 years", 3),
        ("order", "{Not} a placeholder", None),
    ]
    assert paper.claims[1].rule["value"] == "w.b.{}.waf"
    assert paper.claims[1].each == ["greedy-1", "greedy-2"]
    assert paper.claims[2].rule["values"] == ["w.a.greedy-1.waf", "w.a.fifo-1.waf"]
    assert paper.tables[0]["row"] == [
        {"keys": ["A"], "paper": [1.5, ""], "ours": ["w.a.greedy-1.waf", "w.a.greedy-2.waf"]},
        {"keys": ["B"], "paper": [], "ours": ["w.b.greedy-1.waf", "w.b.greedy-2.waf"]},
    ]


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("claims", "b = 3", "c = 3", "claim '{trace}-years': '{traces[trace]}': group 'traces' has no"),
        ("claims", "{traces[trace]}:", "{seeds[trace]}:", "claim '{trace}-years': '{seeds[trace]}': no group 'seeds'"),
        ("claims", 'id = "{trace}-years"', 'id = "years"', "claim 'years' is there twice; expected each once"),
        ("tables", "b = []", "c = []", "table 't1': row '{traces[trace]}': '{traces[trace]}': group 'traces' has no"),
        ("tables", "greedy-{1,2}", "greedy-{1,2,3}", "table 't1': row 'A': 3 of ours; expected 2, one per column"),
        (
            "paper",
            "more = 0.28",
            "less = 0.28",
            "batch '{name}': '{quick[name]}': group 'quick' has no value for 'less'",
        ),
        ("paper", '"@traces" = {', '"@trace" = {', "each '@trace': unknown group '@trace'; expected one of '@traces'"),
    ],
)
def test_what_is_wrong_names_file_and_entry(folder: Path, file: str, old: str, new: str, message: str) -> None:
    path = folder / f"{file}.toml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(InputError) as error:
        load(str(folder))
    assert str(error.value).startswith(f"{path}: {message}")
