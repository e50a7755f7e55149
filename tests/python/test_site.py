"""The site (`make site`): every page has its place, looks as it does on GitHub, and needs no network.

The tests that build it need the extra `site`; without it they run in `make extra` alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

import floatgate
import site_pages

ROOT = Path(__file__).parents[2]
SLOW = os.environ.get("FLOATGATE_DOCS") == "slow"
SOURCES = [*site_pages.MOVED, *(f"docs/{page.relative_to(ROOT / 'docs')}" for page in ROOT.glob("docs/**/*.md"))]
needs_mkdocs = pytest.mark.skipif(not SLOW and find_spec("mkdocs") is None, reason="without the extra `site`")


def test_every_page_has_its_place_in_the_navigation() -> None:
    listed = re.findall(r"[\w-]+\.md$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.M)
    pages = {page.name for page in ROOT.glob("docs/*.md")} | {*site_pages.MOVED.values()}
    assert sorted(listed) == sorted(pages | {"python-api.md", "rust-api.md"})


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("README.md", "[a](docs/timed.md#x) [b](https://a.b/docs/c.md)", "[a](timed.md#x) [b](https://a.b/docs/c.md)"),
        ("README.md", "[two\nlines](docs/decisions/0001-a.md)", "[two\nlines](decisions/0001-a.md)"),
        ("docs/library.md", "[a](../traces/README.md#b) [c](d.md)", "[a](traces.md#b) [c](d.md)"),
        ("docs/decisions/0001-a.md", "[a](../../CONTRIBUTING.md) [b](../x.md)", "[a](../CONTRIBUTING.md) [b](../x.md)"),
        ("traces/README.md", "![a](../docs/img/a.svg) [b](#c)", "![a](img/a.svg) [b](#c)"),
        ("README.md", "```\n[a](docs/b.md)\n```\n[a](docs/b.md)", "```\n[a](docs/b.md)\n```\n[a](b.md)"),
    ],
)
def test_links_follow_pages_to_the_site(source: str, text: str, expected: str) -> None:
    assert site_pages.with_site_links(text, source) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a:\n- b\nc\n- d\n", "a:\n\n- b\n    c\n- d\n"),
        ("1. a\n   b\n   - c\n     d\n2. e\n", "1. a\n    b\n\n    - c\n        d\n2. e\n"),
        ("- a\n\n  ```sh\n  b\n    c\n  ```\n", "- a\n\n    ```sh\n    b\n      c\n    ```\n"),
        # A number at the beginning of a line is no list.
        ("- it takes\n  250. More.\n", "- it takes\n    250\\. More.\n"),
        ("It takes\n0. More.\n", "It takes\n0. More.\n"),
        ("- a\n  ```\n  - b\n  ```\n", "- a\n    ```\n    - b\n    ```\n"),
    ],
)
def test_lists_are_written_as_the_site_wants_them(text: str, expected: str) -> None:
    assert site_pages.with_plain_lists(text) == expected


def test_crates_are_linked_where_cargo_documented_them(tmp_path: Path) -> None:
    (tmp_path / "floatgate_base").mkdir()
    (tmp_path / "floatgate_base/index.html").touch()
    page = site_pages.rust_page(ROOT / "crates", tmp_path)
    assert '| <a href="rust/floatgate_base/index.html">base</a> | Identifiers, units, errors' in page
    assert "| `ftl` | The flash translation layer" in page
    assert page.count("\n| ") == 1 + len(list(ROOT.glob("crates/*/Cargo.toml")))
    assert "make site RUST=1" in site_pages.rust_page(ROOT / "crates", tmp_path / "nowhere")


# The built site


class Article(HTMLParser):
    """Words and elements of a page, without what the site adds: marks beside headings, navigation."""

    VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})
    COUNTED = frozenset({"blockquote", "code", "h1", "h2", "h3", "h4", "img", "li", "ol", "pre", "td", "th", "ul"})

    def __init__(self, text: str, *, whole: bool) -> None:
        """Read a page; of one that is not `whole` only the article."""
        super().__init__()
        self.inside = whole
        self.left_out = 0
        self.open: list[str] = []
        self.words: list[str] = []
        self.elements: Counter[str] = Counter()
        self.resources: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        target = named.get("src") or (named.get("href") if tag == "link" else None)
        if target is not None and named.get("rel") != "canonical":
            self.resources.append(target)
        if tag == "article":
            self.inside = True
        if self.left_out or "headerlink" in (named.get("class") or ""):
            self.left_out += tag not in self.VOID
        elif self.inside and tag in self.COUNTED:
            self.elements[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        self.left_out -= bool(self.left_out)
        if tag == "article":
            self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside and not self.left_out:
            self.words.append(data)

    @property
    def text(self) -> str:
        """All words, without blanks: renderers differ in these."""
        return re.sub(r"\s+", "", "".join(self.words))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return folder


@needs_mkdocs
@pytest.mark.parametrize("source", SOURCES)
def test_a_page_reads_as_on_github(source: str, site: Path) -> None:
    here = Article((site / site_pages.place(source)).with_suffix(".html").read_text("utf-8"), whole=False)
    rendered = MarkdownIt("commonmark").enable("table").render((ROOT / source).read_text("utf-8"))
    there = Article(rendered, whole=True)
    assert there.elements["h1"] >= 1
    assert here.elements == there.elements
    assert here.text == there.text


@needs_mkdocs
def test_nothing_comes_from_the_network(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if "rust" not in page.parts]
    assert len(pages) > len(SOURCES)
    for page in pages:
        resources = Article(page.read_text("utf-8"), whole=False).resources
        foreign = [one for one in resources if re.match(r"(https?:)?//", one)]
        assert foreign == [], page
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(['\"]?|@import ['\"]?)(https?:)?//", sheet.read_text("utf-8")), sheet


@needs_mkdocs
def test_the_search_knows_every_page_without_a_server(site: Path) -> None:
    index = (site / "search/search_index.js").read_text("utf-8")
    assert index.startswith("var __index = {")
    for source in SOURCES:
        assert f'"location":"{Path(site_pages.place(source)).with_suffix(".html")}"' in index


@needs_mkdocs
@pytest.mark.skipif(shutil.which("chromium") is None, reason="without Chromium")
def test_the_search_answers_from_a_file(site: Path, tmp_path: Path) -> None:
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=20000",
        f"--user-data-dir={tmp_path}",
    ]
    address = f"file://{site}/index.html?q=garbage"
    shown = subprocess.run(["chromium", *options, "--dump-dom", address], capture_output=True, text=True, check=True)
    results = re.findall(r'<a href="([^"]+)" class="md-search-result__link"', shown.stdout)
    assert any(f"{site}/glossary.html" in result for result in results), shown.stderr


@needs_mkdocs
def test_every_public_name_has_its_documentation(site: Path) -> None:
    page = (site / "python-api.html").read_text("utf-8")
    assert ":func:" not in page
    headings = re.findall(r"<h2 id=.*?</h2>", page, re.S)
    names = {name for heading in headings for name in re.findall(r"\bfloatgate\.(\w+)\s*<", heading)}
    assert names == {name for name in floatgate.__all__ if not name.startswith("_")}
