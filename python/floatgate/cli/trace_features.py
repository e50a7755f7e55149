"""``floatgate trace features``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floatgate.base.errors import input_error
from floatgate.base.progress import bar
from floatgate.base.units import count
from floatgate.cli import groups as g
from floatgate.cli import options as o
from floatgate.cli.output import Output
from floatgate.results.folder import must_be_new_file


@g.grouped
def features(
    path: o.TraceFile,
    *,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The file to write, in Parquet.")],
    reading: g.Reading,
    part: g.Slice,
    page_bytes: Annotated[int, typer.Option(metavar="N", min=512, help="Size of the pages whose lives count.")] = 4096,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE if it exists.")] = False,
    json: o.Json = None,
    quiet: o.Quiet = False,
) -> None:
    """Write a row per write of a trace: what predictors of lives go by, and how long its data really live.

    The columns from life on are only known later. docs/separation.md describes all.
    """
    from floatgate.trace.features import write_features

    output = Output(json, quiet=quiet, force=force)
    if not out.endswith(".parquet"):
        raise input_error(f"{out}: --out: expected a name that ends in .parquet")
    must_be_new_file(out, "a file to write the features to", force=force)
    target = Path(out)
    options = {**reading.as_settings(), **part.as_settings()}
    with bar(Path(path).name, quiet=quiet) as progress:
        try:
            counts = write_features(path, target, options, page_bytes=page_bytes, progress=progress)
        except OSError as error:
            raise input_error(f"{out}: {error.strerror or error}; expected a file that can be written") from None
    output.give({"file": str(target), **counts})
    if not output.prints_json:
        output.say(f"features   {target}: {count(counts['writes'])} writes of {count(counts['page_writes'])} pages")
