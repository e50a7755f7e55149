"""README.md, the pages of docs/ and traces/README.md as pasted: every command, with the outputs on the page.

Slow commands run with ``FLOATGATE_DOCS=slow`` (`make extra`). There, in README.md, and on pages that kill what they
start, each command starts as for a reader; elsewhere it is forked from a process that has imported floatgate.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import tutorial
from commands import Commands

SLOW = os.environ.get("FLOATGATE_DOCS") == "slow"
ALL = {page.stem: page for page in (tutorial.ROOT / "README.md", *sorted((tutorial.ROOT / "docs").glob("*.md")))}
ALL["traces"] = tutorial.ROOT / "traces" / "README.md"
PAGES = [name for name, page in ALL.items() if tutorial.blocks(page)]


@dataclass(frozen=True)
class Pasted:
    """The outcome of the blocks of a page, and the folder that they ran in."""

    ran: list[tutorial.Ran]
    folder: Path


@pytest.fixture(scope="module")
def pasted(tmp_path_factory: pytest.TempPathFactory, commands: Commands) -> Callable[[str], Pasted]:
    @functools.cache
    def paste(name: str) -> Pasted:
        folder = tmp_path_factory.mktemp(name)
        alone = SLOW or name == "README" or any("kill" in block.commands for block in tutorial.blocks(ALL[name]))
        return Pasted(tutorial.run(ALL[name], folder, SLOW, None if alone else commands.address), folder)

    return paste


@pytest.mark.parametrize("name", PAGES)
def test_every_command_prints_what_stands_there(name: str, pasted: Callable[[str], Pasted]) -> None:
    for one in pasted(name).ran:
        lacking = tutorial.missing(one.block.output or "", one.output)
        assert lacking == [], f"{ALL[name].name}, line {one.block.line}:\n{one.block.commands}\n{one.output}"


@pytest.mark.parametrize("name", ALL)
def test_no_command_stands_where_it_would_not_run(name: str) -> None:
    assert tutorial.unmarked_commands(ALL[name]) == []


def test_quoted_lines_are_compared_in_order() -> None:
    printed = "life  5 years\nWAF 1.0\nwrote runs/2026-01-01 in 3 s\n"
    assert tutorial.missing("life 5 years\n...\nwrote ... in ... s\n", printed) == []
    assert tutorial.missing("WAF  1.1\n", printed) == ["WAF 1.1"]
    assert tutorial.missing("WAF 1.0\nlife 5 years\n", printed) == ["life 5 years"]
    assert tutorial.missing("WAF 1x0\n", printed) == ["WAF 1x0"]


def test_marks_say_how_a_block_runs(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "<!-- run: slow, fails -->\n```sh\nfalse\n```\n```\nno\n```\n"
        "- item\n\n  <!-- run: never, because it wipes a disk -->\n  ```sh\n  wipe\n  ```\n"
        "<!-- run: needs no-such-program -->\n```sh\nno-such-program\n```\n"
    )
    slow, never, needs = tutorial.blocks(page)
    assert slow == tutorial.Block(2, "false\n", "no\n", slow=True, fails=True)
    assert never == tutorial.Block(11, "wipe\n", None, never="it wipes a disk")
    assert [block.runs(slow=False) for block in (slow, never, needs)] == [False, False, False]
    assert [block.runs(slow=True) for block in (slow, never, needs)] == [True, False, False]
    page.write_text("<!-- run: sometimes -->\n```sh\ntrue\n```\n")
    with pytest.raises(ValueError, match="sometimes"):
        tutorial.blocks(page)


def test_python_runs_as_pasted(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nprint('$HOME', 1 + 1)\n```\n```\n$HOME 2\n```\n<!-- run: fails -->\n```python\n1 / 0\n```\n"
    )
    (tmp_path / "run").mkdir()
    first, second = tutorial.run(page, tmp_path / "run", slow=False)
    assert tutorial.missing(first.block.output or "", first.output) == []
    assert "ZeroDivisionError" in second.output


def test_a_command_that_should_fail_and_does_not_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- run: fails -->\n```sh\ntrue\n```\n")
    (tmp_path / "run").mkdir()
    with pytest.raises(AssertionError):
        tutorial.run(page, tmp_path / "run", slow=False)


@pytest.mark.skipif(not SLOW, reason="make extra runs it")
def test_the_tour_of_sweeps_leaves_its_pictures_and_pages(pasted: Callable[[str], Pasted]) -> None:
    sweeps = pasted("sweeps")
    assert (sweeps.folder / "waf.png").read_bytes()[:4] == b"\x89PNG"
    for name in ("spare", "cluster", "best", "compared"):
        assert "<svg" in (sweeps.folder / name / "report.html").read_text("utf-8")
    top = [path.name for path in (sweeps.folder / "spare").iterdir() if path.suffix == ".parquet"]
    assert top == ["sweep.parquet"]


@pytest.mark.skipif(not SLOW, reason="make extra runs it")
def test_the_killed_worker_was_at_work(pasted: Callable[[str], Pasted]) -> None:
    journal = (pasted("sweeps").folder / "cluster" / "journal.jsonl").read_text("utf-8")
    assert len(set(re.findall(r'"worker":"([^"]+)"', journal))) == 2
