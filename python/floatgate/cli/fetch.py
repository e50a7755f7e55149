"""``floatgate fetch``."""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from floatgate.base import units
from floatgate.base.errors import InterruptedRunError, input_error, one_line
from floatgate.base.progress import bar
from floatgate.base.text_table import named, table
from floatgate.cli import options as o
from floatgate.cli.output import Output

if TYPE_CHECKING:
    from floatgate.trace.fetch.cache import Cache
    from floatgate.trace.fetch.fetching import Fetched
    from floatgate.trace.fetch.recipes import Recipe

_HEADER = ["trace", "get it", "size", "format", "here", "description"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fetch")(fetch)


def fetch(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="The trace to fetch. Default: list all.", show_default=False)
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="Take this file, which you have downloaded from the owner."),
    ] = None,
    member: Annotated[
        str | None, typer.Option("--member", metavar="NAME", help="Take another file of the owner's archive.")
    ] = None,
    cache: Annotated[
        str | None,
        typer.Option(
            "--cache", metavar="DIR", help="The cache. Default: floatgate/traces in XDG_CACHE_HOME, ~/.cache."
        ),
    ] = None,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Fetch a public trace from its owner into your cache, or list the traces that can be fetched.

    Downloads go on where they were cut, and are compared with the owner's checksum or with that of your first fetch.
    See docs/fetch.md.
    """
    from floatgate.trace.fetch.recipes import recipe

    output = Output(json, quiet=quiet, force=None)
    if cache == "":
        raise input_error("--cache: an empty path; expected a folder")
    if name is None:
        for option, is_set in (("--from", source is not None), ("--member", member is not None)):
            if is_set:
                raise input_error(f"{option}: no trace to fetch; expected its NAME before it")
        _list(output, cache)
        return
    _fetch(output, recipe(name), cache, source, member)


def _cache(folder: str | None) -> Cache:
    from floatgate.trace.fetch.cache import Cache, default_folder

    return Cache(default_folder() if folder is None else Path(folder))


def _list(output: Output, folder: str | None) -> None:
    from floatgate.trace.fetch.recipes import recipes

    cache = _cache(folder)
    rows, entries = [], []
    for recipe in recipes().values():
        path = cache.place(recipe, recipe.trace_name())
        entries.append({**dataclasses.asdict(recipe), "path": str(path), "cached": path.is_file()})
        here = "yes" if path.is_file() else ""
        rows.append([recipe.name, recipe.way, recipe.size, recipe.format or "counters", here, recipe.summary])
    output.give({"cache": str(cache.folder), "recipes": entries})
    if not output.prints_json:
        output.say(f"{table(_HEADER, rows)}\n\n{named([('cache', str(cache.folder))])}")


def _fetch(output: Output, recipe: Recipe, folder: str | None, source: str | None, member: str | None) -> None:
    from floatgate.trace.fetch.fetching import fetch as fetch_trace

    try:
        with bar(recipe.name, quiet=output.quiet) as progress:
            fetched = fetch_trace(recipe, _cache(folder), source, member, progress)
    except KeyboardInterrupt:
        what = f"interrupted; what has arrived is kept: continue with: floatgate fetch {recipe.name}"
        raise InterruptedRunError(what) from None
    output.give(_document(fetched))
    if not output.prints_json:
        output.say(_text(fetched))


def _document(fetched: Fetched) -> dict[str, Any]:
    recipe = fetched.recipe
    return {
        "name": recipe.name,
        "path": str(fetched.path),
        "format": recipe.format,
        "bytes": fetched.bytes,
        "sha256": fetched.sha256,
        "published_checksum": recipe.checksum,
        "pinned_now": fetched.pinned,
        "cached": fetched.cached,
        "downloaded_bytes": fetched.downloaded_bytes,
        "terms": recipe.terms,
        "citation": recipe.citation,
        "command": recipe.command(str(fetched.path)),
    }


def _text(fetched: Fetched) -> str:
    recipe = fetched.recipe
    came = units.decimal_bytes(fetched.downloaded_bytes) if fetched.downloaded_bytes else "nothing"
    there = "was there already; " if fetched.cached else ""
    published = "as its owner publishes it, " if recipe.checksum else ""
    pin = "pinned now" if fetched.pinned else "as at the first fetch"
    return named(
        [
            ("trace", f"{fetched.path} ({units.decimal_bytes(fetched.bytes)}; {there}{came} downloaded)"),
            ("checksum", f"{published}sha256 {fetched.sha256} ({pin})"),
            ("owner", f"{recipe.owner}, {recipe.page}"),
            ("terms", recipe.terms),
            ("cite", recipe.citation),
            ("use", one_line(shlex.join(recipe.command(str(fetched.path))))),
        ]
    )
