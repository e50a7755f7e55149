"""docs/sweeps.md as pasted: every command, with the outputs that stand there."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest

import tutorial

PAGE = Path(__file__).parents[2] / "docs" / "sweeps.md"


def free_port() -> str:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return str(listening.getsockname()[1])


@pytest.fixture(scope="module")
def pasted(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[tutorial.Block], list[str], Path]:
    """The blocks of the page, what each printed, and the folder that they ran in."""
    folder = tmp_path_factory.mktemp("tutorial")
    found = tutorial.blocks(PAGE)
    return found, tutorial.run(found, folder, {"8786": free_port(), "8787": free_port()}), folder


def lines(text: str) -> list[str]:
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines() if line.strip()]


def test_every_command_of_the_page_prints_what_stands_there(
    pasted: tuple[list[tutorial.Block], list[str], Path],
) -> None:
    found, printed, _ = pasted
    assert sum(block.output is not None for block in found) == 10
    for block, output in zip(found, printed, strict=True):
        missing = [line for line in lines(block.output or "") if line not in lines(output)]
        assert missing == [], f"{block.commands}\n{output}"


def test_the_pictures_and_pages_are_there(pasted: tuple[list[tutorial.Block], list[str], Path]) -> None:
    folder = pasted[2]
    assert (folder / "waf.png").read_bytes()[:4] == b"\x89PNG"
    for name in ("spare", "cluster", "best", "compared"):
        assert "<svg" in (folder / name / "report.html").read_text("utf-8")
    top = [path.name for path in (folder / "spare").iterdir() if path.suffix == ".parquet"]
    assert top == ["sweep.parquet"]


def test_the_killed_worker_was_at_work(pasted: tuple[list[tutorial.Block], list[str], Path]) -> None:
    journal = (pasted[2] / "cluster" / "journal.jsonl").read_text("utf-8")
    assert len(set(re.findall(r'"worker":"([^"]+)"', journal))) == 2
