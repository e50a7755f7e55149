"""``floatgate docs`` names pages, and opens those of the site."""

from __future__ import annotations

import json
import webbrowser
from pathlib import Path

import pytest

from conftest import Cli
from floatgate.cli import docs, status

ROOT = Path(__file__).parents[2]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with two pages, one of them in the built site."""
    for name, text in {
        "mkdocs.yml": "",
        "README.md": "# floatgate\n",
        "docs/plan.md": "# Which drive\n",
        "docs/timed.md": "# Timed mode\n",
        "site/timed.html": "<html>",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    return tmp_path


def test_every_page_of_this_repository_has_a_place(cli: Cli) -> None:
    listed = json.loads(cli("docs", "--json").done())
    assert {page["name"] for page in listed["pages"]} == {path.stem for path in ROOT.glob("docs/*.md")}
    assert all(Path(page["path"]).is_file() and page["title"] for page in [*listed["pages"]])
    assert Path(listed["start"]).is_file()
    error = cli("docs", "timd").refused()
    assert "unknown page 'timd'" in error
    assert "'timed'" in error


def test_a_page_is_that_of_the_site_where_it_is_built(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(["docs", "timed"]) == 0
    assert capsys.readouterr().out == f"{repository}/site/timed.html\n"
    assert status(["docs", "plan.md"]) == 0
    assert capsys.readouterr().out == f"{repository}/docs/plan.md\n"
    assert status(["docs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{repository}/README.md"
    assert lines[-1].split() == ["timed", "Timed", "mode"]


def test_a_page_is_opened_in_the_browser(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda address: not opened.append(address))  # type: ignore[func-returns-value]
    assert status(["docs", "timed", "--open"]) == 0
    assert opened == [f"file://{repository}/site/timed.html"]
    assert status(["docs", "plan", "--open"]) == 2
    assert "plan.md is no page for a browser; expected make site" in capsys.readouterr().err
    monkeypatch.setattr(webbrowser, "open", lambda _: False)
    assert status(["docs", "timed", "--open"]) == 1
    assert "no browser could be started" in capsys.readouterr().err


def test_an_installation_without_pages_says_where_they_are(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "mkdocs.yml").unlink()
    assert status(["docs"]) == 2
    assert "the pages are in the repository of floatgate" in capsys.readouterr().err
