"""``floatgate docs``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer

from floatgate.base.errors import RunError, input_error, meant, one_line, quote
from floatgate.base.text_table import table
from floatgate.cli import options as o
from floatgate.cli.output import Output

ROOT = Path(__file__).resolve().parents[3]
"""The repository, where floatgate is installed from one in place; other installations have no pages."""


@dataclass(frozen=True)
class Page:
    """A page of the documentation.

    Attributes:
        name: what ``floatgate docs`` calls it.
        title: its heading.
        path: of the site where that is built, else of the Markdown.
    """

    name: str
    title: str
    path: str


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("docs")(docs)


def docs(
    name: Annotated[str | None, typer.Argument(metavar="PAGE", help="A page by its name, such as timed.")] = None,
    start: Annotated[bool, typer.Option("--open", help="Open it in the browser; make site builds the site.")] = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Print where the pages of the documentation are, or one of them; --open shows it in the browser."""
    output = Output(json, quiet=quiet, force=None)
    pages = _pages(ROOT)
    if name is None:
        first = _page(ROOT, "floatgate", ROOT / "README.md", "index")
        output.give({"start": first.path, "pages": [asdict(page) for page in pages]})
        if not output.prints_json:
            rows = [[page.name, page.title] for page in pages]
            output.say(f"{first.path}\n\n{table(['page', 'title'], rows)}")
    else:
        first = next((page for page in pages if page.name == name.removesuffix(".md")), None) or _refused(name, pages)
        output.give(asdict(first))
        if not output.prints_json:
            output.say(first.path)
    if start:
        _open(first)


def _pages(root: Path) -> list[Page]:
    """List the pages by name.

    Raises:
        InputError: this installation has none.
    """
    if not (root / "mkdocs.yml").is_file():
        what = "the pages are in the repository of floatgate, and this installation is not in one"
        raise input_error(f"{what}; expected a clone with make build, or 'floatgate COMMAND --help'")
    return [_page(root, path.stem, path, path.stem) for path in sorted((root / "docs").glob("*.md"))]


def _page(root: Path, name: str, markdown: Path, html: str) -> Page:
    with markdown.open(encoding="utf-8") as file:
        title = file.readline().strip().removeprefix("# ")
    built = root / "site" / f"{html}.html"
    return Page(name, title, str(built if built.is_file() else markdown))


def _refused(name: str, pages: list[Page]) -> Page:
    raise input_error(f"unknown page {quote(name)}; {meant(name, [page.name for page in pages], 'floatgate docs')}")


def _open(page: Page) -> None:
    """Show a page in the browser.

    Raises:
        InputError: the site is not built.
        RunError: no browser could be started.
    """
    import webbrowser

    path = Path(page.path)
    if path.suffix != ".html":
        raise input_error(f"--open: {page.path} is no page for a browser; expected make site before")
    if not webbrowser.open(path.as_uri()):
        raise RunError(one_line(f"{page.path}: no browser could be started; open the file by hand"))
