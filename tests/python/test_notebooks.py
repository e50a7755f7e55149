"""The notebooks run from top to bottom; one of them here, all in `make extra`."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import notebooks
import words

ROOT = Path(__file__).parents[2]
SLOW = os.environ.get("FLOATGATE_DOCS") == "slow"
PATHS = sorted(notebooks.FOLDER.glob("*.ipynb"))
QUICKEST = "examine-a-trace"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_has_no_outputs(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text == notebooks.stripped(notebooks.read(path)), "scripts/notebooks.py strips it"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_text_of_a_notebook_keeps_to_the_rules_of_words(path: Path) -> None:
    page = "\n\n".join(cell["source"] for cell in notebooks.read(path).cells if cell["cell_type"] == "markdown")
    assert page.startswith("# ")
    assert [str(one) for one in words.of_file(f"notebooks/{path.stem}.md", page)] == []
    assert [line for line in page.splitlines() if len(line) > 150] == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path: Path) -> None:
    if not SLOW and path.stem != QUICKEST:
        pytest.skip("make extra runs it")
    before = sorted(notebooks.FOLDER.rglob("*"))
    outputs = [output for cell in notebooks.executed(path).cells for output in cell.get("outputs", [])]
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []
    assert sorted(notebooks.FOLDER.rglob("*")) == before, "files are for a temporary folder"
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs)


def test_every_notebook_is_on_its_page() -> None:
    page = (ROOT / "docs" / "notebooks.md").read_text("utf-8")
    assert sorted(re.findall(r"\]\(\.\./notebooks/([\w-]+)\.ipynb\)", page)) == [path.stem for path in PATHS]
    assert len(PATHS) >= 4
