"""``floatgate cite``: every paper of the catalogue has an entry, and a run cites the papers of what it used."""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import floatgate
from conftest import Cli
from floatgate import _core
from floatgate.study import citations

ROOT = Path(__file__).parents[2]
SMALL = "[drive]\ncapacity = '64 MiB'\n[workload]\nrequests = 2000\n"
RETOLD = re.compile(r"as the paper on patterns describes it|after |modes of ", re.I)


def catalogue() -> list[tuple[str, str, str]]:
    policies: dict[str, list[dict[str, Any]]] = json.loads(_core.catalogue(("policies",)))["policies"]
    return [(slot, entry["name"], entry["source"]) for slot, entries in policies.items() for entry in entries]


def entries(text: str) -> dict[str, dict[str, str]]:
    """The entries of BibTeX by key; a line that is neither entry nor comment fails."""
    made: dict[str, dict[str, str]] = {}
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("% ")]
        head = re.fullmatch(r"@(\w+)\{(\w+),", lines[0])
        assert head is not None, lines
        assert lines[-1] == "}"
        fields = [re.fullmatch(r"  (\w+) = \{(.*)\},", line) for line in lines[1:-1]]
        assert head[2] not in made
        made[head[2]] = {"kind": head[1]} | {field[1]: field[2] for field in fields if field is not None}
        assert all(text.count("{") == text.count("}") for text in made[head[2]].values())
        assert len(made[head[2]]) == len(lines) - 1, lines
    return made


@pytest.mark.parametrize(("slot", "name", "source"), catalogue(), ids=lambda value: value if "." in value else "")
def test_every_source_that_is_a_paper_has_an_entry(slot: str, name: str, source: str) -> None:
    if source == "-":
        return
    for part in source.split("; "):
        if part not in citations.no_paper():
            assert citations.named_in(part), f"{slot} {name}: {part!r} names no paper of references.toml"


def test_each_entry_is_of_use_and_complete_as_far_as_it_is_known() -> None:
    sources = [source.lower() for _, _, source in catalogue()]
    sources += [source.lower() for rows in citations.closed_forms() for _, source in rows]
    keys = [one.key for one in citations.references()]
    assert len(set(keys)) == len(keys)
    for one in citations.references():
        for phrase in one.named:
            assert any(phrase.lower() in source for source in sources), f"{one.key}: nothing names {phrase!r}"
        assert one.title
        if not one.title_by_us and not one.institution:
            assert one.authors, one.key
            assert one.venue, one.key
            # The year is the one of the catalogue, where that has one.
            years = {year for phrase in one.named for year in re.findall(r"\b(?:19|20)\d\d\b", phrase)}
            assert years in ({str(one.year)}, set()), one.key
        assert "others" not in one.authors[:-1]
    parts = {part for source in sources for part in source.split("; ")}
    assert {part.lower() for part in citations.no_paper()} <= parts | {
        source.split(";")[0].strip() for source in sources
    }


def test_nothing_that_was_not_looked_up_stands_in_the_table() -> None:
    table = (ROOT / "python/floatgate/study/references.toml").read_text()
    assert not re.search(r"^(doi|pages|url|isbn)", table, re.M)
    assert all(set(entry) >= {"key", "named", "title"} for entry in tomllib.loads(table)["reference"])


def test_authors_of_the_catalogue_are_those_of_the_table() -> None:
    for one in citations.references():
        for phrase in one.named:
            names = re.match(r"((?:[A-Z][\w ]*?)(?:(?:,| and) [A-Z]\w+)*(?: et al\.)?), [A-Z]", phrase)
            if names is None or one.title_by_us:
                continue
            named = re.split(r", | and ", names[1].removesuffix(" et al."))
            last = [author.strip("{}").rsplit(" ", 1)[-1] for author in one.authors]
            assert [name.rsplit(" ", 1)[-1] for name in named] == last[: len(named)], one.key
            assert ("et al." in names[1]) == (len(one.authors) > len(named)), one.key


def test_a_run_cites_what_it_used(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(SMALL)
    settings = ("ftl.collect.policy=d-choices", "ftl.separate.policy=bloom", "lifetime.throttle.policy=static")
    sets = [part for text in settings for part in ("--set", text)]
    cli("run", "d.toml", *sets, "--set", "mode=timed", "--out", "r", "--no-report", "-q").done()
    text = cli("cite", "r").done()
    made = entries(text)
    assert set(made) == {"floatgate", "vanhoudt2013mean", "park2011bloom", "lee2012ready"}
    assert made["floatgate"]["author"] == "{The floatgate developers}"
    assert _core.__version__ in made["floatgate"]["note"]
    assert made["lee2012ready"] == {
        "kind": "inproceedings",
        "author": "Sungjin Lee and Taejin Kim and Kyungho Kim and Jihong Kim",
        "title": "{Lifetime management of flash-based SSDs using recovery-aware dynamic throttling}",
        "booktitle": "FAST",
        "year": "2012",
    }
    assert made["vanhoudt2013mean"]["author"] == "{Van Houdt}"
    assert '% ftl.separate.policy = "bloom": Park and Du, MSST 2011' in text
    for same in ("r/result.json", "r/experiment.toml"):
        assert cli("cite", same).done() == text
    document = json.loads(cli("cite", "r", "--json").done())
    assert document["schema"] == "floatgate.cite/1"
    assert document["bibtex"] + "\n" == text
    (bloom,) = [one for one in document["references"] if one["key"] == "park2011bloom"]
    assert bloom["authors"] == ["Park", "Du"]
    assert bloom["year"] == 2011
    assert bloom["used_by"] == [{"key": "ftl.separate.policy", "name": "bloom", "source": "Park and Du, MSST 2011"}]


def test_json_of_a_run_that_has_no_folder_is_cited(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(SMALL)
    cli("run", "d.toml", "--out", "r", "--no-report", "--json", "alone.json", "-q").done()
    assert set(entries(cli("cite", "alone.json").done())) == {"floatgate", "rosenblum1991lfs"}


def test_a_study_cites_all_that_its_runs_used(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(SMALL + "[sweep.vary]\n\"ftl.collect.policy\" = ['fifo', 'd-choices']\n")
    (tmp_path / "e.toml").write_text(SMALL)
    expected = {"floatgate", "rosenblum1991lfs", "desnoyers2012analytic", "vanhoudt2013mean"}
    (tmp_path / "f.toml").write_text(SMALL + "[sweep.vary]\n'ftl.collect.policy' = ['random', 'd-choices']\n")
    assert set(entries(cli("cite", "f.toml").done())) == {"floatgate", "vanhoudt2013mean"}  # none is greedy
    (tmp_path / "g.toml").write_text(SMALL.replace("64 MiB", "4 GiB") + "[sweep.vary]\npolicies = ['none', 'ids']\n")
    assert set(entries(cli("cite", "g.toml").done())) == {"floatgate", "rosenblum1991lfs", "crosslayer"}
    assert set(entries(cli("cite", "d.toml").done())) == expected
    vary = ("--vary", "ftl.collect.policy=fifo,d-choices", "--no-report", "-q")
    cli("sweep", "e.toml", *vary, "--out", "s").done()
    cli("compare", "e.toml", *vary, "--out", "c").done()
    for place in ("s", "c"):
        assert set(entries(cli("cite", place).done())) == expected
    rates = ("--set", "workload.rate_per_s=1", "--throttles", "none,static", "--no-report", "-q")
    cli("plan", "e.toml", *rates, "--capacities", "64MiB", "--out", "p").done()
    assert set(entries(cli("cite", "p").done())) == {"floatgate", "rosenblum1991lfs", "lee2012ready"}


def test_a_steady_state_cites_the_closed_form_of_its_law(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(SMALL + "[ftl]\nprecondition = 'steady'\n")
    cli("run", "d.toml", "--out", "r", "--no-report", "-q").done()
    text = cli("cite", "r").done()
    assert set(entries(text)) == {"floatgate", "rosenblum1991lfs", "desnoyers2012analytic", "vanhoudt2013mean"}
    source = "Desnoyers, SYSTOR 2012; Van Houdt, SIGMETRICS 2013"
    assert text.count(f'% ftl.precondition = "steady": the law of greedy, {source}\n') == 2
    # The law of random victims takes elementary steps; of what a study varies, each steady state is cited.
    (tmp_path / "e.toml").write_text(SMALL + "[ftl]\nprecondition = 'steady'\n[ftl.collect]\npolicy = 'random'\n")
    assert "precondition" not in cli("cite", "e.toml").done()
    (tmp_path / "f.toml").write_text(SMALL + "[sweep.vary]\n'ftl.precondition' = ['random', 'steady']\n")
    assert "desnoyers2012analytic" in entries(cli("cite", "f.toml").done())


def test_the_papers_of_the_closed_forms_are_printed(cli: Cli) -> None:
    made = entries(cli("theory", "wa", "--bibtex").done())
    assert set(made) == {"floatgate", "desnoyers2012analytic", "desnoyers2014analytic", "vanhoudt2013mean"}
    # The page on fidelity names the same papers for each form.
    fidelity = (ROOT / "docs/fidelity.md").read_text()
    for rows, row_of in zip(
        citations.closed_forms(), ("| `{}`[^|]*", "| `{}`, [^|]* in logs of their own "), strict=True
    ):
        for policy, source in rows:
            pattern = row_of.format(policy).replace("| ", r"\| ", 1) + r"\| (.*) \|"
            papers = "".join(re.findall(pattern, fidelity))
            for one in citations.named_in(source):
                assert f"*{one.title}*" in papers, (policy, one.key)


def test_places_without_a_run_are_refused(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "x.toml").write_text("[ftl]\nno = 1\n")
    assert cli("cite", "no").refused() == "no: no such folder; expected a run folder that floatgate wrote"
    assert "empty: holds no results" in cli("cite", "empty").refused()
    assert cli("cite", "x.json").refused().startswith("x.json: ")
    assert "no" in cli("cite", "x.toml").refused()


def test_the_citation_file_names_this_version() -> None:
    """Held to the schema 1.2.0 of the Citation File Format when it was written; these are its rules for our fields."""
    yaml = importlib.import_module("yaml")
    content = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert content["cff-version"] == "1.2.0"
    assert content["type"] == "software"
    assert content["authors"] == [{"name": citations.AUTHORS}]
    assert content["title"] == citations.TITLE
    assert content["version"] == floatgate.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert content["license"] == project["license"]
    assert content["keywords"] == project["keywords"]
    texts = {"abstract", "cff-version", "license", "message", "title", "type", "version"}
    assert set(content) == texts | {"authors", "keywords"}
    assert all(isinstance(content[name], str) and content[name] for name in texts)
    assert len(set(content["keywords"])) == len(content["keywords"])
