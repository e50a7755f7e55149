"""README.md, docs/tour.md and CONTRIBUTING.md describe the project as it is."""

import itertools
import json
import re
from pathlib import Path

import pytest

import words
from floatgate import _core
from floatgate.papers import paper
from floatgate.trace import library
from scripts_as_modules import loaded

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
TOUR = (ROOT / "docs/tour.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def counted() -> dict[str, int]:
    """Counts things of each kind, by the words that README.md or docs/tour.md has for them."""
    catalogue = json.loads(_core.catalogue())
    policies = catalogue["policies"]
    listed = re.search(r"^Formats: (.*?) and (\d+) more", TOUR, re.M | re.S)
    assert listed
    named = re.findall(r"`([\w-]+)`", listed[1])
    assert set(named) <= {one["name"] for one in catalogue["formats"]}
    return {
        "trace formats": len(catalogue["formats"]),
        "victim\\s+policies": len(policies["ftl.collect"]),
        "separators": len(policies["ftl.separate"]),
        "drives to start from": len(catalogue["drives"]),
        "micro-benchmarks": len(catalogue["micro_benchmarks"]),
        "such recordings ship": len(library.CONTEXTS),
        # Parquet is named as a word.
        "more \\(\\[formats\\]": len(catalogue["formats"]) - len(named) - 1,
    }


@pytest.mark.parametrize("page", ["settings", "policies", "results"])
def test_generated_pages_are_current(page: str) -> None:
    made = getattr(loaded("docs"), page)(json.loads(_core.catalogue()))
    assert (ROOT / f"docs/{page}.md").read_text("utf-8") == made, f"docs/{page}.md: make docs renews it"


def test_the_table_of_formats_is_current() -> None:
    page = (ROOT / "docs/formats.md").read_text("utf-8")
    assert "<!-- formats -->" in page
    assert loaded("docs").formats(page, json.loads(_core.catalogue())) == page, "make docs renews it"


def test_the_table_of_reproduced_papers_is_current() -> None:
    page = (ROOT / "docs/reproduce.md").read_text("utf-8")
    assert "<!-- reproductions -->" in page
    assert loaded("docs").reproductions(page) == page, "make docs renews it"
    kept = json.loads((ROOT / "docs/data/reproductions.json").read_text("utf-8"))
    counts = loaded("reproductions").COUNTS
    claims = {name: len(paper.load(name).claims) for name in paper.names()}
    assert {name: sum(one[count] for count in counts) for name, one in kept.items()} == claims


@pytest.mark.parametrize(("what", "number"), counted().items())
def test_the_readme_and_the_tour_count_right(what: str, number: int) -> None:
    assert re.findall(rf"(\d+) {what}", README + TOUR) == [str(number)]


def test_files_that_the_pages_name_are_there() -> None:
    missing = []
    for page in ["README.md", "docs/tour.md", "CONTRIBUTING.md", "ARCHITECTURE.md"]:
        text = re.sub(r"```.*?```", "", (ROOT / page).read_text("utf-8"), flags=re.S)
        names = re.findall(r"`((?:crates|python|docs|configs|tests|scripts|traces)/[\w./-]+)`", text)
        missing += [f"{page}: {name}" for name in names if "NAME" not in name and not (ROOT / name).exists()]
    assert missing == []


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("traces/*.md")]


def anchors(text: str) -> set[str]:
    """Lists the anchors of a page; GitHub numbers headings that stand twice."""
    listed: set[str] = set()
    for heading in re.findall(r"^#{1,6} (.+)$", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S), re.M):
        name = words.anchor(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip()))
        numbered = (f"{name}-{number}" for number in itertools.count(1))
        listed.add(next(one for one in itertools.chain([name], numbered) if one not in listed))
    return listed


def test_anchors_are_those_of_github() -> None:
    text = "# A `b.c` & [d](e.md)\n```sh\n# no heading\n```\n## Two-part\n### Two-part\n## Two-part-1\n"
    assert anchors(text) == {"a-bc--d", "two-part", "two-part-1", "two-part-1-1"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = re.sub(r"^ *```.*?^ *```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.M | re.S)
    missing = []
    for link, name in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", text):
        target = page.parent / link if link else page
        if not target.exists():
            missing.append(link)
        elif name and (target.suffix != ".md" or name not in anchors(target.read_text("utf-8"))):
            missing.append(f"{link}#{name}")
    assert missing == []


def test_commands_for_contributors_are_targets() -> None:
    targets = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.M)
    named = set(re.findall(r"`make ([a-z-]+)`", CONTRIBUTING + README))
    assert named <= set(targets)
    modules = {path.stem for path in ROOT.glob("crates/*/tests/it/*.rs")}
    assert set(re.findall(r"\b(\w+)::(?=[ `])", CONTRIBUTING)) <= modules
